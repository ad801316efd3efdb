//! Makes programs up, and changes them as people do.

use crate::program::{Declaration, Input, Key, Spec, What};
use crate::world::{Behaviour, DiffAnswer, Owner, Thing, World};
use drystone_engine::{Alias, AliasParent, HookMoment, PropertyMap};
use drystone_model::{Urn, Value};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) const PACKAGES: [&str; 2] = ["pkgA", "pkgB"];
const KINDS: usize = 3;
const KEYS: [&str; 3] = ["k0", "k1", "k2"];
const HOOKS: [HookMoment; 7] = [
    HookMoment::BeforeCreate,
    HookMoment::AfterCreate,
    HookMoment::BeforeUpdate,
    HookMoment::AfterUpdate,
    HookMoment::BeforeDelete,
    HookMoment::AfterDelete,
    HookMoment::OnError,
];
const VERSIONS: [&str; 3] = ["", "1.0.0", "2.1.0"];

/// Which features a scenario uses, so that some scenarios stay simple enough for the sharper checks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flavour {
    pub(crate) ignore_changes: bool,
    pub(crate) found_things: bool,
    pub(crate) retain: bool,
    pub(crate) components: bool,
    pub(crate) providers: bool,
    pub(crate) hooks: bool,
}

/// Makes up programs of one scenario.
#[derive(Debug)]
pub(crate) struct Inventor {
    pub(crate) flavour: Flavour,
    next: Key,
    names: usize,
}

pub(crate) fn chance(rng: &mut ChaCha8Rng, percent: u32) -> bool {
    rng.random_range(0..100) < percent
}

pub(crate) fn pick<'a, T>(rng: &mut ChaCha8Rng, among: &'a [T]) -> Option<&'a T> {
    (!among.is_empty()).then(|| &among[rng.random_range(0..among.len())])
}

fn some_keys(rng: &mut ChaCha8Rng, percent: u32) -> Vec<&'static str> {
    KEYS.into_iter().filter(|_| chance(rng, percent)).collect()
}

/// A world whose types behave each in its own way.
pub(crate) fn world(rng: &mut ChaCha8Rng) -> World {
    let mut world = World::default();
    for package in PACKAGES {
        for kind in 0..KINDS {
            let behaviour = Behaviour {
                replace_keys: some_keys(rng, 30),
                delete_first: chance(rng, 40),
                answer: match rng.random_range(0..4) {
                    0 => DiffAnswer::Silent,
                    1 => DiffAnswer::Detailed,
                    _ => DiffAnswer::Keys,
                },
                makes_names: chance(rng, 30),
                refresh_before_update: chance(rng, 10),
                reads_by_name: chance(rng, 40),
                named_ids: chance(rng, 50),
            };
            world.behaviours.insert(format!("{package}:m:T{kind}"), behaviour);
        }
    }
    world
}

/// Somebody makes the things that a program reads or imports, where they are not there.
pub(crate) fn restore_found(world: &mut World, spec: &Spec) {
    for declaration in &spec.declarations {
        let read = match &declaration.what {
            What::Read(_, id) => Some(id),
            _ => declaration.import.as_ref(),
        };
        let Some(id) = read else { continue };
        world.ghosts.remove(id);
        world.things.entry(id.clone()).or_insert_with(|| Thing {
            urn: Urn::default(),
            properties: PropertyMap::from([("k0".to_owned(), Value::from(1))]),
            owner: Owner::Outside,
        });
    }
}

/// The thing that nobody made and a declaration may read or import.
fn found(key: Key) -> String {
    format!("found-{key}")
}

/// Somebody changes or deletes something behind the stack's back.
pub(crate) fn drift(world: &mut World, rng: &mut ChaCha8Rng) {
    let owned = world.things.iter().filter(|(_, thing)| thing.owner == Owner::Stack);
    let ids: Vec<String> = owned.map(|(id, _)| id.clone()).collect();
    let Some(id) = pick(rng, &ids) else { return };
    if chance(rng, 50) {
        world.delete(id);
        world.ghosts.insert(id.clone());
    } else if let Some(thing) = world.things.get_mut(id) {
        thing.properties.insert("k1".to_owned(), Value::from(rng.random_range(100..200)));
    }
}

impl Inventor {
    pub(crate) fn new(rng: &mut ChaCha8Rng) -> Self {
        let flavour = Flavour {
            ignore_changes: chance(rng, 30),
            found_things: chance(rng, 25),
            retain: chance(rng, 30),
            components: chance(rng, 60),
            providers: chance(rng, 50),
            hooks: chance(rng, 25),
        };
        Self { flavour, next: 0, names: 0 }
    }

    pub(crate) fn program(&mut self, rng: &mut ChaCha8Rng) -> Spec {
        // Hooks of deletions need a program that is still there.
        let mut spec = Spec { finishes: self.flavour.hooks || chance(rng, 50), ..Spec::default() };
        for _ in 0..rng.random_range(1..9) {
            self.add(&mut spec, rng);
        }
        spec
    }

    /// Changes a program in a few places.
    pub(crate) fn change(&mut self, spec: &mut Spec, rng: &mut ChaCha8Rng) {
        for _ in 0..rng.random_range(0..5) {
            self.change_once(spec, rng);
        }
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("r{}x", self.names)
    }

    fn token(&self, rng: &mut ChaCha8Rng) -> String {
        let package = pick(rng, &PACKAGES).copied().unwrap_or_default();
        format!("{package}:m:T{}", rng.random_range(0..KINDS))
    }

    fn add(&mut self, spec: &mut Spec, rng: &mut ChaCha8Rng) {
        let what = match rng.random_range(0..100) {
            0..15 if self.flavour.components => What::Component("my:comp:C".to_owned()),
            15..25 if self.flavour.providers => {
                What::Provider(pick(rng, &PACKAGES).copied().unwrap_or_default())
            }
            25..32 if self.flavour.found_things => What::Read(self.token(rng), found(self.next)),
            _ => What::Custom(self.token(rng)),
        };
        let name = self.name();
        let mut declaration = Declaration::new(self.next, name, what);
        self.next += 1;
        let at = if chance(rng, 70) {
            spec.declarations.len()
        } else {
            rng.random_range(0..=spec.declarations.len())
        };
        let earlier = Spec { declarations: spec.declarations[..at].to_vec(), ..Spec::default() };
        for key in KEYS {
            if chance(rng, 60) {
                let input = self.input(&earlier, &declaration, rng);
                declaration.inputs.insert(key, input);
            }
        }
        if matches!(declaration.what, What::Provider(_)) {
            declaration.inputs.insert("region", Input::Number(rng.random_range(0..2)));
        }
        if chance(rng, 30) {
            declaration.parent = self.parent(&earlier, rng);
        }
        for _ in 0..3 {
            self.set_option(&earlier, &mut declaration, rng);
        }
        if self.flavour.found_things && matches!(declaration.what, What::Custom(_)) && chance(rng, 20) {
            declaration.import = Some(found(declaration.key));
            declaration.inputs.insert("k0", Input::Number(1));
        }
        if chance(rng, 20) && !matches!(declaration.what, What::Provider(_)) {
            spec.outputs.push(declaration.key);
        }
        spec.declarations.insert(at, declaration);
    }

    fn input(&self, earlier: &Spec, declaration: &Declaration, rng: &mut ChaCha8Rng) -> Input {
        let number = rng.random_range(0..4);
        let source = |other: &&Declaration| !matches!(other.what, What::Provider(_) | What::Component(_));
        let sources: Vec<Key> = earlier.declarations.iter().filter(source).map(|other| other.key).collect();
        match rng.random_range(0..10) {
            0 => Input::Secret(number),
            1..5 if !matches!(declaration.what, What::Provider(_)) || number == 0 => {
                match pick(rng, &sources) {
                    Some(key) if chance(rng, 50) => Input::Of(*key, "arn"),
                    Some(key) => Input::Of(*key, pick(rng, &KEYS).copied().unwrap_or("k0")),
                    None => Input::Number(number),
                }
            }
            _ => Input::Number(number),
        }
    }

    fn parent(&self, earlier: &Spec, rng: &mut ChaCha8Rng) -> Option<Key> {
        let fit = |other: &&Declaration| matches!(other.what, What::Custom(_) | What::Component(_));
        let parents: Vec<Key> = earlier.declarations.iter().filter(fit).map(|other| other.key).collect();
        pick(rng, &parents).copied()
    }

    /// Sets or changes one option of a declaration; it may refer to earlier ones.
    fn set_option(&self, earlier: &Spec, declaration: &mut Declaration, rng: &mut ChaCha8Rng) {
        let custom = |other: &&Declaration| matches!(other.what, What::Custom(_));
        let customs: Vec<Key> = earlier.declarations.iter().filter(custom).map(|other| other.key).collect();
        let is_custom = matches!(declaration.what, What::Custom(_));
        let any: Vec<Key> = earlier.declarations.iter().map(|other| other.key).collect();
        match rng.random_range(0..18) {
            16..18 if self.flavour.hooks => {
                let moments = HOOKS.into_iter().filter(|_| chance(rng, 40));
                declaration.hooks = moments.collect();
            }
            0 => {
                let package = declaration.what.package();
                let fit = |other: &&Declaration| match (&other.what, package) {
                    (What::Provider(of), Some(package)) => *of == package,
                    (What::Provider(_), None) => matches!(declaration.what, What::Component(_)),
                    _ => false,
                };
                let fitting: Vec<Key> =
                    earlier.declarations.iter().filter(fit).map(|other| other.key).collect();
                declaration.provider = if chance(rng, 70) { pick(rng, &fitting).copied() } else { None };
            }
            1 => declaration.version = pick(rng, &VERSIONS).copied().unwrap_or_default(),
            2 => declaration.protect = *pick(rng, &[None, None, Some(true), Some(false)]).unwrap_or(&None),
            3 if self.flavour.retain => {
                declaration.retain = *pick(rng, &[None, Some(true), Some(false)]).unwrap_or(&None);
            }
            4 if is_custom => {
                let with = pick(rng, &customs).copied();
                declaration.deleted_with = with.filter(|_| chance(rng, 60));
            }
            5 if is_custom => {
                declaration.replace_with = customs.iter().copied().filter(|_| chance(rng, 30)).collect();
            }
            6 if is_custom && self.flavour.ignore_changes => declaration.ignore_changes = some_keys(rng, 40),
            7 if is_custom => declaration.replace_on_changes = some_keys(rng, 25),
            8 if is_custom => {
                declaration.delete_first = *pick(rng, &[None, Some(true), Some(false)]).unwrap_or(&None);
            }
            9 if is_custom => declaration.secret_outputs = some_keys(rng, 30),
            10 if is_custom => {
                declaration.trigger = if chance(rng, 60) { Some(rng.random_range(0..3)) } else { None };
            }
            11..14 => {
                declaration.depends_on = any.iter().copied().filter(|_| chance(rng, 20)).collect();
            }
            _ => {}
        }
    }

    fn change_once(&mut self, spec: &mut Spec, rng: &mut ChaCha8Rng) {
        if spec.declarations.is_empty() || chance(rng, 15) {
            return self.add(spec, rng);
        }
        let at = rng.random_range(0..spec.declarations.len());
        let earlier = Spec { declarations: spec.declarations[..at].to_vec(), ..Spec::default() };
        let key = spec.declarations[at].key;
        let urn = spec.urn(key);
        match rng.random_range(0..100) {
            0..30 => {
                let name = match spec.declarations[at].what {
                    What::Provider(_) if chance(rng, 50) => "region",
                    _ => pick(rng, &KEYS).copied().unwrap_or("k0"),
                };
                let declaration = &mut spec.declarations[at];
                if name == "region" {
                    declaration.inputs.insert(name, Input::Number(rng.random_range(0..3)));
                } else if chance(rng, 15) {
                    declaration.inputs.remove(name);
                } else {
                    let input = self.input(&earlier, declaration, rng);
                    declaration.inputs.insert(name, input);
                }
            }
            30..50 => self.set_option(&earlier, &mut spec.declarations[at], rng),
            50..65 => self.remove(spec, at, rng),
            65..75 => {
                let (old, new) = (spec.declarations[at].name.clone(), self.name());
                spec.declarations[at].name = new;
                let alias = Alias::Spec {
                    name: old,
                    type_token: String::new(),
                    stack: String::new(),
                    project: String::new(),
                    parent: AliasParent::Unchanged,
                };
                self.keep_alias(spec, at, urn, Some(alias), rng);
            }
            75..80 => {
                let token = self.token(rng);
                let declaration = &mut spec.declarations[at];
                if let What::Custom(old) = &declaration.what
                    && old.split(':').next() == token.split(':').next()
                {
                    declaration.what = What::Custom(token);
                    self.keep_alias(spec, at, urn, None, rng);
                }
            }
            80..88 => {
                let parent = if chance(rng, 60) { self.parent(&earlier, rng) } else { None };
                spec.declarations[at].parent = parent;
                if spec.urn(key) != urn {
                    self.keep_alias(spec, at, urn, None, rng);
                }
            }
            88..92 => {
                let container = spec.declarations.iter().any(|other| other.deleted_with == Some(key));
                if !container {
                    self.convert(&mut spec.declarations[at], rng);
                }
            }
            92..96 => self.turn_round(spec, at, rng),
            _ => self.shift(spec, at, rng),
        }
        // An import that was done is usually taken out of the program.
        for declaration in &mut spec.declarations {
            if declaration.import.is_some() && chance(rng, 40) {
                declaration.import = None;
            }
        }
    }

    /// Keeps, mostly, the name that a declaration had as an alias.
    fn keep_alias(&self, spec: &mut Spec, at: usize, old: Urn, alias: Option<Alias>, rng: &mut ChaCha8Rng) {
        if chance(rng, 80) {
            let alias = alias.filter(|_| chance(rng, 50)).unwrap_or(Alias::Urn(old));
            spec.declarations[at].aliases.push(alias);
        } else {
            // What the stack has under the former name is not imported under the new one: it would go with the former.
            spec.declarations[at].aliases.clear();
            spec.declarations[at].import = None;
        }
    }

    /// Takes a declaration out. Its children go too, or to its parent.
    fn remove(&self, spec: &mut Spec, at: usize, rng: &mut ChaCha8Rng) {
        let gone = spec.declarations[at].clone();
        let children: Vec<Key> = spec
            .declarations
            .iter()
            .filter(|other| other.parent == Some(gone.key))
            .map(|other| other.key)
            .collect();
        for child in children {
            let urn = spec.urn(child);
            let Some(index) = spec.declarations.iter().position(|other| other.key == child) else { continue };
            if chance(rng, 50) {
                self.remove(spec, index, rng);
            } else {
                spec.declarations[index].parent = gone.parent;
                self.keep_alias(spec, index, urn, None, rng);
            }
        }
        spec.declarations.retain(|other| other.key != gone.key);
        spec.outputs.retain(|key| *key != gone.key);
        for other in &mut spec.declarations {
            other.forget(gone.key);
        }
    }

    /// Makes something that was only read one's own, or the other way round.
    fn convert(&self, declaration: &mut Declaration, rng: &mut ChaCha8Rng) {
        if !self.flavour.found_things {
            return;
        }
        declaration.what = match &declaration.what {
            What::Read(token, id) => {
                declaration.import = chance(rng, 50).then(|| id.clone());
                declaration.inputs.insert("k0", Input::Number(1));
                What::Custom(token.clone())
            }
            What::Custom(token) => {
                declaration.import = None;
                What::Read(token.clone(), found(declaration.key))
            }
            other => other.clone(),
        };
    }

    /// Lets something that a declaration refers to depend on it instead.
    fn turn_round(&self, spec: &mut Spec, at: usize, rng: &mut ChaCha8Rng) {
        let mut declaration = spec.declarations[at].clone();
        let needs: Vec<Key> =
            declaration.references().into_iter().filter(|key| declaration.parent != Some(*key)).collect();
        let Some(&turned) = pick(rng, &needs) else { return };
        declaration.forget(turned);
        let left = declaration.references();
        let Some(to) = spec.declarations.iter().position(|other| other.key == turned) else { return };
        // Nothing else that it refers to may stand behind its new place.
        if spec.declarations[to..].iter().any(|other| left.contains(&other.key)) {
            return;
        }
        spec.declarations.remove(at);
        spec.declarations[to].depends_on.insert(declaration.key);
        spec.declarations.insert(to, declaration);
    }

    /// Moves a declaration as far as what it refers to, and what refers to it, let it.
    fn shift(&self, spec: &mut Spec, at: usize, rng: &mut ChaCha8Rng) {
        let declaration = spec.declarations.remove(at);
        let needs = declaration.references();
        let first =
            spec.declarations.iter().rposition(|other| needs.contains(&other.key)).map_or(0, |at| at + 1);
        let last = spec
            .declarations
            .iter()
            .position(|other| other.references().contains(&declaration.key))
            .unwrap_or(spec.declarations.len());
        let to = if first < last { rng.random_range(first..=last) } else { first };
        spec.declarations.insert(to, declaration);
    }
}

//! What really exists, and what a session of it does to a run: delays, failures, crashes.

use crate::journal::CheckedJournal;
use drystone_engine::{CancelLevel, Cancellation, PropertyMap};
use drystone_model::{OperationKind, Urn, Value};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

/// Something that exists.
#[derive(Debug, Clone)]
pub(crate) struct Thing {
    /// The resource that it was made for; empty for what nobody made.
    pub(crate) urn: Urn,
    pub(crate) properties: PropertyMap,
    pub(crate) owner: Owner,
}

/// Whose a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The stack's: it must be in the state, or in a pending operation.
    Stack,
    /// Nobody's: it was there before.
    Outside,
    /// The stack's once, and left behind on purpose.
    Abandoned,
}

/// How resources of one type behave.
#[derive(Debug, Clone, Default)]
pub(crate) struct Behaviour {
    /// Properties whose changes need a replacement.
    pub(crate) replace_keys: Vec<&'static str>,
    pub(crate) delete_first: bool,
    pub(crate) answer: DiffAnswer,
    /// Whether a name is made up for what has none.
    pub(crate) makes_names: bool,
    pub(crate) refresh_before_update: bool,
    /// Whether a thing can be read by the name of its resource too.
    pub(crate) reads_by_name: bool,
    /// Whether the id of a thing is the name that was made up for it.
    pub(crate) named_ids: bool,
}

/// How a provider answers what changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum DiffAnswer {
    /// It leaves the comparison to the engine.
    #[default]
    Silent,
    /// It names the properties.
    Keys,
    /// It tells each change by its path.
    Detailed,
}

/// A change of the world.
#[derive(Debug, Clone)]
pub(crate) enum Effect {
    Create { urn: Urn, properties: PropertyMap },
    Update { id: String, properties: PropertyMap },
    Delete { id: String },
}

/// Everything that exists.
#[derive(Debug, Clone, Default)]
pub(crate) struct World {
    pub(crate) things: BTreeMap<String, Thing>,
    pub(crate) behaviours: BTreeMap<String, Behaviour>,
    /// Ids that the state may name although nothing is there: somebody deleted it, or nobody knows whether it was.
    pub(crate) ghosts: BTreeSet<String>,
    counter: u64,
}

impl World {
    pub(crate) fn number(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    /// Changes the world; gives the id.
    pub(crate) fn apply(&mut self, effect: Effect) -> Result<String, String> {
        match effect {
            Effect::Create { urn, properties } => {
                let id = match self.name_given(&urn, &properties) {
                    Some(name) if self.things.contains_key(&name) => {
                        return Err(format!("{name} exists already"));
                    }
                    Some(name) => name,
                    None => format!("{}~{}", urn.name(), self.number()),
                };
                self.things.insert(id.clone(), Thing { urn, properties, owner: Owner::Stack });
                Ok(id)
            }
            Effect::Update { id, properties } => match self.things.get_mut(&id) {
                Some(thing) => {
                    thing.properties = properties;
                    Ok(id)
                }
                None => Err(format!("{id} does not exist")),
            },
            Effect::Delete { id } => {
                self.delete(&id);
                Ok(id)
            }
        }
    }

    /// Deletes a thing, and what is within it.
    pub(crate) fn delete(&mut self, id: &str) {
        let mut going = vec![id.to_owned()];
        while let Some(id) = going.pop() {
            if self.things.remove(&id).is_some() {
                let inside = self.within(&id);
                self.ghosts.extend(inside.iter().cloned());
                going.extend(inside);
            }
        }
    }

    fn within(&self, id: &str) -> Vec<String> {
        let inside = |(inner, thing): (&String, &Thing)| {
            (thing.container().as_deref() == Some(id)).then(|| inner.clone())
        };
        self.things.iter().filter_map(inside).collect()
    }

    /// The id that a thing gets from its name.
    fn name_given(&self, urn: &Urn, properties: &PropertyMap) -> Option<String> {
        let behaviour = self.behaviours.get(urn.type_token())?;
        match properties.get("name").map(Value::revealed) {
            Some(Value::String(name)) if behaviour.named_ids => Some(name),
            _ => None,
        }
    }

    /// The thing of an id, or the only one of a resource's name where things can be read by that.
    pub(crate) fn look_up(&self, urn: &Urn, id: &str) -> Result<Option<(String, Thing)>, String> {
        if let Some(thing) = self.things.get(id) {
            return Ok(Some((id.to_owned(), thing.clone())));
        }
        let by_name = self.behaviours.get(urn.type_token()).is_some_and(|behaviour| behaviour.reads_by_name);
        if !by_name || id != urn.name() {
            return Ok(None);
        }
        let mut of_it = self.things.iter().filter(|(_, thing)| thing.urn == *urn);
        let found = of_it.next().map(|(id, thing)| (id.clone(), thing.clone()));
        if of_it.next().is_some() { Err(format!("there is more than one {id}")) } else { Ok(found) }
    }

    /// What a provider answers for a thing besides what it was given.
    pub(crate) fn outputs(id: &str, properties: &PropertyMap) -> PropertyMap {
        let mut outputs = properties.clone();
        outputs.insert("arn".to_owned(), Value::String(format!("arn:{id}")));
        outputs
    }
}

impl Thing {
    /// The thing that this one is within, and goes with.
    pub(crate) fn container(&self) -> Option<String> {
        match self.properties.get("within").map(Value::revealed) {
            Some(Value::String(arn)) => arn.strip_prefix("arn:").map(ToOwned::to_owned),
            _ => None,
        }
    }
}

/// What may go wrong in a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults {
    /// How likely each call of a provider fails, in percent.
    pub(crate) chance: u32,
    /// How many may.
    pub(crate) budget: usize,
    /// The operation is cancelled at that call.
    pub(crate) cancel: Option<(usize, CancelLevel)>,
    /// The journal refuses everything from that entry on.
    pub(crate) fence_at: Option<usize>,
    /// The process dies when that entry is written.
    pub(crate) crash_at: Option<usize>,
    /// The program fails after that many registrations.
    pub(crate) bail_after: Option<usize>,
}

impl Faults {
    pub(crate) fn none(&self) -> bool {
        self.chance == 0
            && self.cancel.is_none()
            && self.fence_at.is_none()
            && self.crash_at.is_none()
            && self.bail_after.is_none()
    }
}

/// How a call of a provider goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing is done, and the provider says so.
    Refused,
    /// It is done, and nobody hears of it.
    DoneUnheard,
    /// It is not done, and nobody knows.
    LostUnheard,
    /// It is done, but not ready.
    Incomplete,
}

/// The world during one run.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) world: Mutex<World>,
    pub(crate) journal: Arc<CheckedJournal>,
    pub(crate) dry_run: bool,
    faults: Faults,
    cancellation: Cancellation,
    state: Mutex<SessionState>,
}

#[derive(Debug)]
struct SessionState {
    rng: ChaCha8Rng,
    ticks: usize,
    faults: usize,
    calls: usize,
    in_flight: BTreeMap<usize, (OperationKind, Urn, Effect)>,
    tickets: usize,
    saw_unknowns: bool,
    wrongs: Vec<String>,
    said: Vec<String>,
}

/// What a session leaves.
#[derive(Debug)]
pub(crate) struct Aftermath {
    pub(crate) world: World,
    pub(crate) wrongs: Vec<String>,
    pub(crate) said: Vec<String>,
    pub(crate) saw_unknowns: bool,
    pub(crate) faults: usize,
    pub(crate) calls: usize,
    /// Whether the program was to fail by itself.
    pub(crate) bailed: bool,
}

impl Session {
    pub(crate) fn new(
        world: World,
        journal: Arc<CheckedJournal>,
        dry_run: bool,
        faults: Faults,
        cancellation: Cancellation,
        rng: ChaCha8Rng,
    ) -> Self {
        let state = SessionState {
            rng,
            ticks: 0,
            faults: 0,
            calls: 0,
            in_flight: BTreeMap::new(),
            tickets: 0,
            saw_unknowns: false,
            wrongs: Vec::new(),
            said: Vec::new(),
        };
        Self { world: Mutex::new(world), journal, dry_run, faults, cancellation, state: Mutex::new(state) }
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    /// Lets others go first, now and then.
    pub(crate) async fn dawdle(&self) {
        let turns = {
            let rng = &mut self.state.lock().unwrap().rng;
            if rng.random_bool(0.5) { 0 } else { rng.random_range(1..6) }
        };
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    }

    /// Counts a moment; the one to cancel at may have come.
    pub(crate) fn tick(&self) {
        let ticks = {
            let mut state = self.state.lock().unwrap();
            state.ticks += 1;
            state.ticks
        };
        if let Some((at, level)) = self.faults.cancel
            && ticks >= at
        {
            self.cancellation.request(level);
        }
    }

    pub(crate) fn say(&self, text: impl FnOnce() -> String) {
        if crate::is_verbose() {
            self.state.lock().unwrap().said.push(text());
        }
    }

    pub(crate) fn wrong(&self, text: String) {
        self.state.lock().unwrap().wrongs.push(text);
    }

    pub(crate) fn note_unknowns(&self) {
        self.state.lock().unwrap().saw_unknowns = true;
    }

    /// One of two, at random.
    pub(crate) fn flip(&self) -> bool {
        self.state.lock().unwrap().rng.random_bool(0.5)
    }

    /// Whether the program is to fail now.
    pub(crate) fn bails(&self, registered: usize) -> bool {
        self.faults.bail_after.is_some_and(|after| registered >= after)
    }

    /// What goes wrong with a call, if anything does.
    pub(crate) fn fault(&self, among: &[Fault]) -> Option<Fault> {
        let mut state = self.state.lock().unwrap();
        let strikes = state.faults < self.faults.budget
            && state.rng.random_range(0..100) < self.faults.chance
            && !self.dry_run;
        if !strikes {
            return None;
        }
        state.faults += 1;
        let at = state.rng.random_range(0..among.len());
        Some(among[at])
    }

    /// An operation on the world starts: its begin entry must be durable (S1), and the journal must not be lost (S4).
    pub(crate) fn start(&self, kind: OperationKind, urn: &Urn, effect: Effect) -> usize {
        let mut state = self.state.lock().unwrap();
        state.calls += 1;
        let same = |(other, of, _): &&(OperationKind, Urn, Effect)| *other == kind && of == urn;
        let running = state.in_flight.values().filter(same).count();
        if self.journal.begun(&kind, urn) <= running {
            state.wrongs.push(format!("S1: {} {urn} started without a durable begin entry", kind.as_str()));
        }
        if self.journal.is_lost() {
            state.wrongs.push(format!("S4: {} {urn} started after the journal was lost", kind.as_str()));
        }
        state.tickets += 1;
        let ticket = state.tickets;
        state.in_flight.insert(ticket, (kind, urn.clone(), effect));
        ticket
    }

    /// The operation takes effect.
    pub(crate) fn take_effect(&self, ticket: usize) -> Result<String, String> {
        let effect = self.state.lock().unwrap().in_flight.remove(&ticket);
        let (_, _, effect) = effect.expect("an operation takes effect once");
        self.world().apply(effect)
    }

    /// The operation has no effect.
    pub(crate) fn abandon(&self, ticket: usize) {
        self.state.lock().unwrap().in_flight.remove(&ticket);
    }

    /// The run is over. What is still under way, because the process died, has its effect or has not.
    pub(crate) fn finish(&self) -> Aftermath {
        let mut state = self.state.lock().unwrap();
        let mut world = self.world.lock().unwrap().clone();
        for (_, (_, urn, effect)) in std::mem::take(&mut state.in_flight) {
            if state.rng.random_bool(0.5) {
                if crate::is_verbose() {
                    state.said.push(format!("      after the end: {urn} {effect:?}"));
                }
                // A thing that is gone cannot be changed any more.
                let _ = world.apply(effect);
            }
        }
        Aftermath {
            world,
            wrongs: std::mem::take(&mut state.wrongs),
            said: std::mem::take(&mut state.said),
            saw_unknowns: state.saw_unknowns,
            faults: state.faults,
            calls: state.calls,
            bailed: self.faults.bail_after.is_some(),
        }
    }
}

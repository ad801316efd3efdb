//! In which order what goes does, and what goes together.
//!
//! A resource that goes with another, its container, is not deleted by its provider, so nothing is known of its end
//! before the container's provider has answered. Its removal is written down with the container's, and everything that
//! it refers to stays until then: what stands between the two and is nothing in the world (providers, components) is
//! written down with them, all else goes after the container. Only where something between is to be deleted itself, and
//! so has to go first, the resource is forgotten when its turn comes.

use crate::execute::{Delete, DeleteReason};
use crate::known::Known;
use crate::world::World;
use drystone_model::{ProviderReference, Urn, is_provider_type};
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::Arc;

/// How a resource goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// By itself: its provider deletes it if there is anything to delete.
    Alone,
    /// With another: it is written down when that one, at this position, is gone.
    With(usize),
    /// With another, but it cannot wait for that one: it is written down at once.
    AtOnce,
}

/// When each of what goes does.
#[derive(Debug)]
pub(crate) struct Schedule {
    /// For each, the positions of what goes after it.
    needs: Vec<Vec<usize>>,
    ways: Vec<Way>,
}

impl Schedule {
    /// A schedule for what goes, in the order of dependencies, each with the position of what it goes with.
    pub(crate) fn new(going: &[Delete], containers: &[Option<usize>], aliased: &HashMap<Urn, Urn>) -> Self {
        let mut needs = dependencies_among(going, aliased);
        let mut groups = Groups::new(going, containers, &needs);
        for (root, members) in members_by_root(containers) {
            if !groups.join(root, &members) {
                for member in members {
                    groups.join(root, &[member]);
                }
            }
        }
        let (head, later) = groups.finish();
        for (root, after) in later {
            needs[root].extend(after);
            needs[root].sort_unstable();
            needs[root].dedup();
        }
        let way = |(at, &root): (usize, &usize)| match containers[at] {
            _ if root != at => Way::With(root),
            Some(_) => Way::AtOnce,
            None => Way::Alone,
        };
        let ways = head.iter().enumerate().map(way).collect();
        Self { needs, ways }
    }

    pub(crate) fn way(&self, at: usize) -> Way {
        self.ways[at]
    }

    /// What can go side by side, dependents before what they depend on.
    pub(crate) fn layers(&self) -> Vec<Vec<usize>> {
        let mut depth = vec![0usize; self.needs.len()];
        // From what goes last to what goes first: everything is deeper than what it needs.
        let turns: Vec<usize> = self.turns().collect();
        for &at in turns.iter().rev() {
            depth[at] = self.needs[at].iter().map(|&need| depth[need] + 1).max().unwrap_or(0);
        }
        let deepest = depth.iter().copied().max().map_or(0, |deepest| deepest + 1);
        let mut layers = vec![Vec::new(); deepest];
        for (at, depth) in depth.into_iter().enumerate() {
            layers[depth].push(at);
        }
        layers.reverse();
        layers
    }

    /// Everything one after the other, the last first as far as dependencies let it.
    pub(crate) fn turns(&self) -> impl Iterator<Item = usize> {
        let mut dependents = vec![0usize; self.needs.len()];
        for &need in self.needs.iter().flatten() {
            dependents[need] += 1;
        }
        let free = dependents.iter().enumerate().filter(|(_, count)| **count == 0);
        let mut ready: BinaryHeap<usize> = free.map(|(at, _)| at).collect();
        std::iter::from_fn(move || {
            let at = ready.pop()?;
            for &need in &self.needs[at] {
                dependents[need] -= 1;
                if dependents[need] == 0 {
                    ready.push(need);
                }
            }
            Some(at)
        })
    }

    /// Spares what a resource that could not be deleted depends on, directly or not.
    pub(crate) fn spare(&self, stuck: usize, spared: &mut HashSet<usize>) {
        let mut pending = vec![stuck];
        while let Some(at) = pending.pop() {
            pending.extend(self.needs[at].iter().filter(|&&need| spared.insert(need)));
        }
    }
}

/// Which of what goes are written down together, while that is found out.
struct Groups<'a> {
    going: &'a [Delete],
    containers: &'a [Option<usize>],
    needs: &'a [Vec<usize>],
    dependents: Vec<Vec<usize>>,
    /// For each, the one that it is written down with: itself, or the root of its group.
    head: Vec<usize>,
    /// For each root, those that are written down with it.
    members: HashMap<usize, Vec<usize>>,
}

impl<'a> Groups<'a> {
    fn new(going: &'a [Delete], containers: &'a [Option<usize>], needs: &'a [Vec<usize>]) -> Self {
        let mut dependents = vec![Vec::new(); going.len()];
        for (at, needs) in needs.iter().enumerate() {
            needs.iter().for_each(|&need| dependents[need].push(at));
        }
        let head = (0..going.len()).collect();
        Self { going, containers, needs, dependents, head, members: HashMap::new() }
    }

    /// Lets some be written down with a root, and with them what stands between. Refuses, and changes nothing, when
    /// that would have to go before the root.
    fn join(&mut self, root: usize, joining: &[usize]) -> bool {
        let known = self.members.get(&root).into_iter().flatten();
        let inside: HashSet<usize> = known.chain(joining).copied().chain([root]).collect();
        let below = self.reach(root, &inside, Direction::Down);
        let above = self.reach(root, &inside, Direction::Up);
        let between: Vec<usize> = below.intersection(&above).copied().collect();
        let free = |at: &usize| self.head[*at] == *at && !self.members.contains_key(at) && self.is_idle(*at);
        if !between.iter().all(free) {
            return false;
        }
        for &at in between.iter().chain(joining) {
            self.head[at] = root;
            self.members.entry(root).or_default().push(at);
        }
        true
    }

    /// Whether a deletion is nothing but a line less in the state.
    fn is_idle(&self, at: usize) -> bool {
        let step = &self.going[at];
        let record = step.old.record();
        let exists = record.custom && !record.external && !record.retain_on_delete;
        self.containers[at].is_none()
            && (!exists
                || step.reason == DeleteReason::NeverReplaced
                || is_provider_type(record.urn.type_token()))
    }

    /// Everything outside a group that must go after it, or before it. Another group goes as one.
    fn reach(&self, root: usize, inside: &HashSet<usize>, direction: Direction) -> HashSet<usize> {
        let mut reached: HashSet<usize> = HashSet::new();
        let mut pending: Vec<usize> = inside.iter().copied().collect();
        let waits = |at: usize| at != root && inside.contains(&at) || self.head[at] != at;
        while let Some(at) = pending.pop() {
            let next = match direction {
                Direction::Down => &self.needs[at],
                Direction::Up => &self.dependents[at],
            };
            for &next in next {
                let (from, to) = match direction {
                    Direction::Down => (at, next),
                    Direction::Up => (next, at),
                };
                if inside.contains(&next) || (waits(from) && !self.disappears(to)) {
                    continue;
                }
                let group = self.head[next];
                let members = self.members.get(&group).into_iter().flatten().copied();
                let fresh: Vec<usize> = members.chain([group]).filter(|at| reached.insert(*at)).collect();
                pending.extend(fresh);
            }
        }
        reached
    }

    /// Whether a state leaves the snapshot; one that is to be replaced stays, so that others can refer to it.
    fn disappears(&self, at: usize) -> bool {
        self.going[at].reason != DeleteReason::BeforeReplacement
    }

    /// What each is written down with, and what has to go after each root for that.
    fn finish(self) -> (Vec<usize>, HashMap<usize, Vec<usize>>) {
        let mut later: HashMap<usize, Vec<usize>> = HashMap::new();
        for (root, members) in &self.members {
            let needed = members.iter().flat_map(|&at| &self.needs[at]);
            let needed = needed.filter(|&&need| self.disappears(need)).map(|&need| self.head[need]);
            later.insert(*root, needed.filter(|need| need != root).collect());
        }
        (self.head, later)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// To what is needed.
    Down,
    /// To what needs it.
    Up,
}

/// What goes with each resource that is deleted itself, in order.
fn members_by_root(containers: &[Option<usize>]) -> Vec<(usize, Vec<usize>)> {
    let mut found: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut index: HashMap<usize, usize> = HashMap::new();
    for at in 0..containers.len() {
        let Some(mut root) = containers[at] else { continue };
        while let Some(next) = containers[root] {
            root = next;
        }
        let group = *index.entry(root).or_insert_with(|| {
            found.push((root, Vec::new()));
            found.len() - 1
        });
        found[group].1.push(at);
    }
    found
}

/// For each of what goes, the position of what it goes with, where that goes too: of all states of that name, the last
/// that stands before it. States of this run stand before those of the base.
pub(crate) fn containers(world: &World, going: &[Delete]) -> Vec<Option<usize>> {
    let mut found = vec![None; going.len()];
    if going.iter().all(|step| step.old.record().deleted_with.is_empty()) {
        return found;
    }
    let identity = |known: &Arc<Known>| Arc::as_ptr(known);
    let positions: HashMap<*const Known, usize> =
        going.iter().enumerate().map(|(at, step)| (identity(&step.old), at)).collect();
    let olds: HashSet<*const Known> = world.olds.iter().map(identity).collect();
    let news = going.iter().map(|step| &step.old).filter(|known| !olds.contains(&identity(known)));
    // A state that this run took over goes in its new form.
    let renewed: HashMap<&Urn, usize> =
        news.clone().filter_map(|known| Some((known.urn(), *positions.get(&identity(known))?))).collect();
    let mut last: HashMap<&Urn, Option<usize>> = HashMap::new();
    for known in news.chain(&world.olds) {
        let record = known.record();
        let position = positions.get(&identity(known)).copied();
        if let (Some(at), false) = (position, record.deleted_with.is_empty()) {
            let names = [Some(&record.deleted_with), world.aliased.get(&record.deleted_with)];
            found[at] = names.into_iter().flatten().find_map(|name| last.get(name)).copied().flatten();
        }
        let now = world.aliased.get(&record.urn).unwrap_or(&record.urn);
        let taken_over = || renewed.get(now).copied().filter(|_| !record.delete);
        last.insert(&record.urn, position.or_else(taken_over));
    }
    found
}

/// For each of what goes, the positions of what it depends on among it, by any of its names. They come before it.
fn dependencies_among(going: &[Delete], aliased: &HashMap<Urn, Urn>) -> Vec<Vec<usize>> {
    let mut by_urn: HashMap<&Urn, Vec<usize>> = HashMap::new();
    let mut found = Vec::with_capacity(going.len());
    for (index, step) in going.iter().enumerate() {
        let record = step.old.record();
        let mut needs: Vec<usize> = Vec::new();
        for edge in drystone_model::edges(record) {
            let urn = Urn::new(edge.urn);
            let names = [Some(&urn), aliased.get(&urn)];
            let candidates = names.into_iter().flatten().filter_map(|name| by_urn.get(name)).flatten();
            let id = edge.provider.and_then(ProviderReference::split).map(|(_, id)| id);
            needs.extend(candidates.filter(|&&at| {
                id.is_none_or(|id| going.get(at).is_some_and(|provider| provider.old.record().id == id))
            }));
        }
        needs.sort_unstable();
        needs.dedup();
        found.push(needs);
        by_urn.entry(&record.urn).or_default().push(index);
    }
    found
}

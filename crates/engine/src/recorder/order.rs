//! Keeps every state behind what it refers to.
//!
//! What an update records stands before what is left of its base. A state that is recorded must not refer to one that
//! still stands in the base, so that one is moved before it, as it is; later entries that name it by its place in the
//! base are turned to where it stands now. In a run about the whole stack this never happens: the program registers
//! what a resource refers to first. It does where old states are carried along, with targets or in a refresh.

use crate::known::Known;
use drystone_journal::{Entry, Kind};
use drystone_model::{Resource, Urn, edges, is_provider_type};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Where everything stands.
#[derive(Default)]
pub(super) struct Order {
    base: Vec<Arc<Known>>,
    /// Names of base states, made when first needed: live states by URN, providers by reference.
    index: Option<HashMap<String, usize>>,
    /// What became of base states that are still there.
    changed: HashMap<usize, Changed>,
    /// Base states that are gone, or whose place another one took.
    vacated: HashSet<usize>,
    /// Base states that were moved, and the operations that moved them.
    moved: HashMap<usize, i64>,
    /// Operations whose state was written where another one's stood.
    merged: HashMap<i64, i64>,
    /// URNs, and references of providers, that this update has recorded.
    recorded: HashSet<String>,
}

/// What this update changed in a base state without moving it.
#[derive(Debug, Clone, Default)]
struct Changed {
    state: Option<Resource>,
    delete: bool,
    pending_replacement: bool,
}

impl Order {
    pub(super) fn new(base: Vec<Arc<Known>>) -> Self {
        Self { base, ..Self::default() }
    }

    /// Whether a base state was moved.
    pub(super) fn is_moved(&self, index: usize) -> bool {
        self.moved.contains_key(&index)
    }

    /// The base states that have to be moved before a state is recorded.
    pub(super) fn needs_before(&mut self, state: &Resource) -> Vec<Arc<Known>> {
        let found = self.needed_before(state);
        found.into_iter().filter_map(|index| self.base.get(index).cloned()).collect()
    }

    /// The entries to write for one, in their order. `operation` gives numbers for those that move states.
    pub(super) fn arrange(&mut self, mut entry: Entry, mut operation: impl FnMut() -> i64) -> Vec<Entry> {
        for (old, new) in [
            (&mut entry.remove_old, &mut entry.remove_new),
            (&mut entry.delete_old, &mut entry.delete_new),
            (&mut entry.pending_replacement_old, &mut entry.pending_replacement_new),
        ] {
            self.turn(old, new);
        }
        let mut entries = Vec::new();
        if entry.kind == Kind::Success
            && let Some(state) = &entry.state
        {
            entries = self.move_needs(state, &mut operation);
            self.record(state);
        }
        self.follow(&entry);
        entries.extend(self.in_place(entry));
        entries
    }

    /// The entries to write before a base state is kept as it stands; `None` when it no longer stands in the base.
    pub(super) fn keep(
        &mut self,
        index: usize,
        state: &Resource,
        mut operation: impl FnMut() -> i64,
    ) -> Option<Vec<Entry>> {
        if self.moved.contains_key(&index) || self.vacated.contains(&index) {
            return None;
        }
        let entries = self.move_needs(state, &mut operation);
        self.record(state);
        self.vacated.insert(index);
        Some(entries)
    }

    /// Moves the base states that have to stand before a state.
    fn move_needs(&mut self, state: &Resource, operation: &mut impl FnMut() -> i64) -> Vec<Entry> {
        let mut entries = Vec::new();
        for index in self.needed_before(state) {
            let operation = operation();
            entries.push(Entry::new(Kind::Begin, 0, operation));
            entries.push(self.move_out(index, operation));
        }
        entries
    }

    /// Turns a place in the base to where the state stands now.
    fn turn(&self, old: &mut Option<i64>, new: &mut Option<i64>) {
        if let Some(operation) = old.and_then(|index| self.moved.get(&usize::try_from(index).ok()?)) {
            (*old, *new) = (None, Some(*operation));
        }
        if let Some(operation) = new.and_then(|operation| self.merged.get(&operation)) {
            *new = Some(*operation);
        }
    }

    /// Takes note of what an entry does to the base.
    fn follow(&mut self, entry: &Entry) {
        let index = |member: Option<i64>| member.and_then(|index| usize::try_from(index).ok());
        if let Some(index) = index(entry.delete_old) {
            self.changed.entry(index).or_default().delete = true;
        }
        if let Some(index) = index(entry.pending_replacement_old) {
            self.changed.entry(index).or_default().pending_replacement = true;
        }
        let Some(index) = index(entry.remove_old) else { return };
        match (entry.kind, &entry.state) {
            (Kind::RefreshSuccess | Kind::Outputs, Some(state)) => {
                self.changed.entry(index).or_default().state = Some(state.clone());
            }
            _ => {
                self.vacated.insert(index);
            }
        }
    }

    fn record(&mut self, state: &Resource) {
        if is_provider_type(&state.type_token) {
            self.recorded.insert(format!("{}::{}", state.urn, state.id));
        }
        self.recorded.insert(state.urn.as_str().to_owned());
    }

    /// The base states that have to stand before a state, each after what it refers to itself.
    fn needed_before(&mut self, state: &Resource) -> Vec<usize> {
        let mut order = Vec::new();
        let mut seen: HashSet<usize> = HashSet::new();
        let mut pending: Vec<(usize, bool)> = self.missing(state).into_iter().map(|at| (at, false)).collect();
        pending.reverse();
        while let Some((index, complete)) = pending.pop() {
            if complete {
                order.push(index);
                continue;
            }
            // A state that refers back to the one that is recorded stays where it is.
            if !seen.insert(index) || self.base.get(index).is_none_or(|known| known.urn() == &state.urn) {
                continue;
            }
            pending.push((index, true));
            let mut needs = self.missing(&self.current(index));
            needs.reverse();
            pending.extend(needs.into_iter().map(|at| (at, false)));
        }
        order
    }

    /// The base states that a state refers to and that this update has neither recorded nor removed.
    fn missing(&mut self, state: &Resource) -> Vec<usize> {
        let mut found = Vec::new();
        for edge in edges(state) {
            let name = edge.provider.unwrap_or(edge.urn);
            if self.recorded.contains(name) || edge.urn == state.urn.as_str() {
                continue;
            }
            let base = &self.base;
            let index = self.index.get_or_insert_with(|| index(base));
            let Some(&at) = index.get(name) else { continue };
            if !self.vacated.contains(&at) && !self.moved.contains_key(&at) && !found.contains(&at) {
                found.push(at);
            }
        }
        found
    }

    /// A base state as it is now.
    fn current(&self, index: usize) -> Resource {
        let changed = self.changed.get(&index).cloned().unwrap_or_default();
        let before = || self.base.get(index).map(|known| known.record().clone()).unwrap_or_default();
        let mut state = changed.state.unwrap_or_else(before);
        state.delete |= changed.delete;
        state.pending_replacement |= changed.pending_replacement;
        state
    }

    fn move_out(&mut self, index: usize, operation: i64) -> Entry {
        let state = self.current(index);
        let mut entry = Entry::new(Kind::Success, 0, operation);
        entry.remove_old = i64::try_from(index).ok();
        if !state.delete {
            self.record(&state);
        }
        entry.state = Some(state);
        self.moved.insert(index, operation);
        entry
    }

    /// A state that takes the place of a moved one is written where that one stands: others stand behind it already.
    fn in_place(&mut self, mut entry: Entry) -> Vec<Entry> {
        let stands = entry.remove_new.filter(|operation| self.moved.values().any(|moved| moved == operation));
        let (Kind::Success, Some(operation), true) = (entry.kind, stands, entry.state.is_some()) else {
            return vec![entry];
        };
        let mut written = Entry::new(Kind::Outputs, 0, 0);
        written.remove_new = entry.remove_new.take();
        written.state = entry.state.take();
        written.requires_byte_string = entry.requires_byte_string;
        self.merged.insert(entry.operation_id, operation);
        vec![written, entry]
    }
}

/// Names of states: live ones by URN, providers by reference.
fn index(base: &[Arc<Known>]) -> HashMap<String, usize> {
    let mut index = HashMap::new();
    for (at, known) in base.iter().enumerate() {
        let record = known.record();
        if is_provider_type(&record.type_token) {
            index.insert(format!("{}::{}", record.urn, record.id), at);
        }
        if !record.delete {
            index.insert(record.urn.as_str().to_owned(), at);
        }
    }
    index
}

/// Whether a state refers to nothing that the one before it did not refer to.
pub(crate) fn refers_no_further(new: &Resource, old: &Resource) -> bool {
    let names =
        |resource: &Resource| -> HashSet<Urn> { edges(resource).map(|edge| Urn::new(edge.urn)).collect() };
    new.urn == old.urn && new.provider == old.provider && names(new).is_subset(&names(old))
}

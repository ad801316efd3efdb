//! The steps of an update, told from its journal.
//!
//! An entry that begins an operation on the world names the resource; one that ends it has the state that it left, or
//! names by its place the state that goes. Entries come in the order of their sequence, whatever order they were read in.
//! Values stay sealed: whoever follows needs no key (S17).

use drystone_dialects::pulumi::properties::decode_properties;
use drystone_engine::{Event, Op, State, StepEvent};
use drystone_journal::{Entry, Kept, Kind, Replayer};
use drystone_model::{Operation, OperationKind, Properties, Resource, Snapshot, Urn, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// Tells an update's steps as its entries come.
#[derive(Debug)]
pub(super) struct Steps {
    /// What the entries so far make of the base.
    replayer: Replayer,
    /// The resources of the base, by the positions that entries name.
    base: Vec<Resource>,
    /// Where the resources of a URN stand in the base, as far as they are still there.
    places: HashMap<Urn, Vec<usize>>,
    /// What operations that ended have left.
    left: HashMap<i64, Resource>,
    under_way: BTreeMap<i64, UnderWay>,
    /// The last step that was told of each resource.
    told: HashMap<Urn, Op>,
    /// The lowest sequence that has not come.
    next: i64,
    /// Entries that came before their turn.
    early: BTreeMap<i64, Entry>,
}

/// An operation that began and has not ended.
#[derive(Debug)]
struct UnderWay {
    /// What was told when it began; nothing for one that does not touch the world.
    step: Option<StepEvent>,
    since: Duration,
}

impl Steps {
    /// Starts from the snapshot that the entries refer to.
    pub(super) fn new(base: Snapshot) -> Self {
        let mut steps = Self {
            base: Vec::new(),
            places: HashMap::new(),
            left: HashMap::new(),
            under_way: BTreeMap::new(),
            told: HashMap::new(),
            next: 1,
            early: BTreeMap::new(),
            replayer: Replayer::new(Snapshot::default()),
        };
        steps.rebase(base.resources.clone());
        steps.replayer = Replayer::new(base);
        steps
    }

    /// Takes an entry that was seen `now`, and tells what it and those that waited for it say.
    pub(super) fn add(&mut self, entry: Entry, now: Duration) -> Vec<Event> {
        if entry.sequence < self.next {
            return Vec::new();
        }
        self.early.entry(entry.sequence).or_insert(entry);
        let mut events = Vec::new();
        while let Some(entry) = self.early.remove(&self.next) {
            self.next += 1;
            events.extend(self.apply(entry, now));
        }
        events
    }

    /// The operations on the world that have not ended, in the order in which they began.
    pub(super) fn open(&self) -> impl Iterator<Item = (Op, &Urn)> {
        self.under_way.values().filter_map(|open| open.step.as_ref()).map(|step| (step.op, &step.urn))
    }

    /// Tells what is known only from the snapshot that the update left: the ends of what was under way, and what began
    /// and ended after the last look at the journal.
    pub(super) fn finish(&mut self, end: &Snapshot, succeeded: bool, now: Duration) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some((_, entry)) = self.early.pop_first() {
            events.extend(self.apply(entry, now));
        }
        let so_far = self.replayer.snapshot().snapshot;
        let before = Standing::of(&so_far);
        let after = Standing::of(end);
        let mut ended = Vec::new();
        for open in std::mem::take(&mut self.under_way).into_values() {
            let Some(step) = open.step else { continue };
            let pending = end.pending_operations.iter().any(|pending| pending.resource.urn == step.urn);
            let live = after.live.get(&step.urn).copied();
            let was = before.live.get(&step.urn).copied();
            let done = !pending
                && match step.op {
                    Op::Create | Op::Import | Op::Read => live.is_some(),
                    Op::Delete => live.is_none(),
                    Op::DeleteReplaced => !after.condemned(&step.urn),
                    _ => succeeded || live.zip(was).is_some_and(|(now, then)| differ(now, then)),
                };
            ended.push(step.urn.clone());
            let new = live.filter(|_| !is_deletion(step.op)).map(state).or_else(|| step.new.clone());
            let step = StepEvent { new, doubtful: pending, duration: now.saturating_sub(open.since), ..step };
            events.push(if done { Event::StepDone(step) } else { Event::StepFailed(step) });
        }
        for (urn, op, old, new) in before.changes(&after) {
            if ended.contains(&urn) {
                continue;
            }
            // The outputs of a component that is new are part of its making.
            let made = op == Op::Same && self.told.get(&urn) == Some(&Op::Create);
            let (op, old) = if made { (Op::Create, None) } else { (op, old) };
            events.push(done(op, &urn, old.map(state), new.map(state)));
        }
        events
    }

    fn apply(&mut self, entry: Entry, now: Duration) -> Vec<Event> {
        // A refusal is the recorder's to report. What can be told of it is told.
        let _ = self.replayer.add(entry.clone());
        if entry.kind == Kind::Kept {
            return self.kept(&entry, now);
        }
        self.take(entry, now).into_iter().collect()
    }

    /// Each state that was kept ended a step of its own.
    fn kept(&mut self, entry: &Entry, now: Duration) -> Vec<Event> {
        let mut events = Vec::new();
        for (operation, index) in entry.kept.iter().flat_map(Kept::each) {
            let mut success = Entry::new(Kind::Success, entry.sequence, operation);
            success.remove_old = Some(index);
            success.state = self.at(Some(index), None).cloned();
            events.extend(self.succeeded(&success, now));
        }
        events
    }

    fn take(&mut self, entry: Entry, now: Duration) -> Option<Event> {
        match entry.kind {
            Kind::Begin => self.begin(entry, now),
            Kind::Success if entry.is_refresh => self.refreshed(&entry),
            Kind::Success => self.succeeded(&entry, now),
            Kind::RefreshSuccess => self.refreshed(&entry),
            Kind::Failure => {
                let open = self.under_way.remove(&entry.operation_id)?;
                let step = StepEvent { duration: now.saturating_sub(open.since), ..open.step? };
                Some(Event::StepFailed(step))
            }
            Kind::Outputs => self.outputs(entry),
            Kind::Write => {
                self.rebase(entry.new_snapshot.unwrap_or_default().resources);
                None
            }
            Kind::RebuiltBaseState => {
                let resources = self.replayer.snapshot().snapshot.resources;
                self.rebase(resources);
                None
            }
            Kind::SecretsManager
            | Kind::ExtensionParameterize
            | Kind::Snippets
            | Kind::Kept
            | Kind::Unstated
            | Kind::Other(_) => None,
        }
    }

    fn begin(&mut self, entry: Entry, now: Duration) -> Option<Event> {
        let step = entry.operation.map(|operation| self.step(&operation));
        self.under_way.insert(entry.operation_id, UnderWay { step: step.clone(), since: now });
        let step = step?;
        self.told.insert(step.urn.clone(), step.op);
        Some(Event::StepStarted(step))
    }

    /// What an operation on the world is told as.
    fn step(&self, operation: &Operation) -> StepEvent {
        let resource = &operation.resource;
        let live = self.live(&resource.urn);
        let op = match &operation.kind {
            OperationKind::Creating if live.is_some() => Op::CreateReplacement,
            OperationKind::Creating => Op::Create,
            OperationKind::Deleting if self.is_condemned(resource) => Op::DeleteReplaced,
            OperationKind::Deleting => Op::Delete,
            OperationKind::Reading => Op::Read,
            OperationKind::Importing => Op::Import,
            OperationKind::Updating | OperationKind::Other(_) => Op::Update,
        };
        let (old, new) = match is_deletion(op) {
            true => (Some(state(resource)), None),
            false => (live.map(state), Some(state(resource))),
        };
        step(op, &resource.urn, old, new)
    }

    fn succeeded(&mut self, entry: &Entry, now: Duration) -> Option<Event> {
        let open = self.under_way.remove(&entry.operation_id);
        let before = self.at(entry.remove_old, entry.remove_new).cloned();
        let live = entry.state.as_ref().and_then(|state| self.live(&state.urn)).cloned();
        self.settle(entry);
        let since = open.as_ref().map_or(now, |open| open.since);
        if let Some(step) = open.and_then(|open| open.step) {
            let new = entry.state.as_ref().map(state).or_else(|| step.new.clone());
            let new = new.filter(|_| !is_deletion(step.op));
            return Some(Event::StepDone(StepEvent { new, duration: now.saturating_sub(since), ..step }));
        }
        let (op, urn) = match (&entry.state, &before) {
            (Some(new), Some(old)) => (changed(old, new), &new.urn),
            (Some(new), None) if new.external => (Op::Read, &new.urn),
            (Some(new), None) if live.is_some() => (Op::CreateReplacement, &new.urn),
            (Some(new), None) => (Op::Create, &new.urn),
            (None, Some(old)) if old.pending_replacement => (Op::RemovePendingReplace, &old.urn),
            (None, Some(old)) if old.external => (Op::Discard, &old.urn),
            (None, Some(old)) if old.delete => (Op::DeleteReplaced, &old.urn),
            (None, Some(old)) => (Op::Delete, &old.urn),
            (None, None) => return None,
        };
        self.told.insert(urn.clone(), op);
        Some(done(op, urn, before.as_ref().or(live.as_ref()).map(state), entry.state.as_ref().map(state)))
    }

    fn refreshed(&mut self, entry: &Entry) -> Option<Event> {
        self.under_way.remove(&entry.operation_id);
        let before = self.at(entry.remove_old, entry.remove_new)?.clone();
        let found = match &entry.state {
            None => Op::Delete,
            Some(now) if differ(now, &before) => Op::Update,
            Some(_) => Op::Same,
        };
        match (&entry.state, entry.kind) {
            (Some(state), Kind::RefreshSuccess) => {
                self.put(entry.remove_old, entry.remove_new, state.clone());
            }
            _ => self.settle(entry),
        }
        let new = entry.state.as_ref().map(state);
        let step =
            StepEvent { result: Some(found), ..step(Op::Refresh, &before.urn, Some(state(&before)), new) };
        Some(Event::StepDone(step))
    }

    /// The outputs of the stack and of components come after their own step. Those of others end with it.
    fn outputs(&mut self, entry: Entry) -> Option<Event> {
        let before = self.at(entry.remove_old, entry.remove_new).cloned();
        let new = entry.state?;
        self.put(entry.remove_old, entry.remove_new, new.clone());
        if new.custom {
            return None;
        }
        let op = self.told.get(&new.urn).copied().unwrap_or(Op::Same);
        let old = before.filter(|_| op != Op::Create);
        Some(done(op, &new.urn, old.as_ref().map(state), Some(state(&new))))
    }

    /// Takes note of what a success does to the places that it names.
    fn settle(&mut self, entry: &Entry) {
        let index = |member: Option<i64>| member.and_then(|index| usize::try_from(index).ok());
        if let Some(index) = index(entry.remove_old)
            && let Some(resource) = self.base.get(index)
            && let Some(places) = self.places.get_mut(&resource.urn)
        {
            places.retain(|&place| place != index);
        }
        if let Some(resource) = index(entry.delete_old).and_then(|index| self.base.get_mut(index)) {
            resource.delete = true;
        }
        if let Some(resource) =
            index(entry.pending_replacement_old).and_then(|index| self.base.get_mut(index))
        {
            resource.pending_replacement = true;
        }
        if let Some(resource) = entry.delete_new.and_then(|operation| self.left.get_mut(&operation)) {
            resource.delete = true;
        }
        if let Some(state) = &entry.state {
            self.left.insert(entry.operation_id, state.clone());
        }
    }

    /// The resource that a pair of members names.
    fn at(&self, old: Option<i64>, new: Option<i64>) -> Option<&Resource> {
        match (old, new) {
            (Some(index), _) => self.base.get(usize::try_from(index).ok()?),
            (None, Some(operation)) => self.left.get(&operation),
            (None, None) => None,
        }
    }

    fn put(&mut self, old: Option<i64>, new: Option<i64>, state: Resource) {
        let slot = match (old, new) {
            (Some(index), _) => usize::try_from(index).ok().and_then(|index| self.base.get_mut(index)),
            (None, Some(operation)) => self.left.get_mut(&operation),
            (None, None) => None,
        };
        if let Some(slot) = slot {
            *slot = state;
        }
    }

    fn rebase(&mut self, resources: Vec<Resource>) {
        self.places.clear();
        for (index, resource) in resources.iter().enumerate() {
            self.places.entry(resource.urn.clone()).or_default().push(index);
        }
        self.base = resources;
    }

    /// What stands in the base under a URN and does not wait to be deleted.
    fn live(&self, urn: &Urn) -> Option<&Resource> {
        let mut standing = self.places.get(urn)?.iter().filter_map(|&index| self.base.get(index));
        standing.find(|resource| !resource.delete)
    }

    /// Whether a replacement took a resource's place.
    fn is_condemned(&self, resource: &Resource) -> bool {
        let places = self.places.get(&resource.urn).into_iter().flatten();
        let mut standing = places.filter_map(|&index| self.base.get(index)).chain(self.left.values());
        resource.delete
            || standing.any(|other| other.delete && other.urn == resource.urn && other.id == resource.id)
    }
}

/// The resources of a snapshot by URN.
struct Standing<'s> {
    live: BTreeMap<&'s Urn, &'s Resource>,
    condemned: Vec<&'s Urn>,
}

type Missed<'s> = (Urn, Op, Option<&'s Resource>, Option<&'s Resource>);

impl<'s> Standing<'s> {
    fn of(snapshot: &'s Snapshot) -> Self {
        let live = snapshot.resources.iter().filter(|resource| !resource.delete);
        let condemned = snapshot.resources.iter().filter(|resource| resource.delete);
        Self {
            live: live.map(|resource| (&resource.urn, resource)).collect(),
            condemned: condemned.map(|resource| &resource.urn).collect(),
        }
    }

    fn condemned(&self, urn: &Urn) -> bool {
        self.condemned.contains(&urn)
    }

    /// What became of each resource that is not as it was.
    fn changes(&self, after: &Standing<'s>) -> Vec<Missed<'s>> {
        let gone = self.live.iter().filter(|(urn, _)| !after.live.contains_key(*urn));
        let mut changes: Vec<Missed<'s>> =
            gone.map(|(urn, old)| ((*urn).clone(), Op::Delete, Some(*old), None)).collect();
        for (urn, new) in &after.live {
            let op = match self.live.get(urn) {
                None => Op::Create,
                Some(old) if old.id != new.id => Op::CreateReplacement,
                Some(old) if differ(old, new) => changed(old, new),
                Some(_) => continue,
            };
            changes.push(((*urn).clone(), op, self.live.get(urn).copied(), Some(*new)));
        }
        changes
    }
}

fn is_deletion(op: Op) -> bool {
    matches!(op, Op::Delete | Op::DeleteReplaced)
}

/// Whether a resource's values are others.
fn differ(one: &Resource, other: &Resource) -> bool {
    one.id != other.id
        || one.inputs.text() != other.inputs.text()
        || one.outputs.text() != other.outputs.text()
}

/// What happened to a resource whose values were those and are these. The outputs of components are the program's.
fn changed(before: &Resource, after: &Resource) -> Op {
    let inputs = before.inputs.text() != after.inputs.text();
    if inputs || (after.custom && differ(before, after)) { Op::Update } else { Op::Same }
}

/// A resource as displays take it, its secrets sealed.
fn state(resource: &Resource) -> Arc<State> {
    // What cannot be read cannot be shown either.
    let values = |properties: &Properties| decode_properties(properties).unwrap_or_default();
    let (inputs, outputs) = (values(&resource.inputs), values(&resource.outputs));
    let mut record = resource.clone();
    (record.inputs, record.outputs) = (Properties::default(), Properties::default());
    Arc::new(State { record, inputs, outputs, replacement_trigger: Value::Null })
}

fn done(op: Op, urn: &Urn, old: Option<Arc<State>>, new: Option<Arc<State>>) -> Event {
    Event::StepDone(step(op, urn, old, new))
}

fn step(op: Op, urn: &Urn, old: Option<Arc<State>>, new: Option<Arc<State>>) -> StepEvent {
    let record = new.as_deref().or(old.as_deref()).map(|state| &state.record);
    StepEvent {
        op,
        urn: urn.clone(),
        provider: record.map(|record| record.provider.clone()).unwrap_or_default(),
        old,
        new,
        replace_keys: Vec::new(),
        changed_keys: Vec::new(),
        detailed: None,
        logical: !matches!(op, Op::CreateReplacement | Op::DeleteReplaced | Op::Refresh),
        planning: false,
        doubtful: false,
        result: None,
        duration: Duration::ZERO,
    }
}

#[cfg(test)]
mod tests;

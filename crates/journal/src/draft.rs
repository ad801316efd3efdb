//! The snapshot that entries make, while they are being applied in order.

use crate::{Entry, Kept, Kind, Reason, prune::prune_references};
use drystone_model::{
    DuplicateAlias, Extension, Feature, Features, Operation, OperationKind, Resource, SecretsProvider,
    Snapshot, normalize,
};
use std::collections::{BTreeMap, HashMap};

/// The base with everything that the entries so far changed in it.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    /// The base without its resources.
    base: Snapshot,
    /// The base's resources, each at the position that entries name; `None` when it was removed.
    old: Vec<Option<Resource>>,
    /// The resources of this update, in the order they were done; `None` when it was removed.
    new: Vec<Option<Resource>>,
    operations: HashMap<i64, Progress>,
    /// What is under way, by the sequence of the entry that began it.
    pending: BTreeMap<i64, Operation>,
    extensions: BTreeMap<String, Extension>,
    refreshed: bool,
    byte_strings: bool,
}

/// How far an operation is.
#[derive(Debug, Clone, Copy)]
enum Progress {
    /// It began with the entry of that sequence.
    UnderWay(i64),
    /// It ended, and this is the resource that it left.
    Ended(Option<Place>),
}

/// Where a resource stands.
#[derive(Debug, Clone, Copy)]
enum Place {
    Old(usize),
    New(usize),
}

/// What a pair of members names: a resource of the base, and one of the update.
type Places = [Option<Place>; 2];

impl Draft {
    pub(crate) fn new(mut base: Snapshot) -> Self {
        let old = std::mem::take(&mut base.resources).into_iter().map(Some).collect();
        Self {
            base,
            old,
            new: Vec::new(),
            operations: HashMap::new(),
            pending: BTreeMap::new(),
            extensions: BTreeMap::new(),
            refreshed: false,
            byte_strings: false,
        }
    }

    /// Says that the base holds byte strings.
    pub(crate) fn hold_byte_strings(&mut self) {
        self.byte_strings = true;
    }

    /// Applies the next entry, all of it or nothing.
    pub(crate) fn apply(&mut self, entry: Entry) -> Result<(), Reason> {
        entry.check()?;
        let requires_byte_string = entry.requires_byte_string;
        match entry.kind {
            Kind::Begin => self.begin(entry)?,
            Kind::Success => self.succeed(entry)?,
            Kind::Failure => self.end(entry.operation_id, None)?,
            Kind::RefreshSuccess => self.refresh(entry)?,
            Kind::Outputs => self.register_outputs(entry)?,
            Kind::Write => self.replace_base(entry.new_snapshot.unwrap_or_default()),
            Kind::SecretsManager => self.reseal(entry.secrets_provider),
            Kind::RebuiltBaseState => self.rebuild(),
            Kind::ExtensionParameterize => {
                self.extensions.extend(entry.extension_ref.zip(entry.extension));
            }
            Kind::Snippets => self.base.snippets = entry.snippets,
            Kind::Kept => self.keep(&entry.kept)?,
            Kind::Unstated | Kind::Other(_) => {}
        }
        self.byte_strings |= requires_byte_string;
        Ok(())
    }

    fn begin(&mut self, entry: Entry) -> Result<(), Reason> {
        if self.operations.contains_key(&entry.operation_id) {
            return Err(Reason::BegunBefore(entry.operation_id));
        }
        self.operations.insert(entry.operation_id, Progress::UnderWay(entry.sequence));
        self.pending.extend(entry.operation.map(|operation| (entry.sequence, operation)));
        Ok(())
    }

    fn succeed(&mut self, entry: Entry) -> Result<(), Reason> {
        let remove = self.places(("removeOld", entry.remove_old), ("removeNew", entry.remove_new))?;
        let delete = self.places(("deleteOld", entry.delete_old), ("deleteNew", entry.delete_new))?;
        let replace = self.places(
            ("pendingReplacementOld", entry.pending_replacement_old),
            ("pendingReplacementNew", entry.pending_replacement_new),
        )?;
        self.end(entry.operation_id, entry.state.is_some().then_some(Place::New(self.new.len())))?;
        if entry.state.is_some() {
            self.new.push(entry.state);
        }
        self.change(remove, |slot| *slot = None);
        self.change(delete, |slot| slot.iter_mut().for_each(|resource| resource.delete = true));
        self.change(replace, |slot| slot.iter_mut().for_each(|resource| resource.pending_replacement = true));
        self.refreshed |= entry.is_refresh;
        Ok(())
    }

    /// States of the base take their places among the new ones, as they stand. One that is gone stays gone.
    fn keep(&mut self, kept: &[Kept]) -> Result<(), Reason> {
        for (operation, index) in kept.iter().flat_map(Kept::each) {
            self.places(("kept", Some(index)), ("kept", None))?;
            if self.operations.contains_key(&operation) {
                return Err(Reason::BegunBefore(operation));
            }
        }
        for (operation, index) in kept.iter().flat_map(Kept::each) {
            let slot = usize::try_from(index).ok().and_then(|index| self.old.get_mut(index));
            let state = slot.and_then(Option::take);
            let place = state.is_some().then_some(Place::New(self.new.len()));
            self.new.extend(state.map(Some));
            self.operations.insert(operation, Progress::Ended(place));
        }
        Ok(())
    }

    /// A refreshed resource keeps its place; one that is gone loses it. A resource that the refresh found and nobody
    /// knew has no place, and waits for the program to register it.
    fn refresh(&mut self, entry: Entry) -> Result<(), Reason> {
        let target = self.places(("removeOld", entry.remove_old), ("removeNew", entry.remove_new))?;
        let [old, new] = target;
        self.end(entry.operation_id, old.or(new).filter(|_| entry.state.is_some()))?;
        self.refreshed = true;
        match entry.state {
            Some(state) => self.set(target, state),
            None => self.change(target, |slot| *slot = None),
        }
        Ok(())
    }

    fn register_outputs(&mut self, entry: Entry) -> Result<(), Reason> {
        let target = self.places(("removeOld", entry.remove_old), ("removeNew", entry.remove_new))?;
        if let Some(state) = entry.state {
            self.set(target, state);
        }
        Ok(())
    }

    /// Positions in the former base mean nothing in the new one; what the update made stays.
    fn replace_base(&mut self, mut base: Snapshot) {
        self.old = std::mem::take(&mut base.resources).into_iter().map(Some).collect();
        self.base = base;
        self.move_places(|place| match place {
            Place::Old(_) => None,
            Place::New(_) => Some(place),
        });
    }

    fn reseal(&mut self, provider: Option<SecretsProvider>) {
        let sealed_alike = |a: &SecretsProvider, b: &SecretsProvider| a.kind == b.kind && a.state == b.state;
        match (&self.base.secrets_provider, &provider) {
            (Some(before), Some(now)) if sealed_alike(before, now) => {}
            _ => self.base.secrets_provider = provider,
        }
    }

    /// The snapshot so far becomes the base. Operations that are under way stay so, and the resources of operations
    /// that ended can still be named by them.
    fn rebuild(&mut self) {
        let mut live = 0;
        let mut position = |slot: &Option<Resource>| {
            live += usize::from(slot.is_some());
            slot.as_ref().map(|_| Place::Old(live - 1))
        };
        let new: Vec<_> = self.new.iter().map(&mut position).collect();
        let old: Vec<_> = self.old.iter().map(&mut position).collect();
        self.move_places(|place| match place {
            Place::New(index) => new.get(index).copied().flatten(),
            Place::Old(index) => old.get(index).copied().flatten(),
        });
        // A contested alias is found again, and told, by whoever takes the snapshot.
        let _ = self.gather();
        self.old = std::mem::take(&mut self.base.resources).into_iter().map(Some).collect();
    }

    /// Ends an operation that is under way.
    fn end(&mut self, operation: i64, left: Option<Place>) -> Result<(), Reason> {
        let Some(&Progress::UnderWay(began)) = self.operations.get(&operation) else {
            return Err(Reason::NotUnderWay(operation));
        };
        self.operations.insert(operation, Progress::Ended(left));
        self.pending.remove(&began);
        Ok(())
    }

    /// The places that a pair of members names.
    fn places(
        &self,
        (old_member, index): (&'static str, Option<i64>),
        (new_member, operation): (&'static str, Option<i64>),
    ) -> Result<Places, Reason> {
        let old = index.map(|index| match usize::try_from(index) {
            Ok(position) if position < self.old.len() => Ok(Place::Old(position)),
            _ => Err(Reason::OutOfRange { member: old_member, index, resources: self.old.len() }),
        });
        let new = operation.map(|operation| match self.operations.get(&operation) {
            Some(Progress::Ended(Some(place))) => Ok(*place),
            _ => Err(Reason::UnknownOperation { member: new_member, operation }),
        });
        Ok([old.transpose()?, new.transpose()?])
    }

    /// Gives a resource its state; one that was removed stays removed.
    fn set(&mut self, place: Places, state: Resource) {
        let mut state = Some(state);
        self.change(place, |slot| {
            if slot.is_some() && state.is_some() {
                *slot = state.take();
            }
        });
    }

    fn change(&mut self, places: Places, mut change: impl FnMut(&mut Option<Resource>)) {
        for place in places.into_iter().flatten() {
            let slot = match place {
                Place::Old(index) => self.old.get_mut(index),
                Place::New(index) => self.new.get_mut(index),
            };
            slot.into_iter().for_each(&mut change);
        }
    }

    fn move_places(&mut self, to: impl Fn(Place) -> Option<Place>) {
        for progress in self.operations.values_mut() {
            if let Progress::Ended(place) = progress {
                *place = place.and_then(&to);
            }
        }
    }

    /// Puts the live resources into the base, the update's before the base's, and settles their references. Returns
    /// the features that they had before that, and what kept the names from being settled.
    fn gather(&mut self) -> (Features, Option<DuplicateAlias>) {
        let live = self.new.drain(..).chain(self.old.drain(..)).flatten();
        self.base.resources = live.collect();
        let each = self.base.resources.iter().map(Features::of_resource);
        let features = each.fold(Features::default(), Features::union);
        for (reference, extension) in std::mem::take(&mut self.extensions) {
            self.base.extensions.entry(reference).or_insert(extension);
        }
        if self.refreshed {
            prune_references(&mut self.base.resources);
        }
        (features, normalize(&mut self.base).err())
    }

    /// The snapshot, with what it needs and what kept its names from being settled.
    ///
    /// Only creations stay pending from the base: somebody has to find out what became of them.
    pub(crate) fn into_snapshot(mut self) -> (Snapshot, Features, Option<DuplicateAlias>) {
        let (mut features, duplicate_alias) = self.gather();
        let mut snapshot = self.base;
        let inherited = std::mem::take(&mut snapshot.pending_operations).into_iter();
        let creations = inherited.filter(|operation| operation.kind == OperationKind::Creating);
        snapshot.pending_operations = self.pending.into_values().chain(creations).collect();
        snapshot.manifest.plugins.clear();
        for operation in &snapshot.pending_operations {
            features = features.union(Features::of_resource(&operation.resource));
        }
        if !snapshot.snippets.is_empty() {
            features.insert(Feature::Snippets);
        }
        if self.byte_strings && !(snapshot.resources.is_empty() && snapshot.pending_operations.is_empty()) {
            features.insert(Feature::ByteString);
        }
        (snapshot, features, duplicate_alias)
    }
}

//! The engine's pen: entries get their numbers, gather, and are durable when the call returns (S1, S2).

mod order;

pub(crate) use order::refers_no_further;

use crate::known::{Known, Place};
use crate::{Journal, JournalError};
use drystone_journal::{Entry, Kept, Kind, Replayer};
use drystone_model::{Operation, OperationKind, Resource, Snapshot};
use std::sync::{Arc, Mutex, PoisonError};

/// How many turns in which nobody adds an entry end the gathering of a write.
const SILENCE: usize = 3;

/// Writes the journal of an update; in a preview, nothing.
pub(crate) struct Recorder {
    journal: Option<Arc<dyn Journal>>,
    queue: Mutex<Queue>,
    /// How far the journal is durable. Who holds it writes for everybody that waits (group commit).
    durable: tokio::sync::Mutex<i64>,
}

#[derive(Default)]
struct Queue {
    /// Entries that are numbered and not yet written.
    waiting: Vec<Entry>,
    sequence: i64,
    operation: i64,
    order: order::Order,
    /// Whether anything waits, or was written, that changes the snapshot.
    changed: bool,
    broken: Option<JournalError>,
    /// What the entries make of the base, where somebody wants to know in the end.
    followed: Option<Replayer>,
}

impl Queue {
    /// Numbers entries and lets them wait.
    fn add(&mut self, entries: Vec<Entry>) {
        for mut entry in entries {
            self.sequence += 1;
            entry.sequence = self.sequence;
            if let Some(followed) = &mut self.followed {
                // What is refused shows when the snapshot is taken.
                let _ = followed.add(entry.clone());
            }
            self.waiting.push(entry);
        }
    }

    /// Adds a kept state to those that wait, which share one entry as long as nothing comes between.
    fn add_kept(&mut self, operation: i64, index: usize) {
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        let run = Kept { operation_id: operation, base: vec![index], ..Kept::default() };
        let Some(last) = self.waiting.last_mut().filter(|last| last.kind == Kind::Kept) else {
            let entry = Entry { kept: vec![run], ..Entry::new(Kind::Kept, 0, 0) };
            return self.add(vec![entry]);
        };
        match last.kept.last_mut() {
            Some(kept) if kept.operation_id + kept.base.len() as i64 == operation => kept.base.push(index),
            _ => last.kept.push(run),
        }
    }
}

/// How an entry must be treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// Nothing goes on before it is durable.
    Durable,
    /// It changes the snapshot, but the world did not change: it is written with what comes next, or at the end.
    Light,
    /// It changes nothing but the order: it is only written if something else is.
    Elided,
}

/// An operation that began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begun(i64);

/// What a successful operation left.
#[derive(Debug, Default)]
pub(crate) struct Success {
    /// The resource as it is now.
    pub(crate) state: Option<Resource>,
    /// The state that it takes the place of.
    pub(crate) remove: Option<Place>,
    /// The state that now waits to be deleted.
    pub(crate) delete: Option<Place>,
    /// The state that was deleted and waits for its replacement.
    pub(crate) pending_replacement: Option<Place>,
    /// Whether it is what a refresh found: references to what is gone are dropped.
    pub(crate) refresh: bool,
    pub(crate) byte_strings: bool,
}

impl Recorder {
    /// A pen over a base, whose states have their positions in it as places.
    pub(crate) fn new(journal: Option<Arc<dyn Journal>>, base: Vec<Arc<Known>>) -> Self {
        let queue = Queue { order: order::Order::new(base), ..Queue::default() };
        Self { journal, queue: Mutex::new(queue), durable: tokio::sync::Mutex::new(0) }
    }

    /// The states of the base that would have to be moved for a state to be recorded now.
    pub(crate) fn needs_before(&self, record: &Resource) -> Vec<Arc<Known>> {
        if self.is_recording() { self.queue().order.needs_before(record) } else { Vec::new() }
    }

    /// Whether a state stands where others that are not to be touched need it.
    pub(crate) fn is_needed_where_it_stands(&self, place: Place) -> bool {
        matches!(place, Place::Base(index) if self.queue().order.is_moved(index))
    }

    /// Whether anything is written at all.
    pub(crate) fn is_recording(&self) -> bool {
        self.journal.is_some()
    }

    /// Whether anything changed the snapshot.
    pub(crate) fn changed(&self) -> bool {
        self.queue().changed
    }

    /// Writes down that an operation on the world begins. Durable when it returns (S1).
    pub(crate) async fn begin(&self, kind: OperationKind, resource: Resource) -> Result<Begun, JournalError> {
        let mut entry = Entry::new(Kind::Begin, 0, 0);
        entry.operation = Some(Operation { resource, kind, ..Operation::default() });
        let begun = self.next_operation();
        entry.operation_id = begun.0;
        self.write(entry, Weight::Durable).await?;
        Ok(begun)
    }

    /// Writes down that an operation ended well. Durable when it returns.
    pub(crate) async fn succeed(&self, begun: Begun, success: Success) -> Result<Place, JournalError> {
        self.write(success.entry(begun), Weight::Durable).await?;
        Ok(self.place(begun))
    }

    /// Writes down a change of the state alone: the world did not change.
    pub(crate) async fn adjust(&self, success: Success) -> Result<Place, JournalError> {
        self.light(success, Weight::Light).await
    }

    /// Writes down that a resource is as it was.
    pub(crate) async fn keep(&self, success: Success) -> Result<Place, JournalError> {
        match self.keep_as_it_stands(&success) {
            Some(kept) => kept,
            None => self.light(success, Weight::Elided).await,
        }
    }

    /// Keeps a state of the base with nothing but its position, together with those that were kept before it: what
    /// else happens in a run must not cost what the whole stack holds (S3). `None` where there is more to say.
    fn keep_as_it_stands(&self, success: &Success) -> Option<Result<Place, JournalError>> {
        let (Some(Place::Base(index)), Some(state)) = (success.remove, &success.state) else { return None };
        let says_more = success.refresh
            || success.byte_strings
            || success.delete.is_some()
            || success.pending_replacement.is_some();
        let mut queue = self.queue();
        if says_more || self.journal.is_none() || queue.followed.is_some() {
            return None;
        }
        if let Some(error) = &queue.broken {
            return Some(Err(error.clone()));
        }
        let Queue { order, operation, .. } = &mut *queue;
        let mut next = || {
            *operation += 1;
            *operation
        };
        let moved = order.keep(index, state, &mut next)?;
        let operation = next();
        queue.add(moved);
        queue.add_kept(operation, index);
        Some(Ok(Place::New(operation)))
    }

    async fn light(&self, success: Success, weight: Weight) -> Result<Place, JournalError> {
        let begun = self.next_operation();
        self.write(Entry::new(Kind::Begin, 0, begun.0), weight).await?;
        self.write(success.entry(begun), weight).await?;
        Ok(self.place(begun))
    }

    /// Writes down that an operation ended without effect.
    pub(crate) async fn fail(&self, begun: Begun) -> Result<(), JournalError> {
        self.write(Entry::new(Kind::Failure, 0, begun.0), Weight::Durable).await
    }

    /// Writes down what a refresh found; `None` when the resource is gone.
    pub(crate) async fn refreshed(
        &self,
        place: Place,
        state: Option<Resource>,
        byte_strings: bool,
        unchanged: bool,
    ) -> Result<(), JournalError> {
        let weight = if unchanged { Weight::Elided } else { Weight::Light };
        let begun = self.next_operation();
        self.write(Entry::new(Kind::Begin, 0, begun.0), weight).await?;
        let mut entry = Entry::new(Kind::RefreshSuccess, 0, begun.0);
        (entry.remove_old, entry.remove_new) = members(Some(place));
        entry.state = state;
        entry.requires_byte_string = byte_strings;
        self.write(entry, weight).await
    }

    /// Writes down the outputs that a program registered.
    pub(crate) async fn outputs(
        &self,
        place: Place,
        state: Resource,
        byte_strings: bool,
        unchanged: bool,
    ) -> Result<(), JournalError> {
        let mut entry = Entry::new(Kind::Outputs, 0, 0);
        (entry.remove_old, entry.remove_new) = members(Some(place));
        if entry.remove_old.is_none() && entry.remove_new.is_none() {
            return Ok(());
        }
        entry.state = Some(state);
        entry.requires_byte_string = byte_strings;
        self.write(entry, if unchanged { Weight::Elided } else { Weight::Light }).await
    }

    /// Writes down that another snapshot takes the base's place. Positions refer to it from now on. Durable when it
    /// returns.
    pub(crate) async fn rebase(
        &self,
        snapshot: Snapshot,
        byte_strings: bool,
        states: Vec<Arc<Known>>,
    ) -> Result<(), JournalError> {
        self.queue().order = order::Order::new(states);
        let mut entry = Entry::new(Kind::Write, 0, 0);
        entry.new_snapshot = Some(snapshot);
        entry.requires_byte_string = byte_strings;
        self.write(entry, Weight::Durable).await
    }

    /// Follows what the entries make of the base from now on, before the first of them.
    pub(crate) fn follow(&self, base: Snapshot) {
        if self.is_recording() {
            self.queue().followed = Some(Replayer::new(base));
        }
    }

    /// What the entries so far make of the base that is followed; nothing where they do not fit it.
    pub(crate) fn followed(&self) -> Option<Snapshot> {
        let replayed = self.queue().followed.as_ref()?.snapshot();
        (replayed.refused.is_empty() && replayed.duplicate_alias.is_none()).then_some(replayed.snapshot)
    }

    /// Writes down a whole snapshot: the last entry of an update, which nothing can follow. The state so far becomes
    /// the base first, so that every replayer forgets its positions. Durable when it returns.
    pub(crate) async fn conclude(&self, snapshot: Snapshot) -> Result<(), JournalError> {
        self.write(Entry::new(Kind::RebuiltBaseState, 0, 0), Weight::Light).await?;
        self.rebase(snapshot, false, Vec::new()).await
    }

    /// Writes an entry of another kind, made by the caller.
    pub(crate) async fn note(&self, entry: Entry) -> Result<(), JournalError> {
        self.write(entry, Weight::Light).await
    }

    /// Makes everything durable that changes the snapshot.
    pub(crate) async fn flush(&self) -> Result<(), JournalError> {
        if !self.changed() {
            return Ok(());
        }
        let last = self.queue().sequence;
        self.flush_to(last).await
    }

    fn next_operation(&self) -> Begun {
        let mut queue = self.queue();
        queue.operation += 1;
        Begun(queue.operation)
    }

    fn place(&self, begun: Begun) -> Place {
        if self.is_recording() { Place::New(begun.0) } else { Place::Nowhere }
    }

    async fn write(&self, entry: Entry, weight: Weight) -> Result<(), JournalError> {
        if self.journal.is_none() {
            return Ok(());
        }
        let sequence = {
            let mut queue = self.queue();
            if let Some(error) = &queue.broken {
                return Err(error.clone());
            }
            queue.changed |= weight != Weight::Elided;
            let Queue { order, operation, .. } = &mut *queue;
            let entries = order.arrange(entry, || {
                *operation += 1;
                *operation
            });
            queue.add(entries);
            queue.sequence
        };
        if weight == Weight::Durable { self.flush_to(sequence).await } else { Ok(()) }
    }

    /// Waits until everything up to a sequence is durable, writing it if nobody else does.
    async fn flush_to(&self, sequence: i64) -> Result<(), JournalError> {
        let Some(journal) = &self.journal else { return Ok(()) };
        let mut durable = self.durable.lock().await;
        if *durable >= sequence {
            return Ok(());
        }
        self.gather().await;
        let (entries, last) = {
            let mut queue = self.queue();
            if let Some(error) = &queue.broken {
                return Err(error.clone());
            }
            (std::mem::take(&mut queue.waiting), queue.sequence)
        };
        let interrupted = Interrupted(self);
        let written = journal.append(entries).await;
        std::mem::forget(interrupted);
        if let Err(error) = &written {
            self.queue().broken = Some(error.clone());
        }
        written?;
        *durable = last;
        Ok(())
    }

    /// Lets everybody who can go on right now speak first, so that they share this write. Where nobody can, it goes on
    /// at once: no clock is waited for.
    async fn gather(&self) {
        let mut silent = 0;
        while silent < SILENCE {
            let before = self.queue().sequence;
            tokio::task::yield_now().await;
            silent = if self.queue().sequence == before { silent + 1 } else { 0 };
        }
    }

    fn queue(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Marks the journal broken when a write is dropped half way: nobody knows what of it is durable.
struct Interrupted<'a>(&'a Recorder);

impl Drop for Interrupted<'_> {
    fn drop(&mut self) {
        self.0.queue().broken =
            Some(JournalError::Failed("a write to the journal was interrupted".to_owned()));
    }
}

impl Success {
    fn entry(self, begun: Begun) -> Entry {
        let mut entry = Entry::new(Kind::Success, 0, begun.0);
        (entry.remove_old, entry.remove_new) = members(self.remove);
        (entry.delete_old, entry.delete_new) = members(self.delete);
        (entry.pending_replacement_old, entry.pending_replacement_new) = members(self.pending_replacement);
        entry.state = self.state;
        entry.is_refresh = self.refresh;
        entry.requires_byte_string = self.byte_strings;
        entry
    }
}

/// The pair of members that names a place.
fn members(place: Option<Place>) -> (Option<i64>, Option<i64>) {
    match place {
        Some(Place::Base(index)) => (i64::try_from(index).ok(), None),
        Some(Place::New(operation)) => (None, Some(operation)),
        Some(Place::Nowhere) | None => (None, None),
    }
}

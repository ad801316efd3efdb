//! A held lease: the journal of its update, checkpoints on the way, the commit at the end.

use super::LocalStore;
use super::checkpoint::{self, Document, Located};
use super::commit::Writer;
use super::group_commit::{Durable, GroupCommit};
use super::leases::{Guard, Taken};
use super::recovery::JOURNAL;
use crate::disk::{self, FileLock};
use crate::diy::cadence::Cadence;
use crate::diy::document::{self, Publish};
use crate::diy::frames::{self, Frame, Header, Publication};
use crate::diy::outline::Outline;
use crate::diy::recording::{Failure, Framed, Recording};
use crate::diy::replay::DAMAGED;
use crate::diy::{layout, number_of};
use crate::{Commit, Committed, Error, HeldLease, Keep, LeaseInfo, Recovery, Relocation, Result, StackId};
use async_trait::async_trait;
use drystone_journal::Entry;
use drystone_model::Snapshot;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// A lease held on a stack of a local store.
pub(crate) struct LocalLease {
    shared: Arc<Shared>,
    recovery: Recovery,
    _alive: Box<dyn FileLock>,
}

struct Shared {
    store: LocalStore,
    stack: StackId,
    info: LeaseInfo,
    update: Mutex<Update>,
}

/// What this holder has done so far.
struct Update {
    current: Current,
    journal: Option<OpenJournal>,
    /// When checkpoints on the way are written.
    cadence: Cadence,
    checkpointing: Option<JoinHandle<()>>,
}

/// The current document as this holder last saw or wrote it.
enum Current {
    /// Only its file, as it was when the lease was taken.
    Seen(Option<Located>),
    Known(Option<Document>),
}

/// Entries on their way to the disk.
struct Queued {
    writer: Arc<GroupCommit>,
    durable: Durable,
    /// Whether the appender has to write them itself.
    alone: bool,
}

struct OpenJournal {
    name: String,
    writer: Arc<GroupCommit>,
    recording: Recording,
}

impl LocalLease {
    pub(crate) fn new(store: LocalStore, stack: StackId, taken: Taken, recovery: Recovery) -> Result<Self> {
        let current = Current::Seen(checkpoint::locate(store.disk(), &stack)?);
        let update =
            Mutex::new(Update { current, journal: None, cadence: Cadence::default(), checkpointing: None });
        let shared = Arc::new(Shared { store, stack, info: taken.info, update });
        Ok(Self { shared, recovery, _alive: taken.alive })
    }
}

#[async_trait]
impl HeldLease for LocalLease {
    fn info(&self) -> &LeaseInfo {
        &self.shared.info
    }

    fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    async fn append(&self, entries: Vec<Entry>) -> Result<()> {
        let (queued, refused) = self.shared.enqueue(entries)?;
        if let Some(Queued { writer, durable, alone }) = queued {
            if alone {
                writer.write_queued();
            }
            self.shared.outcome(durable.await)?;
            Shared::checkpoint_if_due(&self.shared);
        }
        refused
    }

    async fn commit(&self, commit: Commit) -> Result<Committed> {
        self.shared.commit(commit)
    }

    async fn relocate(&self, to: Relocation) -> Result<()> {
        let shared = &self.shared;
        if shared.update().journal.as_ref().is_some_and(|journal| journal.recording.entries() > 0) {
            let title = format!("unfinished `{}`", shared.info.purpose);
            shared.commit(Commit { title, ..Commit::default() })?;
        }
        shared.finish_checkpointing();
        shared.store.relocate(&shared.stack, shared.writer(), to)?;
        let located = checkpoint::locate(shared.store.disk(), &shared.stack)?;
        shared.update().current = Current::Seen(located);
        Ok(())
    }

    async fn prune(&self, keep: Keep) -> Result<Vec<u64>> {
        self.shared.prune(keep)
    }

    async fn release(self: Box<Self>) -> Result<()> {
        self.shared.finish_checkpointing();
        let Shared { store, stack, info, .. } = &*self.shared;
        let unfinished =
            self.shared.update().journal.take().is_some_and(|journal| journal.recording.entries() > 0);
        let files = store.leases(stack);
        let guard = files.guard()?;
        match files.check(&info.nonce) {
            Ok(()) => {}
            // It is another's now, and so is everything that stands there (S13).
            Err(Failure::Fenced { .. }) => return Ok(()),
            Err(failure) => return Err(failure.into_error(stack)),
        }
        if unfinished {
            // Nothing is forgotten: what was journaled and not committed is materialised now (S5).
            store.settle(stack, info, &guard)?;
        }
        files.release(info)
    }
}

impl Shared {
    fn update(&self) -> MutexGuard<'_, Update> {
        self.update.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of the current document. Only what was there when the lease was taken counts.
    fn known<'a>(&self, update: &'a mut Update) -> Result<&'a Option<Document>> {
        if let Current::Seen(seen) = &update.current {
            let document = self.store.document(&self.stack)?;
            if document.as_ref().map(|document| &document.located) != seen.as_ref() {
                return Err(self.changed());
            }
            update.current = Current::Known(document);
        }
        match &update.current {
            Current::Known(document) => Ok(document),
            Current::Seen(_) => Err(self.changed()),
        }
    }

    /// Why the current document is not the one that was there before: the next holder changed it, or another tool.
    fn changed(&self) -> Error {
        match self.store.leases(&self.stack).check(&self.info.nonce) {
            Ok(()) => Error::Conflict { stack: self.stack.clone() },
            Err(failure) => failure.into_error(&self.stack),
        }
    }

    /// Checks entries against what was journaled before and queues them for the next write. A refused one ends the
    /// call: those before it are written, it and those after it are not.
    fn enqueue(&self, entries: Vec<Entry>) -> Result<(Option<Queued>, Result<()>)> {
        let framed = Framed::new(entries)?;
        let mut update = self.update();
        if update.journal.is_none() {
            let journal = self.open_journal(&mut update)?;
            update.journal = Some(journal);
        }
        let Some(journal) = &mut update.journal else {
            return Err(Error::Poisoned { reason: "the journal could not be opened".to_owned() });
        };
        if let Some(failure) = journal.writer.failure() {
            return Err(failure.into_error(&self.stack));
        }
        let (bytes, outcome) = journal.recording.take(framed);
        let queued = (!bytes.is_empty()).then(|| {
            let (durable, alone) = journal.writer.append(&bytes);
            Queued { writer: Arc::clone(&journal.writer), durable, alone }
        });
        Ok((queued, outcome))
    }

    fn outcome(
        &self,
        received: Result<Result<(), Failure>, tokio::sync::oneshot::error::RecvError>,
    ) -> Result<()> {
        match received {
            Ok(outcome) => outcome.map_err(|failure| failure.into_error(&self.stack)),
            Err(_) => Err(Error::Poisoned { reason: "the journal was closed".to_owned() }),
        }
    }

    /// Begins the journal: the base is pinned as a revision first, so that replay always has it. Under the guard, so
    /// that a holder that lost its lease leaves no journal behind.
    fn open_journal(&self, update: &mut Update) -> Result<OpenJournal> {
        let store = &self.store;
        if self.known(update)?.is_none() {
            update.current = Current::Known(Some(self.create_empty()?));
        }
        let missing = || Error::NotFound { stack: self.stack.clone() };
        let document = self.known(update)?.clone().ok_or_else(missing)?;
        let (located, text) = checkpoint::read(store.disk(), &self.stack)?.ok_or_else(missing)?;
        if located != document.located && document::hash(&text) != document.hash {
            return Err(self.changed());
        }
        let parsed = document::parse(store.disk().location(&document.located.path), &text)?;
        drop(text);

        let files = store.leases(&self.stack);
        let _guard = store.guard_for(&files, self.writer())?;
        let header = Header {
            stack: self.stack.qualified(),
            lease: self.info.clone(),
            base: i64::try_from(store.adopt(&self.stack, &document)?).unwrap_or(0),
            base_hash: document.hash,
            ..Header::default()
        };
        let nonce: String = self.info.nonce.chars().take(8).collect();
        let name = format!("{:08}-{nonce}", self.info.epoch);
        let path = self.journal_path(&name, JOURNAL);
        let start = frames::start(header).map_err(|error| Error::Poisoned { reason: error.to_string() })?;
        disk::publish(store.disk(), &path, &start)?;
        let file =
            store.disk().open_append(&path).map_err(Error::io("opening", store.disk().location(&path)))?;
        let fence = {
            let (store, stack, nonce) = (store.clone(), self.stack.clone(), self.info.nonce.clone());
            Box::new(move || store.leases(&stack).check(&nonce))
        };
        let writer = GroupCommit::new(file, fence, store.host().has_threads())
            .map_err(Error::io("starting the writer of", store.disk().location(&path)))?;
        Ok(OpenJournal { name, writer: Arc::new(writer), recording: Recording::new(parsed) })
    }

    fn journal_path(&self, name: &str, ending: &str) -> String {
        format!("{}/{name}{ending}", layout::journals(&self.stack))
    }

    /// Makes the stack, with no snapshot yet, for an update that starts from nothing.
    fn create_empty(&self) -> Result<Document> {
        let store = &self.store;
        let (staged, document, _) =
            store.stage_snapshot(&self.stack, None, None, false, &Outline::default())?;
        store.swap(&self.stack, self.writer(), None, staged, || Ok(()))?;
        Ok(document)
    }

    fn writer(&self) -> Writer<'_> {
        Writer { lease: &self.info, guard: None }
    }

    /// Commits, or after a failed append refuses to: what the journal holds for sure is materialised when the lease is
    /// released or taken by the next holder, and nothing else is.
    fn commit(&self, mut commit: Commit) -> Result<Committed> {
        self.finish_checkpointing();
        let mut update = self.update();
        if let Some(failure) = update.journal.as_ref().and_then(|journal| journal.writer.failure()) {
            return Err(failure.into_error(&self.stack));
        }
        let journaled = update.journal.as_ref().filter(|journal| journal.recording.entries() > 0);
        let byte_strings =
            commit.byte_strings || journaled.is_some_and(|journal| journal.recording.byte_strings());
        let replayed = journaled.filter(|_| commit.snapshot.is_none()).map(|journal| {
            let (snapshot, incomplete) = journal.recording.snapshot();
            (self.stamped(snapshot), incomplete)
        });
        let (snapshot, incomplete) = match replayed {
            Some((snapshot, incomplete)) => (Some(snapshot), incomplete),
            None => (commit.snapshot.take(), false),
        };
        let mut committed = Committed::default();
        let guard = match snapshot {
            Some(snapshot) => {
                let publish = Publish {
                    title: std::mem::take(&mut commit.title),
                    message: std::mem::take(&mut commit.message),
                    snapshot,
                    byte_strings,
                    restores: commit.restores,
                    copies: commit.copies.take(),
                };
                self.publish(&mut update, publish, &mut committed)?
            }
            None => {
                if self.known(&mut update)?.is_none() {
                    update.current = Current::Known(Some(self.create_empty()?));
                }
                self.store.guard_for(&self.store.leases(&self.stack), self.writer())?
            }
        };
        if let Some(journal) = update.journal.take() {
            self.end_journal(journal, incomplete)?;
        }
        self.write_beside(&commit)?;
        drop(guard);
        Ok(committed)
    }

    /// Makes a snapshot current; gives back the guard under which that happened.
    fn publish(
        &self,
        update: &mut Update,
        publish: Publish,
        committed: &mut Committed,
    ) -> Result<Option<Guard>> {
        let current = self.known(update)?.clone();
        let journal = update.journal.as_ref();
        let mut announce = |hash: &str, revision| self.announce(journal, hash, Some(revision));
        let published = self.store.publish_snapshot(
            &self.stack,
            self.writer(),
            current.as_ref(),
            publish,
            &mut announce,
        )?;
        committed.revision = Some(published.revision);
        committed.previous = published.previous;
        committed.violations = published.violations;
        update.current = Current::Known(Some(published.document));
        Ok(published.guard)
    }

    /// Ends a journal whose commit is done. One with entries that were refused after they were written is kept.
    fn end_journal(&self, journal: OpenJournal, incomplete: bool) -> Result<()> {
        let path = self.journal_path(&journal.name, JOURNAL);
        let kept = self.journal_path(&journal.name, DAMAGED);
        drop(journal);
        if incomplete {
            disk::rename(self.store.disk(), &path, &kept)
        } else {
            disk::remove_if_there(self.store.disk(), &path)
        }
    }

    /// Tags, the record of the update, and the orphans that the commit settles. Needs the guard.
    fn write_beside(&self, commit: &Commit) -> Result<()> {
        let store = &self.store;
        if let Some(tags) = &commit.tags {
            store.write_tags(&self.stack, tags)?;
        }
        if let Some(record) = &commit.update {
            store.write_history(&self.stack, record)?;
        }
        commit.settles.iter().try_for_each(|orphan| store.settle_orphan(&self.stack, orphan))
    }

    fn stamped(&self, snapshot: Snapshot) -> Snapshot {
        document::stamped(snapshot, self.store.host().now(), &self.store.options().tool_version)
    }

    /// Says in the journal, durably, which document is about to become current.
    fn announce(&self, journal: Option<&OpenJournal>, hash: &str, revision: Option<u64>) -> Result<()> {
        let Some(journal) = journal else { return Ok(()) };
        let publication = Publication {
            hash: hash.to_owned(),
            revision: revision.and_then(|number| i64::try_from(number).ok()),
            ..Publication::default()
        };
        let mut bytes = Vec::new();
        Frame::Publication(publication)
            .write(&mut bytes)
            .map_err(|error| Error::Poisoned { reason: error.to_string() })?;
        journal.writer.append_and_wait(&bytes).map_err(|failure| failure.into_error(&self.stack))
    }

    /// Starts a checkpoint for tools that know nothing of the journal, when the last one is old enough (S3).
    fn checkpoint_if_due(shared: &Arc<Self>) {
        let Some(interval) = shared.store.options().checkpoint_interval else { return };
        let mut update = shared.update();
        let now = shared.store.host().now();
        let is_running = update.checkpointing.as_ref().is_some_and(|thread| !thread.is_finished());
        if is_running || !update.cadence.is_due(interval, now) {
            return;
        }
        drop(update);
        if shared.store.host().has_threads() {
            let worker = Arc::clone(shared);
            let thread = std::thread::Builder::new().name("checkpoint".to_owned()).spawn(move || {
                worker.checkpoint();
            });
            shared.update().checkpointing = thread.ok();
        } else {
            shared.checkpoint();
        }
    }

    /// Writes what the journal says so far as the current document. That it cannot is no failure of the update: the
    /// journal holds everything.
    fn checkpoint(&self) {
        let _ = self.write_checkpoint();
    }

    fn write_checkpoint(&self) -> Result<()> {
        let store = &self.store;
        let (snapshot, byte_strings, outline) = {
            let mut update = self.update();
            let outline = self.known(&mut update)?.as_ref().map(|document| document.outline.clone());
            let Some(journal) = &update.journal else { return Ok(()) };
            let recording = &journal.recording;
            (recording.snapshot().0, recording.byte_strings(), outline.unwrap_or_default())
        };
        let snapshot = Some(self.stamped(snapshot));
        let (staged, document, text) =
            store.stage_snapshot(&self.stack, None, snapshot, byte_strings, &outline)?;
        drop(text);
        let mut update = self.update();
        let current = self.known(&mut update)?.clone();
        let Some(journal) = &update.journal else { return Ok(()) };
        store.swap(&self.stack, self.writer(), current.as_ref(), staged, || {
            self.announce(Some(journal), &document.hash, None)
        })?;
        update.current = Current::Known(Some(document));
        Ok(())
    }

    /// Waits for a checkpoint that is being written.
    fn finish_checkpointing(&self) {
        let running = self.update().checkpointing.take();
        if let Some(thread) = running {
            // A checkpoint that failed is made up for by the commit.
            let _ = thread.join();
        }
    }

    fn prune(&self, keep: Keep) -> Result<Vec<u64>> {
        let revisions = self.store.revisions(&self.stack);
        let current = self.known(&mut self.update())?.as_ref().map(|document| document.hash.clone());
        let files = self.store.leases(&self.stack);
        let _guard = self.store.guard_for(&files, self.writer())?;
        let infos = revisions.list()?;
        let oldest_kept = infos.len().saturating_sub(keep.newest);
        let pinned = self.store.pinned_revisions(&self.stack)?;
        let mut deleted = Vec::new();
        for info in &infos[..oldest_kept] {
            let number = number_of(info);
            if Some(&info.hash) != current.as_ref() && !pinned.contains(&number) {
                revisions.delete(number)?;
                deleted.push(number);
            }
        }
        Ok(deleted)
    }
}

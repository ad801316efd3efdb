//! A held lease: the journal of its update, checkpoints on the way, the commit at the end.

use super::checkpoint::{self, Document};
use super::commit::{Publish, Writer, failed};
use super::frames::{self, Frame, Header, Publication};
use super::group_commit::{Durable, Failure, GroupCommit};
use super::leases::Taken;
use super::recovery::JOURNAL;
use super::revisions;
use super::{LocalStore, layout};
use crate::disk::{self, FileLock};
use crate::{Commit, Committed, Error, HeldLease, Keep, LeaseInfo, Recovery, Relocation, Result, StackId};
use async_trait::async_trait;
use drystone_journal::{Entry, Replayer};
use drystone_model::Manifest;
use jiff::Timestamp;
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
#[derive(Default)]
struct Update {
    /// The current document as this holder last saw or wrote it.
    current: Option<Document>,
    journal: Option<OpenJournal>,
    /// When the last checkpoint on the way was begun.
    checkpointed: Option<Timestamp>,
    checkpointing: Option<JoinHandle<()>>,
}

struct OpenJournal {
    path: String,
    writer: GroupCommit,
    replayer: Replayer,
    byte_strings: bool,
    entries: usize,
}

impl LocalLease {
    pub(crate) fn new(store: LocalStore, stack: StackId, taken: Taken, recovery: Recovery) -> Result<Self> {
        let current = checkpoint::read(store.disk(), &stack)?;
        let update = Mutex::new(Update { current, ..Update::default() });
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
        let durable = self.shared.enqueue(entries)?;
        self.shared.outcome(durable.await)?;
        Shared::checkpoint_if_due(&self.shared);
        Ok(())
    }

    async fn commit(&self, commit: Commit) -> Result<Committed> {
        self.shared.commit(commit)
    }

    async fn relocate(&self, to: Relocation) -> Result<()> {
        self.shared.finish_checkpointing();
        self.shared.store.relocate(&self.shared.stack, &self.shared.info, to)?;
        self.shared.update().current = checkpoint::read(self.shared.store.disk(), &self.shared.stack)?;
        Ok(())
    }

    async fn prune(&self, keep: Keep) -> Result<Vec<u64>> {
        self.shared.prune(keep)
    }

    async fn release(self: Box<Self>) -> Result<()> {
        self.shared.finish_checkpointing();
        let unfinished = self.shared.update().journal.take().is_some_and(|journal| journal.entries > 0);
        if unfinished {
            // Nothing is forgotten: what was journaled and not committed is materialised now (S5).
            let files = self.shared.store.leases(&self.shared.stack);
            let guard = files.guard()?;
            self.shared.store.settle(&self.shared.stack, &self.shared.info, &guard)?;
        }
        let files = self.shared.store.leases(&self.shared.stack);
        let _guard = files.guard()?;
        files.release(&self.shared.info)
    }
}

impl Shared {
    fn update(&self) -> MutexGuard<'_, Update> {
        self.update.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks entries against what was journaled before and queues them for the next write. A refused one stops the
    /// call; nothing of it is written.
    fn enqueue(&self, entries: Vec<Entry>) -> Result<Durable> {
        let mut update = self.update();
        if update.journal.is_none() {
            let journal = self.open_journal(&mut update)?;
            update.journal = Some(journal);
        }
        let Some(journal) = &mut update.journal else {
            return Err(Error::Poisoned { reason: "the journal could not be opened".to_owned() });
        };
        let mut bytes = Vec::new();
        for entry in entries {
            let written = Frame::Entry(Box::new(entry.clone())).write(&mut bytes);
            written.map_err(|error| Error::Poisoned { reason: error.to_string() })?;
            journal.byte_strings |= entry.requires_byte_string;
            journal.replayer.add(entry)?;
            journal.entries += 1;
        }
        Ok(journal.writer.append(&bytes))
    }

    fn outcome(
        &self,
        received: Result<Result<(), Failure>, tokio::sync::oneshot::error::RecvError>,
    ) -> Result<()> {
        match received {
            Ok(outcome) => outcome.map_err(|failure| failed(&self.stack, failure)),
            Err(_) => Err(Error::Poisoned { reason: "the journal was closed".to_owned() }),
        }
    }

    /// Begins the journal: the base is pinned as a revision first, so that replay always has it.
    fn open_journal(&self, update: &mut Update) -> Result<OpenJournal> {
        let store = &self.store;
        let document = match update.current.take() {
            Some(document) => document,
            None => self.create_empty()?,
        };
        let parsed = store.parse(&document.located.path, &document.text);
        let base = store.adopt(&self.stack, &document);
        let base_hash = document.hash.clone();
        update.current = Some(document);
        let (parsed, base) = (parsed?, base?);
        let header = Header {
            stack: self.stack.qualified(),
            lease: self.info.clone(),
            base: i64::try_from(base).unwrap_or(0),
            base_hash,
            ..Header::default()
        };
        let nonce: String = self.info.nonce.chars().take(8).collect();
        let path = format!("{}/{:08}-{nonce}{JOURNAL}", layout::journals(&self.stack), self.info.epoch);
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
        let replayer = Replayer::new(parsed.snapshot);
        Ok(OpenJournal {
            path,
            writer,
            replayer: if parsed.byte_strings { replayer.with_byte_strings() } else { replayer },
            byte_strings: parsed.byte_strings,
            entries: 0,
        })
    }

    /// Makes the stack, with no snapshot yet, for an update that starts from nothing.
    fn create_empty(&self) -> Result<Document> {
        let store = &self.store;
        let text = store.render(&self.stack, None, false)?;
        let staged = checkpoint::stage(store.disk(), &self.stack, &text, store.options().compression)?;
        store.swap(&self.stack, self.writer(), None, staged)?;
        checkpoint::read(store.disk(), &self.stack)?
            .ok_or_else(|| Error::NotFound { stack: self.stack.clone() })
    }

    fn writer(&self) -> Writer<'_> {
        Writer { lease: &self.info, guard: None }
    }

    fn commit(&self, commit: Commit) -> Result<Committed> {
        self.finish_checkpointing();
        let store = &self.store;
        let mut update = self.update();
        let journaled = update.journal.as_ref().filter(|journal| journal.entries > 0);
        let byte_strings = commit.byte_strings || journaled.is_some_and(|journal| journal.byte_strings);
        let snapshot = match (commit.snapshot, journaled) {
            (Some(snapshot), _) => Some(snapshot),
            (None, Some(journal)) => {
                let mut snapshot = journal.replayer.snapshot().snapshot;
                snapshot.manifest =
                    Manifest::new(store.host().now().to_string(), &*store.options().tool_version);
                Some(snapshot)
            }
            (None, None) => None,
        };
        let mut committed = Committed::default();
        if let Some(snapshot) = snapshot {
            let publish = Publish {
                title: commit.title,
                message: commit.message,
                snapshot,
                byte_strings,
                restores: commit.restores,
            };
            let journal = update.journal.as_ref();
            let published = store.publish_snapshot(
                &self.stack,
                self.writer(),
                update.current.as_ref(),
                publish,
                &mut |hash, revision| self.announce(journal, hash, Some(revision)),
            )?;
            committed.revision = Some(published.revision);
            committed.previous = published.previous;
            committed.violations = published.violations;
            update.current = checkpoint::read(store.disk(), &self.stack)?;
        } else if update.current.is_none() {
            update.current = Some(self.create_empty()?);
        }
        if let Some(journal) = update.journal.take() {
            let path = journal.path.clone();
            drop(journal);
            disk::remove_if_there(store.disk(), &path)?;
        }
        if let Some(tags) = &commit.tags {
            store.write_tags(&self.stack, tags)?;
        }
        if let Some(record) = &commit.update {
            store.write_history(&self.stack, record)?;
        }
        Ok(committed)
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
        journal.writer.append_and_wait(&bytes).map_err(|failure| failed(&self.stack, failure))
    }

    /// Starts a checkpoint for tools that know nothing of the journal, when the last one is old enough (S3).
    fn checkpoint_if_due(shared: &Arc<Self>) {
        let Some(interval) = shared.store.options().checkpoint_interval else { return };
        let mut update = shared.update();
        let now = shared.store.host().now();
        let last = *update.checkpointed.get_or_insert(now);
        let elapsed = now.duration_since(last);
        if elapsed < jiff::SignedDuration::try_from(interval).unwrap_or(jiff::SignedDuration::MAX)
            || update.checkpointing.as_ref().is_some_and(|thread| !thread.is_finished())
        {
            return;
        }
        update.checkpointed = Some(now);
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
        let (snapshot, byte_strings) = {
            let update = self.update();
            let Some(journal) = &update.journal else { return };
            (journal.replayer.snapshot().snapshot, journal.byte_strings)
        };
        let mut snapshot = snapshot;
        snapshot.manifest =
            Manifest::new(self.store.host().now().to_string(), &*self.store.options().tool_version);
        let _ = self.write_checkpoint(snapshot, byte_strings);
    }

    fn write_checkpoint(&self, snapshot: drystone_model::Snapshot, byte_strings: bool) -> Result<()> {
        let store = &self.store;
        let text = store.render(&self.stack, Some(snapshot), byte_strings)?;
        let staged = checkpoint::stage(store.disk(), &self.stack, &text, store.options().compression)?;
        let mut update = self.update();
        if update.journal.is_none() {
            return Ok(());
        }
        self.announce(update.journal.as_ref(), &checkpoint::hash(&text), None)?;
        store.swap(&self.stack, self.writer(), update.current.as_ref(), staged)?;
        update.current = checkpoint::read(store.disk(), &self.stack)?;
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
        let current = self.update().current.as_ref().map(|document| document.hash.clone());
        let infos = revisions.list()?;
        let oldest_kept = infos.len().saturating_sub(keep.newest);
        let pinned = self.store.pinned_revisions(&self.stack)?;
        let mut deleted = Vec::new();
        for info in &infos[..oldest_kept] {
            let number = revisions::number(info);
            if Some(&info.hash) != current.as_ref() && !pinned.contains(&number) {
                revisions.delete(number)?;
                deleted.push(number);
            }
        }
        Ok(deleted)
    }
}

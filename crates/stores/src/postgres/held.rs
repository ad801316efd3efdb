//! A held lease: the journal of its update, checkpoints on the way, the commit at the end.

use super::PostgresStore;
use super::connections::values;
use super::documents::Document;
use super::heartbeat::Heartbeat;
use super::leases::Leases;
use super::writes::{Change, Writer};
use crate::diy::cadence::Cadence;
use crate::diy::document::{self, Publish};
use crate::diy::frames::{self, Frame, Header, Publication};
use crate::diy::gathering::outcome;
use crate::diy::recording::{Framed, Recording};
use crate::diy::revision_number;
use crate::{Commit, Committed, Error, HeldLease, Keep, LeaseInfo, Recovery, Relocation, Result, StackId};
use async_trait::async_trait;
use drystone_journal::Entry;
use drystone_model::Snapshot;
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard};
use tokio::task::JoinHandle;

/// A lease held on a stack in a database.
pub(super) struct PostgresLease {
    shared: Arc<Shared>,
    heartbeat: Heartbeat,
    recovery: Recovery,
}

struct Shared {
    store: PostgresStore,
    stack: StackId,
    writer: Writer,
    update: Mutex<Update>,
}

/// What this holder has done so far.
#[derive(Default)]
struct Update {
    /// The current document as this holder last saw or wrote it.
    current: Option<Document>,
    recording: Option<Recording>,
    /// What the next group begins with.
    start: Vec<u8>,
    /// The hashes of the checkpoints on the way that were written, or may have been.
    announced: Vec<String>,
    /// Whether it is not known of the last of them.
    unsure: bool,
    /// When checkpoints on the way are written.
    cadence: Cadence,
    checkpointing: Option<JoinHandle<()>>,
}

impl Update {
    /// Forgets the journal, of which everything is in the current document.
    fn end_journal(&mut self) {
        self.recording = None;
        self.start.clear();
        self.announced.clear();
        self.cadence = Cadence::default();
    }
}

impl PostgresLease {
    pub(super) fn new(
        store: PostgresStore,
        stack: StackId,
        heartbeat: Heartbeat,
        writer: Writer,
        recovery: Recovery,
    ) -> Self {
        let shared = Shared { store, stack, writer, update: Mutex::default() };
        Self { shared: Arc::new(shared), heartbeat, recovery }
    }
}

#[async_trait]
impl HeldLease for PostgresLease {
    fn info(&self) -> &LeaseInfo {
        self.shared.writer.lease()
    }

    fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    async fn append(&self, entries: Vec<Entry>) -> Result<()> {
        if let Some(by) = self.heartbeat.lost_to() {
            return Err(Error::Fenced { stack: self.shared.stack.clone(), by: by.to_owned() });
        }
        let taken = self.shared.append(entries).await;
        Shared::checkpoint_if_due(&self.shared).await;
        taken
    }

    async fn commit(&self, commit: Commit) -> Result<Committed> {
        let shared = Arc::clone(&self.shared);
        to_its_end(async move { shared.commit(commit).await }).await
    }

    async fn relocate(&self, to: Relocation) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        to_its_end(async move { shared.relocate(to).await }).await
    }

    async fn prune(&self, keep: Keep) -> Result<Vec<u64>> {
        let shared = Arc::clone(&self.shared);
        to_its_end(async move { shared.prune(keep).await }).await
    }

    async fn release(self: Box<Self>) -> Result<()> {
        let Self { shared, heartbeat, .. } = *self;
        let Shared { store, stack, writer, .. } = &*shared;
        let ended = match writer.failure() {
            Some(failure) => Err(failure.into_error(stack)),
            None => shared.commit_unfinished().await,
        };
        drop(shared.at_rest().await);
        match ended {
            Ok(()) => {
                drop(heartbeat);
                Leases::new(store, stack).release(writer.lease()).await
            }
            // It is another's now, and so is everything that stands there (S13).
            Err(Error::Fenced { .. }) => Ok(()),
            // What was written last may count or not. As the holder after oneself one finds out.
            Err(_) => {
                drop(heartbeat);
                store.recover_own(stack, writer.lease()).await
            }
        }
    }
}

/// Does something to its end, even when whoever asked for it goes away meanwhile: what was written and what is
/// remembered of it here must not part.
async fn to_its_end<T: Send + 'static>(work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    let done = tokio::spawn(work).await;
    done.unwrap_or_else(|error| Err(Error::Poisoned { reason: error.to_string() }))
}

impl Shared {
    /// Checks entries against what was journaled before, and writes them with those of other callers.
    async fn append(&self, entries: Vec<Entry>) -> Result<()> {
        let framed = Framed::new(entries)?;
        let mut update = self.update.lock().await;
        self.is_sound()?;
        if update.recording.is_none() {
            self.begin(&mut update).await?;
        }
        let Update { recording: Some(recording), start, .. } = &mut *update else {
            return Err(Error::Poisoned { reason: "the journal could not be opened".to_owned() });
        };
        let (bytes, refused) = recording.take(framed);
        let durable = (!bytes.is_empty()).then(|| {
            start.extend_from_slice(&bytes);
            self.writer.append(&std::mem::take(start))
        });
        drop(update);
        if let Some(durable) = durable {
            outcome(&self.stack, durable.await)?;
        }
        refused
    }

    fn is_sound(&self) -> Result<()> {
        match self.writer.failure() {
            Some(failure) => Err(failure.into_error(&self.stack)),
            None => Ok(()),
        }
    }

    /// Begins a journal: the base is pinned as a revision first, so that replay always has it. The header goes with the
    /// first entries.
    async fn begin(&self, update: &mut Update) -> Result<()> {
        let (mut document, text) = match self.current(update).await? {
            Some(current) => current,
            None => {
                self.store.create_empty(&self.stack, &self.writer).await?;
                let made = self.store.document(&self.stack).await?;
                made.ok_or_else(|| Error::NotFound { stack: self.stack.clone() })?
            }
        };
        let base = document::parse(self.store.location(&document.path), &text)?;
        let (revision, mut changes) = self.store.adopt(&self.stack, &document, Some(&text)).await?;
        document.revision = Some(revision);
        document.highest = document.highest.max(revision);
        if !changes.is_empty() {
            changes.push(self.store.note(&self.stack, &document, &base.snapshot.manifest.time)?);
            self.writer.run(&changes).await?;
        }
        let header = Header {
            stack: self.stack.qualified(),
            lease: self.writer.lease().clone(),
            base: revision_number(revision),
            base_hash: document.hash.clone(),
            ..Header::default()
        };
        update.start =
            frames::start(header).map_err(|error| Error::Poisoned { reason: error.to_string() })?;
        update.current = Some(document);
        update.recording = Some(Recording::new(base));
        Ok(())
    }

    /// The current document and its text, which must be the one that this holder last saw.
    async fn current(&self, update: &Update) -> Result<Option<(Document, Vec<u8>)>> {
        let now = self.store.document(&self.stack).await?;
        match (&update.current, &now) {
            (None, _) => Ok(now),
            (Some(seen), Some((document, _))) if seen.hash == document.hash => Ok(now),
            _ => Err(self.changed().await),
        }
    }

    /// Why the current document is not the one that was there before: the next holder changed it, or another tool.
    async fn changed(&self) -> Error {
        let conflict = Error::Conflict { stack: self.stack.clone() };
        self.writer.run(&[]).await.err().unwrap_or(conflict)
    }

    /// Commits, or after a failed write refuses to: what the journal holds for sure is materialised when the lease is
    /// released or taken by the next holder, and nothing else is.
    async fn commit(&self, mut commit: Commit) -> Result<Committed> {
        let mut update = self.at_rest().await;
        self.is_sound()?;
        let journaled = update.recording.as_ref().filter(|recording| recording.entries() > 0);
        let byte_strings = commit.byte_strings || journaled.is_some_and(Recording::byte_strings);
        let replayed = journaled.filter(|_| commit.snapshot.is_none()).map(Recording::snapshot);
        if update.recording.is_some() {
            self.writer.settle().await?;
        }
        self.make_sure(&mut update).await?;
        let mut changes = Vec::new();
        let snapshot = match replayed {
            Some((snapshot, incomplete)) => {
                if incomplete {
                    changes.extend(self.store.keep_running(&self.stack, self.writer.journal()).await?);
                }
                Some(self.stamped(snapshot))
            }
            None => commit.snapshot.take(),
        };
        if update.current.is_none() {
            update.current = self.store.document(&self.stack).await?.map(|(document, _)| document);
        }
        let mut committed = Committed::default();
        let mut written = None;
        match snapshot {
            Some(snapshot) => {
                let publish = Publish {
                    title: std::mem::take(&mut commit.title),
                    message: std::mem::take(&mut commit.message),
                    snapshot,
                    byte_strings,
                    restores: commit.restores,
                    copies: commit.copies.take(),
                };
                let prepared =
                    self.store.prepare(&self.stack, &self.writer, update.current.as_ref(), publish).await?;
                committed.revision = Some(prepared.revision);
                committed.previous = prepared.previous;
                committed.violations = prepared.violations;
                changes.extend(prepared.changes);
                written = Some(prepared.document);
            }
            None if update.current.is_none() => {
                update.current = Some(self.store.create_empty(&self.stack, &self.writer).await?);
            }
            None => {}
        }
        let checkpoint = written.as_ref().or(update.current.as_ref()).map(|document| document.path.clone());
        changes.extend(self.store.beside(&self.stack, &checkpoint.unwrap_or_default(), &commit).await?);
        if update.recording.is_some() {
            changes.push(self.store.forget_journal(&self.stack, self.writer.journal()));
        }
        self.writer.run(&changes).await?;
        if let Some(mut document) = written {
            let noted = self.store.noted(&self.stack).await?;
            document.version = noted.map(|(version, _)| version).unwrap_or_default();
            update.current = Some(document);
        }
        update.end_journal();
        Ok(committed)
    }

    fn stamped(&self, snapshot: Snapshot) -> Snapshot {
        document::stamped(snapshot, self.store.host().now(), &self.store.options().diy.tool_version)
    }

    /// Nothing is forgotten: what was journaled and not committed is materialised (S5).
    async fn commit_unfinished(&self) -> Result<()> {
        let unfinished =
            self.update.lock().await.recording.as_ref().is_some_and(|recording| recording.entries() > 0);
        if unfinished {
            let title = format!("unfinished `{}`", self.writer.lease().purpose);
            self.commit(Commit { title, ..Commit::default() }).await?;
        }
        Ok(())
    }

    async fn relocate(&self, to: Relocation) -> Result<()> {
        self.commit_unfinished().await?;
        let mut update = self.at_rest().await;
        self.is_sound()?;
        update.end_journal();
        update.current = None;
        self.store.relocate(&self.stack, &self.writer, to).await
    }

    async fn prune(&self, keep: Keep) -> Result<Vec<u64>> {
        let _update = self.at_rest().await;
        let deleted = self.store.prunable(&self.stack, keep.newest).await?;
        let tables = self.store.tables();
        let delete = |number: &u64| {
            Change::new(
                format!("DELETE FROM {} WHERE stack = $1 AND number = $2", tables.revisions),
                values![self.store.key_of(&self.stack), revision_number(*number)],
            )
        };
        self.writer.run(&deleted.iter().map(delete).collect::<Vec<_>>()).await?;
        Ok(deleted)
    }

    /// Starts a checkpoint for tools that know nothing of the journal, when the last one is old enough (S3).
    async fn checkpoint_if_due(shared: &Arc<Self>) {
        let Some(interval) = shared.store.options().diy.checkpoint_interval else { return };
        let mut update = shared.update.lock().await;
        let now = shared.store.host().now();
        let is_running = update.checkpointing.as_ref().is_some_and(|task| !task.is_finished());
        if is_running || !update.cadence.is_due(interval, now) {
            return;
        }
        let worker = Arc::clone(shared);
        update.checkpointing = Some(tokio::spawn(async move {
            // That it cannot be written is no failure of the update: the journal holds everything.
            let _ = worker.checkpoint().await;
        }));
    }

    /// Writes what the journal says so far as the current document. Entries are taken meanwhile.
    async fn checkpoint(&self) -> Result<()> {
        let (snapshot, byte_strings, current) = {
            let update = self.update.lock().await;
            let (Some(recording), Some(current)) = (&update.recording, &update.current) else {
                return Ok(());
            };
            (recording.snapshot().0, recording.byte_strings(), current.clone())
        };
        if current.path != self.store.checkpoint_path(&self.stack) {
            // A change of the compression is left to the commit.
            return Ok(());
        }
        let location = self.store.location(&current.path);
        let snapshot = self.stamped(snapshot);
        let time = snapshot.manifest.time.clone();
        let rendered =
            document::render(&self.stack, Some(snapshot), byte_strings, &current.outline, location)?;
        let publication = Publication { hash: rendered.hash.clone(), ..Publication::default() };
        let mut frame = Vec::new();
        let framed = Frame::Publication(publication).write(&mut frame);
        framed.map_err(|error| Error::Poisoned { reason: error.to_string() })?;
        let checkpoint = Document {
            hash: rendered.hash,
            outline: rendered.outline,
            // It is none's; the update's base stays the revision before the next.
            revision: None,
            ..current.clone()
        };
        let mut changes = self.store.place(&self.stack, Some(&current), &current.path, &rendered.text)?;
        changes.push(self.store.note(&self.stack, &checkpoint, &time)?);
        changes.push(self.store.announce(&self.stack, self.writer.journal(), frame)?);
        {
            let mut update = self.update.lock().await;
            update.announced.push(checkpoint.hash.clone());
            update.unsure = true;
        }
        self.writer.run_uncounted(&changes).await?;
        let version = self.store.noted(&self.stack).await?.map(|(version, _)| version);
        let mut update = self.update.lock().await;
        if let Some(version) = version {
            update.current = Some(Document { version, revision: current.revision, ..checkpoint });
            update.unsure = false;
        }
        Ok(())
    }

    /// Finds out whether a checkpoint whose answer got lost is current. A transaction that may still end well has the
    /// lease's row, so that nothing is counted before it has ended.
    async fn make_sure(&self, update: &mut Update) -> Result<()> {
        if !std::mem::take(&mut update.unsure) {
            return Ok(());
        }
        self.writer.run(&[]).await?;
        if let (Some((version, hash)), Some(current)) =
            (self.store.noted(&self.stack).await?, &mut update.current)
            && update.announced.contains(&hash)
        {
            (current.version, current.hash) = (version, hash);
        }
        Ok(())
    }

    /// What this holder has done, while no checkpoint is being written.
    async fn at_rest(&self) -> MutexGuard<'_, Update> {
        loop {
            let mut update = self.update.lock().await;
            let Some(task) = update.checkpointing.take() else { return update };
            drop(update);
            // A checkpoint that failed is made up for by the commit.
            let _ = task.await;
        }
    }
}

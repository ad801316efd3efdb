//! A held lease: the journal of its update, checkpoints on the way, the commit at the end.

use super::BucketStore;
use super::commit::{Replaces, Writer};
use super::documents::Document;
use super::leases::{Heartbeat, Leases};
use super::revisions::Revisions;
use super::segments::SegmentWriter;
use crate::diy::cadence::Cadence;
use crate::diy::document::{self, Publish};
use crate::diy::frames::{self, Frame, Header, Publication};
use crate::diy::gathering::outcome;
use crate::diy::recording::{Framed, Recording};
use crate::diy::{number_of, revision_number};
use crate::{Commit, Committed, Error, HeldLease, Keep, LeaseInfo, Recovery, Relocation, Result, StackId};
use async_trait::async_trait;
use drystone_journal::Entry;
use drystone_model::Snapshot;
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard};
use tokio::task::JoinHandle;

/// A lease held on a stack in a bucket.
pub(super) struct BucketLease {
    shared: Arc<Shared>,
    heartbeat: Heartbeat,
    recovery: Recovery,
}

pub(super) struct Shared {
    pub(super) store: BucketStore,
    pub(super) stack: StackId,
    pub(super) lease: LeaseInfo,
    pub(super) segments: SegmentWriter,
    update: Mutex<Update>,
}

/// What this holder has done so far.
#[derive(Default)]
struct Update {
    /// The current document as this holder last saw or wrote it.
    current: Option<Document>,
    recording: Option<Recording>,
    /// What the next segment begins with.
    start: Vec<u8>,
    /// The hashes of the checkpoints on the way that the journal has announced.
    announced: Vec<String>,
    /// When they are written.
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

impl BucketLease {
    pub(super) fn new(
        store: BucketStore,
        stack: StackId,
        heartbeat: Heartbeat,
        segments: SegmentWriter,
        recovery: Recovery,
    ) -> Self {
        let lease = heartbeat.lease().clone();
        let shared = Shared { store, stack, lease, segments, update: Mutex::default() };
        Self { shared: Arc::new(shared), heartbeat, recovery }
    }
}

#[async_trait]
impl HeldLease for BucketLease {
    fn info(&self) -> &LeaseInfo {
        &self.shared.lease
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
        self.shared.prune(keep).await
    }

    async fn release(self: Box<Self>) -> Result<()> {
        let Self { shared, heartbeat, .. } = *self;
        let Shared { store, stack, segments, .. } = &*shared;
        let ended = match segments.failure() {
            Some(failure) => Err(failure.into_error(stack)),
            None => shared.commit_unfinished().await,
        };
        match ended {
            Ok(()) => {}
            // It is another's now, and so is everything that stands there (S13).
            Err(Error::Fenced { .. }) => return Ok(()),
            // What was written last may be there or not, and what was decided may be done or not. As the holder after
            // oneself one finds out.
            Err(_) => return store.recover_own(stack, heartbeat).await,
        }
        if heartbeat.release(store, stack).await? {
            segments.forget().await;
        }
        Ok(())
    }
}

/// Does something to its end, even when whoever asked for it goes away meanwhile: what is decided in the journal and
/// what is remembered of it here must not part.
async fn to_its_end<T: Send + 'static>(work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    let done = tokio::spawn(work).await;
    done.unwrap_or_else(|error| Err(Error::Poisoned { reason: error.to_string() }))
}

impl Shared {
    fn writer(&self) -> Writer<'_> {
        Writer { lease: &self.lease, segments: &self.segments }
    }

    fn leases(&self) -> Leases<'_> {
        Leases::new(&self.store, &self.stack)
    }

    /// Checks entries against what was journaled before, and writes them with those of other callers.
    async fn append(&self, entries: Vec<Entry>) -> Result<()> {
        let framed = Framed::new(entries)?;
        let mut update = self.update.lock().await;
        if let Some(failure) = self.segments.failure() {
            return Err(failure.into_error(&self.stack));
        }
        if update.recording.is_none() {
            self.begin(&mut update).await?;
        }
        let Update { recording: Some(recording), start, .. } = &mut *update else {
            return Err(Error::Poisoned { reason: "the journal could not be opened".to_owned() });
        };
        let (bytes, refused) = recording.take(framed);
        let durable = (!bytes.is_empty()).then(|| {
            start.extend_from_slice(&bytes);
            self.segments.append(&std::mem::take(start))
        });
        drop(update);
        if let Some(durable) = durable {
            outcome(&self.stack, durable.await)?;
        }
        refused
    }

    /// Begins a journal: the base is pinned as a revision first, so that replay always has it. The header goes with the
    /// first entries.
    async fn begin(&self, update: &mut Update) -> Result<()> {
        let (document, text) = match self.current(update).await? {
            Some(current) => current,
            None => {
                self.store.create_empty(&self.stack, self.writer()).await?;
                let made = self.store.document(&self.stack).await?;
                made.ok_or_else(|| Error::NotFound { stack: self.stack.clone() })?
            }
        };
        let base = document::parse(self.store.bucket().location(&document.located.path), &text)?;
        let revision = self.store.adopt(&self.stack, &document, &self.lease).await?;
        let header = Header {
            stack: self.stack.qualified(),
            lease: self.lease.clone(),
            base: revision_number(revision),
            base_hash: document.hash.clone(),
            ..Header::default()
        };
        update.start =
            frames::start(header).map_err(|error| Error::Poisoned { reason: error.to_string() })?;
        update.current =
            Some(Document { revision: Some(revision), highest: document.highest.max(revision), ..document });
        update.recording = Some(Recording::new(base));
        Ok(())
    }

    /// The current document and its text, which must be the one that this holder last saw.
    async fn current(&self, update: &Update) -> Result<Option<(Document, Vec<u8>)>> {
        let now = self.store.document(&self.stack).await?;
        match (&update.current, &now) {
            (None, _) => Ok(now),
            (Some(seen), Some((now_document, _))) if seen.hash == now_document.hash => Ok(now),
            _ => Err(self.changed().await),
        }
    }

    /// Why the current document is not the one that was there before: the next holder changed it, or another tool.
    async fn changed(&self) -> Error {
        match self.leases().check(&self.lease.nonce).await {
            Ok(()) => Error::Conflict { stack: self.stack.clone() },
            Err(error) => error,
        }
    }

    /// Commits, or after a failed append refuses to: what the journal holds for sure is materialised when the lease is
    /// released or taken by the next holder, and nothing else is.
    async fn commit(&self, mut commit: Commit) -> Result<Committed> {
        let mut update = self.at_rest().await;
        if let Some(failure) = self.segments.failure() {
            return Err(failure.into_error(&self.stack));
        }
        let journaled = update.recording.as_ref().filter(|recording| recording.entries() > 0);
        let byte_strings = commit.byte_strings || journaled.is_some_and(Recording::byte_strings);
        let replayed = journaled.filter(|_| commit.snapshot.is_none()).map(Recording::snapshot);
        let snapshot = match replayed {
            Some((snapshot, incomplete)) => {
                if incomplete {
                    self.store.keep_running(&self.stack, self.segments.journal()).await?;
                }
                Some(self.stamped(snapshot))
            }
            None => commit.snapshot.take(),
        };
        let mut committed = Committed::default();
        let was_decided = match snapshot {
            Some(snapshot) => {
                let publish = Publish {
                    title: std::mem::take(&mut commit.title),
                    message: std::mem::take(&mut commit.message),
                    snapshot,
                    byte_strings,
                    restores: commit.restores,
                    copies: commit.copies.take(),
                };
                self.publish(&mut update, publish, &mut committed).await?;
                true
            }
            None => self.ensure_stack(&mut update).await?,
        };
        if !was_decided {
            // What follows is not decided by the journal, so the lease itself is asked.
            self.leases().check(&self.lease.nonce).await?;
        }
        update.end_journal();
        self.write_beside(&update, &commit).await?;
        Ok(committed)
    }

    fn stamped(&self, snapshot: Snapshot) -> Snapshot {
        document::stamped(snapshot, self.store.host().now(), &self.store.options().diy.tool_version)
    }

    /// Makes the stack where there is none; says whether it did.
    async fn ensure_stack(&self, update: &mut Update) -> Result<bool> {
        if update.current.is_some() {
            return Ok(false);
        }
        let current = self.store.document(&self.stack).await?.map(|(document, _)| document);
        let is_new = current.is_none();
        update.current = match current {
            Some(document) => Some(document),
            None => Some(self.store.create_empty(&self.stack, self.writer()).await?),
        };
        Ok(is_new)
    }

    async fn publish(&self, update: &mut Update, publish: Publish, committed: &mut Committed) -> Result<()> {
        if update.current.is_none() {
            update.current = self.store.document(&self.stack).await?.map(|(document, _)| document);
        }
        let Update { current, announced, .. } = &*update;
        let replaces = Replaces { current: current.as_ref(), announced, replays: Vec::new() };
        let published = self.store.publish_snapshot(&self.stack, self.writer(), replaces, publish).await?;
        committed.revision = Some(published.revision);
        committed.previous = published.previous;
        committed.violations = published.violations;
        update.current = Some(published.document);
        Ok(())
    }

    /// Tags, the record of the update, and the orphans that the commit settles.
    async fn write_beside(&self, update: &Update, commit: &Commit) -> Result<()> {
        if let Some(tags) = &commit.tags {
            self.store.write_tags(&self.stack, tags).await?;
        }
        if let (Some(record), Some(current)) = (&commit.update, &update.current) {
            self.store.write_history(&self.stack, &current.located.path, record).await?;
        }
        for orphan in &commit.settles {
            self.store.settle_orphan(&self.stack, orphan).await?;
        }
        Ok(())
    }

    /// Nothing is forgotten: what was journaled and not committed is materialised (S5).
    async fn commit_unfinished(&self) -> Result<()> {
        let unfinished =
            self.update.lock().await.recording.as_ref().is_some_and(|recording| recording.entries() > 0);
        if unfinished {
            let title = format!("unfinished `{}`", self.lease.purpose);
            self.commit(Commit { title, ..Commit::default() }).await?;
        }
        Ok(())
    }

    async fn relocate(&self, to: Relocation) -> Result<()> {
        self.commit_unfinished().await?;
        let mut update = self.at_rest().await;
        if let Some(failure) = self.segments.failure() {
            return Err(failure.into_error(&self.stack));
        }
        update.end_journal();
        update.current = None;
        self.store.relocate(&self.stack, self.writer(), to).await
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
        if current.located.path != self.store.checkpoint_path(&self.stack) {
            // A change of the compression is left to the commit.
            return Ok(());
        }
        let location = self.store.bucket().location(&current.located.path);
        let snapshot = Some(self.stamped(snapshot));
        let rendered = document::render(&self.stack, snapshot, byte_strings, &current.outline, location)?;
        self.update.lock().await.announced.push(rendered.hash.clone());
        let publication = Publication { hash: rendered.hash.clone(), ..Publication::default() };
        self.segments.write(&Frame::Publication(publication)).await?;
        if let Some(written) = self.store.write_checkpoint(&self.stack, &current, rendered).await? {
            self.update.lock().await.current = Some(written);
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

    async fn prune(&self, keep: Keep) -> Result<Vec<u64>> {
        let revisions = Revisions::new(&self.store, &self.stack);
        let current = self.store.document(&self.stack).await?.map(|(document, _)| document.hash);
        let infos = revisions.list().await?;
        let pinned = self.store.pinned_revisions(&self.stack).await?;
        let oldest_kept = infos.len().saturating_sub(keep.newest);
        let old = infos[..oldest_kept].iter();
        let deleted: Vec<u64> = old
            .filter(|info| Some(&info.hash) != current.as_ref())
            .map(number_of)
            .filter(|number| !pinned.contains(number))
            .collect();
        self.leases().check(&self.lease.nonce).await?;
        revisions.delete(&deleted).await?;
        Ok(deleted)
    }
}

//! A stack that is held: the right to change it.

use super::CdkdStore;
use super::error::{Error, Result};
use super::exports::Indexed;
use super::locks::Heartbeat;
use super::reads::Loaded;
use crate::object::requests::{Version, Written};
use bytes::Bytes;
use drystone_dialects::cdkd::{Lock, Resource, RollbackJournal, Segment, StackKey, StackState};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where the state of a stack stands.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// Nowhere yet.
    Nowhere,
    /// At its key, as this object.
    Here(Version),
    /// At its legacy key; the next save moves it.
    Legacy,
}

/// The right to change a stack. Dropping it without releasing is dying: what was saved is there, and the lock stands
/// until it expires.
///
/// Every change is in the bucket when its method returns (S2). Changes that are made at the same time share a write:
/// while one is under way, those that come meanwhile are gathered for the next.
#[derive(Debug)]
pub struct HeldStack {
    store: CdkdStore,
    key: StackKey,
    heartbeat: Heartbeat,
    memory: Mutex<Memory>,
    stored: tokio::sync::Mutex<Stored>,
}

/// The state as it should be.
#[derive(Debug)]
struct Memory {
    state: StackState,
    /// How many changes there have been.
    changes: u64,
}

/// The state as it stands in the bucket.
#[derive(Debug)]
struct Stored {
    place: Place,
    /// The changes up to which it is there.
    changes: u64,
    /// What was written last without an answer: it may turn out to be there.
    unanswered: Option<Bytes>,
}

impl HeldStack {
    pub(super) fn new(store: CdkdStore, key: StackKey, heartbeat: Heartbeat, loaded: Option<Loaded>) -> Self {
        let (state, place) = match loaded {
            Some(Loaded { state, place }) => (state, place),
            None => (StackState::new(&key), Place::Nowhere),
        };
        Self {
            store,
            key,
            heartbeat,
            memory: Mutex::new(Memory { state, changes: 0 }),
            stored: tokio::sync::Mutex::new(Stored { place, changes: 0, unanswered: None }),
        }
    }

    /// Which stack it is.
    #[must_use]
    pub fn key(&self) -> &StackKey {
        &self.key
    }

    /// The lock as others see it.
    #[must_use]
    pub fn lock(&self) -> Lock {
        self.heartbeat.lock()
    }

    /// The state as it is now; an empty one for a stack that has none yet.
    #[must_use]
    pub fn state(&self) -> StackState {
        self.memory().state.clone()
    }

    /// Whether the stack has a state in the bucket, at its key or at its legacy key.
    pub async fn is_recorded(&self) -> bool {
        !matches!(self.stored.lock().await.place, Place::Nowhere)
    }

    /// Records that a deployment begins, where the stack has no state yet: an empty one. So a first deployment that
    /// dies leaves a record, to which everything that it makes is added.
    pub async fn begin(&self) -> Result<()> {
        if self.is_recorded().await { Ok(()) } else { self.record(|_| {}).await }
    }

    /// Records a state in place of what was there.
    pub async fn save(&self, state: StackState) -> Result<()> {
        self.record(|there| *there = state).await
    }

    /// Records a resource that was made or changed.
    pub async fn save_resource(&self, id: &str, resource: Resource) -> Result<()> {
        self.record(|state| drop(state.resources.insert(id, resource))).await
    }

    /// Records that a resource is gone, while the stack lives on.
    pub async fn forget_resource(&self, id: &str) -> Result<()> {
        self.record(|state| drop(state.resources.remove(id))).await
    }

    /// Records that a resource is gone, while the stack is being destroyed: its outputs, and what it takes from others,
    /// are not told of any more.
    pub async fn destroyed_resource(&self, id: &str) -> Result<()> {
        self.record(|state| {
            let mut remaining = std::mem::take(&mut state.resources);
            remaining.remove(id);
            *state = state.being_destroyed(remaining);
        })
        .await
    }

    /// Changes the state, and records it before returning.
    pub async fn record(&self, change: impl FnOnce(&mut StackState) + Send) -> Result<()> {
        let changes = {
            let mut memory = self.memory();
            change(&mut memory.state);
            memory.changes += 1;
            memory.changes
        };
        let mut stored = self.stored.lock().await;
        // The one before took it along.
        if stored.changes >= changes { Ok(()) } else { self.write(&mut stored).await }
    }

    /// Writes the state as it is now, on condition that the lock is ours and that what stands there is what we left or
    /// found. Dying in here leaves the state of before or the new one.
    async fn write(&self, stored: &mut Stored) -> Result<()> {
        self.heartbeat.check().await?;
        let (state, changes) = {
            let mut memory = self.memory();
            memory.state.last_modified = self.store.now();
            (memory.state.clone(), memory.changes)
        };
        let bytes = Bytes::from(state.write(&self.key));
        let path = self.store.layout().state(&self.key);
        loop {
            let written = match &stored.place {
                Place::Here(version) => self.store.bucket().replace(&path, bytes.clone(), version).await,
                Place::Nowhere | Place::Legacy => self.store.bucket().create(&path, bytes.clone()).await,
            };
            match written {
                Ok(Written::Done(version)) => {
                    let before = std::mem::replace(&mut stored.place, Place::Here(version));
                    stored.changes = changes;
                    stored.unanswered = None;
                    if matches!(before, Place::Legacy) {
                        self.leave_legacy_key().await;
                    }
                    return Ok(());
                }
                Ok(Written::Refused(Some(there))) if stored.unanswered.as_ref() == Some(&there.content) => {
                    stored.place = Place::Here(there.version);
                    stored.unanswered = None;
                }
                Ok(Written::Refused(_)) => return Err(Error::Conflict { stack: self.key.clone() }),
                Err(error) => {
                    stored.unanswered = Some(bytes);
                    return Err(error.into());
                }
            }
        }
    }

    /// Deletes what has been moved. If that fails, or we die before, the legacy key is passed over from now on, because
    /// the state at its own key comes first; deleting the stack deletes both.
    async fn leave_legacy_key(&self) {
        let path = self.store.layout().legacy_state(&self.key.stack);
        let _ = self.store.bucket().remove(&[path]).await;
    }

    /// Deletes the state, and with it the rollback journal. Its runs stay. Dying in here leaves a state that says what
    /// still exists, or none.
    pub async fn remove_state(&self) -> Result<()> {
        let mut stored = self.stored.lock().await;
        self.heartbeat.check().await?;
        let path = self.store.layout().state(&self.key);
        let found = self.store.bucket().look(&path).await?;
        match (&stored.place, found) {
            (Place::Here(version), Some(found)) if !found.version.is_same(version) => {
                let there = self.store.bucket().read(&path).await?;
                if there.map(|there| there.content) != stored.unanswered {
                    return Err(Error::Conflict { stack: self.key.clone() });
                }
            }
            (Place::Nowhere | Place::Legacy, Some(_)) => {
                return Err(Error::Conflict { stack: self.key.clone() });
            }
            _ => {}
        }
        // The journal is of no use without a state, but would be mistaken for that of the next stack of this name.
        let journal = self.store.layout().rollback_journal(&self.key);
        self.store.bucket().remove(&[journal]).await?;
        if self.store.has_legacy(&self.key).await? {
            self.store.bucket().remove(&[self.store.layout().legacy_state(&self.key.stack)]).await?;
        }
        self.store.bucket().remove(&[path]).await?;
        let mut memory = self.memory();
        memory.state = StackState::new(&self.key);
        *stored = Stored { place: Place::Nowhere, changes: memory.changes, unanswered: None };
        Ok(())
    }

    /// Tells the exports index of the outputs as they are now, or that there are none any more. Never fails: the index
    /// can be made again from the states.
    pub async fn update_exports(&self) -> Indexed {
        let state = self.is_recorded().await.then(|| self.state());
        self.store.update_exports(&self.key, state.as_ref()).await
    }

    /// Adds to the rollback journal what a deployment did before it failed.
    pub async fn append_to_journal(&self, segment: Segment) -> Result<()> {
        let journal = self.store.rollback_journal(&self.key).await?;
        let mut journal = journal.unwrap_or_else(|| RollbackJournal::new(&self.key));
        journal.segments.push(segment);
        self.write_journal(&journal).await
    }

    /// Takes the newest part off the rollback journal, once it has been undone, and gives how many are left.
    pub async fn pop_from_journal(&self) -> Result<usize> {
        let Some(mut journal) = self.store.rollback_journal(&self.key).await? else { return Ok(0) };
        journal.segments.pop();
        self.write_journal(&journal).await?;
        Ok(journal.segments.len())
    }

    /// Deletes the rollback journal, once a deployment has succeeded.
    pub async fn drop_journal(&self) -> Result<()> {
        self.write_journal(&RollbackJournal::new(&self.key)).await
    }

    /// One with nothing in it is none.
    async fn write_journal(&self, journal: &RollbackJournal) -> Result<()> {
        self.heartbeat.check().await?;
        let path = self.store.layout().rollback_journal(&self.key);
        if journal.segments.is_empty() {
            return Ok(self.store.bucket().remove(&[path]).await?);
        }
        self.store.bucket().overwrite(&path, journal.write()).await?;
        Ok(())
    }

    /// Renews the lock now. It is renewed by itself, too.
    pub async fn renew(&self) -> Result<()> {
        self.heartbeat.renew().await
    }

    /// Gives the lock back; says whether it was still ours. One that changed hands is left alone.
    pub async fn release(self) -> Result<bool> {
        self.heartbeat.release().await
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Locks: taking, keeping, giving back and breaking them.

use super::error::{Error, Result, describe};
use super::{CdkdStore, Listed, held::HeldStack};
use crate::object::requests::{Object, Version, Written};
use drystone_dialects::cdkd::{Lock, StackKey, StackName};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;

/// How often somebody who changes hands with others looks again before telling who has it.
const TRIES: usize = 8;
/// How often a lock is renewed in the time that it holds.
const RENEWALS: u32 = 3;
/// How much of a random id tells a run from all others of its process, machine and moment.
const RUN_LENGTH: usize = 8;

/// What stands at the key of a lock.
#[derive(Debug, Clone, PartialEq)]
pub enum LockFile {
    /// Nothing.
    Absent,
    /// A lock.
    Held(Box<Lock>),
    /// Something that is no lock, and stands in the way of one.
    Unreadable(String),
}

/// How long somebody waits for a lock.
#[derive(Debug, Clone, Copy)]
pub struct LockPatience {
    /// How often it is tried.
    pub attempts: u32,
    /// How long it takes until the next time.
    pub pause: Duration,
}

impl LockPatience {
    /// Once, as the tool's destroy does.
    pub const ONCE: Self = Self { attempts: 1, pause: Duration::ZERO };
    /// Four times, as the tool's deploy does.
    pub const DEPLOY: Self = Self { attempts: 4, pause: Duration::from_secs(2) };
}

/// A lock that was taken, and which object it is.
#[derive(Debug, Clone)]
pub(super) struct Taken {
    lock: Lock,
    version: Version,
}

impl CdkdStore {
    /// Takes the lock of a stack that exists or is about to, and reads its state under it. Fails when somebody else holds
    /// it, and goes on doing so.
    pub async fn acquire(
        &self,
        key: &StackKey,
        operation: &str,
        patience: LockPatience,
    ) -> Result<HeldStack> {
        let mut attempt = 1;
        let taken = loop {
            match self.take(key, operation).await {
                Err(Error::Held { .. } | Error::UnreadableLock { .. }) if attempt < patience.attempts => {
                    attempt += 1;
                    tokio::time::sleep(patience.pause).await;
                }
                other => break other?,
            }
        };
        let heartbeat = Heartbeat::start(self, key, taken);
        // What was there before the lock was taken may be the work of whoever held it until then.
        match self.load(key).await {
            Ok(loaded) => Ok(HeldStack::new(self.clone(), key.clone(), heartbeat, loaded)),
            Err(error) => {
                // If that fails too, the lock expires by itself.
                let _ = heartbeat.release().await;
                Err(error)
            }
        }
    }

    /// Forgets a stack without looking into its state: the record goes, whatever its schema, and with it the rollback
    /// journal and what it exports. What it stands for stays, and so do its past runs. Fails when somebody holds it.
    ///
    /// Dying in here leaves a state with a lock that expires, or none.
    pub async fn orphan(&self, listed: &Listed) -> Result<()> {
        let Some(key) = listed.key() else {
            let path = self.layout().legacy_lock(&listed.stack);
            return match self.lock_at(&path).await? {
                LockFile::Absent => self.forget(listed).await,
                LockFile::Held(lock) => {
                    Err(Error::Locked { path: self.bucket().location(&path), by: describe(&lock) })
                }
                LockFile::Unreadable(reason) => {
                    Err(Error::UnreadableLock { path: self.bucket().location(&path), reason })
                }
            };
        };
        let heartbeat = Heartbeat::start(self, &key, self.take(&key, "orphan").await?);
        let forgotten = self.forget(listed).await;
        heartbeat.release().await?;
        forgotten
    }

    /// The same whoever holds it; says who did. Its holder may write the record anew.
    pub async fn orphan_by_force(&self, listed: &Listed) -> Result<LockFile> {
        self.forget(listed).await?;
        match listed.key() {
            Some(key) => self.force_unlock(&key).await,
            None => self.force_unlock_legacy(&listed.stack).await,
        }
    }

    async fn forget(&self, listed: &Listed) -> Result<()> {
        let legacy = self.layout().legacy_state(&listed.stack);
        let Some(key) = listed.key() else {
            return Ok(self.bucket().remove(&[legacy]).await?);
        };
        let mut paths = vec![self.layout().rollback_journal(&key), self.layout().state(&key)];
        if listed.legacy || self.has_legacy(&key).await? {
            paths.push(legacy);
        }
        self.bucket().remove(&paths).await?;
        // It can be made again from the states at any time.
        self.update_exports(&key, None).await;
        Ok(())
    }

    /// Takes a lock that is free or has expired. Of several who find the same lock expired one replaces it: the others
    /// are refused, because it is not the object any more that they saw (S11).
    async fn take(&self, key: &StackKey, operation: &str) -> Result<Taken> {
        let path = self.layout().lock(key);
        let lock = self.new_lock(operation);
        let body = lock.write();
        for _ in 0..TRIES {
            let there = match self.bucket().create(&path, body.clone()).await? {
                Written::Done(version) => return Ok(Taken { lock, version }),
                // Released meanwhile.
                Written::Refused(None) => continue,
                Written::Refused(Some(there)) => there,
            };
            let held = self.lock_in(&path, &there)?;
            if !held.has_expired(self.now()) {
                return Err(Error::Held { stack: key.clone(), lock: Box::new(held) });
            }
            if let Written::Done(version) = self.bucket().replace(&path, body.clone(), &there.version).await?
            {
                return Ok(Taken { lock, version });
            }
        }
        match self.lock_at(&path).await? {
            LockFile::Held(lock) => Err(Error::Held { stack: key.clone(), lock }),
            LockFile::Unreadable(reason) => {
                Err(Error::UnreadableLock { path: self.bucket().location(&path), reason })
            }
            LockFile::Absent => {
                let reason = "it comes and goes".to_owned();
                Err(Error::UnreadableLock { path: self.bucket().location(&path), reason })
            }
        }
    }

    /// A lock that nobody else can have written: what tells it from those of other runs stands in the owner's name, with
    /// the machine's, because the file has no place of its own for it.
    fn new_lock(&self, operation: &str) -> Lock {
        let host = &self.inner.host;
        let now = self.now();
        let id = host.new_id();
        let run = id.get(..RUN_LENGTH).unwrap_or(&id);
        Lock {
            owner: format!("{}@{}/{run}:{}", host.user(), host.hostname(), host.pid()),
            timestamp: now,
            expires_at: Some(now.saturating_add(self.ttl())),
            operation: Some(operation.to_owned()),
            ..Lock::default()
        }
    }

    fn ttl(&self) -> i64 {
        i64::try_from(self.options().lock_ttl.as_millis()).unwrap_or(i64::MAX)
    }

    fn lock_in(&self, path: &str, object: &Object) -> Result<Lock> {
        let unreadable =
            |reason: String| Error::UnreadableLock { path: self.bucket().location(path), reason };
        match Lock::read(&object.content) {
            Ok(Some(lock)) => Ok(lock),
            Ok(None) => Err(unreadable("it is not an object".to_owned())),
            Err(error) => Err(unreadable(error.to_string())),
        }
    }

    /// Deletes the lock of a stack, whoever holds it and whatever is in it, and says what was. Its holder learns so with
    /// its next save (S13).
    pub async fn force_unlock(&self, key: &StackKey) -> Result<LockFile> {
        self.delete_lock(&self.layout().lock(key)).await
    }

    /// Deletes a lock from before regions were in keys, and says what it was.
    pub async fn force_unlock_legacy(&self, stack: &StackName) -> Result<LockFile> {
        self.delete_lock(&self.layout().legacy_lock(stack)).await
    }

    async fn delete_lock(&self, path: &str) -> Result<LockFile> {
        let found = self.lock_at(path).await?;
        self.bucket().remove(&[path.to_owned()]).await?;
        Ok(found)
    }
}

/// Renews a lock for as long as it lives. Dropped, it stops: to others that looks like dying.
#[derive(Debug)]
pub(super) struct Heartbeat {
    state: Arc<Beating>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Beating {
    store: CdkdStore,
    key: StackKey,
    path: String,
    taken: Mutex<Taken>,
    /// Who took the lock away.
    lost: OnceLock<String>,
    /// One who looks at the lock does not meet one who replaces it.
    turn: tokio::sync::Mutex<()>,
}

impl Heartbeat {
    fn start(store: &CdkdStore, key: &StackKey, taken: Taken) -> Self {
        let state = Arc::new(Beating {
            store: store.clone(),
            key: key.clone(),
            path: store.layout().lock(key),
            taken: Mutex::new(taken),
            lost: OnceLock::new(),
            turn: tokio::sync::Mutex::new(()),
        });
        let pause = store.options().lock_ttl / RENEWALS;
        let beating = Arc::clone(&state);
        let task = tokio::spawn(async move {
            while beating.lost.get().is_none() {
                tokio::time::sleep(pause).await;
                // One that failed is followed by the next; a lock that was lost is told by the next save as well.
                let _ = beating.renew().await;
            }
        });
        Self { state, task }
    }

    pub(super) fn lock(&self) -> Lock {
        self.state.taken().lock
    }

    /// Renews the lock now.
    pub(super) async fn renew(&self) -> Result<()> {
        self.state.renew().await
    }

    /// Whether the lock is still the holder's: not known to be lost, not expired, and the object that was written.
    pub(super) async fn check(&self) -> Result<()> {
        self.state.check().await
    }

    /// Gives the lock back; says whether it was still the holder's. One that changed hands is left alone (S13).
    ///
    /// A bucket deletes whatever is there. So the lock is renewed first: from then on nobody takes it for as long as it
    /// holds, and what is deleted is one's own.
    pub(super) async fn release(self) -> Result<bool> {
        self.task.abort();
        match self.state.renew().await {
            Ok(()) => {
                self.state.store.bucket().remove(std::slice::from_ref(&self.state.path)).await?;
                Ok(true)
            }
            Err(Error::Fenced { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Beating {
    fn taken(&self) -> Taken {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, taken: Taken) {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = taken;
    }

    async fn renew(&self) -> Result<()> {
        let _turn = self.turn.lock().await;
        self.extend().await
    }

    /// Puts off the lock's end, unless it is another's by now. Dying in here leaves the old end or the new one.
    async fn extend(&self) -> Result<()> {
        self.is_known_lost()?;
        let Taken { mut lock, mut version } = self.taken();
        lock.expires_at = Some(self.store.now().saturating_add(self.store.ttl()));
        for _ in 0..TRIES {
            match self.store.bucket().replace(&self.path, lock.write(), &version).await? {
                Written::Done(version) => {
                    self.set(Taken { lock, version });
                    return Ok(());
                }
                // A renewal that was given up had landed after all.
                Written::Refused(Some(there)) if is_own(&lock, &there) => version = there.version,
                Written::Refused(there) => return Err(self.lose(there.as_ref())),
            }
        }
        Err(self.lose(None))
    }

    async fn check(&self) -> Result<()> {
        let _turn = self.turn.lock().await;
        self.is_known_lost()?;
        let Taken { lock, version } = self.taken();
        if lock.has_expired(self.store.now()) {
            // Away for too long. If nobody came, it is still ours.
            return self.extend().await;
        }
        let found = self.store.bucket().look(&self.path).await?;
        if found.is_some_and(|found| found.version.is_same(&version)) {
            return Ok(());
        }
        match self.store.bucket().read(&self.path).await? {
            Some(there) if is_own(&lock, &there) => {
                self.set(Taken { lock, version: there.version });
                Ok(())
            }
            there => Err(self.lose(there.as_ref())),
        }
    }

    fn is_known_lost(&self) -> Result<()> {
        match self.lost.get() {
            Some(by) => Err(Error::Fenced { stack: self.key.clone(), by: by.clone() }),
            None => Ok(()),
        }
    }

    fn lose(&self, there: Option<&Object>) -> Error {
        let by = match there.map(|there| Lock::read(&there.content)) {
            None => "somebody who deleted it".to_owned(),
            Some(Ok(Some(lock))) => describe(&lock),
            Some(_) => "somebody who wrote something else in its place".to_owned(),
        };
        let by = self.lost.get_or_init(|| by).clone();
        Error::Fenced { stack: self.key.clone(), by }
    }
}

fn is_own(lock: &Lock, there: &Object) -> bool {
    matches!(Lock::read(&there.content), Ok(Some(other)) if other.owner == lock.owner && other.timestamp == lock.timestamp)
}

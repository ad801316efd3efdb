//! The lease in a bucket: one object, changed by compare-and-swap only (S11).
//!
//! A holder renews it; one that has not been renewed for the time that it names has expired. Clocks of two machines
//! may differ by minutes, so only the server's clock counts: the age of a lease is the difference between the times at
//! which the server wrote two objects. While the lease is held a lock file in Pulumi's form stands beside it, and lock
//! files of other tools are honoured (S14).

use super::requests::{Bucket, Object, Version, Written};
use super::{BucketStore, layout as keys};
use crate::diy::{layout, locks};
use crate::{Claim, Error, ForeignLock, LeaseInfo, Result, StackId};
use drystone_model::record;
use jiff::{SignedDuration, Timestamp};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::task::JoinHandle;

/// Servers tell the time in whole seconds.
const RESOLUTION: SignedDuration = SignedDuration::from_secs(1);
/// A holder renews this many times before its lease would expire.
const RENEWALS: u32 = 4;
/// How often a lease that keeps changing hands is asked for.
const TRIES: usize = 16;

record! {
    /// The lease as it stands in the bucket.
    pub struct LeaseObject {
        /// Who holds it, or did.
        always "lease" => lease: LeaseInfo,
        /// For how long after its last renewal it counts, in milliseconds.
        always "ttl" => ttl: i64,
        /// Journals of holders before, which have to be closed before anything else is done.
        optional "closes" => closes: Vec<String>,
        /// Lock files of holders before, which may still stand.
        optional "leaves" => leaves: Vec<String>,
    }
}

impl LeaseObject {
    /// The lock files that stand for this lease or for those before it.
    fn locks(&self) -> Vec<String> {
        self.leaves.iter().chain(&self.lease.lock_file).cloned().collect()
    }
}

/// A lease that was read.
#[derive(Debug, Clone)]
struct Read {
    object: LeaseObject,
    version: Version,
    modified: Timestamp,
}

/// A lease that was taken.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) object: LeaseObject,
    version: Version,
}

/// The lease of one stack.
pub(super) struct Leases<'a> {
    store: &'a BucketStore,
    stack: &'a StackId,
}

impl<'a> Leases<'a> {
    pub(super) fn new(store: &'a BucketStore, stack: &'a StackId) -> Self {
        Self { store, stack }
    }

    fn bucket(&self) -> &Bucket {
        self.store.bucket()
    }

    async fn read(&self) -> Result<Option<Read>> {
        Ok(self.bucket().read(&keys::lease(self.stack)).await?.map(read))
    }

    /// Takes the lease, or says who has it.
    pub(super) async fn take(&self, claim: &Claim) -> Result<Taken> {
        let (mut before, foreign) = futures::future::try_join(self.read(), self.locks()).await?;
        for _ in 0..TRIES {
            if let Some(held) = before.as_ref().filter(|before| before.object.lease.held)
                && !self.has_expired(held).await?
            {
                return Err(self.held(held.object.lease.clone()));
            }
            let object = self.successor(before.as_ref(), claim).await?;
            if let Some(held) = foreign.iter().find(|lock| !object.leaves.contains(&lock.file)) {
                let holder = self.who_holds(held).await?;
                return Err(self.held(holder));
            }
            match self.swap(&object, before.as_ref().map(|before| &before.version)).await? {
                Written::Done(version) => return self.stand(Taken { object, version }).await,
                Written::Refused(there) => before = there.map(read),
            }
        }
        Err(self.held(before.map(|before| before.object.lease).unwrap_or_default()))
    }

    /// Takes the lease away from whoever holds it; says who that was.
    pub(super) async fn take_away(&self, claim: &Claim) -> Result<(Vec<LeaseInfo>, Taken)> {
        let mut before = self.read().await?;
        for _ in 0..TRIES {
            let mut object = self.successor(before.as_ref(), claim).await?;
            // It is for moments, and every lock file goes.
            object.lease.lock_file = None;
            match self.swap(&object, before.as_ref().map(|before| &before.version)).await? {
                Written::Done(version) => {
                    let taken = Taken { object, version };
                    let foreign = match self.remove_locks(&taken).await {
                        Ok(foreign) => foreign,
                        Err(error) => {
                            self.release(&taken.object, &taken.version).await?;
                            return Err(error);
                        }
                    };
                    let own = before.map(|before| before.object.lease).filter(|lease| lease.held);
                    return Ok((own.into_iter().chain(foreign).collect(), taken));
                }
                Written::Refused(there) => before = there.map(read),
            }
        }
        Err(self.held(before.map(|before| before.object.lease).unwrap_or_default()))
    }

    /// Removes every lock file; gives those of other tools.
    async fn remove_locks(&self, taken: &Taken) -> Result<Vec<LeaseInfo>> {
        let locks = self.locks().await?;
        let files: Vec<String> = locks.iter().map(|lock| self.lock_path(&lock.file)).collect();
        self.bucket().remove(&files).await?;
        let foreign = locks.into_iter().filter(|lock| !taken.object.leaves.contains(&lock.file));
        Ok(foreign.map(|lock| lock.lease).collect())
    }

    /// The lease that follows another. A holder that never released may still be writing: its journal is named, so that
    /// whoever comes next closes it even if this holder dies before it could.
    async fn successor(&self, before: Option<&Read>, claim: &Claim) -> Result<LeaseObject> {
        let epoch = match before.map(|before| before.object.lease.epoch) {
            Some(epoch) if epoch > 0 => epoch,
            _ => self.last_epoch().await?,
        };
        let (mut closes, mut leaves) = (Vec::new(), Vec::new());
        if let Some(Read { object, .. }) = before {
            closes.clone_from(&object.closes);
            closes.extend(object.lease.held.then(|| keys::journal_name(&object.lease)));
            leaves.clone_from(&object.leaves);
            leaves.extend(object.lease.lock_file.clone());
        }
        let mut lease = locks::new_lease(self.store.host(), claim, epoch + 1);
        lease.heartbeat = Some(lease.since.clone());
        let ttl = i64::try_from(self.store.options().lease_ttl.as_millis()).unwrap_or(i64::MAX);
        Ok(LeaseObject { lease, ttl, closes, leaves, ..LeaseObject::default() })
    }

    /// The highest epoch that a journal carries in its name, for when the lease's object is damaged or gone.
    async fn last_epoch(&self) -> Result<i64> {
        let (journals, kept) = self.bucket().names(&layout::journals(self.stack)).await?;
        let kept = kept.iter().filter_map(|found| found.path.rsplit('/').next());
        let names = journals.iter().map(String::as_str).chain(kept);
        Ok(names.filter_map(|name| name.split('-').next()?.parse().ok()).max().unwrap_or(0))
    }

    /// Puts up the lock file that other tools see, or gives the lease back.
    async fn stand(&self, taken: Taken) -> Result<Taken> {
        match self.put_up_lock(&taken.object).await {
            Ok(()) => Ok(taken),
            Err(error) => {
                self.release(&taken.object, &taken.version).await?;
                Err(error)
            }
        }
    }

    /// Puts up the lock file in place of those that dead holders left. Another tool that put up its own at the same
    /// time has the stack.
    async fn put_up_lock(&self, object: &LeaseObject) -> Result<()> {
        let own = object.lease.lock_file.as_deref();
        if let Some(file) = own {
            let path = self.lock_path(file);
            let content = locks::lock_file(&object.lease).map_err(|error| self.corrupt(&path, error))?;
            self.bucket().overwrite(&path, content).await?;
        }
        let (mut left, mut held) = (Vec::new(), None);
        for lock in self.locks_beside(own).await? {
            if object.leaves.contains(&lock.file) {
                left.push(self.lock_path(&lock.file));
            } else {
                held = Some(lock.lease);
            }
        }
        self.bucket().remove(&left).await?;
        held.map_or(Ok(()), |lease| Err(self.held(lease)))
    }

    /// Gives the lease back. Only one's own: a lease that changed hands is left alone (S13). Says whether it was.
    pub(super) async fn release(&self, object: &LeaseObject, version: &Version) -> Result<bool> {
        if let Some(file) = &object.lease.lock_file {
            self.bucket().remove(&[self.lock_path(file)]).await?;
        }
        let mut released = object.clone();
        released.lease.held = false;
        let mut version = version.clone();
        for _ in 0..TRIES {
            match self.swap(&released, Some(&version)).await? {
                Written::Done(_) => return Ok(true),
                // A renewal that was still under way.
                Written::Refused(Some(there)) if nonce_of(&there).as_ref() == Some(&object.lease.nonce) => {
                    version = there.version;
                }
                Written::Refused(_) => return Ok(false),
            }
        }
        Ok(false)
    }

    /// Whether a lease is still the holder's.
    pub(super) async fn check(&self, nonce: &str) -> Result<()> {
        let by = match self.read().await? {
            Some(read) if read.object.lease.nonce == nonce => return Ok(()),
            Some(read) => read.object.lease.holder(),
            None => "somebody who deleted it".to_owned(),
        };
        Err(Error::Fenced { stack: self.stack.clone(), by })
    }

    /// Everybody who holds the stack, as far as can be told by this machine's clock and without writing.
    pub(super) async fn holders(&self) -> Result<Vec<LeaseInfo>> {
        let (own, locks) = futures::future::try_join(self.read(), self.locks()).await?;
        let now = self.store.host().now();
        let ours: Vec<String> = own.iter().flat_map(|own| own.object.locks()).collect();
        let own = own.filter(|own| own.object.lease.held).map(|own| LeaseInfo {
            dead: has_expired(&own, now),
            heartbeat: Some(own.modified.to_string()),
            ..own.object.lease
        });
        let others = locks.into_iter().filter(|lock| !ours.contains(&lock.file));
        Ok(own.into_iter().chain(others.map(|lock| lock.lease)).collect())
    }

    /// Whether a holder has not been heard of for longer than it promised, by the server's clock.
    async fn has_expired(&self, held: &Read) -> Result<bool> {
        let path = keys::clock(self.stack, &self.store.host().new_id());
        self.bucket().overwrite(&path, "").await?;
        let now = self.bucket().look(&path).await?.map(|found| found.modified);
        self.bucket().remove(&[path]).await?;
        Ok(now.is_some_and(|now| has_expired(held, now)))
    }

    async fn swap(&self, object: &LeaseObject, seen: Option<&Version>) -> Result<Written> {
        swap(self.bucket(), &keys::lease(self.stack), object, seen).await
    }

    /// The lock files that stand, our own too.
    async fn locks(&self) -> Result<Vec<ForeignLock>> {
        self.locks_beside(None).await
    }

    /// The lock files that stand beside one's own.
    async fn locks_beside(&self, own: Option<&str>) -> Result<Vec<ForeignLock>> {
        let mut found = Vec::new();
        let (_, files) = self.bucket().names(&layout::locks(self.stack)).await?;
        for object in files {
            let file = object.path.rsplit('/').next().unwrap_or_default().to_owned();
            if Some(file.as_str()) == own {
                continue;
            }
            // Released between the listing and the reading.
            let Some(object) = self.bucket().read(&object.path).await? else { continue };
            let lease = locks::lease_of(&object.content, &file);
            found.push(ForeignLock { file, lease });
        }
        Ok(found)
    }

    /// Who holds the stack, when a lock file says that somebody does: it may be that of a lease which was taken after
    /// the lease was looked at.
    async fn who_holds(&self, found: &ForeignLock) -> Result<LeaseInfo> {
        let now = self.read().await?.map(|read| read.object.lease);
        let own = now.filter(|now| now.held && now.lock_file.as_ref() == Some(&found.file));
        Ok(own.unwrap_or_else(|| found.lease.clone()))
    }

    fn held(&self, lease: LeaseInfo) -> Error {
        Error::Held { stack: self.stack.clone(), lease: Box::new(lease) }
    }

    fn lock_path(&self, file: &str) -> String {
        format!("{}/{file}", layout::locks(self.stack))
    }

    fn corrupt(&self, path: &str, reason: impl std::fmt::Display) -> Error {
        Error::Corrupt { path: self.bucket().location(path), reason: reason.to_string() }
    }
}

async fn swap(bucket: &Bucket, path: &str, object: &LeaseObject, seen: Option<&Version>) -> Result<Written> {
    let content = serde_json::to_vec(object)
        .map_err(|error| Error::Corrupt { path: bucket.location(path), reason: error.to_string() })?;
    match seen {
        Some(seen) => bucket.replace(path, content, seen).await,
        None => bucket.create(path, content).await,
    }
}

/// A damaged lease says nothing; whoever takes it replaces it.
fn read(object: Object) -> Read {
    let parsed = serde_json::from_slice(&object.content).unwrap_or_default();
    Read { object: parsed, version: object.version, modified: object.modified }
}

fn nonce_of(object: &Object) -> Option<String> {
    let parsed: LeaseObject = serde_json::from_slice(&object.content).ok()?;
    Some(parsed.lease.nonce)
}

fn has_expired(held: &Read, now: Timestamp) -> bool {
    let ttl = SignedDuration::from_millis(held.object.ttl);
    now.duration_since(held.modified) > ttl.saturating_add(RESOLUTION)
}

/// Renews a lease for as long as it lives. Dropped, it stops: to others that looks like dying.
#[derive(Debug)]
pub(super) struct Heartbeat {
    state: Arc<Beating>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Beating {
    bucket: Bucket,
    path: String,
    object: LeaseObject,
    version: Mutex<Version>,
    lost: OnceLock<String>,
}

impl Heartbeat {
    pub(super) fn start(store: &BucketStore, stack: &StackId, taken: Taken) -> Self {
        let state = Arc::new(Beating {
            bucket: store.bucket().clone(),
            path: keys::lease(stack),
            object: taken.object,
            version: Mutex::new(taken.version),
            lost: OnceLock::new(),
        });
        let pause = store.options().lease_ttl / RENEWALS;
        let (beating, store) = (Arc::clone(&state), store.clone());
        let task = tokio::spawn(async move {
            while beating.lost.get().is_none() {
                tokio::time::sleep(pause).await;
                // One that failed is followed by the next; a lease that was lost is told by the journal as well.
                let _ = beating.beat(&store).await;
            }
        });
        Self { state, task }
    }

    pub(super) fn lease(&self) -> &LeaseInfo {
        &self.state.object.lease
    }

    /// The journals of holders before.
    pub(super) fn closes(&self) -> &[String] {
        &self.state.object.closes
    }

    /// Who took the lease away, when that is known already.
    pub(super) fn lost_to(&self) -> Option<&str> {
        self.state.lost.get().map(String::as_str)
    }

    /// Gives the lease back; says whether it was still the holder's.
    pub(super) async fn release(self, store: &BucketStore, stack: &StackId) -> Result<bool> {
        let object = LeaseObject { closes: Vec::new(), leaves: Vec::new(), ..self.state.object.clone() };
        self.end(store, stack, object).await
    }

    /// Steps back from a lease whose stack could not be put in order: the next one finds what this one found, and closes
    /// the journal of this one too.
    pub(super) async fn abandon(self, store: &BucketStore, stack: &StackId) -> Result<()> {
        let mut object = self.state.object.clone();
        object.closes.push(keys::journal_name(&object.lease));
        self.end(store, stack, object).await.map(drop)
    }

    async fn end(self, store: &BucketStore, stack: &StackId, object: LeaseObject) -> Result<bool> {
        self.task.abort();
        Leases::new(store, stack).release(&object, &self.state.version()).await
    }

    /// Takes the lease over from oneself, as another holder would. `None` when another has done so.
    pub(super) async fn succeed(self, store: &BucketStore, stack: &StackId) -> Result<Option<Taken>> {
        self.task.abort();
        let leases = Leases::new(store, stack);
        let claim = Claim::new(self.lease().purpose.clone());
        let mut own = Read {
            object: self.state.object.clone(),
            version: self.state.version(),
            modified: Timestamp::UNIX_EPOCH,
        };
        for _ in 0..TRIES {
            let object = leases.successor(Some(&own), &claim).await?;
            match leases.swap(&object, Some(&own.version)).await? {
                Written::Done(version) => return leases.stand(Taken { object, version }).await.map(Some),
                Written::Refused(Some(there)) if nonce_of(&there).as_ref() == Some(&self.lease().nonce) => {
                    own.version = there.version;
                }
                Written::Refused(_) => return Ok(None),
            }
        }
        Ok(None)
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Beating {
    fn version(&self) -> Version {
        self.version.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn beat(&self, store: &BucketStore) -> Result<()> {
        let mut object = self.object.clone();
        object.lease.heartbeat = Some(format!("{:.3}", store.host().now()));
        match swap(&self.bucket, &self.path, &object, Some(&self.version())).await? {
            Written::Done(version) => {
                *self.version.lock().unwrap_or_else(PoisonError::into_inner) = version;
            }
            Written::Refused(Some(there)) => {
                let there = read(there);
                if there.object.lease.nonce == self.object.lease.nonce {
                    // A renewal that was given up had landed after all.
                    *self.version.lock().unwrap_or_else(PoisonError::into_inner) = there.version;
                } else {
                    let _ = self.lost.set(there.object.lease.holder());
                }
            }
            Written::Refused(None) => {
                let _ = self.lost.set("somebody who deleted it".to_owned());
            }
        }
        Ok(())
    }
}

//! The store contract over a bucket of cdkd's: a stack is a name and a region, its revisions are the versions that the
//! bucket kept of its state, and states are turned into snapshots as `drystone_dialects::projection` says.
//!
//! Deployments of its own are not run here. What changes a stack is a commit that has a way back into its form, such as
//! returning to an earlier revision or a repair.

use super::error::Error as CdkdError;
use super::held::HeldStack;
use super::{CdkdOptions, CdkdStore, Contents, LockFile, LockPatience, open_bucket};
use crate::object::{ObjectVersion, S3Account};
use crate::{
    At, Claim, Commit, Committed, Error, HeldLease, JournalMark, JournalPart, Keep, LeaseInfo, Leases, Reads,
    Recorded, Recovery, Relocation, Result, RevisionInfo, StackDescription, StackId, StackSummary,
};
use async_trait::async_trait;
use drystone_dialects::cdkd::{Lock, StackKey, StackState};
use drystone_journal::Entry;
use drystone_model::{Json, Severity, Violation, verify};
use futures::StreamExt;
use std::path::PathBuf;
use std::sync::Arc;

/// How many versions are read at a time.
const AT_ONCE: usize = 16;

/// The stacks of a bucket, as every store shows its own.
#[derive(Debug, Clone)]
pub struct CdkdStacks {
    store: CdkdStore,
    account: Arc<S3Account>,
    bucket: String,
}

impl CdkdStacks {
    /// Opens a bucket of an account, in the region where it is.
    pub async fn open(account: S3Account, bucket: &str, options: CdkdOptions) -> Result<Self> {
        let store = open_bucket(&account, bucket, options).await?;
        Ok(Self { store, account: Arc::new(account), bucket: bucket.to_owned() })
    }

    async fn state(&self, stack: &StackId, key: &StackKey) -> Result<StackState> {
        let state = self.store.state(key).await.map_err(outward(stack))?;
        state.ok_or_else(|| Error::NotFound { stack: stack.clone() })
    }

    /// The versions of a stack's state, oldest first. A bucket that keeps none has the current one.
    async fn versions(&self, key: &StackKey) -> Result<Vec<ObjectVersion>> {
        let path = self.store.layout().state(key);
        let mut versions = self.account.versions(&self.bucket, &path).await?;
        versions.retain(|version| version.key == path && !version.is_deletion);
        versions.reverse();
        Ok(versions)
    }

    async fn state_at(&self, key: &StackKey, version: &ObjectVersion) -> Result<StackState> {
        let path = self.store.layout().state(key);
        let object = self.store.bucket().read_version(&path, &version.version).await?;
        let location = self.store.bucket().location(&path);
        let lost = |reason: String| Error::Corrupt { path: location, reason };
        let Some(object) = object else { return Err(lost("the version is gone".to_owned())) };
        StackState::read(&object.content).map_err(|error| lost(error.to_string()))
    }

    /// A revision's version, by its number from 1.
    async fn numbered(&self, stack: &StackId, key: &StackKey, number: u64) -> Result<StackState> {
        let versions = self.versions(key).await?;
        let position = number.checked_sub(1).and_then(|position| usize::try_from(position).ok());
        match position.and_then(|position| versions.get(position)) {
            Some(version) => self.state_at(key, version).await,
            None => Err(Error::NoRevision { stack: stack.clone(), revision: number }),
        }
    }

    async fn newest(&self, key: &StackKey) -> Result<Option<u64>> {
        Ok(Some(self.versions(key).await?.len() as u64).filter(|count| *count > 0))
    }
}

/// The stack and the region that a name stands for.
fn key_of(stack: &StackId) -> Result<StackKey> {
    let name = stack.project().unwrap_or_default();
    StackKey::parse(name, stack.name()).map_err(|error| Error::Unsupported {
        path: PathBuf::from(stack.qualified()),
        reason: error.to_string(),
    })
}

#[async_trait]
impl Reads for CdkdStacks {
    async fn stacks(&self, project: Option<&str>) -> Result<Vec<StackSummary>> {
        let summaries = self.store.summaries(Contents::States).await.map_err(bucket_error)?;
        let mut stacks = Vec::new();
        for summary in summaries {
            let Some(key) = summary.listed.key() else { continue };
            if project.is_some_and(|project| project != key.stack.as_str()) {
                continue;
            }
            let stack = StackId::of_another_system(key.stack.as_str(), key.region.as_str())?;
            let state = summary.state.ok();
            stacks.push(StackSummary {
                stack,
                last_update: state.as_ref().and_then(|state| moment(state.last_modified)),
                resources: state.map(|state| state.resources.len() as u64),
                trashed: None,
            });
        }
        Ok(stacks)
    }

    async fn describe(&self, stack: &StackId) -> Result<StackDescription> {
        let key = key_of(stack)?;
        self.state(stack, &key).await?;
        let lock = self.store.lock(&key).await.map_err(outward(stack))?;
        Ok(StackDescription { holders: holders(lock), ..StackDescription::default() })
    }

    async fn snapshot(&self, stack: &StackId, at: At) -> Result<Recorded> {
        let key = key_of(stack)?;
        let (state, revision) = match at {
            At::Revision(number) => (self.numbered(stack, &key, number).await?, Some(number)),
            At::Current | At::Running => {
                let state = self.state(stack, &key).await?;
                (state, self.newest(&key).await?)
            }
        };
        Ok(Recorded {
            revision,
            hash: hash(&state),
            snapshot: state.project(&key),
            ever_written: true,
            byte_strings: false,
        })
    }

    async fn revisions(&self, stack: &StackId) -> Result<Vec<RevisionInfo>> {
        let key = key_of(stack)?;
        self.state(stack, &key).await?;
        let versions = self.versions(&key).await?;
        let key = &key;
        let infos = versions.into_iter().enumerate().map(|(index, version)| async move {
            let state = self.state_at(key, &version).await;
            info(index, key, &version, state)
        });
        Ok(futures::stream::iter(infos).buffered(AT_ONCE).collect().await)
    }

    async fn updates(&self, stack: &StackId) -> Result<Vec<Json>> {
        self.state(stack, &key_of(stack)?).await?;
        Ok(Vec::new())
    }

    async fn journal(&self, stack: &StackId, _: Option<&JournalMark>) -> Result<Option<JournalPart>> {
        self.state(stack, &key_of(stack)?).await?;
        Ok(None)
    }
}

#[async_trait]
impl Leases for CdkdStacks {
    async fn acquire(&self, stack: &StackId, claim: Claim) -> Result<Box<dyn HeldLease>> {
        let key = key_of(stack)?;
        self.state(stack, &key).await?;
        let held = self.store.acquire(&key, &claim.purpose, LockPatience::ONCE).await;
        let held = held.map_err(outward(stack))?;
        let info = LeaseInfo { foreign: false, ..lease_of(&held.lock()) };
        Ok(Box::new(Lease { stacks: self.clone(), stack: stack.clone(), key, held, info }))
    }

    async fn break_lease(&self, stack: &StackId, _: Claim) -> Result<(Vec<LeaseInfo>, Recovery)> {
        let broken = self.store.force_unlock(&key_of(stack)?).await.map_err(outward(stack))?;
        Ok((holders(broken), Recovery::Nothing))
    }
}

/// A stack whose lock is ours.
struct Lease {
    stacks: CdkdStacks,
    stack: StackId,
    key: StackKey,
    held: HeldStack,
    info: LeaseInfo,
}

impl Lease {
    fn unsupported(&self, reason: impl Into<String>) -> Error {
        Error::Unsupported { path: PathBuf::from(self.stack.qualified()), reason: reason.into() }
    }
}

#[async_trait]
impl HeldLease for Lease {
    fn info(&self) -> &LeaseInfo {
        &self.info
    }

    fn recovery(&self) -> &Recovery {
        &Recovery::Nothing
    }

    async fn append(&self, _: Vec<Entry>) -> Result<()> {
        Err(self.unsupported("a stack of cdkd has no journal of ours; its own tool deploys it"))
    }

    /// A version that is brought back is written anew as it was. Any other snapshot must be one that the current state
    /// has a way to.
    async fn commit(&self, commit: Commit) -> Result<Committed> {
        let previous = self.stacks.newest(&self.key).await?;
        let Some(snapshot) = commit.snapshot else {
            if commit.tags.is_some() || commit.update.is_some() {
                return Err(self.unsupported("a stack of cdkd has neither tags nor records of our updates"));
            }
            return Ok(Committed { previous, ..Committed::default() });
        };
        let state = match commit.restores {
            Some(number) => self.stacks.numbered(&self.stack, &self.key, number).await?,
            None => {
                let changed = self.held.state().with_changes_of(&self.key, &snapshot);
                changed.map_err(|error| self.unsupported(error.to_string()))?
            }
        };
        let violations = errors(&state, &self.key);
        self.held.save(state).await.map_err(outward(&self.stack))?;
        self.held.update_exports().await;
        Ok(Committed { revision: self.stacks.newest(&self.key).await?, previous, violations })
    }

    async fn relocate(&self, _: Relocation) -> Result<()> {
        Err(self.unsupported("a stack of cdkd stays where its own tool looks for it"))
    }

    async fn prune(&self, _: Keep) -> Result<Vec<u64>> {
        Err(self.unsupported("the versions of a bucket go by the rules of the bucket"))
    }

    async fn release(self: Box<Self>) -> Result<()> {
        match self.held.release().await.map_err(outward(&self.stack))? {
            true => Ok(()),
            false => Err(Error::Fenced { stack: self.stack, by: "another process".to_owned() }),
        }
    }
}

/// What is known of a version; one that cannot be read is told of in its place, and spoils nothing else.
fn info(index: usize, key: &StackKey, version: &ObjectVersion, state: Result<StackState>) -> RevisionInfo {
    let number = i64::try_from(index).unwrap_or(i64::MAX).saturating_add(1);
    let described = RevisionInfo {
        number,
        parent: (number > 1).then_some(number - 1),
        time: version.modified.clone(),
        title: "state".to_owned(),
        message: format!("version {}", version.version),
        ..RevisionInfo::default()
    };
    let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    match state {
        Ok(state) => RevisionInfo {
            hash: hash(&state),
            resources: count(state.resources.len()),
            violations: count(errors(&state, key).len()),
            ..described
        },
        Err(error) => RevisionInfo { title: format!("unreadable: {error}"), ..described },
    }
}

fn errors(state: &StackState, key: &StackKey) -> Vec<Violation> {
    let violations = verify(&state.project(key)).into_iter();
    violations.filter(|violation| violation.severity() == Severity::Error).collect()
}

fn hash(state: &StackState) -> String {
    blake3::hash(&state.to_bytes()).to_hex().to_string()
}

fn moment(milliseconds: i64) -> Option<String> {
    jiff::Timestamp::from_millisecond(milliseconds).ok().map(|time| time.to_string())
}

fn holders(lock: LockFile) -> Vec<LeaseInfo> {
    match lock {
        LockFile::Absent => Vec::new(),
        LockFile::Held(lock) => vec![lease_of(&lock)],
        LockFile::Unreadable(reason) => {
            let user = format!("somebody who left a lock that cannot be read: {reason}");
            vec![LeaseInfo { user, held: true, foreign: true, ..LeaseInfo::default() }]
        }
    }
}

/// The owner is `user@host:pid`, or what a tool put there.
fn lease_of(lock: &Lock) -> LeaseInfo {
    let (user, rest) = lock.owner.split_once('@').unwrap_or((&lock.owner, ""));
    let (host, process) = rest.rsplit_once(':').unwrap_or((rest, ""));
    LeaseInfo {
        user: user.to_owned(),
        host: host.to_owned(),
        pid: process.parse().unwrap_or_default(),
        purpose: lock.operation.clone().unwrap_or_default(),
        since: moment(lock.timestamp).unwrap_or_default(),
        held: true,
        foreign: true,
        ..LeaseInfo::default()
    }
}

fn bucket_error(error: CdkdError) -> Error {
    match error {
        CdkdError::Bucket(error) => error,
        error => Error::Corrupt { path: PathBuf::from("cdkd"), reason: error.to_string() },
    }
}

/// An error of cdkd's stacks in the contract's words.
fn outward(stack: &StackId) -> impl FnOnce(CdkdError) -> Error {
    let stack = stack.clone();
    move |error| match error {
        CdkdError::Bucket(error) => error,
        CdkdError::Held { lock, .. } => Error::Held { stack, lease: Box::new(lease_of(&lock)) },
        CdkdError::Fenced { by, .. } => Error::Fenced { stack, by },
        CdkdError::Conflict { .. } => Error::Conflict { stack },
        CdkdError::Read { path, source } => Error::Corrupt { path, reason: source.to_string() },
        CdkdError::Locked { path, by } => {
            Error::Corrupt { path, reason: format!("there is a lock of {by} here") }
        }
        CdkdError::UnreadableLock { path, reason } => Error::Corrupt { path, reason },
        error => Error::Corrupt { path: PathBuf::from(stack.qualified()), reason: error.to_string() },
    }
}

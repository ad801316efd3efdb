//! The store contract over trees: a stack is a factory and a name, the number of a revision is its place among those that
//! are kept, and snapshots are turned into the model's as `drystone_dialects::projection` says.
//!
//! The tool itself keeps no journal: an update of its own is not run here. What changes a stack is a commit that has a
//! way back into its form, such as returning to an earlier revision or a repair.

use super::held::HeldTree;
use super::{Error as TreeError, Holder, Root, Tree};
use crate::{
    At, Claim, Error, HeldLease, Host, JournalMark, JournalPart, LeaseInfo, Leases, Reads, Recorded,
    Recovery, Result, RevisionInfo, StackDescription, StackId, StackSummary,
};
use async_trait::async_trait;
use drystone_dialects::unobin::{Revision, Snapshot as Record};
use drystone_model::{Json, Severity, Snapshot, verify};
use drystone_secrets::envelope::Encrypter;
use futures::StreamExt;
use std::path::PathBuf;
use std::sync::Arc;

/// How many revisions are opened at a time.
const AT_ONCE: usize = 16;

/// The stacks of a root, as every store shows its own.
#[derive(Clone)]
pub struct UnobinStore {
    pub(super) root: Root,
    encrypter: Arc<dyn Encrypter>,
    pub(super) host: Arc<dyn Host>,
}

impl std::fmt::Debug for UnobinStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UnobinStore").field("root", &self.root).finish_non_exhaustive()
    }
}

impl UnobinStore {
    /// The stacks of a root that an encrypter opens.
    #[must_use]
    pub fn new(root: Root, encrypter: Arc<dyn Encrypter>, host: Arc<dyn Host>) -> Self {
        Self { root, encrypter, host }
    }

    pub(super) fn tree(&self, stack: &StackId) -> Result<Tree> {
        let factory = stack.project().unwrap_or_default();
        self.root
            .tree(factory, stack.name(), Arc::clone(&self.encrypter))
            .map_err(|error| outward(stack, error))
    }
}

/// The revisions of a stack and which of them is current.
pub(super) struct Listed {
    pub(super) revisions: Vec<Revision>,
    pub(super) current: Option<String>,
}

impl Listed {
    pub(super) async fn of(stack: &StackId, tree: &Tree) -> Result<Self> {
        let current = match tree.current_revision().await {
            Ok(current) => Some(current),
            Err(TreeError::NoCurrent) => None,
            Err(error) => return Err(outward(stack, error)),
        };
        let revisions = tree.list().await.map_err(|error| outward(stack, error))?;
        if revisions.is_empty() && current.is_none() {
            return Err(Error::NotFound { stack: stack.clone() });
        }
        Ok(Self { revisions, current })
    }

    /// The number of a revision, from 1.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        let position = self.revisions.iter().position(|revision| revision.as_str() == name)?;
        Some(position as u64 + 1)
    }

    /// The revision of a number.
    pub(super) fn named(&self, stack: &StackId, number: u64) -> Result<&str> {
        let position = number.checked_sub(1).and_then(|position| usize::try_from(position).ok());
        let revision = position.and_then(|position| self.revisions.get(position));
        let missing = || Error::NoRevision { stack: stack.clone(), revision: number };
        revision.map(Revision::as_str).ok_or_else(missing)
    }
}

#[async_trait]
impl Reads for UnobinStore {
    async fn stacks(&self, project: Option<&str>) -> Result<Vec<StackSummary>> {
        let mut summaries = Vec::new();
        for (factory, stack) in self.root.stacks().await.map_err(medium)? {
            if project.is_some_and(|project| project != factory) {
                continue;
            }
            let Ok(stack) = StackId::of_another_system(&factory, &stack) else { continue };
            let tree = self.tree(&stack)?;
            let listed = match Listed::of(&stack, &tree).await {
                Ok(listed) => listed,
                // A folder without a snapshot is no stack.
                Err(Error::NotFound { .. }) => continue,
                Err(error) => return Err(error),
            };
            let last_update = listed.current.as_deref().and_then(moment);
            let record = match &listed.current {
                Some(current) => tree.get(current).await.ok(),
                None => Some(Record::default()),
            };
            let resources = record.map(|record| record.entries.map_or(0, |entries| entries.len() as u64));
            summaries.push(StackSummary { stack, last_update, resources, trashed: None });
        }
        Ok(summaries)
    }

    async fn describe(&self, stack: &StackId) -> Result<StackDescription> {
        let tree = self.tree(stack)?;
        Listed::of(stack, &tree).await?;
        let holder = tree.holder().await.map_err(|error| outward(stack, error))?;
        Ok(StackDescription { holders: holder.iter().map(lease_of).collect(), ..StackDescription::default() })
    }

    async fn snapshot(&self, stack: &StackId, at: At) -> Result<Recorded> {
        let tree = self.tree(stack)?;
        let listed = Listed::of(stack, &tree).await?;
        let name = match at {
            At::Revision(number) => Some(listed.named(stack, number)?.to_owned()),
            At::Current | At::Running => listed.current.clone(),
        };
        let Some(name) = name else {
            return Ok(Recorded {
                revision: None,
                hash: String::new(),
                snapshot: Snapshot::default(),
                ever_written: false,
                byte_strings: false,
            });
        };
        let record = tree.get(&name).await.map_err(|error| outward(stack, error))?;
        Ok(Recorded {
            revision: listed.number(&name),
            hash: hash(&record),
            snapshot: record.project(),
            ever_written: true,
            byte_strings: false,
        })
    }

    async fn revisions(&self, stack: &StackId) -> Result<Vec<RevisionInfo>> {
        let tree = self.tree(stack)?;
        let listed = Listed::of(stack, &tree).await?;
        let tree = &tree;
        let infos = listed.revisions.into_iter().enumerate().map(|(index, revision)| async move {
            let record = tree.get(revision.as_str()).await;
            info(index, &revision, record)
        });
        Ok(futures::stream::iter(infos).buffered(AT_ONCE).collect().await)
    }

    async fn updates(&self, stack: &StackId) -> Result<Vec<Json>> {
        Listed::of(stack, &self.tree(stack)?).await?;
        Ok(Vec::new())
    }

    async fn journal(&self, stack: &StackId, _: Option<&JournalMark>) -> Result<Option<JournalPart>> {
        Listed::of(stack, &self.tree(stack)?).await?;
        Ok(None)
    }
}

#[async_trait]
impl Leases for UnobinStore {
    async fn acquire(&self, stack: &StackId, claim: Claim) -> Result<Box<dyn HeldLease>> {
        let tree = self.tree(stack)?;
        // A lock of a stack that is not there would make its folder.
        Listed::of(stack, &tree).await?;
        let Some(lock) = tree.try_lock().await.map_err(|error| outward(stack, error))? else {
            let holder = tree.holder().await.map_err(|error| outward(stack, error))?;
            let lease = holder.as_ref().map(lease_of).unwrap_or_default();
            return Err(Error::Held { stack: stack.clone(), lease: Box::new(lease) });
        };
        Ok(Box::new(HeldTree::new(self, stack, tree, lock, claim)))
    }

    async fn break_lease(&self, stack: &StackId, _: Claim) -> Result<(Vec<LeaseInfo>, Recovery)> {
        let tree = self.tree(stack)?;
        Listed::of(stack, &tree).await?;
        let broken = tree.force_unlock().await.map_err(|error| outward(stack, error))?;
        Ok((broken.iter().map(lease_of).collect(), Recovery::Nothing))
    }
}

/// What is known of a revision; one that cannot be opened is told of in its place, and spoils nothing else.
fn info(index: usize, revision: &Revision, record: super::Result<Record>) -> RevisionInfo {
    let number = i64::try_from(index).unwrap_or(i64::MAX).saturating_add(1);
    let described = RevisionInfo {
        number,
        parent: (number > 1).then_some(number - 1),
        time: moment(revision.as_str()).unwrap_or_default(),
        title: "snapshot".to_owned(),
        message: revision.to_string(),
        ..RevisionInfo::default()
    };
    match record {
        Ok(record) => {
            let snapshot = record.project();
            let errors = verify(&snapshot).iter().filter(|it| it.severity() == Severity::Error).count();
            RevisionInfo {
                hash: hash(&record),
                resources: i64::try_from(snapshot.resources.len()).unwrap_or(i64::MAX),
                violations: i64::try_from(errors).unwrap_or(i64::MAX),
                ..described
            }
        }
        Err(error) => RevisionInfo { title: format!("unreadable: {error}"), ..described },
    }
}

/// The moment that the name of a revision says, without the number that others of that moment have.
fn moment(revision: &str) -> Option<String> {
    let nanoseconds = Revision::named(revision).unix_nanoseconds()?;
    jiff::Timestamp::from_nanosecond(nanoseconds).ok().map(|time| time.to_string())
}

pub(super) fn hash(record: &Record) -> String {
    record.encode().map(|text| blake3::hash(&text).to_hex().to_string()).unwrap_or_default()
}

fn lease_of(holder: &Holder) -> LeaseInfo {
    let name = holder.name.clone().unwrap_or_default();
    let (user, host) = name.split_once('@').unwrap_or((&name, ""));
    LeaseInfo {
        user: user.to_owned(),
        host: host.to_owned(),
        pid: holder.process.map_or(0, i64::from),
        since: holder.since.map(|since| since.to_string()).unwrap_or_default(),
        held: true,
        foreign: true,
        dead: holder.is_running == Some(false),
        ..LeaseInfo::default()
    }
}

fn medium(error: TreeError) -> Error {
    match error {
        TreeError::Medium(error) => error,
        error => {
            Error::Corrupt { path: error.path().cloned().unwrap_or_default(), reason: error.to_string() }
        }
    }
}

/// A tree's error in the contract's words.
pub(super) fn outward(stack: &StackId, error: TreeError) -> Error {
    match error {
        TreeError::Medium(error) => error,
        TreeError::Moved { .. } => Error::Conflict { stack: stack.clone() },
        TreeError::Locked { holder } => {
            Error::Held { stack: stack.clone(), lease: Box::new(lease_of(&holder)) }
        }
        TreeError::LostLock { holder } => Error::Fenced { stack: stack.clone(), by: holder.to_string() },
        error => {
            let path = error.path().cloned().unwrap_or_else(|| PathBuf::from(stack.qualified()));
            Error::Corrupt { path, reason: error.to_string() }
        }
    }
}

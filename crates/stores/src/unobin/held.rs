//! The lease of a stack in a tree.

use super::store::{Listed, UnobinStore, outward};
use super::{HeldLock, Tree};
use crate::{
    Claim, Commit, Committed, Error, HeldLease, Keep, LeaseInfo, Recovery, Relocation, Result, StackId,
};
use async_trait::async_trait;
use drystone_journal::Entry;
use drystone_model::{Severity, verify};
use std::path::PathBuf;

/// A stack whose lock is ours.
pub(super) struct HeldTree {
    stack: StackId,
    tree: Tree,
    lock: HeldLock,
    info: LeaseInfo,
}

impl HeldTree {
    pub(super) fn new(
        store: &UnobinStore,
        stack: &StackId,
        tree: Tree,
        lock: HeldLock,
        claim: Claim,
    ) -> Self {
        let host = &store.host;
        let info = LeaseInfo {
            user: host.user(),
            host: host.hostname(),
            pid: i64::from(host.pid()),
            purpose: claim.purpose,
            since: host.now().to_string(),
            nonce: host.new_id(),
            held: true,
            ..LeaseInfo::default()
        };
        Self { stack: stack.clone(), tree, lock, info }
    }

    fn out(&self) -> impl Fn(super::Error) -> Error {
        |error| outward(&self.stack, error)
    }

    fn unsupported(&self, reason: impl Into<String>) -> Error {
        Error::Unsupported { path: PathBuf::from(self.stack.qualified()), reason: reason.into() }
    }
}

#[async_trait]
impl HeldLease for HeldTree {
    fn info(&self) -> &LeaseInfo {
        &self.info
    }

    fn recovery(&self) -> &Recovery {
        &Recovery::Nothing
    }

    async fn append(&self, _: Vec<Entry>) -> Result<()> {
        Err(self.unsupported("a stack of unobin has no journal; its own tool updates it"))
    }

    /// A revision that is brought back is written anew as it was. Any other snapshot must be one that the current record
    /// has a way to.
    async fn commit(&self, commit: Commit) -> Result<Committed> {
        let listed = Listed::of(&self.stack, &self.tree).await?;
        let previous = listed.current.as_deref().and_then(|name| listed.number(name));
        let Some(snapshot) = commit.snapshot else {
            if commit.tags.is_some() || commit.update.is_some() {
                return Err(self.unsupported("a stack of unobin has neither tags nor records of updates"));
            }
            return Ok(Committed { previous, ..Committed::default() });
        };
        let record = match commit.restores {
            Some(number) => self.tree.get(listed.named(&self.stack, number)?).await.map_err(self.out())?,
            None => {
                let current = self.tree.current().await.map_err(self.out())?;
                current.with_changes_of(&snapshot).map_err(|error| self.unsupported(error.to_string()))?
            }
        };
        let written = self.tree.write(&record).await.map_err(self.out())?;
        self.tree.move_current(listed.current.as_deref(), &written).await.map_err(self.out())?;
        let revision = Listed::of(&self.stack, &self.tree).await?.number(&written);
        let violations = verify(&record.project());
        let violations = violations.into_iter().filter(|it| it.severity() == Severity::Error).collect();
        Ok(Committed { revision, previous, violations })
    }

    async fn relocate(&self, _: Relocation) -> Result<()> {
        Err(self.unsupported("a stack of unobin stays where its own tool looks for it"))
    }

    async fn prune(&self, keep: Keep) -> Result<Vec<u64>> {
        let listed = Listed::of(&self.stack, &self.tree).await?;
        let old = listed.revisions.len().saturating_sub(keep.newest);
        let mut deleted = Vec::new();
        for (index, revision) in listed.revisions.iter().take(old).enumerate() {
            if listed.current.as_deref() != Some(revision.as_str()) {
                self.tree.delete(revision.as_str()).await.map_err(self.out())?;
                deleted.push(index as u64 + 1);
            }
        }
        Ok(deleted)
    }

    async fn release(self: Box<Self>) -> Result<()> {
        let Self { stack, lock, .. } = *self;
        lock.unlock().await.map_err(|error| outward(&stack, error))
    }
}

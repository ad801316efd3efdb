//! Copying: revision by revision, each read back, then records and tags.

use super::super::rename::references::Renaming;
use super::super::sealing::Wanted;
use super::secrets::{Age, Sealing, Settings};
use super::{Migrated, TITLE};
use crate::backend::StackAt;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::{snapshot_secrets, terminal};
use drystone_dialects::projection::leave_out;
use drystone_model::{Json, Manifest, Metadata, Resource, Snapshot};
use drystone_stores::{At, Commit, Error as StoreError, HeldLease, Recorded, RevisionInfo};
use std::collections::BTreeMap;

/// How much is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Everything,
    /// The current state without earlier revisions and history.
    Current,
}

pub(super) struct Migration<'a> {
    pub(super) context: &'a Context,
    pub(super) from: &'a StackAt,
    pub(super) to: &'a StackAt,
    pub(super) target: &'a dyn HeldLease,
    /// What is to seal the secrets of the copy; `None` leaves them as they are.
    pub(super) wanted: Option<&'a Wanted>,
}

impl Migration<'_> {
    pub(super) async fn run(&self, extent: Extent) -> Outcome<Migrated> {
        let (from, to) = (self.from.backend.store(), self.to.backend.store());
        let current = from.snapshot(&self.from.stack, At::Current).await?;
        let there = self.target_now().await?;
        // What the settings said before the leases were had may be old.
        let mut settings = Settings::open(self.context, &self.from.stack, &self.to.stack)?;
        let sealing = self.wanted.map(|wanted| {
            Sealing::new(self.context, self.from, wanted, &current, there.as_ref(), settings.as_ref())
        });
        let sealing = sealing.transpose()?;
        if let (Some(settings), Some(sealing)) = (&mut settings, &sealing) {
            settings.seal(sealing)?;
        }
        let (served, left_out) = self.served(current.snapshot.clone());
        if sealing.is_none() {
            self.refuse_open(&served)?;
        }
        let mut migrated = self.copy_revisions(current, there, sealing.as_ref(), extent).await?;
        migrated.left_out = left_out;
        if extent == Extent::Everything {
            migrated.updates = self.copy_updates().await?;
        }
        let tags = from.describe(&self.from.stack).await?.tags;
        if to.describe(&self.to.stack).await?.tags != tags {
            self.commit(Commit { tags: Some(tags), ..Commit::default() }).await?;
        }
        if let Some(settings) = &mut settings {
            settings.save()?;
        }
        Ok(migrated)
    }

    /// What the target holds, if it is there.
    async fn target_now(&self) -> Outcome<Option<Recorded>> {
        match self.to.backend.store().snapshot(&self.to.stack, At::Current).await {
            Ok(there) => Ok(Some(there)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }

    async fn copy_revisions(
        &self,
        current: Recorded,
        there: Option<Recorded>,
        sealing: Option<&Sealing<'_>>,
        extent: Extent,
    ) -> Outcome<Migrated> {
        let from = self.from.backend.store();
        let mut revisions = from.revisions(&self.from.stack).await?;
        revisions.extend(self.found(&current, &revisions));
        let newest = revisions.last().map(|info| info.number);
        let current_number = current.revision.and_then(|number| i64::try_from(number).ok()).or(newest);
        // What each revision of the source is called in the target.
        let mut numbers = self.copied_before(&current, there.as_ref(), &revisions).await?;
        let mut migrated = Migrated { found: numbers.len(), ..Migrated::default() };
        let is_sealed =
            |sealing: &Sealing<'_>| there.as_ref().is_some_and(|there| sealing.is_done(&there.snapshot));
        for info in &revisions {
            let age = if Some(info.number) == current_number { Age::Current } else { Age::Earlier };
            let is_there = numbers.contains_key(&info.number)
                // One that an earlier command has copied as it was is copied once more.
                && (age == Age::Earlier || sealing.is_none_or(is_sealed));
            if is_there || extent == Extent::Current && age == Age::Earlier {
                continue;
            }
            terminal::note(format!("revision {}  {}  {}", info.number, info.time, info.title));
            let number = u64::try_from(info.number).unwrap_or_default();
            let recorded = match current.revision {
                None if age == Age::Current => current.clone(),
                _ => from.snapshot(&self.from.stack, At::Revision(number)).await?,
            };
            let copy = self.copy(recorded, info, &numbers, sealing.map(|sealing| (sealing, age))).await?;
            numbers.insert(info.number, copy);
            migrated.revisions += 1;
        }
        if revisions.is_empty() && there.is_none() {
            self.commit(Commit { title: TITLE.to_owned(), ..Commit::default() }).await?;
        }
        Ok(migrated)
    }

    /// A state that no revision has been made of, because another tool wrote it, as the revision that it would be.
    fn found(&self, current: &Recorded, revisions: &[RevisionInfo]) -> Option<RevisionInfo> {
        let is_found = current.revision.is_none() && current.ever_written;
        is_found.then(|| RevisionInfo {
            number: revisions.last().map_or(1, |info| info.number + 1),
            time: current.snapshot.manifest.time.clone(),
            title: TITLE.to_owned(),
            message: format!("from {}", self.from),
            ..RevisionInfo::default()
        })
    }

    /// The revisions that an earlier migration has copied. A target that has others is somebody else's.
    async fn copied_before(
        &self,
        current: &Recorded,
        target: Option<&Recorded>,
        revisions: &[RevisionInfo],
    ) -> Outcome<BTreeMap<i64, i64>> {
        let there = match self.to.backend.store().revisions(&self.to.stack).await {
            Ok(there) => there,
            Err(StoreError::NotFound { .. }) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let taken = || Failure::from(StoreError::AlreadyExists { stack: self.to.stack.clone() });
        let mut copied = BTreeMap::new();
        for info in &there {
            let original = info.copy_of.and_then(|number| revisions.iter().find(|own| own.number == number));
            let original = original.filter(|own| (&own.time, &own.title) == (&info.time, &info.title));
            copied.insert(original.ok_or_else(taken)?.number, info.number);
        }
        // A copy of a stack that nothing was ever written to is like it.
        let differs = |target: &Recorded| target.ever_written || current.ever_written;
        if there.is_empty() && target.is_some_and(differs) {
            return Err(taken());
        }
        Ok(copied)
    }

    /// Copies a revision and reads it back; gives its number in the target.
    async fn copy(
        &self,
        recorded: Recorded,
        info: &RevisionInfo,
        numbers: &BTreeMap<i64, i64>,
        sealing: Option<(&Sealing<'_>, Age)>,
    ) -> Outcome<i64> {
        let source = self.served(self.renamed(recorded.snapshot)?).0;
        if sealing.is_none() {
            self.refuse_open(&source)?;
        }
        let snapshot = match sealing {
            Some((sealing, age)) => sealing.sealed(&source, age, info.number)?,
            None => source.clone(),
        };
        let restores = info.restores.and_then(|number| numbers.get(&number));
        let commit = Commit {
            title: info.title.clone(),
            message: info.message.clone(),
            snapshot: Some(snapshot.clone()),
            restores: restores.and_then(|number| u64::try_from(*number).ok()),
            copies: Some(Box::new(info.clone())),
            byte_strings: recorded.byte_strings,
            ..Commit::default()
        };
        let revision = self.commit(commit).await?;
        let there = self.read_back(snapshot, revision).await?;
        if let Some((sealing, _)) = sealing
            && !sealing.opens_alike(&source, &there)?
        {
            return Err(self.differs(&format!("a secret of revision {}", info.number)));
        }
        Ok(revision.and_then(|number| i64::try_from(number).ok()).unwrap_or_default())
    }

    /// Copies the records of updates that the target does not have, oldest first.
    async fn copy_updates(&self) -> Outcome<usize> {
        let mut records = self.from.backend.store().updates(&self.from.stack).await?;
        let there = self.to.backend.store().updates(&self.to.stack).await?;
        records.reverse();
        let missing: Vec<Json> = records.into_iter().skip(there.len()).collect();
        let copied = missing.len();
        for update in missing {
            self.commit(Commit { update: Some(update), ..Commit::default() }).await?;
        }
        let there = self.to.backend.store().updates(&self.to.stack).await?;
        let source = self.from.backend.store().updates(&self.from.stack).await?;
        if there != source {
            return Err(self.differs("the history"));
        }
        Ok(copied)
    }

    async fn commit(&self, commit: Commit) -> Outcome<Option<u64>> {
        Ok(self.target.commit(commit).await?.revision)
    }

    /// Refuses what would stand in the target in clear (S17).
    fn refuse_open(&self, snapshot: &Snapshot) -> Outcome {
        if !snapshot_secrets::holds_open(snapshot) {
            return Ok(());
        }
        let message = format!("{} holds secrets that would stand in clear in the copy", self.from);
        Err(Failure::configuration(message)
            .hint("run the command in the folder of the target's project, with `--secrets-provider default`"))
    }

    /// A snapshot without what no provider serves, and that.
    fn served(&self, mut snapshot: Snapshot) -> (Snapshot, Vec<Resource>) {
        let left_out = self.from.backend.unserved().map(|package| leave_out(&mut snapshot, package));
        (snapshot, left_out.unwrap_or_default())
    }

    /// The snapshot under the target's name.
    fn renamed(&self, mut snapshot: Snapshot) -> Outcome<Snapshot> {
        if self.from.stack != self.to.stack {
            Renaming::new(&self.from.stack, &self.to.stack, &snapshot).rename(&mut snapshot)?;
        }
        Ok(snapshot)
    }

    /// Reads a revision back and compares it with what was sent.
    async fn read_back(&self, sent: Snapshot, revision: Option<u64>) -> Outcome<Snapshot> {
        let at = revision.map_or(At::Current, At::Revision);
        let there = self.to.backend.store().snapshot(&self.to.stack, at).await?.snapshot;
        if content(sent) == content(there.clone()) {
            return Ok(there);
        }
        Err(self
            .differs(&revision.map_or_else(|| "the state".to_owned(), |number| format!("revision {number}"))))
    }

    fn differs(&self, what: &str) -> Failure {
        Failure::new(ExitCode::Unsound, format!("{what} of {} is not what was written there", self.to))
    }
}

/// A snapshot without what a store may say of it.
pub(super) fn content(snapshot: Snapshot) -> Snapshot {
    Snapshot { manifest: Manifest::default(), metadata: Metadata::default(), ..snapshot }
}

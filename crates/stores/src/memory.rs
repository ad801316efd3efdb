//! Stacks in memory, for tests and simulations: the contract at its plainest.

use crate::{
    At, Claim, Commit, Committed, Error, HeldLease, Host, JournalHead, JournalMark, JournalPart, Keep,
    LeaseInfo, Leases, Reads, Recorded, Recovery, Relocation, Result, RevisionInfo, StackDescription,
    StackId, StackSummary, SystemHost, Trashed,
};
use async_trait::async_trait;
use drystone_journal::{Entry, Replayer};
use drystone_model::{Feature, Json, Severity, Snapshot, Violation};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A store in memory. Clones share it, as processes share a disk.
#[derive(Debug, Clone)]
pub struct MemoryStore {
    stacks: Arc<Mutex<BTreeMap<StackId, Stack>>>,
    trash: Arc<Mutex<Vec<(StackId, Trashed, Stack)>>>,
    host: Arc<dyn Host>,
}

#[derive(Debug, Default)]
struct Stack {
    exists: bool,
    revisions: BTreeMap<u64, Revision>,
    current: Option<u64>,
    highest: u64,
    tags: BTreeMap<String, String>,
    updates: Vec<Json>,
    lease: LeaseInfo,
    /// Whether the holder's process lives.
    alive: bool,
    journal: Option<Journal>,
    /// How many entries it took.
    entries: usize,
    /// How many of them end a step.
    steps: usize,
}

/// The journal of an update.
#[derive(Debug)]
struct Journal {
    /// The revision that it began with.
    base: Option<u64>,
    replayer: Replayer,
    /// What was written, for who follows.
    written: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Revision {
    info: RevisionInfo,
    snapshot: Snapshot,
    byte_strings: bool,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new(Arc::new(SystemHost))
    }
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new(host: Arc<dyn Host>) -> Self {
        Self { stacks: Arc::default(), trash: Arc::default(), host }
    }

    fn stacks(&self) -> MutexGuard<'_, BTreeMap<StackId, Stack>> {
        self.stacks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trash(&self) -> MutexGuard<'_, Vec<(StackId, Trashed, Stack)>> {
        self.trash.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, stack: &mut Stack, claim: Claim) -> Result<Recovery> {
        let holder = stack.lease.clone();
        let (entries, steps) = (stack.entries, std::mem::take(&mut stack.steps));
        let recovery = match stack.materialise(&*self.host, &format!("recovered `{}`", holder.purpose))? {
            Some(revision) => Recovery::Replayed {
                holder: Box::new(holder),
                entries,
                steps,
                pending: stack.revisions[&revision].snapshot.pending_operations.len(),
                revision,
            },
            None => Recovery::Nothing,
        };
        stack.lease = LeaseInfo {
            user: self.host.user(),
            host: self.host.hostname(),
            pid: i64::from(self.host.pid()),
            purpose: claim.purpose,
            since: self.host.now().to_string(),
            nonce: self.host.new_id(),
            epoch: stack.lease.epoch + 1,
            held: true,
            ..LeaseInfo::default()
        };
        stack.alive = true;
        Ok(recovery)
    }
}

impl Stack {
    /// Commits what the journal says, if it says anything.
    fn materialise(&mut self, host: &dyn Host, title: &str) -> Result<Option<u64>> {
        let Some(journal) = self.journal.take() else { return Ok(None) };
        if std::mem::take(&mut self.entries) == 0 {
            return Ok(None);
        }
        let replayed = journal.replayer.finish();
        let by = format!("{}@{}", self.lease.user, self.lease.host);
        let commit = Commit {
            title: title.to_owned(),
            byte_strings: replayed.features.contains(Feature::ByteString),
            ..Commit::default()
        };
        Ok(Some(self.record(host, &by, commit, replayed.snapshot).0))
    }

    fn record(
        &mut self,
        host: &dyn Host,
        by: &str,
        commit: Commit,
        snapshot: Snapshot,
    ) -> (u64, Vec<Violation>) {
        let violations: Vec<Violation> = drystone_model::verify(&snapshot)
            .into_iter()
            .filter(|violation| violation.severity() == Severity::Error)
            .collect();
        self.highest += 1;
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let text = serde_json::to_vec(&snapshot).unwrap_or_default();
        let info = RevisionInfo {
            number: number(self.highest),
            parent: self.current.map(number),
            time: host.now().to_string(),
            title: commit.title,
            by: by.to_owned(),
            message: commit.message,
            hash: blake3::hash(&text).to_hex().to_string(),
            resources: number(snapshot.resources.len() as u64),
            violations: number(violations.len() as u64),
            restores: commit.restores.map(number),
            ..RevisionInfo::default()
        };
        let info = info.copying(commit.copies.as_deref());
        let revision = Revision { info, snapshot, byte_strings: commit.byte_strings };
        self.revisions.insert(self.highest, revision);
        self.current = Some(self.highest);
        self.exists = true;
        (self.highest, violations)
    }

    fn recorded(&self) -> Recorded {
        match self.current.and_then(|number| self.revisions.get(&number)) {
            Some(revision) => revision.recorded(self.current),
            None => Recorded {
                revision: None,
                hash: String::new(),
                snapshot: Snapshot::default(),
                ever_written: false,
                byte_strings: false,
            },
        }
    }
}

impl Revision {
    fn recorded(&self, number: Option<u64>) -> Recorded {
        Recorded {
            revision: number,
            hash: self.info.hash.clone(),
            snapshot: self.snapshot.clone(),
            ever_written: true,
            byte_strings: self.byte_strings,
        }
    }
}

#[async_trait]
impl Reads for MemoryStore {
    async fn stacks(&self, project: Option<&str>) -> Result<Vec<StackSummary>> {
        let wanted = |stack: &StackId| project.is_none() || stack.project() == project;
        let summary = |id: &StackId, stack: &Stack, trashed: Option<Trashed>| {
            let current = stack.current.and_then(|number| stack.revisions.get(&number));
            StackSummary {
                stack: id.clone(),
                last_update: current.map(|revision| revision.info.time.clone()),
                resources: Some(current.map_or(0, |revision| revision.snapshot.resources.len() as u64)),
                trashed,
            }
        };
        let stacks = self.stacks();
        let live = stacks.iter().filter(|(id, stack)| stack.exists && wanted(id));
        let mut summaries: Vec<StackSummary> = live.map(|(id, stack)| summary(id, stack, None)).collect();
        let trash = self.trash();
        let trashed = trash.iter().filter(|(id, _, _)| wanted(id));
        summaries.extend(trashed.map(|(id, trashed, stack)| summary(id, stack, Some(trashed.clone()))));
        Ok(summaries)
    }

    async fn describe(&self, stack: &StackId) -> Result<StackDescription> {
        let stacks = self.stacks();
        let Some(stack) = stacks.get(stack) else { return Ok(StackDescription::default()) };
        let holder = LeaseInfo { dead: !stack.alive, ..stack.lease.clone() };
        Ok(StackDescription {
            tags: stack.tags.clone(),
            holders: Some(holder).filter(|lease| lease.held).into_iter().collect(),
            orphans: Vec::new(),
            unrecovered: !stack.alive && stack.entries > 0,
        })
    }

    async fn snapshot(&self, id: &StackId, at: At) -> Result<Recorded> {
        let stacks = self.stacks();
        let missing = || Error::NotFound { stack: id.clone() };
        let stack = stacks.get(id).filter(|stack| stack.exists).ok_or_else(missing)?;
        match at {
            At::Current => Ok(stack.recorded()),
            At::Running => match &stack.journal {
                Some(journal) => Ok(Recorded {
                    revision: None,
                    snapshot: journal.replayer.snapshot().snapshot,
                    ever_written: true,
                    ..stack.recorded()
                }),
                None => Ok(stack.recorded()),
            },
            At::Revision(number) => {
                let missing = || Error::NoRevision { stack: id.clone(), revision: number };
                let revision = stack.revisions.get(&number).ok_or_else(missing)?;
                Ok(revision.recorded(Some(number)))
            }
        }
    }

    async fn revisions(&self, stack: &StackId) -> Result<Vec<RevisionInfo>> {
        let stacks = self.stacks();
        let revisions = stacks.get(stack).into_iter().flat_map(|stack| stack.revisions.values());
        Ok(revisions.map(|revision| revision.info.clone()).collect())
    }

    async fn updates(&self, stack: &StackId) -> Result<Vec<Json>> {
        let stacks = self.stacks();
        Ok(stacks.get(stack).map(|stack| stack.updates.iter().rev().cloned().collect()).unwrap_or_default())
    }

    async fn journal(&self, stack: &StackId, since: Option<&JournalMark>) -> Result<Option<JournalPart>> {
        let stacks = self.stacks();
        let Some(stack) = stacks.get(stack) else { return Ok(None) };
        let Some(journal) = &stack.journal else { return Ok(None) };
        let known = since.filter(|mark| mark.journal == stack.lease.nonce);
        let position = known.and_then(|mark| usize::try_from(mark.position).ok()).unwrap_or(0);
        let head = || JournalHead { lease: stack.lease.clone(), base: journal.base };
        Ok(Some(JournalPart {
            head: known.is_none().then(head),
            entries: journal.written.get(position..).unwrap_or_default().to_vec(),
            mark: JournalMark { journal: stack.lease.nonce.clone(), position: journal.written.len() as u64 },
        }))
    }
}

#[async_trait]
impl Leases for MemoryStore {
    async fn acquire(&self, id: &StackId, claim: Claim) -> Result<Box<dyn HeldLease>> {
        let mut stacks = self.stacks();
        let stack = stacks.entry(id.clone()).or_default();
        if stack.lease.held && stack.alive {
            return Err(Error::Held { stack: id.clone(), lease: Box::new(stack.lease.clone()) });
        }
        let recovery = self.take(stack, claim)?;
        let info = stack.lease.clone();
        Ok(Box::new(MemoryLease { store: self.clone(), stack: id.clone(), info, recovery }))
    }

    async fn break_lease(&self, id: &StackId, claim: Claim) -> Result<(Vec<LeaseInfo>, Recovery)> {
        let mut stacks = self.stacks();
        let stack = stacks.entry(id.clone()).or_default();
        let broken = Some(stack.lease.clone()).filter(|lease| lease.held).into_iter().collect();
        let recovery = self.take(stack, claim)?;
        stack.lease.held = false;
        Ok((broken, recovery))
    }
}

struct MemoryLease {
    store: MemoryStore,
    stack: StackId,
    info: LeaseInfo,
    recovery: Recovery,
}

impl MemoryLease {
    /// Does something to the stack if the lease is still held.
    fn fenced<T>(&self, action: impl FnOnce(&mut Stack) -> Result<T>) -> Result<T> {
        let mut stacks = self.store.stacks();
        let stack = stacks.entry(self.stack.clone()).or_default();
        if stack.lease.nonce != self.info.nonce {
            let by = format!("{}@{}", stack.lease.user, stack.lease.host);
            return Err(Error::Fenced { stack: self.stack.clone(), by });
        }
        action(stack)
    }
}

impl Drop for MemoryLease {
    fn drop(&mut self) {
        let mut stacks = self.store.stacks();
        if let Some(stack) = stacks.get_mut(&self.stack)
            && stack.lease.nonce == self.info.nonce
        {
            stack.alive = false;
        }
    }
}

#[async_trait]
impl HeldLease for MemoryLease {
    fn info(&self) -> &LeaseInfo {
        &self.info
    }

    fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    async fn append(&self, entries: Vec<Entry>) -> Result<()> {
        self.fenced(|stack| {
            stack.exists = true;
            let (base, snapshot) = (stack.current, stack.recorded().snapshot);
            let journal = stack.journal.get_or_insert_with(|| Journal {
                base,
                replayer: Replayer::new(snapshot),
                written: Vec::new(),
            });
            for entry in entries {
                let ends_a_step = entry.kind.ends_a_step();
                journal.replayer.add(entry.clone())?;
                journal.written.push(entry);
                stack.entries += 1;
                stack.steps += usize::from(ends_a_step);
            }
            Ok(())
        })
    }

    async fn commit(&self, mut commit: Commit) -> Result<Committed> {
        let host = Arc::clone(&self.store.host);
        let by = format!("{}@{}", self.info.user, self.info.host);
        self.fenced(|stack| {
            let previous = stack.current;
            stack.exists = true;
            if let Some(tags) = commit.tags.take() {
                stack.tags = tags;
            }
            stack.updates.extend(commit.update.take());
            let mut committed = Committed { previous, ..Committed::default() };
            if let Some(snapshot) = commit.snapshot.take() {
                stack.journal = None;
                (stack.entries, stack.steps) = (0, 0);
                let (revision, violations) = stack.record(&*host, &by, commit, snapshot);
                committed.revision = Some(revision);
                committed.violations = violations;
            } else {
                committed.revision = stack.materialise(&*host, &commit.title)?;
            }
            Ok(committed)
        })
    }

    async fn relocate(&self, to: Relocation) -> Result<()> {
        let missing = || Error::NotFound { stack: self.stack.clone() };
        self.fenced(|stack| match (stack.exists, matches!(to, Relocation::FromTrash { .. })) {
            (false, false) => Err(missing()),
            (true, true) => Err(Error::AlreadyExists { stack: self.stack.clone() }),
            _ => Ok(()),
        })?;
        let mut stacks = self.store.stacks();
        let detach = |stacks: &mut BTreeMap<StackId, Stack>| {
            let stack = stacks.entry(self.stack.clone()).or_default();
            let lease = stack.lease.clone();
            std::mem::replace(stack, Stack { lease, alive: true, ..Stack::default() })
        };
        match to {
            Relocation::To { stack: target, snapshot } => {
                if stacks.get(&target).is_some_and(|stack| stack.exists) {
                    return Err(Error::AlreadyExists { stack: target });
                }
                let mut moved = detach(&mut stacks);
                moved.lease = stacks.get(&target).map(|stack| stack.lease.clone()).unwrap_or_default();
                if let Some(snapshot) = snapshot {
                    let commit =
                        Commit { title: format!("renamed from {}", self.stack), ..Commit::default() };
                    moved.record(&*self.store.host, &self.info.user, commit, *snapshot);
                }
                stacks.insert(target, moved);
            }
            Relocation::Trash { note } => {
                let removed = self.store.host.now();
                let trashed = Trashed { id: removed.as_nanosecond().to_string(), removed, note };
                self.store.trash().push((self.stack.clone(), trashed, detach(&mut stacks)));
            }
            Relocation::FromTrash { id } => {
                let mut trash = self.store.trash();
                let wanted = trash.iter().position(|(stack, it, _)| *stack == self.stack && it.id == id);
                let (_, _, mut stack) = trash.remove(wanted.ok_or_else(missing)?);
                stack.lease = self.info.clone();
                stack.alive = true;
                stacks.insert(self.stack.clone(), stack);
            }
            Relocation::Nowhere => drop(detach(&mut stacks)),
        }
        Ok(())
    }

    async fn prune(&self, keep: Keep) -> Result<Vec<u64>> {
        self.fenced(|stack| {
            let numbers: Vec<u64> = stack.revisions.keys().copied().collect();
            let old = &numbers[..numbers.len().saturating_sub(keep.newest)];
            let deleted: Vec<u64> =
                old.iter().copied().filter(|number| Some(*number) != stack.current).collect();
            stack.revisions.retain(|number, _| !deleted.contains(number));
            Ok(deleted)
        })
    }

    async fn release(self: Box<Self>) -> Result<()> {
        let host = Arc::clone(&self.store.host);
        let released = self.fenced(|stack| {
            let title = format!("unfinished `{}`", stack.lease.purpose);
            stack.materialise(&*host, &title)?;
            stack.lease.held = false;
            Ok(())
        });
        match released {
            // Only one's own lease is released (S13).
            Err(Error::Fenced { .. }) => Ok(()),
            released => released,
        }
    }
}

//! What the next holder does with what the last one left (S5, S12, S20).

use super::commit::{Carried, Replaces, Writer};
use super::documents::Document;
use super::leases::{Heartbeat, Taken};
use super::revisions::Revisions;
use super::segments::{Found, SegmentWriter};
use super::{BucketStore, layout as keys};
use crate::diy::document::{self, Publish};
use crate::diy::frames::{self, Decision, Header};
use crate::diy::replay::{DAMAGED, ORPHAN, Replay, SETTLED, is_kept};
use crate::diy::{layout, locks, number_of};
use crate::{Error, LeaseInfo, Orphan, Recorded, Recovery, Result, StackId};
use jiff::SignedDuration;
use std::collections::{BTreeMap, BTreeSet};

/// How long the tombstone of a journal that was dealt with stays. No writer is away for longer and comes back.
const TOMBSTONES_STAY: SignedDuration = SignedDuration::from_hours(30 * 24);

impl BucketStore {
    /// Puts in order what dead or fenced holders left: closes their journals, carries out what they had decided, and
    /// commits what they had journaled. `closes` are journals that may have no segment yet.
    pub(super) async fn settle(
        &self,
        stack: &StackId,
        writer: Writer<'_>,
        closes: &[String],
    ) -> Result<Recovery> {
        let journals = self.journals(stack).await?;
        self.forget_tombstones(&journals.settled).await?;
        let mut open = journals.open;
        open.remove(writer.segments.journal());
        for name in closes.iter().filter(|name| !journals.settled.contains_key(*name)) {
            open.entry(name.clone()).or_default();
        }
        let (mut decided, mut undecided) = (Vec::new(), Vec::new());
        for (name, numbers) in open {
            let found = self.close_journal(stack, &name, &numbers, writer.lease).await?;
            let group = if found.decision.is_some() { &mut decided } else { &mut undecided };
            group.push(found);
        }
        let mut recovery = Recovery::Nothing;
        let mut brought_in = BTreeSet::new();
        for found in &decided {
            let Some(decision) = &found.decision else { continue };
            let replayed: Vec<&Found> =
                undecided.iter().filter(|found| decision.replays.contains(&found.name)).collect();
            if let Some(outcome) = self.finish(stack, found, decision, &replayed).await? {
                recovery = outcome;
            }
            brought_in.extend(decision.replays.iter().cloned());
        }
        for found in &undecided {
            if !brought_in.contains(&found.name)
                && let Some(outcome) = self.bring_in(stack, writer, found).await?
            {
                recovery = outcome;
            }
            self.settle_found(stack, found).await?;
        }
        // Those that decided to bring in others last: without the decision, the others would be brought in again.
        for found in &decided {
            self.settle_found(stack, found).await?;
        }
        Ok(recovery)
    }

    /// Puts in order what oneself left, when it is not known what was written last.
    pub(super) async fn recover_own(&self, stack: &StackId, heartbeat: Heartbeat) -> Result<()> {
        match heartbeat.succeed(self, stack).await? {
            Some(taken) => self.settle_and_release(stack, taken).await.map(drop),
            None => Ok(()),
        }
    }

    /// Puts a stack in order and gives its lease back.
    pub(super) async fn settle_and_release(&self, stack: &StackId, taken: Taken) -> Result<Recovery> {
        let heartbeat = Heartbeat::start(self, stack, taken);
        let segments = SegmentWriter::new(self, stack, heartbeat.lease());
        let writer = Writer { lease: heartbeat.lease(), segments: &segments };
        match self.settle(stack, writer, heartbeat.closes()).await {
            Ok(recovery) => {
                if heartbeat.release(self, stack).await? {
                    segments.forget().await;
                }
                Ok(recovery)
            }
            Err(error) => {
                heartbeat.abandon(self, stack).await?;
                Err(error)
            }
        }
    }

    /// Makes of a closed journal without a decision what there is to make of it.
    async fn bring_in(&self, stack: &StackId, writer: Writer<'_>, found: &Found) -> Result<Option<Recovery>> {
        let journal = &found.journal;
        if journal.entries.is_empty() && !journal.damaged {
            return Ok(None);
        }
        let header = journal.header.clone().unwrap_or_default();
        let mut current = self.document(stack).await?.map(|(document, _)| document);
        let current_hash = current.as_ref().map_or("", |document| document.hash.as_str());
        let is_checkpoint = journal.publications.iter().any(|publication| publication.hash == current_hash);
        let ours = current_hash == header.base_hash || is_checkpoint;
        let replay = self.replayed(stack, journal.clone()).await?;
        if !ours || header.stack != stack.qualified() || !replay.has_base {
            return self.orphan(stack, found).await.map(Some);
        }
        if replay.damaged {
            self.keep(stack, found, DAMAGED).await?;
        }
        if let Some(document) = current.as_mut().filter(|_| is_checkpoint) {
            // A checkpoint on the way is no revision of its own.
            document.revision = u64::try_from(header.base).ok();
        }
        let holder = holder_of(found);
        let (pending, revision) =
            self.commit_replay(stack, writer, found, &holder, replay, current.as_ref()).await?;
        let entries = journal.entries.len();
        let steps = journal.entries.iter().filter(|entry| entry.kind.ends_a_step()).count();
        Ok(Some(Recovery::Replayed { holder, entries, steps, pending, revision }))
    }

    /// Sets a journal aside that cannot be brought in.
    async fn orphan(&self, stack: &StackId, found: &Found) -> Result<Recovery> {
        let journal = self.keep(stack, found, ORPHAN).await?;
        Ok(Recovery::Orphaned { holder: holder_of(found), entries: found.journal.entries.len(), journal })
    }

    /// Carries out what a dead holder had decided, if it had not. Where another tool has changed the stack since, the
    /// journals that the decision was made of are set aside.
    async fn finish(
        &self,
        stack: &StackId,
        found: &Found,
        decision: &Decision,
        replayed: &[&Found],
    ) -> Result<Option<Recovery>> {
        if let Some(moves) = &decision.relocation {
            self.carry_out_relocation(moves).await?;
            return Ok(None);
        }
        if decision.path.is_empty() {
            return Ok(None);
        }
        let known = self.known(stack).await?;
        let decided = decision.revision.as_ref().map(|info| info.number);
        if known.is_some_and(|known| known.revision >= decided) {
            // It was carried out, but for the description maybe.
            if let Some(info) = &decision.revision {
                Revisions::new(self, stack).record(info).await?;
            }
            return Ok(None);
        }
        if let Carried::Current(_) = self.carry_out(stack, decision, None).await? {
            let revision = decision.revision.as_ref().map(number_of);
            return Ok(revision.map(|revision| Recovery::Finished { holder: holder_of(found), revision }));
        }
        let mut recovery = None;
        for journal in replayed.iter().copied().chain([found]) {
            if !journal.journal.entries.is_empty() {
                recovery = Some(self.orphan(stack, journal).await?);
            }
        }
        Ok(recovery)
    }

    /// Commits what a journal says; gives the number of pending operations and the revision. The decision names the
    /// journal, so that dying here and starting over brings it in once.
    async fn commit_replay(
        &self,
        stack: &StackId,
        writer: Writer<'_>,
        found: &Found,
        holder: &LeaseInfo,
        replay: Replay,
        current: Option<&Document>,
    ) -> Result<(usize, u64)> {
        let Replay { snapshot, byte_strings, .. } = replay;
        let pending = snapshot.pending_operations.len();
        let publish = Publish {
            title: format!("recovered `{}` of {}", holder.purpose, holder.holder()),
            snapshot,
            byte_strings,
            ..Publish::default()
        };
        let announced: Vec<String> =
            found.journal.publications.iter().map(|publication| publication.hash.clone()).collect();
        let replaces = Replaces { current, announced: &announced, replays: vec![found.name.clone()] };
        let published = self.publish_snapshot(stack, writer, replaces, publish).await?;
        Ok((pending, published.revision))
    }

    /// Replays a journal over the revision that it began with.
    pub(super) async fn replayed(&self, stack: &StackId, journal: frames::ReadJournal) -> Result<Replay> {
        let base = match &journal.header {
            Some(header) => self.base(stack, header).await?,
            None => None,
        };
        Ok(Replay::of(base, journal, self.host().now(), &self.options().diy.tool_version))
    }

    /// The snapshot that a journal began with: its revision's, or where that is damaged or gone the current one, if it
    /// is still the same.
    async fn base(&self, stack: &StackId, header: &Header) -> Result<Option<Recorded>> {
        let revision = u64::try_from(header.base).unwrap_or(0);
        let text = match Revisions::new(self, stack).read(stack, revision).await {
            Ok((info, text)) if info.hash == header.base_hash => text,
            Ok(_) | Err(Error::NoRevision { .. } | Error::Corrupt { .. }) => {
                match self.read_current(stack).await? {
                    Some((_, text)) if document::hash(&text) == header.base_hash => text,
                    _ => return Ok(None),
                }
            }
            Err(error) => return Err(error),
        };
        document::parse(self.bucket().location(&layout::revisions(stack)), &text).map(Some)
    }

    /// Keeps a journal for somebody to look at, as one object in the form that a directory has it; gives its name.
    async fn keep(&self, stack: &StackId, found: &Found, ending: &str) -> Result<String> {
        let mut file = Vec::new();
        for &number in found.numbers.iter().filter(|&&number| number >= found.start.unwrap_or(0)) {
            let path = keys::segment(stack, &found.name, number);
            if let Some(object) = self.bucket().read(&path).await? {
                file.extend_from_slice(&object.content);
            }
        }
        let name = format!("{}{ending}", found.name);
        self.bucket().overwrite(&format!("{}/{name}", layout::journals(stack)), file).await?;
        Ok(name)
    }

    /// Keeps the journal of a running update of which not everything can be used.
    pub(super) async fn keep_running(&self, stack: &StackId, name: &str) -> Result<()> {
        let journals = self.journals(stack).await?;
        let numbers = journals.open.get(name).cloned().unwrap_or_default();
        let found = self.read_journal(stack, name, &numbers).await?;
        self.keep(stack, &found, DAMAGED).await.map(drop)
    }

    /// Journals that wait for `state doctor` (S20).
    pub(super) async fn orphans(&self, stack: &StackId, kept: &[String]) -> Result<Vec<Orphan>> {
        let mut orphans = Vec::new();
        for name in kept.iter().filter(|name| is_kept(name)) {
            let path = format!("{}/{name}", layout::journals(stack));
            // Settled between the listing and the reading.
            let Some(object) = self.bucket().read(&path).await? else { continue };
            let journal = frames::read(&object.content);
            let header = journal.header.clone().unwrap_or_default();
            let entries = journal.entries.len();
            orphans.push(Orphan {
                replayed: name.ends_with(DAMAGED),
                journal: name.clone(),
                started: locks::moment(&header.lease.since),
                holder: header.lease,
                entries,
                base: u64::try_from(header.base).unwrap_or(0),
                snapshot: self.replayed(stack, journal).await?.snapshot,
            });
        }
        Ok(orphans)
    }

    /// Sets aside for good a journal that somebody has dealt with. A name that is no orphan's is refused.
    pub(super) async fn settle_orphan(&self, stack: &StackId, journal: &str) -> Result<()> {
        let path = format!("{}/{journal}", layout::journals(stack));
        let is_there = is_kept(journal) && self.bucket().copy(&path, &format!("{path}{SETTLED}")).await?;
        if !is_there {
            let source = std::io::Error::new(std::io::ErrorKind::NotFound, "there is no such orphan");
            return Err(Error::Io { action: "settling", path: self.bucket().location(&path), source });
        }
        self.bucket().remove(&[path]).await
    }

    /// Revisions that a journal points into, which pruning must leave.
    pub(super) async fn pinned_revisions(&self, stack: &StackId) -> Result<BTreeSet<u64>> {
        let journals = self.journals(stack).await?;
        let mut pinned = BTreeSet::new();
        for name in journals.kept.iter().filter(|name| is_kept(name)) {
            let object = self.bucket().read(&format!("{}/{name}", layout::journals(stack))).await?;
            let header = object.and_then(|object| frames::read(&object.content).header);
            pinned.extend(header.and_then(|header| u64::try_from(header.base).ok()));
        }
        for (name, numbers) in &journals.open {
            let header = self.read_journal(stack, name, numbers).await?.journal.header;
            pinned.extend(header.and_then(|header| u64::try_from(header.base).ok()));
        }
        Ok(pinned)
    }

    /// Deletes what is left of journals that were dealt with long ago.
    async fn forget_tombstones(&self, settled: &BTreeMap<String, Vec<super::requests::Found>>) -> Result<()> {
        let now = self.host().now();
        let is_old = |found: &super::requests::Found| now.duration_since(found.modified) > TOMBSTONES_STAY;
        let old = settled.values().filter(|left| left.iter().all(is_old)).flatten();
        self.bucket().remove(&old.map(|found| found.path.clone()).collect::<Vec<_>>()).await
    }
}

/// Whose journal it is. Where only a decision is left of it, that says so.
fn holder_of(found: &Found) -> Box<LeaseInfo> {
    let header = found.journal.header.as_ref().map(|header| &header.lease);
    let lease = header.or(found.decision.as_ref().and_then(|decision| decision.lease.as_ref()));
    let heartbeat = found.written.map(|written| written.to_string());
    Box::new(LeaseInfo { heartbeat, ..lease.cloned().unwrap_or_default() })
}

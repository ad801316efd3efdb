//! What the next holder does with what the last one left (S5, S12, S20).
//!
//! A journal that has rows was not committed: a commit deletes them in its own transaction. Nobody adds to it once the
//! lease has changed hands. It is brought in, or set aside, in one transaction again.

use super::PostgresStore;
use super::connections::{Statement, Value, values};
use super::heartbeat::Heartbeat;
use super::leases::{From, Leases};
use super::sealing::{kept_path, part_path};
use super::writes::{Change, Writer};
use crate::diy::document::{self, Publish};
use crate::diy::frames::{self, Header, ReadJournal};
use crate::diy::layout;
use crate::diy::locks;
use crate::diy::replay::{DAMAGED, ORPHAN, Replay, is_kept};
use crate::{Claim, Error, LeaseInfo, Orphan, Recorded, Recovery, Result, StackId};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// A journal as it was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) name: String,
    /// Where it begins.
    pub(super) start: i64,
    /// The position after the last.
    pub(super) next: i64,
    /// Everything in it, in the form that a directory has it.
    file: Vec<u8>,
    pub(super) journal: ReadJournal,
    /// When its holder last wrote.
    written: Option<Timestamp>,
}

impl PostgresStore {
    /// Puts in order what dead or fenced holders left: commits what they had journaled.
    pub(super) async fn bring_in_all(&self, stack: &StackId, writer: &Writer) -> Result<Recovery> {
        let mut recovery = Recovery::Nothing;
        for found in self.journals(stack).await? {
            if found.name != writer.journal()
                && let Some(outcome) = self.bring_in(stack, writer, &found).await?
            {
                recovery = outcome;
            }
        }
        Ok(recovery)
    }

    /// Puts in order what oneself left, when it is not known what was written last.
    pub(super) async fn recover_own(&self, stack: &StackId, lease: &LeaseInfo) -> Result<()> {
        let claim = Claim::new(lease.purpose.clone());
        match Leases::new(self, stack).take(&claim, From::Self_(&lease.nonce)).await {
            Ok(taken) => self.settle_and_release(stack, &taken.lease).await.map(drop),
            Err(Error::Fenced { .. } | Error::Held { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Puts a stack in order and gives its lease back.
    pub(super) async fn settle_and_release(&self, stack: &StackId, lease: &LeaseInfo) -> Result<Recovery> {
        let writer = Writer::new(self, stack, lease);
        let heartbeat = Heartbeat::start(self, stack, lease)?;
        let settled = self.bring_in_all(stack, &writer).await;
        drop(heartbeat);
        Leases::new(self, stack).release(lease).await?;
        settled
    }

    /// The journals of a stack that wait to be brought in, or are being written, oldest first.
    pub(super) async fn journals(&self, stack: &StackId) -> Result<Vec<Found>> {
        let statement = Statement {
            sql: format!(
                "SELECT journal, position, content, written FROM {} WHERE stack = $1 ORDER BY journal, position",
                self.tables().journals
            ),
            values: values![self.key_of(stack)],
        };
        let mut journals: Vec<Found> = Vec::new();
        let mut announced = Vec::new();
        for row in self.ask("reading", &layout::journals(stack), &statement).await? {
            let (name, position): (&str, i64) = (row.get(0), row.get(1));
            let content = self.opened(&part_path(stack, name, position), row.get(2))?;
            if journals.last().is_none_or(|found| found.name != name) {
                journals.push(Found { name: name.to_owned(), start: position.max(0), ..Found::default() });
                announced = Vec::new();
            }
            let Some(found) = journals.last_mut() else { continue };
            if position < 0 {
                announced = content;
                continue;
            }
            if found.file.is_empty() {
                found.start = position;
            }
            found.file.extend_from_slice(&content);
            if !announced.is_empty() {
                found.file.append(&mut announced);
            }
            found.next = position + 1;
            found.written = Some(row.get(3));
        }
        for found in &mut journals {
            found.journal = frames::read(&found.file);
        }
        Ok(journals)
    }

    /// Makes of a journal what there is to make of it.
    async fn bring_in(&self, stack: &StackId, writer: &Writer, found: &Found) -> Result<Option<Recovery>> {
        let journal = &found.journal;
        let forget = self.forget_journal(stack, &found.name);
        if journal.entries.is_empty() && !journal.damaged {
            writer.run(&[forget]).await?;
            return Ok(None);
        }
        let header = journal.header.clone().unwrap_or_default();
        let mut current = self.document(stack).await?.map(|(document, _)| document);
        let current_hash = current.as_ref().map_or("", |document| document.hash.as_str());
        let is_checkpoint = journal.publications.iter().any(|publication| publication.hash == current_hash);
        let ours = current_hash == header.base_hash || is_checkpoint;
        let replay = self.replayed(stack, journal.clone()).await?;
        let entries = journal.entries.len();
        let holder = Box::new(LeaseInfo {
            heartbeat: found.written.map(|written| format!("{written:.3}")),
            ..header.lease.clone()
        });
        if !ours || header.stack != stack.qualified() || !replay.has_base {
            let name = format!("{}{ORPHAN}", found.name);
            writer.run(&[self.keep(stack, &name, &found.file)?, forget]).await?;
            return Ok(Some(Recovery::Orphaned { holder, entries, journal: name }));
        }
        if let Some(document) = current.as_mut().filter(|_| is_checkpoint) {
            // A checkpoint on the way is no revision of its own.
            document.revision = u64::try_from(header.base).ok();
        }
        let Replay { snapshot, byte_strings, damaged, .. } = replay;
        let pending = snapshot.pending_operations.len();
        let publish = Publish {
            title: format!("recovered `{}` of {}", holder.purpose, holder.holder()),
            snapshot,
            byte_strings,
            ..Publish::default()
        };
        let mut prepared = self.prepare(stack, writer, current.as_ref(), publish).await?;
        if damaged {
            prepared.changes.push(self.keep(stack, &format!("{}{DAMAGED}", found.name), &found.file)?);
        }
        prepared.changes.push(forget);
        writer.run(&prepared.changes).await?;
        let steps = journal.entries.iter().filter(|entry| entry.kind.ends_a_step()).count();
        Ok(Some(Recovery::Replayed { holder, entries, steps, pending, revision: prepared.revision }))
    }

    /// A change that deletes a journal of which everything is in the current document, or kept.
    pub(super) fn forget_journal(&self, stack: &StackId, name: &str) -> Change {
        Change::new(
            format!("DELETE FROM {} WHERE stack = $1 AND journal = $2", self.tables().journals),
            values![self.key_of(stack), name],
        )
    }

    /// A change that keeps a journal for somebody to look at.
    fn keep(&self, stack: &StackId, name: &str, file: &[u8]) -> Result<Change> {
        let base = frames::head(file).map(|(header, _)| header.base);
        let content = self.sealed(&kept_path(stack, name), file.to_vec())?;
        let mut values = values![self.key_of(stack), name, content];
        values.push(Value::MaybeNumber(base));
        Ok(Change::new(
            format!(
                "INSERT INTO {} (stack, journal, settled, base, content) VALUES ($1, $2, false, $4, $3)
                 ON CONFLICT (stack, journal) DO UPDATE SET content = excluded.content",
                self.tables().kept
            ),
            values,
        ))
    }

    /// A change that keeps the journal of a running update of which not everything can be used.
    pub(super) async fn keep_running(&self, stack: &StackId, name: &str) -> Result<Option<Change>> {
        let found = self.journals(stack).await?.into_iter().find(|found| found.name == name);
        found.map(|found| self.keep(stack, &format!("{name}{DAMAGED}"), &found.file)).transpose()
    }

    /// Replays a journal over the revision that it began with.
    pub(super) async fn replayed(&self, stack: &StackId, journal: ReadJournal) -> Result<Replay> {
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
        let text = match self.revision(stack, revision).await {
            Ok((info, text)) if info.hash == header.base_hash => text,
            Ok(_) | Err(Error::NoRevision { .. } | Error::Corrupt { .. }) => {
                match self.document(stack).await? {
                    Some((document, text)) if document.hash == header.base_hash => text,
                    _ => return Ok(None),
                }
            }
            Err(error) => return Err(error),
        };
        document::parse(self.location(&layout::revisions(stack)), &text).map(Some)
    }

    /// Journals that wait for `state doctor` (S20).
    pub(super) async fn orphans(&self, stack: &StackId) -> Result<Vec<Orphan>> {
        let statement = Statement {
            sql: format!(
                "SELECT journal, content FROM {} WHERE stack = $1 AND NOT settled ORDER BY journal",
                self.tables().kept
            ),
            values: values![self.key_of(stack)],
        };
        let mut orphans = Vec::new();
        for row in self.ask("reading", &layout::journals(stack), &statement).await? {
            let name: String = row.get(0);
            let journal = frames::read(&self.opened(&kept_path(stack, &name), row.get(1))?);
            let header = journal.header.clone().unwrap_or_default();
            let entries = journal.entries.len();
            orphans.push(Orphan {
                replayed: name.ends_with(DAMAGED),
                journal: name,
                started: locks::moment(&header.lease.since),
                holder: header.lease,
                entries,
                base: u64::try_from(header.base).unwrap_or(0),
                snapshot: self.replayed(stack, journal).await?.snapshot,
            });
        }
        Ok(orphans)
    }

    /// A change that sets aside for good a journal that somebody has dealt with. A name that is no orphan's is refused.
    pub(super) async fn settle_orphan(&self, stack: &StackId, journal: &str) -> Result<Change> {
        let kept = &self.tables().kept;
        let values = values![self.key_of(stack), journal];
        let sql = format!("SELECT 1 FROM {kept} WHERE stack = $1 AND journal = $2 AND NOT settled");
        let look = Statement { sql, values: values.clone() };
        let path = format!("{}/{journal}", layout::journals(stack));
        if !is_kept(journal) || self.ask("reading", &path, &look).await?.is_empty() {
            let source = std::io::Error::new(std::io::ErrorKind::NotFound, "there is no such orphan");
            return Err(Error::Io { action: "settling", path: self.location(&path), source });
        }
        let sql = format!("UPDATE {kept} SET settled = true WHERE stack = $1 AND journal = $2");
        Ok(Change::new(sql, values))
    }

    /// Revisions that a journal points into, which pruning must leave.
    pub(super) async fn pinned_revisions(&self, stack: &StackId) -> Result<BTreeSet<u64>> {
        let mut pinned = BTreeSet::new();
        for found in self.journals(stack).await? {
            pinned.extend(found.journal.header.and_then(|header| u64::try_from(header.base).ok()));
        }
        let statement = Statement {
            sql: format!("SELECT base FROM {} WHERE stack = $1 AND NOT settled", self.tables().kept),
            values: values![self.key_of(stack)],
        };
        for row in self.ask("reading", &layout::journals(stack), &statement).await? {
            let base: Option<i64> = row.get(0);
            pinned.extend(base.and_then(|base| u64::try_from(base).ok()));
        }
        Ok(pinned)
    }
}

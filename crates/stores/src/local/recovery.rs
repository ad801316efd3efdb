//! What the next holder does with what the last one left (S5, S12, S20).

use super::LocalStore;
use super::checkpoint::{self, Document};
use super::commit::Writer;
use super::leases::Guard;
use crate::disk;
use crate::diy::document::{self, Publish};
use crate::diy::frames::{self, Frame, Publication, ReadJournal};
use crate::diy::replay::{DAMAGED, ORPHAN, Replay, SETTLED, is_kept};
use crate::diy::{layout, locks};
use crate::{Error, LeaseInfo, Orphan, Recorded, Recovery, Result, StackId};

pub(crate) const JOURNAL: &str = ".journal";

impl LocalStore {
    /// Puts in order what a dead or fenced holder left: a move cut short, a prepared revision, a journal.
    pub(crate) fn settle(&self, stack: &StackId, lease: &LeaseInfo, guard: &Guard) -> Result<Recovery> {
        let writer = Writer { lease, guard: Some(guard) };
        self.finish_relocation(stack)?;
        self.sweep(stack)?;
        let journals = self.journal_names(stack, JOURNAL)?;
        let revisions = self.revisions(stack);
        if journals.is_empty() && !revisions.is_unsettled()? {
            return Ok(Recovery::Nothing);
        }
        let mut recovery = Recovery::Nothing;
        let mut current = self.document(stack)?;
        revisions.settle(current.as_ref().map(|document| document.hash.as_str()))?;
        for name in journals {
            if let Some(found) = self.settle_journal(stack, writer, &name, current.as_ref())? {
                recovery = found;
                current = self.document(stack)?;
            }
        }
        Ok(recovery)
    }

    /// Deletes what dead writers of this stack were writing.
    fn sweep(&self, stack: &StackId) -> Result<()> {
        let checkpoint = layout::checkpoint(stack);
        let file = checkpoint.rsplit('/').next().unwrap_or_default();
        let tags = layout::tags(stack);
        let tags = tags.rsplit('/').next().unwrap_or_default();
        disk::sweep(self.disk(), disk::folder_of(&checkpoint), |name| {
            let rest = name.strip_prefix(file).map(|rest| rest.trim_end_matches(".bak"));
            matches!(rest, Some("" | ".gz" | ".zst")) || name == tags
        })?;
        disk::sweep(self.disk(), &layout::lease(stack), |_| true)?;
        disk::sweep(self.disk(), &layout::journals(stack), |_| true)?;
        self.revisions(stack).sweep()
    }

    fn settle_journal(
        &self,
        stack: &StackId,
        writer: Writer<'_>,
        name: &str,
        current: Option<&Document>,
    ) -> Result<Option<Recovery>> {
        let path = format!("{}/{name}", layout::journals(stack));
        let file = self.disk().read(&path).map_err(Error::io("reading", self.disk().location(&path)))?;
        let journal = frames::read(&file);
        let header = journal.header.clone().unwrap_or_default();
        let mut holder = Box::new(header.lease);
        if holder.heartbeat.is_none() {
            // Whatever it did last, it wrote down.
            holder.heartbeat = self.last_write(&path)?;
        }
        let current_hash = current.map_or("", |document| document.hash.as_str());
        let committed =
            journal.publications.iter().find(|it| it.revision.is_some() && it.hash == current_hash);
        if let Some(revision) = committed.and_then(|publication| publication.revision) {
            disk::remove_if_there(self.disk(), &path)?;
            return Ok(Some(Recovery::Finished { holder, revision: u64::try_from(revision).unwrap_or(0) }));
        }
        if journal.entries.is_empty() && !journal.damaged {
            disk::remove_if_there(self.disk(), &path)?;
            return Ok(None);
        }
        let ours = current_hash == header.base_hash
            || journal.publications.iter().any(|publication| publication.hash == current_hash);
        let entries = journal.entries.len();
        let steps = journal.entries.iter().filter(|entry| entry.kind.ends_a_step()).count();
        let sound_length = journal.sound_length;
        let replay = self.replayed(stack, journal)?;
        if !ours || header.stack != stack.qualified() || !replay.has_base {
            let kept = name.replace(JOURNAL, ORPHAN);
            disk::rename(self.disk(), &path, &format!("{}/{kept}", layout::journals(stack)))?;
            disk::sync_folder(self.disk(), &layout::journals(stack))?;
            return Ok(Some(Recovery::Orphaned { holder, entries, journal: kept }));
        }
        self.commit_replay(stack, writer, (name, sound_length), &holder, replay, current)
            .map(|(pending, revision)| Some(Recovery::Replayed { holder, entries, steps, pending, revision }))
    }

    /// When a file was written last, RFC 3339.
    fn last_write(&self, path: &str) -> Result<Option<String>> {
        let stat = disk::stat(self.disk(), path)?;
        let moment = stat.and_then(|stat| jiff::Timestamp::from_nanosecond(stat.modified).ok());
        Ok(moment.map(|moment| moment.to_string()))
    }

    /// Commits what a journal says; gives the number of pending operations and the revision. The journal itself records
    /// the document that this makes, so that dying here and starting over is safe.
    fn commit_replay(
        &self,
        stack: &StackId,
        writer: Writer<'_>,
        (name, sound_length): (&str, usize),
        holder: &LeaseInfo,
        replay: Replay,
        current: Option<&Document>,
    ) -> Result<(usize, u64)> {
        let Replay { snapshot, byte_strings, damaged, .. } = replay;
        let path = format!("{}/{name}", layout::journals(stack));
        let mut file =
            self.disk().open_append(&path).map_err(Error::io("opening", self.disk().location(&path)))?;
        file.truncate(sound_length as u64).map_err(Error::io("cutting", self.disk().location(&path)))?;
        let mut add = |frame: Frame| {
            let mut bytes = Vec::new();
            frame
                .write(&mut bytes)
                .map_err(std::io::Error::other)
                .and_then(|()| file.append(&bytes))
                .and_then(|()| file.sync())
                .map_err(Error::io("writing", self.disk().location(&path)))
        };
        add(Frame::Closed)?;
        let pending = snapshot.pending_operations.len();
        let publish = Publish {
            title: format!("recovered `{}` of {}", holder.purpose, holder.holder()),
            snapshot,
            byte_strings,
            ..Publish::default()
        };
        let published = self.publish_snapshot(stack, writer, current, publish, &mut |hash, revision| {
            let publication = Publication {
                hash: hash.to_owned(),
                revision: i64::try_from(revision).ok(),
                ..Publication::default()
            };
            add(Frame::Publication(publication))
        })?;
        if damaged {
            let kept = name.replace(JOURNAL, DAMAGED);
            disk::rename(self.disk(), &path, &format!("{}/{kept}", layout::journals(stack)))?;
        } else {
            disk::remove_if_there(self.disk(), &path)?;
        }
        Ok((pending, published.revision))
    }

    /// Replays a journal over the revision that it began with.
    pub(crate) fn replayed(&self, stack: &StackId, journal: ReadJournal) -> Result<Replay> {
        let base = match &journal.header {
            Some(header) => self.base(stack, header)?,
            None => None,
        };
        Ok(Replay::of(base, journal, self.host().now(), &self.options().tool_version))
    }

    /// The snapshot that a journal began with: its revision's, or where that is damaged or gone the current one, if it
    /// is still the same.
    fn base(&self, stack: &StackId, header: &frames::Header) -> Result<Option<Recorded>> {
        let revision = u64::try_from(header.base).unwrap_or(0);
        let text = match self.revisions(stack).read(stack, revision) {
            Ok((info, text)) if info.hash == header.base_hash => text,
            Ok(_) | Err(Error::NoRevision { .. } | Error::Corrupt { .. }) => {
                match checkpoint::read(self.disk(), stack)? {
                    Some((_, text)) if document::hash(&text) == header.base_hash => text,
                    _ => return Ok(None),
                }
            }
            Err(error) => return Err(error),
        };
        document::parse(self.disk().location(&layout::revisions(stack)), &text).map(Some)
    }

    /// Journals that wait for `state doctor` (S20).
    pub(crate) fn orphans(&self, stack: &StackId) -> Result<Vec<Orphan>> {
        let mut orphans = Vec::new();
        let names = disk::list(self.disk(), &layout::journals(stack))?.into_iter().map(|name| name.text);
        for name in names.filter(|name| is_kept(name)) {
            let path = format!("{}/{name}", layout::journals(stack));
            // Settled between the listing and the reading.
            let Some(file) = disk::read_if_there(self.disk(), &path)? else { continue };
            let journal = frames::read(&file);
            let header = journal.header.clone().unwrap_or_default();
            let holder: LeaseInfo = header.lease;
            let base = u64::try_from(header.base).unwrap_or(0);
            let entries = journal.entries.len();
            orphans.push(Orphan {
                replayed: name.ends_with(DAMAGED),
                journal: name,
                started: locks::moment(&holder.since),
                holder,
                entries,
                base,
                snapshot: self.replayed(stack, journal)?.snapshot,
            });
        }
        Ok(orphans)
    }

    /// Sets aside for good a journal that somebody has dealt with. A name that is no orphan's is refused.
    pub(crate) fn settle_orphan(&self, stack: &StackId, journal: &str) -> Result<()> {
        let path = format!("{}/{journal}", layout::journals(stack));
        let known = disk::list(self.disk(), &layout::journals(stack))?;
        if !is_kept(journal) || !known.iter().any(|name| name.text == journal) {
            let source = std::io::Error::new(std::io::ErrorKind::NotFound, "there is no such orphan");
            return Err(Error::Io { action: "settling", path: self.disk().location(&path), source });
        }
        disk::rename(self.disk(), &path, &format!("{path}{SETTLED}"))?;
        disk::sync_folder(self.disk(), &layout::journals(stack))
    }

    pub(crate) fn journal_names(&self, stack: &StackId, ending: &str) -> Result<Vec<String>> {
        let names = disk::list(self.disk(), &layout::journals(stack))?;
        Ok(names.into_iter().map(|name| name.text).filter(|name| name.ends_with(ending)).collect())
    }
}

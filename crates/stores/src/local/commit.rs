//! Making a snapshot current.

use super::LocalStore;
use super::checkpoint::{self, Document, Located, NewCheckpoint};
use super::leases::{Guard, LeaseFiles};
use crate::disk::{self, Staged};
use crate::diy::document::{self, Publish};
use crate::diy::outline::Outline;
use crate::diy::{layout, revision_number};
use crate::{Error, LeaseInfo, Result, RevisionInfo, StackId};
use drystone_model::{Json, Snapshot, Violation};
use std::collections::BTreeMap;

/// A document of this size takes longer to compress than a thread to start.
const WORTH_A_THREAD: usize = 64 * 1024;

/// A snapshot that is current now.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) revision: u64,
    pub(crate) previous: Option<u64>,
    pub(crate) violations: Vec<Violation>,
    pub(crate) document: Document,
    /// The guard that was taken for it, for what else belongs to the same change.
    pub(crate) guard: Option<Guard>,
}

/// Who is making a snapshot current.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writer<'a> {
    pub(crate) lease: &'a LeaseInfo,
    /// The guard, when the writer already holds it.
    pub(crate) guard: Option<&'a Guard>,
}

/// Called with the document's hash and revision before it becomes current.
pub(crate) type Announce<'a> = dyn FnMut(&str, u64) -> Result<()> + 'a;

impl LocalStore {
    /// Makes a revision of a snapshot and the snapshot current. Sound or not, it is recorded (S7).
    ///
    /// What takes long happens first, under names of its own. Then, under the guard, so that nobody can take the lease
    /// away in between: the lease is checked, the current document must still be the one that was read, and the steps
    /// follow in the order that survives a crash between any two.
    pub(crate) fn publish_snapshot(
        &self,
        stack: &StackId,
        writer: Writer<'_>,
        current: Option<&Document>,
        mut publish: Publish,
        announce: &mut Announce<'_>,
    ) -> Result<Published> {
        let tool = &self.options().tool_version;
        let violations = document::note_violations(&mut publish.snapshot, &publish.title, tool);
        let snapshot = std::mem::take(&mut publish.snapshot);
        let outline = current.map(|document| document.outline.clone()).unwrap_or_default();
        let rendered = self.render(stack, Some(snapshot), publish.byte_strings, &outline)?;
        let revisions = self.revisions(stack);
        let (checkpoint, content) = self.stage_both(stack, &rendered.text)?;
        let document =
            Document { located: checkpoint.located()?, hash: rendered.hash, outline: rendered.outline };
        drop(rendered.text);

        let files = self.leases(stack);
        let guard = self.guard_for(&files, writer)?;
        let now = self.unchanged(stack, current)?;
        let previous = current.map(|current| self.adopt(stack, current)).transpose()?;
        let revision = revisions.next()?;
        let info = RevisionInfo {
            number: revision_number(revision),
            parent: previous.map(revision_number),
            hash: document.hash.clone(),
            resources: document.outline.resources,
            violations: i64::try_from(violations.len()).unwrap_or(i64::MAX),
            ..publish.info(self.host().now(), writer.lease)
        };
        revisions.prepare(&info, content, Some(&document))?;
        announce(&document.hash, revision)?;
        checkpoint.publish(self.disk(), now.as_ref())?;
        revisions.record(revision)?;
        if self.options().retain_checkpoints {
            self.retain(stack, &document.located.path)?;
        }
        Ok(Published { revision, previous, violations, document, guard })
    }

    /// Takes the guard unless the writer has it, and checks that the lease is still the writer's. Nobody can take the
    /// lease away while the guard is held.
    pub(crate) fn guard_for(&self, files: &LeaseFiles<'_>, writer: Writer<'_>) -> Result<Option<Guard>> {
        let guard = if writer.guard.is_none() { Some(files.guard()?) } else { None };
        files.check(&writer.lease.nonce).map_err(|failure| failure.into_error(files.stack()))?;
        Ok(guard)
    }

    /// Writes the checkpoint and the revision's content, at the same time where there are threads.
    fn stage_both(&self, stack: &StackId, text: &[u8]) -> Result<(NewCheckpoint<'_>, Staged<'_>)> {
        let checkpoint = || checkpoint::stage(self.disk(), stack, None, text, self.options().compression);
        let content = || self.revisions(stack).stage(text);
        if !self.host().has_threads() || text.len() < WORTH_A_THREAD {
            return Ok((checkpoint()?, content()?));
        }
        std::thread::scope(|scope| {
            let content = scope.spawn(content);
            let checkpoint = checkpoint();
            let content = content.join().unwrap_or_else(|_| {
                Err(Error::Poisoned { reason: "the writer of the revision panicked".to_owned() })
            });
            Ok((checkpoint?, content?))
        })
    }

    /// Makes a document current without a revision, if the lease is held and the current one is still the one read.
    pub(crate) fn swap(
        &self,
        stack: &StackId,
        writer: Writer<'_>,
        current: Option<&Document>,
        staged: NewCheckpoint<'_>,
        announce: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let files = self.leases(stack);
        let _guard = self.guard_for(&files, writer)?;
        let now = self.unchanged(stack, current)?;
        announce()?;
        staged.publish(self.disk(), now.as_ref())
    }

    /// The current file, which must be the one that was read or one with the same content.
    fn unchanged(&self, stack: &StackId, current: Option<&Document>) -> Result<Option<Located>> {
        let now = checkpoint::locate(self.disk(), stack)?;
        let unchanged = match (current, &now) {
            (None, None) => true,
            (Some(document), Some(now)) if document.located == *now => true,
            // Rewritten with the same content: what it was based on still holds.
            (Some(document), Some(_)) => checkpoint::read(self.disk(), stack)?
                .is_some_and(|(_, text)| document::hash(&text) == document.hash),
            _ => false,
        };
        if unchanged { Ok(now) } else { Err(Error::Conflict { stack: stack.clone() }) }
    }

    /// What is known of the current document, read only when another tool wrote it. One that a newer tool wrote is
    /// refused (S9).
    pub(crate) fn document(&self, stack: &StackId) -> Result<Option<Document>> {
        let Some(located) = checkpoint::locate(self.disk(), stack)? else { return Ok(None) };
        if let Some(document) = self.revisions(stack).document_of(&located)? {
            return Ok(Some(document));
        }
        let Some((located, text)) = checkpoint::read(self.disk(), stack)? else { return Ok(None) };
        let outline = Outline::of(&text).map_err(|error| Error::Unsupported {
            path: self.disk().location(&located.path),
            reason: error.to_string(),
        })?;
        Ok(Some(Document { located, hash: document::hash(&text), outline }))
    }

    /// The revision of the current document; makes one when another tool wrote it, so that it can be returned to and
    /// a journal can point into it. Needs the guard.
    pub(crate) fn adopt(&self, stack: &StackId, document: &Document) -> Result<u64> {
        let revisions = self.revisions(stack);
        if let Some(known) = revisions.with_hash(&document.hash)? {
            return Ok(known);
        }
        let (located, text) =
            checkpoint::read(self.disk(), stack)?.ok_or_else(|| Error::Conflict { stack: stack.clone() })?;
        if located != document.located && document::hash(&text) != document.hash {
            return Err(Error::Conflict { stack: stack.clone() });
        }
        let number = revisions.next()?;
        let info = RevisionInfo {
            number: i64::try_from(number).unwrap_or(i64::MAX),
            parent: revisions.list()?.last().map(|info| info.number),
            time: self.host().now().to_string(),
            title: "found: written by another tool".to_owned(),
            hash: document.hash.clone(),
            resources: document.outline.resources,
            ..RevisionInfo::default()
        };
        revisions.prepare(&info, revisions.stage(&text)?, Some(document))?;
        revisions.record(number)?;
        Ok(number)
    }

    /// The document of a snapshot, with what stood around the state in the one before.
    fn render(
        &self,
        stack: &StackId,
        snapshot: Option<Snapshot>,
        byte_strings: bool,
        outline: &Outline,
    ) -> Result<document::Rendered> {
        let location = self.disk().location(&layout::checkpoint(stack));
        document::render(stack, snapshot, byte_strings, outline, location)
    }

    /// Writes a snapshot beside the checkpoint or in another folder; gives what would be known of it.
    pub(crate) fn stage_snapshot(
        &self,
        stack: &StackId,
        folder: Option<&str>,
        snapshot: Option<Snapshot>,
        byte_strings: bool,
        outline: &Outline,
    ) -> Result<(NewCheckpoint<'_>, Document, Vec<u8>)> {
        let rendered = self.render(stack, snapshot, byte_strings, outline)?;
        let compression = self.options().compression;
        let staged = checkpoint::stage(self.disk(), stack, folder, &rendered.text, compression)?;
        let located = staged.located()?;
        Ok((staged, Document { located, hash: rendered.hash, outline: rendered.outline }, rendered.text))
    }

    /// The history record and the backup that the stock CLI makes after an update. The documents in them are one more
    /// name of the checkpoint file, which is only ever replaced.
    pub(crate) fn write_history(&self, stack: &StackId, update: &Json) -> Result<()> {
        let nanos = self.host().now().as_nanosecond();
        let Some(current) = checkpoint::locate(self.disk(), stack)? else { return Ok(()) };
        let ending = current.path.strip_prefix(&layout::checkpoint(stack)).unwrap_or_default();
        let prefix = format!("{}/{}-{nanos}", layout::history(stack), stack.name());
        checkpoint::copy_to(self.disk(), &current.path, &format!("{prefix}.checkpoint.json{ending}"))?;
        let compression = self.options().compression;
        let path = format!("{prefix}.history.json{}", compression.ending());
        let record = document::compress(update.text().as_bytes(), compression)
            .map_err(Error::io("compressing", self.disk().location(&path)))?;
        disk::publish(self.disk(), &path, &record)?;
        if self.options().backups {
            let path = format!("{}/{}.{nanos}.json{ending}", layout::backups(stack), stack.name());
            checkpoint::copy_to(self.disk(), &current.path, &path)?;
        }
        Ok(())
    }

    pub(crate) fn write_tags(&self, stack: &StackId, tags: &BTreeMap<String, String>) -> Result<()> {
        let path = layout::tags(stack);
        disk::remove_if_there(self.disk(), &format!("{path}.attrs"))?;
        match document::tags_file(tags) {
            Some(file) => disk::publish(self.disk(), &path, &file),
            None => disk::remove_if_there(self.disk(), &path),
        }
    }

    /// Keeps the checkpoint under a name with its time.
    fn retain(&self, stack: &StackId, path: &str) -> Result<()> {
        let ending = path.strip_prefix(&layout::checkpoint(stack)).unwrap_or_default();
        let nanos = self.host().now().as_nanosecond();
        checkpoint::copy_to(self.disk(), path, &format!("{}{ending}.{nanos}", layout::checkpoint(stack)))
    }
}

//! Making a snapshot current.

use super::checkpoint::{self, Document};
use super::group_commit::Failure;
use super::layout;
use super::leases::Guard;
use super::revisions;
use super::{Compression, LocalStore};
use crate::disk;
use crate::{Error, LeaseInfo, Recorded, Result, RevisionInfo, StackId};
use drystone_dialects::pulumi::{self, Checkpoint, ReadError};
use drystone_model::{IntegrityErrorRecord, Json, Severity, Snapshot, Violation};
use std::collections::BTreeMap;

/// A snapshot on its way to being current.
#[derive(Debug, Default)]
pub(crate) struct Publish {
    pub(crate) title: String,
    pub(crate) message: String,
    pub(crate) snapshot: Snapshot,
    pub(crate) byte_strings: bool,
    pub(crate) restores: Option<u64>,
}

/// A snapshot that is current now.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) revision: u64,
    pub(crate) previous: Option<u64>,
    pub(crate) violations: Vec<Violation>,
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
    pub(crate) fn publish_snapshot(
        &self,
        stack: &StackId,
        writer: Writer<'_>,
        current: Option<&Document>,
        publish: Publish,
        announce: &mut Announce<'_>,
    ) -> Result<Published> {
        let Publish { title, message, mut snapshot, byte_strings, restores } = publish;
        let violations = note_violations(&mut snapshot, &title, &self.options().tool_version);
        let previous = current.map(|document| self.adopt(stack, document)).transpose()?;
        let resources = snapshot.resources.len();
        let text = self.render(stack, Some(snapshot), byte_strings)?;
        let hash = checkpoint::hash(&text);
        let info = RevisionInfo {
            parent: previous.and_then(|number| i64::try_from(number).ok()),
            time: self.host().now().to_string(),
            title,
            by: format!("{}@{}", writer.lease.user, writer.lease.host),
            message,
            hash,
            resources: i64::try_from(resources).unwrap_or(i64::MAX),
            violations: i64::try_from(violations.len()).unwrap_or(i64::MAX),
            restores: restores.and_then(|number| i64::try_from(number).ok()),
            ..RevisionInfo::default()
        };
        let revision = self.publish_text(stack, writer, current, info, &text, announce)?;
        Ok(Published { revision, previous, violations })
    }

    /// Steps of a commit in the order that survives a crash between any two.
    fn publish_text(
        &self,
        stack: &StackId,
        writer: Writer<'_>,
        current: Option<&Document>,
        mut info: RevisionInfo,
        text: &[u8],
        announce: &mut Announce<'_>,
    ) -> Result<u64> {
        let revisions = self.revisions(stack);
        let revision = revisions.next()?;
        info.number = i64::try_from(revision).unwrap_or(i64::MAX);
        let staged = checkpoint::stage(self.disk(), stack, text, self.options().compression)?;
        revisions.prepare(&info, text)?;
        announce(&info.hash, revision)?;
        self.swap(stack, writer, current, staged)?;
        revisions.record(revision)?;
        if self.options().retain_checkpoints {
            self.retain(stack, text)?;
        }
        Ok(revision)
    }

    /// Replaces the current document, if it is still the one that was read and the lease is still held.
    pub(crate) fn swap(
        &self,
        stack: &StackId,
        writer: Writer<'_>,
        current: Option<&Document>,
        staged: checkpoint::Staged,
    ) -> Result<()> {
        let files = self.leases(stack);
        // Nobody can take the lease away between the check and the rename.
        let _guard = if writer.guard.is_none() { Some(files.guard()?) } else { None };
        files.check(&writer.lease.nonce).map_err(|failure| failed(stack, failure))?;
        let now = checkpoint::locate(self.disk(), stack)?;
        let unchanged = match (current, &now) {
            (None, None) => true,
            (Some(document), Some(now)) if document.located == *now => true,
            // Rewritten with the same content: what it was based on still holds.
            (Some(document), Some(_)) => {
                checkpoint::read(self.disk(), stack)?.is_some_and(|read| read.hash == document.hash)
            }
            _ => false,
        };
        if !unchanged {
            return Err(Error::Conflict { stack: stack.clone() });
        }
        staged.publish(self.disk(), now.as_ref())
    }

    /// The revision of the current document; makes one when another tool wrote it, so that it can be returned to and
    /// a journal can point into it.
    pub(crate) fn adopt(&self, stack: &StackId, document: &Document) -> Result<u64> {
        let revisions = self.revisions(stack);
        let known = revisions.list()?;
        if let Some(info) = known.iter().rev().find(|info| info.hash == document.hash) {
            return Ok(revisions::number(info));
        }
        let number = revisions.next()?;
        let resources = pulumi::peek(&document.text)
            .ok()
            .and_then(|peeked| peeked.state)
            .map_or(0, |state| state.resources);
        let info = RevisionInfo {
            number: i64::try_from(number).unwrap_or(i64::MAX),
            parent: known.last().map(|info| info.number),
            time: self.host().now().to_string(),
            title: "found: written by another tool".to_owned(),
            hash: document.hash.clone(),
            resources: i64::try_from(resources).unwrap_or(i64::MAX),
            ..RevisionInfo::default()
        };
        revisions.prepare(&info, &document.text)?;
        revisions.record(number)?;
        Ok(number)
    }

    /// The document of a snapshot.
    pub(crate) fn render(
        &self,
        stack: &StackId,
        snapshot: Option<Snapshot>,
        byte_strings: bool,
    ) -> Result<Vec<u8>> {
        let path = layout::checkpoint(stack);
        let checkpoint = Checkpoint { byte_strings, ..Checkpoint::new(stack.qualified(), snapshot) };
        checkpoint
            .to_vec()
            .map_err(|error| Error::Corrupt { path: self.disk().location(&path), reason: error.to_string() })
    }

    /// Reads a document.
    pub(crate) fn parse(&self, path: &str, text: &[u8]) -> Result<Recorded> {
        let checkpoint = Checkpoint::read(text).map_err(|error| {
            let path = self.disk().location(path);
            let reason = error.to_string();
            if is_unsupported(&error) {
                Error::Unsupported { path, reason }
            } else {
                Error::Corrupt { path, reason }
            }
        })?;
        Ok(Recorded {
            revision: None,
            hash: String::new(),
            ever_written: checkpoint.snapshot.is_some(),
            snapshot: checkpoint.snapshot.unwrap_or_default(),
            byte_strings: checkpoint.byte_strings,
        })
    }

    /// The history record and the backup that the stock CLI makes after an update.
    pub(crate) fn write_history(&self, stack: &StackId, update: &Json) -> Result<()> {
        let nanos = self.host().now().as_nanosecond();
        let compression = self.options().compression;
        let ending = compression.ending();
        let Some(document) = checkpoint::read(self.disk(), stack)? else { return Ok(()) };
        let prefix = format!("{}/{}-{nanos}", layout::history(stack), stack.name());
        self.write_compressed(&format!("{prefix}.checkpoint.json{ending}"), &document.text, compression)?;
        self.write_compressed(
            &format!("{prefix}.history.json{ending}"),
            update.text().as_bytes(),
            compression,
        )?;
        if self.options().backups {
            let path = format!("{}/{}.{nanos}.json{ending}", layout::backups(stack), stack.name());
            self.write_compressed(&path, &document.text, compression)?;
        }
        Ok(())
    }

    pub(crate) fn write_tags(&self, stack: &StackId, tags: &BTreeMap<String, String>) -> Result<()> {
        let path = layout::tags(stack);
        disk::remove_if_there(self.disk(), &format!("{path}.attrs"))?;
        if tags.is_empty() {
            return disk::remove_if_there(self.disk(), &path);
        }
        let file = serde_json::json!({ "version": 1, "tags": tags }).to_string();
        disk::publish(self.disk(), &path, file.as_bytes())
    }

    fn retain(&self, stack: &StackId, text: &[u8]) -> Result<()> {
        let compression = self.options().compression;
        let nanos = self.host().now().as_nanosecond();
        let path = format!("{}{}.{nanos}", layout::checkpoint(stack), compression.ending());
        self.write_compressed(&path, text, compression)
    }

    fn write_compressed(&self, path: &str, text: &[u8], compression: Compression) -> Result<()> {
        if compression == Compression::None {
            return disk::publish(self.disk(), path, text);
        }
        let file = checkpoint::compress(text, compression)
            .map_err(Error::io("compressing", self.disk().location(path)))?;
        disk::publish(self.disk(), path, &file)
    }
}

/// Marks a snapshot that breaks rules with the first of them, and a sound one with none (S7).
fn note_violations(snapshot: &mut Snapshot, title: &str, version: &str) -> Vec<Violation> {
    let violations: Vec<Violation> = drystone_model::verify(snapshot)
        .into_iter()
        .filter(|violation| violation.severity() == Severity::Error)
        .collect();
    snapshot.metadata.integrity_error = violations.first().map(|violation| IntegrityErrorRecord {
        version: version.to_owned(),
        command: title.to_owned(),
        error: violation.to_string(),
        ..IntegrityErrorRecord::default()
    });
    violations
}

/// Whether a newer tool could read what this one cannot.
fn is_unsupported(error: &ReadError) -> bool {
    matches!(error, ReadError::TooNew { .. } | ReadError::UnsupportedFeatures { .. })
}

/// A failure of the journal or the fence, for the caller.
pub(crate) fn failed(stack: &StackId, failure: Failure) -> Error {
    match failure {
        Failure::Fenced { by } => Error::Fenced { stack: stack.clone(), by },
        Failure::Write { reason } => Error::Poisoned { reason },
    }
}

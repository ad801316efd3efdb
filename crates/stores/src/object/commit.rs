//! Making a snapshot current.
//!
//! A commit is decided in the journal of the lease: the segment with its decision is created, or it is not, because
//! somebody took the lease over and closed the journal first. Everything before the decision is invisible, everything
//! after it can be done by anyone who reads the decision, any number of times. So a holder that is fenced makes nothing
//! visible, and a holder that dies leaves nothing half done (S4, S5).

use super::documents::{Document, Located};
use super::leases::Leases;
use super::requests::{Version, Written};
use super::segments::SegmentWriter;
use super::{BucketStore, revisions::Revisions};
use crate::diy::document::{self, Publish, Rendered};
use crate::diy::frames::{Before, Decision, Frame};
use crate::diy::layout;
use crate::diy::outline::Outline;
use crate::diy::{number_of, revision_number};
use crate::{Error, LeaseInfo, Result, RevisionInfo, StackId};
use bytes::Bytes;
use drystone_model::{Json, Violation};
use std::collections::BTreeMap;

/// How often a document is put in its place while others change what stands there.
const TRIES: usize = 8;

/// Who is making a snapshot current.
#[derive(Debug, Clone, Copy)]
pub(super) struct Writer<'a> {
    pub(super) lease: &'a LeaseInfo,
    pub(super) segments: &'a SegmentWriter,
}

/// What a snapshot takes the place of.
#[derive(Debug, Default)]
pub(super) struct Replaces<'a> {
    /// The current document.
    pub(super) current: Option<&'a Document>,
    /// Hashes of documents that the same update had announced: one of them may have become current meanwhile.
    pub(super) announced: &'a [String],
    /// The journals of dead holders that the snapshot brings in.
    pub(super) replays: Vec<String>,
}

/// A snapshot that is current now.
#[derive(Debug)]
pub(super) struct Published {
    pub(super) revision: u64,
    pub(super) previous: Option<u64>,
    pub(super) violations: Vec<Violation>,
    pub(super) document: Document,
}

/// What came of carrying out a decision.
#[derive(Debug)]
pub(super) enum Carried {
    /// The document is current.
    Current(Box<Document>),
    /// Another tool has changed the checkpoint since: it stays as it is.
    Superseded,
}

impl BucketStore {
    /// Makes a revision of a snapshot and the snapshot current. Sound or not, it is recorded (S7).
    pub(super) async fn publish_snapshot(
        &self,
        stack: &StackId,
        writer: Writer<'_>,
        replaces: Replaces<'_>,
        mut publish: Publish,
    ) -> Result<Published> {
        let Replaces { current, announced, replays } = replaces;
        let violations = document::note_violations(
            &mut publish.snapshot,
            &publish.title,
            &self.options().diy.tool_version,
        );
        let time = publish.snapshot.manifest.time.clone();
        let outline = current.map(|document| document.outline.clone()).unwrap_or_default();
        let snapshot = std::mem::take(&mut publish.snapshot);
        let location = self.bucket().location(&layout::checkpoint(stack));
        let rendered = document::render(stack, Some(snapshot), publish.byte_strings, &outline, location)?;
        let previous = match current {
            Some(current) => Some(self.adopt(stack, current, writer.lease).await?),
            None => None,
        };
        let highest = previous.unwrap_or(0).max(current.map_or(0, |current| current.highest));
        let revisions = Revisions::new(self, stack);
        let revision = revisions.prepare(&rendered.text, highest, &writer.lease.nonce).await?;
        let info = RevisionInfo {
            number: revision_number(revision),
            parent: previous.map(revision_number),
            hash: rendered.hash,
            resources: rendered.outline.resources,
            violations: i64::try_from(violations.len()).unwrap_or(i64::MAX),
            ..publish.info(self.host().now(), writer.lease)
        };
        let decision = Decision {
            revision: Some(info),
            path: self.checkpoint_path(stack),
            before: current.map(|document| before(document, announced)),
            outline: Some(rendered.outline),
            time,
            replays,
            lease: Some(writer.lease.clone()),
            ..Decision::default()
        };
        let document = self.decide(stack, writer, &decision, Some(rendered.text)).await?;
        Ok(Published { revision, previous, violations, document })
    }

    /// Makes the stack, with no snapshot yet.
    pub(super) async fn create_empty(&self, stack: &StackId, writer: Writer<'_>) -> Result<Document> {
        let decision = Decision {
            path: self.checkpoint_path(stack),
            outline: Some(Outline::default()),
            lease: Some(writer.lease.clone()),
            ..Decision::default()
        };
        self.decide(stack, writer, &decision, None).await
    }

    /// Writes a decision down, which is the moment from which on it holds, and carries it out.
    async fn decide(
        &self,
        stack: &StackId,
        writer: Writer<'_>,
        decision: &Decision,
        text: Option<Vec<u8>>,
    ) -> Result<Document> {
        let frame = Frame::Decision(Box::new(decision.clone()));
        let at = writer.segments.write(&frame).await?;
        let carried = match self.carry_out(stack, decision, text).await {
            Ok(Carried::Current(document)) => Ok(*document),
            // The next holder may have carried it out and gone on from there.
            Ok(Carried::Superseded) => match Leases::new(self, stack).check(&writer.lease.nonce).await {
                Ok(()) => Err(Error::Conflict { stack: stack.clone() }),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        match &carried {
            Ok(_) => writer.segments.forget_before(at).await,
            Err(error) => writer.segments.give_up(error),
        }
        carried
    }

    /// Does what a decision says, as far as it has not been done: the checkpoint and its `.bak`, the description of the
    /// revision, the note of what is known.
    pub(super) async fn carry_out(
        &self,
        stack: &StackId,
        decision: &Decision,
        text: Option<Vec<u8>>,
    ) -> Result<Carried> {
        let text = match text {
            Some(text) => text,
            None => self.decided_text(stack, decision).await?,
        };
        let hash = document::hash(&text);
        let Some(version) = self.place(stack, decision, &text, &hash).await? else {
            return Ok(Carried::Superseded);
        };
        let revision = decision.revision.as_ref().map(number_of);
        let located = Located { path: decision.path.clone(), version };
        let document = Document {
            located,
            hash,
            outline: decision.outline.clone().unwrap_or_default(),
            revision,
            highest: revision.unwrap_or(0),
        };
        let record = async {
            match &decision.revision {
                Some(info) => Revisions::new(self, stack).record(info).await,
                None => Ok(()),
            }
        };
        let retain = self.retain(stack, &decision.path);
        futures::future::try_join3(record, self.note(stack, &document, &decision.time), retain).await?;
        Ok(Carried::Current(Box::new(document)))
    }

    /// The document that a decision makes current: its revision's, or the one of a stack without a snapshot.
    async fn decided_text(&self, stack: &StackId, decision: &Decision) -> Result<Vec<u8>> {
        let Some(info) = &decision.revision else {
            let location = self.bucket().location(&decision.path);
            return Ok(document::render(stack, None, false, &Outline::default(), location)?.text);
        };
        let number = number_of(info);
        let text = Revisions::new(self, stack).content(number).await?;
        let text = text.filter(|text| document::hash(text) == info.hash);
        text.ok_or_else(|| Error::NoRevision { stack: stack.clone(), revision: number })
    }

    /// Puts a decided document in the place of the one before. `None` when that is no longer there.
    async fn place(
        &self,
        stack: &StackId,
        decision: &Decision,
        text: &[u8],
        hash: &str,
    ) -> Result<Option<Version>> {
        let path = decision.path.as_str();
        let content = self.compressed(stack, path, text)?;
        match &decision.before {
            Some(before) if before.path != path => self.place_beside(before, path, hash, content).await,
            before => self.place_over(before.as_ref(), path, hash, &content).await,
        }
    }

    /// Writes a document over the one before, of which a `.bak` is made.
    async fn place_over(
        &self,
        before: Option<&Before>,
        path: &str,
        hash: &str,
        content: &Bytes,
    ) -> Result<Option<Version>> {
        for _ in 0..TRIES {
            let written = match self.standing(path, before, hash).await? {
                Standing::New(version) => return Ok(Some(version)),
                Standing::Before(version) => {
                    self.bucket().copy(path, &format!("{path}.bak")).await?;
                    self.bucket().replace(path, content.clone(), &version).await?
                }
                Standing::Nothing if before.is_none() => self.bucket().create(path, content.clone()).await?,
                Standing::Nothing | Standing::Other(_) => return Ok(None),
            };
            if let Written::Done(version) = written {
                return Ok(Some(version));
            }
        }
        Ok(None)
    }

    /// Writes a document under another name than the one before has, which becomes its own `.bak`.
    async fn place_beside(
        &self,
        before: &Before,
        path: &str,
        hash: &str,
        content: Bytes,
    ) -> Result<Option<Version>> {
        let bucket = self.bucket();
        let old = self.standing(&before.path, Some(before), hash).await?;
        let written = match (self.standing(path, None, hash).await?, &old) {
            (Standing::New(version), _) => Written::Done(version),
            (Standing::Nothing, Standing::Before(_)) => bucket.create(path, content).await?,
            // A compression of long ago that the one before had replaced.
            (Standing::Before(there) | Standing::Other(there), Standing::Before(_)) => {
                bucket.replace(path, content, &there).await?
            }
            _ => return Ok(None),
        };
        let Written::Done(version) = written else { return Ok(None) };
        if matches!(old, Standing::Before(_)) {
            bucket.copy(&before.path, &format!("{}.bak", before.path)).await?;
            bucket.remove(std::slice::from_ref(&before.path)).await?;
        }
        Ok(Some(version))
    }

    /// What stands where a checkpoint is, or is to be.
    async fn standing(&self, path: &str, before: Option<&Before>, new: &str) -> Result<Standing> {
        let Some(seen) = self.bucket().look(path).await? else { return Ok(Standing::Nothing) };
        if before.is_some_and(|before| version(before).is_same(&seen.version)) {
            return Ok(Standing::Before(seen.version));
        }
        let Some(there) = self.bucket().read(path).await? else { return Ok(Standing::Nothing) };
        let hash = self.text_of(path, &there.content).map(|text| document::hash(&text)).unwrap_or_default();
        Ok(if hash == new {
            Standing::New(there.version)
        } else if before.is_some_and(|before| before.hashes.contains(&hash)) {
            Standing::Before(there.version)
        } else {
            Standing::Other(there.version)
        })
    }

    /// Makes a document current on the way to a commit, without a revision; gives what is known of it. `None` when
    /// another has changed the one before. The journal must have announced it: a writer that is fenced may come too
    /// late, and whoever brings in its journal then knows the document for its own.
    pub(super) async fn write_checkpoint(
        &self,
        stack: &StackId,
        current: &Document,
        rendered: Rendered,
    ) -> Result<Option<Document>> {
        let Located { path, version } = &current.located;
        let content = self.compressed(stack, path, &rendered.text)?;
        self.bucket().copy(path, &format!("{path}.bak")).await?;
        let Written::Done(version) = self.bucket().replace(path, content, version).await? else {
            return Ok(None);
        };
        let located = Located { path: path.clone(), version };
        let Rendered { hash, outline, .. } = rendered;
        // The revision stays the one that the update began with.
        Ok(Some(Document { located, hash, outline, ..current.clone() }))
    }

    fn compressed(&self, stack: &StackId, path: &str, text: &[u8]) -> Result<Bytes> {
        let compressed = document::compress(text, layout::compression_of(stack, path));
        compressed.map(Bytes::from).map_err(Error::io("compressing", self.bucket().location(path)))
    }

    /// The revision of the current document; makes one when another tool wrote it, so that it can be returned to and a
    /// journal can point into it.
    pub(super) async fn adopt(&self, stack: &StackId, document: &Document, lease: &LeaseInfo) -> Result<u64> {
        if let Some(known) = document.revision {
            return Ok(known);
        }
        let revisions = Revisions::new(self, stack);
        if let Some(known) = revisions.with_hash(&document.hash).await? {
            return Ok(known);
        }
        let changed = || Error::Conflict { stack: stack.clone() };
        let (_, text) = self.read_current(stack).await?.ok_or_else(changed)?;
        if document::hash(&text) != document.hash {
            return Err(changed());
        }
        let parent = revisions.list().await?.last().map(|info| info.number);
        let number = revisions.prepare(&text, document.highest, &lease.nonce).await?;
        let info = RevisionInfo {
            number: revision_number(number),
            parent,
            time: self.host().now().to_string(),
            title: "found: written by another tool".to_owned(),
            hash: document.hash.clone(),
            resources: document.outline.resources,
            ..RevisionInfo::default()
        };
        // Whoever is fenced leaves no revision.
        Leases::new(self, stack).check(&lease.nonce).await?;
        revisions.record(&info).await?;
        Ok(number)
    }

    /// The history record and the backup that the stock CLI makes after an update.
    pub(super) async fn write_history(&self, stack: &StackId, checkpoint: &str, update: &Json) -> Result<()> {
        let nanos = self.host().now().as_nanosecond();
        let ending = checkpoint.strip_prefix(&layout::checkpoint(stack)).unwrap_or_default();
        let compression = self.options().diy.compression;
        let prefix = format!("{}/{}-{nanos}", layout::history(stack), stack.name());
        let path = format!("{prefix}.history.json{}", compression.ending());
        let record = document::compress(update.text().as_bytes(), compression)
            .map_err(Error::io("compressing", self.bucket().location(&path)))?;
        let kept = format!("{prefix}.checkpoint.json{ending}");
        let backup = format!("{}/{}.{nanos}.json{ending}", layout::backups(stack), stack.name());
        let back_up = async {
            if self.options().diy.backups { self.bucket().copy(checkpoint, &backup).await } else { Ok(true) }
        };
        // The record last: whoever finds it finds its checkpoint too.
        futures::future::try_join(self.bucket().copy(checkpoint, &kept), back_up).await?;
        self.bucket().overwrite(&path, record).await.map(drop)
    }

    pub(super) async fn write_tags(&self, stack: &StackId, tags: &BTreeMap<String, String>) -> Result<()> {
        let path = layout::tags(stack);
        match document::tags_file(tags) {
            Some(file) => self.bucket().overwrite(&path, file).await.map(drop),
            None => self.bucket().remove(&[path]).await,
        }
    }

    /// Keeps the checkpoint under a name with its time, where the user wants that.
    async fn retain(&self, stack: &StackId, path: &str) -> Result<()> {
        if !self.options().diy.retain_checkpoints {
            return Ok(());
        }
        let ending = path.strip_prefix(&layout::checkpoint(stack)).unwrap_or_default();
        let nanos = self.host().now().as_nanosecond();
        let kept = format!("{}{ending}.{nanos}", layout::checkpoint(stack));
        self.bucket().copy(path, &kept).await.map(drop)
    }
}

/// What stands where a checkpoint is, or is to be.
#[derive(Debug)]
enum Standing {
    Nothing,
    /// The decided document.
    New(Version),
    /// The one that it replaces.
    Before(Version),
    /// What another tool wrote.
    Other(Version),
}

/// A document as the one that a decision replaces.
fn before(document: &Document, announced: &[String]) -> Before {
    Before {
        path: document.located.path.clone(),
        e_tag: document.located.version.e_tag.clone(),
        generation: document.located.version.generation.clone(),
        hashes: std::iter::once(&document.hash).chain(announced).cloned().collect(),
        ..Before::default()
    }
}

fn version(before: &Before) -> Version {
    Version { e_tag: before.e_tag.clone(), generation: before.generation.clone() }
}

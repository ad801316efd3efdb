//! Making a snapshot current: one transaction in which everything that belongs to it is written, or nothing is.
//!
//! The revision, the checkpoint and its `.bak`, the record of the update with its copy of the checkpoint, the backup,
//! tags, what is known of the new document, and the end of the journal. Copies are made by the server, so that the
//! document itself is sent twice: once as the checkpoint, once, compressed, as the revision.

use super::PostgresStore;
use super::connections::{Statement, values};
use super::documents::{Document, VERSION};
use super::sealing::part_path;
use super::writes::{Change, Writer};
use crate::diy::document::{self, Publish};
use crate::diy::layout;
use crate::diy::outline::Outline;
use crate::diy::revision_number;
use crate::{Commit, Error, Result, RevisionInfo, StackId};
use drystone_model::{Json, Violation};
use std::collections::BTreeMap;

/// The position of what a journal says of a checkpoint on the way.
const ANNOUNCED: i64 = -1;

/// A snapshot that is about to be current.
pub(super) struct Prepared {
    pub(super) revision: u64,
    pub(super) previous: Option<u64>,
    pub(super) violations: Vec<Violation>,
    /// What will be known of it; its version is known once it is there.
    pub(super) document: Document,
    pub(super) changes: Vec<Change>,
}

impl PostgresStore {
    /// Everything that making a snapshot current writes, and its revision. Sound or not, it is recorded (S7).
    pub(super) async fn prepare(
        &self,
        stack: &StackId,
        writer: &Writer,
        current: Option<&Document>,
        mut publish: Publish,
    ) -> Result<Prepared> {
        let violations = document::note_violations(
            &mut publish.snapshot,
            &publish.title,
            &self.options().diy.tool_version,
        );
        let time = publish.snapshot.manifest.time.clone();
        let outline = current.map(|document| document.outline.clone()).unwrap_or_default();
        let snapshot = std::mem::take(&mut publish.snapshot);
        let location = self.location(&layout::checkpoint(stack));
        let rendered = document::render(stack, Some(snapshot), publish.byte_strings, &outline, location)?;
        let (previous, mut changes) = match current {
            Some(current) => {
                let (previous, changes) = self.adopt(stack, current, None).await?;
                (Some(previous), changes)
            }
            None => (None, Vec::new()),
        };
        let highest = match current {
            Some(current) => current.highest,
            // What is left of a stack of the same name that another tool removed.
            None => self.highest(stack).await?,
        };
        let revision = previous.unwrap_or(0).max(highest) + 1;
        let info = RevisionInfo {
            number: revision_number(revision),
            parent: previous.map(revision_number),
            hash: rendered.hash.clone(),
            resources: rendered.outline.resources,
            violations: i64::try_from(violations.len()).unwrap_or(i64::MAX),
            ..publish.info(self.host().now(), writer.lease())
        };
        changes.push(self.new_revision(stack, &info, &rendered.text)?);
        let document = Document {
            path: self.checkpoint_path(stack),
            version: String::new(),
            hash: rendered.hash,
            outline: rendered.outline,
            revision: Some(revision),
            highest: revision,
        };
        changes.extend(self.place(stack, current, &document.path, &rendered.text)?);
        changes.push(self.note(stack, &document, &time)?);
        changes.extend(self.retain(stack, &document.path));
        Ok(Prepared { revision, previous, violations, document, changes })
    }

    async fn highest(&self, stack: &StackId) -> Result<u64> {
        let statement = Statement {
            sql: format!("SELECT max(number) FROM {} WHERE stack = $1", self.tables().revisions),
            values: values![self.key_of(stack)],
        };
        let rows = self.ask("reading", &layout::revisions(stack), &statement).await?;
        let highest: Option<i64> = rows.first().and_then(|row| row.get(0));
        Ok(highest.and_then(|number| u64::try_from(number).ok()).unwrap_or(0))
    }

    /// Makes the stack, with no snapshot yet.
    pub(super) async fn create_empty(&self, stack: &StackId, writer: &Writer) -> Result<Document> {
        let path = self.checkpoint_path(stack);
        let rendered = document::render(stack, None, false, &Outline::default(), self.location(&path))?;
        let mut document = Document {
            path,
            version: String::new(),
            hash: rendered.hash,
            outline: rendered.outline,
            revision: None,
            highest: self.highest(stack).await?,
        };
        let mut changes = self.place(stack, None, &document.path, &rendered.text)?;
        changes.push(self.note(stack, &document, "")?);
        writer.run(&changes).await?;
        document.version = self.noted(stack).await?.map(|(version, _)| version).unwrap_or_default();
        Ok(document)
    }

    /// Puts a document in the place of the one before, which must still be there and becomes the `.bak`.
    pub(super) fn place(
        &self,
        stack: &StackId,
        before: Option<&Document>,
        path: &str,
        text: &[u8],
    ) -> Result<Vec<Change>> {
        let state = &self.tables().state;
        let compressed = document::compress(text, layout::compression_of(stack, path));
        let content = compressed.map_err(Error::io("compressing", self.location(path)))?;
        let content = self.sealed(path, content)?;
        let Some(before) = before else {
            // No compression of it may be there.
            let free = Change::must(
                format!("SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM {state} WHERE key = ANY($1))"),
                vec![super::connections::Value::Texts(self.checkpoint_keys(stack))],
            );
            let insert = Change::must(
                format!("INSERT INTO {state} (key, data) VALUES ($1, {DATA}) ON CONFLICT DO NOTHING"),
                values![self.row_key(path), content],
            );
            return Ok(vec![free, insert]);
        };
        let old = self.row_key(&before.path);
        let mut changes = vec![
            Change::must(
                format!("SELECT 1 FROM {state} t WHERE t.key = $1 AND {VERSION} = $2 FOR UPDATE"),
                values![&old, &before.version],
            ),
            self.copy(&before.path, &format!("{}.bak", before.path)),
        ];
        changes.push(Change::from(self.put(path, content)));
        if before.path != path {
            changes.push(Change::new(format!("DELETE FROM {state} WHERE key = $1"), values![old]));
        }
        Ok(changes)
    }

    /// A change that copies a row, where there is one.
    pub(super) fn copy(&self, from: &str, to: &str) -> Change {
        let state = &self.tables().state;
        Change::new(
            format!(
                "INSERT INTO {state} (key, data) SELECT $2, data FROM {state} WHERE key = $1
                 ON CONFLICT (key) DO UPDATE SET data = excluded.data, updated_at = now()"
            ),
            values![self.row_key(from), self.row_key(to)],
        )
    }

    /// A statement that writes a row whatever is there, as it is.
    pub(super) fn put(&self, path: &str, content: impl Into<Vec<u8>>) -> Statement {
        let state = &self.tables().state;
        Statement {
            sql: format!(
                "INSERT INTO {state} (key, data) VALUES ($1, {DATA})
                 ON CONFLICT (key) DO UPDATE SET data = excluded.data, updated_at = clock_timestamp()"
            ),
            values: values![self.row_key(path), content.into()],
        }
    }

    /// A change by which the journal says that a checkpoint on the way is its own, so that whoever brings in the journal
    /// knows the document.
    pub(super) fn announce(&self, stack: &StackId, journal: &str, frame: Vec<u8>) -> Result<Change> {
        let frame = self.sealed(&part_path(stack, journal, ANNOUNCED), frame)?;
        Ok(Change::must(
            format!(
                "INSERT INTO {} (stack, journal, position, content, written)
                 VALUES ($1, $2, -1, $3, clock_timestamp())
                 ON CONFLICT (stack, journal, position) DO UPDATE
                     SET content = excluded.content, written = excluded.written",
                self.tables().journals
            ),
            values![self.key_of(stack), journal, frame],
        ))
    }

    /// What a commit writes beside the snapshot: tags, the record of the update, and the orphans that it settles.
    pub(super) async fn beside(
        &self,
        stack: &StackId,
        checkpoint: &str,
        commit: &Commit,
    ) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        if let Some(tags) = &commit.tags {
            changes.push(self.write_tags(stack, tags)?);
        }
        if let Some(record) = &commit.update {
            changes.extend(self.write_history(stack, checkpoint, record)?);
        }
        for orphan in &commit.settles {
            changes.push(self.settle_orphan(stack, orphan).await?);
        }
        Ok(changes)
    }

    fn write_tags(&self, stack: &StackId, tags: &BTreeMap<String, String>) -> Result<Change> {
        let path = layout::tags(stack);
        Ok(match document::tags_file(tags) {
            Some(file) => Change::from(self.put(&path, self.sealed(&path, file)?)),
            None => Change::new(
                format!("DELETE FROM {} WHERE key = $1", self.tables().state),
                values![self.row_key(&path)],
            ),
        })
    }

    /// The history record and the backup that the stock CLI makes after an update.
    fn write_history(&self, stack: &StackId, checkpoint: &str, update: &Json) -> Result<Vec<Change>> {
        let nanos = self.host().now().as_nanosecond();
        let ending = checkpoint.strip_prefix(&layout::checkpoint(stack)).unwrap_or_default();
        let compression = self.options().diy.compression;
        let prefix = format!("{}/{}-{nanos}", layout::history(stack), stack.name());
        let path = format!("{prefix}.history.json{}", compression.ending());
        let record = document::compress(update.text().as_bytes(), compression)
            .map_err(Error::io("compressing", self.location(&path)))?;
        let mut changes = vec![self.copy(checkpoint, &format!("{prefix}.checkpoint.json{ending}"))];
        if self.options().diy.backups {
            let backup = format!("{}/{}.{nanos}.json{ending}", layout::backups(stack), stack.name());
            changes.push(self.copy(checkpoint, &backup));
        }
        changes.push(Change::from(self.put(&path, self.sealed(&path, record)?)));
        Ok(changes)
    }

    /// Keeps the checkpoint under a name with its time, where the user wants that.
    fn retain(&self, stack: &StackId, path: &str) -> Option<Change> {
        self.options().diy.retain_checkpoints.then(|| {
            let ending = path.strip_prefix(&layout::checkpoint(stack)).unwrap_or_default();
            let nanos = self.host().now().as_nanosecond();
            self.copy(path, &format!("{}{ending}.{nanos}", layout::checkpoint(stack)))
        })
    }
}

/// The second value of a statement as the stock CLI has it in a row. The server encodes it, so that it travels as it is.
pub(super) const DATA: &str = r#"('{"data":"' || replace(encode($2, 'base64'), chr(10), '') || '"}')::json"#;

//! The current document, which is Pulumi's checkpoint in one of its three compressions, and the revisions.
//!
//! A row of the stock CLI's table is told from what it was before by the transaction that wrote it and the time that it
//! carries; together they are its version. Beside the table we note which version of the checkpoint we know, with its
//! hash, its revision and how many resources it holds. As long as the checkpoint is still that version nothing else has
//! to be read to know them. Where it is not, another tool wrote it, and the document itself is asked.

use super::PostgresStore;
use super::connections::{Statement, Value, values};
use super::sealing::{info_path, known_path, revision_path};
use super::writes::Change;
use crate::diy::layout::{self, Compression};
use crate::diy::outline::Outline;
use crate::diy::{document, number_of, revision_number};
use crate::{Error, Result, RevisionInfo, StackId};
use tokio_postgres::Row;

/// The version of a row of the stock CLI's table.
pub(super) const VERSION: &str =
    "t.xmin::text || '/' || (extract(epoch FROM t.updated_at) * 1000000)::bigint::text";
/// The fastest level: documents compress twentyfold at it already.
const LEVEL: i32 = 1;

/// A document, and what is known of it without its text.
#[derive(Debug, Clone)]
pub(super) struct Document {
    /// The checkpoint's path.
    pub(super) path: String,
    /// The version of its row.
    pub(super) version: String,
    pub(super) hash: String,
    pub(super) outline: Outline,
    /// Its revision, when there is one.
    pub(super) revision: Option<u64>,
    /// The highest number that a revision of this stack has.
    pub(super) highest: u64,
}

/// The text of a checkpoint's row, in one of its versions.
#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    key: String,
    version: String,
    text: Vec<u8>,
}

impl PostgresStore {
    /// The checkpoint that this store would write.
    pub(super) fn checkpoint_path(&self, stack: &StackId) -> String {
        format!("{}{}", layout::checkpoint(stack), self.options().diy.compression.ending())
    }

    /// The rows that a checkpoint may be in.
    pub(super) fn checkpoint_keys(&self, stack: &StackId) -> Vec<String> {
        let path = layout::checkpoint(stack);
        let keys =
            Compression::ALL.map(|compression| self.row_key(&format!("{path}{}", compression.ending())));
        keys.to_vec()
    }

    /// The current document with its text; `None` when there is no such stack. Where there are several compressions of
    /// it the newest counts, as for the stock CLI. One that a newer tool wrote is refused (S9). What was read before is not
    /// sent again while it stands there.
    pub(super) async fn document(&self, stack: &StackId) -> Result<Option<(Document, Vec<u8>)>> {
        let tables = self.tables();
        let before = self.last_read().clone().unwrap_or_default();
        let statement = Statement {
            sql: format!(
                "SELECT t.key, {VERSION} AS version, t.key = $3 AND {VERSION} = $4 AS again,
                     CASE WHEN t.key = $3 AND {VERSION} = $4 THEN NULL
                         ELSE decode(t.data->>'data', 'base64') END AS content,
                     known.hash, known.revision, known.outline,
                     (SELECT max(number) FROM {revisions} WHERE stack = $1) AS highest,
                     (SELECT revision FROM {current} WHERE stack = $1) AS last
                 FROM {state} t LEFT JOIN {current} known
                     ON known.stack = $1 AND known.key = t.key AND known.version = {VERSION}
                 WHERE t.key = ANY($2) ORDER BY t.updated_at DESC LIMIT 1",
                revisions = tables.revisions,
                current = tables.current,
                state = tables.state,
            ),
            values: vec![
                self.key_of(stack).into(),
                Value::Texts(self.checkpoint_keys(stack)),
                before.key.as_str().into(),
                before.version.as_str().into(),
            ],
        };
        let rows = self.ask("reading", &layout::checkpoint(stack), &statement).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let path = self.path_of(row.get("key")).to_owned();
        let text = if row.get("again") {
            before.text
        } else {
            let text = self.text_of(&path, row.get("content"))?;
            let (key, version) = (row.get("key"), row.get("version"));
            *self.last_read() = Some(Text { key, version, text: text.clone() });
            text
        };
        let highest = row.get::<_, Option<i64>>("highest").max(row.get("last"));
        let highest = u64::try_from(highest.unwrap_or(0)).unwrap_or(0);
        let version = row.get("version");
        if let Some((hash, outline)) = self.known(stack, row) {
            let revision =
                row.get::<_, Option<i64>>("revision").and_then(|number| u64::try_from(number).ok());
            return Ok(Some((Document { path, version, hash, outline, revision, highest }, text)));
        }
        let outline = Outline::of(&text)
            .map_err(|error| Error::Unsupported { path: self.location(&path), reason: error.to_string() })?;
        let hash = document::hash(&text);
        let revision = self.revision_with_hash(stack, &hash).await?;
        Ok(Some((Document { path, version, hash, outline, revision, highest }, text)))
    }

    /// The text in a row.
    pub(super) fn text_of(&self, path: &str, content: Option<Vec<u8>>) -> Result<Vec<u8>> {
        let corrupt = |reason: String| Error::Corrupt { path: self.location(path), reason };
        let content = content.ok_or_else(|| corrupt("its row holds no data".to_owned()))?;
        let content = self.opened(path, content)?;
        document::decompress(content).map_err(|source| corrupt(format!("cannot be decompressed: {source}")))
    }

    /// Whether there is such a stack.
    pub(super) async fn is_there(&self, stack: &StackId) -> Result<bool> {
        let statement = Statement {
            sql: format!("SELECT 1 FROM {} WHERE key = ANY($1) LIMIT 1", self.tables().state),
            values: vec![Value::Texts(self.checkpoint_keys(stack))],
        };
        Ok(!self.ask("reading", &layout::checkpoint(stack), &statement).await?.is_empty())
    }

    /// A change that notes what is known of the document that the same transaction has made current.
    pub(super) fn note(&self, stack: &StackId, document: &Document, time: &str) -> Result<Change> {
        let tables = self.tables();
        let outline = serde_json::to_string(&document.outline).unwrap_or_default();
        let outline = self.sealed_text(&known_path(stack), outline)?;
        let mut values = values![
            self.key_of(stack),
            self.row_key(&document.path),
            &document.hash,
            time,
            document.outline.resources,
            outline,
        ];
        values.push(Value::MaybeNumber(document.revision.map(revision_number)));
        Ok(Change::must(
            format!(
                "INSERT INTO {} (stack, key, version, hash, revision, time, resources, outline)
                 SELECT $1, t.key, {VERSION}, $3, $7, $4, $5, $6 FROM {} t WHERE t.key = $2
                 ON CONFLICT (stack) DO UPDATE SET key = excluded.key, version = excluded.version,
                     hash = excluded.hash, revision = excluded.revision, time = excluded.time,
                     resources = excluded.resources, outline = excluded.outline",
                tables.current, tables.state
            ),
            values,
        ))
    }

    /// What a row says is known of its document.
    fn known(&self, stack: &StackId, row: &Row) -> Option<(String, Outline)> {
        let (hash, outline): (Option<String>, Option<&str>) = (row.get("hash"), row.get("outline"));
        let outline = self.opened(&known_path(stack), outline?.as_bytes().to_vec()).ok()?;
        Some((hash?, serde_json::from_slice(&outline).ok()?))
    }

    /// The version and the hash of the document that was noted last, which nobody but the holder of the lease changes.
    pub(super) async fn noted(&self, stack: &StackId) -> Result<Option<(String, String)>> {
        let statement = Statement {
            sql: format!("SELECT version, hash FROM {} WHERE stack = $1", self.tables().current),
            values: values![self.key_of(stack)],
        };
        let rows = self.ask("reading", &layout::checkpoint(stack), &statement).await?;
        Ok(rows.first().map(|row| (row.get(0), row.get(1))))
    }

    /// The revisions, oldest first.
    pub(super) async fn revision_list(&self, stack: &StackId) -> Result<Vec<RevisionInfo>> {
        let statement = Statement {
            sql: format!(
                "SELECT number, info FROM {} WHERE stack = $1 ORDER BY number",
                self.tables().revisions
            ),
            values: values![self.key_of(stack)],
        };
        let rows = self.ask("reading", &layout::revisions(stack), &statement).await?;
        rows.iter().map(|row| self.parse_info(stack, row.get(0), row.get(1))).collect()
    }

    /// The newest revision with a document of this hash.
    pub(super) async fn revision_with_hash(&self, stack: &StackId, hash: &str) -> Result<Option<u64>> {
        let statement = Statement {
            sql: format!(
                "SELECT max(number) FROM {} WHERE stack = $1 AND hash = $2",
                self.tables().revisions
            ),
            values: values![self.key_of(stack), hash],
        };
        let rows = self.ask("reading", &layout::revisions(stack), &statement).await?;
        let number: Option<i64> = rows.first().and_then(|row| row.get(0));
        Ok(number.and_then(|number| u64::try_from(number).ok()))
    }

    /// A revision's document, checked against its hash.
    pub(super) async fn revision(&self, stack: &StackId, number: u64) -> Result<(RevisionInfo, Vec<u8>)> {
        let statement = Statement {
            sql: format!(
                "SELECT info, content FROM {} WHERE stack = $1 AND number = $2",
                self.tables().revisions
            ),
            values: values![self.key_of(stack), revision_number(number)],
        };
        let rows = self.ask("reading", &layout::revisions(stack), &statement).await?;
        let missing = || Error::NoRevision { stack: stack.clone(), revision: number };
        let row = rows.first().ok_or_else(missing)?;
        let info = self.parse_info(stack, revision_number(number), row.get(0))?;
        let path = revision_path(stack, revision_number(number));
        let text = self.text_of(&path, row.get(1))?;
        if document::hash(&text) != info.hash {
            let reason = "its content is not what was recorded: the hash differs".to_owned();
            return Err(Error::Corrupt { path: self.location(&path), reason });
        }
        Ok((info, text))
    }

    fn parse_info(&self, stack: &StackId, number: i64, info: &str) -> Result<RevisionInfo> {
        let path = info_path(stack, number);
        let info = self.opened(&path, info.as_bytes().to_vec())?;
        serde_json::from_slice(&info)
            .map_err(|error| Error::Corrupt { path: self.location(&path), reason: error.to_string() })
    }

    /// A change that makes a revision, whose number must be free.
    pub(super) fn new_revision(&self, stack: &StackId, info: &RevisionInfo, text: &[u8]) -> Result<Change> {
        let path = revision_path(stack, info.number);
        let content =
            zstd::bulk::compress(text, LEVEL).map_err(Error::io("compressing", self.location(&path)))?;
        let content = self.sealed(&path, content)?;
        let described = serde_json::to_string(info)
            .map_err(|error| Error::Corrupt { path: self.location(&path), reason: error.to_string() })?;
        let described = self.sealed_text(&info_path(stack, info.number), described)?;
        Ok(Change::must(
            format!(
                "INSERT INTO {} (stack, number, hash, info, content) VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT DO NOTHING",
                self.tables().revisions
            ),
            values![self.key_of(stack), info.number, &info.hash, described, content],
        ))
    }

    /// The revision of the current document, and the change that makes one when another tool wrote it, so that it can be
    /// returned to and a journal can point into it.
    pub(super) async fn adopt(
        &self,
        stack: &StackId,
        document: &Document,
        text: Option<&[u8]>,
    ) -> Result<(u64, Vec<Change>)> {
        if let Some(known) = document.revision {
            return Ok((known, Vec::new()));
        }
        let read = match text {
            Some(text) => text.to_vec(),
            None => {
                let changed = || Error::Conflict { stack: stack.clone() };
                let (now, text) = self.document(stack).await?.ok_or_else(changed)?;
                if now.hash != document.hash {
                    return Err(changed());
                }
                text
            }
        };
        let parent = self.revision_list(stack).await?.last().map(|info| info.number);
        let number = document.highest + 1;
        let info = RevisionInfo {
            number: revision_number(number),
            parent,
            time: self.host().now().to_string(),
            title: "found: written by another tool".to_owned(),
            hash: document.hash.clone(),
            resources: document.outline.resources,
            ..RevisionInfo::default()
        };
        Ok((number, vec![self.new_revision(stack, &info, &read)?]))
    }

    /// Deletes old revisions, but not those that somebody needs; gives the numbers.
    pub(super) async fn prunable(&self, stack: &StackId, newest: usize) -> Result<Vec<u64>> {
        let current = self.document(stack).await?.map(|(document, _)| document.hash);
        let infos = self.revision_list(stack).await?;
        let pinned = self.pinned_revisions(stack).await?;
        let old = infos[..infos.len().saturating_sub(newest)].iter();
        let prunable = old.filter(|info| Some(&info.hash) != current.as_ref()).map(number_of);
        Ok(prunable.filter(|number| !pinned.contains(number)).collect())
    }
}

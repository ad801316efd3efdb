//! Moving a stack with everything that belongs to it: renaming, the trash, and back. Each is one transaction.

use super::PostgresStore;
use super::connections::{Statement, Value, values};
use super::documents::{Document, VERSION};
use super::leases::Leases as LeaseRows;
use super::sealing::{info_path, kept_path, note_path, revision_path, text};
use super::writes::{Change, Writer};
use crate::diy::layout::{self, Compression};
use crate::diy::trash::TrashNote;
use crate::diy::{document, revision_number};
use crate::{Claim, Error, HeldLease, Leases, Relocation, Result, RevisionInfo, StackId};
use drystone_model::Snapshot;

impl PostgresStore {
    /// Moves a stack.
    pub(super) async fn relocate(&self, stack: &StackId, writer: &Writer, to: Relocation) -> Result<()> {
        match to {
            Relocation::To { stack: target, snapshot } => {
                self.rename_stack(stack, writer, &target, snapshot.map(|it| *it)).await
            }
            Relocation::Trash { note } => {
                let changes = self.trash_stack(stack, writer, note).await?;
                writer.run(&changes).await
            }
            Relocation::Nowhere => {
                let changes = self.delete_stack(stack).await?;
                writer.run(&changes).await
            }
            Relocation::FromTrash { id } => self.restore_stack(stack, writer, &id).await,
        }
    }

    async fn existing(&self, stack: &StackId) -> Result<(Document, Vec<u8>)> {
        let found = self.document(stack).await?;
        found.ok_or_else(|| Error::NotFound { stack: stack.clone() })
    }

    async fn rename_stack(
        &self,
        stack: &StackId,
        writer: &Writer,
        target: &StackId,
        snapshot: Option<Snapshot>,
    ) -> Result<()> {
        let target_lease = self.acquire(target, Claim::new("stack rename")).await?;
        let renamed = self.rename_to_leased(stack, writer, target, &*target_lease, snapshot).await;
        target_lease.release().await?;
        renamed
    }

    async fn rename_to_leased(
        &self,
        stack: &StackId,
        writer: &Writer,
        target: &StackId,
        target_lease: &dyn HeldLease,
        snapshot: Option<Snapshot>,
    ) -> Result<()> {
        let (found, text) = self.existing(stack).await?;
        if self.is_there(target).await? {
            return Err(Error::AlreadyExists { stack: target.clone() });
        }
        let (previous, mut changes) = self.adopt(stack, &found, Some(&text)).await?;
        if self.is_sealed() && !changes.is_empty() {
            // Everything that is there is sealed anew for the new name; it has to be there first.
            writer.run(&std::mem::take(&mut changes)).await?;
        }
        let path = self.checkpoint_path(target);
        let time = snapshot.as_ref().map(|snapshot| snapshot.manifest.time.clone()).unwrap_or_default();
        let rendered = document::render(
            target,
            snapshot,
            found.outline.byte_strings,
            &found.outline,
            self.location(&path),
        )?;
        let number = found.highest.max(previous) + 1;
        let info = RevisionInfo {
            number: revision_number(number),
            parent: Some(revision_number(previous)),
            time: self.host().now().to_string(),
            title: format!("renamed from {stack}"),
            by: writer.lease().holder(),
            hash: rendered.hash.clone(),
            resources: rendered.outline.resources,
            ..RevisionInfo::default()
        };
        changes.push(self.still(&found));
        changes.push(LeaseRows::new(self, target).hold(target_lease.info()));
        let aside = format!("{}@{}", self.key_of(target), self.host().now().as_nanosecond());
        changes.extend(self.move_own(&self.key_of(target), &aside));
        changes.extend(self.move_own(&self.key_of(stack), &self.key_of(target)));
        changes.push(self.new_revision(target, &info, &rendered.text)?);
        changes.extend(self.place(target, None, &path, &rendered.text)?);
        let document = Document {
            path,
            version: String::new(),
            hash: rendered.hash,
            outline: rendered.outline,
            revision: Some(number),
            highest: number,
        };
        changes.push(self.note(target, &document, &time)?);
        changes.push(self.move_rows(&layout::tags(stack), &layout::tags(target)));
        changes.push(self.move_rows(&history_files(stack), &history_files(target)));
        if self.is_sealed() {
            changes.extend(self.sealed_anew(stack, target).await?);
        }
        changes.push(self.copy(&found.path, &format!("{}.bak", found.path)));
        changes.push(self.delete_keys(vec![self.row_key(&found.path)]));
        writer.run(&changes).await
    }

    /// Changes that seal for its new name what has been moved there.
    async fn sealed_anew(&self, stack: &StackId, target: &StackId) -> Result<Vec<Change>> {
        let tables = self.tables();
        let mut changes = Vec::new();
        let revisions = Statement {
            sql: format!("SELECT number, info, content FROM {} WHERE stack = $1", tables.revisions),
            values: values![self.key_of(stack)],
        };
        for row in self.ask("reading", &layout::revisions(stack), &revisions).await? {
            let (number, info): (i64, String) = (row.get(0), row.get(1));
            let info = self.opened(&info_path(stack, number), info.into_bytes())?;
            let info = self.sealed_text(&info_path(target, number), text(&info))?;
            let content = self.opened(&revision_path(stack, number), row.get(2))?;
            let content = self.sealed(&revision_path(target, number), content)?;
            changes.push(Change::must(
                format!(
                    "UPDATE {} SET info = $3, content = $4 WHERE stack = $1 AND number = $2",
                    tables.revisions
                ),
                values![self.key_of(target), number, info, content],
            ));
        }
        let kept = Statement {
            sql: format!("SELECT journal, content FROM {} WHERE stack = $1", tables.kept),
            values: values![self.key_of(stack)],
        };
        for row in self.ask("reading", &layout::journals(stack), &kept).await? {
            let journal: String = row.get(0);
            let content = self.opened(&kept_path(stack, &journal), row.get(1))?;
            let content = self.sealed(&kept_path(target, &journal), content)?;
            changes.push(Change::must(
                format!("UPDATE {} SET content = $3 WHERE stack = $1 AND journal = $2", tables.kept),
                values![self.key_of(target), journal, content],
            ));
        }
        let beside = Statement {
            sql: format!(
                "SELECT key, decode(data->>'data', 'base64') FROM {} WHERE key = $1 OR key LIKE $2",
                tables.state
            ),
            values: values![self.row_key(&layout::tags(stack)), self.pattern(&history_files(stack))],
        };
        for row in self.ask("reading", &layout::history(stack), &beside).await? {
            let content: Option<Vec<u8>> = row.get(1);
            let from = self.path_of(row.get(0)).to_owned();
            let to = match from.strip_prefix(&history_files(stack)) {
                Some(rest) => format!("{}{rest}", history_files(target)),
                None => layout::tags(target),
            };
            let content = self.opened(&from, content.unwrap_or_default())?;
            changes.push(Change::from(self.put(&to, self.sealed(&to, content)?)));
        }
        Ok(changes)
    }

    /// A change that only counts while a document is current.
    fn still(&self, document: &Document) -> Change {
        Change::must(
            format!("SELECT 1 FROM {} t WHERE t.key = $1 AND {VERSION} = $2 FOR UPDATE", self.tables().state),
            values![self.row_key(&document.path), &document.version],
        )
    }

    /// Changes that give our rows of one name to another. What is known of the document is not moved: the document is
    /// another.
    fn move_own(&self, from: &str, to: &str) -> Vec<Change> {
        let tables = self.tables();
        let mut changes: Vec<Change> = [&tables.revisions, &tables.kept]
            .iter()
            .map(|table| {
                Change::new(format!("UPDATE {table} SET stack = $2 WHERE stack = $1"), values![from, to])
            })
            .collect();
        let forget = format!("DELETE FROM {} WHERE stack = $1", tables.current);
        changes.push(Change::new(forget, values![from]));
        changes
    }

    /// A change that gives rows of the stock CLI's table, all whose path begins so, another beginning.
    fn move_rows(&self, from: &str, to: &str) -> Change {
        let state = &self.tables().state;
        let from_key = self.row_key(from);
        Change::new(
            format!(
                "WITH gone AS (DELETE FROM {state} WHERE key LIKE $1 RETURNING key, data, updated_at)
                 INSERT INTO {state} (key, data, updated_at)
                 SELECT $3 || substr(key, length($2) + 1), data, updated_at FROM gone
                 ON CONFLICT (key) DO UPDATE SET data = excluded.data, updated_at = excluded.updated_at"
            ),
            values![self.pattern(from), from_key, self.row_key(to)],
        )
    }

    fn delete_keys(&self, keys: Vec<String>) -> Change {
        let sql = format!("DELETE FROM {} WHERE key = ANY($1)", self.tables().state);
        Change::new(sql, vec![Value::Texts(keys)])
    }

    /// The keys of everything that stands beside the checkpoint, and that.
    fn stack_keys(&self, stack: &StackId) -> Vec<String> {
        let mut paths = vec![layout::tags(stack)];
        for compression in Compression::ALL {
            let path = format!("{}{}", layout::checkpoint(stack), compression.ending());
            paths.extend([format!("{path}.bak"), path]);
        }
        paths.iter().map(|path| self.row_key(path)).collect()
    }

    /// The condition that tells a stack's rows in the stock CLI's table, with its values.
    fn stack_rows(&self, stack: &StackId) -> (&'static str, Vec<Value>) {
        let values = vec![
            Value::Texts(self.stack_keys(stack)),
            self.pattern(&format!("{}/", layout::history(stack))).into(),
            self.pattern(&format!("{}/", layout::backups(stack))).into(),
        ];
        ("(key = ANY($1) OR key LIKE $2 OR key LIKE $3)", values)
    }

    async fn trash_stack(
        &self,
        stack: &StackId,
        writer: &Writer,
        note: Option<String>,
    ) -> Result<Vec<Change>> {
        let (document, text) = self.existing(stack).await?;
        let (_, mut changes) = self.adopt(stack, &document, Some(&text)).await?;
        let last = self.revision_list(stack).await?.pop();
        let now = self.host().now();
        let id = now.as_nanosecond().to_string();
        let note = TrashNote {
            stack: stack.qualified(),
            removed: now.to_string(),
            by: writer.lease().holder(),
            note,
            last_update: last.as_ref().map(|info| info.time.clone()),
            resources: last.map_or(Some(document.outline.resources), |info| Some(info.resources)),
            ..TrashNote::default()
        };
        let note = serde_json::to_string(&note).map_err(|error| Error::Corrupt {
            path: self.location(&layout::trashed(stack, &id)),
            reason: error.to_string(),
        })?;
        let note = self.sealed_note(&note_path(stack, &id), note)?;
        let trash = &self.tables().trash;
        changes.push(self.still(&document));
        changes.push(Change::must(
            format!(
                "INSERT INTO {trash} (stack, id, key, data, updated_at)
                 VALUES ($1, $2, '', $3::json, clock_timestamp()) ON CONFLICT DO NOTHING"
            ),
            values![self.key_of(stack), &id, note],
        ));
        let (rows, mut values) = self.stack_rows(stack);
        values.extend(values![self.key_of(stack), &id]);
        changes.push(Change::new(
            format!(
                "WITH gone AS (DELETE FROM {} WHERE {rows} RETURNING key, data, updated_at)
                 INSERT INTO {trash} (stack, id, key, data, updated_at)
                 SELECT $4, $5, key, data, updated_at FROM gone",
                self.tables().state
            ),
            values,
        ));
        changes.extend(self.move_own(&self.key_of(stack), &self.trashed_key(stack, &id)));
        Ok(changes)
    }

    /// What stands for a trashed stack in our tables. No stack's name has an `@`.
    fn trashed_key(&self, stack: &StackId, id: &str) -> String {
        format!("{}@{id}", self.key_of(stack))
    }

    async fn delete_stack(&self, stack: &StackId) -> Result<Vec<Change>> {
        let (document, _) = self.existing(stack).await?;
        let tables = self.tables();
        let (rows, values) = self.stack_rows(stack);
        let mut changes = vec![
            self.still(&document),
            Change::new(format!("DELETE FROM {} WHERE {rows}", tables.state), values),
        ];
        changes.extend([&tables.revisions, &tables.kept, &tables.current].iter().map(|table| {
            Change::new(format!("DELETE FROM {table} WHERE stack = $1"), values![self.key_of(stack)])
        }));
        Ok(changes)
    }

    async fn restore_stack(&self, stack: &StackId, writer: &Writer, id: &str) -> Result<()> {
        if self.is_there(stack).await? {
            return Err(Error::AlreadyExists { stack: stack.clone() });
        }
        let tables = self.tables();
        let note = Statement {
            sql: format!("SELECT 1 FROM {} WHERE stack = $1 AND id = $2 AND key = ''", tables.trash),
            values: values![self.key_of(stack), id],
        };
        if self.ask("reading", &layout::trashed(stack, id), &note).await?.is_empty() {
            return Err(Error::NotFound { stack: stack.clone() });
        }
        let aside = format!("{}@{}", self.key_of(stack), self.host().now().as_nanosecond());
        let mut changes = self.move_own(&self.key_of(stack), &aside);
        changes.push(Change::must(
            format!("DELETE FROM {} WHERE stack = $1 AND id = $2 AND key = ''", tables.trash),
            values![self.key_of(stack), id],
        ));
        changes.push(Change::must(
            format!("SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM {} WHERE key = ANY($1))", tables.state),
            vec![Value::Texts(self.checkpoint_keys(stack))],
        ));
        changes.push(Change::new(
            format!(
                "WITH back AS (DELETE FROM {} WHERE stack = $1 AND id = $2 RETURNING key, data, updated_at)
                 INSERT INTO {} (key, data, updated_at) SELECT key, data, updated_at FROM back
                 ON CONFLICT (key) DO UPDATE SET data = excluded.data, updated_at = excluded.updated_at",
                tables.trash, tables.state
            ),
            values![self.key_of(stack), id],
        ));
        changes.extend(self.move_own(&self.trashed_key(stack, id), &self.key_of(stack)));
        writer.run(&changes).await
    }
}

/// The beginning of a stack's history files, which carry its name in theirs.
fn history_files(stack: &StackId) -> String {
    format!("{}/{}-", layout::history(stack), stack.name())
}

//! What is sealed at rest in a database (S19): the rows that tell of resources.
//!
//! Rows of the stock CLI's table are sealed for their paths, and ours for the paths that a directory would have them at, so
//! that one document has one place on every medium. What the server itself looks at stays clear: which stack a row is of,
//! positions and numbers, times, how many resources there are, and the hashes by which documents are told apart.

use super::PostgresStore;
use super::connections::{Statement, Value, values};
use crate::diy::layout;
use crate::seal::{self, Resealed, Sealing, place_of};
use crate::{Claim, Error, HeldLease, Leases, Result, StackId};
use std::collections::BTreeSet;

/// The path of a revision's document.
pub(super) fn revision_path(stack: &StackId, number: i64) -> String {
    format!("{}/{number}.json.zst", layout::revisions(stack))
}

/// The path of what is said of a revision.
pub(super) fn info_path(stack: &StackId, number: i64) -> String {
    format!("{}/{number}.meta.json", layout::revisions(stack))
}

/// The path of a part of a journal.
pub(super) fn part_path(stack: &StackId, journal: &str, position: i64) -> String {
    format!("{}/{journal}/{position}", layout::journals(stack))
}

/// The path of a journal that is kept.
pub(super) fn kept_path(stack: &StackId, journal: &str) -> String {
    format!("{}/{journal}", layout::journals(stack))
}

/// The path of what is known of the current document.
pub(super) fn known_path(stack: &StackId) -> String {
    format!("{}/current.json", layout::own(stack))
}

/// The path of what is kept with a stack in the trash.
pub(super) fn note_path(stack: &StackId, id: &str) -> String {
    format!("{}/trash.json", layout::trashed(stack, id))
}

impl PostgresStore {
    fn sealing(&self) -> Option<&Sealing> {
        self.options().diy.sealing.as_ref()
    }

    /// Whether rows are sealed.
    pub(super) fn is_sealed(&self) -> bool {
        self.sealing().is_some()
    }

    /// A content as it is written at a path.
    pub(super) fn sealed(&self, path: &str, content: Vec<u8>) -> Result<Vec<u8>> {
        match (self.sealing(), place_of(path)) {
            (Some(sealing), Some(place)) => {
                sealing.seal(&place, &content).map_err(Error::io("sealing", self.location(path)))
            }
            _ => Ok(content),
        }
    }

    /// The same for a text. An envelope is one, too.
    pub(super) fn sealed_text(&self, path: &str, text: String) -> Result<String> {
        let sealed = self.sealed(path, text.into_bytes())?;
        String::from_utf8(sealed).map_err(|error| self.corrupt(path, error.to_string()))
    }

    /// What was written at a path.
    pub(super) fn opened(&self, path: &str, content: Vec<u8>) -> Result<Vec<u8>> {
        match (self.sealing(), place_of(path)) {
            (Some(sealing), Some(place)) => {
                sealing.open(&place, &content).map_err(Error::io("opening", self.location(path)))
            }
            _ => Ok(content),
        }
    }

    fn corrupt(&self, path: &str, reason: String) -> Error {
        Error::Corrupt { path: self.location(path), reason }
    }

    /// A trash note as its column has it: JSON, or an envelope as a JSON string.
    pub(super) fn sealed_note(&self, path: &str, note: String) -> Result<String> {
        if !self.is_sealed() {
            return Ok(note);
        }
        Ok(note_column(self.sealed_text(path, note)?))
    }

    /// The trash note in a column.
    pub(super) fn opened_note(&self, path: &str, column: &str) -> Result<Vec<u8>> {
        self.opened(path, note_content(column))
    }

    /// Brings everything into the form that the store's [sealing](crate::Sealing) gives new documents, one stack after
    /// the other, each under its lease. What was cut short is gone on with by doing it again.
    pub async fn reseal(&self, command: &str) -> Result<Resealed> {
        let Some(sealing) = self.sealing() else { return Ok(Resealed::default()) };
        seal::refuse_legacy(self.has_projects(), self.location(""))?;
        // From the first moment on, whoever has no key keeps out; until the last, whoever has one can go on.
        let seals = sealing.description().is_some();
        if seals {
            self.write_meta().await?;
        }
        let mut resealed = Resealed::default();
        for stack in self.every_stack().await? {
            let lease = match self.is_there(&stack).await? {
                true => Some(self.acquire(&stack, Claim::new(command)).await?),
                false => None,
            };
            for row in self.sealed_rows(&stack).await? {
                if !sealing.is_in_form(&row.content) {
                    let clear = self.opened(&row.path, row.content.clone())?;
                    let update = (row.update)(row.content, self.sealed(&row.path, clear)?);
                    if self.ask("sealing", &row.path, &update).await?.is_empty() {
                        // Whoever took the lease over has changed it: that stays (S4).
                        return Err(Error::Conflict { stack });
                    }
                    resealed.documents += 1;
                }
            }
            resealed.stacks += 1;
            release(lease).await?;
        }
        if !seals {
            self.write_meta().await?;
        }
        Ok(resealed)
    }

    async fn write_meta(&self) -> Result<()> {
        let mark = self.put(layout::META, crate::diy::document::meta_file(self.sealing()));
        self.ask("writing", layout::META, &mark).await?;
        self.has_put_meta();
        Ok(())
    }

    /// Every stack of which there is a row, those in the trash among them.
    async fn every_stack(&self) -> Result<BTreeSet<StackId>> {
        let tables = self.tables();
        let rows = Statement {
            sql: format!("SELECT key FROM {} WHERE key LIKE $1", tables.state),
            values: values![self.pattern(&format!("{}/", layout::STACKS))],
        };
        let mut stacks = BTreeSet::new();
        for row in self.ask("listing", layout::STACKS, &rows).await? {
            let path = self.path_of(row.get(0)).to_owned();
            stacks.extend(place_of(&path).and_then(|place| named(&place.stack)));
        }
        let own = Statement {
            sql: format!(
                "SELECT stack FROM {} UNION SELECT stack FROM {} UNION SELECT stack FROM {}",
                tables.revisions, tables.kept, tables.trash
            ),
            values: Vec::new(),
        };
        for row in self.ask("listing", layout::STACKS, &own).await? {
            let key = self.path_of(row.get(0)).to_owned();
            let name = key.split('@').next().unwrap_or(&key);
            stacks.extend(name.strip_prefix("organization/").and_then(named));
        }
        Ok(stacks)
    }

    /// Everything of a stack that is sealed.
    async fn sealed_rows(&self, stack: &StackId) -> Result<Vec<SealedRow>> {
        let mut found = self.stock_rows(stack).await?;
        found.extend(self.own_rows(stack).await?);
        found.extend(self.trash_rows(stack).await?);
        Ok(found)
    }

    async fn stock_rows(&self, stack: &StackId) -> Result<Vec<SealedRow>> {
        let state = &self.tables().state;
        let patterns = [
            layout::checkpoint(stack),
            layout::tags(stack),
            format!("{}/", layout::history(stack)),
            format!("{}/", layout::backups(stack)),
        ];
        let statement = Statement {
            sql: format!("SELECT key, decode(data->>'data', 'base64') FROM {state} WHERE key LIKE ANY($1)"),
            values: vec![Value::Texts(patterns.iter().map(|path| self.pattern(path)).collect())],
        };
        let rows = self.ask("reading", &layout::checkpoint(stack), &statement).await?;
        let rows = rows.iter().filter_map(|row| {
            let (key, content): (String, Option<Vec<u8>>) = (row.get(0), row.get(1));
            let path = self.path_of(&key).to_owned();
            place_of(&path)?;
            let sql = format!(
                "UPDATE {state} SET data = {} WHERE key = $1 AND decode(data->>'data', 'base64') = $3 RETURNING 1",
                super::commit::DATA
            );
            Some(SealedRow {
                path,
                content: content?,
                update: Box::new(move |seen, sealed| Statement { sql, values: values![key, sealed, seen] }),
            })
        });
        Ok(rows.collect())
    }

    async fn own_rows(&self, stack: &StackId) -> Result<Vec<SealedRow>> {
        let tables = self.tables();
        // The stack's own rows, and those of stacks of this name in the trash, or set aside.
        let keys = values![self.key_of(stack), self.pattern(&format!("{}@", stack.qualified()))];
        let of = |columns: &str, table: &str| Statement {
            sql: format!("SELECT {columns} FROM {table} WHERE stack = $1 OR stack LIKE $2"),
            values: keys.clone(),
        };
        let mut found = Vec::new();
        let revisions = of("stack, number, info, content", &tables.revisions);
        for row in self.ask("reading", &layout::revisions(stack), &revisions).await? {
            let (key, number, info, content): (String, i64, String, Vec<u8>) =
                (row.get(0), row.get(1), row.get(2), row.get(3));
            let column = |column: &str| {
                format!(
                    "UPDATE {} SET {column} = $3 WHERE stack = $1 AND number = $2 AND {column} = $4 RETURNING 1",
                    tables.revisions
                )
            };
            let (sql, of_key) = (column("content"), key.clone());
            found.push(SealedRow {
                path: revision_path(stack, number),
                content,
                update: Box::new(move |seen, sealed| Statement {
                    sql,
                    values: values![of_key, number, sealed, seen],
                }),
            });
            let sql = column("info");
            found.push(SealedRow {
                path: info_path(stack, number),
                content: info.into_bytes(),
                update: Box::new(move |seen, sealed| Statement {
                    sql,
                    values: values![key, number, text(&sealed), text(&seen)],
                }),
            });
        }
        let kept = of("stack, journal, content", &tables.kept);
        for row in self.ask("reading", &layout::journals(stack), &kept).await? {
            let (key, journal): (String, String) = (row.get(0), row.get(1));
            let sql = format!(
                "UPDATE {} SET content = $3 WHERE stack = $1 AND journal = $2 AND content = $4 RETURNING 1",
                tables.kept
            );
            found.push(SealedRow {
                path: kept_path(stack, &journal),
                content: row.get(2),
                update: Box::new(move |seen, sealed| Statement {
                    sql,
                    values: values![key, journal, sealed, seen],
                }),
            });
        }
        let known = of("stack, outline", &tables.current);
        for row in self.ask("reading", &known_path(stack), &known).await? {
            let (key, outline): (String, String) = (row.get(0), row.get(1));
            let sql = format!(
                "UPDATE {} SET outline = $2 WHERE stack = $1 AND outline = $3 RETURNING 1",
                tables.current
            );
            found.push(SealedRow {
                path: known_path(stack),
                content: outline.into_bytes(),
                update: Box::new(move |seen, sealed| Statement {
                    sql,
                    values: values![key, text(&sealed), text(&seen)],
                }),
            });
        }
        Ok(found)
    }

    async fn trash_rows(&self, stack: &StackId) -> Result<Vec<SealedRow>> {
        let trash = &self.tables().trash;
        let statement = Statement {
            sql: format!(
                "SELECT id, key, decode(data->>'data', 'base64') FROM {trash} WHERE stack = $1 AND key <> ''"
            ),
            values: values![self.key_of(stack)],
        };
        let mut found = Vec::new();
        for row in self.ask("reading", layout::TRASH, &statement).await? {
            let (id, key, content): (String, String, Option<Vec<u8>>) = (row.get(0), row.get(1), row.get(2));
            let path = self.path_of(&key).to_owned();
            let (Some(content), Some(_)) = (content, place_of(&path)) else { continue };
            let stack = self.key_of(stack);
            // The content is the second value of what makes the column.
            let sql = format!(
                "UPDATE {trash} SET data = {} WHERE stack = $1 AND id = $3 AND key = $4
                     AND decode(data->>'data', 'base64') = $5 RETURNING 1",
                super::commit::DATA
            );
            found.push(SealedRow {
                path,
                content,
                update: Box::new(move |seen, sealed| Statement {
                    sql,
                    values: values![stack, sealed, id, key, seen],
                }),
            });
        }
        let notes = Statement {
            sql: format!("SELECT id, data::text FROM {trash} WHERE stack = $1 AND key = ''"),
            values: values![self.key_of(stack)],
        };
        for row in self.ask("reading", layout::TRASH, &notes).await? {
            let (id, column): (String, &str) = (row.get(0), row.get(1));
            let content = note_content(column);
            let (path, key) = (note_path(stack, &id), self.key_of(stack));
            let sql = format!(
                "UPDATE {trash} SET data = $3::json WHERE stack = $1 AND id = $2 AND key = ''
                     AND data::text = $4 RETURNING 1"
            );
            let column = column.to_owned();
            found.push(SealedRow {
                path,
                content,
                update: Box::new(move |_, sealed| Statement {
                    sql,
                    values: values![key, id, note_column(text(&sealed)), column],
                }),
            });
        }
        Ok(found)
    }
}

/// A row that is sealed.
struct SealedRow {
    path: String,
    content: Vec<u8>,
    /// Writes another content in the place of the one that was seen, and gives a row if it still stood there.
    update: Box<dyn FnOnce(Vec<u8>, Vec<u8>) -> Statement + Send>,
}

/// Envelopes are text, and what was text before is so again.
pub(super) fn text(content: &[u8]) -> String {
    String::from_utf8_lossy(content).into_owned()
}

/// A note, sealed or not, as JSON: an envelope is a string, a clear one what it is.
fn note_column(note: String) -> String {
    if seal::is_sealed(note.as_bytes()) { serde_json::Value::from(note).to_string() } else { note }
}

/// The note in a column.
fn note_content(column: &str) -> Vec<u8> {
    match serde_json::from_str(column) {
        Ok(serde_json::Value::String(envelope)) => envelope.into_bytes(),
        _ => column.as_bytes().to_vec(),
    }
}

fn named(name: &str) -> Option<StackId> {
    let (project, name) = name.split_once('/')?;
    StackId::new(project, name).ok()
}

async fn release(lease: Option<Box<dyn HeldLease>>) -> Result<()> {
    match lease {
        Some(lease) => lease.release().await,
        None => Ok(()),
    }
}

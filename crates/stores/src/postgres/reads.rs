//! Reading, which never locks and never waits (S8).

use super::PostgresStore;
use super::connections::{Statement, values};
use super::documents::VERSION;
use super::leases::{self, Leases};
use super::recovery::Found;
use super::sealing::{note_path, part_path};
use crate::diy::layout::{self, stack_of};
use crate::diy::replay::Replay;
use crate::diy::trash::TrashNote;
use crate::diy::{document, frames, locks};
use crate::{
    At, Error, JournalHead, JournalMark, JournalPart, LeaseInfo, Reads, Recorded, Result, RevisionInfo,
    StackDescription, StackId, StackSummary, Trashed,
};
use async_trait::async_trait;
use drystone_dialects::pulumi;
use drystone_model::Json;
use futures::future::{try_join, try_join4};
use futures::{StreamExt, TryStreamExt};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// How many checkpoints that nobody noted anything of are read at once, each over a connection of its own.
const READS: usize = 4;

/// A stack in a list, with its newest checkpoint.
struct Listed {
    modified: Timestamp,
    /// What was noted of it, where that still holds.
    known: Option<(String, i64)>,
}

#[async_trait]
impl Reads for PostgresStore {
    async fn stacks(&self, project: Option<&str>) -> Result<Vec<StackSummary>> {
        let (listed, trash) = try_join(self.checkpoints(project), self.trash(project)).await?;
        let reads: Vec<_> = listed.into_iter().map(|(stack, listed)| self.summary(stack, listed)).collect();
        let live: Vec<Option<StackSummary>> =
            futures::stream::iter(reads).buffered(READS).try_collect().await?;
        Ok(live.into_iter().flatten().chain(trash).collect())
    }

    async fn holders(&self, project: Option<&str>) -> Result<BTreeMap<StackId, Vec<LeaseInfo>>> {
        leases::all_holders(self, project).await
    }

    async fn describe(&self, stack: &StackId) -> Result<StackDescription> {
        let leases = Leases::new(self, stack);
        let (holders, journals, tags, orphans) = try_join4(
            leases.holders(),
            self.journals(stack),
            self.row(&layout::tags(stack)),
            self.orphans(stack),
        )
        .await?;
        let tags = match tags {
            Some(file) => document::read_tags(self.location(&layout::tags(stack)), &file)?,
            None => BTreeMap::new(),
        };
        let running = holders.iter().any(|holder| !holder.foreign && !holder.dead);
        let unrecovered = !running && journals.iter().any(is_open);
        Ok(StackDescription { tags, holders, orphans, unrecovered })
    }

    async fn snapshot(&self, stack: &StackId, at: At) -> Result<Recorded> {
        match at {
            At::Revision(number) => {
                let (info, text) = self.revision(stack, number).await?;
                let recorded = document::parse(self.location(&layout::revisions(stack)), &text)?;
                Ok(Recorded { revision: Some(number), hash: info.hash, ..recorded })
            }
            At::Current => self.current(stack).await,
            At::Running => match self.open_journal(stack).await? {
                Some(found) => {
                    let replay = self.replayed(stack, found.journal).await?;
                    let Replay { snapshot, byte_strings, .. } = replay;
                    let hash = String::new();
                    Ok(Recorded { revision: None, hash, snapshot, ever_written: true, byte_strings })
                }
                None => self.current(stack).await,
            },
        }
    }

    async fn revisions(&self, stack: &StackId) -> Result<Vec<RevisionInfo>> {
        self.revision_list(stack).await
    }

    async fn updates(&self, stack: &StackId) -> Result<Vec<Json>> {
        let folder = format!("{}/", layout::history(stack));
        let statement = Statement {
            sql: format!(
                "SELECT key, decode(data->>'data', 'base64') FROM {}
                 WHERE key LIKE $1 AND key LIKE '%.history.json%' ORDER BY key COLLATE \"C\" DESC",
                self.tables().state
            ),
            values: values![self.pattern(&folder)],
        };
        let mut records = Vec::new();
        for row in self.ask("reading", &folder, &statement).await? {
            let path = self.path_of(row.get(0));
            if layout::is_history_record(path) {
                let content: Option<Vec<u8>> = row.get(1);
                let content = self.opened(path, content.unwrap_or_default())?;
                records.push(document::history_record(&self.location(path), content)?);
            }
        }
        Ok(records)
    }

    async fn journal(&self, stack: &StackId, since: Option<&JournalMark>) -> Result<Option<JournalPart>> {
        if let Some(mark) = since
            && let Some(part) = self.journal_after(stack, mark).await?
        {
            return Ok(Some(part));
        }
        let Some(found) = self.open_journal(stack).await? else { return Ok(None) };
        let Some(header) = found.journal.header else { return Ok(None) };
        let head = JournalHead { lease: header.lease, base: u64::try_from(header.base).ok() };
        let position = u64::try_from(found.next).unwrap_or(0);
        let mark = JournalMark { journal: format!("{}/{}", found.name, found.start), position };
        Ok(Some(JournalPart { head: Some(head), entries: found.journal.entries, mark }))
    }
}

/// Whether there is anything that somebody would want to follow, or to bring in.
fn is_open(found: &Found) -> bool {
    found.journal.header.is_some()
}

impl PostgresStore {
    async fn current(&self, stack: &StackId) -> Result<Recorded> {
        let missing = || Error::NotFound { stack: stack.clone() };
        let (document, text) = self.document(stack).await?.ok_or_else(missing)?;
        let recorded = document::parse(self.location(&document.path), &text)?;
        Ok(Recorded { revision: document.revision, hash: document.hash, ..recorded })
    }

    /// The journal of the update that runs, or of one that died and waits to be brought in.
    async fn open_journal(&self, stack: &StackId) -> Result<Option<Found>> {
        Ok(self.journals(stack).await?.into_iter().rev().find(is_open))
    }

    /// What a journal says after a mark; `None` when the mark is another's, or that journal is over.
    async fn journal_after(&self, stack: &StackId, mark: &JournalMark) -> Result<Option<JournalPart>> {
        let Some((name, start)) = mark.journal.rsplit_once('/') else { return Ok(None) };
        let (Ok(start), Ok(position)) = (start.parse::<i64>(), i64::try_from(mark.position)) else {
            return Ok(None);
        };
        let statement = Statement {
            sql: format!(
                "SELECT position, content FROM {} WHERE stack = $1 AND journal = $2
                     AND (position = $3 OR position >= $4) ORDER BY position",
                self.tables().journals
            ),
            values: values![self.key_of(stack), name, start, position],
        };
        let rows = self.ask("reading", &layout::journals(stack), &statement).await?;
        let is_there = rows.first().is_some_and(|row| row.get::<_, i64>(0) == start);
        if !is_there {
            return Ok(None);
        }
        let (mut entries, mut next) = (Vec::new(), position);
        for row in &rows {
            let at: i64 = row.get(0);
            if at >= position {
                let content = self.opened(&part_path(stack, name, at), row.get(1))?;
                entries.extend(frames::segment(&content).entries);
                next = at + 1;
            }
        }
        let position = u64::try_from(next).unwrap_or(0);
        let mark = JournalMark { journal: mark.journal.clone(), position };
        Ok(Some(JournalPart { head: None, entries, mark }))
    }

    /// Every stack with its newest checkpoint, in the order of the names, by one statement that opens none of them.
    async fn checkpoints(&self, project: Option<&str>) -> Result<BTreeMap<StackId, Listed>> {
        let folder = match project.filter(|_| self.has_projects()) {
            Some(project) => format!("{}/{project}/", layout::STACKS),
            None => format!("{}/", layout::STACKS),
        };
        let tables = self.tables();
        let statement = Statement {
            sql: format!(
                "SELECT t.key, t.updated_at, known.time, known.resources
                 FROM {state} t LEFT JOIN {current} known
                     ON known.key = t.key AND known.version = {VERSION}
                 WHERE t.key LIKE $1 AND t.key NOT LIKE '%.bak' AND t.key NOT LIKE '%.pulumi-tags'",
                state = tables.state,
                current = tables.current,
            ),
            values: values![self.pattern(&folder)],
        };
        let mut newest: BTreeMap<StackId, Listed> = BTreeMap::new();
        for row in self.ask("listing", &folder, &statement).await? {
            let Some(stack) = self.stack_at(self.path_of(row.get(0))) else { continue };
            let (time, resources): (Option<String>, Option<i64>) = (row.get(2), row.get(3));
            let listed = Listed { modified: row.get(1), known: time.zip(resources) };
            if newest.get(&stack).is_none_or(|best| listed.modified >= best.modified) {
                newest.insert(stack, listed);
            }
        }
        Ok(newest)
    }

    /// The stack that a path is the checkpoint of.
    fn stack_at(&self, path: &str) -> Option<StackId> {
        let rest = path.strip_prefix(layout::STACKS)?.strip_prefix('/')?;
        match (self.has_projects(), rest.split_once('/')) {
            (true, Some((project, file))) => StackId::new(project, stack_of(file)?).ok(),
            (false, None) => StackId::legacy(stack_of(rest)?).ok(),
            _ => None,
        }
    }

    /// What a list says of a stack: from what was noted where that still holds, else from the checkpoint.
    async fn summary(&self, stack: StackId, listed: Listed) -> Result<Option<StackSummary>> {
        if let Some((time, resources)) = listed.known {
            let last_update = Some(time).filter(|time| !time.is_empty());
            let resources = u64::try_from(resources).ok();
            return Ok(Some(StackSummary { stack, last_update, resources, trashed: None }));
        }
        let text = match self.document(&stack).await {
            Ok(Some((_, text))) => text,
            // Removed between the listing and the reading.
            Ok(None) => return Ok(None),
            Err(Error::Corrupt { .. } | Error::Unsupported { .. }) => {
                return Ok(Some(StackSummary { stack, last_update: None, resources: None, trashed: None }));
            }
            Err(error) => return Err(error),
        };
        let peeked = pulumi::peek(&text);
        let state = peeked.as_ref().ok().and_then(|peeked| peeked.state.as_ref());
        Ok(Some(StackSummary {
            stack,
            last_update: state.map(|state| state.time.clone()),
            resources: peeked.as_ref().ok().map(|_| state.map_or(0, |state| state.resources as u64)),
            trashed: None,
        }))
    }

    async fn trash(&self, project: Option<&str>) -> Result<Vec<StackSummary>> {
        let statement = Statement {
            sql: format!(
                "SELECT id, data::text, stack FROM {} WHERE key = '' AND stack LIKE $1 ORDER BY stack, id",
                self.tables().trash
            ),
            values: values![self.pattern("")],
        };
        let mut found = Vec::new();
        for row in self.ask("listing", layout::TRASH, &statement).await? {
            let (id, note): (String, &str) = (row.get(0), row.get(1));
            let Ok(stack) = self.stack_id(self.path_of(row.get(2)), None) else { continue };
            let note = self.opened_note(&note_path(&stack, &id), note)?;
            let note: TrashNote = serde_json::from_slice(&note).unwrap_or_default();
            if project.is_some_and(|project| self.has_projects() && stack.project() != Some(project)) {
                continue;
            }
            found.push(StackSummary {
                stack,
                last_update: note.last_update,
                resources: note.resources.and_then(|count| u64::try_from(count).ok()),
                trashed: Some(Trashed { id, removed: locks::moment(&note.removed), note: note.note }),
            });
        }
        Ok(found)
    }
}

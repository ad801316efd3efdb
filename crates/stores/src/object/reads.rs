//! Reading, which never locks and never waits (S8).

use super::leases::Leases;
use super::revisions::Revisions;
use super::{BucketStore, layout as keys, requests::Found};
use crate::diy::layout::{self, stack_of};
use crate::diy::replay::Replay;
use crate::diy::{document, locks, trash::TrashNote};
use crate::{
    At, Error, JournalHead, JournalMark, JournalPart, LeaseInfo, Reads, Recorded, Result, RevisionInfo,
    StackDescription, StackId, StackSummary, Trashed,
};
use async_trait::async_trait;
use drystone_dialects::pulumi;
use drystone_model::Json;
use futures::{StreamExt, TryStreamExt};
use std::collections::{BTreeMap, BTreeSet};

/// How many objects are read at once.
const READS: usize = 32;

#[async_trait]
impl Reads for BucketStore {
    async fn stacks(&self, project: Option<&str>) -> Result<Vec<StackSummary>> {
        let (checkpoints, trash) =
            futures::future::try_join(self.checkpoints(project), self.trash(project)).await?;
        let reads: Vec<_> =
            checkpoints.into_iter().map(|(stack, found)| self.summary(stack, found)).collect();
        let live: Vec<Option<StackSummary>> =
            futures::stream::iter(reads).buffered(READS).try_collect().await?;
        Ok(live.into_iter().flatten().chain(trash).collect())
    }

    /// One listing of the lock files: while a lease is held one stands for it, too. Who holds is asked of those alone.
    async fn holders(&self, project: Option<&str>) -> Result<BTreeMap<StackId, Vec<LeaseInfo>>> {
        let folder = layout::all_locks(project.filter(|_| self.has_projects()));
        let files = self.bucket().list(&folder).await?;
        let locked: BTreeSet<StackId> =
            files.iter().filter_map(|found| layout::locked_stack(&found.path, self.has_projects())).collect();
        let reads: Vec<_> = locked
            .into_iter()
            .map(|stack| async move {
                let holders = Leases::new(self, &stack).holders().await?;
                Ok::<_, Error>((stack, holders))
            })
            .collect();
        let held = futures::stream::iter(reads).buffered(READS);
        held.try_filter(|(_, holders)| futures::future::ready(!holders.is_empty())).try_collect().await
    }

    async fn describe(&self, stack: &StackId) -> Result<StackDescription> {
        let (holders, journals, tags) = futures::future::try_join3(
            async { Leases::new(self, stack).holders().await },
            self.journals(stack),
            self.read_tags(stack),
        )
        .await?;
        let running = holders.iter().any(|holder| !holder.foreign && !holder.dead);
        let unrecovered = !running && self.open_journal(stack).await?.is_some();
        Ok(StackDescription {
            tags,
            orphans: self.orphans(stack, &journals.kept).await?,
            unrecovered,
            holders,
        })
    }

    async fn snapshot(&self, stack: &StackId, at: At) -> Result<Recorded> {
        match at {
            At::Revision(number) => {
                let (info, text) = Revisions::new(self, stack).read(stack, number).await?;
                let location = self.bucket().location(&layout::revisions(stack));
                let recorded = document::parse(location, &text)?;
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
        Revisions::new(self, stack).list().await
    }

    async fn updates(&self, stack: &StackId) -> Result<Vec<Json>> {
        let found = self.bucket().list(&layout::history(stack)).await?;
        let records = found.into_iter().rev().filter(|found| layout::is_history_record(&found.path));
        let reads: Vec<_> = records
            .map(|found| async move {
                let object = self.bucket().read(&found.path).await?;
                object.map(|object| self.history_record(&found.path, object.content.to_vec())).transpose()
            })
            .collect();
        let records: Vec<Option<Json>> = futures::stream::iter(reads).buffered(READS).try_collect().await?;
        Ok(records.into_iter().flatten().collect())
    }

    async fn journal(&self, stack: &StackId, since: Option<&JournalMark>) -> Result<Option<JournalPart>> {
        if let Some(mark) = since
            && let Some(part) = self.journal_after(stack, mark).await?
        {
            return Ok(Some(part));
        }
        let Some(found) = self.open_journal(stack).await? else { return Ok(None) };
        let (Some(start), Some(header)) = (found.start, found.journal.header) else { return Ok(None) };
        let head = JournalHead { lease: header.lease, base: u64::try_from(header.base).ok() };
        let mark = JournalMark { journal: format!("{}/{start}", found.name), position: found.next };
        Ok(Some(JournalPart { head: Some(head), entries: found.journal.entries, mark }))
    }
}

impl BucketStore {
    async fn current(&self, stack: &StackId) -> Result<Recorded> {
        let missing = || Error::NotFound { stack: stack.clone() };
        let (document, text) = self.document(stack).await?.ok_or_else(missing)?;
        let recorded = document::parse(self.bucket().location(&document.located.path), &text)?;
        let revision = match document.revision {
            Some(revision) => Some(revision),
            None => Revisions::new(self, stack).with_hash(&document.hash).await?,
        };
        Ok(Recorded { revision, hash: document.hash, ..recorded })
    }

    /// What a journal says after a mark; `None` when the mark is another's, or that journal is over.
    async fn journal_after(&self, stack: &StackId, mark: &JournalMark) -> Result<Option<JournalPart>> {
        let Some((name, _)) = mark.journal.rsplit_once('/') else { return Ok(None) };
        let Some(numbers) = self.journals(stack).await?.open.remove(name) else { return Ok(None) };
        let new: Vec<u64> = numbers.into_iter().filter(|&number| number >= mark.position).collect();
        let found = self.read_journal(stack, name, &new).await?;
        if found.shrank || found.decision.is_some() || found.start.is_some() {
            return Ok(None);
        }
        let mark = JournalMark { journal: mark.journal.clone(), position: found.next.max(mark.position) };
        Ok(Some(JournalPart { head: None, entries: found.journal.entries, mark }))
    }

    /// The checkpoint of every stack, the newest where there are several compressions, in the order of the names.
    async fn checkpoints(&self, project: Option<&str>) -> Result<BTreeMap<StackId, Found>> {
        let folder = match project.filter(|_| self.has_projects()) {
            Some(project) => format!("{}/{project}", layout::STACKS),
            None => layout::STACKS.to_owned(),
        };
        let mut newest: BTreeMap<StackId, Found> = BTreeMap::new();
        for found in self.bucket().list(&folder).await? {
            let Some(stack) = self.stack_at(&found.path) else { continue };
            if newest.get(&stack).is_none_or(|best| found.modified >= best.modified) {
                newest.insert(stack, found);
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

    /// What a list says of a stack: from the note of its last writer where that still holds, else from the checkpoint.
    async fn summary(&self, stack: StackId, found: Found) -> Result<Option<StackSummary>> {
        let known = self.known(&stack).await?.filter(|known| known.is_of(&found.path, &found.version));
        if let Some(known) = known {
            let last_update = Some(known.time).filter(|time| !time.is_empty());
            let resources = u64::try_from(known.outline.resources).ok();
            return Ok(Some(StackSummary { stack, last_update, resources, trashed: None }));
        }
        // Removed between the listing and the reading.
        let Some((_, text)) = self.read_current(&stack).await? else { return Ok(None) };
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
        let mut found = Vec::new();
        for (folder, stack_project) in self.trash_folders(project).await? {
            for name in self.bucket().names(&folder).await?.0 {
                let Some((stack, id)) = name.rsplit_once('@') else { continue };
                let stack = match &stack_project {
                    Some(project) => StackId::new(project, stack),
                    None => StackId::legacy(stack),
                };
                let Ok(stack) = stack else { continue };
                let Some(note) = self.trash_note(&stack, id).await? else { continue };
                found.push(StackSummary {
                    stack,
                    last_update: note.last_update,
                    resources: note.resources.and_then(|count| u64::try_from(count).ok()),
                    trashed: Some(Trashed {
                        id: id.to_owned(),
                        removed: locks::moment(&note.removed),
                        note: note.note,
                    }),
                });
            }
        }
        Ok(found)
    }

    /// The folders of the trash and the project that each is for.
    async fn trash_folders(&self, project: Option<&str>) -> Result<Vec<(String, Option<String>)>> {
        if !self.has_projects() {
            return Ok(vec![(format!("{}/legacy", layout::TRASH), None)]);
        }
        let root = format!("{}/projects", layout::TRASH);
        let projects = match project {
            Some(project) => vec![project.to_owned()],
            None => self.bucket().names(&root).await?.0,
        };
        Ok(projects.into_iter().map(|name| (format!("{root}/{name}"), Some(name))).collect())
    }

    pub(super) async fn trash_note(&self, stack: &StackId, id: &str) -> Result<Option<TrashNote>> {
        let object = self.bucket().read(&keys::trash_note(stack, id)).await?;
        Ok(object.and_then(|object| serde_json::from_slice(&object.content).ok()))
    }

    async fn read_tags(&self, stack: &StackId) -> Result<BTreeMap<String, String>> {
        let path = layout::tags(stack);
        match self.bucket().read(&path).await? {
            Some(object) => document::read_tags(self.bucket().location(&path), &object.content),
            None => Ok(BTreeMap::new()),
        }
    }

    fn history_record(&self, path: &str, content: Vec<u8>) -> Result<Json> {
        document::history_record(&self.bucket().location(path), content)
    }
}

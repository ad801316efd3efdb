//! Reading, which never locks and never waits (S8).

use super::checkpoint;
use super::recovery::JOURNAL;
use super::{LocalStore, revisions};
use crate::disk;
use crate::diy::layout::{self, stack_of};
use crate::diy::replay::{Replay, SETTLED};
use crate::diy::{document, frames, locks};
use crate::{
    At, Error, JournalHead, JournalMark, JournalPart, LeaseInfo, Reads, Recorded, Result, RevisionInfo,
    StackDescription, StackId, StackSummary, Trashed,
};
use async_trait::async_trait;
use drystone_dialects::pulumi;
use drystone_model::Json;
use std::collections::{BTreeMap, BTreeSet};

#[async_trait]
impl Reads for LocalStore {
    async fn stacks(&self, project: Option<&str>) -> Result<Vec<StackSummary>> {
        let mut summaries = Vec::new();
        for stack in self.names(project)? {
            summaries.extend(self.summary(stack)?);
        }
        summaries.extend(self.trash(project)?);
        Ok(summaries)
    }

    /// The lock files are looked through: while a lease is held one stands for it, too. Who holds is asked of those
    /// alone.
    async fn holders(&self, project: Option<&str>) -> Result<BTreeMap<StackId, Vec<LeaseInfo>>> {
        let mut held = BTreeMap::new();
        let mut folders = vec![layout::all_locks(project.filter(|_| self.has_projects()))];
        while let Some(folder) = folders.pop() {
            for name in disk::list(self.disk(), &folder)? {
                let path = format!("{folder}/{}", name.text);
                if name.is_folder {
                    folders.push(path);
                } else if let Some(stack) = layout::locked_stack(&path, self.has_projects())
                    && !held.contains_key(&stack)
                {
                    let holders = self.leases(&stack).holders()?;
                    held.insert(stack, holders);
                }
            }
        }
        held.retain(|_, holders| !holders.is_empty());
        Ok(held)
    }

    async fn describe(&self, stack: &StackId) -> Result<StackDescription> {
        let holders = self.leases(stack).holders()?;
        let running = holders.iter().any(|holder| !holder.foreign && !holder.dead);
        Ok(StackDescription {
            tags: self.read_tags(stack)?,
            orphans: self.orphans(stack)?,
            unrecovered: !running && !self.journal_names(stack, JOURNAL)?.is_empty(),
            holders,
        })
    }

    async fn snapshot(&self, stack: &StackId, at: At) -> Result<Recorded> {
        match at {
            At::Revision(number) => {
                let (info, text) = self.revisions(stack).read(stack, number)?;
                let path = format!("{}/{number}.json.zst", layout::revisions(stack));
                let recorded = document::parse(self.disk().location(&path), &text)?;
                Ok(Recorded { revision: Some(number), hash: info.hash, ..recorded })
            }
            At::Current => self.current(stack),
            At::Running => match self.running(stack)? {
                Some(running) => Ok(running),
                None => self.current(stack),
            },
        }
    }

    async fn revisions(&self, stack: &StackId) -> Result<Vec<RevisionInfo>> {
        self.revisions(stack).list()
    }

    async fn updates(&self, stack: &StackId) -> Result<Vec<Json>> {
        let folder = layout::history(stack);
        let mut records = Vec::new();
        for name in disk::list(self.disk(), &folder)?.iter().rev() {
            if !layout::is_history_record(&name.text) {
                continue;
            }
            let path = format!("{folder}/{}", name.text);
            let Some(file) = disk::read_if_there(self.disk(), &path)? else { continue };
            records.push(document::history_record(&self.disk().location(&path), file)?);
        }
        Ok(records)
    }

    async fn journal(&self, stack: &StackId, since: Option<&JournalMark>) -> Result<Option<JournalPart>> {
        let Some(journal) = self.journal_names(stack, JOURNAL)?.pop() else { return Ok(None) };
        let path = format!("{}/{journal}", layout::journals(stack));
        let known = since.filter(|mark| mark.journal == journal);
        let start = known.map_or(0, |mark| mark.position);
        // Committed between the listing and the reading.
        let Some(file) = disk::read_from_if_there(self.disk(), &path, start)? else { return Ok(None) };
        let (head, end) = match (known, frames::head(&file)) {
            (Some(_), _) => (None, 0),
            (None, Some((header, end))) => {
                (Some(JournalHead { lease: header.lease, base: u64::try_from(header.base).ok() }), end)
            }
            (None, None) => return Ok(None),
        };
        let (entries, length) = frames::read_on(&file[end..]);
        let position = start + (end + length) as u64;
        Ok(Some(JournalPart { head, entries, mark: JournalMark { journal, position } }))
    }
}

impl LocalStore {
    /// What a list says of a stack: from its newest revision where the checkpoint is still the one that it was made of,
    /// else from the checkpoint.
    fn summary(&self, stack: StackId) -> Result<Option<StackSummary>> {
        // Removed between the listing and the look.
        let Some(located) = checkpoint::locate(self.disk(), &stack)? else { return Ok(None) };
        // A damaged revision does not hide its stack.
        let known = self.revisions(&stack).document_of(&located).unwrap_or_default();
        let outline = known.map(|document| document.outline).filter(|outline| !outline.time.is_empty());
        if let Some(outline) = outline {
            let resources = u64::try_from(outline.resources).ok();
            return Ok(Some(StackSummary {
                stack,
                last_update: Some(outline.time),
                resources,
                trashed: None,
            }));
        }
        let Some((_, text)) = checkpoint::read(self.disk(), &stack)? else { return Ok(None) };
        let peeked = pulumi::peek(&text);
        let state = peeked.as_ref().ok().and_then(|peeked| peeked.state.as_ref());
        Ok(Some(StackSummary {
            stack,
            last_update: state.map(|state| state.time.clone()),
            resources: peeked.as_ref().ok().map(|_| state.map_or(0, |state| state.resources as u64)),
            trashed: None,
        }))
    }

    fn current(&self, stack: &StackId) -> Result<Recorded> {
        let (located, text) =
            checkpoint::read(self.disk(), stack)?.ok_or_else(|| Error::NotFound { stack: stack.clone() })?;
        let hash = match self.revisions(stack).document_of(&located)? {
            Some(document) => document.hash,
            None => document::hash(&text),
        };
        let recorded = document::parse(self.disk().location(&located.path), &text)?;
        drop(text);
        let revision = self.revisions(stack).with_hash(&hash)?;
        Ok(Recorded { revision, hash, ..recorded })
    }

    /// The base of a running or dead update plus everything that its journal says.
    fn running(&self, stack: &StackId) -> Result<Option<Recorded>> {
        let Some(name) = self.journal_names(stack, JOURNAL)?.pop() else { return Ok(None) };
        let path = format!("{}/{name}", layout::journals(stack));
        let Some(file) = disk::read_if_there(self.disk(), &path)? else { return Ok(None) };
        let journal = frames::read(&file);
        if journal.header.is_none() {
            return Ok(None);
        }
        let Replay { snapshot, byte_strings, .. } = self.replayed(stack, journal)?;
        Ok(Some(Recorded { revision: None, hash: String::new(), snapshot, ever_written: true, byte_strings }))
    }

    /// The stacks that have a checkpoint, in the order of their names.
    pub(crate) fn names(&self, project: Option<&str>) -> Result<Vec<StackId>> {
        let mut names = BTreeSet::new();
        if self.has_projects() {
            for folder in disk::list(self.disk(), layout::STACKS)? {
                let wanted = project.is_none_or(|project| project == folder.text);
                if !folder.is_folder || !wanted {
                    continue;
                }
                for file in disk::list(self.disk(), &format!("{}/{}", layout::STACKS, folder.text))? {
                    let stack = stack_of(&file.text).and_then(|name| StackId::new(&folder.text, name).ok());
                    names.extend(stack.filter(|_| !file.is_folder));
                }
            }
        } else {
            names.extend(super::upgrade::legacy_stacks(self.disk())?);
        }
        Ok(names.into_iter().collect())
    }

    fn trash(&self, project: Option<&str>) -> Result<Vec<StackSummary>> {
        let mut found = Vec::new();
        for (folder, stack_project) in self.trash_folders(project)? {
            for name in disk::list(self.disk(), &folder)? {
                let Some((stack, id)) = name.text.rsplit_once('@') else { continue };
                let stack = match &stack_project {
                    Some(project) => StackId::new(project, stack),
                    None => StackId::legacy(stack),
                };
                let Ok(stack) = stack else { continue };
                found.extend(self.trashed(&stack, id)?);
            }
        }
        Ok(found)
    }

    /// The folders of the trash and the project that each is for.
    fn trash_folders(&self, project: Option<&str>) -> Result<Vec<(String, Option<String>)>> {
        if !self.has_projects() {
            return Ok(vec![(format!("{}/legacy", layout::TRASH), None)]);
        }
        let root = format!("{}/projects", layout::TRASH);
        let projects = disk::list(self.disk(), &root)?.into_iter().map(|name| name.text);
        let wanted = projects.filter(|name| project.is_none_or(|project| project == name));
        Ok(wanted.map(|name| (format!("{root}/{name}"), Some(name))).collect())
    }

    pub(crate) fn read_tags(&self, stack: &StackId) -> Result<BTreeMap<String, String>> {
        let path = layout::tags(stack);
        let Some(file) = disk::read_if_there(self.disk(), &path)? else { return Ok(BTreeMap::new()) };
        document::read_tags(self.disk().location(&path), &file)
    }

    /// Revisions that a journal points into, which pruning must leave.
    pub(crate) fn pinned_revisions(&self, stack: &StackId) -> Result<BTreeSet<u64>> {
        let mut pinned = BTreeSet::new();
        for name in disk::list(self.disk(), &layout::journals(stack))? {
            if name.text.ends_with(SETTLED) {
                continue;
            }
            let path = format!("{}/{}", layout::journals(stack), name.text);
            let header = disk::read_if_there(self.disk(), &path)?.and_then(|file| frames::read(&file).header);
            pinned.extend(header.and_then(|header| u64::try_from(header.base).ok()));
        }
        Ok(pinned)
    }

    fn trashed(&self, stack: &StackId, id: &str) -> Result<Option<StackSummary>> {
        let folder = layout::trashed(stack, id);
        let Some(note) = self.trash_note(&folder)? else { return Ok(None) };
        let revisions =
            revisions::Revisions::below(self.disk(), &format!("{folder}/own/revisions")).list()?;
        let last = revisions.last();
        Ok(Some(StackSummary {
            stack: stack.clone(),
            last_update: last.map(|info| info.time.clone()),
            resources: last.and_then(|info| u64::try_from(info.resources).ok()),
            trashed: Some(Trashed {
                id: id.to_owned(),
                removed: locks::moment(&note.removed),
                note: note.note,
            }),
        }))
    }
}

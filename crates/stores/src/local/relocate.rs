//! Moving a stack with everything that belongs to it: renaming, the trash, and back.
//!
//! A move is a list of renames whose first makes it happen. The list is written down before; whoever takes the
//! lease after a crash runs the rest of it if the first was done, and forgets it if not.

use super::LocalStore;
use super::checkpoint;
use super::commit::Writer;
use super::revisions::Revisions;
use crate::disk;
use crate::diy::trash::TrashNote;
use crate::diy::{document, layout, revision_number};
use crate::{Error, Relocation, Result, RevisionInfo, StackId};
use drystone_model::Snapshot;
use serde::{Deserialize, Serialize};

/// A move that has begun.
#[derive(Debug, Serialize, Deserialize)]
struct Intent {
    moves: Vec<(String, String)>,
}

const INTENT: &str = "relocation.json";
const NOTE: &str = "trash.json";

impl LocalStore {
    /// Moves a stack. The target's lease is taken first, then everything happens under the stack's own guard, so that
    /// a holder that lost its lease moves nothing; two guards are never waited for at once.
    pub(crate) fn relocate(&self, stack: &StackId, writer: Writer<'_>, to: Relocation) -> Result<()> {
        match to {
            Relocation::To { stack: target, snapshot } => {
                self.rename_stack(stack, writer, &target, snapshot.map(|it| *it))
            }
            Relocation::Trash { note } => self.trash_stack(stack, writer, note).map(drop),
            Relocation::Nowhere => {
                let folder = self.trash_stack(stack, writer, None)?;
                self.remove_tree(&folder)
            }
            Relocation::FromTrash { id } => self.restore_stack(stack, writer, &id),
        }
    }

    /// Finishes or forgets a move that a crash cut short.
    pub(crate) fn finish_relocation(&self, stack: &StackId) -> Result<()> {
        let path = format!("{}/{INTENT}", layout::lease(stack));
        let Some(file) = disk::read_if_there(self.disk(), &path)? else { return Ok(()) };
        let intent: Intent = serde_json::from_slice(&file).map_err(|error| Error::Corrupt {
            path: self.disk().location(&path),
            reason: error.to_string(),
        })?;
        let happened = match intent.moves.first() {
            Some((from, _)) => disk::stat(self.disk(), from)?.is_none(),
            None => false,
        };
        if happened {
            self.run_moves(&intent.moves[1..])?;
            self.settle_moved(stack, &intent.moves)?;
        }
        disk::remove_if_there(self.disk(), &path)
    }

    /// Decides about the revision that a move cut short had prepared, under whatever name it is now.
    fn settle_moved(&self, stack: &StackId, moves: &[(String, String)]) -> Result<()> {
        let own = layout::own(stack);
        let moved = moves.iter().find(|(from, to)| *from == own || *to == own);
        let (Some((_, own)), Some((_, checkpoint))) = (moved, moves.first()) else { return Ok(()) };
        let Some(file) = disk::read_if_there(self.disk(), checkpoint)? else { return Ok(()) };
        let text = document::decompress(file).unwrap_or_default();
        Revisions::below(self.disk(), &format!("{own}/revisions")).settle(Some(&document::hash(&text)))
    }

    fn relocate_by(&self, stack: &StackId, moves: Vec<(String, String)>) -> Result<()> {
        let path = format!("{}/{INTENT}", layout::lease(stack));
        let intent = Intent { moves };
        let file = serde_json::to_vec(&intent).map_err(|error| Error::Corrupt {
            path: self.disk().location(&path),
            reason: error.to_string(),
        })?;
        disk::publish(self.disk(), &path, &file)?;
        self.run_moves(&intent.moves)?;
        disk::remove_if_there(self.disk(), &path)
    }

    /// Each rename that is still to be done, durable before the next.
    fn run_moves(&self, moves: &[(String, String)]) -> Result<()> {
        for (from, to) in moves {
            disk::create_folder(self.disk(), disk::folder_of(to))?;
            match self.disk().rename(from, to) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                done => done.map_err(Error::io("moving", self.disk().location(from)))?,
            }
            disk::sync_folder(self.disk(), disk::folder_of(to))?;
            disk::sync_folder(self.disk(), disk::folder_of(from))?;
        }
        Ok(())
    }

    fn rename_stack(
        &self,
        stack: &StackId,
        writer: Writer<'_>,
        target: &StackId,
        snapshot: Option<Snapshot>,
    ) -> Result<()> {
        let target_files = self.leases(target);
        let target_guard = target_files.guard()?;
        let target_lease = target_files.take(&target_guard, &crate::Claim::new("stack rename"))?;
        drop(target_guard);
        let renamed = self.rename_to_leased(stack, writer, target, snapshot);
        let _target_guard = target_files.guard()?;
        target_files.release(&target_lease.info)?;
        renamed
    }

    fn rename_to_leased(
        &self,
        stack: &StackId,
        writer: Writer<'_>,
        target: &StackId,
        snapshot: Option<Snapshot>,
    ) -> Result<()> {
        let files = self.leases(stack);
        let _guard = self.guard_for(&files, writer)?;
        let document = self.document(stack)?.ok_or_else(|| Error::NotFound { stack: stack.clone() })?;
        if checkpoint::locate(self.disk(), target)?.is_some() {
            return Err(Error::AlreadyExists { stack: target.clone() });
        }
        let previous = self.adopt(stack, &document)?;
        let byte_strings = document.outline.byte_strings;
        // In the folder of this stack's lease: that it is gone from there says that the move happened, so only a
        // holder of this lease may delete it.
        let folder = layout::lease(stack);
        let (staged, renamed, text) =
            self.stage_snapshot(target, Some(&folder), snapshot, byte_strings, &document.outline)?;
        let revisions = self.revisions(stack);
        let info = RevisionInfo {
            number: revision_number(revisions.next()?),
            parent: Some(revision_number(previous)),
            time: self.host().now().to_string(),
            title: format!("renamed from {stack}"),
            by: writer.lease.holder(),
            hash: renamed.hash.clone(),
            resources: renamed.outline.resources,
            ..RevisionInfo::default()
        };
        revisions.prepare(&info, revisions.stage(&text)?, Some(&renamed))?;
        drop(text);
        let old = document.located.path;
        let mut moves = vec![staged.keep()];
        moves.extend(self.leftovers(target)?);
        moves.push((layout::own(stack), layout::own(target)));
        moves.push((layout::tags(stack), layout::tags(target)));
        moves.extend(self.history_moves(stack, target)?);
        moves.push((old.clone(), format!("{old}.bak")));
        self.relocate_by(stack, moves)?;
        self.revisions(target).settle(Some(&renamed.hash))?;
        for leftover in [layout::tags(stack), old] {
            disk::remove_if_there(self.disk(), &format!("{leftover}.attrs"))?;
        }
        Ok(())
    }

    /// What is left of ours under a name whose checkpoint another tool removed: it is set aside before another stack
    /// takes the name.
    fn leftovers(&self, stack: &StackId) -> Result<Option<(String, String)>> {
        let own = layout::own(stack);
        if disk::list(self.disk(), &own)?.is_empty() {
            return Ok(None);
        }
        let id = self.host().now().as_nanosecond().to_string();
        Ok(Some((own, format!("{}/own", layout::trashed(stack, &id)))))
    }

    /// History files carry the stack's name in theirs.
    fn history_moves(&self, stack: &StackId, target: &StackId) -> Result<Vec<(String, String)>> {
        let (from, to) = (layout::history(stack), layout::history(target));
        let mut moves = Vec::new();
        for name in disk::list(self.disk(), &from)? {
            if let Some((owner, rest)) = name.text.rsplit_once('-')
                && owner == stack.name()
            {
                moves.push((format!("{from}/{}", name.text), format!("{to}/{}-{rest}", target.name())));
            }
        }
        Ok(moves)
    }

    /// Moves the stack to a folder of the trash, and says which.
    fn trash_stack(&self, stack: &StackId, writer: Writer<'_>, note: Option<String>) -> Result<String> {
        let files = self.leases(stack);
        let _guard = self.guard_for(&files, writer)?;
        let document = self.document(stack)?.ok_or_else(|| Error::NotFound { stack: stack.clone() })?;
        self.adopt(stack, &document)?;
        let now = self.host().now();
        let folder = layout::trashed(stack, &now.as_nanosecond().to_string());
        let note = TrashNote {
            stack: stack.qualified(),
            removed: now.to_string(),
            by: writer.lease.holder(),
            note,
            ..TrashNote::default()
        };
        let note = serde_json::to_vec(&note).map_err(|error| Error::Corrupt {
            path: self.disk().location(&folder),
            reason: error.to_string(),
        })?;
        disk::publish(self.disk(), &format!("{folder}/{NOTE}"), &note)?;
        let file =
            |path: &str| (path.to_owned(), format!("{folder}/{}", path.rsplit('/').next().unwrap_or(path)));
        let mut moves = vec![file(&document.located.path)];
        for compression in layout::Compression::ALL {
            let path = format!("{}{}", layout::checkpoint(stack), compression.ending());
            moves.push(file(&path));
            moves.push(file(&format!("{path}.bak")));
        }
        moves.push(file(&layout::tags(stack)));
        moves.push((layout::history(stack), format!("{folder}/history")));
        moves.push((layout::backups(stack), format!("{folder}/backups")));
        moves.push((layout::own(stack), format!("{folder}/own")));
        self.relocate_by(stack, moves)?;
        let checkpoint = layout::checkpoint(stack);
        for leftover in
            [format!("{checkpoint}.attrs"), format!("{checkpoint}.bak.attrs"), layout::tags(stack) + ".attrs"]
        {
            disk::remove_if_there(self.disk(), &leftover)?;
        }
        Ok(folder)
    }

    fn restore_stack(&self, stack: &StackId, writer: Writer<'_>, id: &str) -> Result<()> {
        let files = self.leases(stack);
        let _guard = self.guard_for(&files, writer)?;
        if checkpoint::locate(self.disk(), stack)?.is_some() {
            return Err(Error::AlreadyExists { stack: stack.clone() });
        }
        let folder = layout::trashed(stack, id);
        if self.trash_note(&folder)?.is_none() {
            return Err(Error::NotFound { stack: stack.clone() });
        }
        let stacks = disk::folder_of(&layout::checkpoint(stack)).to_owned();
        let files = disk::list(self.disk(), &folder)?;
        let plain = files.iter().filter(|name| !name.is_folder && name.text != NOTE);
        let mut moves: Vec<(String, String)> = plain
            .map(|name| (format!("{folder}/{}", name.text), format!("{stacks}/{}", name.text)))
            .collect();
        // The checkpoint first: it makes the stack exist.
        moves.sort_by_key(|(from, _)| layout::stack_of(from).is_none());
        let leftovers = self.leftovers(stack)?;
        moves.splice(1.min(moves.len())..1.min(moves.len()), leftovers);
        moves.push((format!("{folder}/history"), layout::history(stack)));
        moves.push((format!("{folder}/backups"), layout::backups(stack)));
        moves.push((format!("{folder}/own"), layout::own(stack)));
        self.relocate_by(stack, moves)?;
        self.remove_tree(&folder)
    }

    pub(crate) fn trash_note(&self, folder: &str) -> Result<Option<TrashNote>> {
        let file = disk::read_if_there(self.disk(), &format!("{folder}/{NOTE}"))?;
        Ok(file.and_then(|file| serde_json::from_slice(&file).ok()))
    }

    fn remove_tree(&self, folder: &str) -> Result<()> {
        for name in disk::list(self.disk(), folder)? {
            let path = format!("{folder}/{}", name.text);
            if name.is_folder {
                self.remove_tree(&path)?;
            } else {
                disk::remove_if_there(self.disk(), &path)?;
            }
        }
        self.disk().remove_folder(folder).map_err(Error::io("deleting", self.disk().location(folder)))
    }
}

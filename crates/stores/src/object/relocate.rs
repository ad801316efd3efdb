//! Moving a stack with everything that belongs to it: renaming, the trash, and back.
//!
//! A bucket knows no renames, so a move is a list of copies and deletions. The list is decided in the journal like a
//! commit, and carried out by whoever holds the lease then or next; each part of it can be done twice. It begins with
//! the checkpoint, which must find its new place free: where it does not, nothing is moved.

use super::commit::Writer;
use super::documents::Document;
use super::requests::{Found, Written};
use super::revisions::Revisions;
use super::{BucketStore, layout as keys};
use crate::diy::document;
use crate::diy::frames::{Decision, Frame, Moves};
use crate::diy::layout::{self, Compression, stack_of};
use crate::diy::revision_number;
use crate::diy::trash::TrashNote;
use crate::{Claim, Error, Leases, Relocation, Result, RevisionInfo, StackId};
use drystone_model::Snapshot;
use futures::{StreamExt, TryStreamExt};

/// How many objects are copied at once.
const COPIES: usize = 16;

impl BucketStore {
    /// Moves a stack.
    pub(super) async fn relocate(&self, stack: &StackId, writer: Writer<'_>, to: Relocation) -> Result<()> {
        match to {
            Relocation::To { stack: target, snapshot } => {
                self.rename_stack(stack, writer, &target, snapshot.map(|it| *it)).await
            }
            Relocation::Trash { note } => {
                let moves = self.trash_moves(stack, writer, note).await?;
                self.decide_moves(stack, writer, moves).await
            }
            Relocation::Nowhere => {
                let moves = self.trash_moves(stack, writer, None).await?;
                let deletes = moves.moves.into_iter().map(|(from, _)| from).chain(moves.deletes).collect();
                self.decide_moves(stack, writer, Moves { deletes, ..Moves::default() }).await
            }
            Relocation::FromTrash { id } => self.restore_stack(stack, writer, &id).await,
        }
    }

    /// Decides moves and carries them out. A decision to do nothing takes their place then: a stack that another tool
    /// makes under the old name later must not be moved after them.
    async fn decide_moves(&self, target: &StackId, writer: Writer<'_>, moves: Moves) -> Result<()> {
        let lease = Some(writer.lease.clone());
        let relocation = Some(moves.clone());
        let decision = Decision { relocation, lease: lease.clone(), ..Decision::default() };
        writer.segments.write(&Frame::Decision(Box::new(decision))).await?;
        let moved = self.carry_out_relocation(&moves).await;
        let moved = moved.inspect_err(|error| writer.segments.give_up(error))?;
        let done = Decision { lease, ..Decision::default() };
        let at = writer.segments.write(&Frame::Decision(Box::new(done))).await?;
        writer.segments.forget_before(at).await;
        if moved { Ok(()) } else { Err(Error::AlreadyExists { stack: target.clone() }) }
    }

    /// Copies everything, the first alone since it makes the stack exist under its new name, then deletes what was
    /// copied. The first is deleted last: where it is gone, all this was done before. Says no when it found its place
    /// taken by another.
    pub(super) async fn carry_out_relocation(&self, relocation: &Moves) -> Result<bool> {
        let Moves { writes, moves, deletes, .. } = relocation;
        let (first, others) = (moves.first(), moves.get(1..).unwrap_or_default());
        if let Some((from, to)) = first {
            let Some(object) = self.bucket().read(from).await? else { return Ok(true) };
            if let Written::Refused(_) = self.bucket().create(to, object.content).await? {
                return Ok(false);
            }
        }
        for (path, content) in writes {
            self.bucket().overwrite(path, content.clone()).await?;
        }
        let mut done = self.copy_all(others).await?;
        done.extend(deletes.iter().cloned());
        self.bucket().remove(&done).await?;
        if let Some((from, _)) = first {
            self.bucket().remove(std::slice::from_ref(from)).await?;
        }
        Ok(true)
    }

    /// Copies objects; gives those that were there.
    async fn copy_all(&self, moves: &[(String, String)]) -> Result<Vec<String>> {
        let copies: Vec<_> = moves
            .iter()
            .map(|(from, to)| async move {
                Ok::<_, Error>(self.bucket().copy(from, to).await?.then(|| from.clone()))
            })
            .collect();
        let copied: Vec<Option<String>> =
            futures::stream::iter(copies).buffered(COPIES).try_collect().await?;
        Ok(copied.into_iter().flatten().collect())
    }

    async fn rename_stack(
        &self,
        stack: &StackId,
        writer: Writer<'_>,
        target: &StackId,
        snapshot: Option<Snapshot>,
    ) -> Result<()> {
        let target_lease = self.acquire(target, Claim::new("stack rename")).await?;
        let renamed = self.rename_to_leased(stack, writer, target, snapshot).await;
        target_lease.release().await?;
        renamed
    }

    async fn rename_to_leased(
        &self,
        stack: &StackId,
        writer: Writer<'_>,
        target: &StackId,
        snapshot: Option<Snapshot>,
    ) -> Result<()> {
        let (document, _) = self.existing(stack).await?;
        if self.is_there(target).await? {
            return Err(Error::AlreadyExists { stack: target.clone() });
        }
        let previous = self.adopt(stack, &document, writer.lease).await?;
        let place = self.checkpoint_path(target);
        let location = self.bucket().location(&place);
        let byte_strings = document.outline.byte_strings;
        let rendered = document::render(target, snapshot, byte_strings, &document.outline, location.clone())?;
        let compressed = document::compress(&rendered.text, self.options().diy.compression);
        let staged = keys::staged(stack, &self.host().new_id());
        self.bucket().overwrite(&staged, compressed.map_err(Error::io("compressing", location))?).await?;
        let highest = document.highest.max(previous);
        let revisions = Revisions::new(self, stack);
        let number = revisions.prepare(&rendered.text, highest, &writer.lease.nonce).await?;
        let info = RevisionInfo {
            number: revision_number(number),
            parent: Some(revision_number(previous)),
            time: self.host().now().to_string(),
            title: format!("renamed from {stack}"),
            by: writer.lease.holder(),
            hash: rendered.hash,
            resources: rendered.outline.resources,
            ..RevisionInfo::default()
        };
        // Under the lease of the target. Dying on the way leaves the rest for the next.
        let leftovers = self.leftovers(target).await?;
        self.carry_out_relocation(&leftovers).await?;
        let mut moves = vec![(staged, place)];
        moves.extend(self.own_moves(stack, &layout::own(target)).await?);
        moves.push((layout::tags(stack), layout::tags(target)));
        moves.extend(self.history_moves(stack, target).await?);
        let old = document.located.path;
        moves.push((old.clone(), format!("{old}.bak")));
        let writes = vec![Revisions::new(self, target).description(&info)?];
        let deletes = vec![keys::known(stack)];
        self.decide_moves(target, writer, Moves { moves, deletes, writes, ..Moves::default() }).await
    }

    async fn existing(&self, stack: &StackId) -> Result<(Document, Vec<u8>)> {
        let found = self.document(stack).await?;
        found.ok_or_else(|| Error::NotFound { stack: stack.clone() })
    }

    /// The moves of what is left of ours under a name whose checkpoint another tool removed: to the trash, before another
    /// stack takes the name.
    async fn leftovers(&self, stack: &StackId) -> Result<Moves> {
        let id = self.host().now().as_nanosecond().to_string();
        let trash = layout::trashed(stack, &id);
        let moves = self.own_moves(stack, &format!("{trash}/own")).await?;
        Ok(Moves { moves, deletes: vec![keys::known(stack)], ..Moves::default() })
    }

    /// The moves of everything of ours that goes with a stack. Journals of leases stay: they are the old name's.
    async fn own_moves(&self, stack: &StackId, to: &str) -> Result<Vec<(String, String)>> {
        let own = layout::own(stack);
        let journals = layout::journals(stack);
        let goes = |found: &Found| {
            let rest = found.path.strip_prefix(&own).unwrap_or_default();
            let is_segment = found
                .path
                .strip_prefix(&journals)
                .is_some_and(|rest| rest.trim_start_matches('/').contains('/'));
            !is_segment && found.path != keys::known(stack) && !rest.starts_with("/staged-")
        };
        let found = self.bucket().list(&own).await?;
        let moved = found.into_iter().filter(goes).map(|found| {
            let rest = found.path.strip_prefix(&own).unwrap_or_default();
            let to = format!("{to}{rest}");
            (found.path, to)
        });
        Ok(moved.collect())
    }

    /// History files carry the stack's name in theirs.
    async fn history_moves(&self, stack: &StackId, target: &StackId) -> Result<Vec<(String, String)>> {
        let to = layout::history(target);
        let found = self.bucket().list(&layout::history(stack)).await?;
        let moved = found.into_iter().filter_map(|found| {
            let name = found.path.rsplit('/').next()?;
            let (owner, rest) = name.rsplit_once('-')?;
            let to = (owner == stack.name()).then(|| format!("{to}/{}-{rest}", target.name()))?;
            Some((found.path, to))
        });
        Ok(moved.collect())
    }

    /// The moves of a whole folder.
    async fn folder_moves(&self, from: &str, to: &str) -> Result<Vec<(String, String)>> {
        let found = self.bucket().list(from).await?;
        let moved = found.into_iter().map(|found| {
            let to = format!("{to}{}", found.path.strip_prefix(from).unwrap_or_default());
            (found.path, to)
        });
        Ok(moved.collect())
    }

    /// The moves that put a stack into the trash, its checkpoint first.
    async fn trash_moves(&self, stack: &StackId, writer: Writer<'_>, note: Option<String>) -> Result<Moves> {
        let (document, _) = self.existing(stack).await?;
        self.adopt(stack, &document, writer.lease).await?;
        let now = self.host().now();
        let id = now.as_nanosecond().to_string();
        let folder = layout::trashed(stack, &id);
        let last = Revisions::new(self, stack).list().await?.pop();
        let note = TrashNote {
            stack: stack.qualified(),
            removed: now.to_string(),
            by: writer.lease.holder(),
            note,
            last_update: last.as_ref().map(|info| info.time.clone()),
            resources: last.map(|info| info.resources),
            ..TrashNote::default()
        };
        let path = keys::trash_note(stack, &id);
        let note = serde_json::to_string(&note).map_err(|error| Error::Corrupt {
            path: self.bucket().location(&path),
            reason: error.to_string(),
        })?;
        let file =
            |path: &str| (path.to_owned(), format!("{folder}/{}", path.rsplit('/').next().unwrap_or(path)));
        let current = &document.located.path;
        let mut moves = vec![file(current)];
        for compression in Compression::ALL {
            let path = format!("{}{}", layout::checkpoint(stack), compression.ending());
            moves.extend((path != *current).then(|| file(&path)));
            moves.push(file(&format!("{path}.bak")));
        }
        moves.push(file(&layout::tags(stack)));
        moves.extend(self.folder_moves(&layout::history(stack), &format!("{folder}/history")).await?);
        moves.extend(self.folder_moves(&layout::backups(stack), &format!("{folder}/backups")).await?);
        moves.extend(self.own_moves(stack, &format!("{folder}/own")).await?);
        let deletes = vec![keys::known(stack)];
        Ok(Moves { moves, deletes, writes: vec![(path, note)], ..Moves::default() })
    }

    async fn restore_stack(&self, stack: &StackId, writer: Writer<'_>, id: &str) -> Result<()> {
        if self.is_there(stack).await? {
            return Err(Error::AlreadyExists { stack: stack.clone() });
        }
        if self.trash_note(stack, id).await?.is_none() {
            return Err(Error::NotFound { stack: stack.clone() });
        }
        let folder = layout::trashed(stack, id);
        let checkpoint = layout::checkpoint(stack);
        let stacks = checkpoint.rsplit_once('/').map_or("", |(folder, _)| folder);
        let note = keys::trash_note(stack, id);
        let (_, files) = self.bucket().names(&folder).await?;
        let mut moves: Vec<(String, String)> = files
            .into_iter()
            .filter(|found| found.path != note)
            .map(|found| {
                let to = format!("{stacks}/{}", found.path.rsplit('/').next().unwrap_or_default());
                (found.path, to)
            })
            .collect();
        // The checkpoint first: it makes the stack exist.
        moves.sort_by_key(|(from, _)| stack_of(from).is_none());
        let leftovers = self.leftovers(stack).await?;
        if !leftovers.moves.is_empty() {
            self.decide_moves(stack, writer, leftovers).await?;
        }
        moves.extend(self.folder_moves(&format!("{folder}/history"), &layout::history(stack)).await?);
        moves.extend(self.folder_moves(&format!("{folder}/backups"), &layout::backups(stack)).await?);
        moves.extend(self.folder_moves(&format!("{folder}/own"), &layout::own(stack)).await?);
        let deletes = vec![note, keys::known(stack)];
        self.decide_moves(stack, writer, Moves { moves, deletes, ..Moves::default() }).await
    }
}

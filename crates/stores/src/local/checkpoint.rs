//! The checkpoint file that Pulumi knows: finding, reading and replacing it in its three compressions.

use crate::disk::{self, Disk, Staged, Stat};
use crate::diy::document::{compress, decompress};
use crate::diy::layout::{self, Compression};
use crate::diy::outline::Outline;
use crate::{Error, Result, StackId};

/// A checkpoint file on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) path: String,
    pub(crate) stat: Stat,
}

/// The stack's checkpoint, the newest where there are several compressions of it.
pub(crate) fn locate(disk: &dyn Disk, stack: &StackId) -> Result<Option<Located>> {
    let mut newest: Option<Located> = None;
    for compression in Compression::ALL {
        let path = format!("{}{}", layout::checkpoint(stack), compression.ending());
        if let Some(stat) = disk::stat(disk, &path)?
            && newest.as_ref().is_none_or(|best| stat.modified >= best.stat.modified)
        {
            newest = Some(Located { path, stat });
        }
    }
    Ok(newest)
}

/// A document: which file it is, and what is known of it without its text.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) located: Located,
    pub(crate) hash: String,
    pub(crate) outline: Outline,
}

/// The text of the current document and the file it came from; `None` when there is no such stack.
pub(crate) fn read(disk: &dyn Disk, stack: &StackId) -> Result<Option<(Located, Vec<u8>)>> {
    // A writer may replace the file between the look and the reading; look again then, so that both belong together.
    let mut last = None;
    for _ in 0..8 {
        let Some(located) = locate(disk, stack)? else { return Ok(None) };
        let Some(file) = disk::read_if_there(disk, &located.path)? else { continue };
        let settled = disk::stat(disk, &located.path)? == Some(located.stat);
        last = Some((located, file));
        if settled {
            break;
        }
    }
    let Some((located, file)) = last else { return Ok(None) };
    let text = decompress(file).map_err(|source| Error::Corrupt {
        path: disk.location(&located.path),
        reason: format!("cannot be decompressed: {source}"),
    })?;
    Ok(Some((located, text)))
}

/// A new document, durable under a temporary name and ready to become the checkpoint.
#[derive(Debug)]
pub(crate) struct NewCheckpoint<'a> {
    staged: Staged<'a>,
    path: String,
}

/// Writes the document beside the checkpoint without touching that, or in another folder.
pub(crate) fn stage<'a>(
    disk: &'a dyn Disk,
    stack: &StackId,
    folder: Option<&str>,
    text: &[u8],
    compression: Compression,
) -> Result<NewCheckpoint<'a>> {
    let path = format!("{}{}", layout::checkpoint(stack), compression.ending());
    let beside = folder.map_or_else(|| path.clone(), |folder| format!("{folder}/checkpoint"));
    let staged = if compression == Compression::None {
        disk::stage_for(disk, &beside, &path, text)?
    } else {
        let file = compress(text, compression).map_err(Error::io("compressing", disk.location(&path)))?;
        disk::stage_for(disk, &beside, &path, &file)?
    };
    Ok(NewCheckpoint { staged, path })
}

impl NewCheckpoint<'_> {
    /// Where the document waits, and where it is to go.
    pub(crate) fn keep(self) -> (String, String) {
        (self.staged.keep(), self.path)
    }

    /// The file that it will be.
    pub(crate) fn located(&self) -> Result<Located> {
        Ok(Located { path: self.path.clone(), stat: self.staged.stat()? })
    }

    /// Makes the staged document current and the old one its `.bak`. One rename is the moment; a crash before it leaves
    /// the old document current, one after it the new.
    pub(crate) fn publish(self, disk: &dyn Disk, old: Option<&Located>) -> Result<()> {
        let Self { staged, path } = self;
        if let Some(old) = old.filter(|old| old.path == path) {
            keep_backup(disk, &old.path)?;
        }
        staged.publish_as(&path)?;
        // The stock CLI's sidecar describes the file that was there before.
        disk::remove_if_there(disk, &format!("{path}.attrs"))?;
        if let Some(old) = old.filter(|old| old.path != path) {
            disk::rename(disk, &old.path, &format!("{}.bak", old.path))?;
            disk::remove_if_there(disk, &format!("{}.attrs", old.path))?;
            disk::sync_folder(disk, disk::folder_of(&path))?;
        }
        Ok(())
    }
}

/// Gives the current file its `.bak` name too, without ever leaving it without its own.
fn keep_backup(disk: &dyn Disk, path: &str) -> Result<()> {
    let backup = format!("{path}.bak");
    let temporary = disk::temporary(disk, &backup);
    if disk.link(path, &temporary).is_ok() {
        disk::rename(disk, &temporary, &backup)?;
    } else {
        // Not every file system has second names.
        let content = disk.read(path).map_err(Error::io("reading", disk.location(path)))?;
        disk::publish(disk, &backup, &content)?;
    }
    disk::remove_if_there(disk, &format!("{backup}.attrs"))
}

/// Gives the checkpoint file one more name, or copies it where files have only one.
pub(crate) fn copy_to(disk: &dyn Disk, from: &str, to: &str) -> Result<()> {
    disk::create_folder(disk, disk::folder_of(to))?;
    if disk.link(from, to).is_ok() {
        return disk::sync_folder(disk, disk::folder_of(to));
    }
    let content = disk.read(from).map_err(Error::io("reading", disk.location(from)))?;
    disk::publish(disk, to, &content)
}

//! The disk under the local store: the few operations it needs, so that a simulation can stand in for the real one.
//!
//! Paths are relative to the store's root and use `/`. Nothing but [`publish`] replaces a file that others read.

mod os;

pub use os::OsDisk;

use crate::{Error, Result};
use std::io;
use std::path::{Path, PathBuf};

/// A disk.
pub trait Disk: Send + Sync + std::fmt::Debug {
    /// Where a path is, for messages.
    fn location(&self, path: &str) -> PathBuf;
    /// A word without periods that no other writer of this disk uses, for the names of files that are being written.
    fn unique(&self) -> String;
    /// A file's content.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;
    /// What a file holds from an offset on; nothing when it is shorter.
    fn read_from(&self, path: &str, offset: u64) -> io::Result<Vec<u8>> {
        let content = self.read(path)?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        Ok(content.get(start..).unwrap_or_default().to_vec())
    }
    /// What is known of a file without reading it; `None` when there is none.
    fn stat(&self, path: &str) -> io::Result<Option<Stat>>;
    /// The names in a folder, sorted; none when there is no such folder.
    fn list(&self, folder: &str) -> io::Result<Vec<Name>>;
    /// Writes a new file, not yet durable. Fails when there is one.
    fn create(&self, path: &str, content: &[u8]) -> io::Result<()>;
    /// Writes a new file that is destined to another path than the one it is written at.
    fn create_for(&self, path: &str, destined: &str, content: &[u8]) -> io::Result<()> {
        let _ = destined;
        self.create(path, content)
    }
    /// Opens a file for appending, making it when it is missing.
    fn open_append(&self, path: &str) -> io::Result<Box<dyn AppendFile>>;
    /// Makes a file's content durable.
    fn sync(&self, path: &str) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_folder(&self, folder: &str) -> io::Result<()>;
    /// Gives a file another name, replacing whatever has it.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Gives a file a second name. Fails when that is taken.
    fn link(&self, from: &str, to: &str) -> io::Result<()>;
    /// Deletes a file.
    fn remove(&self, path: &str) -> io::Result<()>;
    /// Deletes an empty folder.
    fn remove_folder(&self, folder: &str) -> io::Result<()>;
    /// Makes a folder and those above it, durably.
    fn create_folder(&self, folder: &str) -> io::Result<()>;
    /// Takes the lock on a file, making the file when it is missing; `None` when another process has it. Ends with the
    /// process that took it, however it ends.
    fn try_lock(&self, path: &str) -> io::Result<Option<Box<dyn FileLock>>>;
    /// Takes the lock on a file, waiting for it.
    fn lock(&self, path: &str) -> io::Result<Box<dyn FileLock>>;
}

/// A held lock; dropping it gives it back.
pub trait FileLock: Send + Sync + std::fmt::Debug {}

/// A file that only grows.
pub trait AppendFile: Send {
    /// Adds to the end.
    fn append(&mut self, content: &[u8]) -> io::Result<()>;
    /// Makes everything added so far durable.
    fn sync(&mut self) -> io::Result<()>;
    /// Cuts the file off after `length` bytes.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
}

/// What is known of a file without reading it. Two equal ones of a file that is only ever replaced mean equal content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Its length.
    pub length: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified: i128,
    /// The file system's own number for it, where there is one.
    pub identity: u64,
}

/// A name in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// The folder that a path is in.
#[must_use]
pub fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The ending of files that are being written. Readers and listings pass them over; a crash may leave one behind.
pub const TEMPORARY: &str = ".drystone-tmp";

/// Writes a file so that others see either the old content or all of the new, durable when this returns. The one way a
/// file is replaced.
pub fn publish(disk: &dyn Disk, path: &str, content: &[u8]) -> Result<()> {
    stage(disk, path, content)?.publish_as(path)
}

/// Writes the content durably under a temporary name beside `path`, ready to be renamed. The name is the writer's own:
/// one that lost its lease cannot put its content in the place of another's.
pub fn stage<'a>(disk: &'a dyn Disk, path: &str, content: &[u8]) -> Result<Staged<'a>> {
    stage_for(disk, path, path, content)
}

/// The same, beside another path than the one that it is destined to.
pub(crate) fn stage_for<'a>(
    disk: &'a dyn Disk,
    path: &str,
    destined: &str,
    content: &[u8],
) -> Result<Staged<'a>> {
    create_folder(disk, folder_of(path))?;
    let temporary = temporary(disk, path);
    let staged = Staged { disk, temporary };
    let written =
        disk.create_for(&staged.temporary, destined, content).and_then(|()| disk.sync(&staged.temporary));
    written.map_err(|source| Error::Io { action: "writing", path: disk.location(path), source })?;
    Ok(staged)
}

/// A file that is written and waits for its name. Dropped without one it is deleted: a full disk must not be left
/// fuller.
#[derive(Debug)]
pub struct Staged<'a> {
    disk: &'a dyn Disk,
    temporary: String,
}

impl Staged<'_> {
    /// What is known of the file; its name does not change that.
    pub(crate) fn stat(&self) -> Result<Stat> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let found = stat(self.disk, &self.temporary)?;
        found.ok_or_else(missing).map_err(Error::io("looking at", self.disk.location(&self.temporary)))
    }

    /// Gives the file its name, durably.
    pub(crate) fn publish_as(mut self, path: &str) -> Result<()> {
        rename(self.disk, &self.temporary, path)?;
        self.temporary.clear();
        sync_folder(self.disk, folder_of(path))
    }

    /// Gives the file a name that nobody has, durably. `false` when somebody has it, whose file stays.
    pub(crate) fn publish_new(self, path: &str) -> Result<bool> {
        match self.disk.link(&self.temporary, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(Error::io("naming a file", self.disk.location(path))(error)),
            Ok(()) => sync_folder(self.disk, folder_of(path)).map(|()| true),
        }
    }

    /// Leaves the file under its temporary name to whoever is told it.
    pub(crate) fn keep(mut self) -> String {
        std::mem::take(&mut self.temporary)
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.temporary.is_empty() {
            // What cannot be deleted now is swept up by the next holder.
            let _ = self.disk.remove(&self.temporary);
        }
    }
}

/// A name beside a path for a file that is being written.
pub(crate) fn temporary(disk: &dyn Disk, path: &str) -> String {
    format!("{path}.{}{TEMPORARY}", disk.unique())
}

/// Deletes what dead writers were writing in a folder, of the files that `owns` names.
pub(crate) fn sweep(disk: &dyn Disk, folder: &str, owns: impl Fn(&str) -> bool) -> Result<()> {
    for name in disk.list(folder).map_err(Error::io("listing", disk.location(folder)))? {
        let path = name.text.strip_suffix(TEMPORARY).and_then(|rest| rest.rsplit_once('.'));
        if path.is_some_and(|(path, _)| owns(path)) && !name.is_folder {
            remove_if_there(disk, &format!("{folder}/{}", name.text))?;
        }
    }
    Ok(())
}

pub(crate) fn read_if_there(disk: &dyn Disk, path: &str) -> Result<Option<Vec<u8>>> {
    if_there(disk, path, disk.read(path))
}

pub(crate) fn read_from_if_there(disk: &dyn Disk, path: &str, offset: u64) -> Result<Option<Vec<u8>>> {
    if_there(disk, path, disk.read_from(path, offset))
}

fn if_there(disk: &dyn Disk, path: &str, read: io::Result<Vec<u8>>) -> Result<Option<Vec<u8>>> {
    match read {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("reading", disk.location(path))(error)),
    }
}

pub(crate) fn remove_if_there(disk: &dyn Disk, path: &str) -> Result<()> {
    match disk.remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("deleting", disk.location(path))(error))
        }
        _ => Ok(()),
    }
}

pub(crate) fn rename(disk: &dyn Disk, from: &str, to: &str) -> Result<()> {
    disk.rename(from, to).map_err(Error::io("renaming a file to", disk.location(to)))
}

pub(crate) fn sync_folder(disk: &dyn Disk, folder: &str) -> Result<()> {
    disk.sync_folder(folder).map_err(Error::io("writing to", disk.location(folder)))
}

pub(crate) fn create_folder(disk: &dyn Disk, folder: &str) -> Result<()> {
    disk.create_folder(folder).map_err(Error::io("making the folder", disk.location(folder)))
}

pub(crate) fn list(disk: &dyn Disk, folder: &str) -> Result<Vec<Name>> {
    let mut names = disk.list(folder).map_err(Error::io("listing", disk.location(folder)))?;
    names.retain(|name| !name.text.ends_with(TEMPORARY));
    Ok(names)
}

pub(crate) fn stat(disk: &dyn Disk, path: &str) -> Result<Option<Stat>> {
    disk.stat(path).map_err(Error::io("looking at", disk.location(path)))
}

/// Joins a root and a path of ours.
pub(crate) fn join(root: &Path, path: &str) -> PathBuf {
    path.split('/').filter(|part| !part.is_empty()).fold(root.to_owned(), |at, part| at.join(part))
}

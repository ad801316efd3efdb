//! A disk whose documents are sealed.
//!
//! A file that is given another name of its own place is only renamed. One that goes to another place, which a stack's
//! new name is, is sealed anew for it: the new file is durable before the old one goes, so that a crash leaves one of
//! them or both, and doing it again goes on.

use super::append::SealedFile;
use super::{Sealing, append, is_sealed, place_of};
use crate::disk::{AppendFile, Disk, FileLock, Name, Stat, TEMPORARY, folder_of, temporary};
use drystone_secrets::envelope::{PayloadType, Place};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// A disk whose documents are sealed.
#[derive(Debug, Clone)]
pub(crate) struct SealedDisk {
    inner: Arc<dyn Disk>,
    sealing: Arc<Sealing>,
}

impl SealedDisk {
    pub(crate) fn new(inner: Arc<dyn Disk>, sealing: Sealing) -> Self {
        Self { inner, sealing: Arc::new(sealing) }
    }

    /// Brings a file into the form that new ones have; says whether there was something to do.
    pub(crate) fn reseal(&self, path: &str) -> io::Result<bool> {
        let Some(place) = place_of(path) else { return Ok(false) };
        let content = self.inner.read(path)?;
        if self.sealing.is_in_form(&content) {
            return Ok(false);
        }
        let body = self.opened(&place, &content)?;
        let staged = temporary(&*self.inner, path);
        self.inner.create(&staged, &self.sealed(&place, &body)?)?;
        self.inner.sync(&staged)?;
        self.inner.rename(&staged, path)?;
        self.inner.sync_folder(folder_of(path))?;
        Ok(true)
    }

    fn sealed(&self, place: &Place, body: &[u8]) -> io::Result<Vec<u8>> {
        match place.payload_type {
            PayloadType::Journal => self.sealing.seal(&append::part(place, 0), body),
            _ => self.sealing.seal(place, body),
        }
    }

    fn opened(&self, place: &Place, content: &[u8]) -> io::Result<Vec<u8>> {
        match place.payload_type {
            PayloadType::Journal => append::read(&self.sealing, place, content).map(|parts| parts.body),
            _ => self.sealing.open(place, content),
        }
    }

    /// Writes what stands at `from` for the place of `to`, durably, under a name beside that.
    fn copied(&self, from: &str, to: &str, place: &Place) -> io::Result<String> {
        let body = self.read(from)?;
        let staged = temporary(&*self.inner, to);
        self.inner.create(&staged, &self.sealed(place, &body)?)?;
        self.inner.sync(&staged)?;
        Ok(staged)
    }

    /// Whether everything in a folder keeps its place when the folder gets another name.
    fn keeps_places(&self, from: &str, to: &str) -> io::Result<bool> {
        for name in self.inner.list(from)? {
            let (from, to) = (format!("{from}/{}", name.text), format!("{to}/{}", name.text));
            let keeps = if name.is_folder {
                self.keeps_places(&from, &to)?
            } else {
                place_of(&from) == place_of(&to)
            };
            if !keeps {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Moves a folder whose documents are sealed anew on the way.
    fn move_folder(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.create_folder(to)?;
        for name in self.inner.list(from)? {
            let (from, to) = (format!("{from}/{}", name.text), format!("{to}/{}", name.text));
            if name.is_folder {
                self.move_folder(&from, &to)?;
            } else if name.text.ends_with(TEMPORARY) {
                // Left by a writer that died.
                self.inner.remove(&from)?;
            } else {
                self.rename(&from, &to)?;
            }
        }
        self.inner.sync_folder(to)?;
        self.inner.sync_folder(from)?;
        self.inner.remove_folder(from)
    }
}

impl Disk for SealedDisk {
    fn location(&self, path: &str) -> PathBuf {
        self.inner.location(path)
    }

    fn unique(&self) -> String {
        self.inner.unique()
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let content = self.inner.read(path)?;
        match place_of(path) {
            Some(place) => self.opened(&place, &content),
            None => Ok(content),
        }
    }

    fn stat(&self, path: &str) -> io::Result<Option<Stat>> {
        self.inner.stat(path)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Name>> {
        self.inner.list(folder)
    }

    fn create(&self, path: &str, content: &[u8]) -> io::Result<()> {
        self.create_for(path, path, content)
    }

    fn create_for(&self, path: &str, destined: &str, content: &[u8]) -> io::Result<()> {
        match place_of(destined) {
            Some(place) => self.inner.create(path, &self.sealed(&place, content)?),
            None => self.inner.create(path, content),
        }
    }

    fn open_append(&self, path: &str) -> io::Result<Box<dyn AppendFile>> {
        let Some(place) = place_of(path) else { return self.inner.open_append(path) };
        let content = match self.inner.read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            content => content?,
        };
        let file = self.inner.open_append(path)?;
        // A journal that was begun before the backend was sealed is ended as it is.
        if !content.is_empty() && !is_sealed(&content) {
            self.sealing.open(&place, &content)?;
            return Ok(file);
        }
        let parts = append::read(&self.sealing, &place, &content)?;
        Ok(Box::new(SealedFile::new(file, Arc::clone(&self.sealing), place, parts)))
    }

    fn sync(&self, path: &str) -> io::Result<()> {
        self.inner.sync(path)
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        self.inner.sync_folder(folder)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        if self.inner.stat(from)?.is_none() {
            let is_empty = self.inner.list(from)?.is_empty();
            if is_empty && self.inner.stat(to)?.is_none() && !self.inner.list(to)?.is_empty() {
                // A crash came after the last file had been moved.
                return self.inner.remove_folder(from);
            }
            if is_empty || self.keeps_places(from, to)? {
                return self.inner.rename(from, to);
            }
            return self.move_folder(from, to);
        }
        let (old, new) = (place_of(from), place_of(to));
        let Some(new) = new.filter(|new| old.as_ref() != Some(new)) else {
            return self.inner.rename(from, to);
        };
        if old.is_none() && self.sealing.open(&new, &self.inner.read(from)?).is_ok() {
            // Sealed for where it goes, before it had its name.
            return self.inner.rename(from, to);
        }
        let staged = self.copied(from, to, &new)?;
        self.inner.rename(&staged, to)?;
        self.inner.sync_folder(folder_of(to))?;
        self.inner.remove(from)
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        match place_of(to) {
            Some(place) if place_of(from).as_ref() != Some(&place) => {
                let staged = self.copied(from, to, &place)?;
                let linked = self.inner.link(&staged, to);
                self.inner.remove(&staged)?;
                linked
            }
            _ => self.inner.link(from, to),
        }
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.inner.remove(path)
    }

    fn remove_folder(&self, folder: &str) -> io::Result<()> {
        self.inner.remove_folder(folder)
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        self.inner.create_folder(folder)
    }

    fn try_lock(&self, path: &str) -> io::Result<Option<Box<dyn FileLock>>> {
        self.inner.try_lock(path)
    }

    fn lock(&self, path: &str) -> io::Result<Box<dyn FileLock>> {
        self.inner.lock(path)
    }
}

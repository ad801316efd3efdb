//! Trees in a folder.

use super::medium::{Content, Mark, Medium, StoreKind};
use super::{Holder, Result};
use crate::disk::{self, Disk};
use crate::{Error as StoreError, Host};
use async_trait::async_trait;
use jiff::Timestamp;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A folder with trees.
#[derive(Debug)]
pub(super) struct Folder {
    disk: Arc<dyn Disk>,
}

impl Folder {
    pub(super) fn new(disk: Arc<dyn Disk>) -> Self {
        Self { disk }
    }
}

#[async_trait]
impl Medium for Folder {
    fn kind(&self) -> StoreKind {
        StoreKind::Local
    }

    fn location(&self, path: &str) -> PathBuf {
        self.disk.location(path)
    }

    async fn read(&self, path: &str) -> Result<Option<Content>> {
        let Some(bytes) = disk::read_if_there(&*self.disk, path)? else { return Ok(None) };
        // Deleted since: as good as not there.
        let Some(stat) = disk::stat(&*self.disk, path)? else { return Ok(None) };
        let modified = Timestamp::from_nanosecond(stat.modified).ok();
        Ok(Some(Content { bytes, mark: Mark::File(stat), modified }))
    }

    async fn exists(&self, path: &str) -> Result<bool> {
        Ok(disk::stat(&*self.disk, path)?.is_some())
    }

    async fn names(&self, folder: &str) -> Result<Vec<String>> {
        Ok(disk::list(&*self.disk, folder)?.into_iter().map(|name| name.text).collect())
    }

    async fn folders(&self, folder: &str) -> Result<Vec<String>> {
        let names = disk::list(&*self.disk, folder)?.into_iter();
        Ok(names.filter(|name| name.is_folder).map(|name| name.text).collect())
    }

    async fn create(&self, path: &str, content: Vec<u8>) -> Result<bool> {
        Ok(disk::stage(&*self.disk, path, &content)?.publish_new(path)?)
    }

    /// A folder cannot look and replace in one step: between the two, only the lock keeps others away.
    async fn replace(&self, path: &str, content: Vec<u8>, seen: Option<&Mark>) -> Result<bool> {
        let there = disk::stat(&*self.disk, path)?.map(Mark::File);
        let is_as_seen = match (&there, seen) {
            (Some(there), Some(seen)) => there.is_same(seen),
            (None, None) => true,
            _ => false,
        };
        if is_as_seen {
            disk::publish(&*self.disk, path, &content)?;
        }
        Ok(is_as_seen)
    }

    async fn remove(&self, path: &str) -> Result<()> {
        Ok(disk::remove_if_there(&*self.disk, path)?)
    }

    fn lock_text(&self, host: &dyn Host) -> Vec<u8> {
        format!("{}\n", host.pid()).into_bytes()
    }

    async fn create_lock(&self, path: &str, text: &[u8]) -> Result<Option<Mark>> {
        disk::create_folder(&*self.disk, disk::folder_of(path))?;
        match self.disk.create(path, text) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(StoreError::io("making the lock", self.disk.location(path))(error).into()),
            Ok(()) => Ok(disk::stat(&*self.disk, path)?.map(Mark::File)),
        }
    }

    fn holder(&self, host: &dyn Host, lock: &Content) -> Holder {
        let process = std::str::from_utf8(&lock.bytes).ok().and_then(|text| text.trim().parse().ok());
        let is_running = process.and_then(|process| host.is_running(process));
        Holder { name: None, process, since: lock.modified, is_running }
    }

    fn pause(&self) -> Duration {
        Duration::from_millis(100)
    }
}

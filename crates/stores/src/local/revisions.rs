//! Revisions on disk: `<n>.json.zst` holds the document, `<n>.meta.json` says what it is.
//!
//! A revision is prepared before its document becomes current and recorded after. A crash in between leaves a prepared
//! one; whether it happened is told by the hash of the current document.

use super::checkpoint;
use crate::disk::{self, Disk};
use crate::{Error, Result, RevisionInfo, StackId};

const META: &str = ".meta.json";
const PREPARED: &str = ".meta.json.prepared";
const CONTENT: &str = ".json.zst";
/// The fastest level: documents compress twentyfold at it already.
const LEVEL: i32 = 1;

/// The revisions of one stack.
pub(crate) struct Revisions<'a> {
    disk: &'a dyn Disk,
    folder: String,
}

impl<'a> Revisions<'a> {
    pub(crate) fn new(disk: &'a dyn Disk, stack: &StackId) -> Self {
        Self::below(disk, &super::layout::revisions(stack))
    }

    /// The revisions in a folder, such as those of a stack in the trash.
    pub(crate) fn below(disk: &'a dyn Disk, folder: &str) -> Self {
        Self { disk, folder: folder.to_owned() }
    }

    /// Everything recorded, oldest first.
    pub(crate) fn list(&self) -> Result<Vec<RevisionInfo>> {
        self.infos(META)
    }

    /// The newest revision with a document of this hash.
    pub(crate) fn with_hash(&self, hash: &str) -> Result<Option<u64>> {
        let infos = self.list()?;
        Ok(infos.iter().rev().find(|info| info.hash == hash).map(number))
    }

    /// A revision's document, checked against its hash.
    pub(crate) fn read(&self, stack: &StackId, revision: u64) -> Result<(RevisionInfo, Vec<u8>)> {
        let missing = || Error::NoRevision { stack: stack.clone(), revision };
        let meta = self.path(revision, META);
        let info = disk::read_if_there(self.disk, &meta)?.ok_or_else(missing)?;
        let info: RevisionInfo = serde_json::from_slice(&info).map_err(|error| self.corrupt(&meta, error))?;
        let path = self.path(revision, CONTENT);
        let file =
            disk::read_if_there(self.disk, &path)?.ok_or_else(|| self.corrupt(&path, "it is missing"))?;
        let text = checkpoint::decompress(file).map_err(|error| self.corrupt(&path, error))?;
        if checkpoint::hash(&text) != info.hash {
            return Err(self.corrupt(&path, "its content is not what was recorded: the hash differs"));
        }
        Ok((info, text))
    }

    /// The number after every one that was ever used here.
    pub(crate) fn next(&self) -> Result<u64> {
        let names = disk::list(self.disk, &self.folder)?;
        let highest = names.iter().filter_map(|name| name.text.split('.').next()?.parse::<u64>().ok()).max();
        Ok(highest.unwrap_or(0) + 1)
    }

    /// Writes a revision whose document is about to become current.
    pub(crate) fn prepare(&self, info: &RevisionInfo, text: &[u8]) -> Result<()> {
        let content = self.path(number(info), CONTENT);
        let compressed = zstd::bulk::compress(text, LEVEL)
            .map_err(Error::io("compressing", self.disk.location(&content)))?;
        disk::publish(self.disk, &content, &compressed)?;
        let meta = serde_json::to_vec(info).map_err(|error| self.corrupt(&content, error))?;
        disk::publish(self.disk, &self.path(number(info), PREPARED), &meta)
    }

    /// Records a prepared revision whose document is current now.
    pub(crate) fn record(&self, revision: u64) -> Result<()> {
        disk::rename(self.disk, &self.path(revision, PREPARED), &self.path(revision, META))?;
        disk::sync_folder(self.disk, &self.folder)
    }

    /// Decides what a crash left prepared: recorded when its document is current, deleted when not.
    pub(crate) fn settle(&self, current_hash: Option<&str>) -> Result<()> {
        for info in self.infos(PREPARED)? {
            if Some(info.hash.as_str()) == current_hash {
                self.record(number(&info))?;
            } else {
                self.delete(number(&info))?;
            }
        }
        Ok(())
    }

    /// Deletes a revision.
    pub(crate) fn delete(&self, revision: u64) -> Result<()> {
        for ending in [META, PREPARED, CONTENT] {
            disk::remove_if_there(self.disk, &self.path(revision, ending))?;
        }
        Ok(())
    }

    fn infos(&self, ending: &str) -> Result<Vec<RevisionInfo>> {
        let mut infos = Vec::new();
        for name in disk::list(self.disk, &self.folder)? {
            if name.text.ends_with(ending) {
                let path = format!("{}/{}", self.folder, name.text);
                // Pruned between the listing and the reading: gone is gone.
                let Some(file) = disk::read_if_there(self.disk, &path)? else { continue };
                infos.push(serde_json::from_slice(&file).map_err(|error| self.corrupt(&path, error))?);
            }
        }
        infos.sort_by_key(|info: &RevisionInfo| info.number);
        Ok(infos)
    }

    fn path(&self, revision: u64, ending: &str) -> String {
        format!("{}/{revision}{ending}", self.folder)
    }

    fn corrupt(&self, path: &str, reason: impl std::fmt::Display) -> Error {
        Error::Corrupt { path: self.disk.location(path), reason: reason.to_string() }
    }
}

pub(crate) fn number(info: &RevisionInfo) -> u64 {
    u64::try_from(info.number).unwrap_or(0)
}

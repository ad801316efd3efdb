//! Revisions on disk: `<n>.json.zst` holds the document, `<n>.meta.json` says what it is.
//!
//! A revision is prepared before its document becomes current and recorded after. A crash in between leaves a prepared
//! one; whether it happened is told by the hash of the current document.

use super::checkpoint::{Document, Located};
use crate::disk::{self, Disk, Staged};
use crate::diy::outline::Outline;
use crate::diy::{document, layout, number_of};
use crate::{Error, Result, RevisionInfo, StackId};
use drystone_model::{Json, record};

const META: &str = ".meta.json";
const PREPARED: &str = ".meta.json.prepared";
const CONTENT: &str = ".json.zst";
/// The fastest level: documents compress twentyfold at it already.
const LEVEL: i32 = 1;

/// The member of `<n>.meta.json` that only this file knows.
const ORIGIN: &str = "document";

record! {
    /// The checkpoint file that a revision was made of. While it is still the one on disk, its hash and outline are
    /// known without reading it.
    pub struct Origin {
        /// Its path.
        always "path" => path: String,
        /// Its length.
        always "length" => length: String,
        /// When it was written, in nanoseconds since 1970.
        always "modified" => modified: String,
        /// The file system's number for it.
        always "identity" => identity: String,
        /// What is known of the document.
        always "outline" => outline: Outline,
    }
}

impl Origin {
    fn of(document: &Document) -> Self {
        let Located { path, stat } = document.located.clone();
        Self {
            path,
            length: stat.length.to_string(),
            modified: stat.modified.to_string(),
            identity: stat.identity.to_string(),
            outline: document.outline.clone(),
            ..Self::default()
        }
    }

    fn is_of(&self, located: &Located) -> bool {
        self.path == located.path
            && self.length == located.stat.length.to_string()
            && self.modified == located.stat.modified.to_string()
            && self.identity == located.stat.identity.to_string()
    }
}

/// The revisions of one stack.
pub(crate) struct Revisions<'a> {
    disk: &'a dyn Disk,
    folder: String,
}

impl<'a> Revisions<'a> {
    pub(crate) fn new(disk: &'a dyn Disk, stack: &StackId) -> Self {
        Self::below(disk, &layout::revisions(stack))
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
        // Nearly always it is the newest of all.
        if let Some((newest, _)) = self.newest()?.filter(|(newest, _)| newest.hash == hash) {
            return Ok(Some(number_of(&newest)));
        }
        let infos = self.list()?;
        Ok(infos.iter().rev().find(|info| info.hash == hash).map(number_of))
    }

    /// What is known of a checkpoint file, when the newest revision was made of it.
    pub(crate) fn document_of(&self, located: &Located) -> Result<Option<Document>> {
        let Some((info, Some(origin))) = self.newest()? else { return Ok(None) };
        Ok(origin.is_of(located).then(|| Document {
            located: located.clone(),
            hash: info.hash,
            outline: origin.outline,
        }))
    }

    fn newest(&self) -> Result<Option<(RevisionInfo, Option<Origin>)>> {
        let names = disk::list(self.disk, &self.folder)?;
        let numbers = names.iter().filter_map(|name| name.text.strip_suffix(META)?.parse::<u64>().ok());
        let Some(newest) = numbers.max() else { return Ok(None) };
        let path = self.path(newest, META);
        let Some(file) = disk::read_if_there(self.disk, &path)? else { return Ok(None) };
        self.meta(&path, &file).map(Some)
    }

    fn meta(&self, path: &str, file: &[u8]) -> Result<(RevisionInfo, Option<Origin>)> {
        let mut info: RevisionInfo =
            serde_json::from_slice(file).map_err(|error| self.corrupt(path, error))?;
        let origin = info.extra.0.iter().position(|(name, _)| name == ORIGIN);
        let origin = origin.map(|at| info.extra.0.remove(at).1);
        Ok((info, origin.and_then(|origin| origin.decode().ok())))
    }

    /// A revision's document, checked against its hash.
    pub(crate) fn read(&self, stack: &StackId, revision: u64) -> Result<(RevisionInfo, Vec<u8>)> {
        let missing = || Error::NoRevision { stack: stack.clone(), revision };
        let meta = self.path(revision, META);
        let info = disk::read_if_there(self.disk, &meta)?.ok_or_else(missing)?;
        let (info, _) = self.meta(&meta, &info)?;
        let path = self.path(revision, CONTENT);
        let file =
            disk::read_if_there(self.disk, &path)?.ok_or_else(|| self.corrupt(&path, "it is missing"))?;
        let text = document::decompress(file).map_err(|error| self.corrupt(&path, error))?;
        if document::hash(&text) != info.hash {
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

    /// Writes the content of a revision that has no number yet.
    pub(crate) fn stage(&self, text: &[u8]) -> Result<Staged<'a>> {
        let path = format!("{}/new{CONTENT}", self.folder);
        let compressed =
            zstd::bulk::compress(text, LEVEL).map_err(Error::io("compressing", self.disk.location(&path)))?;
        disk::stage(self.disk, &path, &compressed)
    }

    /// Writes a revision whose document is about to become current.
    pub(crate) fn prepare(
        &self,
        info: &RevisionInfo,
        content: Staged<'_>,
        document: Option<&Document>,
    ) -> Result<()> {
        let prepared = self.path(number_of(info), PREPARED);
        content.publish_as(&self.path(number_of(info), CONTENT))?;
        let mut info = info.clone();
        if let Some(document) = document {
            let origin = Json::from_serialize(&Origin::of(document));
            let origin = origin.map_err(|error| self.corrupt(&prepared, error))?;
            info.extra.0.push((ORIGIN.to_owned(), origin));
        }
        let meta = serde_json::to_vec(&info).map_err(|error| self.corrupt(&prepared, error))?;
        disk::publish(self.disk, &prepared, &meta)
    }

    /// Whether a crash left something to be decided.
    pub(crate) fn is_unsettled(&self) -> Result<bool> {
        Ok(disk::list(self.disk, &self.folder)?.iter().any(|name| name.text.ends_with(PREPARED)))
    }

    /// Deletes what dead writers were writing.
    pub(crate) fn sweep(&self) -> Result<()> {
        disk::sweep(self.disk, &self.folder, |_| true)
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
                self.record(number_of(&info))?;
            } else {
                self.delete(number_of(&info))?;
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
                infos.push(self.meta(&path, &file)?.0);
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

//! Revisions in a bucket: `<n>.json.zst` holds the document, `<n>.meta.json` says what it is.
//!
//! The content is created before a revision is decided and its description written after, from what the decision says.
//! Content without a description was never decided, or waits for whoever takes the lease next to write it.

use super::BucketStore;
use super::requests::Written;
use crate::diy::{document, layout, number_of};
use crate::{Error, Result, RevisionInfo, StackId};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};

const META: &str = ".meta.json";
const CONTENT: &str = ".json.zst";
/// The fastest level: documents compress twentyfold at it already.
const LEVEL: i32 = 1;
/// How many descriptions are read at once.
const READS: usize = 32;

/// The revisions in a folder.
pub(super) struct Revisions<'a> {
    store: &'a BucketStore,
    folder: String,
}

impl<'a> Revisions<'a> {
    pub(super) fn new(store: &'a BucketStore, stack: &StackId) -> Self {
        Self::below(store, layout::revisions(stack))
    }

    pub(super) fn below(store: &'a BucketStore, folder: String) -> Self {
        Self { store, folder }
    }

    /// Everything recorded, oldest first.
    pub(super) async fn list(&self) -> Result<Vec<RevisionInfo>> {
        let found = self.store.bucket().list(&self.folder).await?;
        let metas = found.into_iter().filter(|found| found.path.ends_with(META));
        let reads: Vec<_> = metas
            .map(|found| async move {
                // Pruned between the listing and the reading: gone is gone.
                let object = self.store.bucket().read(&found.path).await?;
                object.map(|object| self.parse(&found.path, &object.content)).transpose()
            })
            .collect();
        let infos: Vec<Option<RevisionInfo>> =
            futures::stream::iter(reads).buffer_unordered(READS).try_collect().await?;
        let mut infos: Vec<RevisionInfo> = infos.into_iter().flatten().collect();
        infos.sort_by_key(|info| info.number);
        Ok(infos)
    }

    /// The newest revision with a document of this hash.
    pub(super) async fn with_hash(&self, hash: &str) -> Result<Option<u64>> {
        let infos = self.list().await?;
        Ok(infos.iter().rev().find(|info| info.hash == hash).map(number_of))
    }

    /// A revision's document, checked against its hash.
    pub(super) async fn read(&self, stack: &StackId, revision: u64) -> Result<(RevisionInfo, Vec<u8>)> {
        let missing = || Error::NoRevision { stack: stack.clone(), revision };
        let meta = self.path(revision, META);
        let (info, content) =
            futures::future::try_join(self.store.bucket().read(&meta), self.content(revision)).await?;
        let info = self.parse(&meta, &info.ok_or_else(missing)?.content)?;
        let path = self.path(revision, CONTENT);
        let text = content.ok_or_else(|| self.corrupt(&path, "it is missing"))?;
        if document::hash(&text) != info.hash {
            return Err(self.corrupt(&path, "its content is not what was recorded: the hash differs"));
        }
        Ok((info, text))
    }

    /// The document of a revision, recorded or only prepared.
    pub(super) async fn content(&self, revision: u64) -> Result<Option<Vec<u8>>> {
        let path = self.path(revision, CONTENT);
        let object = self.store.bucket().read(&path).await?;
        object.map(|object| self.store.text_of(&path, &object.content)).transpose()
    }

    /// Writes the content of a new revision, and gives the number that it got: the one after the highest known, or
    /// after those that writers before left without using them. The writer's nonce goes along, so that a number which
    /// another writer used for the same document is told from one's own.
    pub(super) async fn prepare(&self, text: &[u8], highest: u64, nonce: &str) -> Result<u64> {
        let path = self.path(highest, CONTENT);
        let mut content = zstd::bulk::compress(text, LEVEL)
            .map_err(Error::io("compressing", self.store.bucket().location(&path)))?;
        skip(nonce, &mut content);
        let content = Bytes::from(content);
        let mut highest = if highest == 0 { self.highest().await? } else { highest };
        loop {
            let number = highest + 1;
            match self.store.bucket().create(&self.path(number, CONTENT), content.clone()).await? {
                Written::Done(_) => return Ok(number),
                Written::Refused(_) => highest = self.highest().await?.max(number),
            }
        }
    }

    /// The highest number that is in use.
    async fn highest(&self) -> Result<u64> {
        let found = self.store.bucket().list(&self.folder).await?;
        let names = found.iter().filter_map(|found| found.path.rsplit('/').next());
        Ok(names.filter_map(|name| name.split('.').next()?.parse().ok()).max().unwrap_or(0))
    }

    /// Describes a revision whose content is there and whose document has become current.
    pub(super) async fn record(&self, info: &RevisionInfo) -> Result<()> {
        let (path, meta) = self.description(info)?;
        self.store.bucket().overwrite(&path, meta).await.map(drop)
    }

    /// The description of a revision and where it goes.
    pub(super) fn description(&self, info: &RevisionInfo) -> Result<(String, String)> {
        let path = self.path(number_of(info), META);
        let meta = serde_json::to_string(info).map_err(|error| self.corrupt(&path, error))?;
        Ok((path, meta))
    }

    /// Deletes revisions.
    pub(super) async fn delete(&self, revisions: &[u64]) -> Result<()> {
        // The description first: content without one counts for nothing.
        let metas = revisions.iter().map(|&number| self.path(number, META));
        let contents = revisions.iter().map(|&number| self.path(number, CONTENT));
        self.store.bucket().remove(&metas.chain(contents).collect::<Vec<_>>()).await
    }

    fn parse(&self, path: &str, meta: &[u8]) -> Result<RevisionInfo> {
        serde_json::from_slice(meta).map_err(|error| self.corrupt(path, error))
    }

    fn path(&self, revision: u64, ending: &str) -> String {
        format!("{}/{revision}{ending}", self.folder)
    }

    fn corrupt(&self, path: &str, reason: impl std::fmt::Display) -> Error {
        Error::Corrupt { path: self.store.bucket().location(path), reason: reason.to_string() }
    }
}

/// Adds a text that decompression passes over: a skippable frame, as RFC 8878 has them.
fn skip(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&[0x50, 0x2a, 0x4d, 0x18]);
    out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(0).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writers_nonce_is_passed_over_when_its_document_is_read() {
        let mut content = zstd::bulk::compress(b"{}", LEVEL).unwrap();
        skip("8f3a", &mut content);
        assert_eq!(document::decompress(content).unwrap(), b"{}");
    }
}

//! The current document: Pulumi's checkpoint, found in its three compressions, and what is known of it.
//!
//! Beside it stands a note of what the last writer knew: which object the checkpoint is, its hash, its revision, how
//! many resources it holds. As long as the checkpoint is still that object, nothing has to be read or listed to know
//! them. The note is only ever an aid: where it does not fit, or is missing, the checkpoint itself is asked.

use super::requests::{Found, Object, Version};
use super::{BucketStore, layout as keys};
use crate::diy::layout::{self, Compression};
use crate::diy::outline::Outline;
use crate::diy::{document, revision_number};
use crate::{Error, Result, StackId};
use bytes::Bytes;
use drystone_model::record;

record! {
    /// What is known of the current document.
    pub struct Known {
        /// The checkpoint's path.
        always "path" => path: String,
        /// The server's tag of its content.
        optional "eTag" => e_tag: Option<String>,
        /// The server's number of its content.
        optional "generation" => generation: Option<String>,
        /// The document's hash.
        always "hash" => hash: String,
        /// Its revision.
        optional "revision" => revision: Option<i64>,
        /// The highest number that a revision of this stack has had.
        always "highest" => highest: i64,
        /// When the state in it was written.
        optional "time" => time: String,
        /// What stands in it around the state.
        always "outline" => outline: Outline,
    }
}

impl Known {
    /// Whether this is about the object that was found.
    pub(super) fn is_of(&self, path: &str, version: &Version) -> bool {
        let own = Version { e_tag: self.e_tag.clone(), generation: self.generation.clone() };
        self.path == path && own.is_same(version)
    }
}

/// A checkpoint object.
#[derive(Debug, Clone)]
pub(super) struct Located {
    pub(super) path: String,
    pub(super) version: Version,
}

/// A document: which object it is, and what is known of it without its text.
#[derive(Debug, Clone)]
pub(super) struct Document {
    pub(super) located: Located,
    pub(super) hash: String,
    pub(super) outline: Outline,
    /// Its revision, when that is known without asking.
    pub(super) revision: Option<u64>,
    /// The highest number that a revision is known to have had.
    pub(super) highest: u64,
}

impl BucketStore {
    /// The text of the current document and the object that it came from; `None` when there is no such stack. Where
    /// there are several compressions of it the newest counts, as for the stock CLI.
    pub(super) async fn read_current(&self, stack: &StackId) -> Result<Option<(Located, Vec<u8>)>> {
        for _ in 0..8 {
            let Some(newest) = self.newest(stack).await? else { return Ok(None) };
            let object = match newest {
                Newest::Read(path, object) => Some((path, object)),
                // Replaced between the look and the reading: look again.
                Newest::Seen(found) => {
                    self.bucket().read(&found.path).await?.map(|object| (found.path, object))
                }
            };
            let Some((path, object)) = object else { continue };
            let text = self.text_of(&path, &object.content)?;
            return Ok(Some((Located { path, version: object.version }, text)));
        }
        Ok(None)
    }

    /// Looks for the checkpoint in every compression at once, and reads it in the one that this store writes.
    async fn newest(&self, stack: &StackId) -> Result<Option<Newest>> {
        let usual = self.checkpoint_path(stack);
        let others: Vec<String> = Compression::ALL
            .iter()
            .map(|compression| format!("{}{}", layout::checkpoint(stack), compression.ending()))
            .filter(|path| *path != usual)
            .collect();
        let looks = futures::future::try_join_all(others.iter().map(|path| self.bucket().look(path)));
        let (mut read, seen) = futures::future::try_join(self.read_usual(&usual), looks).await?;
        let newest = seen.into_iter().flatten().max_by_key(|found| found.modified);
        if newest.is_some() {
            // Which one is newer only a reading of now tells: the same content may have been written again.
            read = self.bucket().read(&usual).await?;
        }
        Ok(match (read, newest) {
            (Some(object), Some(other)) if other.modified > object.modified => Some(Newest::Seen(other)),
            (Some(object), _) => Some(Newest::Read(usual, object)),
            (None, other) => other.map(Newest::Seen),
        })
    }

    /// A checkpoint, whose content may be what was read before if it is still the same.
    async fn read_usual(&self, path: &str) -> Result<Option<Object>> {
        let before = self.last_read().clone().filter(|(of, _)| of == path);
        let object = match before {
            Some((_, before)) => self.bucket().read_again(path, &before).await?,
            None => self.bucket().read(path).await?,
        };
        *self.last_read() = object.clone().map(|object| (path.to_owned(), object));
        Ok(object)
    }

    /// The checkpoint that this store would write.
    pub(super) fn checkpoint_path(&self, stack: &StackId) -> String {
        format!("{}{}", layout::checkpoint(stack), self.options().diy.compression.ending())
    }

    /// Whether there is such a stack.
    pub(super) async fn is_there(&self, stack: &StackId) -> Result<bool> {
        let looks = Compression::ALL.map(|compression| {
            let path = format!("{}{}", layout::checkpoint(stack), compression.ending());
            async move { self.bucket().look(&path).await }
        });
        Ok(futures::future::try_join_all(looks).await?.iter().any(Option::is_some))
    }

    pub(super) fn text_of(&self, path: &str, content: &Bytes) -> Result<Vec<u8>> {
        document::decompress(content.to_vec()).map_err(|source| Error::Corrupt {
            path: self.bucket().location(path),
            reason: format!("cannot be decompressed: {source}"),
        })
    }

    /// The current document with its text. One that a newer tool wrote is refused (S9).
    pub(super) async fn document(&self, stack: &StackId) -> Result<Option<(Document, Vec<u8>)>> {
        let (current, known) = futures::future::try_join(self.read_current(stack), self.known(stack)).await?;
        let Some((located, text)) = current else { return Ok(None) };
        let highest = known.as_ref().map_or(0, |known| u64::try_from(known.highest).unwrap_or(0));
        if let Some(known) = known.filter(|known| known.is_of(&located.path, &located.version)) {
            let revision = known.revision.and_then(|number| u64::try_from(number).ok());
            let document = Document { located, hash: known.hash, outline: known.outline, revision, highest };
            return Ok(Some((document, text)));
        }
        let outline = Outline::of(&text).map_err(|error| Error::Unsupported {
            path: self.bucket().location(&located.path),
            reason: error.to_string(),
        })?;
        let hash = document::hash(&text);
        Ok(Some((Document { located, hash, outline, revision: None, highest }, text)))
    }

    /// What the last writer noted. A damaged note says nothing.
    pub(super) async fn known(&self, stack: &StackId) -> Result<Option<Known>> {
        let object = self.bucket().read(&keys::known(stack)).await?;
        Ok(object.and_then(|object| serde_json::from_slice(&object.content).ok()))
    }

    /// Notes what is known of a document that has just become current.
    pub(super) async fn note(&self, stack: &StackId, document: &Document, time: &str) -> Result<()> {
        let Document { located, hash, outline, revision, highest } = document;
        let known = Known {
            path: located.path.clone(),
            e_tag: located.version.e_tag.clone(),
            generation: located.version.generation.clone(),
            hash: hash.clone(),
            revision: revision.map(revision_number),
            highest: revision_number(*highest),
            time: time.to_owned(),
            outline: outline.clone(),
            ..Known::default()
        };
        let path = keys::known(stack);
        let content = serde_json::to_vec(&known).map_err(|error| Error::Corrupt {
            path: self.bucket().location(&path),
            reason: error.to_string(),
        })?;
        self.bucket().overwrite(&path, content).await.map(drop)
    }
}

/// The newest of a stack's checkpoints, read already where it is the usual one.
enum Newest {
    Read(String, Object),
    Seen(Found),
}

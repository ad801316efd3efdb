//! Trees in a bucket.
//!
//! What must not be overwritten is created on condition that it is not there, and `current` is replaced on condition
//! that it is what was seen. A request whose answer was lost is settled by reading back (S11).

use super::medium::{Content, Mark, Medium, StoreKind};
use super::{Holder, Result};
use crate::Host;
use crate::object::requests::{Bucket, Written};
use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// A bucket with trees.
#[derive(Debug)]
pub(super) struct Objects {
    bucket: Bucket,
    kind: StoreKind,
}

/// What a lock says, as unobin writes it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Lock {
    id: String,
    who: String,
    created: String,
}

impl Objects {
    pub(super) fn new(bucket: Bucket, kind: StoreKind) -> Self {
        Self { bucket, kind }
    }
}

#[async_trait]
impl Medium for Objects {
    fn kind(&self) -> StoreKind {
        self.kind
    }

    fn location(&self, path: &str) -> PathBuf {
        self.bucket.location(path)
    }

    async fn read(&self, path: &str) -> Result<Option<Content>> {
        let object = self.bucket.read(path).await?;
        Ok(object.map(|object| Content {
            bytes: object.content.to_vec(),
            mark: Mark::Object(object.version),
            modified: Some(object.modified),
        }))
    }

    async fn exists(&self, path: &str) -> Result<bool> {
        Ok(self.bucket.look(path).await?.is_some())
    }

    async fn names(&self, folder: &str) -> Result<Vec<String>> {
        let (_, objects) = self.bucket.names(folder).await?;
        let last = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        Ok(objects.iter().map(|found| last(&found.path)).collect())
    }

    async fn folders(&self, folder: &str) -> Result<Vec<String>> {
        Ok(self.bucket.names(folder).await?.0)
    }

    async fn create(&self, path: &str, content: Vec<u8>) -> Result<bool> {
        Ok(matches!(self.bucket.create(path, content).await?, Written::Done(_)))
    }

    async fn replace(&self, path: &str, content: Vec<u8>, seen: Option<&Mark>) -> Result<bool> {
        let written = match seen {
            Some(Mark::Object(seen)) => self.bucket.replace(path, content, seen).await?,
            _ => self.bucket.create(path, content).await?,
        };
        Ok(matches!(written, Written::Done(_)))
    }

    async fn remove(&self, path: &str) -> Result<()> {
        Ok(self.bucket.remove(&[path.to_owned()]).await?)
    }

    fn lock_text(&self, host: &dyn Host) -> Vec<u8> {
        let lock = Lock {
            id: host.new_id().replace('-', ""),
            who: format!("{}@{}", host.user(), host.hostname()),
            created: host.now().to_string(),
        };
        serde_json::to_vec(&lock).unwrap_or_default()
    }

    async fn create_lock(&self, path: &str, text: &[u8]) -> Result<Option<Mark>> {
        Ok(match self.bucket.create(path, text.to_vec()).await? {
            Written::Done(version) => Some(Mark::Object(version)),
            Written::Refused(_) => None,
        })
    }

    fn holder(&self, _: &dyn Host, lock: &Content) -> Holder {
        let Lock { who, created, .. } = serde_json::from_slice(&lock.bytes).unwrap_or_default();
        Holder {
            name: Some(who).filter(|who| !who.is_empty()),
            process: None,
            since: created.parse::<Timestamp>().ok().or(lock.modified),
            is_running: None,
        }
    }

    /// As unobin does.
    fn pause(&self) -> Duration {
        Duration::from_millis(500)
    }
}

//! What a tree stands on: a folder or a bucket.

use super::{Holder, Result};
use crate::Host;
use crate::disk::Stat;
use crate::object::requests::Version;
use async_trait::async_trait;
use jiff::Timestamp;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The kinds of store that unobin has, by the names that its messages begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    /// A folder.
    Local,
    /// A bucket of S3, or of what speaks like it.
    S3,
    /// A bucket of Google Cloud Storage.
    Gcs,
    /// A container of Azure. unobin has none; the tree is the same.
    Azure,
}

impl StoreKind {
    /// How it is told that something is not there.
    pub(super) fn missing(self) -> &'static str {
        match self {
            Self::Local => "no such file or directory",
            Self::S3 | Self::Gcs | Self::Azure => "no such object",
        }
    }
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "local store",
            Self::S3 => "s3 store",
            Self::Gcs => "gcs store",
            Self::Azure => "azblob store",
        })
    }
}

/// What tells one content of a file or an object from the next.
#[derive(Debug, Clone)]
pub(super) enum Mark {
    File(Stat),
    Object(Version),
}

impl Mark {
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one), Self::File(other)) => one == other,
            (Self::Object(one), Self::Object(other)) => one.is_same(other),
            _ => false,
        }
    }
}

/// What stood somewhere when it was read.
#[derive(Debug, Clone)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    pub(super) mark: Mark,
    pub(super) modified: Option<Timestamp>,
}

/// The few things that a tree asks of what it stands on. Paths are relative to the root and use `/`.
#[async_trait]
pub(super) trait Medium: fmt::Debug + Send + Sync {
    fn kind(&self) -> StoreKind;

    /// Where a path is, for messages.
    fn location(&self, path: &str) -> PathBuf;

    async fn read(&self, path: &str) -> Result<Option<Content>>;

    async fn exists(&self, path: &str) -> Result<bool>;

    /// The names of what stands directly in a folder.
    async fn names(&self, folder: &str) -> Result<Vec<String>>;

    /// The names of the folders that stand directly in a folder.
    async fn folders(&self, folder: &str) -> Result<Vec<String>>;

    /// Writes something new, durable when this returns; `false` when something is there already, which stays.
    async fn create(&self, path: &str, content: Vec<u8>) -> Result<bool>;

    /// Puts something in the place of what was seen there, or of nothing; `false` when that has changed since.
    async fn replace(&self, path: &str, content: Vec<u8>, seen: Option<&Mark>) -> Result<bool>;

    /// Deletes something; what is gone already does not matter.
    async fn remove(&self, path: &str) -> Result<()>;

    /// What a new lock says.
    fn lock_text(&self, host: &dyn Host) -> Vec<u8>;

    /// Makes the file of a lock; `None` when there is one.
    async fn create_lock(&self, path: &str, text: &[u8]) -> Result<Option<Mark>>;

    /// Who left a lock.
    fn holder(&self, host: &dyn Host, lock: &Content) -> Holder;

    /// How long it takes until a lock that is held is tried again.
    fn pause(&self) -> Duration;
}

//! Where trees stand: a folder, or a bucket that a URL names.

use super::bucket::Objects;
use super::folder::Folder;
use super::medium::{Medium, StoreKind};
use super::{Result, Tree};
use crate::Host;
use crate::disk::Disk;
use crate::object::requests::Bucket;
use crate::object::{BucketOptions, open_for_others};
use drystone_secrets::envelope::Encrypter;
use object_store::ObjectStore;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// The root of trees.
#[derive(Debug, Clone)]
pub struct Root {
    medium: Arc<dyn Medium>,
    host: Arc<dyn Host>,
}

impl Root {
    /// The root of a disk.
    #[must_use]
    pub fn folder(disk: Arc<dyn Disk>, host: Arc<dyn Host>) -> Self {
        Self { medium: Arc::new(Folder::new(disk)), host }
    }

    /// The bucket or the part of one that a URL names, `s3://`, `gs://` or `azblob://`, with the parameters and the
    /// credentials that Pulumi's backends have.
    pub async fn open_url(
        url: &Url,
        host: Arc<dyn Host>,
        options: &BucketOptions,
        variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Result<Self> {
        let bucket = open_for_others(url, options, variables).await?;
        Ok(Self { medium: Arc::new(Objects::new(bucket, kind_of(url.as_str()))), host })
    }

    /// A bucket, or what a client shows of one. The client must not repeat requests by itself: a conditional write
    /// that it sent twice would be refused because of itself. The URL is for messages.
    #[must_use]
    pub fn bucket(client: Arc<dyn ObjectStore>, url: &str, host: Arc<dyn Host>, patience: Duration) -> Self {
        let bucket = Bucket::new(client, url, patience);
        Self { medium: Arc::new(Objects::new(bucket, kind_of(url))), host }
    }

    /// The factory and the name of every stack, in the order of their names. What no stack may be called is passed over.
    pub(super) async fn stacks(&self) -> Result<Vec<(String, String)>> {
        let mut stacks = Vec::new();
        for factory in self.medium.folders("").await? {
            for stack in self.medium.folders(&factory).await? {
                stacks.push((factory.clone(), stack));
            }
        }
        stacks.sort();
        Ok(stacks)
    }

    /// The tree of a stack. Nothing is made before something is written.
    pub fn tree(&self, factory: &str, stack: &str, encrypter: Arc<dyn Encrypter>) -> Result<Tree> {
        Tree::new(Arc::clone(&self.medium), Arc::clone(&self.host), factory, stack, encrypter)
    }
}

fn kind_of(url: &str) -> StoreKind {
    match url.split("://").next() {
        Some("gs") => StoreKind::Gcs,
        Some("azblob") => StoreKind::Azure,
        _ => StoreKind::S3,
    }
}

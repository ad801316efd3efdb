//! cdkd's stacks in a bucket, side by side with its own tool (S15).
//!
//! The keys, the documents and the meaning of a lock are the tool's. What it leaves to chance is not: a lock that has
//! expired is taken by compare-and-swap, so that one of several takers has it; a holder renews it for as long as it
//! works and releases only its own (`locks`); every save is conditional, the first one too, and none is made without
//! the lock (`held`). The exports index is a view that can be made again at any time, and never fails a deployment
//! (`exports`). A listing tells of what cannot be read instead of failing (`reads`). Which bucket an account has is
//! found, and a new one made safe, in `bucket`.

mod bucket;
mod contract;
mod error;
mod exports;
mod held;
mod locks;
mod reads;
mod runs;

pub use bucket::{
    AccountBucket, BucketListing, Copied, bucket_name, copy_bucket, delete_bucket, find_bucket,
    legacy_bucket_name, open_bucket, protect_bucket,
};
pub use contract::CdkdStacks;
pub use error::{Error, Result};
pub use exports::Indexed;
pub use held::HeldStack;
pub use locks::{LockFile, LockPatience};
pub use reads::{Contents, Listed, Nested, Summary};

use crate::object::requests::Bucket;
use crate::{Host, SystemHost};
use drystone_dialects::cdkd::{Layout, NameError};
use object_store::ObjectStore;
use std::sync::Arc;
use std::time::Duration;

/// How a store of cdkd's stacks behaves.
#[derive(Debug, Clone)]
pub struct CdkdOptions {
    /// What all keys begin with.
    pub layout: Layout,
    /// For how long a lock holds that is not renewed.
    pub lock_ttl: Duration,
    /// For how long a server that does not answer, or not sensibly, is asked again.
    pub patience: Duration,
}

impl Default for CdkdOptions {
    fn default() -> Self {
        Self {
            layout: Layout::default(),
            lock_ttl: Duration::from_secs(30 * 60),
            patience: Duration::from_secs(30),
        }
    }
}

impl CdkdOptions {
    /// The usual ways, under another prefix.
    pub fn under(prefix: &str) -> Result<Self, NameError> {
        Ok(Self { layout: Layout::new(prefix)?, ..Self::default() })
    }
}

/// A bucket with cdkd's stacks.
#[derive(Debug, Clone)]
pub struct CdkdStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    bucket: Bucket,
    host: Arc<dyn Host>,
    options: CdkdOptions,
}

impl CdkdStore {
    /// Opens a bucket. The client must not repeat requests by itself: a conditional write that it sent twice would be
    /// refused because of itself. The URL is for messages. Nothing is asked of the bucket yet.
    #[must_use]
    pub fn open(bucket: Arc<dyn ObjectStore>, url: &str, options: CdkdOptions) -> Self {
        Self::with(bucket, url, Arc::new(SystemHost), options)
    }

    /// Opens a bucket on a machine, real or simulated.
    #[must_use]
    pub fn with(bucket: Arc<dyn ObjectStore>, url: &str, host: Arc<dyn Host>, options: CdkdOptions) -> Self {
        let bucket = Bucket::new(bucket, url, options.patience).with_types();
        Self { inner: Arc::new(Inner { bucket, host, options }) }
    }

    /// Where everything stands.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.inner.options.layout
    }

    fn bucket(&self) -> &Bucket {
        &self.inner.bucket
    }

    fn options(&self) -> &CdkdOptions {
        &self.inner.options
    }

    /// The time now, in milliseconds since 1970.
    fn now(&self) -> i64 {
        self.inner.host.now().as_millisecond()
    }
}

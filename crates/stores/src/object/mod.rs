//! Stacks in a bucket, in Pulumi's layout and side by side with the stock CLI (S14).
//!
//! Pulumi's checkpoint is the current document. Around it stand our lease, the journals of leases and the revisions, as
//! in a directory. But a bucket has no locks and no renames: what it has is that an object is created once, and
//! replaced only by who knows what stood there. So the lease is one object under compare-and-swap (`leases`), a journal
//! is a run of objects that are each created once (`segments`), and a commit or a move is decided by one of them, after
//! which anybody can carry it out (`commit`, `relocate`). Whoever takes the lease next closes the journals of those
//! before and carries out what they had decided (`recovery`).
//!
//! All of that is the same on every cloud. `clouds` opens their buckets, `requests` settles what became of each request,
//! `faults` sorts what servers answer.

mod clouds;
mod commit;
mod documents;
mod faults;
mod held;
mod layout;
mod leases;
mod probe;
mod reads;
mod recovery;
mod relocate;
pub(crate) mod requests;
mod reseal;
mod revisions;
mod segments;
mod upgrade;

pub use crate::diy::DiyOptions;
pub use crate::diy::layout::Compression;
pub(crate) use clouds::open_for_others;
pub use clouds::{AccountOptions, ObjectVersion, Presence, S3Account, SCHEMES, open_url, open_url_on};
pub use faults::{Fault, Refusal, refusal};

use crate::diy::{document, layout as paths};
use crate::{Claim, HeldLease, Host, LeaseInfo, Leases, Recovery, Result, StackId, SystemHost};
use async_trait::async_trait;
use commit::Writer;
use leases::Heartbeat;
use object_store::ObjectStore;
use requests::{Bucket, Object};
use segments::SegmentWriter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How a store in a bucket behaves.
#[derive(Debug, Clone)]
pub struct BucketOptions {
    /// What is the same in a directory.
    pub diy: DiyOptions,
    /// For how long after its last sign of life a holder counts as alive.
    pub lease_ttl: Duration,
    /// For how long a server that does not answer, or not sensibly, is asked again.
    pub patience: Duration,
    /// How long one answer of a server may take.
    pub answer_timeout: Duration,
}

impl Default for BucketOptions {
    fn default() -> Self {
        Self {
            diy: DiyOptions::default(),
            lease_ttl: Duration::from_secs(60),
            patience: Duration::from_secs(30),
            answer_timeout: Duration::from_secs(20),
        }
    }
}

/// A store in a bucket.
#[derive(Debug, Clone)]
pub struct BucketStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    bucket: Bucket,
    host: Arc<dyn Host>,
    options: BucketOptions,
    has_projects: bool,
    /// Whether the bucket is known to say which layout it has.
    has_meta: AtomicBool,
    /// The checkpoint that was read last, and its path: one command looks at it several times.
    last_read: Mutex<Option<(String, Object)>>,
}

impl BucketStore {
    /// Opens a bucket, or what a client shows of one. The client must not repeat requests by itself: a conditional write
    /// that it sent twice would be refused because of itself. The URL is for messages. Nothing is written before the
    /// first write.
    pub async fn open(bucket: Arc<dyn ObjectStore>, url: &str, options: BucketOptions) -> Result<Self> {
        Self::with(bucket, url, Arc::new(SystemHost), options).await
    }

    /// Opens a bucket on a machine, real or simulated.
    pub async fn with(
        bucket: Arc<dyn ObjectStore>,
        url: &str,
        host: Arc<dyn Host>,
        options: BucketOptions,
    ) -> Result<Self> {
        let bucket = Bucket::new(bucket, url, options.patience).with_sealing(options.diy.sealing.clone());
        let meta = bucket.read(paths::META).await?;
        let has_projects = match &meta {
            Some(meta) => {
                let sealing = options.diy.sealing.as_ref();
                document::layout_version(bucket.location(paths::META), &meta.content, sealing)? == 1
            }
            None => !options.diy.legacy_layout && upgrade::legacy_stacks(&bucket).await?.is_empty(),
        };
        let has_meta = AtomicBool::new(meta.is_some());
        Ok(Self {
            inner: Arc::new(Inner {
                bucket,
                host,
                options,
                has_projects,
                has_meta,
                last_read: Mutex::default(),
            }),
        })
    }

    /// Whether stacks belong to projects here; they do except in buckets of very old CLIs.
    #[must_use]
    pub fn has_projects(&self) -> bool {
        self.inner.has_projects
    }

    /// Names a stack of this store: the three forms of [`StackId::parse`], or a bare name in the legacy layout.
    pub fn stack_id(&self, text: &str, current_project: Option<&str>) -> Result<StackId> {
        Ok(if self.has_projects() { StackId::parse(text, current_project)? } else { StackId::legacy(text)? })
    }

    fn bucket(&self) -> &Bucket {
        &self.inner.bucket
    }

    fn last_read(&self) -> MutexGuard<'_, Option<(String, Object)>> {
        self.inner.last_read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn host(&self) -> &dyn Host {
        &*self.inner.host
    }

    fn options(&self) -> &BucketOptions {
        &self.inner.options
    }

    fn meta_file(&self) -> String {
        document::meta_file(self.options().diy.sealing.as_ref())
    }

    /// Marks the bucket as one with projects, as the stock CLI does before it writes the first stack.
    async fn ensure_meta(&self) -> Result<()> {
        if self.has_projects() && !self.inner.has_meta.load(Ordering::Relaxed) {
            // Whoever was there before wrote the same.
            self.bucket().create(paths::META, self.meta_file()).await?;
            self.inner.has_meta.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[async_trait]
impl Leases for BucketStore {
    async fn acquire(&self, stack: &StackId, claim: Claim) -> Result<Box<dyn HeldLease>> {
        self.ensure_meta().await?;
        let taken = leases::Leases::new(self, stack).take(&claim).await?;
        let heartbeat = Heartbeat::start(self, stack, taken);
        let segments = SegmentWriter::new(self, stack, heartbeat.lease());
        let writer = Writer { lease: heartbeat.lease(), segments: &segments };
        match self.settle(stack, writer, heartbeat.closes()).await {
            Ok(recovery) => {
                let lease =
                    held::BucketLease::new(self.clone(), stack.clone(), heartbeat, segments, recovery);
                Ok(Box::new(lease))
            }
            Err(error) => {
                // The next one may be luckier, and must find the journals as they are.
                heartbeat.abandon(self, stack).await?;
                Err(error)
            }
        }
    }

    async fn break_lease(&self, stack: &StackId, claim: Claim) -> Result<(Vec<LeaseInfo>, Recovery)> {
        let (broken, taken) = leases::Leases::new(self, stack).take_away(&claim).await?;
        Ok((broken, self.settle_and_release(stack, taken).await?))
    }
}

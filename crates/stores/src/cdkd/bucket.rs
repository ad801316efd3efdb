//! The bucket of an account: which one it is, and making one.

use super::{CdkdOptions, CdkdStore};
use crate::Result;
use crate::object::requests::{Bucket, Found};
use crate::object::{Presence, S3Account};
use futures::{StreamExt, TryStreamExt};

/// How many objects are copied at a time.
const COPIED_AT_ONCE: usize = 16;
/// What the name of a lock ends with, wherever it stands.
const LOCK: &str = "/lock.json";

/// The name of an account's bucket.
#[must_use]
pub fn bucket_name(account: &str) -> String {
    format!("cdkd-state-{account}")
}

/// The name that an account's bucket had when there was one for each region.
#[must_use]
pub fn legacy_bucket_name(account: &str, region: &str) -> String {
    format!("cdkd-state-{account}-{region}")
}

/// The bucket that an account has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountBucket {
    /// The one that is named after it.
    Usual(String),
    /// The one that is named after it and a region, because there is no other.
    Legacy(String),
    /// The same, though there is one of the usual name: that has nothing in it.
    LegacyBesideEmpty {
        /// The one with the stacks.
        legacy: String,
        /// The one with none.
        usual: String,
    },
    /// There is none.
    Missing {
        /// What it would be called.
        usual: String,
        /// What it would have been called.
        legacy: String,
    },
}

/// Looks for the bucket of an account.
pub async fn find_bucket(account: &S3Account) -> Result<AccountBucket> {
    let id = account.id().await?;
    let usual = bucket_name(&id);
    let legacy = legacy_bucket_name(&id, account.region());
    let (has_usual, has_legacy) = futures::try_join!(account.look_for(&usual), account.look_for(&legacy))?;
    Ok(match (has_usual, has_legacy) {
        (Presence::Missing, Presence::Missing) => AccountBucket::Missing { usual, legacy },
        (Presence::Missing, _) => AccountBucket::Legacy(legacy),
        // What may not be looked into counts as having something.
        (Presence::Here, Presence::Here)
            if is_empty(account, &usual).await? && !is_empty(account, &legacy).await? =>
        {
            AccountBucket::LegacyBesideEmpty { legacy, usual }
        }
        _ => AccountBucket::Usual(usual),
    })
}

async fn is_empty(account: &S3Account, bucket: &str) -> Result<bool> {
    let objects = account.objects(bucket).await?;
    let prefix = object_store::path::Path::from(drystone_dialects::cdkd::DEFAULT_PREFIX);
    let first = objects.list(Some(&prefix)).next().await;
    Ok(first.is_none())
}

/// Opens the stacks of a bucket, in the region where it is.
pub async fn open_bucket(account: &S3Account, bucket: &str, options: CdkdOptions) -> Result<CdkdStore> {
    let objects = account.objects(bucket).await?;
    Ok(CdkdStore::open(objects, &format!("s3://{bucket}"), options))
}

/// Makes a bucket safe for states: it keeps what is overwritten, encrypts, and lets nobody else in. Each step can be
/// taken again.
pub async fn protect_bucket(account: &S3Account, bucket: &str) -> Result<()> {
    account.keep_versions(bucket).await?;
    account.encrypt(bucket).await?;
    account.keep_others_out(bucket).await
}

/// What a copy of a bucket came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copied {
    /// How many objects were copied.
    pub copied: usize,
    /// How many were there already, and the same.
    pub same: usize,
    /// Those that are another and newer one there, and were left so.
    pub newer: Vec<String>,
}

/// Copies everything of a bucket to another of the account, and sees that it is there. What has been changed there since
/// it was changed here is left alone.
pub async fn copy_bucket(account: &S3Account, from: &BucketListing, to: &str) -> Result<Copied> {
    let there = BucketListing::read(account, to).await?;
    let mut outcome = Copied::default();
    let mut keys = Vec::new();
    for object in &from.objects {
        match there.objects.iter().find(|other| other.path == object.path) {
            Some(other) if other.version.is_same(&object.version) => outcome.same += 1,
            Some(other) if other.modified > object.modified => outcome.newer.push(object.path.clone()),
            _ => keys.push(object.path.as_str()),
        }
    }
    futures::stream::iter(keys.iter().map(|key| account.copy(&from.bucket, to, key)))
        .buffer_unordered(COPIED_AT_ONCE)
        .try_collect::<()>()
        .await?;
    let there = BucketListing::read(account, to).await?;
    let is_there = |path: &str| there.objects.iter().any(|object| object.path == path);
    if let Some(missing) = from.objects.iter().find(|object| !is_there(&object.path)) {
        return Err(crate::Error::Unsupported {
            path: format!("s3://{to}/{}", missing.path).into(),
            reason: "it was copied, and is not there".to_owned(),
        });
    }
    Ok(Copied { copied: keys.len(), ..outcome })
}

/// Deletes a bucket with everything that is and was in it.
pub async fn delete_bucket(account: &S3Account, bucket: &str) -> Result<()> {
    let versions = account.versions(bucket, "").await?;
    account.delete_versions(bucket, &versions).await?;
    account.delete_bucket(bucket).await
}

/// Everything that was in a bucket at a moment.
#[derive(Debug, Clone)]
pub struct BucketListing {
    bucket: String,
    objects: Vec<Found>,
}

impl BucketListing {
    /// Lists a bucket.
    pub async fn read(account: &S3Account, bucket: &str) -> Result<Self> {
        let objects = account.objects(bucket).await?;
        let url = format!("s3://{bucket}");
        let objects = Bucket::new(objects, url, CdkdOptions::default().patience).list("").await?;
        Ok(Self { bucket: bucket.to_owned(), objects })
    }

    /// How many objects there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The keys of the locks, whatever prefix they stand under.
    pub fn locks(&self) -> impl Iterator<Item = &str> {
        self.objects.iter().map(|object| object.path.as_str()).filter(|path| path.ends_with(LOCK))
    }

    /// Whether nothing has changed between two moments.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let is_same =
            |one: &Found, other: &Found| one.path == other.path && one.version.is_same(&other.version);
        self.len() == other.len()
            && self.objects.iter().zip(&other.objects).all(|(one, other)| is_same(one, other))
    }
}

//! Buckets of the clouds, opened by the URLs that Pulumi's backends have.
//!
//! `s3://`, `gs://` and `azblob://` with their parameters (`address`), credentials from wherever the clouds' own tools
//! find them, and a connection that sends each request once (`connection`). Signatures and the ways to credentials are
//! those of the clouds' own libraries.
//!
//! Whoever makes, finds and describes buckets of S3 rather than using one asks an account (`account`), with requests
//! that it signs itself (`signed`) and the words of S3's own protocol (`bucket_calls`).

mod account;
mod address;
mod aws;
mod azure;
mod bucket_calls;
mod connection;
mod gcs;
mod s3;
mod signed;

pub use account::{AccountOptions, Presence, S3Account};
pub use bucket_calls::ObjectVersion;

use super::faults::{Fault, refusal};
use super::requests::Bucket;
use super::{BucketOptions, BucketStore};
use crate::{Error, Host, Result, SystemHost};
use address::Address;
use connection::Connection;
use object_store::ObjectStore;
use object_store::prefix::PrefixStore;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use url::Url;

/// The schemes of the URLs that name buckets.
pub const SCHEMES: &[&str] = &["s3", "gs", "azblob"];

/// Opens the bucket that a URL names, in the region where it is. Variables come from outside; what the clouds' own
/// libraries look up beyond them, such as the credentials of a container, they look up in the process.
pub async fn open_url(
    url: &Url,
    options: BucketOptions,
    variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> Result<BucketStore> {
    open_url_on(url, Arc::new(SystemHost), options, variables).await
}

/// Opens the bucket that a URL names on a machine, real or simulated.
pub async fn open_url_on(
    url: &Url,
    host: Arc<dyn Host>,
    options: BucketOptions,
    variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> Result<BucketStore> {
    let with = |bucket, shown: String| {
        let (host, options) = (Arc::clone(&host), options.clone());
        async move { BucketStore::with(bucket, &shown, host, options).await }
    };
    in_its_region(url, &options, variables, with).await
}

/// Opens the bucket that a URL names for a layout of another tool. One that cannot be read is told now.
pub(crate) async fn open_for_others(
    url: &Url,
    options: &BucketOptions,
    variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> Result<Bucket> {
    let patience = options.patience;
    in_its_region(url, options, variables, |bucket, shown| async move {
        let bucket = Bucket::new(bucket, shown, patience);
        // What is asked for does not matter: the answer tells the region.
        bucket.read("current").await?;
        Ok(bucket)
    })
    .await
}

/// Opens a bucket, and once more where the server says that it is in another region.
async fn in_its_region<T, F>(
    url: &Url,
    options: &BucketOptions,
    variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    open: impl Fn(Arc<dyn ObjectStore>, String) -> F,
) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    let environment = Environment::new(variables);
    let mut region = None;
    loop {
        let (address, bucket) = open_bucket(url, &environment, options, region.clone()).await?;
        match open(bucket, address.shown).await {
            Err(error) if region.is_none() && elsewhere(&error).is_some() => region = elsewhere(&error),
            opened => return opened,
        }
    }
}

/// The region that a server said the bucket is in.
fn elsewhere(error: &Error) -> Option<String> {
    let refusal = refusal(error).filter(|refusal| refusal.fault() == Fault::Region)?;
    refusal.region().map(str::to_owned)
}

async fn open_bucket(
    url: &Url,
    environment: &Environment,
    options: &BucketOptions,
    region: Option<String>,
) -> Result<(Address, Arc<dyn ObjectStore>)> {
    let known = match url.scheme() {
        "s3" => s3::PARAMETERS,
        "gs" => gcs::PARAMETERS,
        "azblob" => azure::PARAMETERS,
        other => {
            let reason = format!("`{other}` is no bucket; those known are {}", SCHEMES.join(", "));
            return Err(Error::Unsupported { path: PathBuf::from(url.as_str()), reason });
        }
    };
    let address = Address::parse(url, known)?;
    let certificates = if url.scheme() == "s3" { environment.certificates()? } else { None };
    let connection = Connection::new(options.answer_timeout, certificates.as_deref())
        .map_err(|error| address.refused(format!("no connection can be made: {error}")))?;
    let bucket = match url.scheme() {
        "s3" => s3::open(&address, environment, connection, region).await?,
        "gs" => gcs::open(&address, environment, connection)?,
        _ => azure::open(&address, environment, connection)?,
    };
    let bucket: Arc<dyn ObjectStore> = match &address.prefix {
        Some(prefix) => Arc::new(PrefixStore::new(bucket, prefix.clone())),
        None => bucket,
    };
    Ok((address, bucket))
}

/// What a variable says.
type Variables = dyn Fn(&str) -> Option<String> + Send + Sync;

/// The variables of whoever opens a bucket.
#[derive(Clone)]
struct Environment {
    variables: Arc<Variables>,
}

impl Environment {
    fn new(variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { variables: Arc::new(variables) }
    }

    /// A variable that says something.
    fn get(&self, name: &str) -> Option<String> {
        (self.variables)(name).filter(|value| !value.is_empty())
    }

    /// The user's folder.
    fn home(&self) -> Option<PathBuf> {
        self.get("HOME").or_else(|| self.get("USERPROFILE")).map(PathBuf::from)
    }

    /// Certificates that are trusted beside the system's: servers of one's own that speak S3 have them.
    fn certificates(&self) -> Result<Option<Vec<u8>>> {
        let Some(path) = self.get("AWS_CA_BUNDLE") else { return Ok(None) };
        std::fs::read(&path).map(Some).map_err(Error::io("reading the certificates in", path))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
    }
}

/// Why a client could not be made of what the URL and the variables say.
fn built(address: &Address) -> impl FnOnce(object_store::Error) -> Error {
    let address = address.clone();
    move |error| {
        // Its own text begins with whose error it is, which the URL says already.
        let reason = match &error {
            object_store::Error::Generic { source, .. } => source.to_string(),
            error => error.to_string(),
        };
        address.refused(reason)
    }
}

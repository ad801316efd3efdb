//! An account of S3: who asks, which buckets there are, where they stand, and making and protecting them.

use super::Environment;
use super::address::Address;
use super::aws::{Renewed, Sources, Wanted};
use super::bucket_calls::{Call, ObjectVersion, read_account, read_location, read_versions};
use super::connection::{Connection, no_retries};
use super::s3::{FIRST_GUESS, PARAMETERS, Place, suffix};
use super::signed::Signed;
use crate::object::faults::{Fault, Refusal, refusal};
use crate::object::requests::{answered, told};
use crate::{Error, Result};
use http::StatusCode;
use object_store::ObjectStore;
use object_store::aws::AmazonS3Builder;
use object_store::client::{HttpRequest, HttpService};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;
use url::Url;

/// How many versions are deleted with one request; S3 takes no more.
const DELETED_AT_ONCE: usize = 1000;

/// How an account is asked.
#[derive(Debug, Clone)]
pub struct AccountOptions {
    /// The profile whose credentials are meant, instead of the usual one.
    pub profile: Option<String>,
    /// The role that is taken on.
    pub role: Option<String>,
    /// The region that is asked, and where buckets are made.
    pub region: Option<String>,
    /// For how long a server that does not answer, or not sensibly, is asked again.
    pub patience: Duration,
    /// How long one answer of a server may take.
    pub answer_timeout: Duration,
}

impl Default for AccountOptions {
    fn default() -> Self {
        Self {
            profile: None,
            role: None,
            region: None,
            patience: Duration::from_secs(30),
            answer_timeout: Duration::from_secs(20),
        }
    }
}

/// Whether a bucket is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It is, in whatever region.
    Here,
    /// It is, but is not ours to look at: not allowed, or another's.
    Denied,
    /// It is not.
    Missing,
}

/// An account of S3, by its credentials.
#[derive(Debug, Clone)]
pub struct S3Account {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    environment: Environment,
    connection: Connection,
    credentials: Arc<Renewed>,
    region: String,
    patience: Duration,
    /// Its number, asked for once.
    id: OnceCell<String>,
    /// Whom buckets are expected to belong to, found out once.
    owner: OnceCell<Option<String>>,
    /// The regions of buckets that were asked for; `None` for one that may not be told.
    regions: Mutex<BTreeMap<String, Option<String>>>,
}

impl S3Account {
    /// The account that the settings and variables lead to. Nothing is asked yet.
    pub async fn open(
        options: AccountOptions,
        variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Result<Self> {
        let environment = Environment::new(variables);
        let certificates = environment.certificates()?;
        let connection =
            Connection::new(options.answer_timeout, certificates.as_deref()).map_err(|error| {
                Error::Unsupported {
                    path: PathBuf::from("s3://"),
                    reason: format!("no connection can be made: {error}"),
                }
            })?;
        let wanted = Wanted { profile: options.profile, role: options.role, region: options.region };
        let sources = Sources::new(wanted, &environment, &connection);
        let region = sources.region().await.unwrap_or_else(|| FIRST_GUESS.to_owned());
        let credentials = Arc::new(sources.credentials(&region).await?);
        Ok(Self {
            inner: Arc::new(Inner {
                environment,
                connection,
                credentials,
                region,
                patience: options.patience,
                id: OnceCell::new(),
                owner: OnceCell::new(),
                regions: Mutex::default(),
            }),
        })
    }

    /// The region that is asked where a bucket's own is not known.
    #[must_use]
    pub fn region(&self) -> &str {
        &self.inner.region
    }

    /// The number of the account.
    pub async fn id(&self) -> Result<String> {
        self.inner.id.get_or_try_init(|| self.caller()).await.cloned()
    }

    async fn caller(&self) -> Result<String> {
        let region = &self.inner.region;
        let endpoint = self.token_endpoint();
        let endpoint = endpoint.unwrap_or_else(|| format!("https://sts.{region}.{}", suffix(region)));
        let endpoint = endpoint.trim_end_matches('/').to_owned();
        let line = self.line("sts", region, None);
        let url = format!("{endpoint}/");
        let answer = self
            .asked("asking who we are at", &endpoint, || async {
                let request = http::Request::post(&url)
                    .header("content-type", "application/x-www-form-urlencoded; charset=utf-8")
                    .body("Action=GetCallerIdentity&Version=2011-06-15".to_owned().into());
                send(&line, request).await
            })
            .await?;
        read_account(&answer.unwrap_or_default()).ok_or_else(|| Error::Unsupported {
            path: PathBuf::from(&endpoint),
            reason: "it does not say which account this is".to_owned(),
        })
    }

    /// Where the token service is, when variables say so.
    fn token_endpoint(&self) -> Option<String> {
        let environment = &self.inner.environment;
        environment.get("AWS_ENDPOINT_URL_STS").or_else(|| environment.get("AWS_ENDPOINT_URL"))
    }

    /// Whom a bucket is expected to belong to: this account. A server of one's own may know no accounts; then nobody is
    /// expected.
    async fn owner(&self) -> Result<Option<String>> {
        let environment = &self.inner.environment;
        let is_own = environment.get("AWS_ENDPOINT_URL_S3").or_else(|| environment.get("AWS_ENDPOINT_URL"));
        let found = self.inner.owner.get_or_try_init(|| async {
            match (is_own, self.token_endpoint()) {
                (Some(_), None) => Ok(None),
                (Some(_), Some(_)) => Ok(self.id().await.ok()),
                (None, _) => self.id().await.map(Some),
            }
        });
        found.await.cloned()
    }

    /// Whether a bucket is there.
    pub async fn look_for(&self, bucket: &str) -> Result<Presence> {
        match self.call("looking for", bucket, &self.inner.region, Call::look()).await {
            Ok(Some(_)) => Ok(Presence::Here),
            Ok(None) => Ok(Presence::Missing),
            Err(error) => match refusal(&error).map(|refusal| (refusal.fault(), refusal.region())) {
                Some((Fault::NoBucket, _)) => Ok(Presence::Missing),
                Some((Fault::Region, _) | (_, Some(_))) => Ok(Presence::Here),
                Some((Fault::Forbidden, _)) => Ok(Presence::Denied),
                _ => Err(error),
            },
        }
    }

    /// The region that a bucket is in; `None` when that may not be told. It is asked for once.
    pub async fn region_of(&self, bucket: &str) -> Result<Option<String>> {
        if let Some(known) = self.regions().get(bucket) {
            return Ok(known.clone());
        }
        let found = match self.call("locating", bucket, &self.inner.region, Call::location()).await {
            Ok(Some(answer)) => Some(read_location(&answer)),
            Ok(None) => None,
            Err(error) => match refusal(&error).map(|refusal| (refusal.fault(), refusal.region())) {
                Some((Fault::Region, Some(region))) => Some(region.to_owned()),
                Some((Fault::Forbidden, _)) => None,
                _ => return Err(error),
            },
        };
        self.regions().insert(bucket.to_owned(), found.clone());
        Ok(found)
    }

    fn regions(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Option<String>>> {
        self.inner.regions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The region that a bucket is in, or the one that is asked otherwise.
    async fn home_of(&self, bucket: &str) -> Result<String> {
        Ok(self.region_of(bucket).await?.unwrap_or_else(|| self.inner.region.clone()))
    }

    /// The objects of a bucket, in the region where it is. Every request names the owner that is expected.
    pub async fn objects(&self, bucket: &str) -> Result<Arc<dyn ObjectStore>> {
        let region = self.home_of(bucket).await?;
        let address = address(bucket)?;
        let place = Place::new(&address, &self.inner.environment, &region)?;
        let store = AmazonS3Builder::new()
            .with_bucket_name(bucket)
            .with_region(&region)
            .with_endpoint(place.endpoint)
            .with_virtual_hosted_style_request(place.names_bucket)
            .with_retry(no_retries())
            .with_skip_signature(true)
            .with_http_connector(self.line("s3", &region, self.owner().await?));
        Ok(Arc::new(store.build().map_err(super::built(&address))?))
    }

    /// Makes a bucket in a region. One that another made for the account meanwhile is as good.
    pub async fn create(&self, bucket: &str, region: &str) -> Result<()> {
        // It belongs to nobody yet.
        let line = self.line("s3", region, None);
        if let Err(error) = self.call_on(&line, "making", bucket, Call::create(region)).await {
            let is_there = matches!(self.look_for(bucket).await, Ok(Presence::Here));
            return if is_there { Ok(()) } else { Err(error) };
        }
        self.regions().insert(bucket.to_owned(), Some(region.to_owned()));
        Ok(())
    }

    /// Makes a bucket keep the versions of its objects.
    pub async fn keep_versions(&self, bucket: &str) -> Result<()> {
        self.set("switching on the versions of", bucket, Call::keep_versions()).await
    }

    /// Makes a bucket encrypt its objects.
    pub async fn encrypt(&self, bucket: &str) -> Result<()> {
        self.set("switching on the encryption of", bucket, Call::encrypt()).await
    }

    /// Makes a bucket let nobody in who is not of this account.
    pub async fn keep_others_out(&self, bucket: &str) -> Result<()> {
        let (account, region) = (self.id().await?, self.home_of(bucket).await?);
        self.set("closing", bucket, Call::keep_others_out(bucket, &account, &region)).await
    }

    /// Copies an object to another bucket, under the same name.
    pub async fn copy(&self, from: &str, to: &str, key: &str) -> Result<()> {
        let owner = self.owner().await?;
        self.set("copying to", to, Call::copy(from, key, owner.as_deref())).await
    }

    /// Every content that the objects of a bucket have and had whose keys begin with a text, and every deletion of one;
    /// the newest first of each.
    pub async fn versions(&self, bucket: &str, prefix: &str) -> Result<Vec<ObjectVersion>> {
        let region = self.home_of(bucket).await?;
        let mut all = Vec::new();
        let mut after = None;
        loop {
            let call = Call::versions(prefix, after.as_ref());
            let page = self.call("listing the versions of", bucket, &region, call).await?.unwrap_or_default();
            let (versions, next) = read_versions(&page).map_err(|error| Error::Unsupported {
                path: PathBuf::from(format!("s3://{bucket}")),
                reason: format!("the list of its versions cannot be read: {error}"),
            })?;
            all.extend(versions);
            if next.is_none() {
                return Ok(all);
            }
            after = next;
        }
    }

    /// Deletes contents for good.
    pub async fn delete_versions(&self, bucket: &str, versions: &[ObjectVersion]) -> Result<()> {
        for batch in versions.chunks(DELETED_AT_ONCE) {
            self.set("emptying", bucket, Call::delete(batch)).await?;
        }
        Ok(())
    }

    /// Deletes a bucket that has nothing in it.
    pub async fn delete_bucket(&self, bucket: &str) -> Result<()> {
        self.set("deleting", bucket, Call::delete_bucket()).await?;
        self.regions().remove(bucket);
        Ok(())
    }

    async fn set(&self, action: &'static str, bucket: &str, call: Call) -> Result<()> {
        let region = self.home_of(bucket).await?;
        let refused = |code: &str, message: &str| Error::Unsupported {
            path: PathBuf::from(format!("s3://{bucket}")),
            reason: format!("{action} it was refused ({code}: {message})"),
        };
        match self.call(action, bucket, &region, call).await? {
            // Some requests have begun to be answered before it is known how they end.
            Some(answer) if answer.contains("<Error>") => Err(refused("Error", answer.trim())),
            Some(_) => Ok(()),
            None => Err(refused("404", "there is no such bucket")),
        }
    }

    /// What is asked of a bucket in a region; `None` when there is no such thing.
    async fn call(
        &self,
        action: &'static str,
        bucket: &str,
        region: &str,
        call: Call,
    ) -> Result<Option<String>> {
        let line = self.line("s3", region, self.owner().await?);
        self.call_on(&line, action, bucket, call).await
    }

    async fn call_on(
        &self,
        line: &Signed,
        action: &'static str,
        bucket: &str,
        call: Call,
    ) -> Result<Option<String>> {
        let place = Place::new(&address(bucket)?, &self.inner.environment, &line.region)?;
        let root = if place.names_bucket { String::new() } else { format!("/{bucket}") };
        let question = if call.query.is_empty() { "" } else { "?" };
        let url = format!("{}{root}/{}{question}{}", place.endpoint, call.key, call.query);
        self.asked(action, &format!("s3://{bucket}"), || async {
            let mut request = http::Request::builder().method(call.method.clone()).uri(&url);
            for (name, value) in &call.headers {
                request = request.header(*name, value);
            }
            send(line, request.body(call.body.clone().into())).await
        })
        .await
    }

    async fn asked<F>(
        &self,
        action: &'static str,
        place: &str,
        send: impl Fn() -> F,
    ) -> Result<Option<String>>
    where
        F: Future<Output = object_store::Result<String>>,
    {
        answered(self.inner.patience, send).await.map_err(told(action, PathBuf::from(place)))
    }

    fn line(&self, service: &'static str, region: &str, owner: Option<String>) -> Signed {
        Signed {
            connection: self.inner.connection.clone(),
            credentials: Arc::clone(&self.inner.credentials),
            service,
            region: region.to_owned(),
            owner,
        }
    }
}

/// A bucket as a URL would name it.
fn address(bucket: &str) -> Result<Address> {
    let url = Url::parse(&format!("s3://{bucket}"))
        .ok()
        .filter(|url| url.host_str() == Some(bucket))
        .ok_or_else(|| Error::Unsupported {
            path: PathBuf::from(format!("s3://{bucket}")),
            reason: "this cannot be the name of a bucket".to_owned(),
        })?;
    Address::parse(&url, PARAMETERS)
}

/// Sends a request once, and gives the body of its answer.
async fn send(line: &Signed, request: http::Result<HttpRequest>) -> object_store::Result<String> {
    let failed = |source: Box<dyn std::error::Error + Send + Sync>| object_store::Error::Generic {
        store: "S3",
        source,
    };
    let request = request.map_err(|error| failed(error.into()))?;
    let answer = line.call(request).await.map_err(|error| failed(error.into()))?;
    let (parts, body) = answer.into_parts();
    let body = body.bytes().await.map_err(|error| failed(error.into()))?;
    if parts.status.is_success() {
        return Ok(String::from_utf8_lossy(&body).into_owned());
    }
    let refusal = Refusal::of(parts.status, &parts.headers, &body);
    if parts.status == StatusCode::NOT_FOUND {
        return Err(object_store::Error::NotFound { path: String::new(), source: refusal.into() });
    }
    Err(failed(refusal.into()))
}

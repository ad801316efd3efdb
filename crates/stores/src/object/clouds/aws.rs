//! Credentials and settings for S3, from wherever Amazon's own tools find them: variables, the shared files with their
//! profiles, roles, processes and sign-ons, containers, instances.
//!
//! The ways there are those of Amazon's own library. It reads the process's variables by itself; those that say which
//! profile, region or key is meant come from outside and go first.

use super::Environment;
use super::address::Address;
use super::connection::Connection;
use crate::Result;
use crate::object::faults::Refusal;
use async_trait::async_trait;
use aws_config::meta::region::ProvideRegion;
use aws_config::profile::{ProfileFileCredentialsProvider, ProfileFileRegionProvider};
use aws_config::provider_config::ProviderConfig;
use aws_config::sts::AssumeRoleProvider;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
use aws_runtime::env_config::file::{EnvConfigFileKind, EnvConfigFiles};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::error::display::DisplayErrorContext;
use object_store::CredentialProvider;
use object_store::aws::AwsCredential;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};
use tokio::sync::Mutex;

/// Credentials are renewed this long before they expire.
const MARGIN: Duration = Duration::from_secs(120);
/// Who is said to have taken on a role.
const SESSION: &str = "drystone";

/// Where credentials may come from.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    /// The profile that is asked for. It goes before keys in variables, as with other tools.
    named_profile: Option<String>,
    /// The profile that is meant where none is asked for.
    usual_profile: Option<String>,
    /// The role that is taken on with what is found.
    role: Option<String>,
    region: Option<String>,
    keys: Option<Credentials>,
    files: EnvConfigFiles,
    sender: Sender,
    refused: Arc<AtomicBool>,
}

/// Which credentials are meant, where somebody says so.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    pub(super) profile: Option<String>,
    pub(super) role: Option<String>,
    pub(super) region: Option<String>,
}

impl Wanted {
    /// What a URL says.
    pub(super) fn by(address: &Address) -> Self {
        let text = |name| address.text(name).map(str::to_owned);
        Self { profile: text("profile"), role: text("role"), region: text("region") }
    }
}

impl Sources {
    pub(super) fn new(wanted: Wanted, environment: &Environment, connection: &Connection) -> Self {
        let region = wanted.region.or_else(|| environment.get("AWS_REGION"));
        Self {
            named_profile: wanted.profile,
            usual_profile: environment.get("AWS_PROFILE"),
            role: wanted.role,
            region: region.or_else(|| environment.get("AWS_DEFAULT_REGION")),
            keys: keys(environment),
            files: files(environment),
            sender: Sender { client: connection.client() },
            refused: connection.refused(),
        }
    }

    /// The region that is asked for, or that the profile has.
    pub(super) async fn region(&self) -> Option<String> {
        if self.region.is_some() {
            return self.region.clone();
        }
        let mut provider = ProfileFileRegionProvider::builder().profile_files(self.files.clone());
        if let Some(profile) = self.profile() {
            provider = provider.profile_name(profile);
        }
        provider.build().region().await.map(|region| region.to_string())
    }

    /// The credentials for requests to a region. They are looked for when the first request needs them.
    pub(super) async fn credentials(self, region: &str) -> Result<Renewed> {
        let region = self.region().await.unwrap_or_else(|| region.to_owned());
        Ok(Renewed { region: Region::new(region), sources: self, kept: Mutex::default() })
    }

    fn profile(&self) -> Option<&str> {
        self.named_profile.as_deref().or(self.usual_profile.as_deref())
    }

    /// The way to the credentials, built anew each time: Amazon's library reads files only once.
    async fn provider(&self, region: &Region) -> SharedCredentialsProvider {
        let mut loader = aws_config::defaults(BehaviorVersion::latest())
            .http_client(self.sender.clone())
            .region(region.clone())
            .profile_files(self.files.clone());
        if let Some(profile) = self.profile() {
            loader = loader.profile_name(profile);
        }
        if let Some(named) = &self.named_profile {
            let settings = ProviderConfig::without_region()
                .with_region(Some(region.clone()))
                .with_http_client(self.sender.clone());
            let provider = ProfileFileCredentialsProvider::builder()
                .configure(&settings)
                .profile_files(self.files.clone())
                .profile_name(named)
                .build();
            loader = loader.credentials_provider(provider);
        } else if let Some(keys) = &self.keys {
            loader = loader.credentials_provider(keys.clone());
        }
        let settings = loader.load().await;
        match &self.role {
            Some(role) => taken_on(role, &settings).await,
            None => found(&settings),
        }
    }
}

/// What the settings lead to. They always lead somewhere, if only to a provider that finds nothing.
fn found(settings: &SdkConfig) -> SharedCredentialsProvider {
    settings.credentials_provider().unwrap_or_else(|| SharedCredentialsProvider::new(Nothing))
}

async fn taken_on(role: &str, settings: &SdkConfig) -> SharedCredentialsProvider {
    let provider = AssumeRoleProvider::builder(role).session_name(SESSION).configure(settings);
    SharedCredentialsProvider::new(provider.build_from_provider(found(settings)).await)
}

#[derive(Debug)]
struct Nothing;

impl ProvideCredentials for Nothing {
    fn provide_credentials<'a>(&'a self) -> aws_credential_types::provider::future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        use aws_credential_types::provider::{error::CredentialsError, future};
        future::ProvideCredentials::ready(Err(CredentialsError::not_loaded_no_source()))
    }
}

/// Keys that stand in variables.
fn keys(environment: &Environment) -> Option<Credentials> {
    let id = environment.get("AWS_ACCESS_KEY_ID").or_else(|| environment.get("AWS_ACCESS_KEY"))?;
    let secret = environment.get("AWS_SECRET_ACCESS_KEY").or_else(|| environment.get("AWS_SECRET_KEY"))?;
    Some(Credentials::new(id, secret, environment.get("AWS_SESSION_TOKEN"), None, "variables"))
}

/// The shared files, where variables say that they are elsewhere than usual.
fn files(environment: &Environment) -> EnvConfigFiles {
    // A set of files must not be empty.
    let mut files = EnvConfigFiles::builder().with_contents(EnvConfigFileKind::Config, "");
    for (kind, variable, usual) in [
        (EnvConfigFileKind::Config, "AWS_CONFIG_FILE", "config"),
        (EnvConfigFileKind::Credentials, "AWS_SHARED_CREDENTIALS_FILE", "credentials"),
    ] {
        let given = environment.get(variable).map(std::path::PathBuf::from);
        let path =
            given.or_else(|| Some(environment.home()?.join(".aws").join(usual)).filter(|it| it.exists()));
        if let Some(path) = path {
            files = files.with_file(kind, path);
        }
    }
    files.build()
}

/// Credentials that are kept until they expire or are refused.
#[derive(Debug)]
pub(super) struct Renewed {
    sources: Sources,
    region: Region,
    kept: Mutex<Option<Kept>>,
}

#[derive(Debug)]
struct Kept {
    credential: Arc<AwsCredential>,
    expires: Option<SystemTime>,
}

#[async_trait]
impl CredentialProvider for Renewed {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        let mut kept = self.kept.lock().await;
        let was_refused = self.sources.refused.swap(false, Ordering::Relaxed);
        if let Some(kept) = kept.as_ref().filter(|kept| !was_refused && kept.is_good()) {
            return Ok(Arc::clone(&kept.credential));
        }
        let provider = self.sources.provider(&self.region).await;
        let found = provider.provide_credentials().await.map_err(|error| object_store::Error::Generic {
            store: "S3",
            source: Box::new(Refusal::no_credentials(DisplayErrorContext(&error).to_string())),
        })?;
        let credential = Arc::new(AwsCredential {
            key_id: found.access_key_id().to_owned(),
            secret_key: found.secret_access_key().to_owned(),
            token: found.session_token().map(str::to_owned),
        });
        *kept = Some(Kept { credential: Arc::clone(&credential), expires: found.expiry() });
        Ok(credential)
    }
}

impl Kept {
    fn is_good(&self) -> bool {
        self.expires.is_none_or(|expires| SystemTime::now() + MARGIN < expires)
    }
}

/// Sends the requests of Amazon's library through the client that the bucket has.
#[derive(Debug, Clone)]
struct Sender {
    client: reqwest::Client,
}

impl HttpClient for Sender {
    fn http_connector(&self, settings: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        let timeout = settings.connect_timeout().into_iter().chain(settings.read_timeout()).max();
        SharedHttpConnector::new(TimedSender { client: self.client.clone(), timeout })
    }
}

#[derive(Debug, Clone)]
struct TimedSender {
    client: reqwest::Client,
    timeout: Option<Duration>,
}

impl HttpConnector for TimedSender {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let sender = self.clone();
        HttpConnectorFuture::new(async move { sender.send(request).await })
    }
}

impl TimedSender {
    async fn send(self, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
        let request = request.try_into_http1x().map_err(|error| ConnectorError::user(error.into()))?;
        let request = request.map(|body| body.bytes().map(<[u8]>::to_vec).unwrap_or_default());
        let mut request: reqwest::Request =
            request.try_into().map_err(|error: reqwest::Error| ConnectorError::user(error.into()))?;
        *request.timeout_mut() = self.timeout;
        let answer = self.client.execute(request).await.map_err(sorted)?;
        let mut response = http::Response::builder().status(answer.status());
        if let Some(headers) = response.headers_mut() {
            headers.clone_from(answer.headers());
        }
        let body = answer.bytes().await.map_err(sorted)?;
        let response =
            response.body(SdkBody::from(body)).map_err(|error| ConnectorError::user(error.into()))?;
        HttpResponse::try_from(response).map_err(|error| ConnectorError::user(error.into()))
    }
}

fn sorted(error: reqwest::Error) -> ConnectorError {
    if error.is_timeout() { ConnectorError::timeout(error.into()) } else { ConnectorError::io(error.into()) }
}

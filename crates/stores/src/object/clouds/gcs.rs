//! `gs://`: Google Cloud Storage.

use super::address::Address;
use super::connection::{Connection, no_retries};
use super::{Environment, built};
use crate::{Error, Result};
use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder};
use object_store::{ObjectStore, StaticCredentialProvider};
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;

/// The parameters that Pulumi's URLs take. Those about signing URLs have nothing to say here.
pub(super) const PARAMETERS: &[&str] = &["access_id", "private_key_path", "anonymous", "universe_domain"];

/// Opens a bucket.
pub(super) fn open(
    address: &Address,
    environment: &Environment,
    connection: Connection,
) -> Result<Arc<dyn ObjectStore>> {
    let mut builder = GoogleCloudStorageBuilder::new()
        .with_bucket_name(&address.bucket)
        .with_retry(no_retries())
        .with_http_connector(connection);
    let emulator = environment.get("STORAGE_EMULATOR_HOST");
    if let Some(base) = emulator.as_deref().map(with_scheme).or_else(|| universe(address)) {
        builder = builder.with_base_url(&base);
    }
    let is_anonymous = address.flag("anonymous")? == Some(true) || address.text("access_id") == Some("-");
    let builder = if is_anonymous || emulator.is_some() {
        builder.with_skip_signature(true).with_credentials(bearer(""))
    } else {
        credentials(address, environment, builder)?
    };
    Ok(Arc::new(builder.build().map_err(built(address))?))
}

fn with_scheme(host: &str) -> String {
    let url = if host.contains("://") { host.to_owned() } else { format!("http://{host}") };
    url.trim_end_matches('/').to_owned()
}

fn universe(address: &Address) -> Option<String> {
    address.text("universe_domain").map(|domain| format!("https://storage.{domain}"))
}

fn bearer(token: &str) -> Arc<StaticCredentialProvider<GcpCredential>> {
    Arc::new(StaticCredentialProvider::new(GcpCredential { bearer: token.to_owned() }))
}

/// Credentials in the order in which Pulumi looks for them: its own two variables, then where Google's tools look. Where
/// none of them has any, the machine is asked for those of its service account.
fn credentials(
    address: &Address,
    environment: &Environment,
    builder: GoogleCloudStorageBuilder,
) -> Result<GoogleCloudStorageBuilder> {
    if let Some(text) = environment.get("GOOGLE_CREDENTIALS") {
        let kind = kind(address, "GOOGLE_CREDENTIALS", text.as_bytes())?;
        return match kind.as_str() {
            "service_account" => Ok(builder.with_service_account_key(text)),
            other => Err(unknown_kind(address, "GOOGLE_CREDENTIALS", other)),
        };
    }
    if let Some(token) = environment.get("GOOGLE_OAUTH_ACCESS_TOKEN") {
        return Ok(builder.with_credentials(bearer(&token)));
    }
    let Some(path) = file(environment) else { return Ok(builder) };
    let shown = path.display().to_string();
    let content = std::fs::read(&path).map_err(Error::io("reading the credentials in", path))?;
    match kind(address, &shown, &content)?.as_str() {
        "service_account" | "authorized_user" => Ok(builder.with_application_credentials(shown)),
        other => Err(unknown_kind(address, &shown, other)),
    }
}

/// The file with the credentials of applications, where there is one.
fn file(environment: &Environment) -> Option<PathBuf> {
    if let Some(path) = environment.get("GOOGLE_APPLICATION_CREDENTIALS") {
        return Some(PathBuf::from(path));
    }
    let settings = environment.get("CLOUDSDK_CONFIG").map(PathBuf::from);
    let settings = settings.or_else(|| Some(PathBuf::from(environment.get("APPDATA")?).join("gcloud")));
    let settings = settings.or_else(|| Some(environment.home()?.join(".config").join("gcloud")))?;
    Some(settings.join("application_default_credentials.json")).filter(|path| path.exists())
}

fn kind(address: &Address, place: &str, content: &[u8]) -> Result<String> {
    #[derive(Deserialize)]
    struct Kind {
        #[serde(rename = "type")]
        kind: String,
    }
    let read: Kind = serde_json::from_slice(content).map_err(|error| {
        address.refused(format!("the credentials in {place} are not understood: {error}"))
    })?;
    Ok(read.kind)
}

fn unknown_kind(address: &Address, place: &str, kind: &str) -> Error {
    address.refused(format!(
        "the credentials in {place} are of the kind `{kind}`, which is not known here; \
         GOOGLE_OAUTH_ACCESS_TOKEN takes a token of any kind"
    ))
}

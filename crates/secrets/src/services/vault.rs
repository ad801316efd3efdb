//! The transit engine of HashiCorp Vault: `hashivault://NAME?engine=PATH`.
//!
//! Where Vault is and who asks comes from the variables of Vault's own tools, and from the two that Pulumi has beside
//! them. What the service seals is text: `vault:v1:…`, with the version of the key in it.

use super::address::Address;
use super::fault::told;
use super::line::{Answer, Limits, Line, host};
use super::{DataKey, KeyService, KeyServiceFault, Surroundings};
use base64::{Engine, engine::general_purpose::STANDARD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use ureq::http::request::Parts;
use ureq::http::{HeaderValue, Request, Uri};
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};
use zeroize::Zeroizing;

/// What stays as it is in a path.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// A key of a transit engine.
pub(super) struct Transit {
    line: Line,
    server: String,
    engine: String,
    key: String,
    token: Option<Zeroizing<String>>,
    namespace: Option<String>,
}

impl Transit {
    pub(super) fn open(address: &Address, around: &Surroundings) -> Result<Self, KeyServiceFault> {
        address.only(&["engine"])?;
        let server = around.first_variable(&["VAULT_SERVER_URL", "VAULT_ADDR"]).ok_or_else(|| {
            KeyServiceFault::Address(
                "where Vault is does not stand in VAULT_ADDR, nor in VAULT_SERVER_URL".to_owned(),
            )
        })?;
        let engine = address.parameter("engine").filter(|engine| !engine.is_empty()).unwrap_or("transit");
        Ok(Self {
            line: Line::new(limits(around), tls(around)?),
            server: server.trim_end_matches('/').to_owned(),
            engine: engine.trim_matches('/').to_owned(),
            key: address.key.clone(),
            token: around.first_variable(&["VAULT_SERVER_TOKEN", "VAULT_TOKEN"]).map(Zeroizing::new),
            namespace: around.variable("VAULT_NAMESPACE"),
        })
    }

    fn request(&self, action: &str) -> Result<Parts, KeyServiceFault> {
        let path = format!("{}/{action}/{}", self.engine, self.key);
        let uri = format!("{}/v1/{}", self.server, utf8_percent_encode(&path, PATH));
        let uri: Uri = uri.parse().map_err(|_| {
            KeyServiceFault::Address(format!("Vault's address is no URL: {}", told(&self.server, None)))
        })?;
        let mut request = Request::put(uri)
            .header("content-type", "application/json")
            // Vault's agent lets nothing else through.
            .header("x-vault-request", "true");
        if let Some(token) = &self.token {
            let value = HeaderValue::from_str(token.trim());
            let mut value = value.map_err(|_| {
                KeyServiceFault::NoCredentials("the token in VAULT_TOKEN is no token of Vault".to_owned())
            })?;
            value.set_sensitive(true);
            request = request.header("x-vault-token", value);
        }
        if let Some(namespace) = &self.namespace {
            request = request.header("x-vault-namespace", namespace);
        }
        let request = request.body(()).map_err(|_| {
            KeyServiceFault::Address("Vault's address or namespace does not fit into a request".to_owned())
        })?;
        Ok(request.into_parts().0)
    }

    fn ask(
        &self,
        action: &str,
        question: &Texts<'_>,
        key: Option<&DataKey>,
    ) -> Result<Told, KeyServiceFault> {
        let parts = self.request(action)?;
        let body = Zeroizing::new(serde_json::to_vec(question).unwrap_or_default());
        let answer = self.line.ask(&parts, &body, |_| false)?;
        if !answer.is_good() {
            return Err(self.refused(&parts.uri, &answer, key));
        }
        let envelope: Envelope = serde_json::from_slice(&answer.body).map_err(|_| {
            KeyServiceFault::Garbage { host: host(&parts.uri), reason: "it is not JSON in the form of Vault" }
        })?;
        Ok(envelope.data)
    }

    fn refused(&self, uri: &Uri, answer: &Answer, key: Option<&DataKey>) -> KeyServiceFault {
        let errors = serde_json::from_slice::<Refusal>(&answer.body).map(|refusal| refusal.errors);
        let Ok(errors) = errors else {
            let text = String::from_utf8_lossy(&answer.body);
            return KeyServiceFault::Refused {
                host: host(uri),
                status: answer.status,
                message: told(&text, key),
            };
        };
        let message = told(&errors.join("; "), key);
        match answer.status {
            401 | 403 if self.token.is_none() => {
                KeyServiceFault::NoCredentials(format!("VAULT_TOKEN is not set, and Vault says: {message}"))
            }
            401 | 403 => KeyServiceFault::Denied(message),
            404 => KeyServiceFault::NoKey(message),
            400 if message.contains("key not found") => KeyServiceFault::NoKey(message),
            400 if message.contains("disallowed by policy") => KeyServiceFault::Unusable(message),
            400 if ["ciphertext", "authentication failed", "unable to decrypt"]
                .iter()
                .any(|words| message.contains(words)) =>
            {
                KeyServiceFault::OtherKey(message)
            }
            status => KeyServiceFault::Refused { host: host(uri), status, message },
        }
    }

    fn garbage(&self, reason: &'static str) -> KeyServiceFault {
        let host = self.server.parse().map(|uri| host(&uri)).unwrap_or_default();
        KeyServiceFault::Garbage { host, reason }
    }
}

impl KeyService for Transit {
    fn wrap(&self, key: &DataKey) -> Result<Vec<u8>, KeyServiceFault> {
        let plaintext = Zeroizing::new(STANDARD.encode(key.as_bytes()));
        let question = Texts { plaintext: Some(&plaintext), ciphertext: None };
        let told = self.ask("encrypt", &question, Some(key))?;
        let sealed = told.ciphertext.filter(|text| text.starts_with("vault:") && !key.is_quoted_in(text));
        sealed.map(String::into_bytes).ok_or_else(|| self.garbage("it holds no `vault:…` ciphertext"))
    }

    fn unwrap(&self, wrapped: &[u8]) -> Result<DataKey, KeyServiceFault> {
        let ciphertext = std::str::from_utf8(wrapped)
            .map_err(|_| KeyServiceFault::Malformed("it is not a text of Vault"))?;
        let told = self.ask("decrypt", &Texts { plaintext: None, ciphertext: Some(ciphertext) }, None)?;
        let plaintext = told.plaintext.ok_or_else(|| self.garbage("it holds no plaintext"))?;
        let bytes = STANDARD.decode(plaintext.as_bytes()).map(Zeroizing::new);
        let bytes = bytes.map_err(|_| self.garbage("its plaintext is not base64"))?;
        DataKey::of_bytes(&bytes).ok_or_else(|| self.garbage("the key in it is not 32 bytes long"))
    }
}

impl fmt::Debug for Transit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transit")
            .field("server", &self.server)
            .field("engine", &self.engine)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

#[derive(Serialize)]
struct Texts<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    plaintext: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ciphertext: Option<&'a str>,
}

#[derive(Deserialize)]
struct Envelope {
    data: Told,
}

#[derive(Deserialize)]
struct Told {
    ciphertext: Option<String>,
    plaintext: Option<Zeroizing<String>>,
}

#[derive(Deserialize)]
struct Refusal {
    errors: Vec<String>,
}

/// How long Vault is waited for: `VAULT_CLIENT_TIMEOUT` seconds for an answer, `VAULT_MAX_RETRIES` times again.
fn limits(around: &Surroundings) -> Limits {
    let mut limits = around.limits;
    let seconds =
        |text: String| text.trim_end_matches('s').parse::<u64>().ok().filter(|seconds| *seconds > 0);
    if let Some(seconds) = around.variable("VAULT_CLIENT_TIMEOUT").and_then(seconds) {
        limits.answer = Duration::from_secs(seconds);
    }
    if let Some(retries) = around.variable("VAULT_MAX_RETRIES").and_then(|text| text.parse::<u32>().ok()) {
        limits.attempts = retries.saturating_add(1);
    }
    limits
}

/// The certificates that Vault's own tools would use, when variables name any.
fn tls(around: &Surroundings) -> Result<Option<TlsConfig>, KeyServiceFault> {
    let authorities = around.variable("VAULT_CACERT");
    let directory = around.variable("VAULT_CAPATH");
    let client = around.variable("VAULT_CLIENT_CERT").zip(around.variable("VAULT_CLIENT_KEY"));
    let unchecked =
        around.variable("VAULT_SKIP_VERIFY").is_some_and(|value| matches!(&*value, "1" | "t" | "true"));
    if authorities.is_none() && directory.is_none() && client.is_none() && !unchecked {
        return Ok(None);
    }
    let mut config =
        TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).disable_verification(unchecked);
    if authorities.is_some() || directory.is_some() {
        let mut trusted = Vec::new();
        if let Some(path) = &authorities {
            trusted.extend(certificates(Path::new(path))?);
        } else if let Some(folder) = &directory {
            let unreadable = |error| KeyServiceFault::Address(format!("VAULT_CAPATH: {folder}: {error}"));
            for entry in std::fs::read_dir(folder).map_err(unreadable)? {
                trusted.extend(certificates(&entry.map_err(unreadable)?.path())?);
            }
        }
        config = config.root_certs(RootCerts::Specific(Arc::new(trusted)));
    }
    if let Some((certificate, key)) = client {
        let chain = certificates(Path::new(&certificate))?;
        let key = PrivateKey::from_pem(&Zeroizing::new(read(Path::new(&key))?))
            .map_err(|_| KeyServiceFault::Address(format!("{key} holds no private key in PEM")))?;
        config = config.client_cert(Some(ClientCert::new_with_certs(&chain, key)));
    }
    Ok(Some(config.build()))
}

fn read(path: &Path) -> Result<Vec<u8>, KeyServiceFault> {
    std::fs::read(path).map_err(|error| KeyServiceFault::Address(format!("{}: {error}", path.display())))
}

/// The certificates of a PEM file.
fn certificates(path: &Path) -> Result<Vec<Certificate<'static>>, KeyServiceFault> {
    let pem = read(path)?;
    let found = parse_pem(&pem).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    Ok(found.collect())
}

//! Google Cloud KMS: `gcpkms://projects/P/locations/L/keyRings/R/cryptoKeys/K`.
//!
//! Both sides say the CRC32C of what they send, as the service asks of its clients: a data key that was changed on the
//! way would be lost with everything that it seals.

use super::address::Address;
use super::fault::told;
use super::line::{Answer, Line, host};
use super::signing::{self, Sources, sign};
use super::{DataKey, KeyService, KeyServiceFault, Surroundings};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use crc32c::crc32c;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqsign_core::Signer;
use reqsign_google::{
    Credential, EnvCredentialProvider, RequestSigner, StaticCredentialProvider, TokenCredentialProvider,
    VmMetadataCredentialProvider, WellKnownCredentialProvider,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use ureq::http::{Request, Uri};
use zeroize::Zeroizing;

const SCOPE: &str = "https://www.googleapis.com/auth/cloudkms";

const LOOKED_FOR: &str = "there are none in GOOGLE_CREDENTIALS, GOOGLE_OAUTH_ACCESS_TOKEN, the file of \
                          GOOGLE_APPLICATION_CREDENTIALS, nor from `gcloud auth application-default login`";

/// What stays as it is in a path.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// A key of Google Cloud KMS.
#[derive(Debug)]
pub(super) struct GoogleKms {
    line: Arc<Line>,
    server: String,
    key: String,
    /// What is said with each sealing and has to be said again at each opening.
    authenticated: Option<Vec<u8>>,
    /// The project that pays for the calls, where it is not the key's.
    billed: Option<String>,
    signer: Signer<Credential>,
}

impl GoogleKms {
    pub(super) fn open(address: &Address, around: &Surroundings) -> Result<Self, KeyServiceFault> {
        address.only(&["additional_authenticated_data"])?;
        let parts: Vec<&str> = address.key.split('/').collect();
        if !matches!(parts[..], ["projects", _, "locations", _, "keyRings", _, "cryptoKeys", _, ..]) {
            return Err(KeyServiceFault::Address(
                "a key is `gcpkms://projects/PROJECT/locations/LOCATION/keyRings/RING/cryptoKeys/KEY`"
                    .to_owned(),
            ));
        }
        let authenticated =
            address.parameter("additional_authenticated_data").filter(|text| !text.is_empty());
        let authenticated = authenticated.map(|text| URL_SAFE.decode(text)).transpose().map_err(|_| {
            KeyServiceFault::Address("`additional_authenticated_data` is not base64 for URLs".to_owned())
        })?;
        let line = around.line();
        let server = around.variable("CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS");
        Ok(Self {
            server: server.unwrap_or_else(|| "https://cloudkms.googleapis.com/".to_owned()),
            key: address.key.clone(),
            authenticated,
            billed: around.variable("GOOGLE_CLOUD_QUOTA_PROJECT"),
            signer: Signer::new(
                signing::context(around, &line),
                sources(around),
                RequestSigner::new("cloudkms").with_scope(SCOPE),
            ),
            line,
        })
    }

    fn ask(
        &self,
        action: &str,
        question: &Question<'_>,
        key: Option<&DataKey>,
    ) -> Result<Told, KeyServiceFault> {
        let path = utf8_percent_encode(&self.key, PATH);
        let uri: Uri = format!("{}/v1/{path}:{action}", self.server.trim_end_matches('/'))
            .parse()
            .map_err(|_| KeyServiceFault::Address("its endpoint is no URL".to_owned()))?;
        let mut request = Request::post(uri).header("content-type", "application/json");
        if let Some(project) = &self.billed {
            request = request.header("x-goog-user-project", project);
        }
        let request =
            request.body(()).map_err(|_| KeyServiceFault::Address("its endpoint is no URL".to_owned()))?;
        let mut parts = request.into_parts().0;
        sign(&self.signer, &mut parts)?;
        let body = Zeroizing::new(serde_json::to_vec(question).unwrap_or_default());
        let answer = self.line.ask(&parts, &body, |_| false)?;
        if !answer.is_good() {
            return Err(refused(&parts.uri, &answer, action, key));
        }
        serde_json::from_slice(&answer.body).map_err(|_| KeyServiceFault::Garbage {
            host: host(&parts.uri),
            reason: "it is not JSON in the form of Google Cloud KMS",
        })
    }

    fn garbage(&self, reason: &'static str) -> KeyServiceFault {
        KeyServiceFault::Garbage {
            host: self.server.parse().map(|uri| host(&uri)).unwrap_or_default(),
            reason,
        }
    }

    fn authenticated(&self) -> (Option<String>, Option<String>) {
        let text = self.authenticated.as_ref().map(|bytes| STANDARD.encode(bytes));
        (text, self.authenticated.as_ref().map(|bytes| crc32c(bytes).to_string()))
    }
}

impl KeyService for GoogleKms {
    fn wrap(&self, key: &DataKey) -> Result<Vec<u8>, KeyServiceFault> {
        let plaintext = Zeroizing::new(STANDARD.encode(key.as_bytes()));
        let (additional_authenticated_data, additional_authenticated_data_crc32c) = self.authenticated();
        let question = Question {
            plaintext: Some(&plaintext),
            plaintext_crc32c: Some(crc32c(key.as_bytes()).to_string()),
            additional_authenticated_data,
            additional_authenticated_data_crc32c,
            ..Question::default()
        };
        let told = self.ask("encrypt", &question, Some(key))?;
        let sealed = told.ciphertext.and_then(|text| STANDARD.decode(text).ok()).unwrap_or_default();
        if sealed.is_empty() || sealed == key.as_bytes() {
            return Err(self.garbage("its ciphertext is none"));
        }
        if told.verified_plaintext_crc32c == Some(false) {
            return Err(self.garbage("the service got other bytes than were sent"));
        }
        if told.ciphertext_crc32c.is_some_and(|sum| !sum.is_of(&sealed)) {
            return Err(self.garbage("its ciphertext was changed on the way"));
        }
        Ok(sealed)
    }

    fn unwrap(&self, wrapped: &[u8]) -> Result<DataKey, KeyServiceFault> {
        let ciphertext = STANDARD.encode(wrapped);
        let (additional_authenticated_data, additional_authenticated_data_crc32c) = self.authenticated();
        let question = Question {
            ciphertext: Some(&ciphertext),
            ciphertext_crc32c: Some(crc32c(wrapped).to_string()),
            additional_authenticated_data,
            additional_authenticated_data_crc32c,
            ..Question::default()
        };
        let told = self.ask("decrypt", &question, None)?;
        let plaintext = told.plaintext.unwrap_or_default();
        let bytes = STANDARD.decode(plaintext.as_bytes()).map(Zeroizing::new);
        let bytes = bytes.map_err(|_| self.garbage("its plaintext is not base64"))?;
        if told.plaintext_crc32c.is_some_and(|sum| !sum.is_of(&bytes)) {
            return Err(self.garbage("its plaintext was changed on the way"));
        }
        DataKey::of_bytes(&bytes).ok_or_else(|| self.garbage("the key in it is not 32 bytes long"))
    }
}

/// Where credentials come from, in Pulumi's order.
fn sources(around: &Surroundings) -> Sources<Credential> {
    let sources = Sources::new(LOOKED_FOR);
    if let Some(content) = around.variable("GOOGLE_CREDENTIALS") {
        return sources.then(StaticCredentialProvider::new(content).with_scope(SCOPE));
    }
    if let Some(token) = around.variable("GOOGLE_OAUTH_ACCESS_TOKEN") {
        return sources.then(TokenCredentialProvider::new(token));
    }
    sources
        .then(EnvCredentialProvider::new().with_scope(SCOPE))
        .then(WellKnownCredentialProvider::new().with_scope(SCOPE))
        .then_perhaps(VmMetadataCredentialProvider::new().with_scope(SCOPE))
}

fn refused(uri: &Uri, answer: &Answer, action: &str, key: Option<&DataKey>) -> KeyServiceFault {
    let Ok(Refusal { error }) = serde_json::from_slice::<Refusal>(&answer.body) else {
        let message = told(&String::from_utf8_lossy(&answer.body), key);
        return KeyServiceFault::Refused { host: host(uri), status: answer.status, message };
    };
    let message = told(&error.message, key);
    match error.status.as_str() {
        "UNAUTHENTICATED" => KeyServiceFault::Expired(message),
        "PERMISSION_DENIED" => KeyServiceFault::Denied(message),
        "NOT_FOUND" => KeyServiceFault::NoKey(message),
        "FAILED_PRECONDITION" => KeyServiceFault::Unusable(message),
        "INVALID_ARGUMENT" if action == "decrypt" => KeyServiceFault::OtherKey(message),
        _ => KeyServiceFault::Refused { host: host(uri), status: answer.status, message },
    }
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Question<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    plaintext: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plaintext_crc32c: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ciphertext: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ciphertext_crc32c: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_authenticated_data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_authenticated_data_crc32c: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    ciphertext: Option<String>,
    ciphertext_crc32c: Option<Sum>,
    verified_plaintext_crc32c: Option<bool>,
    plaintext: Option<Zeroizing<String>>,
    plaintext_crc32c: Option<Sum>,
}

/// A CRC32C: 64-bit numbers are texts in Google's JSON.
#[derive(Deserialize)]
#[serde(untagged)]
enum Sum {
    Text(String),
    Number(u64),
}

impl Sum {
    fn is_of(&self, bytes: &[u8]) -> bool {
        let sum = u64::from(crc32c(bytes));
        match self {
            Self::Text(text) => text.parse() == Ok(sum),
            Self::Number(number) => *number == sum,
        }
    }
}

#[derive(Deserialize)]
struct Refusal {
    error: Details,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    message: String,
    #[serde(default)]
    status: String,
}

//! Azure Key Vault: `azurekeyvault://VAULT.vault.azure.net/keys/NAME[/VERSION]?algorithm=…`.
//!
//! What the service seals does not say with which version of the key. Without a version in the URL it is opened with the
//! newest, so that a key which the vault rotates is better named with its version.

use super::address::Address;
use super::azure_credentials::Credentials;
use super::fault::told;
use super::line::{Answer, Line};
use super::{DataKey, KeyService, KeyServiceFault, Surroundings};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use ureq::http::header::AUTHORIZATION;
use ureq::http::{HeaderValue, Request, Uri};
use zeroize::Zeroizing;

/// The version of the service's interface.
const INTERFACE: &str = "7.4";

/// How a key seals when the URL does not say it.
const ALGORITHM: &str = "RSA-OAEP-256";

/// A key of Azure Key Vault.
#[derive(Debug)]
pub(super) struct AzureKeyVault {
    line: Arc<Line>,
    /// The vault's host, and the port if it has one.
    vault: String,
    key: String,
    version: String,
    algorithm: String,
    credentials: Credentials,
}

impl AzureKeyVault {
    pub(super) fn open(address: &Address, around: &Surroundings) -> Result<Self, KeyServiceFault> {
        address.only(&["algorithm"])?;
        let malformed = || {
            KeyServiceFault::Address(
                "a key is `azurekeyvault://VAULT.vault.azure.net/keys/NAME`, with `/VERSION` after it if need be"
                    .to_owned(),
            )
        };
        let parts: Vec<&str> = address.key.split('/').collect();
        let (vault, key, version) = match parts[..] {
            [vault, "keys", key] => (vault, key, ""),
            [vault, "keys", key, version] => (vault, key, version),
            _ => return Err(malformed()),
        };
        let scope = scope(vault).ok_or_else(malformed)?;
        let line = around.line();
        Ok(Self {
            vault: vault.to_owned(),
            key: key.to_owned(),
            version: version.to_owned(),
            algorithm: address.parameter("algorithm").unwrap_or(ALGORITHM).to_owned(),
            credentials: Credentials::new(around, &line, scope),
            line,
        })
    }

    fn ask(
        &self,
        action: &str,
        value: &[u8],
        key: Option<&DataKey>,
    ) -> Result<Zeroizing<Vec<u8>>, KeyServiceFault> {
        let version = if self.version.is_empty() { String::new() } else { format!("/{}", self.version) };
        let uri =
            format!("https://{}/keys/{}{version}/{action}?api-version={INTERFACE}", self.vault, self.key);
        let uri: Uri =
            uri.parse().map_err(|_| KeyServiceFault::Address("it is no URL of a vault".to_owned()))?;
        let token = Zeroizing::new(format!("Bearer {}", self.credentials.token()?.as_str()));
        let mut token = HeaderValue::from_str(&token)
            .map_err(|_| KeyServiceFault::NoCredentials("the token is none of HTTP".to_owned()))?;
        token.set_sensitive(true);
        let request =
            Request::post(uri).header("content-type", "application/json").header(AUTHORIZATION, token);
        let request =
            request.body(()).map_err(|_| KeyServiceFault::Address("it is no URL of a vault".to_owned()))?;
        let parts = request.into_parts().0;
        let value = Zeroizing::new(URL_SAFE_NO_PAD.encode(value));
        let question = Question { alg: &self.algorithm, value: &value };
        let body = Zeroizing::new(serde_json::to_vec(&question).unwrap_or_default());
        let answer = self.line.ask(&parts, &body, |_| false)?;
        if !answer.is_good() {
            return Err(self.refused(&answer, action, key));
        }
        let told: Told = serde_json::from_slice(&answer.body)
            .map_err(|_| self.garbage("it is not JSON in the form of Azure Key Vault"))?;
        let bytes = URL_SAFE_NO_PAD.decode(told.value.trim_end_matches('='));
        bytes.map(Zeroizing::new).map_err(|_| self.garbage("its value is not base64 for URLs"))
    }

    fn refused(&self, answer: &Answer, action: &str, key: Option<&DataKey>) -> KeyServiceFault {
        let Ok(Refusal { error }) = serde_json::from_slice::<Refusal>(&answer.body) else {
            let message = told(&String::from_utf8_lossy(&answer.body), key);
            return KeyServiceFault::Refused { host: self.vault.clone(), status: answer.status, message };
        };
        let inner = error.innererror.map(|inner| inner.code).unwrap_or_default();
        let message = told(&format!("{}: {}", error.code, error.message), key);
        match answer.status {
            _ if inner == "KeyDisabled" || error.message.contains("disabled key") => {
                KeyServiceFault::Unusable(message)
            }
            401 => KeyServiceFault::Expired(message),
            403 => KeyServiceFault::Denied(message),
            404 => KeyServiceFault::NoKey(message),
            400 if action == "decrypt" => KeyServiceFault::OtherKey(message),
            status => KeyServiceFault::Refused { host: self.vault.clone(), status, message },
        }
    }

    fn garbage(&self, reason: &'static str) -> KeyServiceFault {
        KeyServiceFault::Garbage { host: self.vault.clone(), reason }
    }
}

impl KeyService for AzureKeyVault {
    fn wrap(&self, key: &DataKey) -> Result<Vec<u8>, KeyServiceFault> {
        let sealed = self.ask("encrypt", key.as_bytes(), Some(key))?;
        if sealed.is_empty() || sealed.as_slice() == key.as_bytes() {
            return Err(self.garbage("its ciphertext is none"));
        }
        Ok(sealed.to_vec())
    }

    fn unwrap(&self, wrapped: &[u8]) -> Result<DataKey, KeyServiceFault> {
        let bytes = self.ask("decrypt", wrapped, None)?;
        DataKey::of_bytes(&bytes).ok_or_else(|| self.garbage("the key in it is not 32 bytes long"))
    }
}

/// What a token for a vault has to be for: the vaults of its cloud. Nothing when it is no host of a vault, so that no
/// token goes to a stranger.
fn scope(vault: &str) -> Option<String> {
    let name = vault.split(':').next().unwrap_or_default();
    let (_, cloud) = name.split_once('.')?;
    let known = ["vault.", "managedhsm."].iter().any(|start| cloud.starts_with(start));
    known.then(|| format!("https://{cloud}/.default"))
}

#[derive(Serialize)]
struct Question<'a> {
    alg: &'a str,
    value: &'a str,
}

#[derive(Deserialize)]
struct Told {
    value: Zeroizing<String>,
}

#[derive(Deserialize)]
struct Refusal {
    error: Details,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
    innererror: Option<Inner>,
}

#[derive(Deserialize)]
struct Inner {
    #[serde(default)]
    code: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_for_the_vaults_of_one_cloud() {
        assert_eq!(scope("acme.vault.azure.net").as_deref(), Some("https://vault.azure.net/.default"));
        assert_eq!(
            scope("acme.vault.usgovcloudapi.net:443").as_deref(),
            Some("https://vault.usgovcloudapi.net/.default")
        );
        assert_eq!(
            scope("acme.managedhsm.azure.net").as_deref(),
            Some("https://managedhsm.azure.net/.default")
        );
        for stranger in ["acme", "example.com", "a.b.vault.azure.net"] {
            assert_eq!(scope(stranger), None, "{stranger}");
        }
    }
}

//! A stand-in of Azure: one vault of Key Vault with RSA keys, and the token service that its clients ask.
//!
//! Hosts are `login.microsoftonline.com` and `acme.vault.azure.net`, behind a [`crate::Cloud`]. Sealing is RSA-OAEP with
//! SHA-256; a question without a token is answered with the challenge that the real service gives.

use crate::server::{Answer, Asked};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use rsa::sha2::Sha256;
use rsa::{Oaep, RsaPrivateKey, RsaPublicKey, rand_core::OsRng};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The tenant, the application and its secret that tokens are given to.
pub const TENANT: &str = "11111111-2222-3333-4444-555555555555";
/// The application.
pub const CLIENT: &str = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee";
/// Its secret.
pub const SECRET: &str = "a-client-secret";
/// The vault.
pub const VAULT: &str = "acme.vault.azure.net";

const LOGIN: &str = "login.microsoftonline.com";

/// What the stand-in knows. A clone is the same.
#[derive(Debug, Clone, Default)]
pub struct Azure(Arc<Mutex<World>>);

#[derive(Debug, Default)]
struct World {
    /// By name; the versions in their order, each with its own name.
    keys: HashMap<String, Vec<(String, RsaPrivateKey)>>,
    tokens: Vec<String>,
    disabled: bool,
    /// Operations that are not allowed.
    forbidden: Vec<String>,
}

impl Azure {
    fn world<T>(&self, look: impl FnOnce(&mut World) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gives a key a new version, which is returned.
    pub fn make(&self, name: &str) -> String {
        let key = RsaPrivateKey::new(&mut OsRng, 2048).expect("a key");
        self.world(|world| {
            let versions = world.keys.entry(name.to_owned()).or_default();
            let version = format!("{:032x}", versions.len() + 1);
            versions.push((version.clone(), key));
            version
        })
    }

    /// Forgets all tokens, as if their time were over.
    pub fn expire_tokens(&self) {
        self.world(|world| world.tokens.clear());
    }

    /// Disables every key, or enables them again.
    pub fn set_disabled(&self, disabled: bool) {
        self.world(|world| world.disabled = disabled);
    }

    /// Forbids an operation: `encrypt` or `decrypt`.
    pub fn forbid(&self, operation: &str) {
        self.world(|world| world.forbidden.push(operation.to_owned()));
    }

    /// Answers in the place of Azure's hosts.
    #[must_use]
    pub fn answer(&self, asked: &Asked) -> Answer {
        match asked.host() {
            LOGIN => self.world(|world| world.login(asked)),
            VAULT => self.world(|world| world.vault(asked)),
            host => Answer::text(404, "text/plain", format!("no host {host}")),
        }
    }
}

fn refused(status: u16, code: &str, message: &str, inner: Option<&str>) -> Answer {
    let mut error = json!({ "code": code, "message": message });
    if let Some(inner) = inner {
        error["innererror"] = json!({ "code": inner });
    }
    Answer::json(status, &json!({ "error": error }))
}

impl World {
    fn login(&mut self, asked: &Asked) -> Answer {
        let authority = format!("https://{LOGIN}/{TENANT}");
        if asked.path == "/common/discovery/instance" {
            return Answer::json(
                200,
                &json!({
                    "tenant_discovery_endpoint": format!("{authority}/v2.0/.well-known/openid-configuration"),
                    "api-version": "1.1",
                    "metadata": [{ "preferred_network": LOGIN, "preferred_cache": "login.windows.net", "aliases": [LOGIN, "login.windows.net"] }],
                }),
            );
        }
        if asked.path.ends_with("/.well-known/openid-configuration") {
            return Answer::json(
                200,
                &json!({
                    "token_endpoint": format!("{authority}/oauth2/v2.0/token"),
                    "authorization_endpoint": format!("{authority}/oauth2/v2.0/authorize"),
                    "issuer": format!("{authority}/v2.0"),
                }),
            );
        }
        if asked.path != format!("/{TENANT}/oauth2/v2.0/token") {
            return Answer::text(404, "text/plain", "no such page");
        }
        let field = |name: &str| asked.field(name).unwrap_or_default();
        if field("client_id") != CLIENT || field("client_secret") != SECRET {
            let description = "AADSTS7000215: Invalid client secret provided.";
            return Answer::json(
                401,
                &json!({ "error": "invalid_client", "error_description": description }),
            );
        }
        if !field("scope").split(' ').any(|scope| scope == "https://vault.azure.net/.default") {
            let description = "AADSTS70011: The provided value for the input parameter 'scope' is not valid.";
            return Answer::json(400, &json!({ "error": "invalid_scope", "error_description": description }));
        }
        let token = format!("azure-token-{}", crate::random_number());
        self.tokens.push(token.clone());
        Answer::json(
            200,
            &json!({ "token_type": "Bearer", "expires_in": 3599, "ext_expires_in": 3599, "access_token": token }),
        )
    }

    fn vault(&mut self, asked: &Asked) -> Answer {
        let token = asked.header("authorization").strip_prefix("Bearer ").unwrap_or_default();
        if !self.tokens.iter().any(|known| known == token) {
            let challenge = format!(
                r#"Bearer authorization="https://{LOGIN}/{TENANT}", resource="https://vault.azure.net""#
            );
            return refused(401, "Unauthorized", "AKV10000: Request is missing a Bearer or PoP token.", None)
                .with("www-authenticate", &challenge);
        }
        let parts: Vec<&str> = asked.path.trim_start_matches('/').split('/').collect();
        let (name, version, operation) = match parts[..] {
            ["keys", name, operation] => (name, "", operation),
            ["keys", name, version, operation] => (name, version, operation),
            _ => return refused(404, "NotFound", "There is no such operation.", None),
        };
        if !asked.query.contains("api-version=") {
            return refused(400, "BadParameter", "api-version must be specified", None);
        }
        if self.forbidden.iter().any(|forbidden| forbidden == operation) {
            let message = format!(
                "Caller is not authorized to perform action on resource. Action: 'Microsoft.KeyVault/vaults/keys/{operation}/action'"
            );
            return refused(403, "Forbidden", &message, Some("ForbiddenByRbac"));
        }
        let versions = self.keys.get(name).map(Vec::as_slice).unwrap_or_default();
        let key = match version {
            "" => versions.last(),
            version => versions.iter().find(|(known, _)| known == version),
        };
        let Some((version, key)) = key else {
            let message = format!("A key with (name/id) {name} was not found in this key vault.");
            return refused(404, "KeyNotFound", &message, None);
        };
        if self.disabled {
            let message = format!("Operation {operation} is not allowed on a disabled key.");
            return refused(403, "Forbidden", &message, Some("KeyDisabled"));
        }
        let kid = format!("https://{VAULT}/keys/{name}/{version}");
        operate(key, &kid, operation, &asked.json().unwrap_or_default())
    }
}

fn operate(key: &RsaPrivateKey, kid: &str, operation: &str, question: &Value) -> Answer {
    let bad = |message: &str| refused(400, "BadParameter", message, None);
    if question["alg"] != "RSA-OAEP-256" {
        return bad("Property alg has an invalid value");
    }
    let value =
        question["value"].as_str().and_then(|text| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok());
    let Some(value) = value else {
        return bad("Property value is not base64url");
    };
    let done = match operation {
        "encrypt" => RsaPublicKey::from(key).encrypt(&mut OsRng, Oaep::new::<Sha256>(), &value),
        "decrypt" => key.decrypt(Oaep::new::<Sha256>(), &value),
        _ => return refused(404, "NotFound", "There is no such operation.", None),
    };
    match done {
        Ok(bytes) => Answer::json(200, &json!({ "kid": kid, "value": URL_SAFE_NO_PAD.encode(bytes) })),
        Err(_) => bad("The parameter is incorrect."),
    }
}

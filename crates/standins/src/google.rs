//! A stand-in of Google Cloud: symmetric keys of Cloud KMS, and the token service that its clients ask.
//!
//! No registry has a server of it. Hosts are `oauth2.googleapis.com` and `cloudkms.googleapis.com`, behind a
//! [`crate::Cloud`]. A service account's claim is checked with its public key before it gets a token; keys check the token
//! and the CRC32C of what they are sent, and say that of what they send. The stock CLI speaks gRPC to this service and
//! cannot be held against it.

use crate::SealingKey;
use crate::server::{Answer, Asked};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use crc32c::crc32c;
use rsa::pkcs1v15::{Signature, VerifyingKey};
use rsa::pkcs8::{EncodePrivateKey, LineEnding};
use rsa::sha2::Sha256;
use rsa::signature::Verifier;
use rsa::{RsaPrivateKey, RsaPublicKey, rand_core::OsRng};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The scope that a token has to be for.
pub const SCOPE: &str = "https://www.googleapis.com/auth/cloudkms";

/// The service account that tokens are given to.
pub const ACCOUNT: &str = "ci@acme.iam.gserviceaccount.com";

/// What the stand-in knows. A clone is the same.
#[derive(Debug, Clone)]
pub struct Google(Arc<Mutex<World>>);

#[derive(Debug)]
struct World {
    account: RsaPrivateKey,
    keys: HashMap<String, SealingKey>,
    tokens: Vec<String>,
    disabled: bool,
    forbidden: Vec<String>,
    /// Whether a bit of what is sent gets lost.
    corrupts: bool,
}

impl Default for Google {
    fn default() -> Self {
        let account = RsaPrivateKey::new(&mut OsRng, 2048).expect("a key");
        let world = World {
            account,
            keys: HashMap::new(),
            tokens: Vec::new(),
            disabled: false,
            forbidden: Vec::new(),
            corrupts: false,
        };
        Self(Arc::new(Mutex::new(world)))
    }
}

impl Google {
    fn world<T>(&self, look: impl FnOnce(&mut World) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes a key.
    pub fn make(&self, name: &str) {
        self.world(|world| drop(world.keys.insert(name.to_owned(), SealingKey::fresh())));
    }

    /// The credentials of the service account, as the file that Google gives.
    #[must_use]
    pub fn credentials(&self) -> String {
        let key = self.world(|world| world.account.to_pkcs8_pem(LineEnding::LF).expect("PEM").to_string());
        json!({
            "type": "service_account", "project_id": "acme", "private_key_id": "1", "private_key": key,
            "client_email": ACCOUNT, "client_id": "1", "token_uri": "https://oauth2.googleapis.com/token",
        })
        .to_string()
    }

    /// A token without a service account, as `gcloud auth print-access-token` gives.
    #[must_use]
    pub fn token(&self) -> String {
        self.world(World::token)
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

    /// Lets a bit of each answer get lost, or no longer.
    pub fn set_corrupts(&self, corrupts: bool) {
        self.world(|world| world.corrupts = corrupts);
    }

    /// Answers in the place of Google's hosts, or of Cloud KMS alone where a client is told where that is.
    #[must_use]
    pub fn answer(&self, asked: &Asked) -> Answer {
        match asked.host() {
            "oauth2.googleapis.com" => self.world(|world| world.login(asked)),
            "cloudkms.googleapis.com" | "127.0.0.1" => self.world(|world| world.kms(asked)),
            host => Answer::text(404, "text/plain", format!("no host {host}")),
        }
    }
}

fn refused(code: u16, status: &str, message: &str) -> Answer {
    Answer::json(code, &json!({ "error": { "code": code, "message": message, "status": status } }))
}

impl World {
    fn token(&mut self) -> String {
        let token = format!("ya29.{}", crate::random_number());
        self.tokens.push(token.clone());
        token
    }

    fn login(&mut self, asked: &Asked) -> Answer {
        let invalid = |description: &str| {
            Answer::json(400, &json!({ "error": "invalid_grant", "error_description": description }))
        };
        if asked.field("grant_type").as_deref() != Some("urn:ietf:params:oauth:grant-type:jwt-bearer") {
            return invalid("Bad Request");
        }
        match self.checked(&asked.field("assertion").unwrap_or_default()) {
            Some(claims) if claims["iss"] == ACCOUNT && claims["scope"] == SCOPE => {
                let token = self.token();
                Answer::json(
                    200,
                    &json!({ "access_token": token, "expires_in": 3599, "token_type": "Bearer" }),
                )
            }
            _ => invalid("Invalid JWT Signature."),
        }
    }

    /// The claims of a token that the account has signed.
    fn checked(&self, assertion: &str) -> Option<Value> {
        let (signed, signature) = assertion.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let key = VerifyingKey::<Sha256>::new(RsaPublicKey::from(&self.account));
        key.verify(signed.as_bytes(), &Signature::try_from(&signature[..]).ok()?).ok()?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(signed.split('.').nth(1)?).ok()?).ok()
    }

    fn kms(&mut self, asked: &Asked) -> Answer {
        let token = asked.header("authorization").strip_prefix("Bearer ").unwrap_or_default();
        if !self.tokens.iter().any(|known| known == token) {
            return refused(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.");
        }
        let named = asked.path.strip_prefix("/v1/").and_then(|path| path.rsplit_once(':'));
        let Some((name, operation)) = named else {
            return refused(404, "NOT_FOUND", "Not found.");
        };
        if self.forbidden.iter().any(|forbidden| forbidden == operation) {
            let message = format!(
                "Permission 'cloudkms.cryptoKeyVersions.useTo{operation}' denied on resource '{name}'."
            );
            return refused(403, "PERMISSION_DENIED", &message);
        }
        let Some(key) = self.keys.get(name) else {
            return refused(404, "NOT_FOUND", &format!("CryptoKey {name} not found."));
        };
        if self.disabled {
            let message = format!("{name}/cryptoKeyVersions/1 is not enabled, current state is: DISABLED.");
            return refused(400, "FAILED_PRECONDITION", &message);
        }
        self.operate(key, name, operation, &asked.json().unwrap_or_default())
    }

    fn operate(&self, key: &SealingKey, name: &str, operation: &str, question: &Value) -> Answer {
        let bytes = |member: &str| {
            let bytes = STANDARD.decode(question[member].as_str().unwrap_or_default()).ok()?;
            let sum = question[format!("{member}Crc32c")].as_str()?.parse::<u32>().ok();
            (sum == Some(crc32c(&bytes))).then_some(bytes)
        };
        let invalid = |message: &str| refused(400, "INVALID_ARGUMENT", message);
        let member = if operation == "encrypt" { "plaintext" } else { "ciphertext" };
        let Some(input) = bytes(member) else {
            return invalid("The checksum in the request does not match what was received.");
        };
        let associated = match question.get("additionalAuthenticatedData") {
            Some(_) => match bytes("additionalAuthenticatedData") {
                Some(associated) => associated,
                None => return invalid("The checksum of the additional authenticated data does not match."),
            },
            None => Vec::new(),
        };
        let lost = |mut bytes: Vec<u8>| {
            if self.corrupts {
                bytes[0] ^= 1;
            }
            bytes
        };
        match operation {
            "encrypt" => {
                let sealed = key.seal(&input, &associated);
                let sum = crc32c(&sealed).to_string();
                let version = format!("{name}/cryptoKeyVersions/1");
                Answer::json(
                    200,
                    &json!({
                        "name": version, "ciphertext": STANDARD.encode(lost(sealed)), "ciphertextCrc32c": sum,
                        "verifiedPlaintextCrc32c": true, "protectionLevel": "SOFTWARE",
                    }),
                )
            }
            "decrypt" => match key.open(&input, &associated) {
                Some(plaintext) => {
                    let sum = crc32c(&plaintext).to_string();
                    Answer::json(
                        200,
                        &json!({
                            "plaintext": STANDARD.encode(lost(plaintext)), "plaintextCrc32c": sum,
                            "usedPrimary": true, "protectionLevel": "SOFTWARE",
                        }),
                    )
                }
                None => invalid("Decryption failed: the ciphertext is invalid."),
            },
            _ => refused(404, "NOT_FOUND", "Not found."),
        }
    }
}

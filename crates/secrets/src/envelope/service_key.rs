//! The encrypters whose key is in a service: `kms` of AWS and `gcp-kms` of Google.
//!
//! The service never sees a document. It seals a data key, once an encrypter; the document is sealed with that, and both
//! stand in the ciphertext, in unobin's form:
//!
//! ```text
//! {"version":1,"encrypted-key":"…","payload":"…"}
//! ```

use super::framed::Framed;
use super::{Encrypter, EncrypterError};
use crate::services::{DataKey, KeyAction, KeyService, KeyServiceFault, KeyServices};
use crate::{Entropy, Plaintext, SystemEntropy};
use base64::{Engine, engine::general_purpose::STANDARD};
use drystone_dialects::unobin::Ref;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The version of the form.
const VERSION: u64 = 1;

/// A service that keeps the keys of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    Aws,
    Google,
}

impl Service {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Aws => "kms",
            Self::Google => "gcp-kms",
        }
    }

    fn scheme(self) -> &'static str {
        match self {
            Self::Aws => "awskms",
            Self::Google => "gcpkms",
        }
    }

    /// The members of a configuration beside the key's name, each a parameter of the service's URL.
    fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Aws => &["region", "endpoint", "profile"],
            Self::Google => &[],
        }
    }
}

/// The member of a configuration that names the key.
const KEY: &str = "key-id";

/// Seals with data keys that a service guards.
pub(super) struct ServiceKey {
    service: Service,
    /// What was said of it.
    reference: Ref,
    keys: Box<dyn KeyService>,
    entropy: Arc<dyn Entropy>,
    /// What seals: made, and sealed by the service, when it is first needed.
    sealing: Mutex<Option<Arc<Sealing>>>,
    /// The data keys that were opened, by their sealed form: the service is asked once for each (S18).
    opened: Mutex<HashMap<Vec<u8>, Arc<Framed>>>,
}

#[derive(Debug)]
struct Sealing {
    key: Framed,
    wrapped: String,
}

/// What stands in an envelope as ciphertext.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Blob {
    version: u64,
    encrypted_key: String,
    payload: String,
}

impl ServiceKey {
    /// The encrypter that a configuration says. Nothing is asked of the service yet.
    pub(super) fn of(
        service: Service,
        reference: &Ref,
        services: &KeyServices,
    ) -> Result<Self, EncrypterError> {
        let name = service.name();
        let url = url(service, reference)?;
        let keys = services.open_service(&url);
        let keys = keys.map_err(|fault| EncrypterError::Service { name, reason: fault.to_string() })?;
        Ok(Self {
            service,
            reference: Ref { name: name.to_owned(), body: reference.body.clone(), ..Ref::default() },
            keys,
            entropy: Arc::new(SystemEntropy),
            sealing: Mutex::default(),
            opened: Mutex::default(),
        })
    }

    fn sealing(&self) -> Result<Arc<Sealing>, EncrypterError> {
        let mut sealing = self.sealing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*sealing {
            return Ok(Arc::clone(known));
        }
        let key = DataKey::fresh(&*self.entropy)
            .map_err(|error| EncrypterError::Entropy { reason: error.to_string() })?;
        let wrapped = self.keys.wrap(&key).map_err(|fault| self.failed(KeyAction::Wrap, &fault))?;
        let framed = Framed::new(self.service.name(), key.as_bytes());
        let made = Arc::new(Sealing { key: framed, wrapped: STANDARD.encode(wrapped) });
        *sealing = Some(Arc::clone(&made));
        Ok(made)
    }

    fn opened(&self, wrapped: Vec<u8>) -> Result<Arc<Framed>, EncrypterError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = opened.get(&wrapped) {
            return Ok(Arc::clone(known));
        }
        let key = self.keys.unwrap(&wrapped).map_err(|fault| self.failed(KeyAction::Unwrap, &fault))?;
        let framed = Arc::new(Framed::new(self.service.name(), key.as_bytes()));
        opened.insert(wrapped, Arc::clone(&framed));
        Ok(framed)
    }

    fn failed(&self, action: KeyAction, fault: &KeyServiceFault) -> EncrypterError {
        let key = member(&self.reference, KEY).unwrap_or_default();
        let reason = format!("cannot {action} the data key with {key}: {fault}");
        EncrypterError::Service { name: self.service.name(), reason }
    }

    fn malformed(&self, reason: &'static str) -> EncrypterError {
        EncrypterError::Malformed { name: self.service.name(), reason }
    }
}

impl Encrypter for ServiceKey {
    fn encrypt(&self, plaintext: &[u8], associated_data: &[u8]) -> Result<Vec<u8>, EncrypterError> {
        let sealing = self.sealing()?;
        let payload = sealing.key.seal(plaintext, associated_data, &self.entropy)?;
        let blob = Blob {
            version: VERSION,
            encrypted_key: sealing.wrapped.clone(),
            payload: STANDARD.encode(payload),
        };
        serde_json::to_vec(&blob).map_err(|_| self.malformed("it cannot be written"))
    }

    fn decrypt(&self, ciphertext: &[u8], associated_data: &[u8]) -> Result<Plaintext, EncrypterError> {
        let blob: Blob = serde_json::from_slice(ciphertext)
            .map_err(|_| self.malformed("it is not a data key and a payload in JSON"))?;
        if blob.version != VERSION {
            return Err(self.malformed("it is of a version that is not known"));
        }
        let bytes = |text: String| STANDARD.decode(text).map_err(|_| self.malformed("it is not base64"));
        let (wrapped, payload) = (bytes(blob.encrypted_key)?, bytes(blob.payload)?);
        self.opened(wrapped)?.open(&payload, associated_data)
    }

    fn describe(&self) -> Ref {
        self.reference.clone()
    }
}

impl fmt::Debug for ServiceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServiceKey({} {})", self.service.name(), member(&self.reference, KEY).unwrap_or_default())
    }
}

/// The URL of the key that a configuration names.
fn url(service: Service, reference: &Ref) -> Result<String, EncrypterError> {
    let name = service.name();
    let known = |member: &str| member == KEY || service.parameters().contains(&member);
    // What it was meant for would not happen.
    if let Some(other) = reference.body.keys().find(|member| !known(member)) {
        return Err(EncrypterError::UnknownMember { name, member: other.clone() });
    }
    let key = member(reference, KEY).ok_or(EncrypterError::NoKeyId { name })?;
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let key = key.split('/').map(encoded).collect::<Vec<_>>().join("/");
    let parameters: Vec<String> = service
        .parameters()
        .iter()
        .filter_map(|name| Some(format!("{name}={}", encoded(member(reference, name)?))))
        .collect();
    let parameters = if parameters.is_empty() { String::new() } else { format!("?{}", parameters.join("&")) };
    Ok(format!("{}:///{key}{parameters}", service.scheme()))
}

/// A member of a configuration that says something.
fn member<'a>(reference: &'a Ref, name: &str) -> Option<&'a str> {
    reference.body.get(name).and_then(|value| value.as_str()).filter(|text| !text.is_empty())
}

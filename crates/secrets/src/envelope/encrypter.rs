//! What seals documents, and how it is found by its name.

use super::service_key::{Service, ServiceKey};
use super::{EncrypterError, EnvKey};
use crate::services::KeyServices;
use crate::{Lookup, Plaintext};
use drystone_dialects::unobin::Ref;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Seals and opens whole documents.
pub trait Encrypter: fmt::Debug + Send + Sync {
    /// Seals a document, bound to `associated_data` unless that is empty.
    fn encrypt(&self, plaintext: &[u8], associated_data: &[u8]) -> Result<Vec<u8>, EncrypterError>;
    /// Opens what was sealed with the same associated data.
    fn decrypt(&self, ciphertext: &[u8], associated_data: &[u8]) -> Result<Plaintext, EncrypterError>;
    /// What an envelope may say of it: its name and where its key is, never the key.
    fn describe(&self) -> Ref;
}

/// Seals nothing. For those who ask for it by name.
#[derive(Debug, Clone, Copy, Default)]
pub struct Noop;

impl Encrypter for Noop {
    fn encrypt(&self, plaintext: &[u8], associated_data: &[u8]) -> Result<Vec<u8>, EncrypterError> {
        self.decrypt(plaintext, associated_data).map(|plaintext| plaintext.as_bytes().to_vec())
    }

    fn decrypt(&self, ciphertext: &[u8], associated_data: &[u8]) -> Result<Plaintext, EncrypterError> {
        if associated_data.is_empty() {
            Ok(Plaintext::from(ciphertext.to_vec()))
        } else {
            Err(EncrypterError::CannotBind)
        }
    }

    fn describe(&self) -> Ref {
        Ref::built_in("noop", [])
    }
}

/// Makes an encrypter of what an envelope or a settings file says of it.
pub type Source = dyn Fn(&Ref, &Lookup) -> Result<Arc<dyn Encrypter>, EncrypterError> + Send + Sync;

/// The encrypters by name.
pub struct Encrypters {
    variables: Arc<Lookup>,
    sources: BTreeMap<String, Box<Source>>,
}

impl Encrypters {
    /// `env-key`, `kms`, `gcp-kms` and `noop`, with the variables that keys and credentials are found by.
    #[must_use]
    pub fn new(variables: Box<Lookup>) -> Self {
        let variables: Arc<Lookup> = variables.into();
        let services = KeyServices::of(Arc::clone(&variables));
        Self { variables, sources: BTreeMap::new() }
            .with("noop", Box::new(|_, _| Ok(Arc::new(Noop))))
            .with("env-key", Box::new(|reference, variables| Ok(Arc::new(EnvKey::of(reference, variables)?))))
            .with_service(Service::Aws, services.clone())
            .with_service(Service::Google, services)
    }

    fn with_service(self, service: Service, services: KeyServices) -> Self {
        let source: Box<Source> =
            Box::new(move |reference, _| Ok(Arc::new(ServiceKey::of(service, reference, &services)?)));
        self.with(service.name(), source)
    }

    /// These, and one more.
    #[must_use]
    pub fn with(mut self, name: &str, source: Box<Source>) -> Self {
        self.sources.insert(name.to_owned(), source);
        self
    }

    /// The encrypter that is said.
    pub fn resolve(&self, reference: &Ref) -> Result<Arc<dyn Encrypter>, EncrypterError> {
        let name = &reference.name;
        match self.sources.get(name) {
            Some(source) => source(reference, &*self.variables),
            None => Err(EncrypterError::Unknown { name: name.clone() }),
        }
    }

    /// The encrypter that an envelope says. One that says none is not taken for one that is not sealed.
    pub fn resolve_named(&self, reference: Option<&Ref>) -> Result<Arc<dyn Encrypter>, EncrypterError> {
        self.resolve(reference.ok_or(EncrypterError::NotNamed)?)
    }
}

impl fmt::Debug for Encrypters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encrypters").field("sources", &self.sources.keys()).finish_non_exhaustive()
    }
}

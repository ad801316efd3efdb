//! Key services: what keeps a key that never leaves it, and seals a stack's data key with that.
//!
//! A stack whose secrets a service guards has a data key of 32 bytes. The service seals it once; the sealed form stands
//! in the settings file and in the state. A command asks the service to open it at most once (S18) and does everything
//! else in this process. [`KeyServices`] opens a service by its URL, in the form of Pulumi's `cloud` secrets provider:
//!
//! | URL | service |
//! | --- | --- |
//! | `awskms://alias/NAME?region=…`, `awskms:///ARN` | AWS KMS |
//! | `gcpkms://projects/…/cryptoKeys/NAME` | Google Cloud KMS |
//! | `azurekeyvault://VAULT.vault.azure.net/keys/NAME` | Azure Key Vault |
//! | `hashivault://NAME` | the transit engine of HashiCorp Vault |
//!
//! Who asks is found out as each cloud's own tools do; the chains of credentials and the signatures are those of the
//! `reqsign` crates and of `azure_identity`, over the one HTTP client of [`line`].

mod address;
mod aws;
mod aws_profiles;
mod azure;
mod azure_credentials;
mod data_key;
mod fault;
mod google;
mod line;
mod signing;
mod vault;

pub use data_key::DataKey;
pub use fault::{KeyAction, KeyServiceError, KeyServiceFault, KeyServiceName};
pub use line::Limits;

use crate::{Error, Lookup};
use address::Address;
use line::Line;
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

/// A key that a service keeps.
pub trait KeyService: fmt::Debug + Send + Sync {
    /// Seals a data key. What comes back is what [`KeyService::unwrap`] takes.
    fn wrap(&self, key: &DataKey) -> Result<Vec<u8>, KeyServiceFault>;

    /// Opens a data key that was sealed with this key.
    fn unwrap(&self, wrapped: &[u8]) -> Result<DataKey, KeyServiceFault>;
}

/// Opens key services by their URLs.
#[derive(Clone)]
pub struct KeyServices {
    surroundings: Surroundings,
}

/// What a service needs of the process: its environment and its line to the network.
#[derive(Clone)]
struct Surroundings {
    environment: Arc<Lookup>,
    limits: Limits,
}

impl Surroundings {
    /// A variable that is set and not empty.
    fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty())
    }

    /// The first of these variables that is set and not empty.
    fn first_variable(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.variable(name))
    }

    fn line(&self) -> Arc<Line> {
        Arc::new(Line::new(self.limits, None))
    }
}

impl KeyServices {
    /// Services that find credentials through `environment`.
    pub fn new(environment: impl Fn(&str) -> Option<OsString> + Send + Sync + 'static) -> Self {
        Self::of(Arc::new(environment))
    }

    pub(crate) fn of(environment: Arc<Lookup>) -> Self {
        Self { surroundings: Surroundings { environment, limits: Limits::default() } }
    }

    /// Services that are waited for this long.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.surroundings.limits = limits;
        self
    }

    /// Makes a data key from `key` sealed by the service: the text that a settings file keeps.
    pub(crate) fn wrap(&self, url: &str, key: &DataKey) -> Result<String, Error> {
        let failed = |fault| Error::from(KeyServiceError::new(url, KeyAction::Wrap, fault));
        let (service, form) = self.open(url).map_err(failed)?;
        service.wrap(key).map(|wrapped| form.text(&wrapped)).map_err(failed)
    }

    /// Opens a data key from the text that a settings file keeps.
    pub(crate) fn unwrap(&self, url: &str, text: &str) -> Result<DataKey, Error> {
        let failed = |fault| Error::from(KeyServiceError::new(url, KeyAction::Unwrap, fault));
        let (service, form) = self.open(url).map_err(failed)?;
        service.unwrap(&form.bytes(text).map_err(failed)?).map_err(failed)
    }

    /// Opens a service by the URL of its key. Nothing is asked of it yet.
    pub(crate) fn open_service(&self, url: &str) -> Result<Box<dyn KeyService>, KeyServiceFault> {
        self.open(url).map(|(service, _)| service)
    }

    fn open(&self, url: &str) -> Result<(Box<dyn KeyService>, data_key::Form), KeyServiceFault> {
        let address = Address::parse(url)?;
        let around = &self.surroundings;
        Ok(match address.service {
            KeyServiceName::AwsKms => (Box::new(aws::AwsKms::open(&address, around)?), data_key::Form::Plain),
            KeyServiceName::GoogleKms => {
                (Box::new(google::GoogleKms::open(&address, around)?), data_key::Form::Plain)
            }
            KeyServiceName::AzureKeyVault => {
                (Box::new(azure::AzureKeyVault::open(&address, around)?), data_key::Form::Twice)
            }
            KeyServiceName::Vault => {
                (Box::new(vault::Transit::open(&address, around)?), data_key::Form::Plain)
            }
        })
    }
}

impl fmt::Debug for KeyServices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyServices").field("limits", &self.surroundings.limits).finish_non_exhaustive()
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").field("limits", &self.limits).finish_non_exhaustive()
    }
}

//! Secrets managers: a stack's crypter with what the state and the settings file keep about it.

use crate::salt::KIND as PASSPHRASE;
use crate::{
    Action, Base64, Blinding, Crypter, Error, Keyring, Locked, Passphrase, Plaintext, SymmetricCrypter,
};
use drystone_model::{Json, SecretsProvider};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

const CLOUD: &str = "cloud";
const SERVICE: &str = "service";
const BASE64: &str = "b64";

/// What seals the secrets of a stack.
///
/// Opening one never fails and asks nobody: a passphrase is looked for on first use, a key service asked on first use,
/// and a manager that cannot be used says why only then. So a stack whose passphrase is unknown or whose key service is
/// away can still be read, and written back unchanged.
#[derive(Debug, Clone)]
pub struct Manager {
    provider: SecretsProvider,
    crypter: Arc<dyn Crypter>,
}

impl Manager {
    /// The manager of a snapshot. `stack` is the name to ask with.
    #[must_use]
    pub fn of_snapshot(keyring: &Keyring, provider: &SecretsProvider, stack: Option<&str>) -> Self {
        let crypter: Arc<dyn Crypter> = match provider.kind.as_str() {
            PASSPHRASE => match salt_of(provider) {
                Ok(salt) => Arc::new(Unlocking::new(keyring, Key::Passphrase { salt }, stack)),
                Err(error) => Arc::new(Locked(error)),
            },
            CLOUD => match state_of(provider) {
                Ok(state) => Arc::new(Unlocking::new(keyring, Key::Service(state), stack)),
                Err(error) => Arc::new(Locked(error)),
            },
            BASE64 => Arc::new(Base64),
            SERVICE => Arc::new(Locked(unsupported(provider))),
            kind => Arc::new(Locked(Error::UnknownKind { kind: kind.to_owned() })),
        };
        Self { provider: provider.clone(), crypter }
    }

    /// The manager that a settings file names, or `None` when it names none. `stack` is the name to ask with.
    pub fn of_settings(
        keyring: &Keyring,
        settings: &Settings,
        stack: Option<&str>,
    ) -> Result<Option<Self>, Error> {
        let provider = match settings.secrets_provider.as_str() {
            "" | "default" | PASSPHRASE if settings.encryption_salt.is_empty() => return Ok(None),
            "" | "default" | PASSPHRASE => passphrase_provider(&settings.encryption_salt)?,
            // A key service that has not sealed anything yet.
            _ if settings.encrypted_key.is_empty() => return Ok(None),
            url => {
                let state = CloudState { url: url.to_owned(), encryptedkey: settings.encrypted_key.clone() };
                new_provider(CLOUD, &state)?
            }
        };
        Ok(Some(Self::of_snapshot(keyring, &provider, stack)))
    }

    /// A manager with a fresh salt for this passphrase.
    pub fn with_passphrase(keyring: &Keyring, passphrase: &Passphrase) -> Result<Self, Error> {
        let (salt, crypter) = keyring.create(passphrase)?;
        Ok(Self { provider: passphrase_provider(&salt)?, crypter })
    }

    /// A manager with a fresh data key that the key service at `url` has sealed.
    pub fn with_key_service(keyring: &Keyring, url: &str) -> Result<Self, Error> {
        let (encryptedkey, crypter) = keyring.create_key(url)?;
        let state = CloudState { url: url.to_owned(), encryptedkey };
        Ok(Self { provider: new_provider(CLOUD, &state)?, crypter })
    }

    /// The URL of the key service that guards it, if one does.
    #[must_use]
    pub fn key_service(&self) -> Option<String> {
        (self.provider.kind == CLOUD)
            .then(|| state_of::<CloudState>(&self.provider).ok())
            .flatten()
            .map(|state| state.url)
    }

    /// A manager that shows every secret of the state as `[secret]` and needs no key.
    #[must_use]
    pub fn blinded(provider: &SecretsProvider) -> Self {
        Self { provider: provider.clone(), crypter: Arc::new(Blinding::State) }
    }

    /// The manager of a snapshot that names none: there is nothing to open.
    #[must_use]
    pub fn absent() -> Self {
        Self { provider: SecretsProvider::default(), crypter: Arc::new(Locked(Error::NoProvider)) }
    }

    /// A manager around a crypter that lives elsewhere.
    #[must_use]
    pub fn new(provider: SecretsProvider, crypter: Arc<dyn Crypter>) -> Self {
        Self { provider, crypter }
    }

    /// What a snapshot keeps about it.
    #[must_use]
    pub fn provider(&self) -> &SecretsProvider {
        &self.provider
    }

    /// What seals and opens.
    #[must_use]
    pub fn crypter(&self) -> &Arc<dyn Crypter> {
        &self.crypter
    }

    /// Makes it usable now rather than on first use, or says why it is not.
    pub fn unlock(&self) -> Result<(), Error> {
        self.crypter.unlock()
    }

    /// Why it turned out not to be usable; nothing while nobody has tried.
    #[must_use]
    pub fn refusal(&self) -> Option<Error> {
        self.crypter.refusal()
    }

    /// Whether what one of the two seals, the other opens.
    #[must_use]
    pub fn opens_what_is_sealed_by(&self, other: &Self) -> bool {
        self.provider.kind == other.provider.kind && self.provider.state == other.provider.state
    }

    /// What a settings file keeps about it.
    pub fn settings(&self) -> Result<Settings, Error> {
        Ok(match self.provider.kind.as_str() {
            PASSPHRASE => Settings { encryption_salt: salt_of(&self.provider)?, ..Settings::default() },
            CLOUD => {
                let CloudState { url, encryptedkey } = state_of(&self.provider)?;
                Settings { secrets_provider: url, encrypted_key: encryptedkey, ..Settings::default() }
            }
            _ => Settings::default(),
        })
    }
}

/// What a stack's settings file says about its secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// `secretsprovider`: the URL of a key service, or empty.
    pub secrets_provider: String,
    /// `encryptedkey`: the data key, sealed by the key service.
    pub encrypted_key: String,
    /// `encryptionsalt`: the salt of a passphrase.
    pub encryption_salt: String,
}

/// A secrets provider as a user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderChoice {
    /// The one that the backend prefers.
    Default,
    /// A passphrase.
    Passphrase,
    /// A key service, by its URL.
    Cloud(String),
}

impl ProviderChoice {
    const KINDS: [&str; 6] = ["default", "passphrase", "awskms", "azurekeyvault", "gcpkms", "hashivault"];
}

impl FromStr for ProviderChoice {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let kind = name.split_once(':').map_or(name, |(kind, _)| kind);
        match kind {
            "default" => Ok(Self::Default),
            "passphrase" => Ok(Self::Passphrase),
            kind if Self::KINDS.contains(&kind) => Ok(Self::Cloud(name.to_owned())),
            kind => Err(Error::UnknownChoice { kind: kind.to_owned(), supported: Self::KINDS.join(",") }),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct SaltState {
    salt: String,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct CloudState {
    url: String,
    encryptedkey: String,
}

fn new_provider(kind: &str, state: &impl Serialize) -> Result<SecretsProvider, Error> {
    let malformed =
        |_| Error::MalformedState { kind: kind.to_owned(), reason: "it cannot be written as JSON" };
    let state = Json::from_serialize(state).map_err(malformed)?;
    Ok(SecretsProvider { kind: kind.to_owned(), state: Some(state), ..SecretsProvider::default() })
}

fn passphrase_provider(salt: &str) -> Result<SecretsProvider, Error> {
    new_provider(PASSPHRASE, &SaltState { salt: salt.to_owned() })
}

fn state_of<'a, T: Deserialize<'a>>(provider: &'a SecretsProvider) -> Result<T, Error> {
    let malformed = |reason| Error::MalformedState { kind: provider.kind.clone(), reason };
    let state = provider.state.as_ref().ok_or_else(|| malformed("there is none"))?;
    state.decode().map_err(|_| malformed("its members are not as expected"))
}

fn salt_of(provider: &SecretsProvider) -> Result<String, Error> {
    state_of::<SaltState>(provider).map(|state| state.salt)
}

fn unsupported(provider: &SecretsProvider) -> Error {
    let url = state_of::<CloudState>(provider).map(|state| state.url).unwrap_or_default();
    let name = if url.is_empty() { provider.kind.clone() } else { url };
    Error::Unsupported { kind: provider.kind.clone(), name }
}

/// What a crypter's key comes from.
enum Key {
    /// A passphrase.
    Passphrase { salt: String },
    /// A key service, with the data key that it has sealed.
    Service(CloudState),
}

/// Looks for the passphrase or asks the key service when it is first used, and remembers the outcome.
struct Unlocking {
    keyring: Keyring,
    key: Key,
    stack: Option<String>,
    outcome: OnceLock<Result<Arc<SymmetricCrypter>, Error>>,
}

impl Unlocking {
    fn new(keyring: &Keyring, key: Key, stack: Option<&str>) -> Self {
        let stack = stack.map(str::to_owned);
        Self { keyring: keyring.clone(), key, stack, outcome: OnceLock::new() }
    }

    fn crypter(&self) -> Result<&SymmetricCrypter, &Error> {
        let outcome = self.outcome.get_or_init(|| match &self.key {
            Key::Passphrase { salt } => self.keyring.unlock(salt, self.stack.as_deref()),
            Key::Service(state) => self.keyring.unwrap_key(&state.url, &state.encryptedkey),
        });
        outcome.as_ref().map(Arc::as_ref)
    }
}

impl Crypter for Unlocking {
    fn encrypt(&self, plaintexts: &[&Plaintext]) -> Result<Vec<String>, Error> {
        match self.crypter() {
            Ok(crypter) => crypter.encrypt(plaintexts),
            Err(error) => Err(Locked(error.clone()).refuse(Action::Encrypt)),
        }
    }

    fn decrypt(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, Error> {
        match self.crypter() {
            Ok(crypter) => crypter.decrypt(ciphertexts),
            Err(error) => Err(Locked(error.clone()).refuse(Action::Decrypt)),
        }
    }

    fn unlock(&self) -> Result<(), Error> {
        self.crypter().map(|_| ()).map_err(Error::clone)
    }

    fn refusal(&self) -> Option<Error> {
        self.outcome.get().and_then(|outcome| outcome.as_ref().err().cloned())
    }
}

impl fmt::Debug for Unlocking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unlocking").field("unlocked", &matches!(self.outcome.get(), Some(Ok(_)))).finish()
    }
}

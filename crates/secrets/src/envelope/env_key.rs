//! The encrypter whose key is in an environment variable.

use super::framed::Framed;
use super::{Encrypter, EncrypterError};
use crate::{Entropy, KEY_BYTES, Lookup, Plaintext, SystemEntropy};
use drystone_dialects::unobin::{Ref, decode_base64};
use std::fmt;
use std::sync::Arc;
use zeroize::Zeroizing;

const NAME: &str = "env-key";

/// The member of its configuration that names the variable.
const VARIABLE: &str = "env-var";

/// Seals with AES-256-GCM and the key that a variable holds in base64. What it makes is nonce, ciphertext and tag.
///
/// The key is wiped when the encrypter is dropped.
pub struct EnvKey {
    key: Framed,
    variable: String,
    entropy: Arc<dyn Entropy>,
}

impl EnvKey {
    /// The encrypter of a variable. One that is not set is an error: nothing is ever left unsealed because a key is
    /// missing.
    pub fn new(variable: &str, variables: &Lookup) -> Result<Self, EncrypterError> {
        let value = variables(variable).filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| EncrypterError::NotSet { variable: variable.to_owned() })?;
        let value = Zeroizing::new(value.into_encoded_bytes());
        let key = decode_base64(&value)
            .map(Zeroizing::new)
            .map_err(|reason| EncrypterError::NotBase64 { variable: variable.to_owned(), reason })?;
        let key: &[u8; KEY_BYTES] = key
            .as_slice()
            .try_into()
            .map_err(|_| EncrypterError::KeyLength { variable: variable.to_owned(), length: key.len() })?;
        let key = Framed::new(NAME, key);
        Ok(Self { key, variable: variable.to_owned(), entropy: Arc::new(SystemEntropy) })
    }

    /// The same, with nonces from `entropy`.
    #[must_use]
    pub fn with_entropy(self, entropy: Arc<dyn Entropy>) -> Self {
        Self { entropy, ..self }
    }

    pub(super) fn of(reference: &Ref, variables: &Lookup) -> Result<Self, EncrypterError> {
        let variable = reference.body.get(VARIABLE).and_then(|value| value.as_str());
        Self::new(variable.filter(|name| !name.is_empty()).ok_or(EncrypterError::NoVariable)?, variables)
    }
}

impl Encrypter for EnvKey {
    fn encrypt(&self, plaintext: &[u8], associated_data: &[u8]) -> Result<Vec<u8>, EncrypterError> {
        self.key.seal(plaintext, associated_data, &self.entropy)
    }

    fn decrypt(&self, ciphertext: &[u8], associated_data: &[u8]) -> Result<Plaintext, EncrypterError> {
        self.key.open(ciphertext, associated_data)
    }

    fn describe(&self) -> Ref {
        Ref::built_in(NAME, [(VARIABLE, self.variable.clone())])
    }
}

impl fmt::Debug for EnvKey {
    /// Never shows the key (S17).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EnvKey({})", self.variable)
    }
}

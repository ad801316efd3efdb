//! The sealer: one operation's view of a stack's secrets, with the ciphertexts that it can use again.

use crate::crypter::{decrypt_all, encrypt_all};
use crate::{Crypter, Error, Lookup, Manager, Plaintext, SystemEntropy, symmetric::Entropy};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The environment variable that turns reuse off when it is `1` or `true`.
pub const CACHE_VARIABLE: &str = "PULUMI_DISABLE_SECRET_CACHE";

/// Whether a secret that has not changed keeps its ciphertext.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reuse {
    /// It does.
    #[default]
    On,
    /// Every secret is sealed anew.
    Off,
}

impl Reuse {
    /// As the environment says.
    #[must_use]
    pub fn from_environment(environment: &Lookup) -> Self {
        match environment(CACHE_VARIABLE) {
            Some(value) if value == "1" || value.eq_ignore_ascii_case("true") => Self::Off,
            _ => Self::On,
        }
    }
}

/// Seals and opens the secrets of one operation.
///
/// A ciphertext that was seen for a plaintext is used again for the same plaintext at the same place, and only there:
/// equal ciphertexts at two places would tell that two secrets are equal. A place is any text that stays the same
/// through the operation, such as a URN, `inputs` or `outputs`, and a property path.
///
/// What is remembered holds no plaintext: a place and its plaintext are known by a hash with a key of the sealer's own.
pub struct Sealer {
    crypter: Arc<dyn Crypter>,
    remembered: Option<Remembered>,
}

struct Remembered {
    hash_key: [u8; 32],
    ciphertexts: Mutex<HashMap<[u8; 32], String>>,
}

impl Sealer {
    /// A sealer for one operation on a manager's secrets.
    pub fn new(manager: &Manager, reuse: Reuse) -> Result<Self, Error> {
        let remembered = match reuse {
            Reuse::On => Some(Remembered::new()?),
            Reuse::Off => None,
        };
        Ok(Self { crypter: Arc::clone(manager.crypter()), remembered })
    }

    /// Seals plaintexts, each with its place. Only those whose ciphertext is not known reach the crypter, in one batch.
    pub fn seal(&self, secrets: &[(&str, &Plaintext)]) -> Result<Vec<String>, Error> {
        let mut misses = Vec::new();
        let mut sources = Vec::with_capacity(secrets.len());
        let mut batched = HashMap::new();
        for &(place, plaintext) in secrets {
            let key = self.remembered.as_ref().map(|remembered| remembered.key(place, plaintext));
            let known = key.and_then(|key| self.remembered.as_ref()?.get(&key));
            sources.push(match (known, key.and_then(|key| batched.get(&key).copied())) {
                (Some(ciphertext), _) => Source::Known(ciphertext),
                (None, Some(position)) => Source::Batch(position),
                (None, None) => {
                    misses.push((place, plaintext));
                    key.map(|key| batched.insert(key, misses.len() - 1));
                    Source::Batch(misses.len() - 1)
                }
            });
        }
        let plaintexts: Vec<_> = misses.iter().map(|(_, plaintext)| *plaintext).collect();
        let sealed = encrypt_all(self.crypter.as_ref(), &plaintexts)
            .map_err(|error| error.placed(|index| misses.get(index).map(|(place, _)| *place)))?;
        for ((place, plaintext), ciphertext) in misses.iter().zip(&sealed) {
            self.remember(place, plaintext, ciphertext);
        }
        let take = |source| match source {
            Source::Known(ciphertext) => ciphertext,
            Source::Batch(position) => sealed.get(position).cloned().unwrap_or_default(),
        };
        Ok(sources.into_iter().map(take).collect())
    }

    /// Opens ciphertexts, each with its place, in one batch. The places are for what an error says; see
    /// [`Sealer::remember`] for keeping the ciphertexts.
    pub fn open(&self, secrets: &[(&str, &str)]) -> Result<Vec<Plaintext>, Error> {
        let ciphertexts: Vec<_> = secrets.iter().map(|(_, ciphertext)| *ciphertext).collect();
        decrypt_all(self.crypter.as_ref(), &ciphertexts)
            .map_err(|error| error.placed(|index| secrets.get(index).map(|(place, _)| *place)))
    }

    /// Keeps a ciphertext for when the same plaintext is sealed at the same place.
    pub fn remember(&self, place: &str, plaintext: &Plaintext, ciphertext: &str) {
        if let Some(remembered) = &self.remembered {
            remembered.put(remembered.key(place, plaintext), ciphertext);
        }
    }

    /// Whether ciphertexts are used again.
    #[must_use]
    pub fn reuse(&self) -> Reuse {
        if self.remembered.is_some() { Reuse::On } else { Reuse::Off }
    }
}

/// Where the ciphertext of a secret comes from.
enum Source {
    Known(String),
    Batch(usize),
}

impl Remembered {
    fn new() -> Result<Self, Error> {
        let mut hash_key = [0; 32];
        SystemEntropy.fill(&mut hash_key)?;
        Ok(Self { hash_key, ciphertexts: Mutex::default() })
    }

    fn key(&self, place: &str, plaintext: &Plaintext) -> [u8; 32] {
        let hash = Sha256::new_with_prefix(self.hash_key);
        let hash = hash.chain_update((place.len() as u64).to_le_bytes()).chain_update(place);
        hash.chain_update(plaintext.as_bytes()).finalize().into()
    }

    fn get(&self, key: &[u8; 32]) -> Option<String> {
        self.ciphertexts.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn put(&self, key: [u8; 32], ciphertext: &str) {
        let mut ciphertexts = self.ciphertexts.lock().unwrap_or_else(PoisonError::into_inner);
        ciphertexts.insert(key, ciphertext.to_owned());
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer")
            .field("crypter", &self.crypter)
            .field("reuse", &self.reuse())
            .finish_non_exhaustive()
    }
}

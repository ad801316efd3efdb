//! The keyring: finds passphrases, derives each key once, and has each data key opened once.

use crate::salt::{self, Salt};
use crate::{
    Ask, DataKey, Entropy, Error, KeyServices, Passphrase, Passphrases, SymmetricCrypter, SystemEntropy,
};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The passphrases and keys of one process. A clone is the same keyring.
///
/// A key is derived at most once for a passphrase and a salt (S18), and nobody is asked twice for the passphrase of the
/// same secrets. A key service is asked at most once for the same data key. Everything is wiped when the last clone is
/// dropped.
#[derive(Clone)]
pub struct Keyring(Arc<Inner>);

struct Inner {
    passphrases: Passphrases,
    entropy: Arc<dyn Entropy>,
    derived: Mutex<Keys>,
    /// By the salt's text. The lock is held while somebody is asked, so that nobody else is.
    unlocked: Mutex<HashMap<String, Arc<SymmetricCrypter>>>,
    derivations: AtomicUsize,
    services: KeyServices,
    /// By the service's URL and the sealed key. The lock is held while a service is asked, so that nobody else asks it.
    unwrapped: Mutex<HashMap<(String, String), Arc<SymmetricCrypter>>>,
    unwraps: AtomicUsize,
}

/// Keys by passphrase and salt. Whoever comes first derives one; others wait for it.
type Keys = HashMap<(Passphrase, Vec<u8>), Arc<OnceLock<Arc<SymmetricCrypter>>>>;

impl Keyring {
    /// A keyring over sources of passphrases.
    #[must_use]
    pub fn new(passphrases: Passphrases) -> Self {
        Self::with_entropy(passphrases, Arc::new(SystemEntropy))
    }

    /// A keyring whose salts and nonces come from `entropy`.
    #[must_use]
    pub fn with_entropy(passphrases: Passphrases, entropy: Arc<dyn Entropy>) -> Self {
        let services = KeyServices::of(passphrases.environment());
        Self::with_services(passphrases, services, entropy)
    }

    /// A keyring that asks these key services.
    #[must_use]
    pub fn with_services(passphrases: Passphrases, services: KeyServices, entropy: Arc<dyn Entropy>) -> Self {
        Self(Arc::new(Inner {
            passphrases,
            entropy,
            derived: Mutex::default(),
            unlocked: Mutex::default(),
            derivations: AtomicUsize::new(0),
            services,
            unwrapped: Mutex::default(),
            unwraps: AtomicUsize::new(0),
        }))
    }

    /// Where its passphrases come from.
    #[must_use]
    pub fn passphrases(&self) -> &Passphrases {
        &self.0.passphrases
    }

    /// How many keys were derived so far.
    #[must_use]
    pub fn derivations(&self) -> usize {
        self.0.derivations.load(Ordering::Relaxed)
    }

    /// How often a key service was asked to open a data key so far.
    #[must_use]
    pub fn unwraps(&self) -> usize {
        self.0.unwraps.load(Ordering::Relaxed)
    }

    /// The crypter of a data key that a key service has sealed. The service is asked the first time.
    pub fn unwrap_key(&self, url: &str, encrypted_key: &str) -> Result<Arc<SymmetricCrypter>, Error> {
        let mut unwrapped = lock(&self.0.unwrapped);
        let place = (url.to_owned(), encrypted_key.to_owned());
        if let Some(crypter) = unwrapped.get(&place) {
            return Ok(Arc::clone(crypter));
        }
        self.0.unwraps.fetch_add(1, Ordering::Relaxed);
        let key = self.0.services.unwrap(url, encrypted_key)?;
        let crypter = self.crypter(&key);
        unwrapped.insert(place, Arc::clone(&crypter));
        Ok(crypter)
    }

    /// A fresh data key, sealed by a key service, and its crypter. The service has to open it again before anything is
    /// sealed with it: who may seal and not open would lose every secret.
    pub fn create_key(&self, url: &str) -> Result<(String, Arc<SymmetricCrypter>), Error> {
        let key = DataKey::fresh(self.0.entropy.as_ref())?;
        let encrypted_key = self.0.services.wrap(url, &key)?;
        let crypter = self.unwrap_key(url, &encrypted_key)?;
        Ok((encrypted_key, crypter))
    }

    fn crypter(&self, key: &DataKey) -> Arc<SymmetricCrypter> {
        Arc::new(SymmetricCrypter::with_entropy(key.as_bytes(), Arc::clone(&self.0.entropy)))
    }

    /// The crypter of a salt, opened with this passphrase.
    pub fn open(&self, salt: &str, passphrase: &Passphrase) -> Result<Arc<SymmetricCrypter>, Error> {
        let salt = Salt::parse(salt)?;
        let crypter = self.key(passphrase, &salt.bytes);
        salt.check(&crypter)?;
        Ok(crypter)
    }

    /// The crypter of a salt, opened with the passphrase that the sources have. Who is asked is asked until the answer
    /// is right or there is none.
    pub fn unlock(&self, salt: &str, stack: Option<&str>) -> Result<Arc<SymmetricCrypter>, Error> {
        let mut unlocked = lock(&self.0.unlocked);
        if let Some(crypter) = unlocked.get(salt) {
            return Ok(Arc::clone(crypter));
        }
        let mut wrong = 0;
        loop {
            let found = self.0.passphrases.find(Ask::Unlock { stack, wrong })?;
            match self.open(salt, &found.passphrase) {
                Ok(crypter) => {
                    unlocked.insert(salt.to_owned(), Arc::clone(&crypter));
                    return Ok(crypter);
                }
                Err(Error::IncorrectPassphrase) if found.asked => wrong += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// The text of a fresh salt for a passphrase, and its crypter.
    pub fn create(&self, passphrase: &Passphrase) -> Result<(String, Arc<SymmetricCrypter>), Error> {
        let bytes = Salt::fresh_bytes(self.0.entropy.as_ref())?;
        let crypter = self.key(passphrase, &bytes);
        let text = Salt::text(&bytes, &crypter)?;
        lock(&self.0.unlocked).insert(text.clone(), Arc::clone(&crypter));
        Ok((text, crypter))
    }

    fn key(&self, passphrase: &Passphrase, salt: &[u8]) -> Arc<SymmetricCrypter> {
        let slot = Arc::clone(lock(&self.0.derived).entry((passphrase.clone(), salt.to_vec())).or_default());
        let derive = || {
            self.0.derivations.fetch_add(1, Ordering::Relaxed);
            let key = salt::derive(passphrase, salt);
            Arc::new(SymmetricCrypter::with_entropy(&key, Arc::clone(&self.0.entropy)))
        };
        Arc::clone(slot.get_or_init(derive))
    }
}

impl fmt::Debug for Keyring {
    /// Never shows a passphrase or a key (S17).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring")
            .field("derivations", &self.derivations())
            .field("unwraps", &self.unwraps())
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

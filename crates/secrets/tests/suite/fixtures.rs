//! What the real CLI wrote, and the parts that tests plug in.

use base64::{Engine, engine::general_purpose::STANDARD};
use drystone_model::{Json, SecretsProvider};
use drystone_secrets::{
    Crypter, Entropy, Error, Keyring, PASSPHRASE_VARIABLE, Passphrase, Passphrases, Plaintext,
    SymmetricCrypter,
};
use proptest::test_runner::{Config as ProptestConfig, RngSeed};
use serde::Deserialize;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

pub(crate) const EXPORT: &str = include_str!("../fixtures/pulumi-3.259.0/export.json");
pub(crate) const EXPORT_REVEALED: &str = include_str!("../fixtures/pulumi-3.259.0/export-show-secrets.json");
const PASSPHRASES: &str = include_str!("../fixtures/pulumi-3.259.0/passphrases.json");

/// A stack of the real CLI: its passphrase, its `encryptionsalt` and its configuration.
#[derive(Deserialize)]
pub(crate) struct Stack {
    pub(crate) passphrase: String,
    pub(crate) salt: String,
    pub(crate) config: Vec<ConfigSecret>,
}

#[derive(Deserialize)]
pub(crate) struct ConfigSecret {
    pub(crate) name: String,
    pub(crate) ciphertext: String,
    plaintext: TextOrBytes,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum TextOrBytes {
    Text(String),
    Bytes(Vec<u8>),
}

impl ConfigSecret {
    pub(crate) fn plaintext(&self) -> &[u8] {
        match &self.plaintext {
            TextOrBytes::Text(text) => text.as_bytes(),
            TextOrBytes::Bytes(bytes) => bytes,
        }
    }
}

pub(crate) static STACKS: LazyLock<Vec<Stack>> = LazyLock::new(|| serde_json::from_str(PASSPHRASES).unwrap());

/// The crypter of the first stack, derived once for all tests.
pub(crate) static OPENED: LazyLock<Arc<SymmetricCrypter>> =
    LazyLock::new(|| keyring(&[]).open(&STACKS[0].salt, &phrase(&STACKS[0].passphrase)).unwrap());

pub(crate) fn phrase(text: &str) -> Passphrase {
    Passphrase::new(text)
}

/// The same cases in every run.
pub(crate) fn seeded() -> ProptestConfig {
    ProptestConfig { rng_seed: RngSeed::Fixed(18), failure_persistence: None, ..ProptestConfig::default() }
}

/// An environment with these variables and no others.
pub(crate) fn environment(
    variables: &[(&'static str, &str)],
) -> impl Fn(&str) -> Option<OsString> + Send + Sync + 'static {
    let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, OsString::from(value))).collect();
    move |wanted| variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.clone())
}

/// A keyring over these variables that asks nobody.
pub(crate) fn keyring(variables: &[(&'static str, &str)]) -> Keyring {
    Keyring::new(Passphrases::new(environment(variables)))
}

/// A keyring that has this passphrase.
pub(crate) fn keyring_with(passphrase: &str) -> Keyring {
    keyring(&[(PASSPHRASE_VARIABLE, passphrase)])
}

/// What a snapshot keeps about the secrets of a stack.
pub(crate) fn provider(kind: &str, state: &str) -> SecretsProvider {
    let state = Some(Json::parse(state).unwrap());
    SecretsProvider { kind: kind.to_owned(), state, ..SecretsProvider::default() }
}

pub(crate) fn passphrase_provider(salt: &str) -> SecretsProvider {
    provider("passphrase", &format!(r#"{{"salt":"{salt}"}}"#))
}

/// Gives the bytes that a test wrote down.
#[derive(Debug)]
pub(crate) struct Scripted(Mutex<VecDeque<Vec<u8>>>);

impl Scripted {
    pub(crate) fn base64(parts: &[&str]) -> Arc<Self> {
        Arc::new(Self(Mutex::new(parts.iter().map(|part| STANDARD.decode(part).unwrap()).collect())))
    }
}

impl Entropy for Scripted {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        bytes.copy_from_slice(
            &self.0.lock().unwrap().pop_front().expect("more random bytes than written down"),
        );
        Ok(())
    }
}

/// Counts the batches and texts that reach a crypter.
#[derive(Debug)]
pub(crate) struct Counting {
    inner: SymmetricCrypter,
    pub(crate) batches: AtomicUsize,
    pub(crate) texts: AtomicUsize,
}

impl Counting {
    pub(crate) fn new(key: u8) -> Arc<Self> {
        let inner = SymmetricCrypter::new(&[key; 32]);
        Arc::new(Self { inner, batches: AtomicUsize::new(0), texts: AtomicUsize::new(0) })
    }

    /// Batches and texts so far.
    pub(crate) fn seen(&self) -> (usize, usize) {
        (self.batches.load(Ordering::Relaxed), self.texts.load(Ordering::Relaxed))
    }

    fn count(&self, texts: usize) {
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.texts.fetch_add(texts, Ordering::Relaxed);
    }
}

impl Crypter for Counting {
    fn encrypt(&self, plaintexts: &[&Plaintext]) -> Result<Vec<String>, Error> {
        self.count(plaintexts.len());
        self.inner.encrypt(plaintexts)
    }

    fn decrypt(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, Error> {
        self.count(ciphertexts.len());
        self.inner.decrypt(ciphertexts)
    }
}

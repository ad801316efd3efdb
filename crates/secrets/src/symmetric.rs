//! The symmetric crypter: AES-256-GCM with a key that lies in memory.

use crate::{Crypter, Error, Plaintext};
use aes_gcm::aead::Aead;
use aes_gcm::{Aes256Gcm, KeyInit, Nonce};
use base64::{Engine, engine::general_purpose::STANDARD};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use zeroize::ZeroizeOnDrop;

/// The size of a key.
pub const KEY_BYTES: usize = 32;

const NONCE_BYTES: usize = 12;
const VERSION: &str = "v1";

/// Where nonces and salts come from. Outside tests and simulations it must never give the same bytes twice.
pub trait Entropy: fmt::Debug + Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error>;
}

/// The operating system's random bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        getrandom::fill(bytes).map_err(|reason| Error::Entropy { reason: reason.to_string() })
    }
}

/// Seals with AES-256-GCM. A ciphertext reads `v1:<nonce>:<ciphertext and tag>`, both base64.
///
/// The key is wiped when the crypter is dropped.
pub struct SymmetricCrypter {
    cipher: Aes256Gcm,
    entropy: Arc<dyn Entropy>,
}

/// Holds only while the cipher is built with the feature that wipes its key.
const _: fn() = wiped_on_drop::<Aes256Gcm>;

fn wiped_on_drop<T: ZeroizeOnDrop>() {}

impl SymmetricCrypter {
    /// A crypter for a key.
    #[must_use]
    pub fn new(key: &[u8; KEY_BYTES]) -> Self {
        Self::with_entropy(key, Arc::new(SystemEntropy))
    }

    /// A crypter that takes its nonces from `entropy`.
    #[must_use]
    pub fn with_entropy(key: &[u8; KEY_BYTES], entropy: Arc<dyn Entropy>) -> Self {
        Self { cipher: Aes256Gcm::new(key.into()), entropy }
    }

    fn seal(&self, index: usize, plaintext: &Plaintext) -> Result<String, Error> {
        let mut nonce = [0; NONCE_BYTES];
        self.entropy.fill(&mut nonce)?;
        let sealed = self.cipher.encrypt(&Nonce::from(nonce), plaintext.as_bytes());
        let sealed = sealed.map_err(|_| Error::TooLong { index })?;
        Ok(format!("{VERSION}:{}:{}", STANDARD.encode(nonce), STANDARD.encode(sealed)))
    }

    fn open(&self, index: usize, ciphertext: &str) -> Result<Plaintext, Error> {
        let (nonce, sealed) =
            parts(ciphertext).map_err(|reason| Error::MalformedCiphertext { index, reason })?;
        let opened = self.cipher.decrypt(&Nonce::from(nonce), sealed.as_slice());
        opened.map(Plaintext::from).map_err(|_| Error::Unauthentic { index })
    }
}

impl Crypter for SymmetricCrypter {
    fn encrypt(&self, plaintexts: &[&Plaintext]) -> Result<Vec<String>, Error> {
        plaintexts.iter().enumerate().map(|(index, plaintext)| self.seal(index, plaintext)).collect()
    }

    fn decrypt(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, Error> {
        ciphertexts.iter().enumerate().map(|(index, ciphertext)| self.open(index, ciphertext)).collect()
    }
}

impl fmt::Debug for SymmetricCrypter {
    /// Never shows the key (S17).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SymmetricCrypter([secret])")
    }
}

/// The nonce and the sealed bytes of a ciphertext.
pub(crate) fn parts(ciphertext: &str) -> Result<([u8; NONCE_BYTES], Vec<u8>), &'static str> {
    let mut parts = ciphertext.split(':');
    let (Some(version), Some(nonce), Some(sealed), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err("it does not have three parts");
    };
    if version != VERSION {
        return Err("its version is not `v1`");
    }
    let nonce = decode(nonce).ok_or("its nonce is not base64")?;
    let nonce = nonce.try_into().map_err(|_| "its nonce is not 12 bytes long")?;
    Ok((nonce, decode(sealed).ok_or("its second part is not base64")?))
}

/// Decodes base64. Line breaks are skipped, as Pulumi does: they come from texts that were edited by hand.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let breaks = ['\r', '\n'];
    let text = if text.contains(breaks) { Cow::Owned(text.replace(breaks, "")) } else { Cow::Borrowed(text) };
    STANDARD.decode(text.as_ref()).ok()
}

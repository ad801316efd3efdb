//! AES-256-GCM in the frame that unobin gives it: nonce, ciphertext, tag.

use super::EncrypterError;
use crate::{Entropy, KEY_BYTES, Plaintext};
use aes_gcm::aead::{Aead, Payload};
use aes_gcm::{Aes256Gcm, KeyInit, Nonce};
use std::fmt;
use std::sync::Arc;

const NONCE_BYTES: usize = 12;

/// A key that seals whole documents. Wiped when dropped and never shown by `Debug` (S17).
pub(super) struct Framed {
    cipher: Aes256Gcm,
    /// The encrypter that it belongs to, for messages.
    owner: &'static str,
}

impl Framed {
    pub(super) fn new(owner: &'static str, key: &[u8; KEY_BYTES]) -> Self {
        Self { cipher: Aes256Gcm::new(key.into()), owner }
    }

    pub(super) fn seal(
        &self,
        plaintext: &[u8],
        associated_data: &[u8],
        entropy: &Arc<dyn Entropy>,
    ) -> Result<Vec<u8>, EncrypterError> {
        let mut nonce = [0; NONCE_BYTES];
        let filled = entropy.fill(&mut nonce);
        filled.map_err(|error| EncrypterError::Entropy { reason: error.to_string() })?;
        let payload = Payload { msg: plaintext, aad: associated_data };
        let sealed = self.cipher.encrypt(&Nonce::from(nonce), payload);
        Ok([&nonce[..], &sealed.map_err(|_| EncrypterError::TooLong)?].concat())
    }

    pub(super) fn open(
        &self,
        ciphertext: &[u8],
        associated_data: &[u8],
    ) -> Result<Plaintext, EncrypterError> {
        let (nonce, sealed) = ciphertext
            .split_first_chunk::<NONCE_BYTES>()
            .ok_or(EncrypterError::ShorterThanNonce { name: self.owner })?;
        let payload = Payload { msg: sealed, aad: associated_data };
        let opened = self.cipher.decrypt(&Nonce::from(*nonce), payload);
        opened.map(Plaintext::from).map_err(|_| EncrypterError::Unauthentic)
    }
}

impl fmt::Debug for Framed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

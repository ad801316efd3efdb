//! Seals the secrets of the generated state as the passphrase manager does, with a key made once for all runs.

use super::random::Random;
use aes_gcm::aead::{Aead, KeyInit};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// What opens the generated secrets.
pub(super) const PASSPHRASE: &str = "bench";

/// The salt of [`KEY`], and the check word sealed with it.
pub(super) const SALT: &str = "v1:A5KE+9NpWhM=:v1:OqJHxgRfXGY0SeyJ:QmbcO3K3RLc3W9+3pOrOCzFGJXF80g==";

/// The key that [`PASSPHRASE`] and [`SALT`] give. It protects nothing but generated text.
const KEY: [u8; 32] = [
    0xfc, 0x89, 0x82, 0xcf, 0x2e, 0xe8, 0x7d, 0x78, 0x68, 0xda, 0x5e, 0x3e, 0x6f, 0x92, 0xc4, 0xea, 0x14,
    0x28, 0x50, 0xd6, 0x68, 0x31, 0xab, 0xb5, 0xd7, 0xed, 0xc1, 0x9c, 0x07, 0xdb, 0xd0, 0xf6,
];

/// Seals the JSON text of a value. The nonce comes from the seed, so that the same state is the same file.
pub(super) fn seal(plaintext: &str, random: &mut Random) -> String {
    let mut nonce = [0_u8; 12];
    nonce[..8].copy_from_slice(&random.next().to_le_bytes());
    nonce[8..].copy_from_slice(&random.next().to_le_bytes()[..4]);
    let cipher = Aes256Gcm::new(&Key::<Aes256Gcm>::from(KEY));
    let sealed = cipher.encrypt(&Nonce::from(nonce), plaintext.as_bytes()).unwrap_or_default();
    format!("v1:{}:{}", STANDARD.encode(nonce), STANDARD.encode(sealed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_opens_the_salts_check_word() {
        let parts: Vec<&str> = SALT.split(':').collect();
        let nonce: [u8; 12] = STANDARD.decode(parts[3]).unwrap().try_into().unwrap();
        let sealed = STANDARD.decode(parts[4]).unwrap();
        let cipher = Aes256Gcm::new(&Key::<Aes256Gcm>::from(KEY));
        assert_eq!(cipher.decrypt(&Nonce::from(nonce), sealed.as_slice()).unwrap(), b"pulumi");
    }

    #[test]
    fn sealed_values_open() {
        let sealed = seal("\"word\"", &mut Random::at(1, 2));
        let parts: Vec<&str> = sealed.split(':').collect();
        let nonce: [u8; 12] = STANDARD.decode(parts[1]).unwrap().try_into().unwrap();
        let cipher = Aes256Gcm::new(&Key::<Aes256Gcm>::from(KEY));
        let opened =
            cipher.decrypt(&Nonce::from(nonce), STANDARD.decode(parts[2]).unwrap().as_slice()).unwrap();
        assert_eq!(opened, b"\"word\"");
    }
}

//! The salt of the passphrase manager: `v1:<salt>:<ciphertext of a known word>`.

use crate::symmetric::{self, Entropy};
use crate::{Crypter, Error, KEY_BYTES, Passphrase, SymmetricCrypter};
use base64::{Engine, engine::general_purpose::STANDARD};
use pbkdf2::{Algorithm, Params, Pbkdf2};
use zeroize::Zeroizing;

/// The kind of the passphrase manager.
pub(crate) const KIND: &str = "passphrase";

const SALT_BYTES: usize = 8;
const KNOWN_WORD: &str = "pulumi";

const ROUNDS: Params = match Params::new(1_000_000) {
    Ok(params) => params,
    Err(_) => panic!("the number of rounds is refused"),
};

/// A salt with the known word that tells whether a passphrase fits. The text is the `encryptionsalt` of a settings
/// file and the `salt` of a snapshot's secrets provider.
pub(crate) struct Salt {
    pub(crate) bytes: Vec<u8>,
    check: String,
}

impl Salt {
    /// Reads the text form, the inner ciphertext's form included.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let malformed = |reason| Error::MalformedState { kind: KIND.to_owned(), reason };
        let mut parts = text.splitn(3, ':');
        let (Some(version), Some(salt), Some(check)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(malformed("the salt does not have its three parts"));
        };
        if version != "v1" {
            return Err(malformed("the salt's version is not `v1`"));
        }
        let bytes = symmetric::decode(salt).ok_or_else(|| malformed("the salt is not base64"))?;
        symmetric::parts(check).map_err(|_| malformed("the salt's check is not a ciphertext"))?;
        Ok(Self { bytes, check: check.to_owned() })
    }

    /// Fresh salt bytes.
    pub(crate) fn fresh_bytes(entropy: &dyn Entropy) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; SALT_BYTES];
        entropy.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// The text form of salt bytes whose key is `crypter`'s.
    pub(crate) fn text(bytes: &[u8], crypter: &SymmetricCrypter) -> Result<String, Error> {
        Ok(format!("v1:{}:{}", STANDARD.encode(bytes), crypter.encrypt_one(&KNOWN_WORD.into())?))
    }

    /// Whether the key is the one that the salt was made with.
    pub(crate) fn check(&self, crypter: &SymmetricCrypter) -> Result<(), Error> {
        match crypter.decrypt_one(&self.check) {
            Ok(word) if word.as_bytes() == KNOWN_WORD.as_bytes() => Ok(()),
            _ => Err(Error::IncorrectPassphrase),
        }
    }
}

/// The key of a passphrase and a salt: PBKDF2 with HMAC-SHA-256. Slow by intent.
pub(crate) fn derive(passphrase: &Passphrase, salt: &[u8]) -> Zeroizing<[u8; KEY_BYTES]> {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    Pbkdf2::new(Algorithm::Pbkdf2Sha256, ROUNDS).hash_password_into(
        passphrase.as_bytes(),
        salt,
        &mut key[..],
    );
    key
}

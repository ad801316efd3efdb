//! The crypter trait and the crypters that need no key.

use crate::{Action, Error, Plaintext};
use base64::{Engine, engine::general_purpose::STANDARD};
use std::fmt;

/// What is shown in the place of a secret.
pub const SHOWN_INSTEAD: &str = "[secret]";

/// Seals and opens texts, many at a time. Results stand in the order of what was given.
///
/// Equal plaintexts get different ciphertexts, so that nobody can see that two secrets are equal.
pub trait Crypter: fmt::Debug + Send + Sync {
    /// Seals each plaintext.
    fn encrypt(&self, plaintexts: &[&Plaintext]) -> Result<Vec<String>, Error>;

    /// Opens each ciphertext. One that does not open fails the batch and is named by its index.
    fn decrypt(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, Error>;

    /// Makes it usable now rather than on first use, or says why it is not.
    fn unlock(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Why it turned out not to be usable; nothing while nobody has tried.
    fn refusal(&self) -> Option<Error> {
        None
    }

    /// Seals one plaintext.
    fn encrypt_one(&self, plaintext: &Plaintext) -> Result<String, Error> {
        only(self.encrypt(&[plaintext])?)
    }

    /// Opens one ciphertext.
    fn decrypt_one(&self, ciphertext: &str) -> Result<Plaintext, Error> {
        only(self.decrypt(&[ciphertext])?)
    }
}

fn only<T>(mut answers: Vec<T>) -> Result<T, Error> {
    let answered = answers.len();
    answers.pop().filter(|_| answered == 1).ok_or(Error::BatchLength { asked: 1, answered })
}

/// Opens ciphertexts with one crypter and seals them with another, in one batch each.
pub fn recrypt(ciphertexts: &[&str], from: &dyn Crypter, to: &dyn Crypter) -> Result<Vec<String>, Error> {
    let plaintexts = decrypt_all(from, ciphertexts)?;
    encrypt_all(to, &plaintexts.iter().collect::<Vec<_>>())
}

/// Seals a batch. An empty one does not reach the crypter, so that nothing is unlocked for it.
pub(crate) fn encrypt_all(crypter: &dyn Crypter, plaintexts: &[&Plaintext]) -> Result<Vec<String>, Error> {
    match plaintexts.len() {
        0 => Ok(Vec::new()),
        asked => complete(asked, crypter.encrypt(plaintexts)?),
    }
}

/// Opens a batch. An empty one does not reach the crypter, so that nothing is unlocked for it.
pub(crate) fn decrypt_all(crypter: &dyn Crypter, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, Error> {
    match ciphertexts.len() {
        0 => Ok(Vec::new()),
        asked => complete(asked, crypter.decrypt(ciphertexts)?),
    }
}

fn complete<T>(asked: usize, answers: Vec<T>) -> Result<Vec<T>, Error> {
    if answers.len() == asked {
        Ok(answers)
    } else {
        Err(Error::BatchLength { asked, answered: answers.len() })
    }
}

/// Leaves texts as they are. A secret inside a secret is sealed with it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nop;

impl Crypter for Nop {
    fn encrypt(&self, plaintexts: &[&Plaintext]) -> Result<Vec<String>, Error> {
        plaintexts.iter().map(|plaintext| plaintext.as_text().map(str::to_owned)).collect()
    }

    fn decrypt(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, Error> {
        Ok(ciphertexts.iter().map(|&ciphertext| ciphertext.into()).collect())
    }
}

/// Turns every text into [`SHOWN_INSTEAD`], without a key.
#[derive(Debug, Clone, Copy)]
pub enum Blinding {
    /// For secrets of the configuration, whose plaintext is raw text.
    Config,
    /// For secrets of the state, whose plaintext is JSON.
    State,
}

impl Crypter for Blinding {
    fn encrypt(&self, plaintexts: &[&Plaintext]) -> Result<Vec<String>, Error> {
        Ok(vec![SHOWN_INSTEAD.to_owned(); plaintexts.len()])
    }

    fn decrypt(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, Error> {
        let shown = match self {
            Self::Config => SHOWN_INSTEAD.into(),
            Self::State => format!("\"{SHOWN_INSTEAD}\"").into(),
        };
        Ok(vec![shown; ciphertexts.len()])
    }
}

/// Writes plaintext as base64. It keeps nothing secret; test data uses it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Base64;

impl Crypter for Base64 {
    fn encrypt(&self, plaintexts: &[&Plaintext]) -> Result<Vec<String>, Error> {
        Ok(plaintexts.iter().map(|plaintext| STANDARD.encode(plaintext.as_bytes())).collect())
    }

    fn decrypt(&self, ciphertexts: &[&str]) -> Result<Vec<Plaintext>, Error> {
        let open = |(index, ciphertext): (usize, &&str)| {
            let malformed = |_| Error::MalformedCiphertext { index, reason: "it is not base64" };
            STANDARD.decode(ciphertext).map(Plaintext::from).map_err(malformed)
        };
        ciphertexts.iter().enumerate().map(open).collect()
    }
}

/// Cannot be used, and says why when it is. Everything that needs no secret works with it.
#[derive(Debug, Clone)]
pub struct Locked(pub Error);

impl Locked {
    /// The error of an attempt to use it.
    pub(crate) fn refuse(&self, action: Action) -> Error {
        Error::Locked { action, reason: Box::new(self.0.clone()) }
    }
}

impl Crypter for Locked {
    fn encrypt(&self, _: &[&Plaintext]) -> Result<Vec<String>, Error> {
        Err(self.refuse(Action::Encrypt))
    }

    fn decrypt(&self, _: &[&str]) -> Result<Vec<Plaintext>, Error> {
        Err(self.refuse(Action::Decrypt))
    }

    fn unlock(&self) -> Result<(), Error> {
        Err(self.0.clone())
    }
}

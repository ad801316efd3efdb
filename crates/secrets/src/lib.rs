//! Secrets: what seals them, what opens them, and how little that has to happen.
//!
//! A [`Crypter`] seals and opens texts in batches. A [`Manager`] is the crypter of a stack with what the state and the
//! settings file keep about it; it unlocks on first use, so a command that meets no secret never asks for a
//! passphrase and never pays for a key. The [`Keyring`] finds passphrases, derives each key once, and has a key service
//! open each data key once (S18); [`KeyServices`] are AWS KMS, Google Cloud KMS, Azure Key Vault and HashiCorp Vault. A
//! [`Sealer`] is one operation's view: it seals and opens the secrets of many values in one call, and a secret that has
//! not changed keeps its ciphertext. [`stored`] works on the JSON text of the state as it lies there.
//!
//! [`envelope`] seals whole documents, as unobin does and more tightly (S19).
//!
//! In the state, the plaintext of a secret is the JSON text of its value (`"top"`, with quotes); in the configuration
//! it is the raw text (`top`).

mod crypter;
pub mod envelope;
mod error;
mod keyring;
mod manager;
mod passphrase;
mod plaintext;
mod salt;
mod sealer;
mod services;
pub mod stored;
mod symmetric;
mod values;

pub use crypter::{Base64, Blinding, Crypter, Locked, Nop, SHOWN_INSTEAD, recrypt};
pub use error::{Action, CodecStep, Error};
pub use keyring::Keyring;
pub use manager::{Manager, ProviderChoice, Settings};
pub use passphrase::{Ask, FILE_VARIABLE, Lookup, PASSPHRASE_VARIABLE, Passphrase, Passphrases};
pub use plaintext::Plaintext;
pub use sealer::{CACHE_VARIABLE, Reuse, Sealer};
pub use services::{
    DataKey, KeyAction, KeyService, KeyServiceError, KeyServiceFault, KeyServiceName, KeyServices, Limits,
};
pub use symmetric::{Entropy, KEY_BYTES, SymmetricCrypter, SystemEntropy};
pub use values::{CodecError, ValueText};

//! What can go wrong with envelopes. Where unobin has a text for it, it is unobin's.

use super::{PayloadType, Place};
use drystone_dialects::unobin::{self, CorruptBase64, Ref};

/// Why an envelope could not be made or opened.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// It is no envelope, or one of a version that is not known.
    #[error(transparent)]
    Document(#[from] unobin::Error),
    /// There is no encrypter for it.
    #[error(transparent)]
    Encrypter(#[from] EncrypterError),
    /// The document could not be sealed.
    #[error("seal: encrypt: {0}")]
    Seal(EncrypterError),
    /// The document could not be opened.
    #[error("open: decrypt: {reason}")]
    Open {
        /// Why.
        reason: EncrypterError,
        /// What the envelope says of its encrypter.
        sealed_with: Option<Box<Ref>>,
    },
    /// There is something else in it.
    #[error("envelope: payload-type {found}, expected {expected}")]
    PayloadType {
        /// What it says.
        found: String,
        /// What was to be there.
        expected: PayloadType,
    },
    /// It belongs elsewhere.
    #[error("envelope: sealed for {stack} at {revision}, but found as the {found_as}")]
    Misplaced {
        /// The stack that it says.
        stack: String,
        /// The revision that it says.
        revision: String,
        /// Where it was found.
        found_as: Place,
    },
}

/// What went wrong in an encrypter. No message quotes a key (S17).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncrypterError {
    /// The variable that holds the key is not set.
    #[error("env-key encrypter: {variable} is not set")]
    NotSet {
        /// The variable.
        variable: String,
    },
    /// What the variable holds is no base64.
    #[error("env-key encrypter: {variable} is not valid base64: {reason}")]
    NotBase64 {
        /// The variable.
        variable: String,
        /// Where it is not.
        reason: CorruptBase64,
    },
    /// What the variable holds is no key.
    #[error("env-key encrypter: {variable} decodes to {length} bytes, want 32")]
    KeyLength {
        /// The variable.
        variable: String,
        /// How many bytes it holds.
        length: usize,
    },
    /// The configuration names no variable.
    #[error("env-key encrypter: env-var is required")]
    NoVariable,
    /// There is not even a nonce.
    #[error("{name} encrypter: ciphertext shorter than nonce")]
    ShorterThanNonce {
        /// The encrypter.
        name: &'static str,
    },
    /// It was changed, sealed with another key, or moved.
    #[error("cipher: message authentication failed")]
    Unauthentic,
    /// More than one key may seal at once.
    #[error("the document is too long")]
    TooLong,
    /// Without a key nothing can be bound to a place.
    #[error("the noop encrypter binds nothing to its place; choose one that has a key")]
    CannotBind,
    /// Nobody says how the document was sealed.
    #[error("the envelope names no encrypter")]
    NotNamed,
    /// The configuration names no key.
    #[error("{name} encrypter: key-id is required")]
    NoKeyId {
        /// The encrypter.
        name: &'static str,
    },
    /// The configuration says something that is not known.
    #[error("{name} encrypter: its configuration has `{member}`, which is not known")]
    UnknownMember {
        /// The encrypter.
        name: &'static str,
        /// What it says.
        member: String,
    },
    /// The service that keeps the key did not do what it was asked for.
    #[error("{name} encrypter: {reason}")]
    Service {
        /// The encrypter.
        name: &'static str,
        /// What it was asked for, and why it was not done.
        reason: String,
    },
    /// The ciphertext is not in the encrypter's form: changed, cut off, or sealed by another one.
    #[error("{name} encrypter: malformed ciphertext: {reason}")]
    Malformed {
        /// The encrypter.
        name: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// An encrypter that nobody knows.
    #[error("the encrypter '{name}' is not known")]
    Unknown {
        /// Its name.
        name: String,
    },
    /// The system gave no random bytes.
    #[error("no random bytes: {reason}")]
    Entropy {
        /// What the system said.
        reason: String,
    },
}

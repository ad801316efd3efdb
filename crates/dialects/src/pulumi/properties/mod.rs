//! Stored properties as values, and back.
//!
//! Decoding needs no key: a secret stays the ciphertext that the state holds. Encoding refuses a secret that is not
//! sealed, so that none can reach a disk in clear (S17), unless the form for people who asked to see them is chosen.
//!
//! What is sealed is the JSON text of a value ([`encode_plaintext`]). Secrets inside it are marked as such but not
//! sealed a second time: their "ciphertext" is again JSON text.

mod decode;
mod encode;

pub use decode::{decode, decode_plaintext, decode_properties, holds_open_secret};
pub use encode::{encode, encode_plaintext, encode_properties};

use drystone_model::{PropertyPath, Segment};

/// How deep values may be nested.
pub const DEPTH_LIMIT: usize = 200;

/// How secrets are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretForm {
    /// As ciphertext; an open secret is refused.
    Sealed,
    /// As readable JSON text, for a user who asked for it; a sealed secret is refused.
    Plaintext,
}

/// A property that cannot be read or written. Never tells anything of what a secret holds (S17).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyError {
    /// Where it is; the path ends where a secret begins.
    pub path: PropertyPath,
    /// What is wrong with it.
    pub problem: PropertyProblem,
}

impl std::fmt::Display for PropertyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() {
            return self.problem.fmt(f);
        }
        write!(f, "property `{}`: {}", self.path, self.problem)
    }
}

impl std::error::Error for PropertyError {}

/// What is wrong with a property.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PropertyProblem {
    /// It is nested deeper than [`DEPTH_LIMIT`].
    #[error("nested more than {DEPTH_LIMIT} levels deep")]
    TooDeep,
    /// The text is not JSON.
    #[error("not valid JSON")]
    NotJson,
    /// Properties are an object, and this is not one.
    #[error("not an object")]
    NotAnObject,
    /// An object carries a signature that this version does not know.
    #[error("unknown signature `{0}`")]
    UnknownSignature(String),
    /// An object carries a known signature but not the members that belong to it.
    #[error("malformed {kind}: {reason}")]
    Malformed {
        /// What the signature says it is.
        kind: &'static str,
        /// What does not fit.
        reason: &'static str,
    },
    /// What was sealed is not the text of a value.
    #[error("the text of the secret is not a property value")]
    SecretText,
    /// A secret would be written in clear.
    #[error("the secret is not sealed")]
    OpenSecret,
    /// A secret cannot be shown because it is not open.
    #[error("the secret is sealed")]
    SealedSecret,
    /// A plain object has a member that only marked objects may have.
    #[error("an object must not have the member `{}`", super::signature::KEY)]
    ReservedKey,
    /// A number's text is not one.
    #[error("not a number")]
    NotANumber,
}

impl PropertyError {
    fn new(problem: PropertyProblem) -> Self {
        Self { path: PropertyPath::default(), problem }
    }

    fn malformed(kind: &'static str, reason: &'static str) -> Self {
        Self::new(PropertyProblem::Malformed { kind, reason })
    }

    /// The same error, seen from one level further out. Used while unwinding, so the path is built backwards.
    fn under(mut self, segment: impl Into<Segment>) -> Self {
        self.path.0.push(segment.into());
        self
    }

    /// The path in reading order.
    fn finished(mut self) -> Self {
        self.path.0.reverse();
        self
    }
}

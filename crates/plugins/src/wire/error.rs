//! Why properties cannot be sent or were not understood.

use super::reader::Malformed;
use drystone_model::{PropertyPath, Segment};
use std::fmt;

/// A value that cannot be sent or was not understood, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireError {
    /// Where in the properties, empty when it is the whole of them.
    pub path: PropertyPath,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The bytes are no protobuf value.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A signature that nobody knows.
    #[error("unrecognized signature '{0}'")]
    UnknownSignature(String),
    /// A struct with a signature lacks a member, or one has the wrong kind.
    #[error("malformed {what}: {member} {fault}")]
    MalformedSignature {
        /// What the signature stands for.
        what: &'static str,
        /// The member.
        member: &'static str,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// An archive holds something else than assets and archives.
    #[error("an archive member is neither an asset nor an archive")]
    NotAnAsset,
    /// A value that is not known, where only known ones are allowed.
    #[error("unexpected unknown value")]
    Unknown,
    /// Bytes that are not UTF-8, for a receiver that only takes text.
    #[error("the value has bytes that are not valid UTF-8, which the receiver does not support")]
    Bytes,
    /// A secret that was not opened, which only its own ciphertext stands for.
    #[error("the secret is still sealed")]
    Sealed,
}

impl From<Problem> for WireError {
    fn from(problem: Problem) -> Self {
        Self { path: PropertyPath::default(), problem }
    }
}

impl From<Malformed> for WireError {
    fn from(malformed: Malformed) -> Self {
        Problem::from(malformed).into()
    }
}

impl WireError {
    /// The same error seen from one level further out.
    #[must_use]
    pub(super) fn inside(mut self, segment: impl Into<Segment>) -> Self {
        self.path.0.insert(0, segment.into());
        self
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(f, "{}", self.problem)
        } else {
            write!(f, "property `{}`: {}", self.path, self.problem)
        }
    }
}

impl std::error::Error for WireError {}

//! Plaintext that cleans up after itself.

use crate::Error;
use std::fmt;
use zeroize::Zeroizing;

/// The plaintext of a secret. Wiped when dropped and never shown by `Debug` (S17).
///
/// Bytes rather than text: a secret in the configuration may hold any.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Plaintext(Zeroizing<Vec<u8>>);

impl Plaintext {
    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, when it is UTF-8.
    pub fn as_text(&self) -> Result<&str, Error> {
        std::str::from_utf8(&self.0).map_err(|_| Error::NotText)
    }
}

impl From<String> for Plaintext {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text.into_bytes()))
    }
}

impl From<&str> for Plaintext {
    fn from(text: &str) -> Self {
        Self(Zeroizing::new(text.as_bytes().to_vec()))
    }
}

impl From<Vec<u8>> for Plaintext {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }
}

impl fmt::Debug for Plaintext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

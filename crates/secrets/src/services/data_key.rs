//! The data key of a stack, and the text of its sealed form.

use super::KeyServiceFault;
use crate::symmetric;
use crate::{Entropy, Error, KEY_BYTES};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use std::fmt;
use zeroize::Zeroizing;

/// The key that seals the secrets of a stack. Wiped when dropped and never shown by `Debug` (S17).
#[derive(Clone)]
pub struct DataKey(Zeroizing<[u8; KEY_BYTES]>);

impl DataKey {
    /// A fresh one.
    pub(crate) fn fresh(entropy: &dyn Entropy) -> Result<Self, Error> {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        entropy.fill(&mut key[..])?;
        Ok(Self(key))
    }

    /// The key in what a service answered, when it has the right length.
    pub(super) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        if bytes.len() != KEY_BYTES {
            return None;
        }
        key.copy_from_slice(bytes);
        Some(Self(key))
    }

    pub(crate) fn as_bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// Whether a text holds the key in a form that it could have been sent in.
    pub(super) fn is_quoted_in(&self, text: &str) -> bool {
        let forms = [
            Zeroizing::new(STANDARD.encode(self.0.as_slice())),
            Zeroizing::new(URL_SAFE_NO_PAD.encode(self.0.as_slice())),
        ];
        // Padding is left out: who repeats it may do without.
        forms.iter().any(|form| text.contains(form.trim_end_matches('=')))
    }
}

impl fmt::Debug for DataKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// How a sealed data key is written as the `encryptedkey` of settings and state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The service's bytes in base64.
    Plain,
    /// The service's bytes in base64 for URLs, and that in base64 again: as Pulumi keeps the keys of Azure.
    Twice,
}

impl Form {
    /// The text of a sealed key.
    pub(super) fn text(self, wrapped: &[u8]) -> String {
        match self {
            Self::Plain => STANDARD.encode(wrapped),
            Self::Twice => STANDARD.encode(URL_SAFE_NO_PAD.encode(wrapped)),
        }
    }

    /// The sealed key of a text.
    pub(super) fn bytes(self, text: &str) -> Result<Vec<u8>, KeyServiceFault> {
        if text.is_empty() {
            return Err(KeyServiceFault::Malformed("there is none"));
        }
        let bytes = symmetric::decode(text).ok_or(KeyServiceFault::Malformed("it is not base64"))?;
        Ok(match self {
            Self::Plain => bytes,
            // A version of Pulumi left the inner layer out (pulumi/pulumi#15329).
            Self::Twice => URL_SAFE_NO_PAD.decode(&bytes).unwrap_or(bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_keys_are_written_as_pulumi_writes_them() {
        let wrapped = [0xfb, 0xff, 0x00, 0x41];
        assert_eq!(Form::Plain.text(&wrapped), "+/8AQQ==");
        assert_eq!(Form::Twice.text(&wrapped), STANDARD.encode("-_8AQQ"));
        for form in [Form::Plain, Form::Twice] {
            assert_eq!(form.bytes(&form.text(&wrapped)).unwrap(), wrapped);
        }
        // Without the inner layer, as one version wrote it.
        assert_eq!(Form::Twice.bytes(&Form::Plain.text(&wrapped)).unwrap(), wrapped);
        for malformed in ["", "not base64!"] {
            assert!(matches!(Form::Plain.bytes(malformed), Err(KeyServiceFault::Malformed(_))));
        }
    }

    #[test]
    fn s17_a_key_is_found_in_what_a_server_repeats() {
        let key = DataKey::of_bytes(&[0xfe; KEY_BYTES]).unwrap();
        let sent = STANDARD.encode([0xfe; KEY_BYTES]);
        assert!(key.is_quoted_in(&format!("cannot parse {{\"plaintext\":\"{sent}\"}}")));
        assert!(key.is_quoted_in(&URL_SAFE_NO_PAD.encode([0xfe; KEY_BYTES])));
        assert!(!key.is_quoted_in("permission denied"));
        assert!(DataKey::of_bytes(&[0; 16]).is_none());
        assert_eq!(format!("{key:?}"), "[secret]");
    }
}

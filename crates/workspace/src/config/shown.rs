//! Configuration as it is shown.

use super::key::Key;
use super::map::{BatchError, Config};
use crate::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// What to show of secrets.
#[derive(Clone, Copy)]
pub enum Secrets<'a> {
    /// A mask.
    Masked,
    /// The texts behind the ciphertexts, in the order of [`Config::ciphertexts`].
    Open(&'a [String]),
}

/// What stands in the place of a secret.
const MASK: &str = "[secret]";

/// A configuration value as it is shown.
#[derive(Clone, PartialEq)]
pub struct Shown {
    /// Its text: texts as they are, everything else as JSON.
    pub text: String,
    /// Whether a secret stands in it.
    pub is_secret: bool,
    /// Whether its text is JSON of a list, of named values or of nothing.
    pub is_object: bool,
    /// Whether secrets in its text are masked.
    pub is_masked: bool,
}

impl std::fmt::Debug for Shown {
    /// Never shows the text of a secret (S17).
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = if self.is_secret && !self.is_masked { MASK } else { &self.text };
        f.debug_struct("Shown")
            .field("text", &text)
            .field("is_secret", &self.is_secret)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Secrets<'_> {
    /// Never shows the texts (S17).
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Masked => "Masked",
            Self::Open(_) => "Open([secret])",
        })
    }
}

impl Config {
    /// All values as they are shown.
    pub fn shown(&self, secrets: Secrets<'_>) -> Result<BTreeMap<Key, Shown>, BatchError> {
        let answers = match secrets {
            Secrets::Masked => None,
            Secrets::Open(texts) => Some(self.answers(texts)?),
        };
        Ok(self.iter().map(|(key, value)| (key.clone(), Shown::of(value, answers.as_ref()))).collect())
    }
}

impl Shown {
    /// One value as it is shown; `answers` are the texts behind its ciphertexts, or nothing to mask them.
    fn of(value: &Value, answers: Option<&HashMap<String, &str>>) -> Self {
        let text = value.text(&mut |ciphertext| match answers {
            Some(answers) => {
                Cow::Owned(answers.get(ciphertext).map(|text| (*text).to_owned()).unwrap_or_default())
            }
            None => Cow::Borrowed(MASK),
        });
        Self {
            text,
            is_secret: value.is_secure(),
            is_object: value.is_object(),
            is_masked: answers.is_none() && value.is_secure(),
        }
    }

    /// `{value?, objectValue?, secret}`, as `config --json` and `config get --json` print it. A masked secret has no
    /// value.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        let mut members = serde_json::Map::new();
        if !self.is_masked {
            members.insert("value".to_owned(), self.text.clone().into());
            if self.is_object
                && let Ok(object) = serde_json::from_str::<serde_json::Value>(&self.text)
                && !object.is_null()
            {
                members.insert("objectValue".to_owned(), object);
            }
        }
        members.insert("secret".to_owned(), self.is_secret.into());
        serde_json::Value::Object(members)
    }
}

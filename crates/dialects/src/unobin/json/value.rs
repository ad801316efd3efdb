//! Values that a user's program made: inputs, outputs, configuration.

use super::Number;
use std::collections::BTreeMap;

/// A value of any shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A number, with its digits.
    Number(Number),
    /// A text.
    String(String),
    /// A list.
    Array(Vec<Value>),
    /// Members by name. Go writes them in the order of their bytes, which is the order here.
    Object(BTreeMap<String, Value>),
}

impl Value {
    /// The text, when it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

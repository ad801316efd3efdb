//! Making values and looking into them.

use super::{Number, Secret, Value};
use std::collections::BTreeMap;

impl Value {
    /// Bytes; text when they are valid UTF-8, because only other bytes need a form of their own.
    #[must_use]
    pub fn bytes(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes).map_or_else(|error| Self::Bytes(error.into_bytes()), Self::String)
    }

    /// A readable secret. A secret of a secret is the inner one.
    #[must_use]
    pub fn secret(value: Self) -> Self {
        match value {
            Self::Secret(_) => value,
            _ => Self::Secret(Secret::Open(Box::new(value))),
        }
    }

    /// A secret of which only the ciphertext is known.
    #[must_use]
    pub fn sealed(ciphertext: impl Into<String>) -> Self {
        Self::Secret(Secret::Sealed(ciphertext.into()))
    }

    /// Named values.
    #[must_use]
    pub fn object<K: Into<String>, V: Into<Self>>(members: impl IntoIterator<Item = (K, V)>) -> Self {
        Self::Object(members.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }

    /// A list.
    #[must_use]
    pub fn array<V: Into<Self>>(elements: impl IntoIterator<Item = V>) -> Self {
        Self::Array(elements.into_iter().map(Into::into).collect())
    }

    /// Whether it is nothing.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether it is a secret itself; [`Value::contains_secrets`] looks inside too.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        match self {
            Self::Secret(_) => true,
            Self::Output(output) => output.secret,
            _ => false,
        }
    }

    /// The truth value.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// The number.
    #[must_use]
    pub fn as_number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The elements of a list.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(elements) = self { Some(elements) } else { None }
    }

    /// The elements of a list, to be changed.
    #[must_use]
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Self>> {
        if let Self::Array(elements) = self { Some(elements) } else { None }
    }

    /// The named values.
    #[must_use]
    pub fn as_object(&self) -> Option<&BTreeMap<String, Self>> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    /// The named values, to be changed.
    #[must_use]
    pub fn as_object_mut(&mut self) -> Option<&mut BTreeMap<String, Self>> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    /// The value of a member, when this is an object that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// The word for its kind, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
            Self::Asset(_) => "asset",
            Self::Archive(_) => "archive",
            Self::Secret(_) => "secret",
            Self::Output(_) => "output",
            Self::Computed(_) => "computed",
            Self::ResourceReference(_) => "resource reference",
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(integer: i64) -> Self {
        Self::Number(integer.into())
    }
}

impl From<f64> for Value {
    fn from(float: f64) -> Self {
        Self::Number(float.into())
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<Vec<Value>> for Value {
    fn from(elements: Vec<Value>) -> Self {
        Self::Array(elements)
    }
}

impl From<BTreeMap<String, Value>> for Value {
    fn from(members: BTreeMap<String, Value>) -> Self {
        Self::Object(members)
    }
}

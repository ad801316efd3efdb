//! Configuration that a project declares.

use crate::Value;
use std::fmt;

/// What a project says of one configuration value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConfigDeclaration {
    /// The type that it must have.
    pub kind: Option<ConfigType>,
    /// What it is for.
    pub description: Option<String>,
    /// What it is where a stack does not say; for keys of the project itself.
    pub default: Option<Value>,
    /// What it is where a stack does not say; for keys of others.
    pub value: Option<Value>,
    /// Whether it must be encrypted.
    pub secret: bool,
}

/// The type of a configuration value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigType {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// Named values.
    Object,
    /// A list of values of one type.
    Array(Box<ConfigType>),
}

impl ConfigDeclaration {
    /// The value for stacks that do not have one.
    #[must_use]
    pub fn fallback(&self) -> Option<&Value> {
        self.default.as_ref().or(self.value.as_ref())
    }
}

impl ConfigType {
    /// Whether a value has the type. Texts that spell a whole number or a truth value count as those.
    #[must_use]
    pub fn accepts(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::String, Value::String(_))
            | (Self::Integer, Value::Integer(_))
            | (Self::Boolean, Value::Bool(_))
            | (Self::Object, Value::Object(_) | Value::Secure(_)) => true,
            (Self::Integer, Value::Float(number)) => number.fract() == 0.0,
            (Self::Integer, Value::String(text)) => text.parse::<i64>().is_ok(),
            (Self::Boolean, Value::String(text)) => text == "true" || text == "false",
            (Self::Array(of), Value::Array(items)) => items.iter().all(|item| of.accepts(item)),
            _ => false,
        }
    }
}

impl fmt::Display for ConfigType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String => f.write_str("string"),
            Self::Integer => f.write_str("integer"),
            Self::Boolean => f.write_str("boolean"),
            Self::Object => f.write_str("object"),
            Self::Array(of) => write!(f, "array<{of}>"),
        }
    }
}

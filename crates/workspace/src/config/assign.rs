//! What a person gives to `config set` and `config set-all`.

use super::key::{KeyError, Locator};
use crate::Value;
use serde::Deserialize;
use std::str::FromStr;

/// A value to set.
#[derive(Debug, Clone, PartialEq)]
pub enum NewValue {
    /// A text of no named type. As a whole value it stays a text; as a part of one, `true`, `false` and whole numbers
    /// are taken for what they look like.
    Text(String),
    /// A value of a known type: given with `--type`, from JSON, or a ciphertext.
    Typed(Value),
}

/// The types that `--type` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Text.
    String,
    /// A whole number.
    Int,
    /// True or false.
    Bool,
    /// A number.
    Float,
}

/// Why a text is not a value of a type, or not a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TypeError {
    /// There is no type of that name.
    #[error("`{name}` is not a type; types are string, int, bool and float")]
    Unknown {
        /// The name.
        name: String,
    },
    /// The text is not a value of that type.
    #[error("`{text}` is not {expected}")]
    Value {
        /// The text.
        text: String,
        /// What would be one.
        expected: &'static str,
    },
}

/// Why an argument of `config set-all` cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum AssignmentError {
    /// There is no `=` between key and value.
    #[error("`{text}` is not of the form `key=value`")]
    Form {
        /// The argument.
        text: String,
    },
    /// The key is not one.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The JSON text is not one, or not of the shape that `config --json` prints.
    #[error("the JSON text does not have the shape that `config --json` prints")]
    Json(#[source] serde_json::Error),
    /// A value is missing, as those of secrets are in the output of `config --json` without `--show-secrets`.
    #[error("the JSON text has no value for `{key}`")]
    NoValue {
        /// The key.
        key: String,
    },
}

/// A value of `config set-all --json`.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonAssignment {
    /// What to set.
    pub locator: Locator,
    /// The text of the value; of lists and named values, their JSON.
    pub text: String,
    /// The list or the named values, if it is that.
    pub object: Option<Value>,
    /// Whether it is to be encrypted.
    pub secret: bool,
}

impl FromStr for Type {
    type Err = TypeError;

    fn from_str(name: &str) -> Result<Self, TypeError> {
        match name {
            "string" => Ok(Self::String),
            "int" => Ok(Self::Int),
            "bool" => Ok(Self::Bool),
            "float" => Ok(Self::Float),
            _ => Err(TypeError::Unknown { name: name.to_owned() }),
        }
    }
}

impl NewValue {
    /// A text read as a value of a type.
    pub fn typed(text: &str, of: Type) -> Result<Self, TypeError> {
        let wrong = |expected| TypeError::Value { text: text.to_owned(), expected };
        Ok(Self::Typed(match of {
            Type::String => Value::String(text.to_owned()),
            Type::Int => Value::Integer(text.parse::<i64>().map_err(|_| wrong("a whole number"))?.into()),
            Type::Bool => Value::Bool(match text {
                "1" | "t" | "T" | "true" | "TRUE" | "True" => true,
                "0" | "f" | "F" | "false" | "FALSE" | "False" => false,
                _ => return Err(wrong("true or false")),
            }),
            Type::Float => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Value::Float(number + 0.0),
                _ => return Err(wrong("a number")),
            },
        }))
    }

    /// A ciphertext.
    #[must_use]
    pub fn secure(ciphertext: impl Into<String>) -> Self {
        Self::Typed(Value::Secure(ciphertext.into()))
    }

    /// What it is as a whole value.
    pub(super) fn whole(self) -> Value {
        match self {
            Self::Text(text) => Value::String(text),
            Self::Typed(value) => value,
        }
    }

    /// What it is as a part of a value.
    pub(super) fn part(self) -> Value {
        match self {
            Self::Text(text) => coerced(text),
            Self::Typed(Value::Float(number)) => whole_number(number).unwrap_or(Value::Float(number)),
            Self::Typed(value) => value,
        }
    }
}

/// A text taken for what it looks like. Numbers with leading zeros stay texts.
fn coerced(text: String) -> Value {
    match text.as_str() {
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        _ => {}
    }
    let number = if text.len() > 1 && text.starts_with('0') {
        None
    } else {
        text.parse::<i64>().map(i128::from).or_else(|_| text.parse::<u64>().map(i128::from)).ok()
    };
    number.map_or(Value::String(text), Value::Integer)
}

/// A float without a fraction, as the integer that it is inside of lists and named values.
fn whole_number(number: f64) -> Option<Value> {
    let fits = number.fract() == 0.0 && number.abs() < 9.0e18;
    fits.then_some(Value::Integer(number as i128))
}

/// Splits `key=value`. A key with an `=` in it is written between quotes.
pub fn parse_assignment(
    project: Option<&str>,
    text: &str,
    is_path: bool,
) -> Result<(Locator, String), AssignmentError> {
    let split = match text.chars().next() {
        Some(quote @ ('"' | '\'')) => text[1..].split_once(&format!("{quote}=")),
        _ => text.split_once('='),
    };
    let (key, value) = split.ok_or_else(|| AssignmentError::Form { text: text.to_owned() })?;
    Ok((Locator::parse(project, key, is_path)?, value.to_owned()))
}

/// Reads what `config --json --show-secrets` prints, ordered by key.
pub fn parse_json_assignments(
    project: Option<&str>,
    text: &str,
) -> Result<Vec<JsonAssignment>, AssignmentError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Given {
        value: Option<String>,
        #[serde(default)]
        object_value: Option<serde_json::Value>,
        #[serde(default)]
        secret: bool,
    }
    let given: std::collections::BTreeMap<String, Given> =
        serde_json::from_str(text).map_err(AssignmentError::Json)?;
    let assignment = |(key, given): (String, Given)| {
        let text = given.value.ok_or_else(|| AssignmentError::NoValue { key: key.clone() })?;
        let object = match &given.object_value {
            Some(_) => Some(serde_json::from_str(&text).map_err(AssignmentError::Json)?),
            None => None,
        };
        Ok(JsonAssignment {
            locator: Locator::parse(project, &key, false)?,
            object: object.as_ref().map(Value::from_json),
            text,
            secret: given.secret,
        })
    };
    given.into_iter().map(assignment).collect()
}

impl JsonAssignment {
    /// The value to set. `ciphertext` is that of the text, if the value is a secret. A secret list or secret named
    /// values are kept as the ciphertext of their JSON, which is how programs read secret objects.
    #[must_use]
    pub fn value(&self, ciphertext: Option<String>) -> NewValue {
        match (ciphertext, &self.object) {
            (Some(ciphertext), _) => NewValue::secure(ciphertext),
            (None, Some(object)) => NewValue::Typed(object.clone()),
            (None, None) => NewValue::Text(self.text.clone()),
        }
    }
}

//! Values as they stand in YAML and JSON documents.

use crate::number;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A value of a project file, of stack settings, or of configuration.
#[derive(Debug, Clone, Default)]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number between `i64::MIN` and `u64::MAX`.
    Integer(i128),
    /// Any other number.
    Float(f64),
    /// Text.
    String(String),
    /// The ciphertext of a secret text, written as `secure: …`.
    Secure(String),
    /// A list.
    Array(Vec<Value>),
    /// Named values.
    Object(BTreeMap<String, Value>),
}

/// Floats are equal when their bits are, so that a value always equals its copy.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::String(a), Self::String(b)) | (Self::Secure(a), Self::Secure(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => a == b,
            (Self::Object(a), Self::Object(b)) => a == b,
            _ => false,
        }
    }
}

impl Value {
    /// The text, when it is a plain text.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The named values, when it has some.
    #[must_use]
    pub fn as_object(&self) -> Option<&BTreeMap<String, Value>> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The named values that it is written as; a secret is written as its ciphertext, named `secure`.
    pub(crate) fn members(&self) -> Option<Cow<'_, BTreeMap<String, Value>>> {
        match self {
            Self::Object(members) => Some(Cow::Borrowed(members)),
            Self::Secure(ciphertext) => {
                Some(Cow::Owned([("secure".to_owned(), Self::String(ciphertext.clone()))].into()))
            }
            _ => None,
        }
    }

    /// Whether a secret stands in it, at any depth.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        match self {
            Self::Secure(_) => true,
            Self::Array(items) => items.iter().any(Self::is_secure),
            Self::Object(members) => members.values().any(Self::is_secure),
            _ => false,
        }
    }

    /// Whether it is shown as JSON: a list, named values, or nothing.
    #[must_use]
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Null | Self::Array(_) | Self::Object(_))
    }

    /// What a person or a program sees of it: texts as they are, everything else as compact JSON. `open` turns a
    /// ciphertext into what is shown in its place.
    pub fn text<'a>(&self, open: &mut dyn FnMut(&str) -> Cow<'a, str>) -> String {
        match self {
            Self::String(text) => text.clone(),
            Self::Secure(ciphertext) => open(ciphertext).into_owned(),
            _ => {
                let mut out = String::new();
                self.write_json(&mut out, &mut |ciphertext, out| quote_json(&open(ciphertext), out));
                out
            }
        }
    }

    /// Compact JSON in which secrets are `{"secure":"…"}`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out, &mut |ciphertext, out| {
            out.push_str("{\"secure\":");
            quote_json(ciphertext, out);
            out.push('}');
        });
        out
    }

    fn write_json(&self, out: &mut String, secure: &mut dyn FnMut(&str, &mut String)) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Integer(value) => out.push_str(&value.to_string()),
            Self::Float(value) => out.push_str(&number::json(*value)),
            Self::String(text) => quote_json(text, out),
            Self::Secure(ciphertext) => secure(ciphertext, out),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write_json(out, secure);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    quote_json(name, out);
                    out.push(':');
                    value.write_json(out, secure);
                }
                out.push('}');
            }
        }
    }

    /// The value of a JSON value; an object with the only member `secure`, a text, is a secret.
    #[must_use]
    pub fn from_json(json: &serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(*value),
            serde_json::Value::Number(number) => number
                .as_i64()
                .map(i128::from)
                .or_else(|| number.as_u64().map(i128::from))
                .map_or_else(|| Self::Float(number.as_f64().unwrap_or_default()), Self::Integer),
            serde_json::Value::String(text) => Self::String(text.clone()),
            serde_json::Value::Array(items) => Self::Array(items.iter().map(Self::from_json).collect()),
            serde_json::Value::Object(members) => Self::object(
                members.iter().map(|(name, value)| (name.clone(), Self::from_json(value))).collect(),
            ),
        }
    }

    /// Named values, or the secret that they spell.
    #[must_use]
    pub fn object(members: BTreeMap<String, Value>) -> Self {
        if members.len() == 1
            && let Some(Self::String(ciphertext)) = members.get("secure")
        {
            return Self::Secure(ciphertext.clone());
        }
        Self::Object(members)
    }
}

/// Writes a JSON string as Go's encoder does, with `<`, `>`, `&` and the line separators escaped, so that a text that
/// a program receives is the same from either tool.
pub fn quote_json(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_text_is_compact_sorted_and_escaped_as_go_does() {
        let value = Value::from_json(&serde_json::json!({
            "b": [1, -2, 1.5, 18_446_744_073_709_551_615_u64, null, true],
            "a": {"html": "<a>&\u{2028}\t\u{1}\u{7f}", "secure": "x"},
            "s": {"secure": "v1:ct"},
        }));
        assert_eq!(
            value.to_json(),
            "{\"a\":{\"html\":\"\\u003ca\\u003e\\u0026\\u2028\\t\\u0001\u{7f}\",\"secure\":\"x\"},\
             \"b\":[1,-2,1.5,18446744073709551615,null,true],\"s\":{\"secure\":\"v1:ct\"}}"
        );
        assert_eq!(value.text(&mut |_| "[secret]".into()).split_once("\"s\":").unwrap().1, "\"[secret]\"}");
        assert!(value.is_secure());
    }

    #[test]
    fn s10_big_integers_survive() {
        let value =
            Value::from_json(&serde_json::from_str("[9007199254740993, 18446744073709551615]").unwrap());
        assert_eq!(value.to_json(), "[9007199254740993,18446744073709551615]");
    }

    #[test]
    fn only_a_lone_secure_text_is_a_secret() {
        for (json, secure) in [
            (serde_json::json!({"secure": "x"}), true),
            (serde_json::json!({"secure": 5}), false),
            (serde_json::json!({"secure": "x", "other": 1}), false),
        ] {
            assert_eq!(Value::from_json(&json).is_secure(), secure, "{json}");
        }
    }
}

//! JSON kept as text.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::{collections::BTreeMap, fmt, sync::Arc};

/// A JSON value kept as the text it was read from.
///
/// Nothing inside is interpreted, so integers above 2^53, key order and unknown members survive (S9, S10). Copies share
/// the text.
#[derive(Clone)]
pub struct Json(Arc<RawValue>);

impl Json {
    /// Wraps text that is one valid JSON value.
    pub fn parse(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.into()).map(|raw| Self(Arc::from(raw)))
    }

    /// The JSON text of a serializable value.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(|raw| Self(Arc::from(raw)))
    }

    /// The text itself.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// Reads the text as a `T`.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.text())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// Equal when the values are: member order, white space and the spelling of strings do not matter, every digit of a
/// number does (S10).
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        same(self.text(), other.text(), 0)
    }
}

/// Deeper values are equal only when their texts are, so that hostile nesting cannot exhaust the stack.
const DEEPEST_COMPARED: usize = 200;

fn same(a: &str, b: &str, depth: usize) -> bool {
    if a == b {
        return true;
    }
    if depth == DEEPEST_COMPARED || a.as_bytes().first() != b.as_bytes().first() {
        return false;
    }
    match a.as_bytes().first() {
        Some(b'{') => both::<BTreeMap<String, &RawValue>>(a, b).is_some_and(|(a, b)| {
            let pairs = a.iter().zip(&b);
            a.len() == b.len()
                && pairs.into_iter().all(|((x, a), (y, b))| x == y && same(a.get(), b.get(), depth + 1))
        }),
        Some(b'[') => both::<Vec<&RawValue>>(a, b).is_some_and(|(a, b)| {
            a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same(a.get(), b.get(), depth + 1))
        }),
        Some(b'"') => both::<String>(a, b).is_some_and(|(a, b)| a == b),
        _ => false,
    }
}

fn both<'a, T: Deserialize<'a>>(a: &'a str, b: &'a str) -> Option<(T, T)> {
    Some((serde_json::from_str(a).ok()?, serde_json::from_str(b).ok()?))
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|raw| Self(Arc::from(raw)))
    }
}

/// Whether the start of a document is written without insignificant white space. Looks at the first members only:
/// a wrong answer costs looks, never meaning.
#[must_use]
pub fn is_compact(document: &[u8]) -> bool {
    let mut in_string = false;
    let mut escaped = false;
    for &byte in document.iter().take(256) {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
        } else if byte == b'"' {
            in_string = true;
        } else if byte.is_ascii_whitespace() {
            return false;
        }
    }
    true
}

/// Valid JSON without insignificant white space.
#[must_use]
pub fn compact(document: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(document.len());
    let mut rest = document;
    while let Some(&byte) = rest.first() {
        if byte == b'"' {
            let (string, after) = rest.split_at(string_end(rest));
            out.extend_from_slice(string);
            rest = after;
        } else {
            if !byte.is_ascii_whitespace() {
                out.push(byte);
            }
            rest = &rest[1..];
        }
    }
    out
}

/// Valid JSON with a line a member, each level moved in by `unit`; empty objects and arrays stay on their line.
pub fn indent(document: &[u8], unit: &str, out: &mut impl std::io::Write) -> std::io::Result<()> {
    let mut depth = 0usize;
    let mut rest = document;
    let newline = |out: &mut dyn std::io::Write, depth: usize| -> std::io::Result<()> {
        out.write_all(b"\n")?;
        for _ in 0..depth {
            out.write_all(unit.as_bytes())?;
        }
        Ok(())
    };
    while let Some(&byte) = rest.first() {
        match byte {
            b'"' => {
                let (string, after) = rest.split_at(string_end(rest));
                out.write_all(string)?;
                rest = after;
                continue;
            }
            b'{' | b'[' => {
                out.write_all(&[byte])?;
                let next =
                    rest[1..].iter().position(|b| !b.is_ascii_whitespace()).map_or(rest.len(), |n| n + 1);
                if matches!(rest.get(next), Some(b'}' | b']')) {
                    out.write_all(&rest[next..=next])?;
                    rest = &rest[next + 1..];
                    continue;
                }
                depth += 1;
                newline(out, depth)?;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                newline(out, depth)?;
                out.write_all(&[byte])?;
            }
            b',' => {
                out.write_all(b",")?;
                newline(out, depth)?;
            }
            b':' => out.write_all(b": ")?,
            _ if byte.is_ascii_whitespace() => {}
            _ => {
                let end = rest
                    .iter()
                    .position(|b| matches!(b, b',' | b'}' | b']' | b':') || b.is_ascii_whitespace())
                    .unwrap_or(rest.len());
                out.write_all(&rest[..end])?;
                rest = &rest[end..];
                continue;
            }
        }
        rest = &rest[1..];
    }
    Ok(())
}

/// The length of the string that `text` starts with, both quotes included.
fn string_end(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s10_values_are_equal_by_every_digit_and_not_by_spelling() {
        let json = |text: &str| Json::parse(text).unwrap();
        assert_eq!(json(r#"{"a":1,"b":[true, "\u0041"]}"#), json(r#"{ "b": [true,"A"], "a": 1 }"#));
        assert_ne!(json("36893488147419103233"), json("36893488147419103234"));
        assert_ne!(json(r#"{"a":1}"#), json(r#"{"a":1,"b":null}"#));
        assert_ne!(json("[1,2]"), json("[2,1]"));
        let deep = |inside: &str| json(&format!("{}{inside}{}", "[".repeat(100_000), "]".repeat(100_000)));
        assert_eq!(deep("1"), deep("1"));
        assert_ne!(deep("1"), deep("2"));
    }

    #[test]
    fn s10_indenting_and_compacting_keep_every_token() {
        let source = r#"{"a":[1,{"b":"x: {\"y\", }"}],"e":{},"f":[],"n":12345678901234567890.10,"z":null}"#;
        let mut wide = Vec::new();
        indent(source.as_bytes(), "    ", &mut wide).unwrap();
        assert_eq!(
            String::from_utf8(wide.clone()).unwrap(),
            "{\n    \"a\": [\n        1,\n        {\n            \"b\": \"x: {\\\"y\\\", }\"\n        }\n    ],\n    \"e\": {},\n    \"f\": [],\n    \"n\": 12345678901234567890.10,\n    \"z\": null\n}"
        );
        assert_eq!(compact(&wide), source.as_bytes());
        assert!(is_compact(source.as_bytes()) && !is_compact(&wide));
    }
}

//! From stored text to values.

use super::{DEPTH_LIMIT, PropertyError, PropertyProblem};
use crate::pulumi::{scan::Scanner, signature};
use base64::{Engine, engine::general_purpose::STANDARD};
use drystone_model::{
    Archive, ArchiveSource, Asset, AssetSource, Computed, Json, Number, Output, Properties,
    ResourceReference, Secret, Segment, Urn, Value,
};
use std::{collections::BTreeMap, ops::ControlFlow};

/// Reads a stored value. Secrets stay sealed, except those that are stored in clear.
pub fn decode(json: &Json) -> Result<Value, PropertyError> {
    decode_text(json.text(), Nested::Sealed, 0).map_err(PropertyError::finished)
}

/// Reads the properties of a resource.
pub fn decode_properties(properties: &Properties) -> Result<BTreeMap<String, Value>, PropertyError> {
    let mut decoder = Decoder { scanner: Scanner::new(properties.text()), nested: Nested::Sealed };
    if decoder.scanner.peek() != Some(b'{') {
        return Err(PropertyError::new(PropertyProblem::NotAnObject));
    }
    decoder.members(1).map_err(PropertyError::finished)
}

/// Reads the text that a secret was sealed from.
pub fn decode_plaintext(text: &str) -> Result<Value, PropertyError> {
    decode_secret_text(text, 0)
}

/// Whether stored text holds a secret in clear, as an export with `--show-secrets` does. Text that only looks as if it
/// did, and cannot be read, counts.
#[must_use]
pub fn holds_open_secret(json: &Json) -> bool {
    let text = json.text();
    text.contains("\"plaintext\"") && text.contains(signature::SECRET) && {
        let open = |value: &Value| match value {
            Value::Secret(Secret::Open(_)) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        decode(json).map_or(true, |value| value.visit(&mut |value| open(value)).is_break())
    }
}

/// What the `ciphertext` of a secret is at this place.
#[derive(Clone, Copy)]
enum Nested {
    /// Ciphertext.
    Sealed,
    /// JSON text: the secret stands inside the text of another.
    Text,
}

fn decode_text(text: &str, nested: Nested, depth: usize) -> Result<Value, PropertyError> {
    let mut decoder = Decoder { scanner: Scanner::new(text), nested };
    let value = decoder.value(depth)?;
    if decoder.scanner.at_end() { Ok(value) } else { Err(PropertyError::new(PropertyProblem::NotJson)) }
}

fn decode_secret_text(text: &str, depth: usize) -> Result<Value, PropertyError> {
    let secret_text = || PropertyError::new(PropertyProblem::SecretText);
    serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|_| secret_text())?;
    decode_text(text, Nested::Text, depth).map_err(|error| match error.problem {
        PropertyProblem::TooDeep => PropertyError::new(PropertyProblem::TooDeep),
        _ => secret_text(),
    })
}

struct Decoder<'a> {
    scanner: Scanner<'a>,
    nested: Nested,
}

type Members = BTreeMap<String, Value>;

impl Decoder<'_> {
    fn value(&mut self, depth: usize) -> Result<Value, PropertyError> {
        match self.scanner.peek() {
            Some(b'{') => {
                let members = self.members(depth + 1)?;
                if members.contains_key(signature::KEY) {
                    return self.signed(members, depth + 1);
                }
                Ok(Value::Object(members))
            }
            Some(b'[') => self.elements(depth + 1).map(Value::Array),
            Some(b'"') => {
                let text = self.scanner.string().ok_or_else(not_json)?;
                // Only this sentinel means "unknown" in a state; the others are plain text there.
                if text == Computed::String.sentinel() {
                    return Ok(Value::Computed(Computed::String));
                }
                Ok(Value::String(text.into_owned()))
            }
            _ => match self.scanner.scalar() {
                "null" => Ok(Value::Null),
                "true" => Ok(Value::Bool(true)),
                "false" => Ok(Value::Bool(false)),
                text => Number::parse(text).map(Value::Number).ok_or_else(not_json),
            },
        }
    }

    fn members(&mut self, depth: usize) -> Result<Members, PropertyError> {
        let mut members = Members::new();
        if !self.enter(b'{', b'}', depth)? {
            return Ok(members);
        }
        loop {
            let key = self.scanner.string().ok_or_else(not_json)?.into_owned();
            if !self.scanner.take(b':') {
                return Err(not_json());
            }
            match self.value(depth) {
                Ok(value) => members.insert(key, value),
                Err(error) => return Err(error.under(Segment::Key(key))),
            };
            if !self.goes_on(b'}')? {
                return Ok(members);
            }
        }
    }

    fn elements(&mut self, depth: usize) -> Result<Vec<Value>, PropertyError> {
        let mut elements = Vec::new();
        if !self.enter(b'[', b']', depth)? {
            return Ok(elements);
        }
        loop {
            elements.push(self.value(depth).map_err(|error| error.under(elements.len()))?);
            if !self.goes_on(b']')? {
                return Ok(elements);
            }
        }
    }

    /// Takes the opening bracket and says whether anything follows it.
    fn enter(&mut self, open: u8, close: u8, depth: usize) -> Result<bool, PropertyError> {
        if depth > DEPTH_LIMIT {
            return Err(PropertyError::new(PropertyProblem::TooDeep));
        }
        if self.scanner.take(open) { Ok(!self.scanner.take(close)) } else { Err(not_json()) }
    }

    fn goes_on(&mut self, close: u8) -> Result<bool, PropertyError> {
        match (self.scanner.take(b','), self.scanner.take(close)) {
            (true, false) => Ok(true),
            (false, true) => Ok(false),
            _ => Err(not_json()),
        }
    }

    /// What an object with a signature is.
    fn signed(&self, mut members: Members, depth: usize) -> Result<Value, PropertyError> {
        match members.remove(signature::KEY).and_then(text).unwrap_or_default().as_str() {
            signature::SECRET => self.secret(members, depth),
            signature::ASSET => asset(members),
            signature::ARCHIVE => archive(members),
            signature::RESOURCE_REFERENCE => resource_reference(members),
            signature::BYTE_STRING => byte_string(members),
            signature::FLOAT => float(members),
            signature::OUTPUT => output(members),
            other => Err(PropertyError::new(PropertyProblem::UnknownSignature(other.to_owned()))),
        }
    }

    fn secret(&self, mut members: Members, depth: usize) -> Result<Value, PropertyError> {
        let mut member = |name| members.remove(name).and_then(text).filter(|text| !text.is_empty());
        match (member("ciphertext"), member("plaintext"), self.nested) {
            (Some(ciphertext), None, Nested::Sealed) => Ok(Value::sealed(ciphertext)),
            (Some(inner), None, Nested::Text) | (None, Some(inner), _) => {
                let value = decode_secret_text(&inner, depth)?;
                Ok(Value::Secret(Secret::Open(Box::new(value))))
            }
            _ => Err(PropertyError::malformed(
                "secret",
                "exactly one of `ciphertext` and `plaintext` belongs in it",
            )),
        }
    }
}

fn not_json() -> PropertyError {
    PropertyError::new(PropertyProblem::NotJson)
}

/// The text of a member. A text that happens to be the sentinel of an unknown value is still that text.
fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Computed(kind) => Some(kind.sentinel().to_owned()),
        _ => None,
    }
}

/// A member that may be left out, but is text when it is there.
fn optional_text(
    members: &mut Members,
    name: &str,
    kind: &'static str,
    reason: &'static str,
) -> Result<String, PropertyError> {
    match members.remove(name) {
        None => Ok(String::new()),
        Some(value) => text(value).ok_or_else(|| PropertyError::malformed(kind, reason)),
    }
}

fn asset(mut members: Members) -> Result<Value, PropertyError> {
    let mut member = |name, reason| optional_text(&mut members, name, "asset", reason);
    let hash = member("hash", "`hash` is not text")?;
    let text = member("text", "`text` is not text")?;
    let path = member("path", "`path` is not text")?;
    let uri = member("uri", "`uri` is not text")?;
    let source = match (path.is_empty(), uri.is_empty()) {
        (false, _) => AssetSource::Path(path),
        (true, false) => AssetSource::Uri(uri),
        (true, true) => AssetSource::Text(text),
    };
    Ok(Value::Asset(Asset { hash, source }))
}

fn archive(mut members: Members) -> Result<Value, PropertyError> {
    let mut member = |name, reason| optional_text(&mut members, name, "archive", reason);
    let hash = member("hash", "`hash` is not text")?;
    let path = member("path", "`path` is not text")?;
    let uri = member("uri", "`uri` is not text")?;
    let source = match (path.is_empty(), uri.is_empty(), members.remove("assets")) {
        (false, _, _) => ArchiveSource::Path(path),
        (true, false, _) => ArchiveSource::Uri(uri),
        (true, true, None) => ArchiveSource::default(),
        (true, true, Some(Value::Object(assets))) => {
            if !assets.values().all(|asset| matches!(asset, Value::Asset(_) | Value::Archive(_))) {
                return Err(PropertyError::malformed(
                    "archive",
                    "a member is neither an asset nor an archive",
                ));
            }
            ArchiveSource::Assets(assets)
        }
        (true, true, Some(_)) => {
            return Err(PropertyError::malformed("archive", "`assets` is not an object"));
        }
    };
    Ok(Value::Archive(Archive { hash, source }))
}

fn resource_reference(mut members: Members) -> Result<Value, PropertyError> {
    let malformed = |reason| PropertyError::malformed("resource reference", reason);
    let package_version =
        optional_text(&mut members, "packageVersion", "resource reference", "`packageVersion` is not text")?;
    let urn = members.remove("urn").and_then(text).ok_or_else(|| malformed("`urn` is missing"))?;
    let id = match members.remove("id") {
        None => None,
        Some(Value::String(id)) => Some(id),
        Some(Value::Computed(_)) => Some(String::new()),
        // A release of Pulumi wrote the value's inner form: nothing for a component, an object for an unknown id.
        Some(Value::Object(mut inner)) => match inner.remove("V") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) => Some(id),
            Some(Value::Object(_) | Value::Computed(_)) => Some(String::new()),
            Some(_) => return Err(malformed("`id` is not text")),
        },
        Some(_) => return Err(malformed("`id` is not text")),
    };
    Ok(Value::ResourceReference(ResourceReference { urn: Urn::new(urn), id, package_version }))
}

fn byte_string(mut members: Members) -> Result<Value, PropertyError> {
    let malformed = || PropertyError::malformed("byte string", "`value` is not base64");
    let encoded = members.remove("value").and_then(text).ok_or_else(malformed)?;
    STANDARD.decode(encoded).map(Value::bytes).map_err(|_| malformed())
}

fn float(mut members: Members) -> Result<Value, PropertyError> {
    let bits = members.remove("value").and_then(text);
    bits.and_then(|bits| u64::from_str_radix(&bits, 16).ok())
        .map(|bits| f64::from_bits(bits).into())
        .ok_or_else(|| PropertyError::malformed("number", "`value` is not the bits of one"))
}

fn output(mut members: Members) -> Result<Value, PropertyError> {
    let malformed = |reason| PropertyError::malformed("output", reason);
    let secret = match members.remove("secret") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(secret)) => secret,
        Some(_) => return Err(malformed("`secret` is not true or false")),
    };
    let dependencies = match members.remove("dependencies") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(urns)) => urns
            .into_iter()
            .map(|urn| text(urn).map(Urn::new))
            .collect::<Option<_>>()
            .ok_or_else(|| malformed("`dependencies` holds something else than text"))?,
        Some(_) => return Err(malformed("`dependencies` is not a list")),
    };
    Ok(Value::Output(Box::new(Output { value: members.remove("value"), secret, dependencies })))
}

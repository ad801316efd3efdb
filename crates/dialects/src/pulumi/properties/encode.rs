//! From values to stored text.

use super::{DEPTH_LIMIT, PropertyError, PropertyProblem, SecretForm};
use crate::pulumi::{
    signature,
    text::{Escapes, write_string},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use drystone_model::{
    Archive, ArchiveSource, Asset, AssetSource, Computed, Json, Number, Properties, ResourceReference,
    Secret, Segment, Value,
};
use std::collections::BTreeMap;

/// Writes a value in its stored form, members in the order of their names.
///
/// The state has no outputs and one kind of unknown value, so [`Value::lower_outputs`] happens on the way.
pub fn encode(value: &Value, form: SecretForm) -> Result<Json, PropertyError> {
    let mut encoder = Encoder::new(form.into(), Escapes::Plain);
    encoder.value(value, 0).map_err(PropertyError::finished)?;
    encoder.json()
}

/// Writes the properties of a resource in their stored form.
pub fn encode_properties(
    properties: &BTreeMap<String, Value>,
    form: SecretForm,
) -> Result<Properties, PropertyError> {
    let mut encoder = Encoder::new(form.into(), Escapes::Plain);
    encoder.members(properties, 1).map_err(PropertyError::finished)?;
    encoder.json().map(Properties::new)
}

/// Writes the text that a secret with this value is sealed from.
pub fn encode_plaintext(value: &Value) -> Result<String, PropertyError> {
    secret_text(value, Secrets::Text, 0)
}

/// What is written for a secret at this place.
#[derive(Clone, Copy)]
enum Secrets {
    /// Its ciphertext.
    Sealed,
    /// Its text, shown to a user.
    Plaintext,
    /// Its text in the place of a ciphertext, because it stands inside the text of another.
    Text,
}

impl From<SecretForm> for Secrets {
    fn from(form: SecretForm) -> Self {
        match form {
            SecretForm::Sealed => Self::Sealed,
            SecretForm::Plaintext => Self::Plaintext,
        }
    }
}

/// Errors end at the secret: nothing inside is named.
fn secret_text(value: &Value, secrets: Secrets, depth: usize) -> Result<String, PropertyError> {
    let mut encoder = Encoder::new(secrets, Escapes::Html);
    encoder.value(value, depth).map_err(|error| PropertyError::new(error.problem))?;
    String::from_utf8(encoder.out).map_err(|_| PropertyError::new(PropertyProblem::NotJson))
}

struct Encoder {
    out: Vec<u8>,
    secrets: Secrets,
    escapes: Escapes,
}

impl Encoder {
    fn new(secrets: Secrets, escapes: Escapes) -> Self {
        Self { out: Vec::new(), secrets, escapes }
    }

    fn json(self) -> Result<Json, PropertyError> {
        let not_json = || PropertyError::new(PropertyProblem::NotJson);
        let text = String::from_utf8(self.out).map_err(|_| not_json())?;
        Json::parse(text).map_err(|_| not_json())
    }

    fn value(&mut self, value: &Value, depth: usize) -> Result<(), PropertyError> {
        match value {
            Value::Null => self.raw("null"),
            Value::Bool(truth) => self.raw(if *truth { "true" } else { "false" }),
            Value::Number(number) => return self.number(number, depth + 1),
            Value::String(text) => self.string(text),
            Value::Bytes(bytes) => return self.bytes(bytes, depth + 1),
            Value::Array(elements) => return self.elements(elements, depth + 1),
            Value::Object(members) => {
                if members.contains_key(signature::KEY) {
                    return Err(PropertyError::new(PropertyProblem::ReservedKey));
                }
                return self.members(members, depth + 1);
            }
            Value::Asset(asset) => return self.asset(asset, depth + 1),
            Value::Archive(archive) => return self.archive(archive, depth + 1),
            Value::Secret(secret) => return self.secret(secret, depth + 1),
            Value::Output(output) => {
                let unknown = Value::Computed(Computed::String);
                let inner = output.value.as_ref().unwrap_or(&unknown);
                return match (output.secret, inner) {
                    (true, Value::Secret(secret)) => self.secret(secret, depth + 1),
                    (true, _) => self.open_secret(inner, depth + 1),
                    (false, _) => self.value(inner, depth),
                };
            }
            Value::Computed(_) => self.string(Computed::String.sentinel()),
            Value::ResourceReference(reference) => return self.resource_reference(reference, depth + 1),
        }
        Ok(())
    }

    fn elements(&mut self, elements: &[Value], depth: usize) -> Result<(), PropertyError> {
        check_depth(depth)?;
        self.raw("[");
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                self.raw(",");
            }
            self.value(element, depth).map_err(|error| error.under(index))?;
        }
        self.raw("]");
        Ok(())
    }

    fn members(&mut self, members: &BTreeMap<String, Value>, depth: usize) -> Result<(), PropertyError> {
        check_depth(depth)?;
        self.raw("{");
        for (index, (key, value)) in members.iter().enumerate() {
            if index > 0 {
                self.raw(",");
            }
            self.string(key);
            self.raw(":");
            self.value(value, depth).map_err(|error| error.under(Segment::Key(key.clone())))?;
        }
        self.raw("}");
        Ok(())
    }

    fn number(&mut self, number: &Number, depth: usize) -> Result<(), PropertyError> {
        match number {
            Number::Float(float) if !float.is_finite() => {
                let bits = format!("{:016x}", float.to_bits());
                return self.signed(signature::FLOAT, &[("value", &bits)], depth);
            }
            Number::Literal(text) if Number::parse(text).is_none() => {
                return Err(PropertyError::new(PropertyProblem::NotANumber));
            }
            _ => self.raw(&number.to_string()),
        }
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8], depth: usize) -> Result<(), PropertyError> {
        if let Ok(text) = std::str::from_utf8(bytes) {
            self.string(text);
            return Ok(());
        }
        self.signed(signature::BYTE_STRING, &[("value", &STANDARD.encode(bytes))], depth)
    }

    fn asset(&mut self, asset: &Asset, depth: usize) -> Result<(), PropertyError> {
        let (name, source) = match &asset.source {
            AssetSource::Text(text) => ("text", text),
            AssetSource::Path(path) => ("path", path),
            AssetSource::Uri(uri) => ("uri", uri),
        };
        let present: Vec<_> = [("hash", asset.hash.as_str()), (name, source)]
            .into_iter()
            .filter(|(_, text)| !text.is_empty())
            .collect();
        self.signed(signature::ASSET, &present, depth)
    }

    fn archive(&mut self, archive: &Archive, depth: usize) -> Result<(), PropertyError> {
        check_depth(depth)?;
        self.raw("{");
        self.member(signature::KEY, signature::ARCHIVE);
        if let ArchiveSource::Assets(assets) = &archive.source {
            if !assets.values().all(|asset| matches!(asset, Value::Asset(_) | Value::Archive(_))) {
                return Err(PropertyError::malformed(
                    "archive",
                    "a member is neither an asset nor an archive",
                ));
            }
            self.raw(",\"assets\":");
            self.members(assets, depth + 1)?;
        }
        let (name, source) = match &archive.source {
            ArchiveSource::Assets(_) => ("", ""),
            ArchiveSource::Path(path) => ("path", path.as_str()),
            ArchiveSource::Uri(uri) => ("uri", uri.as_str()),
        };
        for (name, text) in [("hash", archive.hash.as_str()), (name, source)] {
            if !text.is_empty() {
                self.raw(",");
                self.member(name, text);
            }
        }
        self.raw("}");
        Ok(())
    }

    fn secret(&mut self, secret: &Secret, depth: usize) -> Result<(), PropertyError> {
        match (secret, self.secrets) {
            (Secret::Open(value), _) => self.open_secret(value, depth),
            (Secret::Sealed(ciphertext), Secrets::Sealed) if ciphertext.is_empty() => {
                Err(PropertyError::malformed("secret", "its ciphertext is empty"))
            }
            (Secret::Sealed(ciphertext), Secrets::Sealed) => {
                self.signed(signature::SECRET, &[("ciphertext", ciphertext)], depth)
            }
            (Secret::Sealed(_), Secrets::Plaintext | Secrets::Text) => {
                Err(PropertyError::new(PropertyProblem::SealedSecret))
            }
        }
    }

    fn open_secret(&mut self, value: &Value, depth: usize) -> Result<(), PropertyError> {
        let member = match self.secrets {
            Secrets::Sealed => return Err(PropertyError::new(PropertyProblem::OpenSecret)),
            Secrets::Plaintext => "plaintext",
            Secrets::Text => "ciphertext",
        };
        let text = secret_text(value, self.secrets, depth)?;
        self.signed(signature::SECRET, &[(member, &text)], depth)
    }

    fn resource_reference(
        &mut self,
        reference: &ResourceReference,
        depth: usize,
    ) -> Result<(), PropertyError> {
        let mut members =
            vec![("packageVersion", reference.package_version.as_str()), ("urn", reference.urn.as_str())];
        if let Some(id) = &reference.id {
            members.insert(0, ("id", id));
        }
        self.signed(signature::RESOURCE_REFERENCE, &members, depth)
    }

    fn signed(
        &mut self,
        signature: &str,
        members: &[(&str, &str)],
        depth: usize,
    ) -> Result<(), PropertyError> {
        check_depth(depth)?;
        self.raw("{");
        self.member(signature::KEY, signature);
        for (name, text) in members {
            self.raw(",");
            self.member(name, text);
        }
        self.raw("}");
        Ok(())
    }

    fn member(&mut self, name: &str, text: &str) {
        self.string(name);
        self.raw(":");
        self.string(text);
    }

    fn string(&mut self, text: &str) {
        // Writing to memory does not fail.
        let _ = write_string(&mut self.out, text, self.escapes);
    }

    fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }
}

fn check_depth(depth: usize) -> Result<(), PropertyError> {
    if depth > DEPTH_LIMIT { Err(PropertyError::new(PropertyProblem::TooDeep)) } else { Ok(()) }
}

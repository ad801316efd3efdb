//! Sealing and opening the secrets inside property values.

use crate::error::CodecStep;
use crate::{Error, Plaintext, Reuse, Sealer};
use drystone_model::{ArchiveSource, Computed, Secret, Value};
use std::fmt::Write;

/// Why a codec could not do its work. Its words are dropped, as they may quote a secret (S17).
pub type CodecError = Box<dyn std::error::Error + Send + Sync>;

/// The text that a secret is sealed from: the JSON text of its value, as the state writes it. A secret inside a secret
/// is marked in that text as one, and sealed with it rather than by itself.
pub trait ValueText {
    /// The text of a value whose secrets are open.
    fn write(&self, value: &Value) -> Result<String, CodecError>;

    /// The value of a text, its secrets open.
    fn read(&self, text: &str) -> Result<Value, CodecError>;
}

impl Sealer {
    /// Seals every open secret of many values in one batch. Each value comes with its place; what is sealed already
    /// stays as it is. When anything fails, no value has changed.
    ///
    /// An output that is secret becomes a sealed secret: a value that derives from a secret is one (S17).
    pub fn seal_values(&self, codec: &dyn ValueText, values: &mut [(&str, &mut Value)]) -> Result<(), Error> {
        let found = outermost(values, is_open);
        let mut texts = Vec::with_capacity(found.len());
        for (place, value) in &found {
            texts.push(open_text(codec, value).map_err(|error| error.at(place))?);
        }
        let secrets: Vec<_> =
            found.iter().zip(&texts).map(|((place, _), text)| (place.as_str(), text)).collect();
        let ciphertexts = self.seal(&secrets)?;
        for ((_, value), ciphertext) in found.into_iter().zip(ciphertexts) {
            *value = Value::Secret(Secret::Sealed(ciphertext));
        }
        Ok(())
    }

    /// Opens every sealed secret of many values in one batch, and remembers their ciphertexts for when they are sealed
    /// again unchanged. Each value comes with its place. When anything fails, no value has changed.
    pub fn open_values(&self, codec: &dyn ValueText, values: &mut [(&str, &mut Value)]) -> Result<(), Error> {
        let found = outermost(values, |value| ciphertext(value).is_some());
        let secrets: Vec<_> = found
            .iter()
            .map(|(place, value)| (place.as_str(), ciphertext(value).unwrap_or_default()))
            .collect();
        let plaintexts = self.open(&secrets)?;
        let mut opened = Vec::with_capacity(found.len());
        for ((place, ciphertext), plaintext) in secrets.into_iter().zip(&plaintexts) {
            let value = opened_value(codec, plaintext).map_err(|error| error.at(place))?;
            if self.reuse() == Reuse::On {
                self.remember_value(codec, place, &value, ciphertext);
            }
            opened.push(value);
        }
        for ((_, value), open) in found.into_iter().zip(opened) {
            *value = open;
        }
        Ok(())
    }

    /// Remembers a ciphertext under the text that our own writer gives its value: another tool may spell it differently.
    fn remember_value(&self, codec: &dyn ValueText, place: &str, value: &Value, ciphertext: &str) {
        if let Ok(text) = open_text(codec, value) {
            self.remember(place, &text, ciphertext);
        }
    }
}

/// Whether it is to be sealed. A secret output around a secret is left to the secret.
fn is_open(value: &Value) -> bool {
    match value {
        Value::Secret(Secret::Open(_)) => true,
        Value::Output(output) => output.secret && !matches!(output.value, Some(Value::Secret(_))),
        _ => false,
    }
}

fn ciphertext(value: &Value) -> Option<&str> {
    match value {
        Value::Secret(Secret::Sealed(ciphertext)) => Some(ciphertext),
        _ => None,
    }
}

/// The plaintext of an open secret.
fn open_text(codec: &dyn ValueText, secret: &Value) -> Result<Plaintext, Error> {
    let unknown = Value::Computed(Computed::default());
    let inside = match secret {
        Value::Secret(Secret::Open(inside)) => inside.as_ref(),
        Value::Output(output) => output.value.as_ref().unwrap_or(&unknown),
        other => other,
    };
    codec.write(inside).map(Plaintext::from).map_err(|_| Error::Codec(CodecStep::Write))
}

/// The open secret of a plaintext.
fn opened_value(codec: &dyn ValueText, plaintext: &Plaintext) -> Result<Value, Error> {
    let inside = codec.read(plaintext.as_text()?).map_err(|_| Error::Codec(CodecStep::Read))?;
    Ok(Value::Secret(Secret::Open(Box::new(inside))))
}

/// The values that are wanted and not inside another wanted one, each with its place.
fn outermost<'v>(
    values: &'v mut [(&str, &mut Value)],
    wanted: impl Fn(&Value) -> bool,
) -> Vec<(String, &'v mut Value)> {
    let mut found = Vec::new();
    for (place, value) in values {
        visit(value, &mut (*place).to_owned(), &wanted, &mut found);
    }
    found
}

fn visit<'v>(
    value: &'v mut Value,
    place: &mut String,
    wanted: &dyn Fn(&Value) -> bool,
    found: &mut Vec<(String, &'v mut Value)>,
) {
    if wanted(value) {
        found.push((place.clone(), value));
        return;
    }
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                within(place, |place| push_index(place, index), |place| visit(item, place, wanted, found));
            }
        }
        Value::Object(members) => visit_members(members, place, wanted, found),
        Value::Archive(archive) => {
            if let ArchiveSource::Assets(members) = &mut archive.source {
                visit_members(members, place, wanted, found);
            }
        }
        Value::Output(output) => {
            if let Some(inside) = &mut output.value {
                visit(inside, place, wanted, found);
            }
        }
        _ => {}
    }
}

fn visit_members<'v>(
    members: &'v mut std::collections::BTreeMap<String, Value>,
    place: &mut String,
    wanted: &dyn Fn(&Value) -> bool,
    found: &mut Vec<(String, &'v mut Value)>,
) {
    for (name, member) in members {
        within(place, |place| push_name(place, name), |place| visit(member, place, wanted, found));
    }
}

/// Runs `visit` with the place extended.
fn within(place: &mut String, extend: impl FnOnce(&mut String), visit: impl FnOnce(&mut String)) {
    let length = place.len();
    extend(place);
    visit(place);
    place.truncate(length);
}

/// Extends a place by a member: `.name`, or `["odd name"]`.
pub(crate) fn push_name(place: &mut String, name: &str) {
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(plain) {
        place.push('.');
        place.push_str(name);
    } else {
        let _ = write!(place, "[{name:?}]");
    }
}

/// Extends a place by an item: `[0]`.
pub(crate) fn push_index(place: &mut String, index: usize) {
    let _ = write!(place, "[{index}]");
}

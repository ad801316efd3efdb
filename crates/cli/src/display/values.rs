//! Values as people read them. Nothing inside a secret is ever written here (S17): who asked to see secrets hands over
//! values that hold none.

use super::text::printable;
use drystone_model::{Archive, ArchiveSource, Asset, AssetSource, SECRET_MASK, ShortName, Value};
use std::collections::BTreeMap;

/// What stands for a value that is not known before the update runs.
pub(super) const UNKNOWN: &str = "(not known yet)";

/// Whether secrets are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Secrets {
    /// As `[secret]`.
    #[default]
    Masked,
    /// In clear, for a user who asked for it.
    Shown,
}

impl Secrets {
    /// The properties as they are compared and shown: outputs lowered, and secrets opened where that was asked for.
    pub(super) fn ready(self, properties: &BTreeMap<String, Value>) -> Value {
        let mut value = Value::Object(properties.clone());
        value.lower_outputs();
        match self {
            Self::Masked => value,
            Self::Shown => value.revealed(),
        }
    }
}

/// A value in one line of at most about `limit` letters; an ellipsis stands for what was left out.
pub(super) fn inline(value: &Value, limit: usize) -> String {
    let mut writer = Inline { text: String::new(), room: limit };
    writer.value(value);
    writer.text
}

struct Inline {
    text: String,
    room: usize,
}

impl Inline {
    /// Writes as much as there is room for, and says whether that was all.
    fn write(&mut self, text: &str) -> bool {
        let end = text.char_indices().nth(self.room).map(|(at, _)| at);
        self.text.push_str(&text[..end.unwrap_or(text.len())]);
        if end.is_some() {
            self.text.push('…');
            return false;
        }
        self.room -= text.chars().count();
        true
    }

    fn value(&mut self, value: &Value) -> bool {
        match value {
            Value::Null => self.write("null"),
            Value::Bool(truth) => self.write(if *truth { "true" } else { "false" }),
            Value::Number(number) => self.write(&number.to_string()),
            Value::String(text) => self.string(text),
            Value::Bytes(bytes) => self.write(&format!("({} bytes)", bytes.len())),
            Value::Array(elements) => {
                self.write("[")
                    && elements
                        .iter()
                        .enumerate()
                        .all(|(index, element)| (index == 0 || self.write(", ")) && self.value(element))
                    && self.write("]")
            }
            Value::Object(members) => {
                self.write("{")
                    && members.iter().enumerate().all(|(index, (key, member))| {
                        (index == 0 || self.write(", "))
                            && self.write(&key_text(key))
                            && self.write(": ")
                            && self.value(member)
                    })
                    && self.write("}")
            }
            Value::Asset(asset) => self.write(&asset_text(asset)),
            Value::Archive(archive) => self.write(&archive_text(archive)),
            Value::Secret(_) => self.write(SECRET_MASK),
            Value::Output(output) if output.secret => self.write(SECRET_MASK),
            Value::Output(output) => match &output.value {
                Some(value) => self.value(value),
                None => self.write(UNKNOWN),
            },
            Value::Computed(_) => self.write(UNKNOWN),
            Value::ResourceReference(reference) => {
                self.write(&printable(&ShortName(&reference.urn).to_string()))
            }
        }
    }

    fn string(&mut self, text: &str) -> bool {
        // A text of megabytes is not escaped for a few letters of it.
        let end = text.char_indices().nth(self.room.saturating_add(1)).map_or(text.len(), |(at, _)| at);
        self.write(&quoted(&text[..end]))
    }
}

/// A text in quotes, its control characters as escapes.
pub(super) fn quoted(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 2);
    shown.push('"');
    for character in text.chars() {
        match character {
            '"' => shown.push_str("\\\""),
            '\\' => shown.push_str("\\\\"),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            _ => shown.push_str(&printable(character.encode_utf8(&mut [0; 4]))),
        }
    }
    shown.push('"');
    shown
}

/// A key as it is shown: bare where that can be read, else in quotes.
pub(super) fn key_text(key: &str) -> String {
    let bare = !key.is_empty()
        && key.chars().all(|character| character.is_alphanumeric() || matches!(character, '_' | '-' | '/'));
    if bare { key.to_owned() } else { quoted(key) }
}

fn asset_text(asset: &Asset) -> String {
    let hash = short_hash(&asset.hash);
    match &asset.source {
        AssetSource::Text(_) => format!("asset(text{hash})"),
        AssetSource::Path(path) => format!("asset(file {}{hash})", printable(path)),
        AssetSource::Uri(uri) => format!("asset({}{hash})", printable(uri)),
    }
}

fn archive_text(archive: &Archive) -> String {
    let hash = short_hash(&archive.hash);
    match &archive.source {
        ArchiveSource::Assets(assets) => format!("archive({} assets{hash})", assets.len()),
        ArchiveSource::Path(path) => format!("archive(file {}{hash})", printable(path)),
        ArchiveSource::Uri(uri) => format!("archive({}{hash})", printable(uri)),
    }
}

fn short_hash(hash: &str) -> String {
    let end = hash.char_indices().nth(7).map_or(hash.len(), |(at, _)| at);
    if end == 0 { String::new() } else { format!(" {}", printable(&hash[..end])) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_in_one_line() {
        let value = Value::object([
            ("list", Value::array([1_i64, 2])),
            ("odd key", Value::from("a\n\"b\"\u{1b}[2J")),
            ("password", Value::secret(Value::from("hunter2"))),
        ]);
        assert_eq!(
            inline(&value, 200),
            r#"{list: [1, 2], "odd key": "a\n\"b\"\u{1b}[2J", password: [secret]}"#
        );
        assert_eq!(inline(&value, 12), "{list: [1, 2…");
        assert_eq!(inline(&Value::from("a".repeat(1 << 20)), 5), "\"aaaa…");
    }

    #[test]
    fn s17_a_secret_is_shown_only_to_who_asked() {
        let properties = BTreeMap::from([("p".to_owned(), Value::secret(Value::from("hunter2")))]);
        assert_eq!(inline(&Secrets::Masked.ready(&properties), 80), "{p: [secret]}");
        assert_eq!(inline(&Secrets::Shown.ready(&properties), 80), "{p: \"hunter2\"}");
    }
}

//! The kinds of property values.

use super::Number;
use crate::Urn;
use std::{collections::BTreeMap, fmt};

/// A property value. Equality is deep and ignores nothing; [`Value::same_as`] compares what is meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A number, exact.
    Number(Number),
    /// Text.
    String(String),
    /// Bytes that are not valid UTF-8; [`Value::bytes`] makes text of those that are.
    Bytes(Vec<u8>),
    /// A list.
    Array(Vec<Value>),
    /// Named values, in the order of their names.
    Object(BTreeMap<String, Value>),
    /// A file, a text, or something at a URI.
    Asset(Asset),
    /// A folder, an archive file, or a set of assets.
    Archive(Archive),
    /// A value that must not be shown.
    Secret(Secret),
    /// A value with what is known of where it came from.
    Output(Box<Output>),
    /// A value that is not known before the update runs.
    Computed(Computed),
    /// Another resource.
    ResourceReference(ResourceReference),
}

/// A secret value. Only a sealed one can be written to the state (S17).
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    /// The value, readable.
    Open(Box<Value>),
    /// The ciphertext of the value's JSON text.
    Sealed(String),
}

impl fmt::Debug for Secret {
    /// Never shows the value (S17).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open(_) => "Open([secret])",
            Self::Sealed(_) => "Sealed([secret])",
        })
    }
}

/// A single file-like thing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asset {
    /// The SHA-256 of the content, hex.
    pub hash: String,
    /// Where the content is.
    pub source: AssetSource,
}

/// Where an asset's content is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssetSource {
    /// In the value itself.
    Text(String),
    /// In a file.
    Path(String),
    /// Behind a URI.
    Uri(String),
}

impl Default for AssetSource {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// A collection of assets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Archive {
    /// The SHA-256 of the content, hex.
    pub hash: String,
    /// Where the content is.
    pub source: ArchiveSource,
}

/// Where an archive's content is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArchiveSource {
    /// Assets and archives by name.
    Assets(BTreeMap<String, Value>),
    /// In a folder or an archive file.
    Path(String),
    /// Behind a URI.
    Uri(String),
}

impl Default for ArchiveSource {
    fn default() -> Self {
        Self::Assets(BTreeMap::new())
    }
}

/// A value with what is known of where it came from.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// The value, when it is known.
    pub value: Option<Value>,
    /// Whether it must not be shown.
    pub secret: bool,
    /// The resources that it came from.
    pub dependencies: Vec<Urn>,
}

impl fmt::Debug for Output {
    /// Never shows the value of a secret (S17).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Output");
        match &self.value {
            Some(_) if self.secret => shown.field("value", &format_args!("[secret]")),
            value => shown.field("value", value),
        };
        shown.field("secret", &self.secret).field("dependencies", &self.dependencies).finish()
    }
}

/// The kind of a value that is not known yet, which decides its sentinel on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Computed {
    /// A truth value.
    Bool,
    /// A number.
    Number,
    /// Text, and whatever kind is not known either.
    #[default]
    String,
    /// A list.
    Array,
    /// An asset.
    Asset,
    /// An archive.
    Archive,
    /// Named values.
    Object,
}

impl Computed {
    /// Every kind with the text that stands for it on the wire.
    const SENTINELS: [(Self, &'static str); 7] = [
        (Self::Bool, "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7"),
        (Self::Number, "3eeb2bf0-c639-47a8-9e75-3b44932eb421"),
        (Self::String, "04da6b54-80e4-46f7-96ec-b56ff0331ba9"),
        (Self::Array, "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2"),
        (Self::Asset, "030794c1-ac77-496b-92df-f27374a8bd58"),
        (Self::Archive, "e48ece36-62e2-4504-bad9-02848725956a"),
        (Self::Object, "dd056dcd-154b-4c76-9bd3-c8f88648b5ff"),
    ];

    /// The text that stands for an unknown value of this kind on the wire. The state only knows that of
    /// [`Computed::String`].
    #[must_use]
    pub fn sentinel(self) -> &'static str {
        Self::SENTINELS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, text)| text)
    }

    /// The kind that a text stands for, if it is a sentinel.
    #[must_use]
    pub fn from_sentinel(text: &str) -> Option<Self> {
        Self::SENTINELS.iter().find(|(_, sentinel)| *sentinel == text).map(|(kind, _)| *kind)
    }
}

/// A reference to another resource.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResourceReference {
    /// The resource.
    pub urn: Urn,
    /// Its id; `None` for a component, an empty text inside `Some` for an id that is not known yet.
    pub id: Option<String>,
    /// The version of its package.
    pub package_version: String,
}

//! Property values: every kind that the wire and the state know.

use crate::Urn;
use std::collections::BTreeMap;

/// A property value.
#[derive(Debug, Clone, PartialEq, Default)]
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
    /// Bytes that are not valid UTF-8.
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
#[derive(Clone, PartialEq)]
pub enum Secret {
    /// The value, readable.
    Open(Box<Value>),
    /// The ciphertext of the value's JSON text.
    Sealed(String),
}

impl std::fmt::Debug for Secret {
    /// Never shows the value (S17).
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Open(_) => "Open([secret])",
            Self::Sealed(_) => "Sealed([secret])",
        })
    }
}

/// A number that is written back as it was read (S10).
#[derive(Debug, Clone, PartialEq)]
pub enum Number {
    /// A whole number of up to 38 digits.
    Integer(i128),
    /// A floating-point number; NaN and the infinities too.
    Float(f64),
    /// A number whose text neither of the others gives back, such as `1.10` or `1e400`.
    Literal(String),
}

/// A single file-like thing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Asset {
    /// The SHA-256 of the content, hex.
    pub hash: String,
    /// Where the content is.
    pub source: AssetSource,
}

/// Where an asset's content is.
#[derive(Debug, Clone, PartialEq)]
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
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Archive {
    /// The SHA-256 of the content, hex.
    pub hash: String,
    /// Where the content is.
    pub source: ArchiveSource,
}

/// Where an archive's content is.
#[derive(Debug, Clone, PartialEq)]
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
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Output {
    /// The value, when it is known.
    pub value: Option<Value>,
    /// Whether it must not be shown.
    pub secret: bool,
    /// The resources that it came from.
    pub dependencies: Vec<Urn>,
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

/// A reference to another resource.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResourceReference {
    /// The resource.
    pub urn: Urn,
    /// Its id; `None` for a component, an empty text inside `Some` for an id that is not known yet.
    pub id: Option<String>,
    /// The version of its package.
    pub package_version: String,
}

//! Reading properties, with whatever their sender made of them.

use super::error::{Problem, WireError};
use super::raw::{RawValue, Struct};
use super::reader::{LEVELS, Malformed, Members, Node, read_value};
use super::{Nulls, Properties, Unknowns, signature};
use base64::{Engine, prelude::BASE64_STANDARD};
use drystone_model::{
    Archive, ArchiveSource, Asset, AssetSource, Computed, Output, ResourceReference, Urn, Value,
};

/// What becomes of values that say what they depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outputs {
    /// The value, a secret, or that it is not known.
    #[default]
    Lower,
    /// As they are.
    Keep,
    /// As they are, and secrets and unknown values become outputs too.
    Upgrade,
}

/// How properties are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decoding {
    /// Whether secrets stay secrets.
    pub secrets: bool,
    /// Whether references stay references; they become an id or URN otherwise.
    pub resources: bool,
    /// What becomes of outputs.
    pub outputs: Outputs,
    /// What becomes of values that are not known.
    pub unknowns: Unknowns,
    /// What becomes of nulls.
    pub nulls: Nulls,
}

impl Default for Decoding {
    /// Secrets, references and unknown values as they are, outputs lowered to what the state keeps of them.
    fn default() -> Self {
        Self {
            secrets: true,
            resources: true,
            outputs: Outputs::Lower,
            unknowns: Unknowns::Keep,
            nulls: Nulls::Keep,
        }
    }
}

impl Decoding {
    /// The properties in a struct.
    pub fn properties(&self, properties: &Struct) -> Result<Properties, WireError> {
        self.members(Members::new(&properties.bytes), 0)
    }

    /// A single value; `None` when it is not known and such values are left out.
    pub fn value(&self, value: &RawValue) -> Result<Option<Value>, WireError> {
        self.read(read_value(&value.bytes)?, 0)
    }

    fn members(&self, members: Members<'_>, level: usize) -> Result<Properties, WireError> {
        let mut read = Properties::new();
        for member in members {
            let (key, node) = member?;
            let value = self.read(node, level + 1).map_err(|error| error.inside(key))?;
            match value {
                Some(Value::Null) if self.nulls == Nulls::Drop => {}
                Some(value) => {
                    read.insert(key.to_owned(), value);
                }
                None => {}
            }
        }
        Ok(read)
    }

    fn read(&self, node: Node<'_>, level: usize) -> Result<Option<Value>, WireError> {
        if level > LEVELS {
            return Err(Malformed::TooDeep.into());
        }
        Ok(Some(match node {
            Node::Null => Value::Null,
            Node::Bool(value) => Value::Bool(value),
            Node::Number(number) => Value::from(number),
            Node::String(text) => match Computed::from_sentinel(text) {
                Some(kind) => return self.unknown(kind),
                None => Value::String(text.to_owned()),
            },
            Node::List(elements) => {
                let mut read = Vec::new();
                for (index, element) in elements.enumerate() {
                    let value = element.map_err(WireError::from).and_then(|node| self.read(node, level + 1));
                    // An element keeps its place, even when its value is left out.
                    read.push(value.map_err(|error| error.inside(index))?.unwrap_or(Value::Null));
                }
                Value::Array(read)
            }
            Node::Struct(members) => return self.object(self.members(members, level)?),
        }))
    }

    fn unknown(&self, kind: Computed) -> Result<Option<Value>, WireError> {
        match self.unknowns {
            Unknowns::Reject => Err(Problem::Unknown.into()),
            Unknowns::Drop => Ok(None),
            Unknowns::Keep if self.outputs == Outputs::Upgrade => Ok(Some(Value::Output(Box::default()))),
            Unknowns::Keep => Ok(Some(Value::Computed(kind))),
        }
    }

    fn object(&self, members: Properties) -> Result<Option<Value>, WireError> {
        let signature = match members.get(signature::KEY) {
            None => return Ok(Some(Value::Object(members))),
            Some(Value::String(signature)) => signature.as_str(),
            Some(other) => return Err(Problem::UnknownSignature(format!("of kind {}", other.kind())).into()),
        };
        let read = match signature {
            signature::SECRET => return self.secret(members),
            signature::OUTPUT => return self.output(members),
            signature::RESOURCE => return self.reference(&members),
            signature::BYTES => bytes(&members)?,
            signature::ASSET => asset(&members)?,
            signature::ARCHIVE => archive(members)?,
            unknown => return Err(Problem::UnknownSignature(unknown.to_owned()).into()),
        };
        Ok(Some(read))
    }

    fn secret(&self, mut members: Properties) -> Result<Option<Value>, WireError> {
        match members.remove("value") {
            Some(value) => Ok(Some(self.hidden(value))),
            // The value of the secret was not known and is left out, and so is the secret.
            None if self.unknowns == Unknowns::Drop => Ok(None),
            None => Err(malformed("secret", "value", "is missing")),
        }
    }

    fn hidden(&self, value: Value) -> Value {
        match (self.secrets, self.outputs) {
            (false, _) => value,
            (true, Outputs::Upgrade) => {
                Value::Output(Box::new(Output { value: Some(value), secret: true, dependencies: Vec::new() }))
            }
            (true, Outputs::Lower | Outputs::Keep) => Value::secret(value),
        }
    }

    fn output(&self, mut members: Properties) -> Result<Option<Value>, WireError> {
        let secret = match members.get("secret") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(secret)) => *secret,
            Some(_) => return Err(malformed("output value", "secret", "is not a bool")),
        };
        let dependencies = dependencies(members.get("dependencies"))?;
        let value = members.remove("value");
        if self.outputs != Outputs::Lower {
            return Ok(Some(Value::Output(Box::new(Output { value, secret, dependencies }))));
        }
        let value = match value {
            Some(value) => Some(value),
            None => self.unknown(Computed::String)?,
        };
        Ok(value.map(|value| if secret { self.hidden(value) } else { value }))
    }

    fn reference(&self, members: &Properties) -> Result<Option<Value>, WireError> {
        const WHAT: &str = "resource reference";
        let urn = match members.get("urn") {
            Some(Value::String(urn)) => Urn::new(urn.as_str()),
            Some(_) => return Err(malformed(WHAT, "urn", "is not a string")),
            None => return Err(malformed(WHAT, "urn", "is missing")),
        };
        for member in ["name", "type"] {
            optional(members, WHAT, member)?;
        }
        let package_version = optional(members, WHAT, "packageVersion")?.unwrap_or_default().to_owned();
        let id = match members.get("id") {
            None => None,
            Some(Value::String(id)) => Some(id.clone()),
            Some(Value::Computed(_)) => Some(String::new()),
            Some(Value::Output(output)) => match &output.value {
                None => Some(String::new()),
                Some(Value::String(id)) => Some(id.clone()),
                Some(_) => return Err(malformed(WHAT, "id", "is not a string")),
            },
            Some(_) => return Err(malformed(WHAT, "id", "is not a string")),
        };
        if self.resources {
            return Ok(Some(Value::ResourceReference(ResourceReference { urn, id, package_version })));
        }
        match id.as_deref() {
            Some("") if self.unknowns == Unknowns::Keep => self.unknown(Computed::String),
            Some(id) => Ok(Some(Value::from(id))),
            None => Ok(Some(Value::from(urn.as_str()))),
        }
    }
}

fn malformed(what: &'static str, member: &'static str, fault: &'static str) -> WireError {
    Problem::MalformedSignature { what, member, fault }.into()
}

/// The text of a member that may be missing.
fn optional<'a>(
    members: &'a Properties,
    what: &'static str,
    member: &'static str,
) -> Result<Option<&'a str>, WireError> {
    match members.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(malformed(what, member, "is not a string")),
    }
}

fn dependencies(value: Option<&Value>) -> Result<Vec<Urn>, WireError> {
    const WHAT: &str = "output value";
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(elements)) => elements
            .iter()
            .map(|element| match element {
                Value::String(urn) => Ok(Urn::new(urn.as_str())),
                _ => Err(malformed(WHAT, "dependencies", "has an element that is not a string")),
            })
            .collect(),
        Some(_) => Err(malformed(WHAT, "dependencies", "is not an array")),
    }
}

fn bytes(members: &Properties) -> Result<Value, WireError> {
    const WHAT: &str = "byte string";
    match members.get("value") {
        None => Err(malformed(WHAT, "value", "is missing")),
        Some(Value::String(text)) => BASE64_STANDARD
            .decode(text)
            .map(Value::bytes)
            .map_err(|_| malformed(WHAT, "value", "is not valid base64")),
        Some(_) => Err(malformed(WHAT, "value", "is not a string")),
    }
}

fn filled(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

fn asset(members: &Properties) -> Result<Value, WireError> {
    const WHAT: &str = "asset";
    let hash = optional(members, WHAT, "hash")?.unwrap_or_default().to_owned();
    let text = optional(members, WHAT, "text")?;
    let path = filled(optional(members, WHAT, "path")?).map(AssetSource::Path);
    let uri = filled(optional(members, WHAT, "uri")?).map(AssetSource::Uri);
    let source = path.or(uri).unwrap_or_else(|| AssetSource::Text(text.unwrap_or_default().to_owned()));
    Ok(Value::Asset(Asset { hash, source }))
}

fn archive(mut members: Properties) -> Result<Value, WireError> {
    const WHAT: &str = "archive";
    let hash = optional(&members, WHAT, "hash")?.unwrap_or_default().to_owned();
    let path = filled(optional(&members, WHAT, "path")?).map(ArchiveSource::Path);
    let uri = filled(optional(&members, WHAT, "uri")?).map(ArchiveSource::Uri);
    let source = match (path.or(uri), members.remove("assets")) {
        (Some(source), _) => source,
        (None, None | Some(Value::Null)) => ArchiveSource::default(),
        (None, Some(Value::Object(assets))) => {
            let stranger =
                assets.iter().find(|(_, asset)| !matches!(asset, Value::Asset(_) | Value::Archive(_)));
            if let Some((key, _)) = stranger {
                return Err(WireError::from(Problem::NotAnAsset).inside(key.as_str()).inside("assets"));
            }
            ArchiveSource::Assets(assets)
        }
        (None, Some(_)) => return Err(malformed(WHAT, "assets", "is not an object")),
    };
    Ok(Value::Archive(Archive { hash, source }))
}

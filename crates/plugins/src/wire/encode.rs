//! Writing properties for a receiver, in the forms that it understands.

use super::error::{Problem, WireError};
use super::raw::{RawValue, Struct};
use super::writer::Writer;
use super::{Nulls, Properties, Unknowns, signature};
use base64::{Engine, prelude::BASE64_STANDARD};
use drystone_model::{
    Archive, ArchiveSource, Asset, AssetSource, Computed, Output, ResourceReference, Secret, Value,
};

/// The forms that a receiver understands. For what it does not, it gets the nearest it does: a secret's bare value, a
/// resource's id or URN, an output's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accepts {
    /// Secrets.
    pub secrets: bool,
    /// References to resources.
    pub resources: bool,
    /// Values with their dependencies.
    pub outputs: bool,
    /// Bytes that are not UTF-8. There is nothing nearest to them, so they are refused without it.
    pub bytes: bool,
}

impl Accepts {
    /// Everything.
    pub const ALL: Self = Self { secrets: true, resources: true, outputs: true, bytes: true };
}

/// Whether assets and archives are sent with what they hold, or only as a hash that says which they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Contents {
    /// With text, path or URI.
    #[default]
    Keep,
    /// Only the hash.
    Elide,
}

/// How properties are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Encoding {
    /// What the receiver understands.
    pub accepts: Accepts,
    /// What becomes of values that are not known.
    pub unknowns: Unknowns,
    /// What becomes of nulls.
    pub nulls: Nulls,
    /// What becomes of assets.
    pub contents: Contents,
}

impl Encoding {
    /// Keeps unknowns and nulls, for a receiver that understands so much.
    #[must_use]
    pub fn to(accepts: Accepts) -> Self {
        Self { accepts, ..Self::default() }
    }

    /// The struct of the properties.
    pub fn properties(&self, properties: &Properties) -> Result<Struct, WireError> {
        let mut writer = Writer::default();
        self.members(&mut writer, properties)?;
        Ok(writer.into_struct())
    }

    /// A single value; `None` when it is not known and such values are left out.
    pub fn value(&self, value: &Value) -> Result<Option<RawValue>, WireError> {
        if self.drops(value) {
            return Ok(None);
        }
        let mut writer = Writer::default();
        self.write(&mut writer, value)?;
        Ok(Some(writer.into_value()))
    }

    fn members(&self, writer: &mut Writer, members: &Properties) -> Result<(), WireError> {
        for (key, value) in members.iter().rev() {
            if self.drops(value) || (self.nulls == Nulls::Drop && value.is_null()) {
                continue;
            }
            writer
                .member(key, |inner| self.write(inner, value))
                .map_err(|error: WireError| error.inside(key.as_str()))?;
        }
        Ok(())
    }

    /// Whether nothing is written for the value, because what would be written is not known.
    fn drops(&self, value: &Value) -> bool {
        self.unknowns == Unknowns::Drop
            && match value {
                Value::Computed(_) => true,
                Value::Secret(Secret::Open(inner)) => self.drops(inner),
                Value::Output(output) => {
                    !self.accepts.outputs && output.value.as_ref().is_none_or(|inner| self.drops(inner))
                }
                Value::ResourceReference(reference) => {
                    !self.accepts.resources && reference.id.as_deref() == Some("")
                }
                _ => false,
            }
    }

    fn write(&self, writer: &mut Writer, value: &Value) -> Result<(), WireError> {
        match value {
            Value::Null => writer.null(),
            Value::Bool(value) => writer.bool(*value),
            Value::Number(number) => writer.number(number.as_f64()),
            Value::String(text) => writer.string(text),
            Value::Bytes(bytes) => return self.bytes(writer, bytes),
            Value::Array(elements) => return self.list(writer, elements),
            Value::Object(members) => return writer.object(|object| self.members(object, members)),
            Value::Asset(asset) => return self.asset(writer, asset),
            Value::Archive(archive) => return self.archive(writer, archive),
            Value::Secret(secret) => return self.secret(writer, secret),
            Value::Output(output) => return self.output(writer, output),
            Value::Computed(kind) => return self.unknown(writer, *kind),
            Value::ResourceReference(reference) => return self.reference(writer, reference),
        }
        Ok(())
    }

    fn list(&self, writer: &mut Writer, elements: &[Value]) -> Result<(), WireError> {
        writer.list(|list| {
            for (index, element) in elements.iter().enumerate().rev() {
                if !self.drops(element) {
                    list.element(|inner| self.write(inner, element))
                        .map_err(|error: WireError| error.inside(index))?;
                }
            }
            Ok(())
        })
    }

    fn unknown(&self, writer: &mut Writer, kind: Computed) -> Result<(), WireError> {
        if self.unknowns == Unknowns::Reject {
            return Err(Problem::Unknown.into());
        }
        writer.string(kind.sentinel());
        Ok(())
    }

    fn bytes(&self, writer: &mut Writer, bytes: &[u8]) -> Result<(), WireError> {
        if !self.accepts.bytes {
            return Err(Problem::Bytes.into());
        }
        signed(writer, signature::BYTES, |object| {
            text_member(object, "value", &BASE64_STANDARD.encode(bytes))
        })
    }

    fn secret(&self, writer: &mut Writer, secret: &Secret) -> Result<(), WireError> {
        match secret {
            Secret::Sealed(_) => Err(Problem::Sealed.into()),
            Secret::Open(value) if self.accepts.secrets => signed(writer, signature::SECRET, |object| {
                object.member("value", |inner| self.write(inner, value))
            }),
            Secret::Open(value) => self.write(writer, value),
        }
    }

    fn output(&self, writer: &mut Writer, output: &Output) -> Result<(), WireError> {
        if !self.accepts.outputs {
            let write = |writer: &mut Writer| match &output.value {
                Some(value) => self.write(writer, value),
                None => self.unknown(writer, Computed::String),
            };
            return if output.secret && self.accepts.secrets {
                signed(writer, signature::SECRET, |object| object.member("value", write))
            } else {
                write(writer)
            };
        }
        signed(writer, signature::OUTPUT, |object| {
            if let Some(value) = &output.value {
                object.member("value", |inner| self.write(inner, value))?;
            }
            if output.secret {
                object.member("secret", |inner| {
                    inner.bool(true);
                    Ok::<_, WireError>(())
                })?;
            }
            if output.dependencies.is_empty() {
                return Ok(());
            }
            object.member("dependencies", |inner| {
                inner.list(|list| {
                    output.dependencies.iter().rev().try_for_each(|urn| {
                        list.element(|element| {
                            element.string(urn.as_str());
                            Ok(())
                        })
                    })
                })
            })
        })
    }

    fn reference(&self, writer: &mut Writer, reference: &ResourceReference) -> Result<(), WireError> {
        if !self.accepts.resources {
            return match reference.id.as_deref() {
                Some("") => self.unknown(writer, Computed::String),
                id => {
                    writer.string(id.unwrap_or(reference.urn.as_str()));
                    Ok(())
                }
            };
        }
        signed(writer, signature::RESOURCE, |object| {
            text_member(object, "urn", reference.urn.as_str())?;
            if reference.urn.validate().is_ok() {
                text_member(object, "type", reference.urn.type_token())?;
                text_member(object, "name", reference.urn.name())?;
            }
            if !reference.package_version.is_empty() {
                text_member(object, "packageVersion", &reference.package_version)?;
            }
            reference.id.iter().try_for_each(|id| text_member(object, "id", id))
        })
    }

    fn asset(&self, writer: &mut Writer, asset: &Asset) -> Result<(), WireError> {
        signed(writer, signature::ASSET, |object| {
            if self.contents == Contents::Keep {
                let (key, content) = match &asset.source {
                    AssetSource::Text(text) => ("text", text),
                    AssetSource::Path(path) => ("path", path),
                    AssetSource::Uri(uri) => ("uri", uri),
                };
                optional_text(object, key, content)?;
            }
            optional_text(object, "hash", &asset.hash)
        })
    }

    fn archive(&self, writer: &mut Writer, archive: &Archive) -> Result<(), WireError> {
        signed(writer, signature::ARCHIVE, |object| {
            match (&archive.source, self.contents) {
                (_, Contents::Elide) => {}
                (ArchiveSource::Path(path), Contents::Keep) => optional_text(object, "path", path)?,
                (ArchiveSource::Uri(uri), Contents::Keep) => optional_text(object, "uri", uri)?,
                (ArchiveSource::Assets(assets), Contents::Keep) => {
                    object.member("assets", |inner| inner.object(|object| self.archived(object, assets)))?;
                }
            }
            optional_text(object, "hash", &archive.hash)
        })
    }

    fn archived(&self, writer: &mut Writer, assets: &Properties) -> Result<(), WireError> {
        let stranger = assets.iter().find(|(_, asset)| !matches!(asset, Value::Asset(_) | Value::Archive(_)));
        if let Some((key, _)) = stranger {
            return Err(WireError::from(Problem::NotAnAsset).inside(key.as_str()));
        }
        self.members(writer, assets)
    }
}

/// A struct with a signature; `write` writes its other members from the last to the first.
fn signed(
    writer: &mut Writer,
    signature: &str,
    write: impl FnOnce(&mut Writer) -> Result<(), WireError>,
) -> Result<(), WireError> {
    writer.object(|object| {
        write(object)?;
        text_member(object, signature::KEY, signature)
    })
}

fn text_member(writer: &mut Writer, key: &str, text: &str) -> Result<(), WireError> {
    writer.member(key, |inner| {
        inner.string(text);
        Ok(())
    })
}

fn optional_text(writer: &mut Writer, key: &str, text: &str) -> Result<(), WireError> {
    if text.is_empty() { Ok(()) } else { text_member(writer, key, text) }
}

//! Checkpoints and exports.

use super::{
    error::{Form, ReadError, WriteError},
    features::features,
    properties::{SecretForm, holds_open_secret},
    read,
    text::{Compact, Escapes, Indented},
};
use drystone_model::{Extra, Feature, Features, Json, Snapshot};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::ser::Formatter;
use std::{borrow::Cow, io};

/// What Go writes for a moment that was never set; the Pulumi CLI refuses an empty one.
pub(super) const NO_TIME: &str = "0001-01-01T00:00:00Z";

/// The file of a stack.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Checkpoint {
    /// The stack's full name, such as `organization/shop/dev`.
    pub stack: String,
    /// Configuration that very old tools kept here.
    pub config: Option<Json>,
    /// The state; none before the first one is written.
    pub snapshot: Option<Snapshot>,
    /// Whether sealed secrets may hold byte strings: the document said so, and that cannot be seen from outside. Set it
    /// when sealing a value that [needs them](drystone_model::Value::needs_byte_string).
    pub byte_strings: bool,
    /// Members of the checkpoint that this version does not know.
    pub extra: Extra,
    /// Members beside the checkpoint that this version does not know.
    pub envelope_extra: Extra,
}

impl Checkpoint {
    /// The checkpoint of a stack.
    #[must_use]
    pub fn new(stack: impl Into<String>, snapshot: Option<Snapshot>) -> Self {
        Self { stack: stack.into(), snapshot, ..Self::default() }
    }

    /// Reads a checkpoint of any version.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        match Document::read(bytes)? {
            Document::Checkpoint(checkpoint) => Ok(checkpoint),
            Document::Export(_) => {
                Err(ReadError::WrongForm { expected: Form::Checkpoint, found: Form::Export })
            }
        }
    }

    /// The features that the written document names.
    #[must_use]
    pub fn features(&self) -> Features {
        features_of(self.snapshot.as_ref(), self.byte_strings)
    }

    /// Writes it as an update does: compact, no line feed at the end. Stored properties are written as they stand. A
    /// document is written in many small pieces, so give it a buffered writer.
    pub fn write(&self, out: impl io::Write) -> Result<(), WriteError> {
        self.write_with(out, Escapes::Plain)
    }

    /// Writes it with a choice of escapes; see [`Escapes`] for which commands of the CLI use which.
    pub fn write_with(&self, out: impl io::Write, escapes: Escapes) -> Result<(), WriteError> {
        refuse_open_secrets(self.snapshot.as_ref())?;
        serialize(out, Compact(escapes), &CheckpointForm { features: self.features(), checkpoint: self })
    }

    /// The bytes of [`Checkpoint::write`].
    pub fn to_vec(&self) -> Result<Vec<u8>, WriteError> {
        let mut bytes = Vec::new();
        self.write(&mut bytes).map(|()| bytes)
    }
}

/// What an export prints and an import reads.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Export {
    /// The state; none before the first one is written.
    pub snapshot: Option<Snapshot>,
    /// Whether sealed secrets may hold byte strings; see [`Checkpoint::byte_strings`].
    pub byte_strings: bool,
    /// Members that this version does not know.
    pub extra: Extra,
}

impl Export {
    /// Reads an export of any version.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        match Document::read(bytes)? {
            Document::Export(export) => Ok(export),
            Document::Checkpoint(_) => {
                Err(ReadError::WrongForm { expected: Form::Export, found: Form::Checkpoint })
            }
        }
    }

    /// The features that the written document names.
    #[must_use]
    pub fn features(&self) -> Features {
        features_of(self.snapshot.as_ref(), self.byte_strings)
    }

    /// Writes it as `pulumi stack export` prints it: indented by four spaces, a line feed at the end. With
    /// [`SecretForm::Plaintext`] secrets may stand in the properties in clear.
    pub fn write(&self, mut out: impl io::Write, form: SecretForm) -> Result<(), WriteError> {
        if form == SecretForm::Sealed {
            refuse_open_secrets(self.snapshot.as_ref())?;
        }
        serialize(&mut out, Indented::new(), &ExportForm { features: self.features(), export: self })?;
        out.write_all(b"\n")?;
        Ok(())
    }

    /// Writes it without white space, as it travels over the network.
    pub fn write_compact(&self, out: impl io::Write, form: SecretForm) -> Result<(), WriteError> {
        if form == SecretForm::Sealed {
            refuse_open_secrets(self.snapshot.as_ref())?;
        }
        serialize(out, Compact(Escapes::Plain), &ExportForm { features: self.features(), export: self })
    }

    /// The checkpoint of a stack with this state.
    #[must_use]
    pub fn into_checkpoint(self, stack: impl Into<String>) -> Checkpoint {
        Checkpoint {
            stack: stack.into(),
            snapshot: self.snapshot,
            byte_strings: self.byte_strings,
            envelope_extra: self.extra,
            ..Checkpoint::default()
        }
    }
}

/// The state of a checkpoint, to be shown.
impl From<Checkpoint> for Export {
    fn from(checkpoint: Checkpoint) -> Self {
        Self {
            snapshot: checkpoint.snapshot,
            byte_strings: checkpoint.byte_strings,
            extra: checkpoint.envelope_extra,
        }
    }
}

/// A state document of either form.
#[derive(Debug, Clone, PartialEq)]
pub enum Document {
    /// The file of a stack.
    Checkpoint(Checkpoint),
    /// What an export prints.
    Export(Export),
}

impl Document {
    /// Reads a document of either form and any version. Older versions are brought up to the current one; features that
    /// are not known are refused by name, and everything else that is not known is kept (S9).
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        read::document(bytes)
    }

    /// The state.
    #[must_use]
    pub fn snapshot(&self) -> Option<&Snapshot> {
        match self {
            Self::Checkpoint(checkpoint) => checkpoint.snapshot.as_ref(),
            Self::Export(export) => export.snapshot.as_ref(),
        }
    }
}

fn features_of(snapshot: Option<&Snapshot>, byte_strings: bool) -> Features {
    let mut used = snapshot.map(features).unwrap_or_default();
    if byte_strings {
        used.insert(Feature::ByteString);
    }
    used
}

fn refuse_open_secrets(snapshot: Option<&Snapshot>) -> Result<(), WriteError> {
    let Some(snapshot) = snapshot else { return Ok(()) };
    let operations = snapshot.pending_operations.iter().map(|operation| &operation.resource);
    for resource in snapshot.resources.iter().chain(operations) {
        let stored = [resource.inputs.json(), resource.outputs.json(), resource.replacement_trigger.as_ref()];
        if stored.into_iter().flatten().any(holds_open_secret) {
            return Err(WriteError::OpenSecret { urn: resource.urn.clone() });
        }
    }
    Ok(())
}

pub(super) fn serialize(
    out: impl io::Write,
    formatter: impl Formatter,
    form: &impl Serialize,
) -> Result<(), WriteError> {
    let mut serializer = serde_json::Serializer::with_formatter(out, formatter);
    form.serialize(&mut serializer).map_err(|error| WriteError::Io(error.into()))
}

/// The members that both forms begin with.
fn serialize_version<M: SerializeMap>(map: &mut M, features: Features) -> Result<(), M::Error> {
    map.serialize_entry("version", &features.schema_version())?;
    if !features.is_empty() {
        map.serialize_entry("features", &features)?;
    }
    Ok(())
}

struct CheckpointForm<'a> {
    features: Features,
    checkpoint: &'a Checkpoint,
}

impl Serialize for CheckpointForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        serialize_version(&mut map, self.features)?;
        map.serialize_entry("checkpoint", &Inner(self.checkpoint))?;
        self.checkpoint.envelope_extra.serialize_into(&mut map)?;
        map.end()
    }
}

struct Inner<'a>(&'a Checkpoint);

impl Serialize for Inner<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(checkpoint) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("stack", &checkpoint.stack)?;
        if let Some(config) = &checkpoint.config {
            map.serialize_entry("config", config)?;
        }
        if let Some(snapshot) = &checkpoint.snapshot {
            map.serialize_entry("latest", &*dated(snapshot))?;
        }
        checkpoint.extra.serialize_into(&mut map)?;
        map.end()
    }
}

struct ExportForm<'a> {
    features: Features,
    export: &'a Export,
}

impl Serialize for ExportForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        serialize_version(&mut map, self.features)?;
        map.serialize_entry("deployment", &self.export.snapshot.as_ref().map(dated))?;
        self.export.extra.serialize_into(&mut map)?;
        map.end()
    }
}

/// The snapshot with a moment in its manifest, which the Pulumi CLI needs to read it back.
fn dated(snapshot: &Snapshot) -> Cow<'_, Snapshot> {
    if !snapshot.manifest.time.is_empty() {
        return Cow::Borrowed(snapshot);
    }
    let mut snapshot = snapshot.clone();
    NO_TIME.clone_into(&mut snapshot.manifest.time);
    Cow::Owned(snapshot)
}

//! What a commit must know of the document that it replaces, had without reading the state in it again.
//!
//! The outline is kept with the revision of each document. As long as the file on disk is the one that the revision was
//! made of, nothing is read; a document of another tool is read once.

use drystone_dialects::pulumi::{self, Checkpoint, ReadError};
use drystone_model::{Extra, Json, record};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::IgnoredAny};

record! {
    /// What stands in a document around its state (S9), and what is known of the state.
    pub struct Outline {
        /// How many resources there are.
        optional "resources" => resources: i64,
        /// Whether a state has ever been written.
        optional "written" => written: bool,
        /// When the state was written, as it says itself.
        optional "time" => time: String,
        /// Whether texts that are not UTF-8 stand in it.
        optional "byteStrings" => byte_strings: bool,
        /// Configuration that very old tools kept in the checkpoint.
        optional "config" => config: Option<Json>,
        /// Members of the checkpoint that this version does not know.
        optional "members" => members: Vec<(String, Json)>,
        /// Members beside the checkpoint that this version does not know.
        optional "envelopeMembers" => envelope_members: Vec<(String, Json)>,
    }
}

impl Outline {
    /// Reads the outline of a document in two quick passes. A document that a newer tool wrote is refused by name;
    /// of one that is damaged nothing is known.
    pub(crate) fn of(text: &[u8]) -> Result<Self, ReadError> {
        let peeked = match pulumi::peek(text) {
            Ok(peeked) => peeked,
            Err(error) if is_unsupported(&error) => return Err(error),
            Err(_) => return Ok(Self::default()),
        };
        let envelope: Envelope = serde_json::from_slice(text).unwrap_or_default();
        let (body, envelope_extra) = match envelope.checkpoint {
            Some(body) => (body, envelope.extra),
            // Before documents had versions, the body was the whole file.
            None => (serde_json::from_slice(text).unwrap_or_default(), Extra::default()),
        };
        let mut members = body.extra.0;
        members.retain(|(name, _)| !matches!(name.as_str(), "version" | "features"));
        Ok(Self {
            written: peeked.state.is_some(),
            time: peeked.state.as_ref().map(|state| state.time.clone()).unwrap_or_default(),
            resources: peeked.state.map_or(0, |state| i64::try_from(state.resources).unwrap_or(i64::MAX)),
            byte_strings: peeked.version >= 4
                && peeked.features.iter().any(|name| name == drystone_model::Feature::ByteString.name()),
            config: body.config,
            members,
            envelope_members: envelope_extra.0,
            ..Self::default()
        })
    }

    /// The outline of a document that follows this one, with the same members around the state.
    pub(crate) fn followed_by(&self, checkpoint: &Checkpoint) -> Self {
        let resources = checkpoint.snapshot.as_ref().map_or(0, |snapshot| snapshot.resources.len());
        let time = checkpoint.snapshot.as_ref().map(|snapshot| snapshot.manifest.time.clone());
        Self {
            time: time.unwrap_or_default(),
            resources: i64::try_from(resources).unwrap_or(i64::MAX),
            written: checkpoint.snapshot.is_some(),
            byte_strings: checkpoint.byte_strings,
            ..self.clone()
        }
    }

    /// Puts the members that stand around the state into a checkpoint.
    pub(crate) fn surround(&self, checkpoint: &mut Checkpoint) {
        checkpoint.config.clone_from(&self.config);
        checkpoint.extra = Extra(self.members.clone());
        checkpoint.envelope_extra = Extra(self.envelope_members.clone());
    }
}

/// Whether a newer tool could read what this one cannot.
pub(crate) fn is_unsupported(error: &ReadError) -> bool {
    matches!(error, ReadError::TooNew { .. } | ReadError::UnsupportedFeatures { .. })
}

record! {
    /// What stands around the state.
    pub struct Envelope {
        /// The version.
        optional "version" => version: Passed,
        /// The features.
        optional "features" => features: Passed,
        /// The checkpoint.
        optional "checkpoint" => checkpoint: Option<Body>,
    }
}

record! {
    /// A checkpoint without its state.
    pub struct Body {
        /// The stack's name.
        optional "stack" => stack: Passed,
        /// Configuration.
        optional "config" => config: Option<Json>,
        /// The state.
        optional "latest" => latest: Passed,
    }
}

/// A value that is passed over.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Passed;

impl drystone_model::Wire for Passed {
    fn is_absent(&self) -> bool {
        true
    }
}

impl Serialize for Passed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for Passed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

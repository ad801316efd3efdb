//! Reading documents: finding out which form and version they have, and bringing old ones up to date.

use super::{
    document::{Checkpoint, Document, Export, NO_TIME},
    error::ReadError,
    scan::member_names,
    v1, v2,
};
use drystone_model::{Extra, Feature, Json, Snapshot, record, text};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use std::{borrow::Cow, collections::BTreeMap, fmt};

/// The oldest version that a document can name.
pub(super) const OLDEST: i64 = 1;
/// The newest version that is read.
pub(super) const NEWEST: i64 = 4;
/// How many members of a foreign document are named.
const MEMBERS_SHOWN: usize = 5;

record! {
    /// What stands in a checkpoint. Before documents had versions, this was the whole file.
    pub struct CheckpointBody {
        /// The stack's full name.
        always "stack" => stack: String,
        /// Configuration that very old tools kept here.
        optional "config" => config: Option<Json>,
        /// The state.
        optional "latest" => latest: Option<Snapshot>,
    }
}

/// Reads a document of either form and any version.
pub(super) fn document(bytes: &[u8]) -> Result<Document, ReadError> {
    let original = checked_text(bytes)?;
    if text::is_compact(bytes) {
        return parse(original).map_err(|failure| failure.explained(original));
    }
    // Dropping white space is safe in valid JSON only: `1 2` is not `12`.
    serde_json::from_str::<IgnoredAny>(original).map_err(|error| ReadError::from_json(original, &error))?;
    let compact =
        String::from_utf8(text::compact(bytes)).map_err(|e| ReadError::from_utf8(bytes, e.utf8_error()))?;
    // A failure is looked for again in the original, so that the error names a place in it.
    parse(&compact).or_else(|_| parse(original)).map_err(|failure| failure.explained(original))
}

/// The bytes as text that is not blank.
pub(super) fn checked_text(bytes: &[u8]) -> Result<&str, ReadError> {
    let text = std::str::from_utf8(bytes).map_err(|error| ReadError::from_utf8(bytes, error))?;
    if text.trim_ascii().is_empty() { Err(ReadError::Empty) } else { Ok(text) }
}

/// Why a text is not a document.
enum Failure {
    /// It does not have the shape; [`explain`] finds out why.
    Shape(serde_json::Error),
    /// It has the shape, but must not be read.
    Refused(ReadError),
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Shape(error)
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::Refused(error)
    }
}

impl Failure {
    fn explained(self, text: &str) -> ReadError {
        match self {
            Self::Shape(error) => explain(text, &error),
            Self::Refused(error) => error,
        }
    }
}

fn parse(text: &str) -> Result<Document, Failure> {
    let envelope: Envelope = serde_json::from_str(text)?;
    let Envelope { version, features, extra, .. } = envelope;
    let (body, deployment) = match (envelope.checkpoint, envelope.deployment) {
        (Some(body), _) => (Some(body.unwrap_or_default()), None),
        (None, Some(deployment)) => (None, deployment),
        (None, None) if version == 0 => return unversioned(text, &extra).map(Document::Checkpoint),
        (None, None) => return Err(foreign(text).into()),
    };
    // The CLI's `stack init` writes version 0 first, with nothing but the stack's name in it.
    check_version(version, if body.is_some() { 0 } else { OLDEST })?;
    check_features(version, &features)?;
    let byte_strings = version >= 4 && features.iter().any(|name| name == Feature::ByteString.name());
    Ok(match body {
        Some(body) => Document::Checkpoint(Checkpoint { byte_strings, ..checkpoint(body, version, extra) }),
        None => {
            let snapshot = deployment.map(|snapshot| current(snapshot, version));
            Document::Export(Export { snapshot, byte_strings, extra })
        }
    })
}

/// A checkpoint from before documents had versions: its body is the whole file.
fn unversioned(text: &str, members: &Extra) -> Result<Checkpoint, Failure> {
    if !members.0.iter().any(|(name, _)| matches!(name.as_str(), "latest" | "stack")) {
        return Err(foreign(text).into());
    }
    let mut body: CheckpointBody = serde_json::from_str(text)?;
    body.extra.0.retain(|(name, _)| !matches!(name.as_str(), "version" | "features"));
    Ok(checkpoint(body, 0, Extra::default()))
}

fn checkpoint(body: CheckpointBody, version: i64, envelope_extra: Extra) -> Checkpoint {
    Checkpoint {
        stack: body.stack,
        config: body.config,
        snapshot: body.latest.map(|snapshot| current(snapshot, version)),
        byte_strings: false,
        extra: body.extra,
        envelope_extra,
    }
}

/// The snapshot of a document of some version, as a current document has it.
fn current(mut snapshot: Snapshot, version: i64) -> Snapshot {
    if snapshot.manifest.time.is_empty() {
        NO_TIME.clone_into(&mut snapshot.manifest.time);
    }
    match version {
        ..=1 => v2::upgrade(v1::upgrade(snapshot)),
        2 => v2::upgrade(snapshot),
        _ => snapshot,
    }
}

pub(super) fn check_version(version: i64, oldest: i64) -> Result<(), ReadError> {
    if version > NEWEST {
        return Err(ReadError::TooNew { version, newest: NEWEST });
    }
    if version < oldest {
        return Err(ReadError::TooOld { version, oldest: OLDEST });
    }
    Ok(())
}

/// Features count from version 4 on; what older documents say of them is ignored, as by the CLI.
pub(super) fn check_features(version: i64, names: &[String]) -> Result<(), ReadError> {
    let unknown = |name: &&String| Feature::from_name(name).is_none();
    let features: Vec<_> = names.iter().filter(unknown).cloned().collect();
    if version >= 4 && !features.is_empty() {
        Err(ReadError::UnsupportedFeatures { features })
    } else {
        Ok(())
    }
}

/// Why a text is not a document. What its version and features say comes before what does not fit: a newer version may
/// have another shape.
pub(super) fn explain(text: &str, error: &serde_json::Error) -> ReadError {
    if !error.is_data() {
        return ReadError::from_json(text, error);
    }
    let members: BTreeMap<Cow<'_, str>, Json> = match serde_json::from_str(text) {
        Ok(members) => members,
        Err(error) if error.is_data() => return ReadError::NotPulumi { members: Vec::new() },
        Err(error) => return ReadError::from_json(text, &error),
    };
    if !["checkpoint", "deployment", "latest", "stack"].iter().any(|name| members.contains_key(*name)) {
        return not_pulumi(members.into_keys());
    }
    let version = members.get("version").and_then(|version| version.decode::<i64>().ok()).unwrap_or_default();
    let features: Option<Vec<String>> = members.get("features").and_then(|names| names.decode().ok());
    let refused =
        check_version(version, 0).and_then(|()| check_features(version, &features.unwrap_or_default()));
    refused.err().unwrap_or_else(|| ReadError::from_json(text, error))
}

/// The error for JSON of another kind.
pub(super) fn foreign(text: &str) -> ReadError {
    not_pulumi(member_names(text).into_iter())
}

fn not_pulumi<'a>(members: impl Iterator<Item = Cow<'a, str>>) -> ReadError {
    ReadError::NotPulumi { members: members.take(MEMBERS_SHOWN).map(Cow::into_owned).collect() }
}

/// What stands around the state. `Some(None)` is a member that is there and null.
#[derive(Default)]
struct Envelope {
    version: i64,
    features: Vec<String>,
    checkpoint: Option<Option<CheckpointBody>>,
    deployment: Option<Option<Snapshot>>,
    extra: Extra,
}

impl<'de> Deserialize<'de> for Envelope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Envelope;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope, A::Error> {
                let mut envelope = Envelope::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "version" => envelope.version = map.next_value::<Option<_>>()?.unwrap_or_default(),
                        "features" => envelope.features = map.next_value::<Option<_>>()?.unwrap_or_default(),
                        "checkpoint" => envelope.checkpoint = Some(map.next_value()?),
                        "deployment" => envelope.deployment = Some(map.next_value()?),
                        _ => envelope.extra.0.push((key, map.next_value()?)),
                    }
                }
                Ok(envelope)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

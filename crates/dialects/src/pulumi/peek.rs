//! What a listing wants to know of a document.

use super::{
    error::{Form, ReadError},
    read,
};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use std::fmt;

/// What a listing wants to know of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peek {
    /// The form of the document.
    pub form: Form,
    /// Its version; 0 for the files from before versions.
    pub version: i64,
    /// The features that it names.
    pub features: Vec<String>,
    /// The stack's full name; empty in an export.
    pub stack: String,
    /// What is in the state; none before the first one is written.
    pub state: Option<PeekState>,
}

/// What a listing wants to know of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeekState {
    /// When it was written, RFC 3339; empty when it does not say.
    pub time: String,
    /// How many resources there are.
    pub resources: usize,
    /// How many operations had begun and not ended.
    pub pending_operations: usize,
}

/// Reads what a listing wants to know, in one pass and without keeping the rest.
pub fn peek(bytes: &[u8]) -> Result<Peek, ReadError> {
    let text = read::checked_text(bytes)?;
    let head: Head = serde_json::from_str(text).map_err(|error| read::explain(text, &error))?;
    let version = head.version.unwrap_or_default();
    let (form, body) = match (head.checkpoint, head.deployment) {
        (Some(body), _) => (Form::Checkpoint, body.unwrap_or_default()),
        (None, Some(latest)) => (Form::Export, Body { stack: None, latest }),
        (None, None) if version == 0 && (head.stack.is_some() || head.latest.is_some()) => {
            (Form::Checkpoint, Body { stack: head.stack, latest: head.latest })
        }
        (None, None) => return Err(read::foreign(text)),
    };
    read::check_version(version, if form == Form::Checkpoint { 0 } else { read::OLDEST })?;
    let features = head.features.unwrap_or_default();
    read::check_features(version, &features)?;
    let state = body.latest.map(|latest| PeekState {
        time: latest.manifest.and_then(|manifest| manifest.time).unwrap_or_default(),
        resources: latest.resources.map_or(0, |Count(count)| count),
        pending_operations: latest.pending_operations.map_or(0, |Count(count)| count),
    });
    Ok(Peek { form, version, features, stack: body.stack.unwrap_or_default(), state })
}

#[derive(Deserialize)]
struct Head {
    version: Option<i64>,
    features: Option<Vec<String>>,
    #[serde(default, deserialize_with = "present")]
    checkpoint: Option<Option<Body>>,
    #[serde(default, deserialize_with = "present")]
    deployment: Option<Option<Latest>>,
    stack: Option<String>,
    latest: Option<Latest>,
}

#[derive(Deserialize, Default)]
struct Body {
    stack: Option<String>,
    latest: Option<Latest>,
}

#[derive(Deserialize)]
struct Latest {
    manifest: Option<Written>,
    resources: Option<Count>,
    pending_operations: Option<Count>,
}

#[derive(Deserialize)]
struct Written {
    time: Option<String>,
}

/// A member that is there, though it may be null.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// The length of a list.
struct Count(usize);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements;
        impl<'de> Visitor<'de> for Elements {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Count, A::Error> {
                let mut count = 0;
                while elements.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(Count(count))
            }
        }
        deserializer.deserialize_seq(Elements)
    }
}

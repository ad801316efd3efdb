//! Why a document cannot be read, and where in it.

use crate::pulumi;
use drystone_model::PropertyPath;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::fmt;

/// The kinds of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A stack's state.
    State,
    /// A stack's lock.
    Lock,
    /// The exports of a region.
    ExportIndex,
    /// The runs of a stack.
    RunIndex,
    /// The events of a run.
    Events,
    /// What a failed deployment can be undone by.
    RollbackJournal,
    /// Where assets go.
    AssetStorage,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::State => "a cdkd state",
            Self::Lock => "a cdkd lock",
            Self::ExportIndex => "a cdkd exports index",
            Self::RunIndex => "a cdkd deployments index",
            Self::Events => "cdkd deployment events",
            Self::RollbackJournal => "a cdkd rollback journal",
            Self::AssetStorage => "a cdkd asset storage marker",
        })
    }
}

/// Why bytes cannot be read as a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It ends in the middle.
    #[error("it is cut off after {length} bytes{}", within(path))]
    Truncated {
        /// How many bytes there are.
        length: usize,
        /// What the cut goes through.
        path: PropertyPath,
    },
    /// Something in it is not as it must be.
    #[error("line {line}, column {column}{}: {reason}", within(path))]
    Malformed {
        /// The line, counted from 1.
        line: usize,
        /// The byte in the line, counted from 1.
        column: usize,
        /// The member that is being read there.
        path: PropertyPath,
        /// What is wrong.
        reason: String,
    },
    /// It is JSON, but not a document of this kind.
    #[error("it is not {kind}: {reason}")]
    Foreign {
        /// What was looked for.
        kind: Kind,
        /// Why it is none.
        reason: String,
    },
    /// It was written by a newer tool (S9).
    #[error("its schema version {version} is newer than the newest one known, {newest}")]
    TooNew {
        /// Its version.
        version: i64,
        /// The newest version known.
        newest: i64,
    },
    /// Its version is none.
    #[error("its schema version {version} is none of 1 to {newest}")]
    NoVersion {
        /// What stands there.
        version: String,
        /// The newest version known.
        newest: i64,
    },
}

fn within(path: &PropertyPath) -> String {
    if path.is_empty() { String::new() } else { format!(", in `{path}`") }
}

impl ReadError {
    pub(super) fn foreign(kind: Kind, reason: impl Into<String>) -> Self {
        Self::Foreign { kind, reason: reason.into() }
    }

    fn placed(error: pulumi::ReadError, kind: Kind) -> Self {
        use pulumi::ReadError as Placed;
        match error {
            Placed::Empty => Self::Empty,
            Placed::Truncated { length, path } => Self::Truncated { length, path },
            Placed::Malformed { line, column, path, reason } => {
                Self::Malformed { line, column, path, reason }
            }
            other => Self::foreign(kind, other.to_string()),
        }
    }
}

/// The bytes as text that is not blank.
pub(super) fn text(bytes: &[u8], kind: Kind) -> Result<&str, ReadError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| ReadError::placed(pulumi::ReadError::from_utf8(bytes, error), kind))?;
    if text.trim_ascii().is_empty() { Err(ReadError::Empty) } else { Ok(text) }
}

/// A text that is a document of a kind.
pub(super) fn parse<'de, T: Deserialize<'de>>(text: &'de str, kind: Kind) -> Result<T, ReadError> {
    serde_json::from_str(text).map_err(|error| {
        if error.is_data() && !is_object(text) {
            return ReadError::foreign(kind, "it is not an object");
        }
        ReadError::placed(pulumi::ReadError::from_json(text, &error), kind)
    })
}

/// Whether a text is valid JSON and an object.
pub(super) fn is_object(text: &str) -> bool {
    serde_json::from_str::<BTreeMap<String, IgnoredAny>>(text).is_ok()
}

/// The version that a document names in a member; `None` when it names none. What a newer version says of its shape comes
/// before what does not fit, so this is asked before the document is read.
pub(super) fn version(text: &str, member: &str, newest: i64, kind: Kind) -> Result<Option<i64>, ReadError> {
    let members: BTreeMap<String, drystone_model::Json> = parse(text, kind)?;
    let Some(version) = members.get(member) else { return Ok(None) };
    match version.decode::<i64>() {
        Ok(version) if version > newest => Err(ReadError::TooNew { version, newest }),
        Ok(version) if version >= 1 => Ok(Some(version)),
        _ => Err(ReadError::NoVersion { version: version.text().to_owned(), newest }),
    }
}

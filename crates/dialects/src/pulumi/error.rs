//! Why a document cannot be read or written, and where in it.

use drystone_model::{PropertyPath, Segment, Urn};
use serde_json::error::Category;
use std::{fmt, io};

/// The two forms of a state document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The file of a stack: `{"version":…,"checkpoint":{…}}`.
    Checkpoint,
    /// What an export prints: `{"version":…,"deployment":{…}}`.
    Export,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Checkpoint => "a checkpoint",
            Self::Export => "an export",
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
    #[error("it is not a Pulumi document{}", listed(members))]
    NotPulumi {
        /// The first few members that it has instead.
        members: Vec<String>,
    },
    /// It is the other form of a state document.
    #[error("it is {found}, not {expected}")]
    WrongForm {
        /// The form that was asked for.
        expected: Form,
        /// The form that it has.
        found: Form,
    },
    /// It was written by a newer tool.
    #[error("its version {version} is newer than the newest one known, {newest}")]
    TooNew {
        /// Its version.
        version: i64,
        /// The newest version known.
        newest: i64,
    },
    /// Its version is older than any that can be read.
    #[error("its version {version} is older than the oldest one known, {oldest}")]
    TooOld {
        /// Its version.
        version: i64,
        /// The oldest version known.
        oldest: i64,
    },
    /// It needs features that this version does not know (S9).
    #[error("it uses features that this version does not know: {}", features.join(", "))]
    UnsupportedFeatures {
        /// Their names.
        features: Vec<String>,
    },
}

/// Why a document cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A secret would be written in clear (S17).
    #[error("{urn} holds a secret that is not sealed")]
    OpenSecret {
        /// The resource that holds it.
        urn: Urn,
    },
    /// The writer failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn within(path: &PropertyPath) -> String {
    if path.is_empty() { String::new() } else { format!(", in `{path}`") }
}

fn listed(members: &[String]) -> String {
    if members.is_empty() { String::new() } else { format!(": it has the members {}", members.join(", ")) }
}

impl ReadError {
    /// What is wrong with `text`, of which `error` is the first complaint.
    pub(crate) fn from_json(text: &str, error: &serde_json::Error) -> Self {
        let offset = offset_of(text, error.line(), error.column());
        if error.classify() == Category::Eof {
            return Self::Truncated { length: text.len(), path: path_at(text, text.len()) };
        }
        let message = error.to_string();
        let reason =
            message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason).to_owned();
        Self::Malformed { line: error.line(), column: error.column(), path: path_at(text, offset), reason }
    }

    /// What is wrong with bytes that are not UTF-8.
    pub(crate) fn from_utf8(bytes: &[u8], error: std::str::Utf8Error) -> Self {
        let (valid, _) = bytes.split_at(error.valid_up_to());
        let text = std::str::from_utf8(valid).unwrap_or_default();
        let path = path_at(text, text.len());
        if error.error_len().is_none() {
            return Self::Truncated { length: bytes.len(), path };
        }
        let line_start = text.rfind('\n').map_or(0, |newline| newline + 1);
        Self::Malformed {
            line: text.matches('\n').count() + 1,
            column: text.len() - line_start + 1,
            path,
            reason: "not valid UTF-8".to_owned(),
        }
    }
}

/// The offset of the character that serde_json complains about.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let line_start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (line_start + column.saturating_sub(1)).min(text.len())
}

/// A path longer than this tells nobody anything.
const LONGEST_PATH: usize = 12;

/// The member that is being read at an offset of a JSON text, valid or not.
fn path_at(text: &str, offset: usize) -> PropertyPath {
    let bytes = text.as_bytes().get(..offset).unwrap_or_default();
    let mut path: Vec<Segment> = Vec::new();
    let mut at_key = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let start = at;
                while bytes.get(at).is_some_and(|&byte| byte != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                let end = at.min(bytes.len());
                at += 1;
                if at_key && let Some(Segment::Key(key)) = path.last_mut() {
                    *key = String::from_utf8_lossy(&bytes[start..end]).into_owned();
                }
            }
            b'{' => {
                path.push(Segment::Key(String::new()));
                at_key = true;
            }
            b'[' => {
                path.push(Segment::Index(0));
                at_key = false;
            }
            b'}' | b']' => {
                path.pop();
                at_key = false;
            }
            b':' => at_key = false,
            b',' => match path.last_mut() {
                Some(Segment::Index(index)) => *index += 1,
                Some(Segment::Key(key)) => {
                    key.clear();
                    at_key = true;
                }
                None => {}
            },
            _ => {}
        }
    }
    if matches!(path.last(), Some(Segment::Key(key)) if key.is_empty()) {
        path.pop();
    }
    path.truncate(LONGEST_PATH);
    PropertyPath(path)
}

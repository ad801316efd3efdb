//! What can be wrong with a document, in unobin's words: users and scripts of it know them.

use super::json::quote::text as quoted;
use super::{ENVELOPE_VERSION, FORMAT_VERSION};

/// Why a snapshot or an envelope is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is no JSON, or a value does not fit its field.
    #[error("{document}: {reason}")]
    Malformed {
        /// `snapshot` or `envelope`.
        document: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A snapshot of a version that is not known (S9).
    #[error("snapshot: unsupported format-version {found} (this build expects {FORMAT_VERSION})")]
    UnsupportedFormat {
        /// The version.
        found: i64,
    },
    /// A snapshot that says another version than the one that is written.
    #[error("snapshot: format-version is {found}, expected {FORMAT_VERSION}")]
    FormatVersion {
        /// The version.
        found: i64,
    },
    /// An envelope of a version that is not known, or not by this reader.
    #[error("envelope: unsupported envelope-version {found} (this build expects {ENVELOPE_VERSION})")]
    UnsupportedEnvelope {
        /// The version.
        found: i64,
    },
    /// An entry that is `null`.
    #[error("snapshot: entries[{index}] is nil")]
    NilEntry {
        /// Its position.
        index: usize,
    },
    /// An entry without an address.
    #[error("snapshot: entries[{index}] missing address")]
    MissingAddress {
        /// Its position.
        index: usize,
    },
    /// Two entries of one address.
    #[error("snapshot: duplicate address {}", quoted(address))]
    DuplicateAddress {
        /// The address.
        address: String,
    },
    /// An entry that does not say what it is, or not all of what it is.
    #[error("snapshot: {entry} {} {missing}", quoted(address))]
    Incomplete {
        /// `entry`, with its type before it where unobin says it.
        entry: &'static str,
        /// Its address.
        address: String,
        /// As in `missing kind`.
        missing: &'static str,
    },
    /// An entry of a type that is not known.
    #[error("snapshot: entry {} has unknown {member} {}", quoted(address), quoted(found))]
    UnknownType {
        /// Its address.
        address: String,
        /// `type` or `entry-kind`.
        member: &'static str,
        /// What it says.
        found: String,
    },
    /// An entry whose category does not go with its type.
    #[error("snapshot: entry {} has category {}", quoted(address), quoted(found))]
    Category {
        /// Its address.
        address: String,
        /// What it says.
        found: String,
    },
    /// A moment that cannot be written.
    #[error(
        "snapshot: json: error calling MarshalJSON for type time.Time: Time.MarshalJSON: timezone hour outside of range [0,23]"
    )]
    ZoneHour,
}

impl Error {
    pub(super) fn snapshot(reason: String) -> Self {
        Self::Malformed { document: "snapshot", reason }
    }

    pub(super) fn envelope(reason: String) -> Self {
        Self::Malformed { document: "envelope", reason }
    }
}

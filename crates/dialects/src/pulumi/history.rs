//! What stands beside a checkpoint: the records of past updates, and the stack's tags.

use super::{
    document::serialize,
    error::{ReadError, WriteError},
    read,
    text::{Compact, Escapes},
};
use drystone_model::{Json, record, text};
use serde::Deserialize;
use std::collections::BTreeMap;

record! {
    /// A past update, as its history file tells it.
    pub struct UpdateRecord {
        /// What was done: `update`, `refresh`, `destroy`, `resource-import`, `rename`, …
        always "kind" => kind: String,
        /// When it began, in seconds since 1970.
        always "startTime" => start_time: i64,
        /// What the user said about it.
        always "message" => message: String,
        /// Where it ran and from what.
        always "environment" => environment: Option<BTreeMap<String, String>>,
        /// The stack's configuration at that time, secrets sealed.
        always "config" => config: Option<Json>,
        /// Its number; files do not count, so 0.
        always "version" => version: i64,
        /// How it ended: `succeeded`, `failed` or `in-progress`.
        always "result" => result: String,
        /// When it ended, in seconds since 1970.
        always "endTime" => end_time: i64,
        /// How many resources each kind of step touched.
        optional "resourceChanges" => resource_changes: BTreeMap<String, i64>,
    }
}

impl UpdateRecord {
    /// Reads a history file.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let record: Self = read_record(bytes)?;
        if record.kind.is_empty() {
            return Err(ReadError::NotPulumi { members: names(&record.extra.0) });
        }
        Ok(record)
    }

    /// Writes a history file: compact, no line feed at the end.
    pub fn to_vec(&self) -> Result<Vec<u8>, WriteError> {
        let mut bytes = Vec::new();
        serialize(&mut bytes, Compact(Escapes::Plain), self).map(|()| bytes)
    }
}

record! {
    /// The tags of a stack, as its tags file tells them.
    pub struct StackTags {
        /// The version of the file.
        always "version" => version: i64,
        /// The tags.
        always "tags" => tags: BTreeMap<String, String>,
    }
}

impl StackTags {
    /// The version of the tags file that is read and written.
    pub const VERSION: i64 = 1;

    /// A file with these tags.
    #[must_use]
    pub fn new(tags: BTreeMap<String, String>) -> Self {
        Self { version: Self::VERSION, tags, ..Self::default() }
    }

    /// Reads a tags file.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let file: Self = read_record(bytes)?;
        match file.version {
            Self::VERSION => Ok(file),
            version if version > Self::VERSION => Err(ReadError::TooNew { version, newest: Self::VERSION }),
            version => Err(ReadError::TooOld { version, oldest: Self::VERSION }),
        }
    }

    /// Writes a tags file: compact, no line feed at the end.
    pub fn to_vec(&self) -> Result<Vec<u8>, WriteError> {
        let mut bytes = Vec::new();
        serialize(&mut bytes, Compact(Escapes::Plain), self).map(|()| bytes)
    }
}

pub(super) fn read_record<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T, ReadError> {
    let original = read::checked_text(bytes)?;
    let record = serde_json::from_str(original).map_err(|error| ReadError::from_json(original, &error))?;
    if text::is_compact(bytes) {
        return Ok(record);
    }
    let compact = text::compact(bytes);
    serde_json::from_slice(&compact).map_err(|error| ReadError::from_json(original, &error))
}

fn names(members: &[(String, Json)]) -> Vec<String> {
    members.iter().map(|(name, _)| name.clone()).collect()
}

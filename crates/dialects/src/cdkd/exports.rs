//! The exports of a region: what stacks give each other, gathered from their states.
//!
//! The index only saves looking: whatever it says can be found in the states, and is, where something depends on it.

use super::error::{self, Kind, ReadError};
use super::keys::{Region, StackKey};
use super::members::Members;
use super::object::{Slot, object};
use super::{StackState, text};
use drystone_model::Json;

/// The newest version of an index.
const NEWEST: i64 = 1;

object! {
    /// What `exports.json` says.
    pub struct ExportIndex {
        /// Its version.
        always "indexVersion" => index_version: i64,
        /// The region.
        always "region" => region: String,
        /// The exports by their names.
        always "exports" => exports: Members<Export>,
        /// When it was written, in milliseconds since 1970.
        always "lastModified" => last_modified: i64,
    }
}

object! {
    /// A value that a stack gives to others.
    pub struct Export {
        /// The value.
        optional "value" => value: Option<Json>,
        /// The stack.
        always "producerStack" => producer_stack: String,
        /// That stack's region.
        always "producerRegion" => producer_region: String,
    }
}

impl ExportIndex {
    /// An index with nothing in it.
    #[must_use]
    pub fn new(region: &Region) -> Self {
        Self { index_version: NEWEST, region: region.as_str().to_owned(), ..Self::default() }
    }

    /// Reads an index. One that a newer tool wrote is refused (S9).
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let text = error::text(bytes, Kind::ExportIndex)?;
        if error::version(text, "indexVersion", NEWEST, Kind::ExportIndex)?.is_none() {
            return Err(ReadError::foreign(Kind::ExportIndex, "it has no `indexVersion`"));
        }
        error::parse(text, Kind::ExportIndex)
    }

    /// The index that the states of a region make. Where two stacks have outputs of one name, the later one's counts.
    pub fn gather<'a>(
        region: &Region,
        states: impl IntoIterator<Item = (&'a StackKey, &'a StackState)>,
    ) -> Self {
        let mut index = Self::new(region);
        for (key, state) in states {
            index.insert(key, state);
        }
        index
    }

    /// Puts the outputs of a stack in the place of those that it had; says whether that changes anything. All outputs
    /// are told of, not only those that the template exports: a state does not say which those are.
    pub fn update(&mut self, key: &StackKey, state: &StackState) -> bool {
        let before = self.exports.clone();
        self.drop_stack(key);
        self.insert(key, state);
        self.exports != before
    }

    /// Takes out what a stack gave; says whether there was anything.
    pub fn remove(&mut self, key: &StackKey) -> bool {
        let before = self.exports.len();
        self.drop_stack(key);
        self.exports.len() != before
    }

    fn insert(&mut self, key: &StackKey, state: &StackState) {
        for (name, value) in state.outputs.iter() {
            let mut export = Export {
                value: Some(value.clone()).filter(|value| value.text() != "null"),
                producer_stack: key.stack.as_str().to_owned(),
                producer_region: key.region.as_str().to_owned(),
                ..Export::default()
            };
            if export.value.is_none() {
                export.form.note("value", Slot::Null);
            }
            self.exports.insert(name, export);
        }
    }

    fn drop_stack(&mut self, key: &StackKey) {
        let StackKey { stack, region } = key;
        self.exports.retain(|_, export| {
            export.producer_stack != stack.as_str() || export.producer_region != region.as_str()
        });
    }

    /// The bytes of the file.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        text::pretty(self)
    }
}

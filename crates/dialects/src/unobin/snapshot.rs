//! The record of a stack.

use super::entry::Entry;
use super::error::Error;
use super::json::Value;
use super::json::bind::{Binder, Shape};
use super::json::syntax::{self, Node};
use super::json::write::Writer;
use super::time::Time;
use std::collections::{BTreeMap, HashSet};

/// The version of snapshots that is read and written.
pub const FORMAT_VERSION: i64 = 1;

const SNAPSHOT: Shape = Shape {
    go_type: "state.Snapshot",
    told_as: "Snapshot",
    fields: &["format-version", "factory", "stack", "generated-at", "entries", "outputs"],
};

const FACTORY: Shape = Shape {
    go_type: "state.FactoryInfo",
    told_as: "FactoryInfo",
    fields: &["name", "version", "content-revision"],
};

/// The record of a stack at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// The version of its form.
    pub format_version: i64,
    /// The program that wrote it.
    pub factory: Factory,
    /// The stack.
    pub stack: String,
    /// When it was made.
    pub generated_at: Time,
    /// Its records, in the order of the program. `None`, which is written as `null`, is what a new snapshot has. A
    /// record that is `None` was `null` in the file and does not pass [`Snapshot::validate`].
    pub entries: Option<Vec<Option<Entry>>>,
    /// What the stack gave.
    pub outputs: BTreeMap<String, Value>,
    /// Members that are not known here (S9).
    pub unknown: Vec<(String, Value)>,
}

/// The program that wrote a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Factory {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The hash of its sources.
    pub content_revision: String,
    /// Members that are not known here (S9).
    pub unknown: Vec<(String, Value)>,
}

impl Snapshot {
    /// A snapshot with nothing in it.
    #[must_use]
    pub fn new(factory: Factory, stack: &str, generated_at: Time) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            factory,
            stack: stack.to_owned(),
            generated_at,
            ..Self::default()
        }
    }

    /// The entry at an address.
    #[must_use]
    pub fn find(&self, address: &str) -> Option<&Entry> {
        self.entries.iter().flatten().flatten().find(|entry| entry.address == address)
    }

    /// The snapshot as unobin itself would have read it: without what it does not know. For comparing, not for keeping.
    #[must_use]
    pub fn without_unknown(mut self) -> Self {
        self.unknown.clear();
        self.factory.unknown.clear();
        for entry in self.entries.iter_mut().flatten().flatten() {
            entry.forget_unknown();
        }
        self
    }

    /// Reads a snapshot, and checks it.
    pub fn decode(text: &[u8]) -> Result<Self, Error> {
        let mut snapshot = Self::default();
        snapshot.bind(text).map_err(Error::snapshot)?;
        if snapshot.format_version != FORMAT_VERSION {
            return Err(Error::UnsupportedFormat { found: snapshot.format_version });
        }
        snapshot.validate()?;
        Ok(snapshot)
    }

    /// Checks it and writes it: indented, members sorted where they are the user's, with a line break at the end. Equal
    /// snapshots give equal bytes.
    pub fn encode(&self) -> Result<Vec<u8>, Error> {
        self.validate()?;
        let generated_at = self.generated_at.written().ok_or(Error::ZoneHour)?;
        Ok(Writer::document(|members| {
            members.integer("format-version", self.format_version);
            members.member("factory", |writer| {
                writer.object(|members| {
                    members.string("name", &self.factory.name);
                    members.string("version", &self.factory.version);
                    members.string("content-revision", &self.factory.content_revision);
                    members.unknown(&self.factory.unknown);
                });
            });
            members.string("stack", &self.stack);
            members.string("generated-at", &generated_at);
            members.member("entries", |writer| match &self.entries {
                None => writer.raw("null"),
                Some(entries) => writer.array(entries.iter().flatten(), |writer, entry| {
                    writer.object(|members| entry.write(members));
                }),
            });
            members.some_map("outputs", &self.outputs);
            members.unknown(&self.unknown);
        }))
    }

    /// Whether each entry says what it is and none comes twice.
    pub fn validate(&self) -> Result<(), Error> {
        if self.format_version != FORMAT_VERSION {
            return Err(Error::FormatVersion { found: self.format_version });
        }
        let mut seen = HashSet::new();
        for (index, entry) in self.entries.iter().flatten().enumerate() {
            let entry = entry.as_ref().ok_or(Error::NilEntry { index })?;
            if entry.address.is_empty() {
                return Err(Error::MissingAddress { index });
            }
            if !seen.insert(&entry.address) {
                return Err(Error::DuplicateAddress { address: entry.address.clone() });
            }
            entry.validate()?;
        }
        Ok(())
    }

    fn bind(&mut self, text: &[u8]) -> Result<(), String> {
        let node = syntax::parse(text)?;
        let mut binder = Binder::default();
        let mut unknown = Vec::new();
        binder.fields(&node, &SNAPSHOT, &mut unknown, |binder, field, node| self.set(binder, field, node))?;
        self.unknown = unknown;
        binder.finish()
    }

    fn set(&mut self, binder: &mut Binder, field: &str, node: &Node<'_>) -> Result<(), String> {
        match field {
            "format-version" => binder.integer(node, &mut self.format_version),
            "factory" => return self.factory.bind(binder, node),
            "stack" => binder.string(node, &mut self.stack),
            "generated-at" => return self.generated_at.bind(node),
            "entries" => {
                return binder.structs(node, "[]*state.Entry", &mut self.entries, Entry::bind);
            }
            _ => binder.map(node, &mut self.outputs),
        }
        Ok(())
    }
}

impl Factory {
    fn bind(&mut self, binder: &mut Binder, node: &Node<'_>) -> Result<(), String> {
        let mut unknown = std::mem::take(&mut self.unknown);
        let bound = binder.fields(node, &FACTORY, &mut unknown, |binder, field, node| {
            match field {
                "name" => binder.string(node, &mut self.name),
                "version" => binder.string(node, &mut self.version),
                _ => binder.string(node, &mut self.content_revision),
            }
            Ok(())
        });
        self.unknown = unknown;
        bound
    }
}

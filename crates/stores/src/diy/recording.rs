//! The journal of a running update as its holder knows it: what was taken, and what it makes of the base.

use super::frames;
use crate::{Error, Recorded, Result, StackId};
use drystone_journal::{Entry, Replayer};
use drystone_model::Snapshot;

/// Why something is not durable. The first failure ends the journal: what follows fails the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The lease is another's now.
    Fenced { by: String },
    /// The medium said no.
    Write { reason: String },
}

impl Failure {
    /// The failure, for the caller.
    pub(crate) fn into_error(self, stack: &StackId) -> Error {
        match self {
            Self::Fenced { by } => Error::Fenced { stack: stack.clone(), by },
            Self::Write { reason } => Error::Poisoned { reason },
        }
    }
}

/// Entries with their frames.
pub(crate) struct Framed {
    entries: Vec<Entry>,
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl Framed {
    /// Frames entries.
    pub(crate) fn new(entries: Vec<Entry>) -> Result<Self> {
        let mut bytes = Vec::new();
        let mut starts = Vec::with_capacity(entries.len());
        for entry in &entries {
            starts.push(bytes.len());
            let written = frames::write_entry(entry, &mut bytes);
            written.map_err(|error| Error::Poisoned { reason: error.to_string() })?;
        }
        Ok(Self { entries, bytes, starts })
    }
}

/// The journal of an update that runs.
pub(crate) struct Recording {
    replayer: Replayer,
    byte_strings: bool,
    entries: usize,
    /// How many entries were refused when they came; the journal does not hold them.
    refused: usize,
}

impl Recording {
    /// A journal over the snapshot that the update begins with.
    pub(crate) fn new(base: Recorded) -> Self {
        let replayer = Replayer::new(base.snapshot);
        Self {
            replayer: if base.byte_strings { replayer.with_byte_strings() } else { replayer },
            byte_strings: base.byte_strings,
            entries: 0,
            refused: 0,
        }
    }

    /// Checks entries against what was journaled before; gives what is to be written. A refused one ends it: those
    /// before it are written, it and those after it are not.
    pub(crate) fn take(&mut self, framed: Framed) -> (Vec<u8>, Result<()>) {
        let Framed { entries, mut bytes, starts } = framed;
        for (entry, start) in entries.into_iter().zip(starts) {
            let byte_strings = entry.requires_byte_string;
            if let Err(refused) = self.replayer.add(entry) {
                bytes.truncate(start);
                self.refused += 1;
                return (bytes, Err(refused.into()));
            }
            self.byte_strings |= byte_strings;
            self.entries += 1;
        }
        (bytes, Ok(()))
    }

    /// How many entries it holds.
    pub(crate) fn entries(&self) -> usize {
        self.entries
    }

    /// Whether texts that are not UTF-8 stand in what it makes.
    pub(crate) fn byte_strings(&self) -> bool {
        self.byte_strings
    }

    /// What the base and the entries make, and whether entries that were written had to be left out of it.
    pub(crate) fn snapshot(&self) -> (Snapshot, bool) {
        let replayed = self.replayer.snapshot();
        (replayed.snapshot, replayed.refused.len() > self.refused)
    }
}

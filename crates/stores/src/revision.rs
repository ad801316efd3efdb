//! Revisions: immutable snapshots, and the commits that make them.

use drystone_model::{Json, Snapshot, record};
use std::collections::BTreeMap;

record! {
    /// What is known of a revision without opening it.
    pub struct RevisionInfo {
        /// Its number; later revisions have higher ones.
        always "number" => number: i64,
        /// The revision that was current before it.
        optional "parent" => parent: Option<i64>,
        /// When it was made, RFC 3339.
        always "time" => time: String,
        /// The command that made it, or how it came to be.
        always "title" => title: String,
        /// Who made it, `user@host`.
        optional "by" => by: String,
        /// What the user said of it.
        optional "message" => message: String,
        /// The BLAKE3 hash of its document, hex.
        always "hash" => hash: String,
        /// How many resources it holds.
        always "resources" => resources: i64,
        /// How many rules it breaks (S7).
        optional "violations" => violations: i64,
        /// The revision whose content it brought back.
        optional "restores" => restores: Option<i64>,
        /// The number that it had in the store that it was copied from.
        optional "copyOf" => copy_of: Option<i64>,
    }
}

/// What a commit changes. Everything that it does not name stays.
#[derive(Debug, Clone, Default)]
pub struct Commit {
    /// The command, for the revision's title.
    pub title: String,
    /// What the user says of it.
    pub message: String,
    /// The new snapshot. Without one, what the journal says becomes the snapshot, if it says anything.
    pub snapshot: Option<Snapshot>,
    /// The revision whose content this brings back.
    pub restores: Option<u64>,
    /// The revision of another store that this one copies: it keeps its time and its author.
    pub copies: Option<Box<RevisionInfo>>,
    /// New tags.
    pub tags: Option<BTreeMap<String, String>>,
    /// The update's record for the history, as Pulumi writes it.
    pub update: Option<Json>,
    /// Whether texts that are not UTF-8 stand in the snapshot, maybe inside secrets.
    pub byte_strings: bool,
    /// Orphans that this commit deals with, merged or dropped, by the names of their journals (S20). They are reported
    /// no longer.
    pub settles: Vec<String>,
}

impl RevisionInfo {
    /// The description of a copy: made when and by whom the original was.
    pub(crate) fn copying(self, original: Option<&Self>) -> Self {
        match original {
            Some(original) => Self {
                time: original.time.clone(),
                by: original.by.clone(),
                copy_of: Some(original.number),
                ..self
            },
            None => self,
        }
    }
}

/// What a commit made.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Committed {
    /// The new revision; `None` when the snapshot did not change.
    pub revision: Option<u64>,
    /// The revision that was current before.
    pub previous: Option<u64>,
    /// The rules that the new snapshot breaks (S7).
    pub violations: Vec<drystone_model::Violation>,
}

/// Which revisions pruning leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// How many of the newest.
    pub newest: usize,
}

//! What a journal makes of the snapshot that it began with.

use super::document;
use super::frames::ReadJournal;
use crate::Recorded;
use drystone_journal::Replayer;
use drystone_model::{Feature, Snapshot};
use jiff::Timestamp;

/// The ending of a journal whose base another tool has changed (S20).
pub(crate) const ORPHAN: &str = ".orphan";
/// The ending of a journal of which not everything could be used.
pub(crate) const DAMAGED: &str = ".damaged";
/// Added to the name of a kept journal that somebody has dealt with. It stays for people to look at.
pub(crate) const SETTLED: &str = ".settled";

/// Whether a journal was kept for somebody to look at.
pub(crate) fn is_kept(name: &str) -> bool {
    name.ends_with(ORPHAN) || name.ends_with(DAMAGED)
}

/// What a journal makes of its base.
pub(crate) struct Replay {
    pub(crate) snapshot: Snapshot,
    pub(crate) byte_strings: bool,
    /// Whether something of the journal could not be used; it is kept then.
    pub(crate) damaged: bool,
    /// Whether the snapshot that it began with could be read.
    pub(crate) has_base: bool,
}

impl Replay {
    /// Replays a journal over the snapshot that it began with. Entries that the damage cut off from what they refer to
    /// are passed over; everything else counts.
    pub(crate) fn of(base: Option<Recorded>, journal: ReadJournal, now: Timestamp, version: &str) -> Self {
        let has_base = base.is_some();
        let mut replayer = match base {
            Some(base) if base.byte_strings => Replayer::new(base.snapshot).with_byte_strings(),
            Some(base) => Replayer::new(base.snapshot),
            // What it began with is not known; what it did is.
            None => Replayer::new(Snapshot::default()),
        };
        for entry in journal.entries {
            // A refusal is kept by the replayer; everything that makes sense counts.
            let _ = replayer.add(entry);
        }
        let replayed = replayer.finish();
        Self {
            snapshot: document::stamped(replayed.snapshot, now, version),
            byte_strings: replayed.features.contains(Feature::ByteString),
            damaged: journal.damaged || !replayed.refused.is_empty(),
            has_base,
        }
    }
}

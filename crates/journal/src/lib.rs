//! The journal of an update: its entries, and the snapshot that they make of the base.
//!
//! An update writes an entry before and after each operation (S1). The snapshot is what [`replay`] makes of the base
//! and the entries: one pure function, used by the engine's own view, by every store and by the service. [`Replayer`]
//! does the same bit by bit, at a cost that follows the entry and not the stack (S3).
//!
//! Entries count from sequence 1. The order of arrival does not matter, duplicates do no harm, and a bad entry is
//! refused by its sequence while everything accepted stays (S5).

mod draft;
mod entry;
mod fingerprint;
mod line;
mod prune;
mod refused;
mod replayer;

pub use entry::{Entry, Kept, Kind, UnreadableEntry};
pub use line::replay_line;
pub use prune::prune_references;
pub use refused::{Reason, Refused};
pub use replayer::{Replayed, Replayer, replay};

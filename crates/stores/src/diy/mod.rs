//! What is the same on every medium that keeps stacks in Pulumi's DIY layout: where things stand, what documents,
//! journals and lock files look like, and what a journal makes of its base. Bytes come in and go out; nothing here
//! reads or writes.

pub(crate) mod cadence;
pub(crate) mod document;
pub(crate) mod frames;
pub(crate) mod gathering;
pub(crate) mod layout;
pub(crate) mod locks;
pub(crate) mod outline;
pub(crate) mod recording;
pub(crate) mod replay;
pub(crate) mod trash;

use crate::RevisionInfo;
use crate::seal::Sealing;
use layout::Compression;
use std::time::Duration;

/// How a store in Pulumi's DIY layout behaves; the defaults are the stock CLI's.
#[derive(Debug, Clone)]
pub struct DiyOptions {
    /// How checkpoints are compressed.
    pub compression: Compression,
    /// Whether every checkpoint is kept under a name with its time.
    pub retain_checkpoints: bool,
    /// Whether a backup is made after each update.
    pub backups: bool,
    /// Whether an empty store gets the layout without projects.
    pub legacy_layout: bool,
    /// After how long a running update writes its first checkpoint for tools that know nothing of the journal; `None` for
    /// never. The pauses between the next ones grow.
    pub checkpoint_interval: Option<Duration>,
    /// What everything is sealed with at rest, where it is (S19).
    pub sealing: Option<Sealing>,
    /// The version of the tool, for manifests.
    pub tool_version: String,
}

impl Default for DiyOptions {
    fn default() -> Self {
        Self {
            compression: Compression::None,
            retain_checkpoints: false,
            backups: true,
            legacy_layout: false,
            checkpoint_interval: Some(Duration::from_secs(10)),
            sealing: None,
            tool_version: concat!("drystone-", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// The number of a revision.
pub(crate) fn number_of(info: &RevisionInfo) -> u64 {
    u64::try_from(info.number).unwrap_or(0)
}

/// The number of a revision, as documents have it.
pub(crate) fn revision_number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

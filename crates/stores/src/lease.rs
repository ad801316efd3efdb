//! Leases: who may write, and what was found when the right changed hands.

use drystone_model::record;
use jiff::Timestamp;

/// What a writer says of itself when it asks for a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The command, as in `up` or `state delete`.
    pub purpose: String,
}

impl Claim {
    /// A claim for a command.
    #[must_use]
    pub fn new(purpose: impl Into<String>) -> Self {
        Self { purpose: purpose.into() }
    }
}

record! {
    /// A lease as others see it: (stack, holder, nonce, epoch) and why (S4, S13).
    pub struct LeaseInfo {
        /// The user.
        always "user" => user: String,
        /// The machine.
        always "host" => host: String,
        /// The process.
        always "pid" => pid: i64,
        /// The command.
        always "purpose" => purpose: String,
        /// When it was taken, RFC 3339.
        always "since" => since: String,
        /// The last sign of life, where the medium needs one, RFC 3339.
        optional "heartbeat" => heartbeat: Option<String>,
        /// What tells this lease from every other.
        always "nonce" => nonce: String,
        /// How often the lease has changed hands; grows with every taking.
        always "epoch" => epoch: i64,
        /// The name of the lock file that other tools see while the lease is held.
        optional "lockFile" => lock_file: Option<String>,
        /// Whether it is held; a released lease keeps its epoch.
        always "held" => held: bool,
        /// Whether the holder is a tool that knows nothing of leases and only left its lock file.
        optional "foreign" => foreign: bool,
        /// Whether the holder's process is known to be gone.
        optional "dead" => dead: bool,
    }
}

impl LeaseInfo {
    /// Who holds it, `user@host`.
    #[must_use]
    pub fn holder(&self) -> String {
        format!("{}@{}", self.user, self.host)
    }

    /// Who holds it, for what and since when, in a phrase.
    #[must_use]
    pub fn describe(&self) -> String {
        let who = self.holder();
        let purpose = if self.foreign { "another tool".to_owned() } else { format!("`{}`", self.purpose) };
        let life = match (&self.heartbeat, self.dead) {
            (_, true) => format!(", process {} is no longer running", self.pid),
            (Some(heartbeat), false) => format!(", last heartbeat {heartbeat}"),
            (None, false) => format!(", process {}", self.pid),
        };
        format!("{who} ({purpose}, since {}{life})", self.since)
    }
}

/// A lock file that another tool left.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignLock {
    /// The file's name.
    pub file: String,
    /// What it says.
    pub lease: LeaseInfo,
}

/// What was found and done when a lease changed hands (S5, S20).
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Recovery {
    /// The last holder had put everything in order.
    #[default]
    Nothing,
    /// The last holder died; its journal was replayed and committed.
    Replayed {
        /// The last holder.
        holder: Box<LeaseInfo>,
        /// How many entries its journal held.
        entries: usize,
        /// How many steps they brought to their end.
        steps: usize,
        /// How many of its operations are pending now.
        pending: usize,
        /// The revision made of it.
        revision: u64,
    },
    /// The last holder died after deciding its commit; the commit was finished.
    Finished {
        /// The last holder.
        holder: Box<LeaseInfo>,
        /// The revision that it had made.
        revision: u64,
    },
    /// The last holder died, and another tool has changed the stack since: its journal is kept aside.
    Orphaned {
        /// The last holder.
        holder: Box<LeaseInfo>,
        /// How many entries its journal holds.
        entries: usize,
        /// The journal's name, for `state doctor`.
        journal: String,
    },
}

/// A journal that was kept: the snapshot it began with is not the one that another tool left (S20), or parts of it
/// could not be used.
#[derive(Debug, Clone)]
pub struct Orphan {
    /// Its name.
    pub journal: String,
    /// When the update began.
    pub started: Timestamp,
    /// Who wrote it.
    pub holder: LeaseInfo,
    /// How many entries it holds.
    pub entries: usize,
    /// What the stack would be had nobody else changed it.
    pub snapshot: drystone_model::Snapshot,
    /// The revision it began with.
    pub base: u64,
    /// Whether what could be used of it is in the state already.
    pub replayed: bool,
}

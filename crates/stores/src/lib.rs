//! Where stacks are kept: the store contract, its conformance suite, and the stores themselves.
//!
//! The contract has three parts. [`Reads`] never locks and never waits (S8). [`Leases`] gives one writer at a time the
//! right to change a stack (S4, S11 to S13). [`HeldLease`] is that right: it appends journal entries (S1, S2), commits
//! revisions (S6), moves and prunes. Stores take time, ids and their disk from outside, so that a simulation can
//! run them from a seed.

pub mod cdkd;
pub mod conformance;
mod contract;
pub mod disk;
mod diy;
mod error;
mod host;
mod lease;
pub mod local;
pub mod memory;
mod names;
pub mod object;
pub mod postgres;
mod revision;
mod seal;
pub mod unobin;
mod upgrade;

pub use contract::{
    At, HeldLease, JournalHead, JournalMark, JournalPart, Leases, Reads, Recorded, Relocation,
    StackDescription, StackSummary, Store, Trashed,
};
pub use error::{Error, Result};
pub use host::{Host, SystemHost};
pub use lease::{Claim, ForeignLock, LeaseInfo, Orphan, Recovery};
pub use names::{NameError, StackId};
pub use revision::{Commit, Committed, Keep, RevisionInfo};
pub use seal::{FEATURE as SEALED_FEATURE, Resealed, Sealing};
pub use upgrade::{Unowned, Upgrade, Upgraded};

//! cdkd's state: what its tool keeps in a bucket, read and written as it does.
//!
//! - [`StackState`] is a stack's `state.json`, read from any schema version and written as the newest; [`versions`] has
//!   what each version brought, and what its absence means. [`StackState::check`] finds what is not sound in it.
//! - [`Lock`] stands beside it while somebody works, [`RollbackJournal`] after a deployment that failed.
//! - [`RunIndex`] and [`Event`] tell of past deployments, [`ExportIndex`] of what stacks give each other, and
//!   [`AssetStorage`] of where assets go.
//! - [`Layout`] has the keys of all of them, and the names that may be in a key.
//!
//! The tool is a JavaScript program: its objects keep the order in which members were set, a member that is set again
//! stays where it was, and files are what `JSON.stringify(…, null, 2)` makes of them. So an object here knows how it
//! stood in its file ([`Form`]), and what is read and written back unchanged is the same, byte for byte.

mod assets;
mod check;
mod deployments;
mod error;
mod events;
mod exports;
mod journal;
mod keys;
mod lock;
mod members;
mod object;
mod state;
mod text;
pub mod versions;
mod words;

pub use assets::AssetStorage;
pub use check::{Problem, Rule};
pub use deployments::{MOST_RUNS, RunCommand, RunId, RunIndex, RunResult, RunSummary};
pub use error::{Kind, ReadError};
pub use events::{Counts, Event, EventError, EventType, read_events, write_events};
pub use exports::{Export, ExportIndex};
pub use journal::{ChangeType, Completed, Failed, Reason, RollbackJournal, Segment};
pub use keys::{DEFAULT_PREFIX, Key, Layout, NameError, Region, StackKey, StackName};
pub use lock::Lock;
pub use members::Members;
pub use object::Form;
pub use state::{Resource, StackState};
pub use text::pretty;
pub use versions::{Import, OutputRead, Parent, Policy, Provisioner};

//! What can go wrong with cdkd's stacks, by what the caller may do about it.

use drystone_dialects::cdkd::{Lock, ReadError, StackKey};
use std::path::PathBuf;

/// The result of a store's method.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The bucket said no.
    #[error(transparent)]
    Bucket(#[from] crate::Error),
    /// An object is not what it should be, or was written by a newer tool.
    #[error("{}: {source}", path.display())]
    Read {
        /// Where it stands.
        path: PathBuf,
        /// What is wrong with it.
        source: ReadError,
    },
    /// Somebody else holds the lock.
    #[error("{stack} is locked by {}", describe(lock))]
    Held {
        /// The stack.
        stack: StackKey,
        /// Who holds it, for what, until when.
        lock: Box<Lock>,
    },
    /// Somebody holds a lock from before regions were in keys.
    #[error("{}: there is a lock of {by} here", path.display())]
    Locked {
        /// Where it stands.
        path: PathBuf,
        /// Who holds it, for what.
        by: String,
    },
    /// There is a lock, but nobody can tell whose.
    #[error("{}: there is a lock here that cannot be read: {reason}", path.display())]
    UnreadableLock {
        /// Where it stands.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// This writer lost its lock; nothing is written any more (S4).
    #[error("the lock on {stack} was taken by {by}; nothing after that was recorded")]
    Fenced {
        /// The stack.
        stack: StackKey,
        /// Who took it.
        by: String,
    },
    /// A stack has another nested in it whose state is missing.
    #[error("{}: there is no state of {child}, though {parent} has it nested in it", path.display())]
    Torn {
        /// The stack that tells of it.
        parent: StackKey,
        /// The stack that is missing.
        child: StackKey,
        /// Where its state should stand.
        path: PathBuf,
    },
    /// A nested stack says that it is of another region than its parent.
    #[error("{}: the state of {child} says that it is of {region}", path.display())]
    Astray {
        /// The nested stack.
        child: StackKey,
        /// Where its state stands.
        path: PathBuf,
        /// The region that it names.
        region: String,
    },
    /// Somebody changed the state without the lock.
    #[error("{stack} was changed by another process while this one held its lock")]
    Conflict {
        /// The stack.
        stack: StackKey,
    },
}

/// Who holds a lock, for what.
pub(super) fn describe(lock: &Lock) -> String {
    match &lock.operation {
        Some(operation) => format!("{} (`{operation}`)", lock.owner),
        None => lock.owner.clone(),
    }
}

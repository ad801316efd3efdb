//! What can go wrong in a store, by what the caller may do about it.

use crate::{LeaseInfo, NameError, StackId};
use std::path::PathBuf;

/// The result of a store's method.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such stack.
    #[error("no stack named '{stack}' found")]
    NotFound {
        /// The stack.
        stack: StackId,
    },
    /// The name is taken.
    #[error("stack '{stack}' already exists")]
    AlreadyExists {
        /// The stack.
        stack: StackId,
    },
    /// The name is not one.
    #[error(transparent)]
    Name(#[from] NameError),
    /// There is no such revision.
    #[error("{stack} has no revision {revision}")]
    NoRevision {
        /// The stack.
        stack: StackId,
        /// The number asked for.
        revision: u64,
    },
    /// Somebody else holds the lease (S13).
    #[error("{stack} is being updated by {holder}", holder = lease.describe())]
    Held {
        /// The stack.
        stack: StackId,
        /// Who holds it, for what, since when.
        lease: Box<LeaseInfo>,
    },
    /// This writer lost its lease; nothing that it does from now on becomes visible (S4).
    #[error("the lease on {stack} was taken over by {by}; nothing after that was recorded")]
    Fenced {
        /// The stack.
        stack: StackId,
        /// Who took it.
        by: String,
    },
    /// Another tool changed the stack under the lease.
    #[error("{stack} was changed by another tool while this one held its lease")]
    Conflict {
        /// The stack.
        stack: StackId,
    },
    /// A file is not what it should be.
    #[error("{}: {reason}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A version or feature that this version does not know (S9).
    #[error("{}: {reason}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it needs.
        reason: String,
    },
    /// Everything here is sealed, and was opened without a key (S19).
    #[error("{}: everything here is sealed with {with}", path.display())]
    Sealed {
        /// Where it says so.
        path: PathBuf,
        /// With what.
        with: String,
    },
    /// Nothing here is sealed, and it was opened as if everything were.
    #[error("{}: this backend is not sealed", path.display())]
    NotSealed {
        /// Where it would say so.
        path: PathBuf,
    },
    /// The journal does not take an entry.
    #[error(transparent)]
    Refused(#[from] drystone_journal::Refused),
    /// A write of this update failed earlier; what it recorded since is not known to be durable.
    #[error("an earlier write of this update failed: {reason}")]
    Poisoned {
        /// The first failure.
        reason: String,
    },
    /// The operating system said no.
    #[error("{action} {}: {source}", path.display())]
    Io {
        /// What was tried, as in `reading`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The answer.
        source: std::io::Error,
    },
}

impl Error {
    /// Wraps an I/O error with what was tried on which path.
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}

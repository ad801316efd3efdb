//! What can go wrong with a tree. Where unobin has a text for it, it is unobin's.

use super::Holder;
use drystone_dialects::unobin;
use drystone_secrets::envelope;
use std::path::PathBuf;

/// The result of a tree's method.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing was made current yet.
    #[error("no current snapshot")]
    NoCurrent,
    /// A name is empty.
    #[error("local store: {what} is required")]
    Required {
        /// `factory` or `stack`.
        what: &'static str,
    },
    /// A name is no name of a file.
    #[error("local store: {name:?} cannot be the name of a {what}: it would leave its folder")]
    Name {
        /// `factory`, `stack` or `revision`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A snapshot is none.
    #[error("{reason}")]
    Snapshot {
        /// The file, where it came of one.
        path: Option<PathBuf>,
        /// What is wrong with it.
        reason: unobin::Error,
    },
    /// A revision cannot be opened.
    #[error("local store: open {revision}: {reason}")]
    Open {
        /// The revision.
        revision: String,
        /// Its file.
        path: PathBuf,
        /// Why.
        reason: Box<envelope::Error>,
    },
    /// A revision is sealed, and the tree is read as one that is not.
    #[error("local store: open {revision}: it is sealed, and the noop encrypter opens nothing")]
    Sealed {
        /// The revision.
        revision: String,
        /// Its file.
        path: PathBuf,
    },
    /// A revision belongs to another stack (S19).
    #[error("local store: open {revision}: it is a snapshot of {found}, not of {expected}")]
    Misplaced {
        /// The revision.
        revision: String,
        /// Its file.
        path: PathBuf,
        /// The factory and stack that it says.
        found: String,
        /// The factory and stack of the tree.
        expected: String,
    },
    /// A snapshot could not be sealed.
    #[error(transparent)]
    Seal(envelope::Error),
    /// There is no such revision.
    #[error("open {}: no such file or directory", path.display())]
    NoRevision {
        /// Where it would be.
        path: PathBuf,
    },
    /// There is no such revision to be made current.
    #[error("set-current {revision}: stat {}: no such file or directory", path.display())]
    NotWritten {
        /// The revision.
        revision: String,
        /// Where it would be.
        path: PathBuf,
    },
    /// The current revision may not be deleted: the stack would have none.
    #[error("local store: {revision} is the current revision and cannot be deleted")]
    IsCurrent {
        /// The revision.
        revision: String,
    },
    /// Too many writers at one moment.
    #[error("local store: could not allocate fresh revision after {attempts} attempts")]
    NoFreshRevision {
        /// How many names were taken.
        attempts: i64,
    },
    /// Somebody else holds the stack (S13).
    #[error("state locked by {holder}")]
    Locked {
        /// Who.
        holder: Box<Holder>,
    },
    /// The lock that was ours is another's now.
    #[error("the lock is no longer ours: state locked by {holder}")]
    LostLock {
        /// Whose it is.
        holder: Box<Holder>,
    },
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] crate::Error),
}

impl Error {
    /// The file that it is about, where there is one that the message does not name.
    #[must_use]
    pub fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Snapshot { path, .. } => path.as_ref(),
            Self::Open { path, .. } | Self::Sealed { path, .. } | Self::Misplaced { path, .. } => Some(path),
            _ => None,
        }
    }
}

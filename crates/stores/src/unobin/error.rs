//! What can go wrong with a tree. Where unobin has a text for it, it is unobin's.

use super::{Holder, StoreKind};
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
    #[error("{store}: {what} is required")]
    Required {
        /// Where the tree stands.
        store: StoreKind,
        /// `factory` or `stack`.
        what: &'static str,
    },
    /// A name is no name of a file.
    #[error("{store}: {name:?} cannot be the name of a {what}: it would leave its folder")]
    Name {
        /// Where the tree stands.
        store: StoreKind,
        /// `factory`, `stack` or `revision`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A snapshot is none.
    #[error("{reason}")]
    Snapshot {
        /// Where it stands, where it came of a tree.
        path: Option<PathBuf>,
        /// What is wrong with it.
        reason: unobin::Error,
    },
    /// A revision cannot be opened.
    #[error("{store}: open {revision}: {reason}")]
    Open {
        /// Where the tree stands.
        store: StoreKind,
        /// The revision.
        revision: String,
        /// Where it stands.
        path: PathBuf,
        /// Why.
        reason: Box<envelope::Error>,
    },
    /// A revision is sealed, and the tree is read as one that is not.
    #[error("{store}: open {revision}: it is sealed, and the noop encrypter opens nothing")]
    Sealed {
        /// Where the tree stands.
        store: StoreKind,
        /// The revision.
        revision: String,
        /// Where it stands.
        path: PathBuf,
    },
    /// A revision belongs to another stack (S19).
    #[error("{store}: open {revision}: it is a snapshot of {found}, not of {expected}")]
    Misplaced {
        /// Where the tree stands.
        store: StoreKind,
        /// The revision.
        revision: String,
        /// Where it stands.
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
    #[error("open {}: {}", path.display(), store.missing())]
    NoRevision {
        /// Where the tree stands.
        store: StoreKind,
        /// Where it would be.
        path: PathBuf,
    },
    /// There is no such revision to be made current.
    #[error("set-current {revision}: stat {}: {}", path.display(), store.missing())]
    NotWritten {
        /// Where the tree stands.
        store: StoreKind,
        /// The revision.
        revision: String,
        /// Where it would be.
        path: PathBuf,
    },
    /// The current revision may not be deleted: the stack would have none.
    #[error("{store}: {revision} is the current revision and cannot be deleted")]
    IsCurrent {
        /// Where the tree stands.
        store: StoreKind,
        /// The revision.
        revision: String,
    },
    /// Too many writers at one moment.
    #[error("{store}: could not allocate fresh revision after {attempts} attempts")]
    NoFreshRevision {
        /// Where the tree stands.
        store: StoreKind,
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
    /// Another revision was made current meanwhile.
    #[error("{store}: {to} was not made current: {} is, by another process", found.as_deref().unwrap_or("none"))]
    Moved {
        /// Where the tree stands.
        store: StoreKind,
        /// The revision that was to be.
        to: String,
        /// The revision that is.
        found: Option<String>,
    },
    /// The disk or the server failed.
    #[error(transparent)]
    Medium(#[from] crate::Error),
}

impl Error {
    /// The file or the object that it is about, where there is one that the message does not name.
    #[must_use]
    pub fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Snapshot { path, .. } => path.as_ref(),
            Self::Open { path, .. } | Self::Sealed { path, .. } | Self::Misplaced { path, .. } => Some(path),
            _ => None,
        }
    }
}

//! The folder outside the tree where tools and peers are kept.

use crate::failure::Failure;
use std::env;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// The cache's folder.
pub(crate) struct Cache {
    root: PathBuf,
}

/// Keeps other processes from the same work; released when dropped.
pub(crate) struct Lock {
    _file: File,
}

impl Cache {
    /// The cache that the environment names.
    pub(crate) fn from_environment() -> Result<Self, Failure> {
        let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let root = folder("DRYSTONE_CACHE")
            .or_else(|| folder("XDG_CACHE_HOME").map(|cache| cache.join("drystone")))
            .or_else(|| env::home_dir().map(|home| home.join(".cache").join("drystone")))
            .ok_or_else(|| {
                Failure::new("no home folder to keep a cache in").hint("set DRYSTONE_CACHE to a folder")
            })?;
        Self::at(&root)
    }

    /// The cache in a folder.
    pub(crate) fn at(root: &Path) -> Result<Self, Failure> {
        let root = std::path::absolute(root).map_err(|error| Failure::at(root, "resolve", &error))?;
        Ok(Self { root })
    }

    /// The cache's folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where a peer of a version stands.
    pub(crate) fn peer(&self, name: &str, version: &str) -> PathBuf {
        self.root.join("peers").join(format!("{name}-{version}"))
    }

    /// Where a development tool of a version stands.
    pub(crate) fn tool(&self, name: &str, version: &str) -> PathBuf {
        self.root.join("tools").join(format!("{name}-{version}"))
    }

    /// A folder to build in. It keeps what an interrupted build left, so that the next one goes on from there.
    pub(crate) fn workshop(&self, name: &str, version: &str) -> Result<PathBuf, Failure> {
        let folder = self.root.join("build").join(format!("{name}-{version}"));
        make_folder(&folder)?;
        Ok(folder)
    }

    /// Waits until no other setup installs into this cache.
    pub(crate) fn lock(&self) -> Result<Lock, Failure> {
        lock(&self.root.join("setup.lock"), "setup")
    }
}

/// Waits until no other process does the same work, and keeps others waiting until the lock is dropped.
///
/// The system releases the lock of a process that dies.
pub(crate) fn lock(path: &Path, work: &str) -> Result<Lock, Failure> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    let file = File::options()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|error| Failure::at(path, "open", &error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            eprintln!("another {work} is running ({}); waiting for it", path.display());
            file.lock().map_err(|error| Failure::at(path, "lock", &error))?;
        }
        Err(TryLockError::Error(error)) => return Err(Failure::at(path, "lock", &error)),
    }
    Ok(Lock { _file: file })
}

/// Makes a folder and those above it.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| Failure::at(path, "make the folder", &error))
}

/// Removes a folder with all in it, if it is there.
pub(crate) fn remove_folder(path: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::at(path, "remove", &error))
        }
        _ => Ok(()),
    }
}

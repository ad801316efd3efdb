//! Programs in folders.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The program of a name in the folders of a PATH. Folders relative to wherever we happen to be do not count.
pub(crate) fn on_path(path: &OsStr, name: &str) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .find_map(|folder| executable(&folder, name))
}

/// The program of a name in a folder.
pub(super) fn executable(folder: &Path, name: &str) -> Option<PathBuf> {
    let endings: &[&str] = if cfg!(windows) { &[".exe", ".cmd", ".ps1", ""] } else { &[""] };
    let mut candidates = endings.iter().map(|ending| folder.join(format!("{name}{ending}")));
    candidates.find(|candidate| is_executable(candidate))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

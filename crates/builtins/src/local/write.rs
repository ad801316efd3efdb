//! Writing a file so that it is never half there.

use super::permission::Permission;
use crate::digests::Digests;
use std::fs::File;
use std::io::{self, Seek};
use std::path::Path;

/// Who may do what with a file and with the folders that are made for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Permissions {
    pub(crate) file: Permission,
    pub(crate) folders: Permission,
}

/// Puts what `fill` writes in the place of a file. A crash or a full disk leaves what was there. Anything but a file at
/// the place is refused.
pub(crate) fn write(
    path: &Path,
    permissions: Permissions,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<Digests> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => return Err(io::Error::other("it is no place for a file")),
    };
    permissions.folders.make_folders(folder)?;
    refuse_traps(path)?;
    let mut file = tempfile::Builder::new().prefix(".drystone-").suffix(".tmp").tempfile_in(folder)?;
    fill(file.as_file_mut())?;
    file.as_file_mut().rewind()?;
    // The digests are those of what was written, whatever became of its source meanwhile.
    let digests = Digests::of_reader(file.as_file_mut())?;
    permissions.file.put_on_file(file.as_file())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_folder(folder)?;
    Ok(digests)
}

fn refuse_traps(path: &Path) -> io::Result<()> {
    let kind = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let what = match kind {
        _ if kind.is_file() => return Ok(()),
        _ if kind.is_symlink() => "a symbolic link",
        _ if kind.is_dir() => "a folder",
        _ => "no ordinary file",
    };
    Err(io::Error::other(format!("{what} is in its place")))
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

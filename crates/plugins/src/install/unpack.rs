//! From an archive to a folder.

use flate2::read::GzDecoder;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// How much an archive may hold.
const LARGEST: u64 = 8 << 30;

/// Unpacks a compressed tar file. Members that would land elsewhere are refused.
pub(super) fn archive(archive: File, folder: &Path) -> io::Result<()> {
    let mut archive = tar::Archive::new(GzDecoder::new(archive).take(LARGEST));
    archive.set_preserve_mtime(false);
    let mut count = 0;
    for member in archive.entries()? {
        let mut member = member?;
        let name = member.path()?.display().to_string();
        if !member.unpack_in(folder)? {
            return Err(io::Error::other(format!("'{name}' would be outside of its folder")));
        }
        count += 1;
    }
    if count == 0 { Err(io::Error::other("there is nothing in it")) } else { Ok(()) }
}

/// Copies a program, which must be one.
pub(super) fn copy_program(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if fs::metadata(from)?.permissions().mode() & 0o100 == 0 {
            return Err(io::Error::other(format!("{} is not executable", from.display())));
        }
    }
    fs::copy(from, to).map(drop)
}

/// Copies what is in a folder. Links stay links.
pub(super) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, place) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_folder(&entry.path(), &place)?;
        } else if kind.is_symlink() {
            #[cfg(unix)]
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, &place)?;
        } else {
            fs::copy(entry.path(), &place)?;
        }
    }
    Ok(())
}

//! Reading files and URIs, and hashing what comes.

use super::remote;
use sha2::{Digest as _, Sha256};
use std::{
    fmt::Write as _,
    fs::File,
    io::{self, Write},
    path::Path,
};

/// A SHA-256 that can be written to.
#[derive(Debug, Default)]
pub(super) struct Digest(Sha256);

impl Digest {
    pub(super) fn into_hex(self) -> String {
        self.0.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

impl Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file that is no directory.
pub(super) fn open_file(path: &Path) -> io::Result<File> {
    let file =
        File::open(path).map_err(|error| described(&error, &format!("cannot open '{}'", path.display())))?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::other(format!("'{}' is a directory; try an archive", path.display())));
    }
    Ok(file)
}

/// What a URI names: a file of this machine, or what a server has.
pub(super) fn open_uri(uri: &str) -> io::Result<File> {
    if uri.starts_with("http://") || uri.starts_with("https://") {
        return remote::fetch(uri, remote::Limits::default());
    }
    let path = uri
        .strip_prefix("file://")
        .map(|rest| rest.strip_prefix("localhost").unwrap_or(rest))
        .filter(|path| path.starts_with('/'))
        .ok_or_else(|| {
            let shown = remote::shown(uri);
            io::Error::other(format!(
                "cannot read '{shown}': it is neither http(s):// nor a file:// of this machine"
            ))
        })?;
    open_file(Path::new(path))
}

/// The same error with what was being done.
pub(super) fn described(error: &io::Error, doing: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{doing}: {error}"))
}

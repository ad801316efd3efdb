//! Reading files and URIs.

use crate::fetch;
use std::fs::File;
use std::io;
use std::path::Path;

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
        return fetch::fetch(uri, fetch::Limits::default());
    }
    let path = uri
        .strip_prefix("file://")
        .map(|rest| rest.strip_prefix("localhost").unwrap_or(rest))
        .filter(|path| path.starts_with('/'))
        .ok_or_else(|| {
            let shown = fetch::shown(uri);
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

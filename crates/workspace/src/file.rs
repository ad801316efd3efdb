//! Reading files, and writing them so that they are never half there.

use crate::Value;
use crate::yaml::{Document, Node, ParseError};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a file cannot be worked with.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It cannot be written; what was there is still there.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its name does not say that it is YAML or JSON.
    #[error("`{}` ends neither with .yaml, .yml nor .json", path.display())]
    Format {
        /// The file.
        path: PathBuf,
    },
}

/// The language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Yaml,
    Json,
}

/// The mark that some editors put in front of UTF-8.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// A document, and whether it knows where its parts are.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) root: Node,
    pub(crate) located: bool,
}

impl Format {
    /// The language that the name of a file promises.
    pub(crate) fn of(path: &Path) -> Result<Self, FileError> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("yaml" | "yml") => Ok(Self::Yaml),
            Some("json") => Ok(Self::Json),
            _ => Err(FileError::Format { path: path.to_owned() }),
        }
    }

    /// Reads a text. JSON is also read as YAML for the places in it, as far as that agrees.
    pub(crate) fn parse(self, text: &str) -> Result<Parsed, ParseError> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        if self == Self::Yaml {
            return Ok(Parsed { root: Document::parse(text)?.root, located: true });
        }
        if text.trim().is_empty() {
            return Ok(Parsed { root: Node::of(Value::Null), located: false });
        }
        let json: serde_json::Value = serde_json::from_str(text).map_err(|error| ParseError::json(&error))?;
        let value = Value::from_json(&json);
        match Document::parse(text) {
            Ok(document) if document.root.value == value => Ok(Parsed { root: document.root, located: true }),
            _ => Ok(Parsed { root: Node::of(value), located: false }),
        }
    }
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, FileError> {
    fs::read_to_string(path).map_err(|source| FileError::Read { path: path.to_owned(), source })
}

/// The text of a file, or nothing if there is no file.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<String>, FileError> {
    match read(path) {
        Ok(text) => Ok(Some(text)),
        Err(FileError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Puts a text in the place of a file, folders above it included. A crash leaves the old text or the new one. A file
/// that is there keeps its permissions, and a symbolic link keeps its target's place.
pub(crate) fn write(path: &Path, text: &str, new: Access) -> Result<(), FileError> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    replace(&target, text, new).map_err(|source| FileError::Write { path: path.to_owned(), source })
}

/// The same for a file that its owner alone may read.
pub fn write_private(path: &Path, text: &str) -> Result<(), FileError> {
    write(path, text, Access::Private)
}

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everybody, as far as the process allows it.
    Shared,
    /// The user alone, even if the file is there with other permissions.
    Private,
}

fn replace(target: &Path, text: &str, access: Access) -> io::Result<()> {
    let directory = match target.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    };
    create_directory(directory, access)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".drystone-").suffix(".tmp");
    set_access(&mut builder, access);
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    keep_permissions(file.as_file(), target, access)?;
    file.as_file().sync_all()?;
    file.persist(target).map_err(|error| error.error)?;
    sync_directory(directory)
}

/// Removes a file; one that is not there is removed already.
pub(crate) fn remove(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(FileError::Write { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn create_directory(directory: &Path, access: Access) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let mode = if access == Access::Private { 0o700 } else { 0o755 };
    fs::DirBuilder::new().recursive(true).mode(mode).create(directory)
}

#[cfg(not(unix))]
fn create_directory(directory: &Path, _: Access) -> io::Result<()> {
    fs::create_dir_all(directory)
}

/// A new file gets its mode when it is made, so that the process's mask counts.
#[cfg(unix)]
fn set_access(builder: &mut tempfile::Builder<'_, '_>, access: Access) {
    use std::os::unix::fs::PermissionsExt;
    let mode = if access == Access::Private { 0o600 } else { 0o644 };
    builder.permissions(fs::Permissions::from_mode(mode));
}

#[cfg(not(unix))]
fn set_access(_: &mut tempfile::Builder<'_, '_>, _: Access) {}

fn keep_permissions(file: &fs::File, target: &Path, access: Access) -> io::Result<()> {
    match fs::metadata(target) {
        Ok(there) if access == Access::Shared => file.set_permissions(there.permissions()),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    fs::File::open(directory)?.sync_all()
}

#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

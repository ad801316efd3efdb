//! Where a path leads.
//!
//! A relative path belongs to the program and stays in its folder, whatever the values are that it was put together
//! from, and whatever symbolic links stand in its way. Who means another place says so with an absolute path.

use crate::kind::Answer;
use drystone_engine::ProviderError;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The place of something that is written or deleted.
pub(crate) fn resolve(directory: &Path, text: &str) -> Answer<PathBuf> {
    let path = within(directory, text)?;
    if Path::new(text).is_relative() {
        let parent = path.parent().unwrap_or(directory);
        check_links(directory, text, &real(parent))?;
    }
    Ok(path)
}

/// The place of something that is read, at which something stands.
pub(crate) fn existing(directory: &Path, text: &str) -> Answer<PathBuf> {
    let path = within(directory, text)?;
    let real = path.canonicalize().map_err(|error| failed("read", text, &error))?;
    if Path::new(text).is_relative() {
        check_links(directory, text, &real)?;
    }
    Ok(real)
}

/// What an I/O error means for a path.
pub(crate) fn failed(doing: &str, text: &str, error: &io::Error) -> ProviderError {
    ProviderError::new(format!("`{text}` cannot be {doing}: {error}"))
}

/// The path from the folder on, as far as its text alone says.
fn within(directory: &Path, text: &str) -> Answer<PathBuf> {
    if text.is_empty() || text.contains('\0') {
        return Err(ProviderError::new("a path is empty or holds a null character"));
    }
    let path = Path::new(text);
    if path.is_absolute() {
        return Ok(path.to_owned());
    }
    let mut inside: Vec<Component<'_>> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(_) => inside.push(component),
            Component::CurDir => {}
            Component::ParentDir if inside.pop().is_some() => {}
            _ => return Err(leaves(text)),
        }
    }
    Ok(inside.iter().fold(directory.to_owned(), |path, component| path.join(component)))
}

fn check_links(directory: &Path, text: &str, real_path: &Path) -> Answer<()> {
    if real_path.starts_with(real(directory)) { Ok(()) } else { Err(leaves(text)) }
}

/// The path without symbolic links, as far as it is there.
fn real(path: &Path) -> PathBuf {
    let mut missing: Vec<&std::ffi::OsStr> = Vec::new();
    let mut there = path;
    loop {
        if let Ok(real) = there.canonicalize() {
            return missing.iter().rev().fold(real, |path, name| path.join(name));
        }
        match (there.parent(), there.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name);
                there = parent;
            }
            _ => return path.to_owned(),
        }
    }
}

fn leaves(text: &str) -> ProviderError {
    ProviderError::new(format!(
        "`{text}` leads out of the program's folder; give an absolute path if that is meant"
    ))
}

//! What assets and archives hold, and the hashes that say so.
//!
//! The hash of an asset is that of its bytes. The hash of an archive file is that of the file; any other archive is
//! hashed as the tar file it would make, whose bytes must therefore be the same wherever it is made.

mod archives;
mod content;
#[cfg(test)]
mod remote_tests;
mod tar;
#[cfg(test)]
mod tests;

use super::Properties;
use drystone_model::{Archive, ArchiveSource, Asset, AssetSource, PropertyPath, Secret, Segment, Value};
use std::{io, path::Path};

/// An asset that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("property `{path}`: failed to compute the {kind} hash: {source}")]
pub struct AssetError {
    /// Where it stands.
    pub path: PropertyPath,
    kind: &'static str,
    source: io::Error,
}

/// Whether there is an asset or archive whose hash is not known. Only then is there anything to read.
#[must_use]
pub fn lacks_hashes(properties: &Properties) -> bool {
    properties.values().any(lacks_hash)
}

fn lacks_hash(value: &Value) -> bool {
    match value {
        Value::Asset(asset) => asset.hash.is_empty(),
        Value::Archive(archive) => {
            archive.hash.is_empty()
                || matches!(&archive.source, ArchiveSource::Assets(assets) if lacks_hashes(assets))
        }
        Value::Array(elements) => elements.iter().any(lacks_hash),
        Value::Object(members) => lacks_hashes(members),
        Value::Secret(Secret::Open(inner)) => lacks_hash(inner),
        Value::Output(output) => output.value.as_ref().is_some_and(lacks_hash),
        _ => false,
    }
}

/// Gives every asset and archive its hash. Reads files, whose relative paths start at `directory`.
pub fn add_hashes(properties: &mut Properties, directory: &Path) -> Result<(), AssetError> {
    for (key, value) in properties {
        add_hash(value, directory).map_err(|error| error.inside(key.as_str()))?;
    }
    Ok(())
}

fn add_hash(value: &mut Value, directory: &Path) -> Result<(), AssetError> {
    match value {
        Value::Asset(asset) if asset.hash.is_empty() => {
            asset.hash = hash_asset(asset, directory).map_err(|error| AssetError::new("asset", error))?;
        }
        Value::Archive(archive) => {
            if let ArchiveSource::Assets(assets) = &mut archive.source {
                add_hashes(assets, directory)?;
            }
            if archive.hash.is_empty() {
                archive.hash =
                    hash_archive(archive, directory).map_err(|error| AssetError::new("archive", error))?;
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter_mut().enumerate() {
                add_hash(element, directory).map_err(|error| error.inside(index))?;
            }
        }
        Value::Object(members) => add_hashes(members, directory)?,
        Value::Secret(Secret::Open(inner)) => add_hash(inner, directory)?,
        Value::Output(output) => {
            if let Some(inner) = &mut output.value {
                add_hash(inner, directory)?;
            }
        }
        _ => {}
    }
    Ok(())
}

impl AssetError {
    fn new(kind: &'static str, source: io::Error) -> Self {
        Self { path: PropertyPath::default(), kind, source }
    }

    fn inside(mut self, segment: impl Into<Segment>) -> Self {
        self.path.0.insert(0, segment.into());
        self
    }
}

fn hash_asset(asset: &Asset, directory: &Path) -> io::Result<String> {
    let mut digest = crate::digest::Digest::default();
    match &asset.source {
        AssetSource::Text(text) => io::Write::write_all(&mut digest, text.as_bytes())?,
        AssetSource::Path(path) => {
            io::copy(&mut content::open_file(&directory.join(path))?, &mut digest)?;
        }
        AssetSource::Uri(uri) => {
            io::copy(&mut content::open_uri(uri)?, &mut digest)?;
        }
    }
    Ok(digest.into_hex())
}

fn hash_archive(archive: &Archive, directory: &Path) -> io::Result<String> {
    let mut digest = crate::digest::Digest::default();
    if let Some(mut file) = archives::archive_file(&archive.source, directory)? {
        io::copy(&mut file, &mut digest)?;
    } else {
        let mut tar = tar::TarWriter::new(&mut digest);
        archives::visit(&archive.source, directory, &mut |name, size, data| tar.add(name, size, data))?;
        tar.finish()?;
    }
    Ok(digest.into_hex())
}

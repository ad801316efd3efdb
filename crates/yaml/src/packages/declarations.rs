//! Files in a project's folder that declare packages: `packageDeclarationVersion: 1`.

use crate::syntax::{self, Kind, Node};
use base64::{Engine, prelude::BASE64_STANDARD};
use drystone_engine::{PackageDescriptor, Parameterization};
use semver::Version;
use std::fs;
use std::path::{Path, PathBuf};

/// A file that declares a package in a way that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct DeclarationError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: String,
}

const MARK: &[u8] = b"packageDeclarationVersion";
/// Declarations hold a parameter at most; no longer file is one.
const LONGEST: u64 = 4 << 20;
/// How deep folders are looked into.
const MAX_DEPTH: usize = 32;
/// Folders that hold other people's files, and many of them.
const SKIPPED: [&str; 3] = [".git", "node_modules", ".venv"];

/// The packages that files in a folder and below declare, in the order of their paths.
pub fn declarations(folder: &Path) -> Result<Vec<PackageDescriptor>, DeclarationError> {
    let mut found = Vec::new();
    search(folder, 0, &mut found)?;
    Ok(found)
}

fn search(folder: &Path, depth: usize, found: &mut Vec<PackageDescriptor>) -> Result<(), DeclarationError> {
    // A folder that cannot be read declares nothing.
    let Ok(listed) = fs::read_dir(folder) else { return Ok(()) };
    let mut entries: Vec<fs::DirEntry> = listed.filter_map(Result::ok).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() {
            let skipped = entry.file_name().to_str().is_some_and(|name| SKIPPED.contains(&name));
            if !skipped && depth < MAX_DEPTH {
                search(&path, depth + 1, found)?;
            }
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "yaml") {
            found.extend(read(&path)?);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Option<PackageDescriptor>, DeclarationError> {
    if !path.metadata().is_ok_and(|metadata| metadata.len() <= LONGEST) {
        return Ok(None);
    }
    let Ok(bytes) = fs::read(path) else { return Ok(None) };
    if !bytes.windows(MARK.len()).any(|window| window == MARK) {
        return Ok(None);
    }
    let Some(root) = String::from_utf8(bytes).ok().and_then(|text| syntax::parse(&text).ok()) else {
        return Ok(None);
    };
    declaration(&root).map_err(|problem| DeclarationError { path: path.to_owned(), problem })
}

fn declaration(root: &Node) -> Result<Option<PackageDescriptor>, String> {
    match field(root, "packageDeclarationVersion").map(|node| &node.kind) {
        Some(Kind::Number(1.0)) => {}
        _ => return Ok(None),
    }
    let name = text(root, "name");
    if name.is_empty() {
        return Err("package name is required".to_owned());
    }
    let parameterization = match field(root, "parameterization") {
        None => None,
        Some(Node { kind: Kind::Null, .. }) => None,
        Some(node) => Some(parameterization(node)?),
    };
    let version = text(root, "version");
    if !version.is_empty() {
        Version::parse(&version).map_err(|error| format!("`{version}` is not a version: {error}"))?;
    }
    Ok(Some(PackageDescriptor {
        name,
        version,
        download_url: text(root, "downloadUrl"),
        parameterization,
        ..PackageDescriptor::default()
    }))
}

fn parameterization(node: &Node) -> Result<Parameterization, String> {
    let (name, version) = (text(node, "name"), text(node, "version"));
    if name.is_empty() {
        return Err("parameterization name is required".to_owned());
    }
    if version.is_empty() {
        return Err("parameterization version is required".to_owned());
    }
    Version::parse(&version).map_err(|error| format!("`{version}` is not a version: {error}"))?;
    let value = BASE64_STANDARD.decode(text(node, "value"));
    let value =
        value.map_err(|error| format!("decoding parameterization value for package {name}: {error}"))?;
    Ok(Parameterization { name, version, value })
}

fn field<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    node.entries()?.iter().find(|entry| entry.key.as_str() == name).map(|entry| &entry.value)
}

fn text(node: &Node, name: &str) -> String {
    match field(node, name).map(|node| &node.kind) {
        Some(Kind::String(text)) => text.to_string(),
        Some(Kind::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

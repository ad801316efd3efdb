//! The test provider in Go, built from `crates/cli/tests/providers/go` on Pulumi's framework for providers.

use super::Peer;
use super::go::Go;
use crate::cache::{Cache, make_folder, remove_folder};
use crate::failure::Failure;
use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

/// The provider `ledger`. It is built anew when its source changes.
pub(crate) const GO_PROVIDER: Peer = Peer {
    name: "pulumi-resource-ledger in Go",
    version: "of this tree",
    purpose: "the tests beside the stock CLI",
    variable: Some("DRYSTONE_PEER_GO_PROVIDER"),
    find: |cache| place(cache).ok().filter(|binary| binary.is_file()),
    install,
};

const BINARY: &str = "pulumi-resource-ledger";

/// The source's files by name, with their content.
fn sources() -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let folder = crate::root().join("crates/cli/tests/providers/go");
    let failed = |error: &std::io::Error| Failure::at(&folder, "read", error);
    let mut sources = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|error| failed(&error))? {
        let path = entry.map_err(|error| failed(&error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        sources.push((name, fs::read(&path).map_err(|error| Failure::at(&path, "read", &error))?));
    }
    sources.sort();
    Ok(sources)
}

/// A short name for what the source says now.
fn fingerprint(sources: &[(String, Vec<u8>)]) -> String {
    let mut hasher = DefaultHasher::new();
    for (name, content) in sources {
        hasher.write(name.as_bytes());
        hasher.write_usize(content.len());
        hasher.write(content);
    }
    format!("{:016x}", hasher.finish())
}

fn place_of(cache: &Cache, fingerprint: &str) -> PathBuf {
    cache.peer(BINARY, fingerprint).join(format!("{BINARY}{EXE_SUFFIX}"))
}

fn place(cache: &Cache) -> Result<PathBuf, Failure> {
    Ok(place_of(cache, &fingerprint(&sources()?)))
}

/// Builds a copy in the cache and renames the binary into place; about a minute on two cores, seconds when Go's own
/// cache is warm.
fn install(cache: &Cache) -> Result<(), Failure> {
    let go = Go::ready(cache)?;
    let sources = sources()?;
    let fingerprint = fingerprint(&sources);
    let workshop = cache.workshop(BINARY, &fingerprint)?;
    for (name, content) in &sources {
        let path = workshop.join(name);
        fs::write(&path, content).map_err(|error| Failure::at(&path, "write", &error))?;
    }
    let built = workshop.join(format!("{BINARY}{EXE_SUFFIX}"));
    go.build(&workshop, ".", &[], &built)?;
    let place = place_of(cache, &fingerprint);
    make_folder(place.parent().unwrap_or(Path::new("")))?;
    fs::rename(&built, &place).map_err(|error| Failure::at(&place, "put the Go provider at", &error))?;
    remove_folder(&workshop)
}

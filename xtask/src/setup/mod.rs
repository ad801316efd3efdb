//! Installs what the machine lacks, from the package registries, into the cache.
//!
//! Each tool or peer is one row of [`PEERS`] and one file here: how it is found, and how it is installed. A row that
//! is found costs one call of its version command, so that setup can run before every test.

mod azurite;
mod cargo_deny;
mod components;
mod debian;
mod fake_gcs;
mod go;
mod go_provider;
mod minio;
mod moto;
mod node_sdk;
mod package_managers;
mod policy_sdks;
mod postgres;
mod pulumi;
mod python_sdk;
mod yaml;

use crate::cache::Cache;
use crate::failure::Failure;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use azurite::AZURITE;
pub(crate) use cargo_deny::CARGO_DENY;
use components::COMPONENTS;
use fake_gcs::FAKE_GCS;
use go_provider::GO_PROVIDER;
pub(crate) use minio::MINIO;
use moto::MOTO;
use node_sdk::NODE_SDK;
use package_managers::{NODE_MANAGERS, PYTHON_MANAGERS};
use policy_sdks::{NODE_POLICY, PYTHON_POLICY};
pub(crate) use postgres::POSTGRES;
pub(crate) use pulumi::PULUMI;
use python_sdk::PYTHON_SDK;
pub(crate) use yaml::YAML;

/// Everything that `cargo xtask test` needs beside the Rust toolchain.
const PEERS: &[&Peer] = &[
    &COMPONENTS,
    &CARGO_DENY,
    &PULUMI,
    &YAML,
    &GO_PROVIDER,
    &NODE_SDK,
    &PYTHON_SDK,
    &NODE_MANAGERS,
    &PYTHON_MANAGERS,
    &NODE_POLICY,
    &PYTHON_POLICY,
    &POSTGRES,
    &MINIO,
    &MOTO,
    &FAKE_GCS,
    &AZURITE,
];

/// A tool or a real system that the checks, the tests or the benchmarks run.
pub(crate) struct Peer {
    /// Its name for people.
    pub(crate) name: &'static str,
    /// The version that is asked for.
    pub(crate) version: &'static str,
    /// What it is needed for, after "needed for".
    pub(crate) purpose: &'static str,
    /// The environment variable that tells tests where it stands.
    pub(crate) variable: Option<&'static str>,
    /// Where it stands, when it is there and is the version asked for.
    pub(crate) find: fn(&Cache) -> Option<PathBuf>,
    /// Installs it. Nothing is found before it is whole.
    pub(crate) install: fn(&Cache) -> Result<(), Failure>,
}

/// Where each peer stands after setup.
pub(crate) struct Ready {
    places: Vec<(&'static Peer, PathBuf)>,
}

impl Ready {
    /// Where a peer stands.
    pub(crate) fn place(&self, peer: &Peer) -> Result<&Path, Failure> {
        self.places
            .iter()
            .find(|(ready, _)| ready.name == peer.name)
            .map(|(_, place)| place.as_path())
            .ok_or_else(|| Failure::new(format!("{} was not set up", peer.name)))
    }

    /// The variables that hand the peers to the tests.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        self.places.iter().filter_map(|(peer, place)| Some((peer.variable?, place.as_path())))
    }
}

/// What `cargo xtask setup` prints on standard output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Print {
    /// Nothing.
    Nothing,
    /// `export NAME='value'` lines for a shell.
    Variables,
}

/// `cargo xtask setup`.
pub(crate) fn command(print: Print) -> Result<ExitCode, Failure> {
    let ready = everything()?;
    if print == Print::Variables {
        for (name, place) in ready.variables() {
            println!("export {name}='{}'", place.display());
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What the checks need beside the Rust toolchain.
const TOOLS: &[&Peer] = &[&COMPONENTS, &CARGO_DENY];

/// Makes the tools of the checks ready.
pub(crate) fn tools() -> Result<Ready, Failure> {
    ensure(TOOLS)
}

/// Makes every peer ready.
pub(crate) fn everything() -> Result<Ready, Failure> {
    ensure(PEERS)
}

/// Makes the peers given ready, installing those that are missing.
pub(crate) fn ensure(peers: &[&'static Peer]) -> Result<Ready, Failure> {
    ensure_in(&Cache::from_environment()?, peers)
}

fn ensure_in(cache: &Cache, peers: &[&'static Peer]) -> Result<Ready, Failure> {
    let mut places = Vec::new();
    for peer in peers {
        let place = match (peer.find)(cache) {
            Some(place) => {
                eprintln!("{} {}: there", peer.name, peer.version);
                place
            }
            None => install(cache, peer)?,
        };
        places.push((*peer, place));
    }
    Ok(Ready { places })
}

/// Installs one peer under the cache's lock, unless another setup has done so while this one waited.
fn install(cache: &Cache, peer: &Peer) -> Result<PathBuf, Failure> {
    let _lock = cache.lock()?;
    if let Some(place) = (peer.find)(cache) {
        eprintln!("{} {}: there", peer.name, peer.version);
        return Ok(place);
    }
    eprintln!(
        "{} {}: missing, needed for {}; installing into {}",
        peer.name,
        peer.version,
        peer.purpose,
        cache.root().display()
    );
    let start = Instant::now();
    (peer.install)(cache)?;
    let place = (peer.find)(cache).ok_or_else(|| {
        Failure::new(format!("{} {} was installed but does not answer", peer.name, peer.version))
    })?;
    eprintln!("{} {}: installed in {:.0} s", peer.name, peer.version, start.elapsed().as_secs_f64());
    Ok(place)
}

#[cfg(test)]
mod tests;

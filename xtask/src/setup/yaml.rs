//! Pulumi's YAML language host, built from its Go module: the one language that the stock CLI can be given here.

use super::Peer;
use super::go::Go;
use crate::cache::{Cache, make_folder, remove_folder};
use crate::failure::Failure;
use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::PathBuf;

const VERSION: &str = "1.36.0";

/// The YAML language host.
pub(crate) const YAML: Peer = Peer {
    name: "pulumi-language-yaml",
    version: VERSION,
    purpose: "the tests that run YAML programs",
    variable: Some("DRYSTONE_PEER_YAML"),
    find: |cache| Some(place(cache)).filter(|binary| binary.is_file()),
    install,
};

const GO_MOD: &str = "\
module drystone.peers/yaml

go 1.25.11

require github.com/pulumi/pulumi-yaml v1.36.0
";

fn place(cache: &Cache) -> PathBuf {
    cache.peer("pulumi-language-yaml", VERSION).join(format!("pulumi-language-yaml{EXE_SUFFIX}"))
}

/// Builds in the cache and renames the binary into place; about a minute and a half on two cores. It has no word that
/// prints its version.
fn install(cache: &Cache) -> Result<(), Failure> {
    let go = Go::ready(cache)?;
    let workshop = cache.workshop("pulumi-language-yaml", VERSION)?;
    let go_mod = workshop.join("go.mod");
    fs::write(&go_mod, GO_MOD).map_err(|error| Failure::at(&go_mod, "write", &error))?;
    let built = workshop.join(format!("pulumi-language-yaml{EXE_SUFFIX}"));
    let stamp = format!("github.com/pulumi/pulumi-yaml/pkg/version.Version=v{VERSION}");
    go.build(&workshop, "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml", &[&stamp], &built)?;
    let place = place(cache);
    make_folder(&cache.peer("pulumi-language-yaml", VERSION))?;
    fs::rename(&built, &place).map_err(|error| Failure::at(&place, "put the YAML host at", &error))?;
    remove_folder(&workshop)
}

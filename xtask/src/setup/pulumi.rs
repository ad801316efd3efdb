//! The stock Pulumi CLI, built from its Go module: the peer that we must read, write and outrun.

use super::Peer;
use super::go::Go;
use crate::cache::{Cache, make_folder, remove_folder};
use crate::failure::Failure;
use crate::process;
use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};

const VERSION: &str = "3.259.0";

/// The stock Pulumi CLI.
pub(crate) const PULUMI: Peer = Peer {
    name: "pulumi",
    version: VERSION,
    purpose: "the tests and benchmarks beside the stock CLI",
    variable: Some("DRYSTONE_PEER_PULUMI"),
    find,
    install,
};

/// The module that is built. The replacement is the one that the CLI's own module makes, which a dependent does not
/// inherit.
const GO_MOD: &str = "\
module drystone.peers/pulumi

go 1.25.11

require (
\tgithub.com/pulumi/pulumi/pkg/v3 v3.259.0
\tgithub.com/pulumi/pulumi/sdk/v3 v3.259.0
)

replace github.com/atotto/clipboard => github.com/tgummerer/clipboard v0.0.0-20241001131231-d02d263e614e
";

fn place(cache: &Cache) -> PathBuf {
    cache.peer("pulumi", VERSION).join(format!("pulumi{EXE_SUFFIX}"))
}

fn find(cache: &Cache) -> Option<PathBuf> {
    let binary = place(cache);
    answers(&binary).then_some(binary)
}

/// Whether a binary is the version asked for. A build without its version stamp prints an empty line.
fn answers(binary: &Path) -> bool {
    let mut command = process::command(binary, ["version"]);
    command.env("PULUMI_SKIP_UPDATE_CHECK", "true");
    process::output_of(&mut command).is_some_and(|answer| answer.trim() == format!("v{VERSION}"))
}

/// Builds in the cache and renames the binary into place; about six minutes on two cores, one when Go's own cache is
/// warm.
fn install(cache: &Cache) -> Result<(), Failure> {
    let go = Go::ready(cache)?;
    let workshop = cache.workshop("pulumi", VERSION)?;
    let go_mod = workshop.join("go.mod");
    fs::write(&go_mod, GO_MOD).map_err(|error| Failure::at(&go_mod, "write", &error))?;
    let built = workshop.join(format!("pulumi{EXE_SUFFIX}"));
    let stamp = format!("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{VERSION}");
    go.build(&workshop, "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", &[&stamp], &built)?;
    if !answers(&built) {
        return Err(Failure::new(format!("the pulumi just built does not answer `version` with v{VERSION}")));
    }
    let place = place(cache);
    make_folder(&cache.peer("pulumi", VERSION))?;
    fs::rename(&built, &place).map_err(|error| Failure::at(&place, "put pulumi at", &error))?;
    remove_folder(&workshop)
}

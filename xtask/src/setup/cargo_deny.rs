//! cargo-deny, which holds the dependencies to the rules of deny.toml.

use super::Peer;
use crate::cache::{Cache, remove_folder};
use crate::failure::Failure;
use crate::process;
use std::env::consts::EXE_SUFFIX;
use std::path::PathBuf;

const VERSION: &str = "0.20.2";

/// cargo-deny, built from its crate.
pub(crate) const CARGO_DENY: Peer = Peer {
    name: "cargo-deny",
    version: VERSION,
    purpose: "the dependency rules",
    variable: None,
    find,
    install,
};

fn find(cache: &Cache) -> Option<PathBuf> {
    let binary = cache.tool("cargo-deny", VERSION).join("bin").join(format!("cargo-deny{EXE_SUFFIX}"));
    let answer = process::output_of(&mut process::command(&binary, ["--version"]))?;
    (answer.trim() == format!("cargo-deny {VERSION}")).then_some(binary)
}

/// Cargo puts the binary in place by a rename. It runs for two seconds, so that it is not worth optimising.
fn install(cache: &Cache) -> Result<(), Failure> {
    let workshop = cache.workshop("cargo-deny", VERSION)?;
    let mut command =
        process::cargo(["install", "--debug", "--locked", "--force", "cargo-deny", "--version", VERSION]);
    command.arg("--root").arg(cache.tool("cargo-deny", VERSION)).arg("--target-dir").arg(&workshop);
    process::run(&mut command)?;
    remove_folder(&workshop)
}

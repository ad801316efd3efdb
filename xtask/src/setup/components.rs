//! The toolchain's own formatter and linter.

use super::Peer;
use crate::cache::Cache;
use crate::failure::Failure;
use crate::process;
use std::path::PathBuf;

/// rustfmt and clippy, as the toolchain brings them.
pub(crate) const COMPONENTS: Peer = Peer {
    name: "rustfmt and clippy",
    version: "of the toolchain",
    purpose: "format and lints",
    variable: None,
    find,
    install,
};

fn find(_: &Cache) -> Option<PathBuf> {
    for tool in ["fmt", "clippy"] {
        process::output_of(&mut process::cargo([tool, "--version"]))?;
    }
    Some(process::cargo(["--version"]).get_program().into())
}

fn install(_: &Cache) -> Result<(), Failure> {
    process::run(&mut process::command("rustup", ["component", "add", "rustfmt", "clippy"]))
        .map_err(|failure| failure.hint("install the rustfmt and clippy that belong to this Rust toolchain"))
}

//! Debian's packages, for the first Go, Node.js or Python of a machine that has none.

use crate::failure::Failure;
use crate::process;
use std::path::Path;

/// Installs packages of Debian, which only its root can; others are told what is missing.
pub(super) fn install(what: &str, packages: &[&str], hint: &str) -> Result<(), Failure> {
    let is_root = process::output_of(&mut process::command("id", ["-u"])).is_some_and(|id| id.trim() == "0");
    if !is_root || !Path::new("/usr/bin/apt-get").exists() {
        return Err(Failure::new(format!("{what} is missing, and only root on Debian can be given it here"))
            .hint(hint));
    }
    let mut install = vec!["install", "--yes", "--no-install-recommends"];
    install.extend(packages);
    for arguments in [&["update"][..], &install] {
        let mut command = process::command("apt-get", arguments);
        process::run(command.env("DEBIAN_FRONTEND", "noninteractive"))
            .map_err(|failure| failure.hint(hint))?;
    }
    Ok(())
}

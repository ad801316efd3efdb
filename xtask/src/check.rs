//! `cargo xtask check`: what can be said of the tree without running it.

use crate::failure::Failure;
use crate::phases::{Ending, Phases};
use crate::setup::{self, Ready};
use crate::{links, process};
use std::process::ExitCode;

/// `cargo xtask check`.
pub(crate) fn command() -> Result<ExitCode, Failure> {
    let ready = setup::tools()?;
    let mut phases = Phases::default();
    run(&ready, &mut phases);
    phases.report();
    Ok(if phases.all_passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs every check, also after one has failed.
pub(crate) fn run(ready: &Ready, phases: &mut Phases) {
    phases.run("format", || {
        process::run(&mut process::cargo(["fmt", "--all", "--", "--check"]))
            .map_err(|failure| failure.hint("`cargo fmt --all` writes the format"))?;
        Ok(Ending::Passed)
    });
    phases.run("lints", || {
        process::run(&mut process::cargo([
            "clippy",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "--deny",
            "warnings",
        ]))?;
        Ok(Ending::Passed)
    });
    phases.run("dependencies", || {
        deny(ready, &["check", "bans", "licenses", "sources"])?;
        Ok(Ending::Passed)
    });
    phases.run("advisories", || {
        if deny(ready, &["fetch", "db"]).is_err() {
            return Ok(Ending::LeftOut("the advisory database cannot be fetched from here".to_owned()));
        }
        deny(ready, &["--offline", "check", "advisories"])?;
        Ok(Ending::Passed)
    });
    phases.run("links", || {
        let dead = links::dead_links(&crate::root())?;
        for link in &dead {
            eprintln!("{link}");
        }
        match dead.len() {
            0 => Ok(Ending::Passed),
            count => Err(Failure::new(format!("{count} dead links in the documents"))),
        }
    });
}

fn deny(ready: &Ready, arguments: &[&str]) -> Result<(), Failure> {
    let mut command = process::command(ready.place(&setup::CARGO_DENY)?, arguments);
    process::run(command.current_dir(crate::root()))
}

//! `cargo xtask test`: sets up, checks, and runs every test, those beside real peers included.

use crate::failure::Failure;
use crate::phases::{Ending, Phases};
use crate::setup::{self, Ready};
use crate::tally::Tally;
use crate::{check, example, process};
use std::process::{Command, ExitCode};

/// `cargo xtask test`.
pub(crate) fn command() -> Result<ExitCode, Failure> {
    let mut phases = Phases::default();
    let mut ready = None;
    phases.run("setup", || {
        ready = Some(setup::everything()?);
        Ok(Ending::Passed)
    });
    let Some(ready) = ready else {
        return Ok(ExitCode::FAILURE);
    };
    check::run(&ready, &mut phases);
    phases.run("test build", || {
        process::run(&mut process::cargo(["test", "--workspace", "--locked", "--no-run"]))?;
        Ok(Ending::Passed)
    });
    phases.run("examples", || {
        example::all()?;
        Ok(Ending::Passed)
    });
    let mut tally = Tally::default();
    phases.run("tests", || {
        let succeeded = process::run_seeing(&mut every_test(&ready), |line| tally.see(line))?;
        tally.close(succeeded);
        if tally.failed == 0 { Ok(Ending::Passed) } else { Err(Failure::new("not every test passed")) }
    });
    phases.report();
    println!("{tally}");
    Ok(if phases.all_passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Tests that need a real peer are marked `#[ignore = "needs …"]` and find it by its variable.
fn every_test(ready: &Ready) -> Command {
    let mut command = process::cargo([
        "test",
        "--workspace",
        "--locked",
        "--no-fail-fast",
        "--",
        "--include-ignored",
        "--show-output",
    ]);
    command.envs(ready.variables());
    // The plugins of our own that tests start.
    command.env("DRYSTONE_TESTBED", crate::target("debug"));
    command
}

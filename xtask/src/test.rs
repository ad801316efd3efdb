//! `cargo xtask test`: sets up, checks, and runs every test, those beside real peers included.

use crate::failure::Failure;
use crate::phases::{Ending, Phases};
use crate::tally::Tally;
use crate::{check, example, setup, suites};
use std::process::ExitCode;

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
    let mut built = None;
    phases.run("test build", || {
        built = Some(suites::build()?);
        Ok(Ending::Passed)
    });
    phases.run("examples", || {
        example::all()?;
        Ok(Ending::Passed)
    });
    let mut tally = Tally::default();
    phases.run("tests", || {
        let Some(mut suites) = built else {
            tally.close(false);
            return Err(Failure::new("there are no tests to run"));
        };
        // Tests that need a real peer are marked `#[ignore = "needs …"]` and find it by its variable.
        let testbed = crate::target("debug");
        for suite in &mut suites {
            ready.variables().for_each(|(name, place)| suite.variable(name, place));
            // The plugins of our own that tests start.
            suite.variable("DRYSTONE_TESTBED", &testbed);
        }
        suites::run(suites, &mut tally, &mut std::io::stdout())?;
        Ok(Ending::Passed)
    });
    phases.report();
    println!("{tally}");
    Ok(if phases.all_passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

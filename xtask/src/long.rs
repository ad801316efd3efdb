//! The longest runs: their own words, for a night rather than for every change.

use crate::failure::Failure;
use crate::{process, setup};
use std::process::ExitCode;

/// `cargo xtask kills [count]`: runs of the CLI, killed at any moment.
pub(crate) fn kills(count: &str) -> Result<ExitCode, Failure> {
    let count = number(count)?;
    let ready = setup::everything()?;
    process::run(&mut process::cargo(["build", "--package", "drystone-testbed", "--locked"]))?;
    let mut command = process::cargo([
        "test",
        "--package",
        "drystone",
        "--test",
        "killed_runs",
        "--locked",
        "--",
        "--include-ignored",
        "--nocapture",
    ]);
    command.envs(ready.variables());
    command.env("DRYSTONE_TESTBED", crate::target("debug")).env("DRYSTONE_KILLS", count.to_string());
    process::run(&mut command)?;
    Ok(ExitCode::SUCCESS)
}

/// `cargo xtask chaos [seeds]`: random stacks, programs, faults and crash points of the engine.
pub(crate) fn chaos(seeds: &str) -> Result<ExitCode, Failure> {
    let seeds = number(seeds)?;
    let arguments =
        ["test", "--package", "drystone-engine", "--test", "chaos", "--locked", "--", "--nocapture"];
    let mut command = process::cargo(arguments);
    process::run(command.env("DRYSTONE_CHAOS_SEEDS", seeds.to_string()))?;
    Ok(ExitCode::SUCCESS)
}

/// `cargo xtask cuts`: the connection to PostgreSQL cut at every message of updates, recoveries and moves.
pub(crate) fn cuts() -> Result<ExitCode, Failure> {
    let ready = setup::everything()?;
    let mut command = process::cargo([
        "test",
        "--package",
        "drystone-stores",
        "--test",
        "postgres_faults",
        "--locked",
        "--",
        "--include-ignored",
        "--nocapture",
    ]);
    process::run(command.envs(ready.variables()).env("DRYSTONE_CUT_MESSAGES", "1"))?;
    Ok(ExitCode::SUCCESS)
}

fn number(text: &str) -> Result<u64, Failure> {
    text.parse().map_err(|_| Failure::new(format!("`{text}` is not a number")))
}

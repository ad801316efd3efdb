//! Commands of the stock CLI that are not here yet.

use crate::report::{ExitCode, Failure, Outcome};
use std::ffi::OsString;

/// What the stock CLI has and this version does not.
const LATER: [&str; 13] = [
    "ai",
    "api",
    "console",
    "convert",
    "deployment",
    "do",
    "env",
    "insights",
    "logs",
    "neo",
    "org",
    "project",
    "template",
];

/// Says that a command is not there, and whether it ever will be.
pub(crate) fn run(words: &[OsString]) -> Outcome {
    let name = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let failure = if LATER.contains(&name.as_str()) {
        Failure::new(ExitCode::Configuration, format!("`{name}` is not part of this version yet"))
    } else {
        Failure::new(ExitCode::Configuration, format!("unknown command `{name}`"))
    };
    Err(failure.hint("`drystone --help` lists the commands that are"))
}

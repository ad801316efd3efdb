//! Running other programs: shown before they run, never reading our standard input.

use crate::failure::Failure;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// A command for a program found by name or path.
pub(crate) fn command<S: AsRef<OsStr>>(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = S>,
) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command
}

/// The cargo that runs us, in the workspace's root.
pub(crate) fn cargo<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = command(cargo, arguments);
    command.current_dir(crate::root());
    if std::env::var_os("CI").is_some() {
        // What is built once and thrown away need not be prepared for the next build.
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Shows a command, runs it with our outputs, and fails when it fails.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    eprintln!("$ {}", shown(command));
    let status = command.status().map_err(|error| unstartable(command, &error))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("`{}`: {status}", shown(command)))) }
}

/// Shows a command, runs it, and hands each line of its standard output to `see`.
///
/// Returns whether the command succeeded.
pub(crate) fn run_reading(command: &mut Command, mut see: impl FnMut(&str)) -> Result<bool, Failure> {
    eprintln!("$ {}", shown(command));
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| unstartable(command, &error))?;
    let lost = |error: &std::io::Error| Failure::new(format!("the output of `{}`: {error}", shown(command)));
    if let Some(output) = child.stdout.take() {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line).map_err(|error| lost(&error))? > 0 {
            see(String::from_utf8_lossy(&line).trim_end());
            line.clear();
        }
    }
    Ok(child.wait().map_err(|error| lost(&error))?.success())
}

/// Runs a command quietly and returns its standard output, or nothing when it cannot run or fails.
pub(crate) fn output_of(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn unstartable(command: &Command, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot run `{}`: {error}", shown(command)))
}

/// A command as a reader would type it: the program's name without its folders, then its arguments.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut shown = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    for argument in command.get_args() {
        shown.push(' ');
        let argument = argument.to_string_lossy();
        if argument.contains(' ') {
            shown.push_str(&format!("'{argument}'"));
        } else {
            shown.push_str(&argument);
        }
    }
    shown
}

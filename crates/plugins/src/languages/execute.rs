//! Running processes to their end.

use super::LanguageError;
use crate::process::{Exit, Group, LineSink, STOP_GRACE, Stream, drained, forward};
use std::process::{Command, Stdio};
use tokio::io::BufReader;

/// How a process ended.
pub(super) enum Ran {
    /// By itself.
    Exited(Exit),
    /// Because the caller asked.
    Cancelled,
}

/// Runs a process to its end and delivers what it prints. Dropping the future kills it.
pub(super) async fn execute(
    command: Command,
    input: Option<Vec<u8>>,
    sink: &LineSink,
    cancelled: impl Future<Output = ()>,
) -> Result<Ran, LanguageError> {
    execute_known(command, input, sink, cancelled, |_| {}).await
}

/// The same, for somebody who wants to know the process.
pub(super) async fn execute_known(
    mut command: Command,
    input: Option<Vec<u8>>,
    sink: &LineSink,
    cancelled: impl Future<Output = ()>,
    started: impl FnOnce(u32),
) -> Result<Ran, LanguageError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let spawned = match input {
        Some(input) => Group::spawn_fed(command, input),
        None => {
            command.stdin(Stdio::null());
            Group::spawn(command)
        }
    };
    let (group, stdout, stderr) = spawned.map_err(|source| LanguageError::Spawn { program, source })?;
    started(group.id());
    let readers = [
        tokio::spawn(forward(BufReader::new(stdout), Stream::Stdout, sink.clone())),
        tokio::spawn(forward(BufReader::new(stderr), Stream::Stderr, sink.clone())),
    ];
    let ran = tokio::select! {
        biased;
        exit = group.exited() => Ran::Exited(exit),
        () = cancelled => {
            group.stop(STOP_GRACE).await;
            Ran::Cancelled
        }
    };
    for reader in readers {
        drained(reader).await;
    }
    Ok(ran)
}

/// What a short command prints, or an error with what it said.
pub(super) async fn output_of(mut command: Command) -> Result<String, LanguageError> {
    command.stdin(Stdio::null());
    let shown = shown(&command);
    let program = command.get_program().to_string_lossy().into_owned();
    let output = tokio::process::Command::from(command).kill_on_drop(true).output().await;
    let output = output.map_err(|source| LanguageError::Spawn { program, source })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let printed = [text(&output.stdout), text(&output.stderr)].join("\n").trim().to_owned();
    Err(LanguageError::Command { command: shown, exit: output.status.into(), output: printed })
}

/// A command as one would type it.
pub(super) fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    words.join(" ")
}

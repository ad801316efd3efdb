//! Python.

mod check;
mod install;
mod packages;
mod plugin;
mod toolchain;

use super::debugger::PythonDebugger;
use super::execute::{Ran, execute, output_of};
use super::node::BAILED;
use super::{About, LanguageError, Outcome, Program, RunRequest};
use crate::process::{Exit, Line, LineSink};
use drystone_workspace::Environment;
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use toolchain::Interpreter;

/// Runs a program with the SDK. The SDK itself has nothing that does.
const RUNNER: &str = include_str!("python/runner.py");

/// The line in which the runner says that there is no SDK.
const NO_SDK: &str = "drystone-runner: no module named pulumi";

/// Python.
pub(super) struct Python {
    environment: Arc<Environment>,
    sink: LineSink,
    /// The Python of the program in a folder, once it was found.
    found: OnceLock<(PathBuf, Interpreter)>,
}

impl std::fmt::Debug for Python {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Python").finish_non_exhaustive()
    }
}

impl Python {
    pub(super) fn new(environment: Arc<Environment>, sink: LineSink) -> Self {
        Self { environment, sink, found: OnceLock::new() }
    }

    /// Runs a program to its end, after its types have been checked if the project asks for that.
    pub(super) async fn run(
        &self,
        request: &RunRequest,
        cancelled: impl Future<Output = ()>,
    ) -> Result<Outcome, LanguageError> {
        let program = &request.program;
        let interpreter = self.interpreter(program).await?;
        tokio::pin!(cancelled);
        let checked = tokio::select! {
            checked = self.check(&interpreter, program) => checked?,
            () = &mut cancelled => return Ok(Outcome::Cancelled),
        };
        if let Err(message) = checked {
            return Ok(Outcome::Failed { message });
        }
        let debugger = match &request.debugger {
            None => None,
            Some(_) if !self.has_debugger(&interpreter).await => {
                return Ok(Outcome::Failed { message: LanguageError::NoDebugpy.to_string() });
            }
            Some(sink) => Some((PythonDebugger::new()?, sink)),
        };
        let waits = debugger.as_ref().map(|(debugger, _)| debugger.arguments()).unwrap_or_default();
        let (command, input) = self.program_command(&interpreter, request, &waits);
        let lacks_sdk = Arc::new(AtomicBool::new(false));
        let sink = without_no_sdk(self.sink.clone(), lacks_sdk.clone());
        let running = execute(command, input, &sink, cancelled);
        let telling = async {
            if let Some((debugger, sink)) = &debugger {
                debugger.tell_when_ready("Pulumi: Program (Python)", sink).await;
            }
            std::future::pending::<()>().await;
        };
        let ran = tokio::select! {
            ran = running => ran?,
            () = telling => Ran::Cancelled,
        };
        let exit = match ran {
            Ran::Exited(exit) => exit,
            Ran::Cancelled => return Ok(Outcome::Cancelled),
        };
        if lacks_sdk.load(Ordering::Relaxed) {
            return Err(self.sdk_missing(&interpreter, program));
        }
        Ok(match exit {
            Exit::Code(0) => Outcome::Finished,
            Exit::Code(BAILED) => Outcome::Bailed,
            Exit::Code(code) => {
                Outcome::Failed { message: format!("program exited with non-zero exit code: {code}") }
            }
            exit => Outcome::Failed { message: format!("program was ended by {exit}") },
        })
    }

    /// The command of a program, and what it is to read from its input.
    fn program_command(
        &self,
        interpreter: &Interpreter,
        request: &RunRequest,
        waits: &[String],
    ) -> (Command, Option<Vec<u8>>) {
        let program = &request.program;
        let settings = json!({
            "monitor": request.monitor_address,
            "engine": request.engine_address,
            "project": request.project,
            "stack": request.stack,
            "organization": request.organization,
            "root_directory": program.root.to_string_lossy(),
            "parallel": request.parallel,
            "dry_run": request.dry_run,
        });
        let mut command = self.command(interpreter);
        command.current_dir(&program.directory);
        command.args(waits);
        command.args(["-c", RUNNER, &settings.to_string(), &program.entry_point]).args(&request.args);
        let input = request.config_variables(ToString::to_string).give(&mut command);
        (command, input)
    }

    /// The interpreter and its version.
    pub(super) async fn about(&self, program: &Program) -> Result<About, LanguageError> {
        let interpreter = self.interpreter(program).await?;
        let mut command = self.command(&interpreter);
        command.arg("--version");
        let version = output_of(command).await?;
        let version = version.trim().trim_start_matches("Python ").to_owned();
        Ok(About { executable: interpreter.program.display().to_string(), version })
    }

    async fn has_debugger(&self, interpreter: &Interpreter) -> bool {
        let mut command = self.command(interpreter);
        command.args(["-c", "import debugpy"]);
        output_of(command).await.is_ok()
    }

    /// The command of a provider that the program carries within itself.
    pub(super) async fn dynamic_provider(&self, program: &Program) -> Result<Command, LanguageError> {
        let mut command = self.command(&self.interpreter(program).await?);
        command.args(["-u", "-m", "pulumi.dynamic"]);
        Ok(command)
    }
}

/// A sink that keeps the runner's own line to itself.
fn without_no_sdk(sink: LineSink, noticed: Arc<AtomicBool>) -> LineSink {
    Arc::new(move |line: Line| {
        if line.text == NO_SDK {
            noticed.store(true, Ordering::Relaxed);
        } else {
            sink(line);
        }
    })
}

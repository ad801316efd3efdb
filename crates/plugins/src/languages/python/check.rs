//! Checking the types of a program before it runs.

use super::Python;
use super::toolchain::{Interpreter, Toolchain};
use crate::languages::execute::{Ran, execute, output_of};
use crate::languages::{LanguageError, Program, options};
use crate::process::{Exit, Line, LineSink};
use std::sync::{Arc, Mutex, PoisonError};

impl Python {
    /// Runs the type checker that the project asks for, if any: nothing, or what it found.
    pub(super) async fn check(
        &self,
        interpreter: &Interpreter,
        program: &Program,
    ) -> Result<Result<(), String>, LanguageError> {
        let checker = match options::text(&program.runtime, "typechecker")? {
            None => return Ok(Ok(())),
            Some("mypy") => "mypy",
            Some("pyright") => "pyright",
            Some(_) => {
                return Err(LanguageError::Option {
                    option: "typechecker",
                    expected: "one of mypy or pyright",
                });
            }
        };
        self.find_checker(interpreter, checker).await?;
        let mut command = self.command(interpreter);
        command.args(["-m", checker]).current_dir(&program.directory);
        if checker == "mypy"
            && let Some(virtualenv) = &interpreter.virtualenv
        {
            let inside = virtualenv.strip_prefix(&program.directory).unwrap_or(virtualenv);
            command.arg("--exclude").arg(inside);
        }
        command.arg(&program.directory);
        let (sink, printed) = remembering(self.sink.clone());
        match execute(command, None, &sink, std::future::pending()).await? {
            Ran::Exited(Exit::Code(0)) | Ran::Cancelled => Ok(Ok(())),
            Ran::Exited(exit) => {
                let printed = printed.lock().unwrap_or_else(PoisonError::into_inner).join("\n");
                Ok(Err(format!("{checker} failed: {exit}\n{printed}")))
            }
        }
    }

    async fn find_checker(
        &self,
        interpreter: &Interpreter,
        checker: &'static str,
    ) -> Result<(), LanguageError> {
        let script = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)";
        let mut command = self.command(interpreter);
        command.args(["-c", script, checker]);
        match output_of(command).await {
            Ok(_) => Ok(()),
            Err(LanguageError::Command { exit: Exit::Code(1), .. }) => {
                Err(LanguageError::TypeCheckerMissing {
                    checker,
                    install: match interpreter.toolchain {
                        Toolchain::Uv => format!("uv add {checker}"),
                        Toolchain::Poetry => format!("poetry add {checker}"),
                        Toolchain::Pip => {
                            format!("{} -m pip install {checker}", interpreter.program.display())
                        }
                    },
                })
            }
            Err(error) => Err(error),
        }
    }
}

/// A sink that keeps what it passes on.
fn remembering(sink: LineSink) -> (LineSink, Arc<Mutex<Vec<String>>>) {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let seen = kept.clone();
    let sink: LineSink = Arc::new(move |line: Line| {
        seen.lock().unwrap_or_else(PoisonError::into_inner).push(line.text.clone());
        sink(line);
    });
    (sink, kept)
}

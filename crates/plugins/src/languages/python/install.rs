//! Installing what a Python program depends on.

use super::Python;
use super::toolchain::{Toolchain, virtualenv_option};
use crate::languages::execute::{Ran, execute, shown};
use crate::languages::{LanguageError, Program};
use crate::process::{Exit, LineSink};
use std::io::Write;
use std::process::Command;

impl Python {
    /// Installs what a program depends on, into the virtual environment that the project names.
    pub(in crate::languages) async fn install(
        &self,
        program: &Program,
        sink: &LineSink,
    ) -> Result<(), LanguageError> {
        match Toolchain::of(program)? {
            Toolchain::Uv => {
                let mut command = Command::new(self.needed("uv", "install uv, https://docs.astral.sh/uv")?);
                command.arg("sync");
                finish(command, program, sink).await
            }
            Toolchain::Poetry => {
                let hint = "install Poetry, https://python-poetry.org, or set `toolchain: pip`";
                let mut command = Command::new(self.needed("poetry", hint)?);
                command.args(["install", "--no-ansi"]);
                finish(command, program, sink).await
            }
            Toolchain::Pip => self.install_with_pip(program, sink).await,
        }
    }

    /// Adds a package in a folder, relative to the program, to what the program depends on, and installs it.
    pub(in crate::languages) async fn add(
        &self,
        program: &Program,
        folder: &str,
        sink: &LineSink,
    ) -> Result<(), LanguageError> {
        let folder = format!("./{folder}");
        let mut command = match Toolchain::of(program)? {
            Toolchain::Uv => {
                let mut command = Command::new(self.needed("uv", "install uv, https://docs.astral.sh/uv")?);
                command.arg("add");
                command
            }
            Toolchain::Poetry => {
                let hint = "install Poetry, https://python-poetry.org, or set `toolchain: pip`";
                let mut command = Command::new(self.needed("poetry", hint)?);
                command.args(["add", "--no-ansi"]);
                command
            }
            Toolchain::Pip => {
                note_requirement(program, &folder)?;
                return self.install_with_pip(program, sink).await;
            }
        };
        command.arg(&folder);
        finish(command, program, sink).await
    }

    async fn install_with_pip(&self, program: &Program, sink: &LineSink) -> Result<(), LanguageError> {
        if let Some(virtualenv) = virtualenv_option(program)?.filter(|path| !path.exists()) {
            let system = self.without_virtualenv()?;
            let mut command = self.command(&system);
            command.args(["-m", "venv"]).arg(virtualenv);
            finish(command, program, sink).await?;
        }
        let requirements = program.directory.join("requirements.txt");
        if !requirements.is_file() {
            return Ok(());
        }
        let mut command = self.command(&self.interpreter(program).await?);
        command.args(["-m", "pip", "install", "-r"]).arg(requirements);
        finish(command, program, sink).await
    }
}

/// Adds a line to the requirements of a program, unless it is there.
fn note_requirement(program: &Program, line: &str) -> Result<(), LanguageError> {
    let path = program.directory.join("requirements.txt");
    let failed = |source: std::io::Error| LanguageError::Requirements { path: path.clone(), source };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error)),
    };
    if text.lines().any(|other| other.trim() == line) {
        return Ok(());
    }
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    // Only added to: whatever happens, what is there stays.
    let file = std::fs::OpenOptions::new().append(true).create(true).open(&path);
    file.and_then(|mut file| file.write_all(format!("{gap}{line}\n").as_bytes())).map_err(failed)
}

async fn finish(mut command: Command, program: &Program, sink: &LineSink) -> Result<(), LanguageError> {
    command.current_dir(&program.directory);
    let shown = shown(&command);
    match execute(command, None, sink, std::future::pending()).await? {
        Ran::Exited(Exit::Code(0)) | Ran::Cancelled => Ok(()),
        Ran::Exited(exit) => Err(LanguageError::Command { command: shown, exit, output: String::new() }),
    }
}

//! Which Python runs a program.

use super::Python;
use crate::languages::execute::output_of;
use crate::languages::{LanguageError, Program, options};
use crate::search::on_path;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A Python, in a virtual environment or not.
#[derive(Debug, Clone)]
pub(super) struct Interpreter {
    pub(super) program: PathBuf,
    pub(super) virtualenv: Option<PathBuf>,
    pub(super) toolchain: Toolchain,
}

/// What manages the packages of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Toolchain {
    Pip,
    Uv,
    Poetry,
}

impl Python {
    /// The Python of a program. Finding it may take what its toolchain takes, so it is done once.
    pub(super) async fn interpreter(&self, program: &Program) -> Result<Interpreter, LanguageError> {
        if let Some((_, found)) = self.found.get().filter(|(folder, _)| *folder == program.directory) {
            return Ok(found.clone());
        }
        let found = self.find_interpreter(program).await?;
        Ok(self.found.get_or_init(|| (program.directory.clone(), found.clone())).1.clone())
    }

    async fn find_interpreter(&self, program: &Program) -> Result<Interpreter, LanguageError> {
        let toolchain = Toolchain::of(program)?;
        let virtualenv = match toolchain {
            Toolchain::Pip => match virtualenv_option(program)? {
                Some(virtualenv) => virtualenv,
                None => return self.without_virtualenv(),
            },
            Toolchain::Uv => self.of_uv(program).await?,
            Toolchain::Poetry => self.of_poetry(program).await?,
        };
        match python_in(&virtualenv) {
            Some(python) => Ok(Interpreter { program: python, virtualenv: Some(virtualenv), toolchain }),
            None => Err(LanguageError::VirtualEnv {
                exists: virtualenv.exists(),
                make: match toolchain {
                    Toolchain::Pip => {
                        let path = virtualenv.display();
                        format!("python3 -m venv {path} && {path}/bin/pip install -r requirements.txt")
                    }
                    Toolchain::Uv => "uv sync".to_owned(),
                    Toolchain::Poetry => "poetry install".to_owned(),
                },
                path: virtualenv,
            }),
        }
    }

    /// A command of a Python. In a virtual environment it has what activating that would give it.
    pub(super) fn command(&self, interpreter: &Interpreter) -> Command {
        let mut command = Command::new(&interpreter.program);
        if let Some(virtualenv) = &interpreter.virtualenv {
            let path = self.environment.variable("PATH").unwrap_or_default();
            let folders = std::iter::once(virtualenv.join(BIN)).chain(std::env::split_paths(&path));
            // A folder with a separator in its name cannot be on a PATH.
            if let Ok(path) = std::env::join_paths(folders) {
                command.env("PATH", path);
            }
            command.env("VIRTUAL_ENV", virtualenv).env_remove("PYTHONHOME");
        }
        command
    }

    pub(super) fn without_virtualenv(&self) -> Result<Interpreter, LanguageError> {
        let candidates = match self.environment.filled_variable("PULUMI_PYTHON_CMD") {
            Some(command) => vec![command],
            None => vec!["python3".to_owned(), "python".to_owned()],
        };
        let program = candidates.iter().find_map(|name| self.tool(name));
        let program = program.ok_or_else(|| LanguageError::NotOnPath {
            programs: candidates,
            hint: "install Python, https://www.python.org, or name it in PULUMI_PYTHON_CMD".to_owned(),
        })?;
        Ok(Interpreter { program, virtualenv: None, toolchain: Toolchain::Pip })
    }

    /// The virtual environment of uv, brought up to date as `uv run` would.
    async fn of_uv(&self, program: &Program) -> Result<PathBuf, LanguageError> {
        let uv = self.needed("uv", "install uv, https://docs.astral.sh/uv")?;
        let directory = &program.directory;
        let project = nearest(directory, "uv.lock").or_else(|| nearest(directory, "pyproject.toml"));
        let project = project.unwrap_or(directory);
        let virtualenv = match virtualenv_option(program)? {
            Some(virtualenv) => virtualenv,
            None => match self.environment.filled_variable("UV_PROJECT_ENVIRONMENT") {
                Some(named) => project.join(named),
                None => project.join(".venv"),
            },
        };
        if nearest(directory, "pyproject.toml").is_some() {
            let mut command = Command::new(uv);
            command.args(["sync", "--inexact"]).current_dir(directory);
            command.env("UV_PROJECT_ENVIRONMENT", &virtualenv);
            output_of(command).await?;
        }
        Ok(virtualenv)
    }

    async fn of_poetry(&self, program: &Program) -> Result<PathBuf, LanguageError> {
        let poetry =
            self.needed("poetry", "install Poetry, https://python-poetry.org, or set `toolchain: pip`")?;
        let mut command = Command::new(poetry);
        command.args(["env", "info", "--path"]).current_dir(&program.directory);
        match output_of(command).await {
            Ok(printed) => Ok(program.directory.join(printed)),
            // It says nothing more when there is no environment yet.
            Err(LanguageError::Command { output, .. }) if output.is_empty() => {
                Err(LanguageError::NoVirtualEnv {
                    tool: "Poetry",
                    directory: program.directory.clone(),
                    make: "poetry install",
                })
            }
            Err(error) => Err(error),
        }
    }

    /// A tool on the PATH, or at a path of its own.
    pub(super) fn tool(&self, name: &str) -> Option<PathBuf> {
        let path = Path::new(name);
        if path.components().count() > 1 {
            return Some(self.environment.resolve(path)).filter(|path| path.is_file());
        }
        on_path(self.environment.variable("PATH")?.as_ref(), name)
    }

    pub(super) fn needed(&self, name: &str, hint: &str) -> Result<PathBuf, LanguageError> {
        self.tool(name).ok_or_else(|| LanguageError::NotOnPath {
            programs: vec![name.to_owned()],
            hint: hint.to_owned(),
        })
    }

    /// The error of a Python that has no SDK.
    pub(super) fn sdk_missing(&self, interpreter: &Interpreter, program: &Program) -> LanguageError {
        let install = match interpreter.toolchain {
            Toolchain::Uv => "uv add pulumi".to_owned(),
            Toolchain::Poetry => "poetry add pulumi".to_owned(),
            Toolchain::Pip => format!("{} -m pip install -r requirements.txt", interpreter.program.display()),
        };
        LanguageError::SdkMissing { package: "pulumi", directory: program.directory.clone(), install }
    }
}

impl Toolchain {
    /// What the project names, or whose lock file is there.
    pub(super) fn of(program: &Program) -> Result<Self, LanguageError> {
        match options::text(&program.runtime, "toolchain")? {
            Some("pip") => Ok(Self::Pip),
            Some("uv") => Ok(Self::Uv),
            Some("poetry") => Ok(Self::Poetry),
            Some(_) => {
                Err(LanguageError::Option { option: "toolchain", expected: "one of pip, uv or poetry" })
            }
            None if nearest(&program.directory, "uv.lock").is_some() => Ok(Self::Uv),
            None if nearest(&program.directory, "poetry.lock").is_some() => Ok(Self::Poetry),
            None => Ok(Self::Pip),
        }
    }
}

const BIN: &str = if cfg!(windows) { "Scripts" } else { "bin" };

/// The Python of a virtual environment.
fn python_in(virtualenv: &Path) -> Option<PathBuf> {
    let name = if cfg!(windows) { "python.exe" } else { "python" };
    Some(virtualenv.join(BIN).join(name)).filter(|python| python.is_file())
}

/// The virtual environment that the project names, seen from its root.
pub(super) fn virtualenv_option(program: &Program) -> Result<Option<PathBuf>, LanguageError> {
    let named = options::text(&program.runtime, "virtualenv")?.filter(|path| !path.is_empty());
    Ok(named.map(|path| program.root.join(path)))
}

/// The nearest folder, from one upwards, that has a file.
fn nearest<'a>(directory: &'a Path, file: &str) -> Option<&'a Path> {
    directory.ancestors().find(|folder| folder.join(file).is_file())
}

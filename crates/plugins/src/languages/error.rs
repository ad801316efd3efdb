//! Why a program cannot be run.

use crate::process::{ConnectError, Exit, Printed, StartError};
use crate::search::SearchError;
use std::io;
use std::path::PathBuf;

/// Why a program cannot be run. A program that ran and failed is an [`super::Outcome`].
#[derive(Debug, thiserror::Error)]
pub enum LanguageError {
    /// The project names no language.
    #[error("`{}` has no `runtime`, the language of the program", path.display())]
    NoRuntime {
        /// The project file.
        path: PathBuf,
    },
    /// The project's `main` is not there.
    #[error("project 'main' could not be read: `{}`", path.display())]
    Main {
        /// What it names.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A runtime option is not of its type.
    #[error("the runtime option `{option}` must be {expected}")]
    Option {
        /// The option.
        option: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// A debugger has no place to wait at.
    #[error("the program cannot wait for a debugger: {source}")]
    Debugger {
        /// Why.
        source: io::Error,
    },
    /// Python's debugger is not installed.
    #[error("debugpy is not installed; add it to what the program depends on and run `drystone install`")]
    NoDebugpy,
    /// A program that is needed is not on the PATH.
    #[error("could not find {} on the $PATH", programs.join(" or "))]
    NotOnPath {
        /// The names it may have.
        programs: Vec<String>,
        /// What to do.
        hint: String,
    },
    /// The SDK is not installed.
    #[error("the Pulumi SDK `{package}` is not installed for `{}`", directory.display())]
    SdkMissing {
        /// The package.
        package: &'static str,
        /// The folder of the program.
        directory: PathBuf,
        /// The command that installs it.
        install: String,
    },
    /// The virtual environment is not there, or is none.
    #[error("`{}` {}", path.display(), if *exists { "is not a virtual environment" } else { "does not exist" })]
    VirtualEnv {
        /// The folder.
        path: PathBuf,
        /// Whether there is such a folder.
        exists: bool,
        /// The command that makes it.
        make: String,
    },
    /// The tool that keeps the virtual environment has none for the program.
    #[error("{tool} has no virtual environment for `{}`", directory.display())]
    NoVirtualEnv {
        /// The tool.
        tool: &'static str,
        /// The folder of the program.
        directory: PathBuf,
        /// The command that makes it.
        make: &'static str,
    },
    /// The type checker that the project asks for is not installed.
    #[error("the typechecker option is set to {checker}, but {checker} is not installed")]
    TypeCheckerMissing {
        /// The type checker.
        checker: &'static str,
        /// The command that installs it.
        install: String,
    },
    /// A plugin in Python has nothing to run.
    #[error("plugin is not runnable, it provides neither __main__.py nor a buildable pyproject.toml: `{}`", folder.display())]
    NotRunnable {
        /// Its folder.
        folder: PathBuf,
    },
    /// What a program depends on cannot be noted.
    #[error("`{}` cannot be changed: {source}", path.display())]
    Requirements {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The plugin of a language is too old to make SDKs.
    #[error("the plugin of `{language}` cannot make SDKs of packages")]
    NoSdks {
        /// The language.
        language: String,
    },
    /// A command that prepares the run failed.
    #[error("`{command}` failed with {exit}{}{output}", if output.is_empty() { "" } else { ":\n" })]
    Command {
        /// The command.
        command: String,
        /// How it ended.
        exit: Exit,
        /// What it printed.
        output: String,
    },
    /// A process cannot be started.
    #[error("cannot start `{program}`")]
    Spawn {
        /// The program.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// The language has no plugin.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The plugin of the language did not come up.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The language host cannot be reached.
    #[error("could not connect to the language host")]
    Connect(#[from] ConnectError),
    /// The language host ended while it was needed.
    #[error("the language host for {language} ended with {exit}{}", Printed(printed))]
    HostEnded {
        /// The language.
        language: String,
        /// How.
        exit: Exit,
        /// Its last lines.
        printed: String,
    },
    /// The language host answers with an error.
    #[error("the language host for {language} failed: {}", status.message())]
    Host {
        /// The language.
        language: String,
        /// The answer.
        status: Box<tonic::Status>,
    },
}

impl LanguageError {
    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoRuntime { .. } => Some("add a line such as `runtime: nodejs`".to_owned()),
            Self::NotOnPath { hint, .. } => Some(hint.clone()),
            Self::SdkMissing { install, .. } | Self::TypeCheckerMissing { install, .. } => {
                Some(format!("install it with `{install}`"))
            }
            Self::VirtualEnv { make, .. } => Some(format!("make it with `{make}`")),
            Self::NoVirtualEnv { make, .. } => Some(format!("make it with `{make}`")),
            Self::Search(error) => error.hint(),
            Self::NoSdks { .. } => {
                Some("install the package's SDK with the package manager of the language".to_owned())
            }
            _ => None,
        }
    }
}

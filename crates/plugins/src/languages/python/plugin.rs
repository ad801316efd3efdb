//! Plugins that are written in Python.

use super::Python;
use super::toolchain::{Interpreter, Toolchain};
use crate::languages::debugger::PythonDebugger;
use crate::languages::execute::output_of;
use crate::languages::{LanguageError, Program};
use drystone_workspace::Value;
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

impl Python {
    /// The command of a plugin in source code, without its own arguments: its `__main__.py`, or the package that its
    /// `pyproject.toml` describes. It may wait for a debugger.
    pub(in crate::languages) async fn plugin(
        &self,
        plugin: &Program,
        debugger: Option<&PythonDebugger>,
    ) -> Result<Command, LanguageError> {
        let folder = &plugin.directory;
        let interpreter = self.interpreter(&with_virtualenv(plugin)?).await?;
        if debugger.is_some() && !self.has_debugger(&interpreter).await {
            return Err(LanguageError::NoDebugpy);
        }
        let mut command = self.command(&interpreter);
        command.arg("-u").args(debugger.map(PythonDebugger::arguments).unwrap_or_default());
        if folder.join("__main__.py").is_file() || !self.can_run_packages(&interpreter).await {
            command.arg(folder);
            return Ok(command);
        }
        let package =
            package_name(folder).ok_or_else(|| LanguageError::NotRunnable { folder: folder.to_owned() })?;
        command.args(["-m", "pulumi.run.plugin", &package]);
        Ok(command)
    }

    /// The command of a policy pack, without its own arguments, of which the last is its folder. Like a program, a pack
    /// runs in the Python that is around unless it names a virtual environment.
    pub(in crate::languages) async fn policy_pack(&self, pack: &Program) -> Result<Command, LanguageError> {
        let interpreter = self.interpreter(pack).await?;
        let mut command = self.command(&interpreter);
        command.args(["-u", "-m", "pulumi.policy"]);
        Ok(command)
    }

    /// Whether the plugin's SDK is new enough to run a package.
    async fn can_run_packages(&self, interpreter: &Interpreter) -> bool {
        let mut command = self.command(interpreter);
        command.args(["-c", "import pulumi.run.plugin"]);
        output_of(command).await.is_ok()
    }
}

/// A plugin never runs in whichever Python happens to be around: `venv` is its virtual environment unless it names
/// another.
fn with_virtualenv(plugin: &Program) -> Result<Program, LanguageError> {
    let mut plugin = plugin.clone();
    if Toolchain::of(&plugin)? == Toolchain::Pip {
        let named = plugin.runtime.options.entry("virtualenv".to_owned());
        named.or_insert_with(|| Value::String("venv".to_owned()));
    }
    Ok(plugin)
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct PyProject {
    project: Option<ProjectTable>,
    build_system: Option<BuildSystem>,
}

#[derive(Deserialize)]
struct ProjectTable {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct BuildSystem {
    build_backend: Option<String>,
}

/// The name of the package that can be built from a folder.
fn package_name(folder: &Path) -> Option<String> {
    let text = std::fs::read_to_string(folder.join("pyproject.toml")).ok()?;
    let read: PyProject = toml::from_str(&text).ok()?;
    read.build_system?.build_backend?;
    read.project.map(|project| project.name)
}

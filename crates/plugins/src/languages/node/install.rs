//! Installing what a Node.js program depends on.

use super::{Flavour, Node};
use crate::languages::execute::{Ran, execute, shown};
use crate::languages::{LanguageError, Program, options};
use crate::process::{Exit, LineSink};
use crate::search::on_path;
use std::path::Path;
use std::process::Command;

impl Node {
    /// Installs what a program depends on.
    pub(in crate::languages) async fn install(
        &self,
        program: &Program,
        sink: &LineSink,
    ) -> Result<(), LanguageError> {
        let [manager, verb] = self.install_command(program)?;
        self.manage(program, &[manager, verb], sink).await
    }

    /// Adds a package in a folder, relative to the program, to what the program depends on, and installs it.
    pub(in crate::languages) async fn add(
        &self,
        program: &Program,
        folder: &str,
        sink: &LineSink,
    ) -> Result<(), LanguageError> {
        let [manager, _] = self.install_command(program)?;
        self.manage(program, &[manager, "add", &format!("file:{folder}")], sink).await
    }

    async fn manage(&self, program: &Program, words: &[&str], sink: &LineSink) -> Result<(), LanguageError> {
        let path = self.environment.variable("PATH").unwrap_or_default();
        let manager = on_path(path.as_ref(), words[0]).ok_or_else(|| LanguageError::NotOnPath {
            programs: vec![words[0].to_owned()],
            hint: format!("install {}, or name another `packagemanager` in the runtime options", words[0]),
        })?;
        let mut command = Command::new(manager);
        command.args(&words[1..]).current_dir(&program.directory);
        let shown = shown(&command);
        match execute(command, None, sink, std::future::pending()).await? {
            Ran::Exited(Exit::Code(0)) | Ran::Cancelled => Ok(()),
            Ran::Exited(exit) => Err(LanguageError::Command { command: shown, exit, output: String::new() }),
        }
    }

    /// The command that installs what a program depends on: by the package manager that the project names, or the one
    /// whose lock file is nearest.
    pub(super) fn install_command(&self, program: &Program) -> Result<[&'static str; 2], LanguageError> {
        const EXPECTED: &str = "one of auto, npm, yarn, pnpm or bun";
        if self.flavour == Flavour::Bun {
            return Ok(["bun", "install"]);
        }
        let named = options::text(&program.runtime, "packagemanager")?.unwrap_or("auto");
        let manager = match named {
            "npm" => "npm",
            "yarn" => "yarn",
            "pnpm" => "pnpm",
            "bun" => "bun",
            "auto" => self.detected(&program.directory),
            _ => return Err(LanguageError::Option { option: "packagemanager", expected: EXPECTED }),
        };
        Ok([manager, "install"])
    }

    fn detected(&self, directory: &Path) -> &'static str {
        const LOCKS: [(&str, &str); 5] = [
            ("package.yaml", "pnpm"),
            ("yarn.lock", "yarn"),
            ("pnpm-lock.yaml", "pnpm"),
            ("bun.lock", "bun"),
            ("bun.lockb", "bun"),
        ];
        let prefers_yarn = self
            .environment
            .variable("PULUMI_PREFER_YARN")
            .is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"));
        if prefers_yarn {
            return "yarn";
        }
        let mut found = LOCKS.iter().filter(|(lock, _)| directory.join(lock).exists());
        found.next().map_or("npm", |(_, manager)| manager)
    }
}

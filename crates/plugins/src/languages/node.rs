//! Node.js and Bun.

mod install;
mod locate;
mod packages;

use super::debugger::NodeDebugger;
use super::execute::{Ran, execute_known, output_of};
use super::{About, LanguageError, Outcome, Program, RunRequest, options};
use crate::process::{Exit, Line, LineSink};
use crate::proto::pulumirpc::PackageDependency;
use crate::search::on_path;
use drystone_workspace::Environment;
use drystone_workspace::config::Key;
use drystone_workspace::project::Runtime;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit code of a program that has told its user why it failed.
pub(super) const BAILED: i32 = 32;

/// A module that takes the variables of a long configuration from the input.
const PRELOADED: &str = "data:text/javascript,import{readFileSync}from'node:fs';\
    Object.assign(process.env,JSON.parse(readFileSync(0,'utf8')))";

/// Node.js or Bun.
pub(super) struct Node {
    flavour: Flavour,
    environment: Arc<Environment>,
    sink: LineSink,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flavour {
    Node,
    Bun,
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node").field("flavour", &self.flavour).finish_non_exhaustive()
    }
}

/// What the project says of how to run it.
struct Options {
    typescript: bool,
    tsconfig: Option<String>,
    node_arguments: Vec<String>,
}

impl Node {
    pub(super) fn new(environment: Arc<Environment>, sink: LineSink) -> Self {
        Self { flavour: Flavour::Node, environment, sink }
    }

    pub(super) fn bun(environment: Arc<Environment>, sink: LineSink) -> Self {
        Self { flavour: Flavour::Bun, environment, sink }
    }

    /// The interpreter and its version.
    pub(super) async fn about(&self) -> Result<About, LanguageError> {
        let binary = self.binary()?;
        let mut command = Command::new(&binary);
        command.arg("--version");
        let version = output_of(command).await?.trim().to_owned();
        Ok(About { executable: binary.display().to_string(), version })
    }

    /// The plugins of everything that is installed for a program.
    pub(super) async fn required(&self, program: &Program) -> Vec<PackageDependency> {
        let directory = program.directory.clone();
        tokio::task::spawn_blocking(move || packages::required(&directory)).await.unwrap_or_default()
    }

    /// Runs a program to its end.
    pub(super) async fn run(
        &self,
        request: &RunRequest,
        cancelled: impl Future<Output = ()>,
    ) -> Result<Outcome, LanguageError> {
        let debugger = request.debugger.as_ref().filter(|_| self.flavour == Flavour::Node);
        let debugger =
            debugger.map(|sink| Ok::<_, LanguageError>((NodeDebugger::new()?, sink))).transpose()?;
        let waits = debugger.as_ref().map(|(debugger, _)| debugger.arguments());
        let (command, input) = self.program_command(request, waits.as_ref()).await?;
        let started = |process| {
            if let Some((debugger, sink)) = &debugger {
                debugger.tell("Pulumi: Program (nodejs)", process, sink);
            }
        };
        let is_out_of_memory = Arc::new(AtomicBool::new(false));
        let sink = watching_memory(self.sink.clone(), is_out_of_memory.clone());
        let exit = match execute_known(command, input, &sink, cancelled, started).await? {
            Ran::Exited(exit) => exit,
            Ran::Cancelled => return Ok(Outcome::Cancelled),
        };
        Ok(match exit {
            Exit::Code(0) => Outcome::Finished,
            Exit::Code(BAILED) => Outcome::Bailed,
            exit => {
                let mut message = failure(exit);
                if is_out_of_memory.load(Ordering::Relaxed) {
                    message.push_str(
                        ". It may have run out of memory; give it more with the runtime option \
                         `nodeargs: --max-old-space-size=<megabytes>` in Pulumi.yaml",
                    );
                }
                Outcome::Failed { message }
            }
        })
    }

    /// The command of a program, and what it is to read from its input.
    async fn program_command(
        &self,
        request: &RunRequest,
        waits: Option<&[String; 2]>,
    ) -> Result<(Command, Option<Vec<u8>>), LanguageError> {
        let program = &request.program;
        // SDKs of all ages know the older form of keys.
        let older = |key: &Key| format!("{}:config:{}", key.namespace(), key.name());
        let variables = request.config_variables(older);
        let mut preloaded = if variables.are_long() { vec!["--import", PRELOADED] } else { Vec::new() };
        preloaded.extend(waits.into_iter().flatten().map(String::as_str));
        let overridden = self.environment.filled_variable("PULUMI_LANGUAGE_NODEJS_RUN_PATH");
        let module = overridden.as_deref().unwrap_or("@pulumi/pulumi/cmd/run");
        let mut command = self.script(program, module, Before::Script, &preloaded).await?;
        command.current_dir(&program.directory);
        command.args(["--monitor", &request.monitor_address, "--engine", &request.engine_address]);
        for (flag, value) in [
            ("--organization", request.organization.as_str()),
            ("--project", &request.project),
            ("--root-directory", &program.root.to_string_lossy()),
            ("--stack", &request.stack),
            ("--pwd", &program.directory.to_string_lossy()),
        ] {
            if !value.is_empty() {
                command.args([flag, value]);
            }
        }
        if request.dry_run {
            command.arg("--dry-run");
        }
        command.args(["--parallel", &request.parallel.to_string()]);
        command.arg(&program.entry_point).args(&request.args);
        let input = variables.give(&mut command);
        Ok((command, input))
    }

    /// The command of a provider that the program carries within itself.
    pub(super) async fn dynamic_provider(&self, program: &Program) -> Result<Command, LanguageError> {
        let binary = self.binary()?;
        let script = self.locate(&binary, "@pulumi/pulumi/cmd/dynamic-provider", program).await?;
        let mut command = self.interpreter(&binary);
        command.arg(script);
        Ok(command)
    }

    /// The command of a plugin in source code, without its own arguments. It may wait for a debugger.
    pub(super) async fn plugin(
        &self,
        plugin: &Program,
        debugger: Option<&NodeDebugger>,
    ) -> Result<Command, LanguageError> {
        let overridden = self.environment.filled_variable("PULUMI_LANGUAGE_NODEJS_RUN_PATH");
        let module = overridden.as_deref().unwrap_or("@pulumi/pulumi/cmd/run-plugin");
        let waits = debugger.map(NodeDebugger::arguments);
        let waits: Vec<&str> = waits.iter().flatten().map(String::as_str).collect();
        let mut command = self.script(plugin, module, Before::Program, &waits).await?;
        command.arg(&plugin.directory);
        Ok(command)
    }

    /// The command of a policy pack, without its own arguments, of which the last is its folder.
    pub(super) async fn policy_pack(&self, pack: &Program) -> Result<Command, LanguageError> {
        self.script(pack, "@pulumi/pulumi/cmd/run-policy-pack", Before::Program, &[]).await
    }

    /// A script of the SDK, with the environment and the options that the project gives.
    async fn script(
        &self,
        program: &Program,
        module: &str,
        arguments: Before,
        preloaded: &[&str],
    ) -> Result<Command, LanguageError> {
        let options = Options::of(&program.runtime)?;
        let binary = self.binary()?;
        let script = self.locate(&binary, module, program).await?;
        let mut command = self.interpreter(&binary);
        let node_arguments = match self.flavour {
            Flavour::Node => options.node_arguments,
            Flavour::Bun => Vec::new(),
        };
        match arguments {
            Before::Script => command.args(preloaded).args(node_arguments).arg(script),
            Before::Program => command.args(preloaded).arg(script).args(node_arguments),
        };
        if self.flavour == Flavour::Node {
            if options.typescript {
                command.env("PULUMI_NODEJS_TYPESCRIPT", "true");
            }
            if let Some(path) = options.tsconfig {
                command.env("PULUMI_NODEJS_TSCONFIG_PATH", path);
            }
        }
        Ok(command)
    }

    fn interpreter(&self, binary: &Path) -> Command {
        let mut command = Command::new(binary);
        if self.flavour == Flavour::Bun {
            command.arg("run");
        }
        command
    }

    fn binary(&self) -> Result<PathBuf, LanguageError> {
        let (name, hint) = match self.flavour {
            Flavour::Node => ("node", "install Node.js, https://nodejs.org"),
            Flavour::Bun => ("bun", "install Bun, https://bun.sh"),
        };
        let path = self.environment.variable("PATH").unwrap_or_default();
        on_path(path.as_ref(), name).ok_or_else(|| LanguageError::NotOnPath {
            programs: vec![name.to_owned()],
            hint: hint.to_owned(),
        })
    }
}

/// Where the arguments that the project has for Node.js go. Those of plugins come late, as the stock host has them.
enum Before {
    Script,
    Program,
}

impl Options {
    fn of(runtime: &Runtime) -> Result<Self, LanguageError> {
        let arguments = options::text(runtime, "nodeargs")?.unwrap_or_default();
        let node_arguments = shlex::split(arguments).ok_or(LanguageError::Option {
            option: "nodeargs",
            expected: "arguments with balanced quotes",
        })?;
        Ok(Self {
            typescript: options::switch(runtime, "typescript")?.unwrap_or(true),
            tsconfig: options::text(runtime, "tsconfig")?.filter(|path| !path.is_empty()).map(str::to_owned),
            node_arguments,
        })
    }
}

fn failure(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("Program exited with non-zero exit code: {code}"),
        exit => format!("Program was ended by {exit}"),
    }
}

/// A sink that notices how Node.js says that it ran out of memory.
fn watching_memory(sink: LineSink, noticed: Arc<AtomicBool>) -> LineSink {
    const SIGNS: [&str; 2] =
        ["<--- Last few GCs --->", "Check failed: needs_context && current_scope_ == closure_scope_"];
    Arc::new(move |line: Line| {
        if SIGNS.iter().any(|sign| line.text.contains(sign)) {
            noticed.store(true, Ordering::Relaxed);
        }
        sink(line);
    })
}

//! Starting plugins, also those that a language runs.

use super::acquire::{Acquisition, Offer};
use super::debugger::{DebuggedPlugins, NodeDebugger, PythonDebugger, plugin_title};
use super::host::HostedPlugin;
use super::node::Node;
use super::python::Python;
use super::{DebuggerSink, LanguageError, LanguageHost, Program};
use crate::install::InstallError;
use crate::process::{Deadlines, LineSink, Plugin, StartError};
use crate::search::{self, BuiltIn, Found, Kind, Place, Search, SearchError, Source, Wanted};
use drystone_workspace::{Environment, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Why a plugin is not there to be called.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// It is not found.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// It did not come up.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The language that runs it does not.
    #[error(transparent)]
    Language(#[from] LanguageError),
    /// It is missing and cannot be installed.
    #[error("{error}{}", listed(error.details()))]
    Install {
        /// Why.
        #[from]
        error: InstallError,
    },
    /// It runs already, or only within a language.
    #[error("the plugin cannot be run as a program of its own")]
    NoProgram,
    /// What installed it broke off.
    #[error("installing it broke off: {0}")]
    Interrupted(tokio::task::JoinError),
}

impl PluginError {
    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Search(error) => error.hint(),
            Self::Language(error) => error.hint(),
            Self::Install { error } => error.hint(),
            Self::Start(_) | Self::NoProgram | Self::Interrupted(_) => None,
        }
    }
}

/// Lines below a message.
fn listed(details: &[String]) -> String {
    details.iter().map(|detail| format!("\n  {detail}")).collect()
}

/// A plugin that has come up.
#[derive(Debug)]
pub struct StartedPlugin {
    /// The plugin.
    pub plugin: Plugin,
    /// Its folder, unless somebody else runs it. A handshake tells it.
    pub folder: Option<PathBuf>,
    /// Something that may surprise the user: which plugin is taken.
    pub warning: Option<String>,
    /// Whether a person looks at it in a debugger, so that it may take any time.
    pub debugged: bool,
}

/// Where the lines of a plugin go.
pub type PluginSink = Arc<dyn Fn(&Wanted) -> LineSink + Send + Sync>;

/// Starts the plugins of one run.
pub struct PluginHost {
    pub(super) search: Search,
    pub(super) environment: Arc<Environment>,
    pub(super) program: Program,
    project: String,
    pub(super) engine_address: String,
    flags: Vec<String>,
    pub(super) deadlines: Option<Deadlines>,
    pub(super) sink: PluginSink,
    debugged: Option<(DebuggedPlugins, DebuggerSink)>,
    /// Installs what is missing, if anything does.
    pub(super) acquisition: Option<Acquisition>,
    /// The languages that run plugins, by name. They live as long as the plugins do.
    hosts: Mutex<BTreeMap<String, Arc<LanguageHost>>>,
}

impl std::fmt::Debug for PluginHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginHost")
            .field("search", &self.search)
            .field("program", &self.program)
            .field("engine_address", &self.engine_address)
            .finish_non_exhaustive()
    }
}

impl PluginHost {
    /// Starts plugins for a program, in its folder, with the engine at an address `host:port`.
    #[must_use]
    pub fn new(
        search: Search,
        environment: Arc<Environment>,
        program: Program,
        project: &str,
        engine_address: &str,
        sink: PluginSink,
    ) -> Self {
        Self {
            search,
            environment,
            program,
            project: project.to_owned(),
            engine_address: engine_address.to_owned(),
            flags: Vec::new(),
            deadlines: None,
            sink,
            debugged: None,
            acquisition: None,
            hosts: Mutex::default(),
        }
    }

    /// The same, with arguments before the engine's address, such as `-v=9`.
    #[must_use]
    pub fn with_flags(mut self, flags: Vec<String>) -> Self {
        self.flags = flags;
        self
    }

    /// The same, where some plugins wait for a debugger, and say how it is attached.
    #[must_use]
    pub fn with_debuggers(mut self, plugins: DebuggedPlugins, sink: DebuggerSink) -> Self {
        self.debugged = Some((plugins, sink));
        self
    }

    /// The same, with other deadlines.
    #[must_use]
    pub fn with_deadlines(mut self, deadlines: Deadlines) -> Self {
        self.deadlines = Some(deadlines);
        self
    }

    /// Finds a plugin and starts it; one that is missing is installed first, as it is offered. The value of each variable that is a key of `mappings`, if it is set, is the
    /// plugin's value of the variable that it maps to.
    pub async fn start(
        &self,
        wanted: &Wanted,
        mappings: &BTreeMap<String, String>,
        offer: &Offer,
    ) -> Result<StartedPlugin, PluginError> {
        self.provide(wanted, offer).await?;
        let Found { place, warning } = self.search.find(wanted)?;
        let started = self.start_place(wanted, place, mappings).await?;
        Ok(StartedPlugin { warning, ..started })
    }

    /// Starts the plugin in a folder, or the program of a plugin.
    pub async fn start_at(&self, path: &Path, kind: Kind, name: &str) -> Result<StartedPlugin, PluginError> {
        let wanted = Wanted { kind, name: name.to_owned(), version: None };
        self.start_place(&wanted, search::at(path, kind, name)?, &BTreeMap::new()).await
    }

    /// The command that runs a plugin, without arguments and with our surroundings.
    pub async fn command(&self, place: &Place) -> Result<Command, PluginError> {
        let sink: LineSink = Arc::new(|_| ());
        let environment = self.environment.clone();
        let source = match place {
            Place::Executable(path) => return Ok(Command::new(path)),
            Place::Source(source) => source,
            Place::Attached(_) | Place::BuiltIn(_) => return Err(PluginError::NoProgram),
        };
        let program = Program::of_plugin(&source.folder, source.runtime.clone());
        match self.search.find(&Wanted::language(&source.runtime.name))?.place {
            Place::BuiltIn(BuiltIn::Node) => Ok(Node::new(environment, sink).plugin(&program, None).await?),
            Place::BuiltIn(BuiltIn::Bun) => Ok(Node::bun(environment, sink).plugin(&program, None).await?),
            Place::BuiltIn(_) => Ok(Python::new(environment, sink).plugin(&program, None).await?),
            _ => Err(PluginError::NoProgram),
        }
    }

    /// Ends the languages that run plugins. The plugins themselves are ended by their holders, before this.
    pub async fn close(&self) {
        for host in std::mem::take(&mut *self.hosts.lock().await).into_values() {
            host.close().await;
        }
    }

    async fn start_place(
        &self,
        wanted: &Wanted,
        place: Place,
        mappings: &BTreeMap<String, String>,
    ) -> Result<StartedPlugin, PluginError> {
        let sink = (self.sink)(wanted);
        let variables = self.variables(wanted, mappings);
        let deadlines = self.deadlines.unwrap_or_default();
        let debugger = self.debugger_of(wanted).filter(|_| matches!(place, Place::Source(_)));
        let debugged = debugger.is_some();
        let (plugin, folder) = match place {
            Place::Attached(port) => (Plugin::attach(&wanted.name, port, deadlines).await?, None),
            Place::Executable(path) => {
                let folder = path.parent().map(Path::to_owned);
                (self.spawn(wanted, Command::new(path), variables, deadlines, sink, |_| ()).await?, folder)
            }
            Place::BuiltIn(built_in) => {
                let command = self.built_in(built_in, sink.clone()).await?;
                let folder = self.program.directory.clone();
                (self.spawn(wanted, command, variables, deadlines, sink, |_| ()).await?, Some(folder))
            }
            Place::Source(source) => {
                let folder = source.folder.clone();
                (self.start_source(wanted, &source, variables, debugger, sink).await?, Some(folder))
            }
        };
        Ok(StartedPlugin { plugin, folder, warning: None, debugged })
    }

    /// Who is told how to attach to a plugin that waits for a debugger.
    fn debugger_of(&self, wanted: &Wanted) -> Option<&DebuggerSink> {
        self.debugged.as_ref().filter(|(plugins, _)| plugins.contains(&wanted.name)).map(|(_, sink)| sink)
    }

    async fn spawn(
        &self,
        wanted: &Wanted,
        mut command: Command,
        variables: BTreeMap<String, String>,
        deadlines: Deadlines,
        sink: LineSink,
        started: impl FnOnce(u32),
    ) -> Result<Plugin, StartError> {
        command.args(self.arguments()).current_dir(&self.program.directory).envs(variables);
        Plugin::spawn_known(&wanted.name, command, deadlines, sink, started).await
    }

    async fn built_in(&self, built_in: BuiltIn, sink: LineSink) -> Result<Command, LanguageError> {
        let environment = self.environment.clone();
        match built_in {
            BuiltIn::Python | BuiltIn::PythonDynamic => {
                Python::new(environment, sink).dynamic_provider(&self.program).await
            }
            BuiltIn::Node | BuiltIn::Bun | BuiltIn::NodeDynamic => {
                Node::new(environment, sink).dynamic_provider(&self.program).await
            }
        }
    }

    async fn start_source(
        &self,
        wanted: &Wanted,
        source: &Source,
        variables: BTreeMap<String, String>,
        debugger: Option<&DebuggerSink>,
        sink: LineSink,
    ) -> Result<Plugin, PluginError> {
        let deadlines = match debugger {
            Some(_) => Deadlines::for_debugging(),
            None => self.deadlines.unwrap_or_else(Deadlines::for_source),
        };
        let title = plugin_title(&wanted.name);
        let program = Program::of_plugin(&source.folder, source.runtime.clone());
        let language = Wanted::language(&source.runtime.name);
        let place = self.search.find(&language)?.place;
        let environment = self.environment.clone();
        match place {
            Place::BuiltIn(BuiltIn::Node) => {
                let waiting = debugger.map(|_| NodeDebugger::new()).transpose()?;
                let node = Node::new(environment, sink.clone());
                let command = node.plugin(&program, waiting.as_ref()).await?;
                let started = |process| {
                    if let (Some(waiting), Some(told)) = (&waiting, debugger) {
                        waiting.tell(&title, process, told);
                    }
                };
                Ok(self.spawn(wanted, command, variables, deadlines, sink, started).await?)
            }
            Place::BuiltIn(BuiltIn::Bun) => {
                let command = Node::bun(environment, sink.clone()).plugin(&program, None).await?;
                Ok(self.spawn(wanted, command, variables, deadlines, sink, |_| ()).await?)
            }
            Place::BuiltIn(_) => {
                let waiting = debugger.map(|_| PythonDebugger::new()).transpose()?;
                let python = Python::new(environment, sink.clone());
                let command = python.plugin(&program, waiting.as_ref()).await?;
                let starting = self.spawn(wanted, command, variables, deadlines, sink, |_| ());
                let telling = async {
                    if let (Some(waiting), Some(told)) = (&waiting, debugger) {
                        waiting.tell_when_ready(&title, told).await;
                    }
                    std::future::pending::<()>().await;
                };
                tokio::select! {
                    started = starting => Ok(started?),
                    () = telling => unreachable!("it tells and then waits"),
                }
            }
            place => {
                let host = self.host(&language.name, &place, sink.clone()).await?;
                let origin = host
                    .run_plugin(HostedPlugin {
                        program: &program,
                        kind: wanted.kind.as_str(),
                        name: &wanted.name,
                        working_directory: &self.program.directory,
                        args: self.arguments(),
                        env: whole_environment(variables),
                        debugged: debugger.is_some(),
                    })
                    .await?;
                Ok(Plugin::come_up(&wanted.name, origin, deadlines, sink).await?)
            }
        }
    }

    pub(super) async fn host(
        &self,
        name: &str,
        place: &Place,
        sink: LineSink,
    ) -> Result<Arc<LanguageHost>, LanguageError> {
        let mut hosts = self.hosts.lock().await;
        if let Some(host) = hosts.get(name) {
            return Ok(host.clone());
        }
        let directory = &self.program.directory;
        let host = LanguageHost::start(name, place, &self.engine_address, directory, sink).await?;
        let host = Arc::new(host);
        hosts.insert(name.to_owned(), host.clone());
        Ok(host)
    }

    pub(super) fn arguments(&self) -> Vec<String> {
        self.flags.iter().chain([&self.engine_address]).cloned().collect()
    }

    /// What a plugin is told: variables of ours under names of its own, and of the program the options of its runtime,
    /// by which a dynamic provider finds its packages, and the name of the project.
    fn variables(&self, wanted: &Wanted, mappings: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mapped = mappings.iter();
        let mapped = mapped.filter_map(|(ours, its)| Some((its.clone(), self.environment.variable(ours)?)));
        let mut variables: BTreeMap<String, String> = mapped.collect();
        let options = self.program.runtime.options.iter();
        variables.extend(
            options.map(|(name, value)| (format!("PULUMI_RUNTIME_{}", name.to_uppercase()), plain(value))),
        );
        if wanted.kind == Kind::Resource && !self.project.is_empty() {
            variables.insert("PULUMI_PROJECT".to_owned(), self.project.clone());
            if wanted.name == "pulumi-nodejs" {
                variables.insert("PULUMI_NODEJS_PROJECT".to_owned(), self.project.clone());
            }
        }
        variables.insert("PULUMI_CONFIG".to_owned(), "{}".to_owned());
        variables
    }
}

/// The variables of this process with those of a plugin among them.
pub(super) fn whole_environment(variables: BTreeMap<String, String>) -> Vec<String> {
    let own = std::env::vars_os();
    let mut whole: BTreeMap<String, String> = own
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .collect();
    whole.extend(variables);
    whole.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
}

pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_json(), str::to_owned)
}

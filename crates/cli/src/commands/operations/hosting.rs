//! The plugins of a command: the port that they are given, and what starts them.

use super::flow::ORGANIZATION;
use super::installing::{install_sink, installer, offer};
use super::policies::Starter;
use super::yaml;
use crate::backend::is_true;
use crate::commands::identity::PULUMI_VERSION;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome, chain};
use crate::terminal;
use async_trait::async_trait;
use drystone_builtins::{Builtins, PACKAGE};
use drystone_engine::{
    Cancellation, Diagnostic, Event, EventSink, PackageDescriptor, Plugins, Provider, ProviderError, RunInfo,
    Severity, SystemSurroundings, ViewPublisher,
};
use drystone_model::Urn;
use drystone_plugins::languages::{
    DebuggedPlugins, DebuggerSink, Offer, PluginError, PluginHost, PluginSink, Program as ProgramPlace,
};
use drystone_plugins::loader::{Packages, USUAL_ECOSYSTEM};
use drystone_plugins::monitor::{Endpoint, MonitorServer, MonitorSettings};
use drystone_plugins::process::{Deadlines, Line, Stream};
use drystone_plugins::provider::{GRACE, GrpcProvider, ProviderOptions, stopped_for_good};
use drystone_plugins::search::{Kind, Search, SearchError, Wanted, tolerant_version};
use drystone_plugins::trace::CallLog;
use drystone_workspace::Environment;
use drystone_workspace::project::Project;
use futures::StreamExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How many plugins are installed at the same time.
const INSTALLED_AT_ONCE: usize = 4;

/// How long a plugin may take that a person looks at.
const LOOKED_AT: Duration = Duration::from_secs(24 * 60 * 60);

/// What plugins are started for.
pub(in crate::commands) struct Setting<'a> {
    /// The project, which may have plugins of its own.
    pub(in crate::commands) project: Option<&'a Project>,
    /// Where they run.
    pub(in crate::commands) place: ProgramPlace,
    /// What they are told of the run.
    pub(in crate::commands) info: RunInfo,
    /// Who hears of what they say.
    pub(in crate::commands) events: &'a Arc<dyn EventSink>,
    /// Asks what they are started for to stop.
    pub(in crate::commands) cancellation: &'a Cancellation,
    /// Which of them wait for a debugger.
    pub(in crate::commands) debugged: DebuggedPlugins,
}

/// The plugins of a command. They end with it.
pub(in crate::commands) struct Hosting {
    hosted: Arc<Hosted>,
    server: MonitorServer,
}

impl Hosting {
    /// Opens the address that plugins are given. None is started before it is needed.
    pub(in crate::commands) async fn start(context: &Context, setting: Setting<'_>) -> Outcome<Self> {
        Self::start_from(context, setting, USUAL_ECOSYSTEM).await
    }

    /// The same, where mappings are of an ecosystem unless somebody says otherwise.
    pub(in crate::commands) async fn start_from(
        context: &Context,
        setting: Setting<'_>,
        ecosystem: &str,
    ) -> Outcome<Self> {
        let Setting { project, place, info, events, cancellation, debugged } = setting;
        let environment = Environment::of_process()
            .map_err(|error| Failure::configuration(format!("the working folder cannot be told: {error}")))?;
        let environment = Arc::new(environment);
        let search = Search::new(&environment, project).map_err(|error| {
            let hint = error.hint();
            hinted(chain(error), hint)
        })?;
        let builtins = builtins(&place, events);
        let project = info.project.clone();
        let directory = place.directory.clone();
        let server = serve(&environment, info, &place, events).await?;
        let mut host = PluginHost::new(
            search.clone(),
            Arc::clone(&environment),
            place,
            &project,
            server.endpoint().address(),
            plugin_lines(events),
        )
        .with_flags(context.globals.plugin_flags())
        .with_debuggers(debugged, debugger_sink(events));
        if let Some(port) = seconds(&environment, "DRYSTONE_PLUGIN_START_LIMIT")? {
            host = host.with_deadlines(Deadlines { port, ..Deadlines::default() });
        }
        if let Some(installer) = installer(&environment)? {
            host = host.with_installer(installer, install_sink(events));
        }
        let hosted = Arc::new(Hosted {
            host,
            builtins,
            search,
            directory,
            endpoint: server.endpoint().clone(),
            ecosystem: ecosystem.to_owned(),
            events: Arc::clone(events),
            disable_preview: is_true(&environment, "PULUMI_DISABLE_PROVIDER_PREVIEW"),
            grace: seconds(&environment, "DRYSTONE_PROVIDER_GRACE")?.unwrap_or(GRACE),
            cancellation: cancellation.clone(),
            development: is_true(&environment, "PULUMI_DEV"),
            environment,
        });
        server.endpoint().attach_packages(Arc::clone(&hosted) as Arc<dyn Packages>);
        Ok(Self { hosted, server })
    }

    /// The plugins of a command that is no operation: they run where the user is, and what they say is printed.
    pub(in crate::commands) async fn alone(
        context: &Context,
        project: Option<&Project>,
        ecosystem: &str,
    ) -> Outcome<Self> {
        Self::heard_by(context, project, ecosystem, Arc::new(Told)).await
    }

    /// The same, where somebody else hears of what they say.
    pub(super) async fn heard_by(
        context: &Context,
        project: Option<&Project>,
        ecosystem: &str,
        events: Arc<dyn EventSink>,
    ) -> Outcome<Self> {
        let runtime = project.and_then(|project| project.runtime.clone()).unwrap_or_default();
        let cancellation = Cancellation::default();
        let setting = Setting {
            project,
            // What a plugin is told is relative to where the user is.
            place: ProgramPlace::of_plugin(context.environment.working_directory(), runtime),
            info: RunInfo {
                project: project.map(|project| project.name.clone()).unwrap_or_default(),
                organization: ORGANIZATION.to_owned(),
                ..RunInfo::default()
            },
            events: &events,
            cancellation: &cancellation,
            debugged: DebuggedPlugins::None,
        };
        Self::start_from(context, setting, ecosystem).await
    }

    /// What starts providers for the engine.
    pub(super) fn plugins(&self) -> Arc<dyn Plugins> {
        Arc::clone(&self.hosted) as Arc<dyn Plugins>
    }

    /// What the program may ask to be installed.
    pub(in crate::commands) fn hosted(&self) -> &Arc<Hosted> {
        &self.hosted
    }

    /// What starts any plugin.
    pub(in crate::commands) fn host(&self) -> &PluginHost {
        &self.hosted.host
    }

    /// Where plugins are looked for.
    pub(in crate::commands) fn search(&self) -> &Search {
        &self.hosted.search
    }

    /// The surroundings that plugins are started in.
    pub(super) fn environment(&self) -> &Arc<Environment> {
        &self.hosted.environment
    }

    /// Where plugins reach us.
    pub(in crate::commands) fn endpoint(&self) -> &Endpoint {
        self.server.endpoint()
    }

    /// The schema of a package.
    pub(super) async fn schema(&self, package: &PackageDescriptor) -> Result<String, ProviderError> {
        drystone_plugins::loader::schema(self.hosted.as_ref(), package).await
    }

    /// What starts policy packs.
    pub(in crate::commands) fn policy_packs(&self) -> Starter<'_> {
        Starter {
            host: &self.hosted.host,
            endpoint: &self.hosted.endpoint,
            cancellation: &self.hosted.cancellation,
            events: &self.hosted.events,
        }
    }

    /// Ends everything that is left.
    pub(in crate::commands) async fn close(self) {
        self.server.endpoint().detach();
        self.hosted.host.close().await;
        self.server.stop().await;
    }
}

/// What plugins say where there is no display.
#[derive(Debug)]
struct Told;

impl EventSink for Told {
    fn send(&self, event: Event) {
        let said = match event {
            Event::Diagnostic(said) => said,
            Event::Progress(progress) if progress.received == 0 && !progress.done => {
                return terminal::note(progress.message);
            }
            _ => return,
        };
        let text = said.message.trim_end_matches('\n');
        match said.severity {
            Severity::Debug => {}
            Severity::Info | Severity::InfoError => terminal::note(text),
            Severity::Warning => terminal::warning(text),
            Severity::Error => terminal::failure(&Failure::general(text)),
        }
    }
}

/// Opens the port that plugins and the program are given.
async fn serve(
    environment: &Environment,
    info: RunInfo,
    place: &ProgramPlace,
    events: &Arc<dyn EventSink>,
) -> Outcome<MonitorServer> {
    let settings = MonitorSettings {
        info,
        root: place.root.clone(),
        directory: place.directory.clone(),
        version: PULUMI_VERSION.trim_start_matches('v').to_owned(),
        resource_references: !is_true(environment, "PULUMI_DISABLE_RESOURCE_REFERENCES"),
        output_values: !is_true(environment, "PULUMI_DISABLE_OUTPUT_VALUES"),
        events: Arc::clone(events),
    };
    let log = environment.filled_variable("PULUMI_DEBUG_GRPC").map(|path| {
        CallLog::open(&environment.resolve(Path::new(&path))).map_err(|error| {
            Failure::configuration(format!("the log of calls `{path}` cannot be written: {error}"))
                .hint("name another file in PULUMI_DEBUG_GRPC, or unset it")
        })
    });
    let log = log.transpose()?;
    MonitorServer::start_logged(settings, log).await.map_err(|error| {
        Failure::new(ExitCode::Unavailable, format!("no port of this machine can be opened: {error}"))
    })
}

pub(in crate::commands) fn hinted(failure: Failure, hint: Option<String>) -> Failure {
    hint.into_iter().fold(failure, Failure::hint)
}

pub(super) fn tell(events: &Arc<dyn EventSink>, urn: Urn, severity: Severity, message: String) {
    events.send(Event::Diagnostic(Diagnostic { urn, message, severity, stream: 0, ephemeral: false }));
}

/// Tells people how they attach a debugger.
pub(super) fn debugger_sink(events: &Arc<dyn EventSink>) -> DebuggerSink {
    let events = Arc::clone(events);
    Arc::new(move |debugging| events.send(Event::Debugging(debugging)))
}

/// The plugin of a package.
fn wanted(package: &PackageDescriptor) -> Result<Wanted, ProviderError> {
    let version = match package.version.as_str() {
        "" => None,
        text => Some(tolerant_version(text).ok_or_else(|| {
            ProviderError::new(format!("`{text}` is not a version of the plugin `{}`", package.name))
        })?),
    };
    Ok(Wanted { kind: Kind::Resource, name: package.name.clone(), version })
}

fn not_there(error: &PluginError) -> ProviderError {
    let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    ProviderError::new(format!("{error}{hint}"))
}

/// What plugins print: providers that a program carries within itself speak for the program, others for whoever looks
/// for faults.
fn plugin_lines(events: &Arc<dyn EventSink>) -> PluginSink {
    let events = Arc::clone(events);
    Arc::new(move |wanted: &Wanted| {
        let events = Arc::clone(&events);
        let quiet = wanted.kind == Kind::Resource
            && !matches!(wanted.name.as_str(), "pulumi-nodejs" | "pulumi-python");
        Arc::new(move |line: Line| {
            let severity = match line.stream {
                _ if quiet => Severity::Debug,
                Stream::Stdout => Severity::Info,
                Stream::Stderr => Severity::InfoError,
            };
            tell(&events, Urn::default(), severity, line.text + "\n");
        })
    })
}

/// How long something may take, as a variable says in seconds: `DRYSTONE_PROVIDER_GRACE` beyond the time limit of an
/// operation, `DRYSTONE_PLUGIN_START_LIMIT` from the start of a plugin to its port.
fn seconds(environment: &Environment, name: &str) -> Outcome<Option<Duration>> {
    let Some(text) = environment.filled_variable(name) else { return Ok(None) };
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let wrong = || Failure::configuration(format!("{name} is `{text}`, which is no number of seconds"));
    seconds.ok_or_else(wrong).map(Some)
}

/// The path that a package is named by, rather than its name.
fn path_of(name: &str) -> Option<&Path> {
    let is_path = ["/", "./", "../"].iter().any(|start| name.starts_with(start));
    is_path.then(|| Path::new(name))
}

/// The package that needs no plugin.
fn builtins(place: &ProgramPlace, events: &Arc<dyn EventSink>) -> Arc<Builtins> {
    let events = Arc::clone(events);
    Arc::new(Builtins::new(drystone_builtins::Settings {
        directory: place.directory.clone(),
        surroundings: Arc::new(SystemSurroundings),
        log: Arc::new(move |urn, severity, message| tell(&events, urn.clone(), severity, message)),
    }))
}

/// Starts providers.
pub(in crate::commands) struct Hosted {
    host: PluginHost,
    builtins: Arc<Builtins>,
    search: Search,
    environment: Arc<Environment>,
    /// The folder that the program runs in.
    directory: PathBuf,
    endpoint: Endpoint,
    /// The ecosystem that mappings are of when nobody says.
    ecosystem: String,
    events: Arc<dyn EventSink>,
    disable_preview: bool,
    grace: Duration,
    cancellation: Cancellation,
    /// Whether plugins are being developed, so that their versions say nothing: `PULUMI_DEV`.
    development: bool,
}

#[async_trait]
impl Plugins for Hosted {
    fn attach(&self, views: Arc<dyn ViewPublisher>) {
        self.endpoint.attach_views(views);
    }

    async fn load(&self, package: &PackageDescriptor) -> Result<Arc<dyn Provider>, ProviderError> {
        if let Some(provider) = self.in_process(package) {
            return Ok(provider);
        }
        self.provide(package).await?;
        if let Some(components) = yaml::components(package, &self.search, &self.directory, &self.endpoint)? {
            return Ok(Arc::new(components));
        }
        Ok(Arc::new(self.provider(package).await?))
    }
}

#[async_trait]
impl Packages for Hosted {
    fn search(&self) -> &Search {
        &self.search
    }

    fn ecosystem(&self) -> &str {
        &self.ecosystem
    }

    /// A plugin of the same name that is attached to, installed or on the PATH goes first.
    fn in_process(&self, package: &PackageDescriptor) -> Option<Arc<dyn Provider>> {
        let wanted = Wanted { kind: Kind::Resource, name: PACKAGE.to_owned(), version: None };
        let ours =
            package.name == PACKAGE && matches!(self.search.find(&wanted), Err(SearchError::Missing(_)));
        ours.then(|| Arc::clone(&self.builtins) as Arc<dyn Provider>)
    }

    async fn provider(&self, package: &PackageDescriptor) -> Result<GrpcProvider, ProviderError> {
        let wanted = wanted(package)?;
        let starting = async {
            match path_of(&package.name) {
                Some(path) => {
                    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                    self.host.start_at(&self.environment.resolve(path), Kind::Resource, name).await
                }
                None => self.host.start(&wanted, &package.env_var_mappings, &offer(package)).await,
            }
        };
        let started = tokio::select! {
            biased;
            started = starting => started.map_err(|error| not_there(&error))?,
            () = stopped_for_good(&self.cancellation) => {
                let name = &package.name;
                return Err(ProviderError::new(format!(
                    "the plugin {name} was still starting when the run was asked to stop, and is given up"
                )));
            }
        };
        if let Some(warning) = started.warning {
            tell(&self.events, Urn::default(), Severity::Warning, warning);
        }
        let options = ProviderOptions {
            name: package.name.clone(),
            endpoint: self.endpoint.clone(),
            directory: started.folder,
            disable_preview: self.disable_preview,
            version: None,
            grace: if started.debugged { LOOKED_AT } else { self.grace },
            cancellation: self.cancellation.clone(),
        };
        let channel = started.plugin.channel();
        let provider = GrpcProvider::connect(channel, options, Some(started.plugin)).await?;
        if !self.development {
            self.warn_of_version(&wanted, &provider).await?;
        }
        Ok(provider)
    }
}

impl Hosted {
    /// Installs the plugin of a package if it is missing.
    async fn provide(&self, package: &PackageDescriptor) -> Result<(), ProviderError> {
        if path_of(&package.name).is_some() {
            return Ok(());
        }
        let (wanted, offer) = (wanted(package)?, offer(package));
        tokio::select! {
            biased;
            provided = self.host.provide(&wanted, &offer) => provided.map_err(|error| not_there(&error)),
            () = stopped_for_good(&self.cancellation) => {
                let name = &package.name;
                Err(ProviderError::new(format!("installing the plugin {name} was given up: the run was to stop")))
            }
        }
    }

    /// Installs the plugins of packages that are missing, several at once. One that cannot be installed matters when it
    /// is needed.
    pub(super) async fn provide_all(&self, packages: Vec<PackageDescriptor>) {
        futures::stream::iter(packages)
            .for_each_concurrent(INSTALLED_AT_ONCE, |package| async move {
                if self.in_process(&package).is_none() {
                    let _ = self.provide(&package).await;
                }
            })
            .await;
    }

    /// Installs the plugin of a language if it is missing.
    pub(super) async fn provide_language(&self, name: &str) -> Result<(), PluginError> {
        self.host.provide(&Wanted::language(name), &Offer::default()).await
    }

    /// Says, in the stock CLI's words, that a plugin is older than what was asked for.
    async fn warn_of_version(&self, wanted: &Wanted, provider: &GrpcProvider) -> Result<(), ProviderError> {
        let Some(expected) = &wanted.version else { return Ok(()) };
        let version = provider.version().await?;
        if tolerant_version(&version).is_none_or(|version| version < *expected) {
            let message = format!(
                "resource plugin {} is expected to have version >={expected}, but has {version}; the wrong version \
                 may be on your path, or this may be a bug in the plugin",
                wanted.name
            );
            tell(&self.events, Urn::default(), Severity::Warning, message);
        }
        Ok(())
    }
}

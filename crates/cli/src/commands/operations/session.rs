//! What the engine drives: plugins in processes of their own, and the program.

use super::flow::ORGANIZATION;
use super::policies::Starter;
use super::request::Request;
use super::subject::Subject;
use crate::backend::is_true;
use crate::commands::identity::PULUMI_VERSION;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use async_trait::async_trait;
use drystone_engine::{
    CancelLevel, Cancellation, Diagnostic, Event, EventSink, Monitor, Options, PackageDescriptor, Plugins,
    Program, ProgramError, Provider, ProviderError, RunInfo, Severity, ViewPublisher,
};
use drystone_model::{ROOT_STACK_TYPE, Urn};
use drystone_plugins::languages::{
    DebuggerSink, Language, LanguageError, Outcome as Ended, PluginHost, PluginSink, Program as ProgramPlace,
    RunRequest,
};
use drystone_plugins::monitor::{Endpoint, MonitorServer, MonitorSettings};
use drystone_plugins::process::{Deadlines, Line, LineSink, Stream};
use drystone_plugins::provider::{GRACE, GrpcProvider, ProviderOptions, stopped_for_good};
use drystone_plugins::search::{Kind, Search, Wanted, tolerant_version};
use drystone_plugins::trace::CallLog;
use drystone_workspace::Environment;
use drystone_workspace::config::Key;
use drystone_workspace::project::Runtime;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Everything that is started for one operation, and ends with it.
pub(super) struct Session {
    host: Arc<Hosted>,
    program: Option<Arc<LanguageProgram>>,
    server: MonitorServer,
}

impl Session {
    /// Opens the address that plugins and the program are given. Nothing else is started before it is needed.
    pub(super) async fn start(
        context: &Context,
        request: &Request,
        subject: &Subject,
        options: &Options,
        events: &Arc<dyn EventSink>,
        cancellation: &Cancellation,
    ) -> Outcome<Self> {
        let environment = Environment::of_process()
            .map_err(|error| Failure::configuration(format!("the working folder cannot be told: {error}")))?;
        let environment = Arc::new(environment);
        let place = place(context, request, subject)?;
        let search = Search::new(&environment, Some(&subject.project)).map_err(|error| {
            let hint = error.hint();
            hinted(Failure::configuration(error), hint)
        })?;
        let server = serve(&environment, subject, options, &place, events).await?;
        let root = Urn::build(
            subject.stack.name(),
            &subject.project.name,
            "",
            ROOT_STACK_TYPE,
            &format!("{}-{}", subject.project.name, subject.stack.name()),
        );
        let mut plugins = PluginHost::new(
            search.clone(),
            Arc::clone(&environment),
            place.clone(),
            &subject.project.name,
            server.endpoint().address(),
            plugin_lines(events),
        )
        .with_flags(context.globals.plugin_flags());
        if let Some(port) = seconds(&environment, "DRYSTONE_PLUGIN_START_LIMIT")? {
            plugins = plugins.with_deadlines(Deadlines { port, ..Deadlines::default() });
        }
        let host = Hosted {
            host: plugins,
            endpoint: server.endpoint().clone(),
            events: Arc::clone(events),
            disable_preview: is_true(&environment, "PULUMI_DISABLE_PROVIDER_PREVIEW"),
            grace: seconds(&environment, "DRYSTONE_PROVIDER_GRACE")?.unwrap_or(GRACE),
            cancellation: cancellation.clone(),
            development: is_true(&environment, "PULUMI_DEV"),
        };
        let program = request.runs_program().then(|| {
            Arc::new(LanguageProgram {
                place,
                client: request.run.client.clone(),
                search,
                environment,
                endpoint: server.endpoint().clone(),
                events: Arc::clone(events),
                root,
                run: (subject.project.name.clone(), subject.stack.name().to_owned()),
                config: config(subject),
                dry_run: options.dry_run,
                parallel: u32::try_from(options.parallel).unwrap_or(u32::MAX),
                waits: request.program_waits,
                cancellation: cancellation.clone(),
            })
        });
        Ok(Self { host: Arc::new(host), program, server })
    }

    pub(super) fn plugins(&self) -> Arc<dyn Plugins> {
        Arc::clone(&self.host) as Arc<dyn Plugins>
    }

    pub(super) fn program(&self) -> Option<Arc<dyn Program>> {
        self.program.as_ref().map(|program| Arc::clone(program) as Arc<dyn Program>)
    }

    /// What starts policy packs.
    pub(super) fn policy_packs(&self) -> Starter<'_> {
        Starter {
            host: &self.host.host,
            endpoint: &self.host.endpoint,
            cancellation: &self.host.cancellation,
            events: &self.host.events,
        }
    }

    /// Ends everything that is left.
    pub(super) async fn close(self) {
        self.server.endpoint().detach();
        self.host.host.close().await;
        self.server.stop().await;
    }
}

/// Opens the port that plugins and the program are given.
async fn serve(
    environment: &Environment,
    subject: &Subject,
    options: &Options,
    place: &ProgramPlace,
    events: &Arc<dyn EventSink>,
) -> Outcome<MonitorServer> {
    let secret = subject.values.iter().filter(|(_, value)| value.secret);
    let info = RunInfo {
        project: subject.project.name.clone(),
        stack: subject.stack.name().to_owned(),
        organization: ORGANIZATION.to_owned(),
        config: subject.values.iter().map(|(key, value)| (key.clone(), value.text.clone())).collect(),
        secret_keys: secret.map(|(key, _)| key.clone()).collect(),
        dry_run: options.dry_run,
        parallel: options.parallel,
    };
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

/// Where the program is. An operation that runs none only needs a folder to start plugins in.
fn place(context: &Context, request: &Request, subject: &Subject) -> Outcome<ProgramPlace> {
    let mut project = subject.project.clone();
    if request.run.client.is_some() {
        project.runtime = Some(Runtime { name: "client".to_owned(), ..Runtime::default() });
    }
    match ProgramPlace::of(&project) {
        Ok(place) => Ok(place),
        Err(error) if request.runs_program() => {
            let hint = error.hint();
            Err(hinted(Failure::configuration(error), hint))
        }
        Err(_) => {
            let folder = if project.path.as_os_str().is_empty() {
                context.environment.working_directory()
            } else {
                project.directory()
            };
            Ok(ProgramPlace::of_plugin(folder, project.runtime.clone().unwrap_or_default()))
        }
    }
}

fn hinted(failure: Failure, hint: Option<String>) -> Failure {
    hint.into_iter().fold(failure, Failure::hint)
}

/// The configuration as programs are given it.
fn config(subject: &Subject) -> (BTreeMap<Key, String>, BTreeSet<Key>) {
    let mut values = BTreeMap::new();
    let mut secrets = BTreeSet::new();
    for (name, value) in &subject.values {
        let Ok(key) = name.parse::<Key>() else { continue };
        if value.secret {
            secrets.insert(key.clone());
        }
        values.insert(key, value.text.clone());
    }
    (values, secrets)
}

fn tell(events: &Arc<dyn EventSink>, urn: Urn, severity: Severity, message: String) {
    events.send(Event::Diagnostic(Diagnostic { urn, message, severity, stream: 0, ephemeral: false }));
}

/// What plugins print: providers that a program carries within itself speak for the program, others for whoever looks
/// for faults.
pub(in crate::commands) fn plugin_lines(events: &Arc<dyn EventSink>) -> PluginSink {
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

/// Starts providers.
struct Hosted {
    host: PluginHost,
    endpoint: Endpoint,
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
        let version = match package.version.as_str() {
            "" => None,
            text => Some(tolerant_version(text).ok_or_else(|| {
                ProviderError::new(format!("`{text}` is not a version of the plugin `{}`", package.name))
            })?),
        };
        let wanted = Wanted { kind: Kind::Resource, name: package.name.clone(), version };
        let started = tokio::select! {
            biased;
            started = self.host.start(&wanted, &package.env_var_mappings) => started.map_err(|error| {
                let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
                ProviderError::new(format!("{error}{hint}"))
            })?,
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
            grace: self.grace,
            cancellation: self.cancellation.clone(),
        };
        let channel = started.plugin.channel();
        let provider = GrpcProvider::connect(channel, options, Some(started.plugin)).await?;
        if !self.development {
            self.warn_of_version(&wanted, &provider).await?;
        }
        Ok(Arc::new(provider))
    }
}

impl Hosted {
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

/// The program of a project.
struct LanguageProgram {
    place: ProgramPlace,
    client: Option<String>,
    search: Search,
    environment: Arc<Environment>,
    endpoint: Endpoint,
    events: Arc<dyn EventSink>,
    root: Urn,
    run: (String, String),
    config: (BTreeMap<Key, String>, BTreeSet<Key>),
    dry_run: bool,
    parallel: u32,
    /// Whether it waits for a debugger.
    waits: bool,
    cancellation: Cancellation,
}

impl LanguageProgram {
    /// What the program prints belongs to the stack.
    fn lines(&self) -> LineSink {
        let (events, root) = (Arc::clone(&self.events), self.root.clone());
        Arc::new(move |line: Line| {
            let severity = match line.stream {
                Stream::Stdout => Severity::Info,
                Stream::Stderr => Severity::InfoError,
            };
            tell(&events, root.clone(), severity, line.text + "\n");
        })
    }

    fn request(&self) -> RunRequest {
        let address = self.endpoint.address().to_owned();
        RunRequest {
            program: self.place.clone(),
            project: self.run.0.clone(),
            stack: self.run.1.clone(),
            organization: ORGANIZATION.to_owned(),
            monitor_address: address.clone(),
            engine_address: address.clone(),
            loader_address: Some(address),
            config: self.config.0.clone(),
            secret_keys: self.config.1.clone(),
            dry_run: self.dry_run,
            parallel: self.parallel,
            args: Vec::new(),
            debugger: self.waits.then(|| {
                let events = Arc::clone(&self.events);
                Arc::new(move |debugging| events.send(Event::Debugging(debugging))) as DebuggerSink
            }),
        }
    }
}

#[async_trait]
impl Program for LanguageProgram {
    async fn run(&self, monitor: Monitor) -> Result<(), ProgramError> {
        self.endpoint.attach(monitor);
        let language = Language::open(
            &self.place,
            self.client.as_deref(),
            &self.search,
            &self.environment,
            self.endpoint.address(),
            self.lines(),
        )
        .await
        .map_err(|error| failed(&error))?;
        if let Some(warning) = language.warning() {
            tell(&self.events, Urn::default(), Severity::Warning, warning.to_owned());
        }
        let request = self.request();
        let ended = language.run(&request, self.cancellation.requested(CancelLevel::Graceful)).await;
        language.close().await;
        match ended {
            Ok(Ended::Finished) => Ok(()),
            Ok(Ended::Bailed | Ended::Cancelled) => Err(ProgramError::Bailed),
            Ok(Ended::Failed { message }) => Err(ProgramError::Failed(message)),
            Err(error) => Err(failed(&error)),
        }
    }
}

fn failed(error: &LanguageError) -> ProgramError {
    let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    ProgramError::Failed(format!("{error}{hint}"))
}

//! What the engine drives: plugins in processes of their own, and the program.

use super::flow::ORGANIZATION;
use super::hosting::{Hosted, Hosting, Setting, debugger_sink, hinted, tell};
use super::request::Request;
use super::subject::Subject;
use super::yaml;
use crate::context::Context;
use crate::report::{Outcome, chain};
use async_trait::async_trait;
use drystone_engine::{
    CancelLevel, Cancellation, EventSink, Monitor, Options, PackageDescriptor, Program, ProgramError,
    RunInfo, Severity,
};
use drystone_model::{ROOT_STACK_TYPE, Urn};
use drystone_plugins::languages::{
    Language, LanguageError, Outcome as Ended, Program as ProgramPlace, RunRequest,
};
use drystone_plugins::monitor::Endpoint;
use drystone_plugins::process::{Line, LineSink, Stream};
use drystone_plugins::search::Search;
use drystone_workspace::Environment;
use drystone_workspace::config::Key;
use drystone_workspace::project::Runtime;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Everything that is started for one operation, and ends with it.
pub(super) struct Session {
    pub(super) hosting: Hosting,
    program: Option<Arc<dyn Program>>,
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
        let place = place(context, request, subject)?;
        let setting = Setting {
            project: Some(&subject.project),
            place: place.clone(),
            info: info(subject, options),
            events,
            cancellation,
            debugged: request.debugged.plugins.clone(),
        };
        let hosting = Hosting::start(context, setting).await?;
        let root = Urn::build(
            subject.stack.name(),
            &subject.project.name,
            "",
            ROOT_STACK_TYPE,
            &format!("{}-{}", subject.project.name, subject.stack.name()),
        );
        let evaluated = yaml::program(&place, subject, options, &hosting, cancellation);
        let program = request.runs_program().then(|| {
            if let Some(program) = evaluated {
                return program;
            }
            Arc::new(LanguageProgram {
                place,
                client: request.run.client.clone(),
                hosted: Arc::clone(hosting.hosted()),
                search: hosting.search().clone(),
                environment: Arc::clone(hosting.environment()),
                endpoint: hosting.endpoint().clone(),
                events: Arc::clone(events),
                root,
                run: (subject.project.name.clone(), subject.stack.name().to_owned()),
                config: config(subject),
                dry_run: options.dry_run,
                parallel: u32::try_from(options.parallel).unwrap_or(u32::MAX),
                waits: request.debugged.program,
                cancellation: cancellation.clone(),
            }) as Arc<dyn Program>
        });
        Ok(Self { hosting, program })
    }

    pub(super) fn program(&self) -> Option<Arc<dyn Program>> {
        self.program.clone()
    }
}

/// What programs and plugins are told of the run.
fn info(subject: &Subject, options: &Options) -> RunInfo {
    let secret = subject.values.iter().filter(|(_, value)| value.secret);
    RunInfo {
        project: subject.project.name.clone(),
        stack: subject.stack.name().to_owned(),
        organization: ORGANIZATION.to_owned(),
        config: subject.values.iter().map(|(key, value)| (key.clone(), value.text.clone())).collect(),
        secret_keys: secret.map(|(key, _)| key.clone()).collect(),
        dry_run: options.dry_run,
        parallel: options.parallel,
    }
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
            Err(hinted(chain(error), hint))
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

/// The program of a project.
struct LanguageProgram {
    place: ProgramPlace,
    client: Option<String>,
    hosted: Arc<Hosted>,
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
            debugger: self.waits.then(|| debugger_sink(&self.events)),
        }
    }
}

#[async_trait]
impl Program for LanguageProgram {
    async fn run(&self, monitor: Monitor) -> Result<(), ProgramError> {
        self.endpoint.attach(monitor.clone());
        if self.client.is_none() {
            let provided = self.hosted.provide_language(&self.place.runtime.name).await;
            provided.map_err(|error| ProgramError::Failed(with_hint(&error, error.hint())))?;
        }
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
        let required = language.required_packages(&self.place).await.map_err(|error| failed(&error))?;
        let packages: Vec<PackageDescriptor> = required.providers().collect();
        self.hosted.provide_all(packages.clone()).await;
        let required = monitor.require_packages(packages);
        required.map_err(|error| ProgramError::Failed(error.message))?;
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
    ProgramError::Failed(with_hint(error, error.hint()))
}

fn with_hint(error: &dyn std::fmt::Display, hint: Option<String>) -> String {
    let hint = hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    format!("{error}{hint}")
}

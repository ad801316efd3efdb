//! A stack in memory whose program is a list of resources of the package.

use super::{Clock, props, provider};
use async_trait::async_trait;
use drystone_engine::{
    Cancellation, Diagnostic, Ending, Event, EventSink, Failed, Journal, JournalError, Monitor, Op,
    Operation, Options, PackageDescriptor, Plugins, Program, ProgramError, PropertyMap, Provider,
    ProviderError, RegisterRequest, Run, Severity, StackReader, Surroundings,
};
use drystone_journal::{Entry, Replayer};
use drystone_model::{Resource, Snapshot};
use drystone_secrets::{Base64, Manager, Reuse, Sealer};
use serde_json::Value as Json;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The stack `dev` of the project `shop`.
pub(crate) struct Stack {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) clock: Arc<Clock>,
    pub(crate) snapshot: Snapshot,
    pub(crate) cancellation: Cancellation,
}

/// What came of an operation.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) ending: Ending,
    /// The steps that ended well, as `create a`.
    pub(crate) steps: Vec<String>,
    pub(crate) errors: Vec<String>,
}

impl Outcome {
    #[track_caller]
    pub(crate) fn ok(self) -> Vec<String> {
        assert_eq!(self.ending, Ending::Succeeded, "{:#?}", self.errors);
        self.steps
    }

    #[track_caller]
    pub(crate) fn failed(&self, text: &str) {
        assert_eq!(self.ending, Ending::Failed);
        assert!(
            self.errors.iter().any(|error| error.contains(text)),
            "{text:?} is not in {:#?}",
            self.errors
        );
    }
}

impl Stack {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            clock: Arc::new(Clock::new(1)),
            snapshot: Snapshot::default(),
            cancellation: Cancellation::default(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a program: a list of resources with `type`, `name`, and perhaps `inputs`, `import`,
    /// `ignoreChanges` and `replaceOnChanges`.
    pub(crate) fn up(&mut self, program: &Json) -> Outcome {
        self.operate(Operation::Update, false, Some(program))
    }

    pub(crate) fn preview(&mut self, program: &Json) -> Outcome {
        self.operate(Operation::Update, true, Some(program))
    }

    pub(crate) fn refresh(&mut self) -> Outcome {
        self.operate(Operation::Refresh, false, None)
    }

    pub(crate) fn destroy(&mut self) -> Outcome {
        self.operate(Operation::Destroy, false, None)
    }

    fn operate(&mut self, operation: Operation, dry_run: bool, program: Option<&Json>) -> Outcome {
        let journal = Arc::new(MemoryJournal(Mutex::new(Replayer::new(self.snapshot.clone()))));
        let events = Arc::new(Collected::default());
        let manager = Manager::new(drystone_model::SecretsProvider::default(), Arc::new(Base64));
        let (provider, _) = provider(self.folder.path().to_owned(), &self.clock);
        let run = Run {
            organization: "organization".to_owned(),
            project: "shop".to_owned(),
            stack: "dev".to_owned(),
            config: std::collections::BTreeMap::new(),
            base: self.snapshot.clone(),
            options: Options { operation, dry_run, parallel: 8, ..Options::default() },
            program: program.map(|program| Arc::new(Listed(program.clone())) as Arc<dyn Program>),
            plugins: Arc::new(Only(provider)),
            journal: Arc::clone(&journal) as Arc<dyn Journal>,
            sealer: Arc::new(Sealer::new(&manager, Reuse::On).unwrap()),
            events: Arc::clone(&events) as Arc<dyn EventSink>,
            analyzers: Vec::new(),
            stacks: Arc::new(NoStacks),
            surroundings: Arc::clone(&self.clock) as Arc<dyn Surroundings>,
            cancellation: self.cancellation.clone(),
        };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let report = runtime.block_on(drystone_engine::run(run));
        if report.recorded && !dry_run {
            self.snapshot = journal.0.lock().unwrap().snapshot().snapshot;
        }
        let events = events.0.lock().unwrap();
        let step = |event: &Event| match event {
            Event::StepDone(step) if step.op != Op::Same && is_own(step.urn.name()) => {
                Some(match step.result {
                    Some(result) => format!("{} {} {result}", step.op, step.urn.name()),
                    None => format!("{} {}", step.op, step.urn.name()),
                })
            }
            _ => None,
        };
        let error = |event: &Event| match event {
            Event::Diagnostic(Diagnostic { message, severity: Severity::Error, .. }) => Some(message.clone()),
            _ => None,
        };
        Outcome {
            ending: report.ending,
            steps: events.iter().filter_map(step).collect(),
            errors: events.iter().filter_map(error).collect(),
        }
    }

    /// The live resource of that name.
    pub(crate) fn resource(&self, name: &str) -> &Resource {
        let found = self.snapshot.resources.iter().find(|it| it.urn.name() == name && !it.delete);
        found.unwrap_or_else(|| panic!("there is no {name}"))
    }
}

fn is_own(name: &str) -> bool {
    !name.starts_with("default") && name != "shop-dev"
}

struct Listed(Json);

#[async_trait]
impl Program for Listed {
    async fn run(&self, monitor: Monitor) -> Result<(), ProgramError> {
        let failed = |error: drystone_engine::MonitorError| ProgramError::Failed(error.message);
        let stack = RegisterRequest {
            type_token: "pulumi:pulumi:Stack".to_owned(),
            name: "shop-dev".to_owned(),
            ..RegisterRequest::default()
        };
        monitor.register(stack).await.map_err(failed)?;
        for resource in self.0.as_array().unwrap() {
            let text = |key: &str| resource[key].as_str().unwrap_or_default().to_owned();
            let mut request = RegisterRequest {
                type_token: format!("drystone:{}", text("type")),
                name: text("name"),
                custom: true,
                properties: resource.get("inputs").map(props).unwrap_or_default(),
                ..RegisterRequest::default()
            };
            request.options.import_id = text("import");
            let paths = |key: &str| -> Vec<String> {
                let paths = resource[key].as_array().into_iter().flatten();
                paths.map(|path| path.as_str().unwrap().to_owned()).collect()
            };
            request.options.ignore_changes = paths("ignoreChanges");
            request.options.replace_on_changes = paths("replaceOnChanges");
            monitor.register(request).await.map_err(failed)?;
        }
        Ok(())
    }
}

struct MemoryJournal(Mutex<Replayer>);

#[async_trait]
impl Journal for MemoryJournal {
    async fn append(&self, entries: Vec<Entry>) -> Result<(), JournalError> {
        let mut replayer = self.0.lock().unwrap();
        for entry in entries {
            replayer.add(entry).unwrap();
        }
        Ok(())
    }
}

#[derive(Default)]
struct Collected(Mutex<Vec<Event>>);

impl EventSink for Collected {
    fn send(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

struct Only(Arc<dyn Provider>);

#[async_trait]
impl Plugins for Only {
    async fn load(&self, package: &PackageDescriptor) -> Result<Arc<dyn Provider>, ProviderError> {
        assert_eq!(package.name, drystone_builtins::PACKAGE);
        Ok(Arc::clone(&self.0))
    }
}

struct NoStacks;

#[async_trait]
impl StackReader for NoStacks {
    async fn outputs(&self, stack: &str) -> Result<PropertyMap, Failed> {
        Err(Failed(format!("unknown stack {stack:?}")))
    }

    async fn resource_outputs(&self, stack: &str) -> Result<PropertyMap, Failed> {
        self.outputs(stack).await
    }
}

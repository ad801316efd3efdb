//! A stack that lives in memory: programs are closures, providers are small structs, the journal is replayed and its
//! snapshot verified after every entry.

#![allow(dead_code, unused_imports)] // each topic uses a part of it

mod analyzer;
mod callbacks;
mod journal;
mod program;
mod provider;
mod views;

pub(crate) use analyzer::{TestAnalyzer, broken, changed, violation};
pub(crate) use callbacks::{Log, bind, error_hook, hook, invoke_transform, logging_hook, transform};
pub(crate) use journal::MemoryJournal;
pub(crate) use program::{P, ProgramResult, Registering, program};
pub(crate) use provider::{Act, Call, Pause, TestProvider, diff_by_keys, unknown};
pub(crate) use views::{ViewDesk, view, view_step};

use async_trait::async_trait;
use drystone_engine::{
    Analyzer, Cancellation, ConfigValue, Diagnostic, Ending, Event, EventSink, Failed, Op, Operation,
    Options, PackageDescriptor, Plugins, PolicyEvent, PolicySummary, Program, PropertyMap, Provider,
    ProviderError, RefreshMode, Report, Run, Severity, StackReader, StepEvent, Surroundings, Targets,
    ViewPublisher,
};
use drystone_model::{Resource, Snapshot, Urn};
use drystone_secrets::{Base64, Manager, Reuse, Sealer};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A stack named `dev` of the project `shop`.
pub(crate) struct Stack {
    pub(crate) snapshot: Snapshot,
    pub(crate) providers: BTreeMap<String, TestProvider>,
    pub(crate) config: BTreeMap<String, ConfigValue>,
    pub(crate) options: Options,
    pub(crate) other_stacks: BTreeMap<String, PropertyMap>,
    pub(crate) cancellation: Cancellation,
    pub(crate) analyzers: Vec<Arc<dyn Analyzer>>,
    /// The journal is lost at this entry of every run.
    pub(crate) journal_fails_at: Option<usize>,
    clock: Arc<Clock>,
}

/// What came of an operation.
pub(crate) struct Outcome {
    pub(crate) report: Report,
    pub(crate) events: Vec<Event>,
    /// How many times the journal was written.
    pub(crate) writes: usize,
    /// How many entries reached the journal.
    pub(crate) entries: usize,
    /// Those entries, as they are stored.
    pub(crate) journal: Vec<String>,
}

impl Stack {
    /// An empty stack with providers of the packages `pkgA` and `pkgB`.
    pub(crate) fn new() -> Self {
        Self::with_provider("pkgA", TestProvider::default()).and_provider("pkgB", TestProvider::default())
    }

    pub(crate) fn with_provider(package: &str, provider: TestProvider) -> Self {
        Self {
            snapshot: Snapshot::default(),
            providers: BTreeMap::from([(package.to_owned(), provider)]),
            config: BTreeMap::new(),
            options: Options { parallel: 8, ..Options::default() },
            other_stacks: BTreeMap::new(),
            cancellation: Cancellation::default(),
            analyzers: Vec::new(),
            journal_fails_at: None,
            clock: Arc::default(),
        }
    }

    pub(crate) fn and_provider(mut self, package: &str, provider: TestProvider) -> Self {
        self.providers.insert(package.to_owned(), provider);
        self
    }

    /// Runs the program for real.
    pub(crate) fn up(&mut self, program: Arc<dyn Program>) -> Outcome {
        self.operate(Operation::Update, false, Some(program))
    }

    /// Says what `up` would do.
    pub(crate) fn preview(&mut self, program: Arc<dyn Program>) -> Outcome {
        self.operate(Operation::Update, true, Some(program))
    }

    pub(crate) fn refresh(&mut self) -> Outcome {
        self.operate(Operation::Refresh, false, None)
    }

    pub(crate) fn destroy(&mut self) -> Outcome {
        self.operate(Operation::Destroy, false, None)
    }

    /// Destroys the stack, running the program.
    pub(crate) fn destroy_with(&mut self, program: Arc<dyn Program>) -> Outcome {
        self.with_program(Operation::Destroy, program)
    }

    /// Refreshes the stack, running the program.
    pub(crate) fn refresh_with(&mut self, program: Arc<dyn Program>) -> Outcome {
        self.with_program(Operation::Refresh, program)
    }

    fn with_program(&mut self, operation: Operation, program: Arc<dyn Program>) -> Outcome {
        let before = std::mem::replace(&mut self.options.run_program, true);
        let outcome = self.operate(operation, false, Some(program));
        self.options.run_program = before;
        outcome
    }

    /// Carries out any operation with the options as they are.
    pub(crate) fn operate(
        &mut self,
        operation: Operation,
        dry_run: bool,
        program: Option<Arc<dyn Program>>,
    ) -> Outcome {
        let options = Options { operation, dry_run, ..self.options.clone() };
        let mut journal = MemoryJournal::new(self.snapshot.clone());
        journal.fail_at = self.journal_fails_at;
        let journal = Arc::new(journal);
        let events = Arc::new(Collected::default());
        let manager = Manager::new(drystone_model::SecretsProvider::default(), Arc::new(Base64));
        let run = Run {
            organization: "organization".to_owned(),
            project: "shop".to_owned(),
            stack: "dev".to_owned(),
            config: self.config.clone(),
            base: self.snapshot.clone(),
            options,
            program,
            plugins: Arc::new(TestPlugins(self.providers.clone())),
            journal: Arc::clone(&journal) as Arc<dyn drystone_engine::Journal>,
            sealer: Arc::new(Sealer::new(&manager, Reuse::On).unwrap()),
            events: Arc::clone(&events) as Arc<dyn EventSink>,
            analyzers: self.analyzers.clone(),
            stacks: Arc::new(TestStacks(self.other_stacks.clone())),
            surroundings: Arc::clone(&self.clock) as Arc<dyn Surroundings>,
            cancellation: self.cancellation.clone(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let report = runtime.block_on(drystone_engine::run(run));
        let (snapshot, entries) = journal.finish();
        if dry_run {
            assert_eq!(entries, 0, "a preview must not write");
        } else if report.recorded {
            self.snapshot = snapshot;
        }
        let events = std::mem::take(&mut *events.0.lock().unwrap());
        Outcome { report, events, writes: journal.writes(), entries, journal: journal.texts() }
    }

    /// The live resource of that name.
    pub(crate) fn resource(&self, name: &str) -> &Resource {
        self.find(name).unwrap_or_else(|| panic!("there is no resource {name:?} in {:?}", self.names()))
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Resource> {
        self.snapshot.resources.iter().find(|resource| resource.urn.name() == name && !resource.delete)
    }

    /// The names of all resources but default providers, in the snapshot's order; those to be deleted end in `!`.
    pub(crate) fn names(&self) -> Vec<String> {
        let shown = |resource: &&Resource| !resource.urn.name().starts_with("default");
        let mark = |resource: &Resource| {
            format!("{}{}", resource.urn.name(), if resource.delete { "!" } else { "" })
        };
        self.snapshot.resources.iter().filter(shown).map(mark).collect()
    }

    /// The calls that a package's provider got, since the last time this was asked.
    pub(crate) fn calls(&self, package: &str) -> Vec<Call> {
        self.providers[package].take_calls()
    }

    /// The same as short texts, `create a`, those of checks and diffs left out.
    pub(crate) fn effects(&self, package: &str) -> Vec<String> {
        let effect = |call: &Call| matches!(call.method, "create" | "update" | "delete" | "read");
        let calls = self.calls(package).into_iter().filter(effect);
        calls.map(|call| format!("{} {}", call.method, call.urn.name())).collect()
    }

    pub(crate) fn urn(&self, name: &str) -> Urn {
        self.resource(name).urn.clone()
    }
}

impl Outcome {
    /// The operation ended well.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.report.ending, Ending::Succeeded, "{:#?}", self.diagnostics(Severity::Info));
        self
    }

    /// The operation failed; one of its errors holds the text.
    #[track_caller]
    pub(crate) fn failed(self, text: &str) -> Self {
        assert_eq!(self.report.ending, Ending::Failed);
        let errors = self.diagnostics(Severity::Error);
        assert!(errors.iter().any(|error| error.contains(text)), "{text:?} is not in {errors:#?}");
        self
    }

    /// The steps that ended well, as `create a`, in their order; sames and default providers left out.
    pub(crate) fn steps(&self) -> Vec<String> {
        let step = |event: &Event| match event {
            Event::StepDone(step) => Some(step.clone()),
            _ => None,
        };
        let shown = |step: &StepEvent| {
            step.op != Op::Same && !step.urn.name().starts_with("default") && step.urn.name() != "shop-dev"
        };
        let done = self.events.iter().filter_map(step).filter(shown);
        done.map(|step| format!("{} {}", step.op, step.urn.name())).collect()
    }

    /// Every started step of a resource.
    pub(crate) fn steps_of(&self, name: &str) -> Vec<StepEvent> {
        let of = |event: &Event| match event {
            Event::StepStarted(step) if step.urn.name() == name => Some(step.clone()),
            _ => None,
        };
        self.events.iter().filter_map(of).collect()
    }

    /// What was said with at least that severity.
    pub(crate) fn diagnostics(&self, severity: Severity) -> Vec<String> {
        let said = |event: &Event| match event {
            Event::Diagnostic(Diagnostic { message, severity: level, .. }) if *level >= severity => {
                Some(message.clone())
            }
            _ => None,
        };
        self.events.iter().filter_map(said).collect()
    }

    /// What was told of policies that are broken, as `mandatory no-public: a`.
    pub(crate) fn violations(&self) -> Vec<String> {
        let told = |event: &Event| match event {
            Event::Policy(PolicyEvent::Violation(broken)) => {
                let (level, policy) = (broken.level.as_str(), &broken.name.policy);
                Some(format!("{level} {policy}: {}", broken.urn.name()))
            }
            _ => None,
        };
        self.events.iter().filter_map(told).collect()
    }

    /// What policy packs were told to have said of a resource, or of the stack for an empty name.
    pub(crate) fn policy_summaries(&self, name: &str) -> Vec<PolicySummary> {
        let told = |event: &Event| match event {
            Event::Policy(PolicyEvent::Summary(summary)) if summary.urn.name() == name => {
                Some(summary.clone())
            }
            _ => None,
        };
        self.events.iter().filter_map(told).collect()
    }

    pub(crate) fn count(&self, op: Op) -> usize {
        self.report.changes.get(&op).copied().unwrap_or_default()
    }
}

/// Options that name targets.
pub(crate) fn targets<const N: usize>(urns: [&Urn; N]) -> Targets {
    Targets::new(urns.map(|urn| urn.as_str().to_owned()))
}

/// Options with a refresh first.
pub(crate) fn refresh_first() -> Options {
    Options { refresh: RefreshMode::First, parallel: 8, ..Options::default() }
}

#[derive(Default)]
struct Collected(Mutex<Vec<Event>>);

impl EventSink for Collected {
    fn send(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

#[derive(Debug)]
struct TestPlugins(BTreeMap<String, TestProvider>);

#[async_trait]
impl Plugins for TestPlugins {
    async fn load(&self, package: &PackageDescriptor) -> Result<Arc<dyn Provider>, ProviderError> {
        match self.0.get(&package.name) {
            Some(provider) => Ok(provider.instance(package)),
            None => Err(ProviderError::new(format!("no plugin {}", package.name))),
        }
    }

    fn attach(&self, views: Arc<dyn ViewPublisher>) {
        for provider in self.0.values() {
            provider.views.open(&views);
        }
    }
}

struct TestStacks(BTreeMap<String, PropertyMap>);

#[async_trait]
impl StackReader for TestStacks {
    async fn outputs(&self, stack: &str) -> Result<PropertyMap, Failed> {
        self.0.get(stack).cloned().ok_or_else(|| Failed(format!("unknown stack {stack:?}")))
    }

    async fn resource_outputs(&self, stack: &str) -> Result<PropertyMap, Failed> {
        self.outputs(stack).await
    }
}

/// A clock that goes a second each time it is looked at, and ids that count.
#[derive(Debug, Default)]
struct Clock(AtomicU64);

impl Surroundings for Clock {
    fn now(&self) -> jiff::Timestamp {
        let seconds = self.0.fetch_add(1, Ordering::SeqCst);
        jiff::Timestamp::from_second(1_700_000_000 + i64::try_from(seconds).unwrap()).unwrap()
    }

    fn uuid(&self) -> uuid::Uuid {
        uuid::Uuid::from_u64_pair(1, self.0.fetch_add(1, Ordering::SeqCst))
    }

    fn seed(&self) -> [u8; 32] {
        [7; 32]
    }
}

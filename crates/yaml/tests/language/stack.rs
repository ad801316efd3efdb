//! A stack that lives in memory, and the programs that are run for it.

use crate::shelf::Shelf;
use async_trait::async_trait;
use drystone_engine::{
    Cancellation, ConfigValue, Diagnostic, Ending, Event, EventSink, Failed, Journal, JournalError, Monitor,
    Options, PackageDescriptor, Plugins, Program, ProgramError, PropertyMap, Provider, ProviderError, Report,
    Run, Severity, StackReader, SystemSurroundings,
};
use drystone_journal::{Entry, Replayer};
use drystone_model::{Resource, Snapshot};
use drystone_secrets::{Base64, Manager, Reuse, Sealer};
use drystone_yaml::{YamlComponents, YamlProgram};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A stack named `dev` of the project `shop`, whose program is in a folder of its own.
pub(crate) struct Stack {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) shelf: Shelf,
    config: BTreeMap<String, ConfigValue>,
    snapshot: Snapshot,
    other: PropertyMap,
}

/// What came of an operation.
pub(crate) struct Outcome {
    report: Report,
    events: Vec<Event>,
}

impl Stack {
    /// A stack with a program, its name and runtime left out.
    pub(crate) fn new(program: &str) -> Self {
        let stack = Self {
            folder: tempfile::tempdir().unwrap(),
            shelf: Shelf::default(),
            config: BTreeMap::new(),
            snapshot: Snapshot::default(),
            other: PropertyMap::new(),
        };
        stack.program(program);
        stack
    }

    /// Replaces the program.
    pub(crate) fn program(&self, program: &str) {
        self.file("Pulumi.yaml", &format!("name: shop\nruntime: yaml\n{program}"));
    }

    /// Writes a file beside the program.
    pub(crate) fn file(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Sets a value of the configuration.
    pub(crate) fn config(mut self, key: &str, text: &str) -> Self {
        self.config.insert(key.to_owned(), ConfigValue { text: text.to_owned(), ..ConfigValue::default() });
        self
    }

    /// Sets a secret value of the configuration.
    pub(crate) fn secret(mut self, key: &str, text: &str) -> Self {
        let value = ConfigValue { text: text.to_owned(), secret: true, ..ConfigValue::default() };
        self.config.insert(key.to_owned(), value);
        self
    }

    /// The outputs of the stack `other/prod`.
    pub(crate) fn other(mut self, outputs: PropertyMap) -> Self {
        self.other = outputs;
        self
    }

    /// Runs the program for real.
    pub(crate) fn up(&mut self) -> Outcome {
        self.operate(false)
    }

    /// Says what `up` would do.
    pub(crate) fn preview(&mut self) -> Outcome {
        self.operate(true)
    }

    fn operate(&mut self, dry_run: bool) -> Outcome {
        let program = YamlProgram {
            directory: self.folder.path().to_owned(),
            root: self.folder.path().to_owned(),
            organization: "organization".to_owned(),
            project: "shop".to_owned(),
            stack: "dev".to_owned(),
            config: self.config.clone(),
            compiler: None,
            version: "3.259.0".to_owned(),
            dry_run,
        };
        self.operate_with(Arc::new(program), dry_run)
    }

    /// Runs a program in another language for real.
    pub(crate) fn up_with(&mut self, program: impl Program + 'static) -> Outcome {
        self.operate_with(Arc::new(program), false)
    }

    fn operate_with(&mut self, program: Arc<dyn Program>, dry_run: bool) -> Outcome {
        let journal = Arc::new(MemoryJournal(Mutex::new(Replayer::new(self.snapshot.clone()))));
        let events = Arc::new(Collected::default());
        let manager = Manager::new(drystone_model::SecretsProvider::default(), Arc::new(Base64));
        let monitor = Arc::default();
        let run = Run {
            organization: "organization".to_owned(),
            project: "shop".to_owned(),
            stack: "dev".to_owned(),
            config: self.config.clone(),
            base: self.snapshot.clone(),
            options: Options { dry_run, parallel: 16, ..Options::default() },
            program: Some(Arc::new(Attached { program, monitor: Arc::clone(&monitor) })),
            plugins: Arc::new(Shelves {
                shelf: self.shelf.clone(),
                directory: self.folder.path().to_owned(),
                monitor,
            }),
            journal: Arc::clone(&journal) as Arc<dyn Journal>,
            sealer: Arc::new(Sealer::new(&manager, Reuse::On).unwrap()),
            events: Arc::clone(&events) as Arc<dyn EventSink>,
            analyzers: Vec::new(),
            stacks: Arc::new(OtherStack(self.other.clone())),
            surroundings: Arc::new(SystemSurroundings),
            cancellation: Cancellation::default(),
        };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let limit = std::time::Duration::from_secs(60);
        let report =
            runtime.block_on(async { tokio::time::timeout(limit, drystone_engine::run(run)).await.unwrap() });
        if !dry_run {
            self.snapshot = journal.0.lock().unwrap().snapshot().snapshot;
        }
        let events = std::mem::take(&mut *events.0.lock().unwrap());
        Outcome { report, events }
    }

    /// A resource by its name.
    pub(crate) fn resource(&self, name: &str) -> &Resource {
        self.find(name).unwrap_or_else(|| panic!("there is no resource `{name}` in {:?}", self.names()))
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Resource> {
        self.snapshot.resources.iter().find(|resource| resource.urn.name() == name && !resource.delete)
    }

    /// The names of all resources but the stack and default providers, sorted.
    pub(crate) fn names(&self) -> Vec<&str> {
        let shown = |resource: &&Resource| {
            !resource.urn.name().starts_with("default") && resource.urn.name() != "shop-dev"
        };
        let mut names: Vec<&str> =
            self.snapshot.resources.iter().filter(shown).map(|resource| resource.urn.name()).collect();
        names.sort_unstable();
        names
    }

    /// An input of a resource, with secrets as `{"secret": …}`.
    pub(crate) fn input(&self, name: &str, property: &str) -> serde_json::Value {
        self::property(&self.resource(name).inputs, property)
    }

    /// An output of the stack.
    pub(crate) fn output(&self, name: &str) -> serde_json::Value {
        property(&self.resource("shop-dev").outputs, name)
    }

    /// The names of the resources that a resource depends on.
    pub(crate) fn dependencies(&self, name: &str) -> Vec<String> {
        self.resource(name).dependencies.iter().map(|urn| urn.name().to_owned()).collect()
    }

    /// The names of the resources that a property depends on.
    pub(crate) fn property_dependencies(&self, name: &str, property: &str) -> Vec<String> {
        let dependencies = self.resource(name).property_dependencies.get(property);
        dependencies.into_iter().flatten().flatten().map(|urn| urn.name().to_owned()).collect()
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A stored value, with secrets opened as `{"secret": …}`.
fn shown(value: serde_json::Value) -> serde_json::Value {
    use base64::Engine;
    match value {
        serde_json::Value::Array(items) => items.into_iter().map(shown).collect(),
        serde_json::Value::Object(members) => {
            match members.get("ciphertext").and_then(|text| text.as_str()) {
                Some(sealed) => {
                    let opened = base64::prelude::BASE64_STANDARD.decode(sealed).unwrap();
                    serde_json::json!({ "secret": serde_json::from_slice::<serde_json::Value>(&opened).unwrap() })
                }
                None => members.into_iter().map(|(name, member)| (name, shown(member))).collect(),
            }
        }
        other => other,
    }
}

fn property(properties: &drystone_model::Properties, name: &str) -> serde_json::Value {
    let all: serde_json::Value = serde_json::from_str(properties.text()).unwrap();
    shown(all[name].clone())
}

impl Outcome {
    /// It ended well.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.report.ending, Ending::Succeeded, "{:#?}", self.said(Severity::Warning));
        self
    }

    /// It failed.
    #[track_caller]
    pub(crate) fn failed(self) -> Self {
        assert_eq!(self.report.ending, Ending::Failed);
        self
    }

    /// It failed, and one of the errors holds the text.
    #[track_caller]
    pub(crate) fn failed_with(self, text: &str) -> Self {
        let errors = self.errors();
        assert!(errors.iter().any(|error| error.contains(text)), "{text:?} is not in {errors:#?}");
        self.failed()
    }

    pub(crate) fn errors(&self) -> Vec<String> {
        self.said(Severity::Error)
    }

    /// What was said with at least that severity.
    pub(crate) fn said(&self, severity: Severity) -> Vec<String> {
        let said = |event: &Event| match event {
            Event::Diagnostic(Diagnostic { message, severity: level, .. }) if *level >= severity => {
                Some(message.clone())
            }
            _ => None,
        };
        self.events.iter().filter_map(said).collect()
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

/// A program whose way into the operation is lent to components.
struct Attached {
    program: Arc<dyn Program>,
    monitor: Arc<Mutex<Option<Monitor>>>,
}

#[async_trait]
impl Program for Attached {
    async fn run(&self, monitor: Monitor) -> Result<(), ProgramError> {
        *self.monitor.lock().unwrap() = Some(Arc::clone(&monitor));
        let ended = self.program.run(monitor).await;
        self.monitor.lock().unwrap().take();
        ended
    }
}

/// The providers `shelf` and `plain`, and the components in the folder `parts` beside the program.
struct Shelves {
    shelf: Shelf,
    directory: PathBuf,
    monitor: Arc<Mutex<Option<Monitor>>>,
}

#[async_trait]
impl Plugins for Shelves {
    async fn load(&self, package: &PackageDescriptor) -> Result<Arc<dyn Provider>, ProviderError> {
        match package.name.as_str() {
            "shelf" | "plain" => Ok(Arc::new(self.shelf.of(&package.name))),
            "parts" => {
                let monitor = Arc::clone(&self.monitor);
                let source = Arc::new(move || monitor.lock().unwrap().clone());
                let folder = self.directory.join("parts");
                Ok(Arc::new(YamlComponents::load(&folder, &self.directory, source)?))
            }
            other => Err(ProviderError::new(format!("no plugin {other}"))),
        }
    }
}

struct OtherStack(PropertyMap);

#[async_trait]
impl StackReader for OtherStack {
    async fn outputs(&self, stack: &str) -> Result<PropertyMap, Failed> {
        if stack == "other/prod" {
            Ok(self.0.clone())
        } else {
            Err(Failed(format!("unknown stack {stack:?}")))
        }
    }

    async fn resource_outputs(&self, stack: &str) -> Result<PropertyMap, Failed> {
        self.outputs(stack).await
    }
}

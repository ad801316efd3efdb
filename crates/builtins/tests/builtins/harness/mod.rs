//! The package on a bench: a folder of its own, a clock that stands still, randomness from a count.

mod server;
mod stack;

pub(crate) use server::{Server, answer};
pub(crate) use stack::Stack;

use drystone_builtins::{Builtins, Settings};
use drystone_engine::{
    AppliedState, CheckArguments, Checked, CreateArguments, DeleteArguments, Diff, DiffArguments, Invoked,
    PropertyMap, Provider, ProviderError, ReadArguments, ReadState, Severity, Surroundings, UpdateArguments,
};
use drystone_model::{Number, Urn, Value};
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::runtime::Runtime;

/// A clock that goes when it is told to, and seeds that count.
#[derive(Debug)]
pub(crate) struct Clock {
    seconds: AtomicI64,
    count: AtomicU64,
}

impl Clock {
    fn new(first_seed: u64) -> Self {
        Self { seconds: AtomicI64::new(1_700_000_000), count: AtomicU64::new(first_seed) }
    }

    pub(crate) fn pass(&self, seconds: i64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Surroundings for Clock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(self.seconds.load(Ordering::SeqCst)).unwrap()
    }

    fn uuid(&self) -> uuid::Uuid {
        uuid::Uuid::from_u64_pair(1, self.count.fetch_add(1, Ordering::SeqCst))
    }

    fn seed(&self) -> [u8; 32] {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.count.fetch_add(1, Ordering::SeqCst).to_le_bytes());
        seed
    }
}

/// The package, with a folder for its files.
pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) clock: Arc<Clock>,
    pub(crate) provider: Arc<Builtins>,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
    runtime: Runtime,
}

/// Something that was made.
#[derive(Debug, Clone)]
pub(crate) struct Thing {
    pub(crate) urn: Urn,
    pub(crate) id: String,
    pub(crate) inputs: PropertyMap,
    pub(crate) outputs: PropertyMap,
}

impl Thing {
    /// An output in clear.
    pub(crate) fn output(&self, key: &str) -> Json {
        to_json(&self.outputs.get(key).unwrap_or_else(|| panic!("no {key} in {:?}", self.outputs)).revealed())
    }

    pub(crate) fn text(&self, key: &str) -> String {
        self.output(key).as_str().unwrap_or_else(|| panic!("{key} is no text")).to_owned()
    }

    pub(crate) fn is_secret(&self, key: &str) -> bool {
        self.outputs[key].is_secret()
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::seeded(1)
    }

    pub(crate) fn seeded(first_seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(Clock::new(first_seed));
        let (provider, log) = provider(folder.path().to_owned(), &clock);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Self { folder, clock, provider, log, runtime }
    }

    /// The same folder and clock in another operation.
    pub(crate) fn again(self) -> Self {
        let (provider, log) = provider(self.folder.path().to_owned(), &self.clock);
        Self { provider, log, ..self }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    pub(crate) fn check(&self, kind: &str, inputs: &Json) -> Checked {
        let arguments =
            CheckArguments { urn: urn(kind, "x"), new_inputs: props(inputs), ..CheckArguments::default() };
        self.run(self.provider.check(arguments)).unwrap()
    }

    /// What is wrong with inputs, as `property: reason`.
    pub(crate) fn failures(&self, kind: &str, inputs: &Json) -> Vec<String> {
        let failures = self.check(kind, inputs).failures;
        failures.into_iter().map(|failure| format!("{}: {}", failure.property, failure.reason)).collect()
    }

    #[track_caller]
    fn checked(&self, kind: &str, inputs: &Json) -> PropertyMap {
        let checked = self.check(kind, inputs);
        assert!(checked.failures.is_empty(), "{:#?}", checked.failures);
        checked.properties
    }

    pub(crate) fn try_create(&self, kind: &str, name: &str, inputs: &Json) -> Result<Thing, ProviderError> {
        let inputs = self.checked(kind, inputs);
        let urn = urn(kind, name);
        let arguments =
            CreateArguments { urn: urn.clone(), inputs: inputs.clone(), ..CreateArguments::default() };
        let AppliedState { id, outputs, .. } = self.run(self.provider.create(arguments))?;
        Ok(Thing { urn, id, inputs, outputs })
    }

    #[track_caller]
    pub(crate) fn create(&self, kind: &str, inputs: &Json) -> Thing {
        self.try_create(kind, "x", inputs).unwrap()
    }

    /// What a preview of its creation shows.
    pub(crate) fn preview(&self, kind: &str, inputs: &Json) -> PropertyMap {
        let inputs = self.checked(kind, inputs);
        let arguments =
            CreateArguments { urn: urn(kind, "x"), inputs, dry_run: true, ..CreateArguments::default() };
        self.run(self.provider.create(arguments)).unwrap().outputs
    }

    pub(crate) fn diff(&self, thing: &Thing, inputs: &Json) -> Diff {
        let arguments = DiffArguments {
            urn: thing.urn.clone(),
            id: thing.id.clone(),
            old_inputs: thing.inputs.clone(),
            old_outputs: thing.outputs.clone(),
            new_inputs: self.checked(thing.urn.type_token(), inputs),
            ..DiffArguments::default()
        };
        self.run(self.provider.diff(arguments)).unwrap()
    }

    /// The paths that differ, with how.
    pub(crate) fn changes(&self, thing: &Thing, inputs: &Json) -> Vec<String> {
        let changes = self.diff(thing, inputs).detailed.unwrap_or_default();
        changes.iter().map(|(path, change)| format!("{} {path}", change.kind.as_str())).collect()
    }

    pub(crate) fn try_update(&self, thing: &Thing, inputs: &Json) -> Result<Thing, ProviderError> {
        let inputs = self.checked(thing.urn.type_token(), inputs);
        let arguments = UpdateArguments {
            urn: thing.urn.clone(),
            id: thing.id.clone(),
            old_inputs: thing.inputs.clone(),
            old_outputs: thing.outputs.clone(),
            new_inputs: inputs.clone(),
            ..UpdateArguments::default()
        };
        let AppliedState { id, outputs, .. } = self.run(self.provider.update(arguments))?;
        Ok(Thing { urn: thing.urn.clone(), id, inputs, outputs })
    }

    pub(crate) fn update(&self, thing: &Thing, inputs: &Json) -> Thing {
        self.try_update(thing, inputs).unwrap()
    }

    pub(crate) fn try_read(&self, thing: &Thing) -> Result<Option<Thing>, ProviderError> {
        let arguments = ReadArguments {
            urn: thing.urn.clone(),
            id: thing.id.clone(),
            inputs: thing.inputs.clone(),
            outputs: thing.outputs.clone(),
            ..ReadArguments::default()
        };
        let ReadState { id, inputs, outputs, .. } = self.run(self.provider.read(arguments))?;
        Ok(outputs.map(|outputs| Thing { urn: thing.urn.clone(), id, inputs: inputs.unwrap(), outputs }))
    }

    pub(crate) fn read(&self, thing: &Thing) -> Option<Thing> {
        self.try_read(thing).unwrap()
    }

    pub(crate) fn try_import(&self, kind: &str, id: &str) -> Result<Option<Thing>, ProviderError> {
        let nothing = PropertyMap::new();
        let thing =
            Thing { urn: urn(kind, "x"), id: id.to_owned(), inputs: nothing.clone(), outputs: nothing };
        self.try_read(&thing)
    }

    /// Takes over what exists; the inputs that come out must pass the check and show no change.
    #[track_caller]
    pub(crate) fn import(&self, kind: &str, id: &str) -> Thing {
        let thing = self.try_import(kind, id).unwrap().unwrap_or_else(|| panic!("{id} is not there"));
        let inputs = to_json(&Value::Object(thing.inputs.clone()).revealed());
        assert_eq!(self.changes(&thing, &inputs), [""; 0], "{inputs}");
        thing
    }

    pub(crate) fn try_delete(&self, thing: &Thing) -> Result<(), ProviderError> {
        self.run(self.provider.delete(DeleteArguments {
            urn: thing.urn.clone(),
            id: thing.id.clone(),
            inputs: thing.inputs.clone(),
            outputs: thing.outputs.clone(),
            ..DeleteArguments::default()
        }))
    }

    pub(crate) fn delete(&self, thing: &Thing) {
        self.try_delete(thing).unwrap();
    }

    pub(crate) fn invoke(&self, token: &str, arguments: &Json) -> Result<Invoked, ProviderError> {
        self.run(self.provider.invoke(token, props(arguments), false))
    }
}

pub(crate) fn provider(folder: PathBuf, clock: &Arc<Clock>) -> (Arc<Builtins>, Arc<Mutex<Vec<String>>>) {
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let lines = Arc::clone(&log);
    let settings = Settings {
        directory: folder,
        surroundings: Arc::clone(clock) as Arc<dyn Surroundings>,
        log: Arc::new(move |_: &Urn, _: Severity, line: String| lines.lock().unwrap().push(line)),
    };
    (Arc::new(Builtins::new(settings)), log)
}

pub(crate) fn urn(kind: &str, name: &str) -> Urn {
    let kind = if kind.starts_with("drystone:") { kind.to_owned() } else { format!("drystone:{kind}") };
    Urn::build("dev", "shop", "", &kind, name)
}

/// Properties from JSON; `{"secret": x}` is a secret and `{"unknown": true}` not known yet.
pub(crate) fn props(json: &Json) -> PropertyMap {
    match value(json) {
        Value::Object(members) => members,
        other => panic!("{other:?} are no properties"),
    }
}

pub(crate) fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => Value::Number(Number::parse(&number.to_string()).unwrap()),
        Json::String(text) => Value::String(text.clone()),
        Json::Array(elements) => Value::array(elements.iter().map(value)),
        Json::Object(members) => match (members.get("secret"), members.get("unknown")) {
            (Some(secret), _) if members.len() == 1 => Value::secret(value(secret)),
            (_, Some(_)) if members.len() == 1 => Value::Computed(drystone_model::Computed::String),
            _ => Value::object(members.iter().map(|(key, member)| (key, value(member)))),
        },
    }
}

pub(crate) fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(flag) => json!(flag),
        Value::Number(number) => serde_json::from_str(&number.to_string()).unwrap(),
        Value::String(text) => json!(text),
        Value::Array(elements) => elements.iter().map(to_json).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| (key.clone(), to_json(member)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => panic!("{} has no JSON", other.kind()),
    }
}

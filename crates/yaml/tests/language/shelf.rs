//! A provider in this process: things on a shelf that give back what they were given, and a token.

use async_trait::async_trait;
use drystone_engine::{
    AppliedState, CreateArguments, DeleteArguments, Diff, DiffArguments, Invoked, Parameterization,
    PropertyMap, Provider, ProviderError, ReadArguments, ReadState, UpdateArguments,
};
use drystone_model::{Computed, Value};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The provider of `shelf`, which has a schema, and of `plain`, which has none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shelf {
    name: String,
    /// What was called, as `create a`.
    pub(crate) calls: Arc<Mutex<Vec<String>>>,
    /// How many operations run now, and how many ran at most.
    running: Arc<(AtomicUsize, AtomicUsize)>,
}

impl Shelf {
    pub(crate) fn of(&self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self.clone() }
    }

    pub(crate) fn most_at_once(&self) -> usize {
        self.running.1.load(Ordering::SeqCst)
    }

    pub(crate) fn called(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }

    fn note(&self, call: String) {
        self.calls.lock().unwrap().push(call);
    }

    async fn pause(&self, inputs: &PropertyMap) {
        let now = self.running.0.fetch_add(1, Ordering::SeqCst) + 1;
        self.running.1.fetch_max(now, Ordering::SeqCst);
        if let Some(Value::Number(millis)) = inputs.get("pause") {
            let millis = u64::try_from(millis.as_i64().unwrap()).unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(millis)).await;
        }
        self.running.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What a thing gives: its inputs, a token and the names of its inputs.
fn outputs(name: &str, inputs: &PropertyMap, dry_run: bool) -> PropertyMap {
    let mut outputs = inputs.clone();
    let made = |value: Value| if dry_run { Value::Computed(Computed::String) } else { value };
    outputs.insert("token".to_owned(), made(format!("token of {name}").into()));
    outputs.insert("parts".to_owned(), made(Value::array(["one", "two", "three"])));
    outputs.insert("nested".to_owned(), made(Value::object([("deep", Value::object([("key", "value")]))])));
    outputs
}

#[async_trait]
impl Provider for Shelf {
    async fn schema(&self, _: Option<Parameterization>) -> Result<String, ProviderError> {
        match self.name.as_str() {
            "shelf" => Ok(include_str!("shelf.json").to_owned()),
            _ => Err(ProviderError::unimplemented("GetSchema")),
        }
    }

    async fn diff(&self, arguments: DiffArguments) -> Result<Diff, ProviderError> {
        Ok(if arguments.old_inputs == arguments.new_inputs { Diff::none() } else { Diff::some() })
    }

    async fn create(&self, arguments: CreateArguments) -> Result<AppliedState, ProviderError> {
        let name = arguments.urn.name().to_owned();
        self.pause(&arguments.inputs).await;
        if !arguments.dry_run {
            self.note(format!("create {name}"));
        }
        if arguments.inputs.get("fail").and_then(Value::as_bool) == Some(true) {
            return Err(ProviderError::new("asked to fail"));
        }
        let outputs = outputs(&name, &arguments.inputs, arguments.dry_run);
        let id = if arguments.dry_run { String::new() } else { format!("id-{name}") };
        Ok(AppliedState { id, outputs, ..AppliedState::default() })
    }

    async fn read(&self, arguments: ReadArguments) -> Result<ReadState, ProviderError> {
        self.note(format!("read {} {}", arguments.urn.name(), arguments.id));
        let mut inputs = arguments.inputs.clone();
        inputs.extend(arguments.outputs.clone());
        let outputs = outputs(&arguments.id, &inputs, false);
        Ok(ReadState {
            id: arguments.id,
            outputs: Some(outputs),
            inputs: Some(inputs),
            ..ReadState::default()
        })
    }

    async fn update(&self, arguments: UpdateArguments) -> Result<AppliedState, ProviderError> {
        let name = arguments.urn.name().to_owned();
        if !arguments.dry_run {
            self.note(format!("update {name}"));
        }
        let outputs = outputs(&name, &arguments.new_inputs, arguments.dry_run);
        Ok(AppliedState { outputs, ..AppliedState::default() })
    }

    async fn delete(&self, arguments: DeleteArguments) -> Result<(), ProviderError> {
        self.note(format!("delete {}", arguments.urn.name()));
        Ok(())
    }

    async fn invoke(&self, token: &str, arguments: PropertyMap, _: bool) -> Result<Invoked, ProviderError> {
        self.note(format!("invoke {token}"));
        if arguments.get("fail").and_then(Value::as_bool) == Some(true) {
            return Err(ProviderError::new("asked to fail"));
        }
        let mut properties = arguments;
        match token {
            "shelf:index:echo" | "plain:index:echo" => {}
            "shelf:index:hidden" => {
                properties.insert("code".to_owned(), Value::secret("1234".into()));
            }
            "shelf:index:number" => properties = PropertyMap::from([("result".to_owned(), 7i64.into())]),
            other => return Err(ProviderError::new(format!("there is no function `{other}`"))),
        }
        Ok(Invoked { properties, ..Invoked::default() })
    }
}

//! A provider whose behaviour a test sets, and that remembers what exists.

use super::ViewDesk;
use async_trait::async_trait;
use drystone_engine::{
    AppliedState, CallAnswer, CallArguments, CheckArguments, Checked, ConfigureArguments, ConstructArguments,
    Constructed, CreateArguments, DeleteArguments, Diff, DiffArguments, Invoked, PackageDescriptor,
    ParameterizeArguments, PropertyMap, Provider, ProviderError, ReadArguments, ReadState, UpdateArguments,
};
use drystone_model::{Computed, Urn, Value};
use futures::future::BoxFuture;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

/// A call that a provider got.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) method: &'static str,
    pub(crate) urn: Urn,
    pub(crate) id: String,
    pub(crate) inputs: PropertyMap,
    pub(crate) old_inputs: PropertyMap,
    pub(crate) dry_run: bool,
    /// The version of the plugin that was called.
    pub(crate) version: String,
    /// How it was configured.
    pub(crate) config: PropertyMap,
}

pub(crate) type Act<A, R> = Option<Arc<dyn Fn(A) -> Result<R, ProviderError> + Send + Sync>>;
type ActLater<A, R> = Option<Arc<dyn Fn(A) -> BoxFuture<'static, Result<R, ProviderError>> + Send + Sync>>;

pub(crate) type Pause = Option<Arc<dyn Fn(&'static str, &Urn) -> BoxFuture<'static, ()> + Send + Sync>>;

/// What a test wants a provider to do. What is not set behaves well: ids are the resource's name and a number, outputs
/// are the inputs, nothing ever has to be replaced.
#[derive(Clone, Default)]
pub(crate) struct TestProvider {
    pub(crate) check: Act<CheckArguments, Checked>,
    pub(crate) check_config: Act<CheckArguments, Checked>,
    pub(crate) diff: Act<DiffArguments, Diff>,
    pub(crate) diff_config: Act<DiffArguments, Diff>,
    pub(crate) configure: Act<ConfigureArguments, ()>,
    pub(crate) create: Act<CreateArguments, AppliedState>,
    pub(crate) update: Act<UpdateArguments, AppliedState>,
    pub(crate) read: Act<ReadArguments, ReadState>,
    pub(crate) delete: Act<DeleteArguments, ()>,
    pub(crate) invoke: Act<(String, PropertyMap), Invoked>,
    pub(crate) call: ActLater<CallArguments, CallAnswer>,
    /// Answers calls by how the provider is configured.
    pub(crate) call_with_config: Option<Arc<dyn Fn(PropertyMap) -> CallAnswer + Send + Sync>>,
    pub(crate) construct: ActLater<ConstructArguments, Constructed>,
    pub(crate) parameterize: Act<ParameterizeArguments, (String, String)>,
    pub(crate) supports_autonaming: bool,
    /// Where it publishes views.
    pub(crate) views: ViewDesk,
    /// Waited for in the middle of every create, update, delete and read.
    pub(crate) pause: Pause,
    /// The packages that instances were asked for.
    pub(crate) loaded: Arc<Mutex<Vec<PackageDescriptor>>>,
    /// What exists, by id.
    pub(crate) cloud: Arc<Mutex<BTreeMap<String, PropertyMap>>>,
    pub(crate) version: String,
    pub(crate) config: Arc<Mutex<PropertyMap>>,
    pub(crate) calls: Arc<Mutex<Vec<Call>>>,
    pub(crate) counter: Arc<Mutex<u64>>,
}

impl fmt::Debug for TestProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TestProvider")
    }
}

impl TestProvider {
    /// A provider that replaces a resource when one of these properties changes, and updates it for all others.
    pub(crate) fn replacing_on<const N: usize>(keys: [&'static str; N]) -> Self {
        Self {
            diff: Some(Arc::new(move |arguments| Ok(diff_by_keys(&arguments, &keys, false)))),
            ..Self::default()
        }
    }

    /// The same, deleting the old one first.
    pub(crate) fn deleting_before_replacing_on<const N: usize>(keys: [&'static str; N]) -> Self {
        Self {
            diff: Some(Arc::new(move |arguments| Ok(diff_by_keys(&arguments, &keys, true)))),
            ..Self::default()
        }
    }

    pub(crate) fn take_calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    /// The ids of what exists.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.cloud.lock().unwrap().keys().cloned().collect()
    }

    pub(crate) fn instance(&self, package: &PackageDescriptor) -> Arc<dyn Provider> {
        self.loaded.lock().unwrap().push(package.clone());
        Arc::new(Self { version: package.version.clone(), config: Arc::default(), ..self.clone() })
    }

    async fn wait(&self, method: &'static str, urn: &Urn) {
        match &self.pause {
            Some(pause) => pause(method, urn).await,
            None => tokio::task::yield_now().await,
        }
    }

    fn note(
        &self,
        method: &'static str,
        urn: &Urn,
        id: &str,
        inputs: &PropertyMap,
        old: &PropertyMap,
        dry_run: bool,
    ) {
        let call = Call {
            method,
            urn: urn.clone(),
            id: id.to_owned(),
            inputs: inputs.clone(),
            old_inputs: old.clone(),
            dry_run,
            version: self.version.clone(),
            config: self.config.lock().unwrap().clone(),
        };
        self.calls.lock().unwrap().push(call);
    }
}

/// What changed between old and new inputs; some of it replaces.
pub(crate) fn diff_by_keys(arguments: &DiffArguments, replacing: &[&str], delete_first: bool) -> Diff {
    let mut keys: Vec<String> =
        arguments.old_inputs.keys().chain(arguments.new_inputs.keys()).cloned().collect();
    keys.sort();
    keys.dedup();
    let null = Value::Null;
    keys.retain(|key| {
        let old = arguments.old_inputs.get(key).unwrap_or(&null);
        !old.same_as(arguments.new_inputs.get(key).unwrap_or(&null))
    });
    if keys.is_empty() {
        return Diff::none();
    }
    let replace_keys = keys.iter().filter(|key| replacing.contains(&key.as_str())).cloned().collect();
    Diff { replace_keys, changed_keys: keys, delete_before_replace: delete_first, ..Diff::some() }
}

#[async_trait]
impl Provider for TestProvider {
    async fn check(&self, arguments: CheckArguments) -> Result<Checked, ProviderError> {
        self.note(
            "check",
            &arguments.urn,
            "",
            &arguments.new_inputs,
            &arguments.old_inputs,
            arguments.dry_run,
        );
        match &self.check {
            Some(check) => check(arguments),
            None => Ok(Checked { properties: arguments.new_inputs, failures: Vec::new() }),
        }
    }

    async fn check_config(&self, arguments: CheckArguments) -> Result<Checked, ProviderError> {
        self.note("check_config", &arguments.urn, "", &arguments.new_inputs, &arguments.old_inputs, true);
        match &self.check_config {
            Some(check) => check(arguments),
            None => Ok(Checked { properties: arguments.new_inputs, failures: Vec::new() }),
        }
    }

    async fn diff(&self, arguments: DiffArguments) -> Result<Diff, ProviderError> {
        let DiffArguments { urn, id, new_inputs, old_inputs, dry_run, .. } = &arguments;
        self.note("diff", urn, id, new_inputs, old_inputs, *dry_run);
        match &self.diff {
            Some(diff) => diff(arguments),
            None => Ok(Diff::default()),
        }
    }

    async fn diff_config(&self, arguments: DiffArguments) -> Result<Diff, ProviderError> {
        let DiffArguments { urn, id, new_inputs, old_inputs, dry_run, .. } = &arguments;
        self.note("diff_config", urn, id, new_inputs, old_inputs, *dry_run);
        match &self.diff_config {
            Some(diff) => diff(arguments),
            None => Ok(Diff::default()),
        }
    }

    async fn configure(&self, arguments: ConfigureArguments) -> Result<(), ProviderError> {
        self.note("configure", &arguments.urn, &arguments.id, &arguments.inputs, &PropertyMap::new(), false);
        self.config.lock().unwrap().clone_from(&arguments.inputs);
        match &self.configure {
            Some(configure) => configure(arguments),
            None => Ok(()),
        }
    }

    async fn create(&self, arguments: CreateArguments) -> Result<AppliedState, ProviderError> {
        self.note("create", &arguments.urn, "", &arguments.inputs, &PropertyMap::new(), arguments.dry_run);
        self.wait("create", &arguments.urn).await;
        let (inputs, dry_run, name) =
            (arguments.inputs.clone(), arguments.dry_run, arguments.urn.name().to_owned());
        let applied = match &self.create {
            Some(create) => create(arguments)?,
            None if dry_run => AppliedState { outputs: inputs.clone(), ..AppliedState::default() },
            None => {
                let mut counter = self.counter.lock().unwrap();
                *counter += 1;
                AppliedState {
                    id: format!("{name}-{counter}"),
                    outputs: inputs.clone(),
                    ..AppliedState::default()
                }
            }
        };
        if !dry_run {
            self.cloud.lock().unwrap().insert(applied.id.clone(), applied.outputs.clone());
        }
        Ok(applied)
    }

    async fn update(&self, arguments: UpdateArguments) -> Result<AppliedState, ProviderError> {
        let UpdateArguments { urn, id, new_inputs, old_inputs, dry_run, .. } = &arguments;
        self.note("update", urn, id, new_inputs, old_inputs, *dry_run);
        self.wait("update", urn).await;
        let (id, inputs, dry_run) = (id.clone(), new_inputs.clone(), *dry_run);
        let applied = match &self.update {
            Some(update) => update(arguments)?,
            None => AppliedState { id: id.clone(), outputs: inputs, ..AppliedState::default() },
        };
        if !dry_run {
            self.cloud.lock().unwrap().insert(id, applied.outputs.clone());
        }
        Ok(applied)
    }

    /// Without a behaviour of its own it answers with what exists.
    async fn read(&self, arguments: ReadArguments) -> Result<ReadState, ProviderError> {
        self.note("read", &arguments.urn, &arguments.id, &arguments.inputs, &PropertyMap::new(), false);
        self.wait("read", &arguments.urn).await;
        if let Some(read) = &self.read {
            return read(arguments);
        }
        let found = self.cloud.lock().unwrap().get(&arguments.id).cloned();
        Ok(match found {
            Some(outputs) => ReadState {
                id: arguments.id,
                inputs: Some(outputs.clone()),
                outputs: Some(outputs),
                ..ReadState::default()
            },
            None => ReadState::default(),
        })
    }

    async fn delete(&self, arguments: DeleteArguments) -> Result<(), ProviderError> {
        self.note("delete", &arguments.urn, &arguments.id, &arguments.inputs, &PropertyMap::new(), false);
        self.wait("delete", &arguments.urn).await;
        let id = arguments.id.clone();
        if let Some(delete) = &self.delete {
            delete(arguments)?;
        }
        self.cloud.lock().unwrap().remove(&id);
        Ok(())
    }

    async fn invoke(
        &self,
        token: &str,
        arguments: PropertyMap,
        dry_run: bool,
    ) -> Result<Invoked, ProviderError> {
        self.note("invoke", &Urn::new(token), "", &arguments, &PropertyMap::new(), dry_run);
        match &self.invoke {
            Some(invoke) => invoke((token.to_owned(), arguments)),
            None => Ok(Invoked { properties: arguments, ..Invoked::default() }),
        }
    }

    async fn call(&self, arguments: CallArguments) -> Result<CallAnswer, ProviderError> {
        if let Some(answer) = &self.call_with_config {
            let config = self.config.lock().unwrap().clone();
            return Ok(answer(config));
        }
        match &self.call {
            Some(call) => call(arguments).await,
            None => Err(ProviderError::unimplemented("Call")),
        }
    }

    async fn construct(&self, arguments: ConstructArguments) -> Result<Constructed, ProviderError> {
        match &self.construct {
            Some(construct) => construct(arguments).await,
            None => Err(ProviderError::unimplemented("Construct")),
        }
    }

    async fn parameterize(
        &self,
        arguments: ParameterizeArguments,
    ) -> Result<(String, String), ProviderError> {
        match &self.parameterize {
            Some(parameterize) => parameterize(arguments),
            None => Err(ProviderError::unimplemented("Parameterize")),
        }
    }

    fn supports_autonaming(&self) -> bool {
        self.supports_autonaming
    }

    async fn cancel(&self) -> Result<(), ProviderError> {
        self.note("cancel", &Urn::default(), "", &PropertyMap::new(), &PropertyMap::new(), false);
        Ok(())
    }
}

/// A value that is not known yet.
pub(crate) fn unknown() -> Value {
    Value::Computed(Computed::String)
}

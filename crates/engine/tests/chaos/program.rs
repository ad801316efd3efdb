//! Programs as data, so that they can be made up, changed and run again.

use crate::invent::PACKAGES;
use crate::provider::REFUSAL;
use crate::world::Session;
use async_trait::async_trait;
use drystone_engine::{
    Alias, ErrorHook, Failed, Hook, HookCall, HookMoment, HookRegistration, Monitor, MonitorError,
    PackageDescriptor, PackageSource, Program, ProgramError, PropertyMap, ReadRequest, RegisterRequest,
    Registered, ResourceOptions,
};
use drystone_model::{Computed, Output, ROOT_STACK_TYPE, Urn, Value};
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// A declaration's name for itself; it stays whatever the declaration becomes.
pub(crate) type Key = u32;

/// A program: declarations in an order in which each refers to earlier ones only.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spec {
    pub(crate) declarations: Vec<Declaration>,
    /// The stack's outputs, by the declaration that they come from.
    pub(crate) outputs: Vec<Key>,
    /// Whether the program tells that nothing more comes.
    pub(crate) finishes: bool,
}

/// A resource that a program wants.
#[derive(Debug, Clone)]
pub(crate) struct Declaration {
    pub(crate) key: Key,
    pub(crate) name: String,
    pub(crate) what: What,
    pub(crate) parent: Option<Key>,
    pub(crate) inputs: BTreeMap<&'static str, Input>,
    pub(crate) depends_on: BTreeSet<Key>,
    pub(crate) provider: Option<Key>,
    pub(crate) version: &'static str,
    pub(crate) aliases: Vec<Alias>,
    pub(crate) protect: Option<bool>,
    pub(crate) retain: Option<bool>,
    pub(crate) deleted_with: Option<Key>,
    pub(crate) replace_with: BTreeSet<Key>,
    pub(crate) ignore_changes: Vec<&'static str>,
    pub(crate) replace_on_changes: Vec<&'static str>,
    pub(crate) delete_first: Option<bool>,
    pub(crate) import: Option<String>,
    pub(crate) secret_outputs: Vec<&'static str>,
    pub(crate) trigger: Option<i64>,
    pub(crate) hooks: Vec<HookMoment>,
}

/// What a declaration is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    Custom(String),
    Component(String),
    /// The provider of a package.
    Provider(&'static str),
    /// Something that exists and is only looked at.
    Read(String, String),
}

impl What {
    pub(crate) fn type_token(&self) -> String {
        match self {
            Self::Custom(token) | Self::Component(token) | Self::Read(token, _) => token.clone(),
            Self::Provider(package) => format!("pulumi:providers:{package}"),
        }
    }

    pub(crate) fn package(&self) -> Option<&str> {
        match self {
            Self::Custom(token) | Self::Read(token, _) => token.split(':').next(),
            Self::Component(_) | Self::Provider(_) => None,
        }
    }
}

/// Where an input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    Number(i64),
    Secret(i64),
    /// An output of another resource.
    Of(Key, &'static str),
}

impl Declaration {
    pub(crate) fn new(key: Key, name: String, what: What) -> Self {
        Self {
            key,
            name,
            what,
            parent: None,
            inputs: BTreeMap::new(),
            depends_on: BTreeSet::new(),
            provider: None,
            version: "",
            aliases: Vec::new(),
            protect: None,
            retain: None,
            deleted_with: None,
            replace_with: BTreeSet::new(),
            ignore_changes: Vec::new(),
            replace_on_changes: Vec::new(),
            delete_first: None,
            import: None,
            secret_outputs: Vec::new(),
            trigger: None,
            hooks: Vec::new(),
        }
    }

    /// Everything that it refers to itself.
    pub(crate) fn references(&self) -> BTreeSet<Key> {
        let inputs = self.inputs.values().filter_map(|input| match input {
            Input::Of(key, _) => Some(*key),
            _ => None,
        });
        let single = [self.parent, self.provider, self.deleted_with];
        let many = self.depends_on.iter().chain(&self.replace_with).copied();
        single.into_iter().flatten().chain(inputs).chain(many).collect()
    }

    /// Drops every reference to another declaration but that to its parent.
    pub(crate) fn forget(&mut self, key: Key) {
        self.inputs.retain(|_, input| !matches!(input, Input::Of(of, _) if *of == key));
        self.depends_on.remove(&key);
        self.replace_with.remove(&key);
        if self.provider == Some(key) {
            self.provider = None;
        }
        if self.deleted_with == Some(key) {
            self.deleted_with = None;
        }
    }
}

impl Spec {
    pub(crate) fn get(&self, key: Key) -> Option<&Declaration> {
        self.declarations.iter().find(|declaration| declaration.key == key)
    }

    pub(crate) fn urn(&self, key: Key) -> Urn {
        let Some(declaration) = self.get(key) else { return Urn::default() };
        let parent = declaration.parent.map(|parent| self.urn(parent)).unwrap_or_default();
        let above = if parent.is_empty() { "" } else { parent.qualified_type() };
        Urn::build("dev", "shop", above, &declaration.what.type_token(), &declaration.name)
    }

    /// The resource that one goes with: its own choice, or its nearest parent's.
    pub(crate) fn goes_with(&self, declaration: &Declaration) -> Option<Key> {
        let inherited = || self.goes_with(self.get(declaration.parent?)?);
        declaration.deleted_with.or_else(inherited)
    }
}

/// What every hook is called.
const HOOK: &str = "hook";

/// A hook that may fail, and that may ask for another try.
#[derive(Debug)]
struct Hooked(Arc<Session>);

#[async_trait]
impl Hook for Hooked {
    async fn run(&self, call: HookCall) -> Result<(), Failed> {
        self.0.tick();
        self.0.dawdle().await;
        match self.0.fault(REFUSAL) {
            Some(_) => Err(Failed(format!("a fault in the hook {}", call.moment.as_str()))),
            None => Ok(()),
        }
    }
}

#[async_trait]
impl ErrorHook for Hooked {
    async fn retry(&self, _: HookCall) -> Result<bool, Failed> {
        self.0.tick();
        self.0.dawdle().await;
        match self.0.fault(REFUSAL) {
            Some(_) => Err(Failed("a fault in the error hook".to_owned())),
            None => Ok(self.0.flip()),
        }
    }
}

/// A spec that runs in a session.
pub(crate) struct Running {
    pub(crate) spec: Spec,
    pub(crate) session: Arc<Session>,
    /// What was answered for each resource.
    pub(crate) answers: Arc<Mutex<Vec<Registered>>>,
}

type Answer = Shared<BoxFuture<'static, Result<Registered, MonitorError>>>;

#[async_trait]
impl Program for Running {
    async fn run(&self, monitor: Monitor) -> Result<(), ProgramError> {
        let fail = |error: MonitorError| ProgramError::Failed(error.message);
        let hook: Arc<Hooked> = Arc::new(Hooked(Arc::clone(&self.session)));
        let registration =
            HookRegistration { hook: Arc::clone(&hook) as _, on_dry_run: false, ignore_errors: false };
        monitor.add_hook(HOOK.to_owned(), registration).map_err(fail)?;
        monitor.add_error_hook(HOOK.to_owned(), hook).map_err(fail)?;
        // As languages do. Where nobody says, the plugin of the state is taken, so that it matters how far a run came.
        let needed = PACKAGES.map(|name| PackageDescriptor { name: name.to_owned(), ..Default::default() });
        monitor.require_packages(needed.to_vec()).map_err(fail)?;
        let root = monitor.register(request(ROOT_STACK_TYPE, "shop-dev")).await.map_err(fail)?.urn;
        let mut answers: BTreeMap<Key, Answer> = BTreeMap::new();
        for declaration in &self.spec.declarations {
            let mut needs: BTreeSet<Key> = declaration.references();
            needs.extend(self.spec.goes_with(declaration));
            let needs: BTreeMap<Key, Answer> =
                needs.iter().filter_map(|key| Some((*key, answers.get(key)?.clone()))).collect();
            let one = Registering {
                declaration: declaration.clone(),
                goes_with: self.spec.goes_with(declaration),
                root: root.clone(),
                monitor: Arc::clone(&monitor),
                session: Arc::clone(&self.session),
                answers: Arc::clone(&self.answers),
            };
            let answer: BoxFuture<'static, _> = Box::pin(one.run(needs));
            answers.insert(declaration.key, answer.shared());
        }
        let everything = futures::future::join_all(answers.values().cloned());
        let bailing = async {
            loop {
                let count = self.answers.lock().unwrap().len();
                if self.session.bails(count) {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        let outcomes = if self.session.bails(usize::MAX) {
            tokio::select! {
                biased;
                () = bailing => return Err(ProgramError::Bailed),
                outcomes = everything => outcomes,
            }
        } else {
            everything.await
        };
        let known: Result<Vec<Registered>, MonitorError> = outcomes.into_iter().collect();
        known.map_err(fail)?;
        let mut outputs = PropertyMap::new();
        for key in &self.spec.outputs {
            if let Some(Ok(answer)) = answers.get(key).and_then(|answer| answer.peek()) {
                let value = answer.properties.get("k0").cloned().unwrap_or_default();
                outputs.insert(format!("out{key}"), value);
            }
        }
        monitor.register_outputs(&root, outputs).await.map_err(fail)?;
        if self.spec.finishes {
            monitor.finish().await;
        }
        Ok(())
    }
}

fn request(type_token: &str, name: &str) -> RegisterRequest {
    RegisterRequest { type_token: type_token.to_owned(), name: name.to_owned(), ..RegisterRequest::default() }
}

/// One declaration that waits for what it refers to.
struct Registering {
    declaration: Declaration,
    goes_with: Option<Key>,
    root: Urn,
    monitor: Monitor,
    session: Arc<Session>,
    answers: Arc<Mutex<Vec<Registered>>>,
}

impl Registering {
    async fn run(self, needs: BTreeMap<Key, Answer>) -> Result<Registered, MonitorError> {
        let mut known: BTreeMap<Key, Registered> = BTreeMap::new();
        for (key, answer) in needs {
            known.insert(key, answer.await?);
        }
        self.session.dawdle().await;
        let declaration = &self.declaration;
        let answer = match &declaration.what {
            What::Read(token, id) => self.monitor.read(self.reading(token, id, &known)).await?,
            _ => self.monitor.register(self.wish(&known)).await?,
        };
        self.answers.lock().unwrap().push(answer.clone());
        if matches!(declaration.what, What::Component(_)) && !answer.unknown {
            let outputs = PropertyMap::from([("k0".to_owned(), Value::from(7))]);
            self.monitor.register_outputs(&answer.urn, outputs).await?;
        }
        Ok(answer)
    }

    fn parent(&self, known: &BTreeMap<Key, Registered>) -> Urn {
        let parent = self.declaration.parent.and_then(|key| known.get(&key));
        parent.map_or_else(|| self.root.clone(), |parent| parent.urn.clone())
    }

    fn urns<'a>(keys: impl IntoIterator<Item = &'a Key>, known: &BTreeMap<Key, Registered>) -> Vec<Urn> {
        keys.into_iter().filter_map(|key| known.get(key)).map(|answer| answer.urn.clone()).collect()
    }

    fn reading(&self, token: &str, id: &str, known: &BTreeMap<Key, Registered>) -> ReadRequest {
        ReadRequest {
            type_token: token.to_owned(),
            name: self.declaration.name.clone(),
            id: id.to_owned(),
            parent: self.parent(known),
            dependencies: Self::urns(&self.declaration.depends_on, known),
            provider: self.provider(known),
            package: self.package(),
            ..ReadRequest::default()
        }
    }

    fn package(&self) -> PackageSource {
        PackageSource { version: self.declaration.version.to_owned(), ..PackageSource::default() }
    }

    fn provider(&self, known: &BTreeMap<Key, Registered>) -> String {
        let provider = self.declaration.provider.and_then(|key| known.get(&key));
        provider.map(|provider| format!("{}::{}", provider.urn, provider.id)).unwrap_or_default()
    }

    fn wish(&self, known: &BTreeMap<Key, Registered>) -> RegisterRequest {
        let declaration = &self.declaration;
        let mut dependencies: BTreeSet<Urn> =
            Self::urns(&declaration.depends_on, known).into_iter().collect();
        let mut properties = PropertyMap::new();
        let mut property_dependencies = BTreeMap::new();
        let mut inputs: Vec<(&str, Input)> =
            declaration.inputs.iter().map(|(key, input)| (*key, *input)).collect();
        if matches!(declaration.what, What::Custom(_)) {
            inputs.extend(self.goes_with.map(|with| ("within", Input::Of(with, "arn"))));
        }
        for (name, input) in inputs {
            let (value, from) = match input {
                Input::Number(number) => (Value::from(number), None),
                Input::Secret(number) => (Value::secret(Value::from(number)), None),
                Input::Of(key, output) => {
                    let Some(source) = known.get(&key) else { continue };
                    dependencies.insert(source.urn.clone());
                    let Some(value) = output_of(source, output) else { continue };
                    (value, Some(source.urn.clone()))
                }
            };
            properties.insert(name.to_owned(), value);
            property_dependencies.insert(name.to_owned(), from.into_iter().collect());
        }
        let deleted_with = declaration.deleted_with.and_then(|key| known.get(&key));
        let texts = |paths: &[&str]| paths.iter().map(|&path| path.to_owned()).collect::<Vec<_>>();
        let options = ResourceOptions {
            aliases: declaration.aliases.clone(),
            protect: declaration.protect,
            ignore_changes: texts(&declaration.ignore_changes),
            replace_on_changes: texts(&declaration.replace_on_changes),
            replacement_trigger: declaration.trigger.map(Value::from),
            replace_with: Self::urns(&declaration.replace_with, known),
            deleted_with: deleted_with.map(|with| with.urn.clone()).unwrap_or_default(),
            delete_before_replace: declaration.delete_first,
            retain_on_delete: declaration.retain,
            additional_secret_outputs: texts(&declaration.secret_outputs),
            import_id: declaration.import.clone().unwrap_or_default(),
            hooks: declaration.hooks.iter().map(|moment| (*moment, vec![HOOK.to_owned()])).collect(),
            ..ResourceOptions::default()
        };
        let component = matches!(declaration.what, What::Component(_));
        let mut request = RegisterRequest {
            custom: !component,
            properties,
            dependencies: dependencies.into_iter().collect(),
            property_dependencies,
            parent: self.parent(known),
            package: self.package(),
            options,
            ..request(&declaration.what.type_token(), &declaration.name)
        };
        let provider = self.provider(known);
        match (component, provider.is_empty()) {
            // A component passes it on to its children.
            (true, false) => {
                let package = if provider.contains("providers:pkgA::") { "pkgA" } else { "pkgB" };
                request.providers.insert(package.to_owned(), provider);
            }
            _ => request.provider = provider,
        }
        request
    }
}

/// An output of a resource as a program hands it on, if there is one.
fn output_of(source: &Registered, name: &str) -> Option<Value> {
    let missing = source.unknown || source.result != drystone_engine::Registration::Done;
    let value = match source.properties.get(name) {
        None if missing => Value::Computed(Computed::String),
        value => value?.clone(),
    };
    let secret = value.is_secret();
    let value = if value.contains_unknowns() { None } else { Some(value.revealed()) };
    Some(Value::Output(Box::new(Output { value, secret, dependencies: vec![source.urn.clone()] })))
}

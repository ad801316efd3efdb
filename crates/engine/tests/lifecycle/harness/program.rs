//! Programs as closures.

use async_trait::async_trait;
use drystone_engine::{
    Alias, Monitor, MonitorError, Program, ProgramError, PropertyMap, RegisterRequest, Registered,
    ResourceOptions,
};
use drystone_model::{Output, Urn, Value};
use futures::future::BoxFuture;
use std::sync::Arc;

/// What a program's closure answers.
pub(crate) type ProgramResult = Result<(), MonitorError>;

type Body = dyn Fn(P) -> BoxFuture<'static, ProgramResult> + Send + Sync;

struct Closure(Box<Body>);

/// A program that registers the stack's own resource and then runs the closure.
pub(crate) fn program<F>(body: impl Fn(P) -> F + Send + Sync + 'static) -> Arc<dyn Program>
where
    F: Future<Output = ProgramResult> + Send + 'static,
{
    Arc::new(Closure(Box::new(move |p| Box::pin(body(p)))))
}

#[async_trait]
impl Program for Closure {
    async fn run(&self, monitor: Monitor) -> Result<(), ProgramError> {
        let p = P { monitor };
        let stack = p.component("pulumi:pulumi:Stack", "shop-dev").register().await;
        let outcome = match stack {
            Ok(_) => (self.0)(p).await,
            Err(error) => Err(error),
        };
        outcome.map_err(|error| ProgramError::Failed(error.message))
    }
}

/// A program's view of the engine.
#[derive(Clone)]
pub(crate) struct P {
    pub(crate) monitor: Monitor,
}

impl P {
    /// A custom resource to be registered.
    pub(crate) fn resource(&self, type_token: &str, name: &str) -> Registering {
        self.request(type_token, name, true)
    }

    /// A component to be registered.
    pub(crate) fn component(&self, type_token: &str, name: &str) -> Registering {
        self.request(type_token, name, false)
    }

    fn request(&self, type_token: &str, name: &str, custom: bool) -> Registering {
        let request = RegisterRequest {
            type_token: type_token.to_owned(),
            name: name.to_owned(),
            custom,
            ..RegisterRequest::default()
        };
        Registering { monitor: self.monitor.clone(), request }
    }

    /// Sets the outputs of the stack.
    pub(crate) async fn stack_outputs(&self, outputs: PropertyMap) -> ProgramResult {
        self.monitor.register_outputs(&self.monitor.root(), outputs).await
    }
}

/// A resource to be registered.
pub(crate) struct Registering {
    monitor: Monitor,
    pub(crate) request: RegisterRequest,
}

impl Registering {
    pub(crate) fn input(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.request.properties.insert(key.to_owned(), value.into());
        self
    }

    /// An input that comes from an output of another resource.
    pub(crate) fn input_from(mut self, key: &str, source: &Registered, output: &str) -> Self {
        let value = source.properties.get(output).cloned();
        let unknown = matches!(value, Some(Value::Computed(_)) | None);
        let output = Output {
            value: value.filter(|_| !unknown),
            secret: false,
            dependencies: vec![source.urn.clone()],
        };
        self.request.properties.insert(key.to_owned(), Value::Output(Box::new(output)));
        self.depends_on(&source.urn)
    }

    pub(crate) fn depends_on(mut self, urn: &Urn) -> Self {
        self.request.dependencies.push(urn.clone());
        let known = self.request.properties.iter().map(|(key, value)| match value {
            Value::Output(output) => (key.clone(), output.dependencies.clone()),
            _ => (key.clone(), Vec::new()),
        });
        self.request.property_dependencies = known.collect();
        self
    }

    pub(crate) fn parent(mut self, urn: &Urn) -> Self {
        self.request.parent = urn.clone();
        self
    }

    /// An explicit provider.
    pub(crate) fn provider(mut self, provider: &Registered) -> Self {
        self.request.provider = format!("{}::{}", provider.urn, provider.id);
        self
    }

    pub(crate) fn version(mut self, version: &str) -> Self {
        self.request.package.version = version.to_owned();
        self
    }

    /// Changes anything else in the request.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut RegisterRequest)) -> Self {
        change(&mut self.request);
        self
    }

    pub(crate) fn alias(self, urn: &str) -> Self {
        self.options(|options| options.aliases.push(Alias::Urn(Urn::new(urn))))
    }

    pub(crate) fn options(mut self, change: impl FnOnce(&mut ResourceOptions)) -> Self {
        change(&mut self.request.options);
        self
    }

    pub(crate) async fn register(self) -> Result<Registered, MonitorError> {
        self.monitor.register(self.request).await
    }
}

//! The services over loopback, in front of an operation that writes down what it is asked.

use async_trait::async_trait;
use drystone_engine::{
    CallAnswer, CallRequest, Diagnostic, ErrorHook, HookRegistration, InvokeRequest, InvokeTransform,
    Invoked, MonitorError, PackageDescriptor, PackageRequest, PropertyMap, ReadRequest, RegisterRequest,
    Registered, ResourceMonitor, Transform, ViewStep,
};
use drystone_model::Urn;
use std::sync::{Arc, Mutex};

type Answer<Q, A> = Box<dyn Fn(Q) -> Result<A, MonitorError> + Send + Sync>;

/// An operation that writes down what it is asked and answers as a test chooses.
pub(crate) struct Recorder {
    pub(crate) register: Answer<RegisterRequest, Registered>,
    pub(crate) read: Answer<ReadRequest, Registered>,
    pub(crate) invoke: Answer<InvokeRequest, Invoked>,
    pub(crate) call: Answer<CallRequest, CallAnswer>,
    pub(crate) registered: Mutex<Vec<RegisterRequest>>,
    pub(crate) outputs: Mutex<Vec<(Urn, PropertyMap)>>,
    pub(crate) packages: Mutex<Vec<PackageRequest>>,
    pub(crate) transforms: Mutex<Vec<Arc<dyn Transform>>>,
    pub(crate) invoke_transforms: Mutex<Vec<Arc<dyn InvokeTransform>>>,
    pub(crate) hooks: Mutex<Vec<(String, HookRegistration)>>,
    pub(crate) error_hooks: Mutex<Vec<(String, Arc<dyn ErrorHook>)>>,
    pub(crate) messages: Mutex<Vec<Diagnostic>>,
    pub(crate) views: Mutex<Vec<(String, Vec<ViewStep>)>>,
    pub(crate) finished: tokio::sync::Notify,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            register: Box::new(|request| {
                Ok(Registered {
                    urn: Urn::build("dev", "shop", "", &request.type_token, &request.name),
                    id: if request.custom { "id-1".to_owned() } else { String::new() },
                    properties: request.properties,
                    ..Registered::default()
                })
            }),
            read: Box::new(|request| {
                Ok(Registered {
                    urn: Urn::build("dev", "shop", "", &request.type_token, &request.name),
                    id: request.id,
                    properties: request.properties,
                    ..Registered::default()
                })
            }),
            invoke: Box::new(|request| Ok(Invoked { properties: request.arguments, failures: Vec::new() })),
            call: Box::new(|request| {
                Ok(CallAnswer { properties: request.arguments, ..CallAnswer::default() })
            }),
            registered: Mutex::default(),
            outputs: Mutex::default(),
            packages: Mutex::default(),
            transforms: Mutex::default(),
            invoke_transforms: Mutex::default(),
            hooks: Mutex::default(),
            error_hooks: Mutex::default(),
            messages: Mutex::default(),
            views: Mutex::default(),
            finished: tokio::sync::Notify::new(),
        }
    }
}

#[async_trait]
impl ResourceMonitor for Recorder {
    async fn register(&self, request: RegisterRequest) -> Result<Registered, MonitorError> {
        self.registered.lock().unwrap().push(request.clone());
        (self.register)(request)
    }

    async fn register_outputs(&self, urn: &Urn, outputs: PropertyMap) -> Result<(), MonitorError> {
        self.outputs.lock().unwrap().push((urn.clone(), outputs));
        Ok(())
    }

    async fn read(&self, request: ReadRequest) -> Result<Registered, MonitorError> {
        (self.read)(request)
    }

    async fn invoke(&self, request: InvokeRequest) -> Result<Invoked, MonitorError> {
        (self.invoke)(request)
    }

    async fn call(&self, request: CallRequest) -> Result<CallAnswer, MonitorError> {
        (self.call)(request)
    }

    async fn register_package(&self, package: PackageRequest) -> Result<String, MonitorError> {
        self.packages.lock().unwrap().push(package);
        Ok("ref-1".to_owned())
    }

    fn add_stack_transform(&self, transform: Arc<dyn Transform>) -> Result<(), MonitorError> {
        self.transforms.lock().unwrap().push(transform);
        Ok(())
    }

    fn add_stack_invoke_transform(&self, transform: Arc<dyn InvokeTransform>) -> Result<(), MonitorError> {
        self.invoke_transforms.lock().unwrap().push(transform);
        Ok(())
    }

    fn add_hook(&self, name: String, hook: HookRegistration) -> Result<(), MonitorError> {
        self.hooks.lock().unwrap().push((name, hook));
        Ok(())
    }

    fn add_error_hook(&self, name: String, hook: Arc<dyn ErrorHook>) -> Result<(), MonitorError> {
        self.error_hooks.lock().unwrap().push((name, hook));
        Ok(())
    }

    async fn finish(&self) {
        self.finished.notified().await;
    }

    fn log(&self, diagnostic: Diagnostic) {
        self.messages.lock().unwrap().push(diagnostic);
    }

    fn root(&self) -> Urn {
        Urn::build("dev", "shop", "", "pulumi:pulumi:Stack", "shop-dev")
    }

    async fn publish_views(&self, token: &str, steps: Vec<ViewStep>) -> Result<(), MonitorError> {
        self.views.lock().unwrap().push((token.to_owned(), steps));
        Ok(())
    }

    async fn schema(&self, package: &PackageDescriptor) -> Result<String, MonitorError> {
        Ok(format!(r#"{{"name":"{}"}}"#, package.package()))
    }
}

//! The services over loopback, in front of an operation that writes down what it is asked.

mod callbacks;
mod engine;
mod functions;
mod register;

use super::{MonitorServer, MonitorSettings};
use crate::proto::pulumirpc as rpc;
use crate::wire::Struct;
use async_trait::async_trait;
use drystone_engine::{
    CallAnswer, CallRequest, Diagnostic, ErrorHook, Event, EventSink, HookRegistration, InvokeRequest,
    InvokeTransform, Invoked, MonitorError, PackageDescriptor, PackageRequest, PropertyMap, ReadRequest,
    RegisterRequest, Registered, ResourceMonitor, RunInfo, Transform, ViewStep,
};
use drystone_model::{Urn, Value};
use rpc::resource_monitor_client::ResourceMonitorClient;
use std::sync::{Arc, Mutex};
use tonic::transport::{Channel, Endpoint as Address};

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
    pub(crate) waiting: std::sync::atomic::AtomicBool,
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
            invoke: Box::new(|request| Ok(Invoked { properties: request.arguments, ..Invoked::default() })),
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
            waiting: Default::default(),
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

    fn require_packages(&self, _: Vec<PackageDescriptor>) -> Result<(), MonitorError> {
        Ok(())
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
        self.waiting.store(true, std::sync::atomic::Ordering::SeqCst);
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

/// Keeps the messages that no operation took.
#[derive(Default)]
struct Heard(Mutex<Vec<Diagnostic>>);

impl EventSink for Heard {
    fn send(&self, event: Event) {
        if let Event::Diagnostic(diagnostic) = event {
            self.0.lock().unwrap().push(diagnostic);
        }
    }
}

/// A server with a client.
struct Session {
    server: MonitorServer,
    channel: Channel,
    recorder: Arc<Recorder>,
    heard: Arc<Heard>,
}

impl Session {
    async fn start(recorder: Recorder) -> Self {
        let session = Self::without_operation(recorder).await;
        session.server.endpoint().attach(session.recorder.clone());
        session
    }

    async fn without_operation(recorder: Recorder) -> Self {
        Self::logged(recorder, None).await
    }

    async fn logged(recorder: Recorder, log: Option<crate::trace::CallLog>) -> Self {
        let heard = Arc::new(Heard::default());
        let settings = MonitorSettings {
            info: RunInfo {
                project: "shop".into(),
                stack: "dev".into(),
                organization: "org".into(),
                config: [("shop:key".to_owned(), "value".to_owned())].into(),
                secret_keys: vec!["shop:key".into()],
                dry_run: true,
                parallel: 0,
            },
            root: "/work/shop".into(),
            directory: std::env::temp_dir(),
            version: "3.260.0".into(),
            resource_references: true,
            output_values: true,
            events: heard.clone(),
        };
        let server = MonitorServer::start_logged(settings, log).await.unwrap();
        let address = format!("http://{}", server.endpoint().address());
        let channel = Address::from_shared(address).unwrap().connect().await.unwrap();
        Self { server, channel, recorder: Arc::new(recorder), heard }
    }

    fn client(&self) -> ResourceMonitorClient<Channel> {
        ResourceMonitorClient::new(self.channel.clone())
            .max_decoding_message_size(crate::LARGEST_MESSAGE)
            .max_encoding_message_size(crate::LARGEST_MESSAGE)
    }

    /// The only registration so far.
    fn registered(&self) -> RegisterRequest {
        let mut requests = self.recorder.registered.lock().unwrap();
        assert_eq!(requests.len(), 1);
        requests.remove(0)
    }
}

fn map<V: Into<Value>>(members: impl IntoIterator<Item = (&'static str, V)>) -> PropertyMap {
    members.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect()
}

fn raw(value: serde_json::Value) -> Option<Struct> {
    let serde_json::Value::Object(members) = value else { panic!("{value} is no object") };
    Some(Struct::from_json(&members))
}

fn json(properties: Option<&Struct>) -> serde_json::Value {
    properties.map_or(serde_json::Value::Null, |properties| properties.to_json().unwrap().into())
}

const SIGNATURE: &str = "4dabf18193072939515e22adb298388d";
const DEPENDENCY: &str = "urn:pulumi:dev::shop::a:b:C::dep";
const OTHER: &str = "urn:pulumi:dev::shop::a:b:C::other";

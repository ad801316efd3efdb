//! An engine that says yes to everything and remembers it.

use drystone_plugins::proto::pulumirpc::engine_server::{Engine, EngineServer};
use drystone_plugins::proto::pulumirpc::resource_monitor_server::{ResourceMonitor, ResourceMonitorServer};
use drystone_plugins::proto::pulumirpc::*;
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

type Answer<T> = std::result::Result<Response<T>, Status>;

fn nothing<T: Default>() -> Answer<T> {
    Ok(Response::new(T::default()))
}

/// What an engine has been told.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) registered: Vec<Registered>,
    pub(crate) logged: Vec<(LogSeverity, String)>,
    pub(crate) outputs: Map<String, Value>,
    pub(crate) has_signalled_the_end: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Registered {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) inputs: Map<String, Value>,
}

/// An engine that says yes to everything and remembers it.
#[derive(Clone)]
pub(crate) struct YesEngine {
    pub(crate) address: String,
    told: Arc<Mutex<Told>>,
}

impl YesEngine {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let engine = Self { address, told: Arc::default() };
        let server = tonic::transport::Server::builder()
            .add_service(ResourceMonitorServer::new(engine.clone()))
            .add_service(EngineServer::new(engine.clone()));
        tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
        engine
    }

    pub(crate) fn told(&self) -> std::sync::MutexGuard<'_, Told> {
        self.told.lock().unwrap()
    }

    /// The messages of errors.
    pub(crate) fn errors(&self) -> Vec<String> {
        let told = self.told();
        let errors = told.logged.iter().filter(|(severity, _)| *severity == LogSeverity::Error);
        errors.map(|(_, message)| message.clone()).collect()
    }

    /// The inputs of a resource.
    pub(crate) fn inputs_of(&self, name: &str) -> Map<String, Value> {
        let told = self.told();
        let found = told.registered.iter().find(|resource| resource.name == name);
        found.unwrap_or_else(|| panic!("{name} is not registered: {:?}", told.registered)).inputs.clone()
    }
}

#[tonic::async_trait]
impl Engine for YesEngine {
    async fn log(&self, request: Request<LogRequest>) -> Answer<()> {
        let request = request.into_inner();
        self.told().logged.push((request.severity(), request.message));
        nothing()
    }

    async fn get_root_resource(&self, _: Request<GetRootResourceRequest>) -> Answer<GetRootResourceResponse> {
        nothing()
    }

    async fn set_root_resource(&self, _: Request<SetRootResourceRequest>) -> Answer<SetRootResourceResponse> {
        nothing()
    }

    async fn start_debugging(&self, _: Request<StartDebuggingRequest>) -> Answer<()> {
        nothing()
    }

    async fn require_pulumi_version(
        &self,
        _: Request<RequirePulumiVersionRequest>,
    ) -> Answer<RequirePulumiVersionResponse> {
        nothing()
    }
}

#[tonic::async_trait]
impl ResourceMonitor for YesEngine {
    async fn get_deployment_info(&self, _: Request<()>) -> Answer<DeploymentInfo> {
        Err(Status::unimplemented("an older engine"))
    }

    async fn supports_feature(&self, _: Request<SupportsFeatureRequest>) -> Answer<SupportsFeatureResponse> {
        Ok(Response::new(SupportsFeatureResponse { has_support: true }))
    }

    async fn invoke(&self, _: Request<ResourceInvokeRequest>) -> Answer<ResourceInvokeResponse> {
        nothing()
    }

    async fn call(&self, _: Request<ResourceCallRequest>) -> Answer<CallResponse> {
        nothing()
    }

    async fn read_resource(&self, _: Request<ReadResourceRequest>) -> Answer<ReadResourceResponse> {
        nothing()
    }

    async fn register_resource(
        &self,
        request: Request<RegisterResourceRequest>,
    ) -> Answer<RegisterResourceResponse> {
        let request = request.into_inner();
        let object = request.object.clone();
        self.told().registered.push(Registered {
            kind: request.r#type.clone(),
            name: request.name.clone(),
            inputs: object.clone().unwrap_or_default().to_json().unwrap(),
        });
        Ok(Response::new(RegisterResourceResponse {
            urn: format!("urn:pulumi:dev::project::{}::{}", request.r#type, request.name),
            id: if request.custom { "id".to_owned() } else { String::new() },
            object,
            ..RegisterResourceResponse::default()
        }))
    }

    async fn register_resource_outputs(
        &self,
        request: Request<RegisterResourceOutputsRequest>,
    ) -> Answer<()> {
        self.told().outputs = request.into_inner().outputs.unwrap_or_default().to_json().unwrap();
        nothing()
    }

    async fn register_stack_transform(&self, _: Request<Callback>) -> Answer<()> {
        nothing()
    }

    async fn register_stack_invoke_transform(&self, _: Request<Callback>) -> Answer<()> {
        nothing()
    }

    async fn register_resource_hook(&self, _: Request<RegisterResourceHookRequest>) -> Answer<()> {
        nothing()
    }

    async fn register_error_hook(&self, _: Request<RegisterErrorHookRequest>) -> Answer<()> {
        nothing()
    }

    async fn register_package(&self, _: Request<RegisterPackageRequest>) -> Answer<RegisterPackageResponse> {
        nothing()
    }

    async fn signal_and_wait_for_shutdown(&self, _: Request<()>) -> Answer<()> {
        self.told().has_signalled_the_end = true;
        nothing()
    }
}

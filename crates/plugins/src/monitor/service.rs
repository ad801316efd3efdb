//! The resource monitor's methods, each with its own file.

use super::refusal::Refusal;
use super::{Endpoint, MonitorSettings};
use crate::callbacks::CallbackClients;
use crate::proto::pulumirpc as rpc;
use crate::wire::{Decoding, Properties, Struct, assets};
use drystone_engine::Monitor;
use rpc::resource_monitor_server::ResourceMonitor;
use std::sync::{Mutex, atomic::AtomicBool};
use tonic::{Request, Response, Status};

/// Everything that is served to programs and plugins but schemas.
pub(super) struct Service {
    pub(super) settings: MonitorSettings,
    pub(super) endpoint: Endpoint,
    pub(super) callbacks: CallbackClients,
    /// The stack's own resource, as an SDK set it.
    pub(super) root: Mutex<String>,
    /// Whether the program has said that it will register nothing more.
    pub(super) finishing: AtomicBool,
}

impl Service {
    pub(super) fn new(settings: MonitorSettings, endpoint: Endpoint) -> Self {
        Self {
            settings,
            endpoint,
            callbacks: CallbackClients::default(),
            root: Mutex::default(),
            finishing: AtomicBool::new(false),
        }
    }

    /// The operation that runs.
    pub(super) fn monitor(&self) -> Result<Monitor, Refusal> {
        self.endpoint.monitor().ok_or_else(Refusal::nobody)
    }

    /// Properties from a program, their assets hashed.
    pub(super) async fn hashed(
        &self,
        decoding: Decoding,
        properties: Option<&Struct>,
    ) -> Result<Properties, Refusal> {
        let mut properties = decode(decoding, properties)?;
        if !assets::lacks_hashes(&properties) {
            return Ok(properties);
        }
        let directory = self.settings.directory.clone();
        let hashing = tokio::task::spawn_blocking(move || {
            assets::add_hashes(&mut properties, &directory).map(|()| properties)
        });
        let hashed = hashing.await;
        Ok(hashed.map_err(|error| Refusal { code: tonic::Code::Internal, message: error.to_string() })??)
    }
}

/// Properties from a program; none when there is no struct.
pub(super) fn decode(decoding: Decoding, properties: Option<&Struct>) -> Result<Properties, Refusal> {
    Ok(properties.map_or(Ok(Properties::new()), |properties| decoding.properties(properties))?)
}

fn answer<T>(result: Result<T, Refusal>) -> Result<Response<T>, Status> {
    result.map(Response::new).map_err(Status::from)
}

#[tonic::async_trait]
impl ResourceMonitor for Service {
    async fn get_deployment_info(&self, _: Request<()>) -> Result<Response<rpc::DeploymentInfo>, Status> {
        Ok(Response::new(super::features::deployment_info(&self.settings)))
    }

    async fn supports_feature(
        &self,
        request: Request<rpc::SupportsFeatureRequest>,
    ) -> Result<Response<rpc::SupportsFeatureResponse>, Status> {
        let has_support = super::features::supports(&self.settings, &request.into_inner().id);
        Ok(Response::new(rpc::SupportsFeatureResponse { has_support }))
    }

    async fn register_resource(
        &self,
        request: Request<rpc::RegisterResourceRequest>,
    ) -> Result<Response<rpc::RegisterResourceResponse>, Status> {
        let sender = super::register::Sender::of(request.metadata());
        answer(self.register(request.into_inner(), sender).await)
    }

    async fn register_resource_outputs(
        &self,
        request: Request<rpc::RegisterResourceOutputsRequest>,
    ) -> Result<Response<()>, Status> {
        answer(self.register_outputs(request.into_inner()).await)
    }

    async fn read_resource(
        &self,
        request: Request<rpc::ReadResourceRequest>,
    ) -> Result<Response<rpc::ReadResourceResponse>, Status> {
        answer(self.read(request.into_inner()).await)
    }

    async fn invoke(
        &self,
        request: Request<rpc::ResourceInvokeRequest>,
    ) -> Result<Response<rpc::ResourceInvokeResponse>, Status> {
        answer(self.run_function(request.into_inner()).await)
    }

    async fn call(
        &self,
        request: Request<rpc::ResourceCallRequest>,
    ) -> Result<Response<rpc::CallResponse>, Status> {
        answer(self.run_method(request.into_inner()).await)
    }

    async fn register_package(
        &self,
        request: Request<rpc::RegisterPackageRequest>,
    ) -> Result<Response<rpc::RegisterPackageResponse>, Status> {
        answer(self.add_package(request.into_inner()).await)
    }

    async fn register_stack_transform(
        &self,
        request: Request<rpc::Callback>,
    ) -> Result<Response<()>, Status> {
        answer(self.add_stack_transform(request.into_inner()))
    }

    async fn register_stack_invoke_transform(
        &self,
        request: Request<rpc::Callback>,
    ) -> Result<Response<()>, Status> {
        answer(self.add_stack_invoke_transform(request.into_inner()))
    }

    async fn register_resource_hook(
        &self,
        request: Request<rpc::RegisterResourceHookRequest>,
    ) -> Result<Response<()>, Status> {
        answer(self.add_hook(request.into_inner()))
    }

    async fn register_error_hook(
        &self,
        request: Request<rpc::RegisterErrorHookRequest>,
    ) -> Result<Response<()>, Status> {
        answer(self.add_error_hook(request.into_inner()))
    }

    async fn signal_and_wait_for_shutdown(&self, _: Request<()>) -> Result<Response<()>, Status> {
        answer(self.finish().await)
    }
}

//! The resource monitor's methods, each with its own file.

use super::refusal::Refusal;
use super::{Endpoint, MonitorSettings};
use crate::callbacks::CallbackClients;
use crate::proto::pulumirpc as rpc;
use crate::trace::{OpenCall, Trace};
use crate::wire::{Decoding, Properties, Struct, assets};
use drystone_engine::Monitor;
use prost::Message;
use rpc::resource_monitor_server::ResourceMonitor;
use std::sync::{Mutex, atomic::AtomicBool};
use tonic::{Request, Response, Status};

/// Everything that is served to programs and plugins but schemas.
pub(super) struct Service {
    pub(super) settings: MonitorSettings,
    pub(super) endpoint: Endpoint,
    pub(super) trace: Trace,
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
            trace: Trace::server(endpoint.log()),
            callbacks: CallbackClients::new(Trace::client(endpoint.log(), "callbacks", "")),
            endpoint,
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

/// Answers a call and writes down how it ended.
pub(super) fn answer<T: Message>(call: OpenCall, result: Result<T, Refusal>) -> Result<Response<T>, Status> {
    let result = result.map_err(Status::from);
    call.end(result.as_ref());
    result.map(Response::new)
}

#[tonic::async_trait]
impl ResourceMonitor for Service {
    async fn get_deployment_info(&self, _: Request<()>) -> Result<Response<rpc::DeploymentInfo>, Status> {
        let call = self.trace.begin("/pulumirpc.ResourceMonitor/GetDeploymentInfo", &());
        answer(call, Ok(super::features::deployment_info(&self.settings)))
    }

    async fn supports_feature(
        &self,
        request: Request<rpc::SupportsFeatureRequest>,
    ) -> Result<Response<rpc::SupportsFeatureResponse>, Status> {
        let call = self.trace.begin("/pulumirpc.ResourceMonitor/SupportsFeature", request.get_ref());
        let has_support = super::features::supports(&self.settings, &request.into_inner().id);
        answer(call, Ok(rpc::SupportsFeatureResponse { has_support }))
    }

    async fn register_resource(
        &self,
        request: Request<rpc::RegisterResourceRequest>,
    ) -> Result<Response<rpc::RegisterResourceResponse>, Status> {
        let call = self.trace.begin("/pulumirpc.ResourceMonitor/RegisterResource", request.get_ref());
        let sender = super::register::Sender::of(request.metadata());
        answer(call, self.register(request.into_inner(), sender).await)
    }

    async fn register_resource_outputs(
        &self,
        request: Request<rpc::RegisterResourceOutputsRequest>,
    ) -> Result<Response<()>, Status> {
        let call = self.trace.begin("/pulumirpc.ResourceMonitor/RegisterResourceOutputs", request.get_ref());
        answer(call, self.register_outputs(request.into_inner()).await)
    }

    async fn read_resource(
        &self,
        request: Request<rpc::ReadResourceRequest>,
    ) -> Result<Response<rpc::ReadResourceResponse>, Status> {
        let call = self.trace.begin("/pulumirpc.ResourceMonitor/ReadResource", request.get_ref());
        answer(call, self.read(request.into_inner()).await)
    }

    async fn invoke(
        &self,
        request: Request<rpc::ResourceInvokeRequest>,
    ) -> Result<Response<rpc::ResourceInvokeResponse>, Status> {
        let call = self.trace.begin("/pulumirpc.ResourceMonitor/Invoke", request.get_ref());
        answer(call, self.run_function(request.into_inner()).await)
    }

    async fn call(
        &self,
        request: Request<rpc::ResourceCallRequest>,
    ) -> Result<Response<rpc::CallResponse>, Status> {
        let call = self.trace.begin("/pulumirpc.ResourceMonitor/Call", request.get_ref());
        answer(call, self.run_method(request.into_inner()).await)
    }

    async fn register_package(
        &self,
        request: Request<rpc::RegisterPackageRequest>,
    ) -> Result<Response<rpc::RegisterPackageResponse>, Status> {
        let call = self.trace.begin("/pulumirpc.ResourceMonitor/RegisterPackage", request.get_ref());
        answer(call, self.add_package(request.into_inner()).await)
    }

    async fn register_stack_transform(
        &self,
        request: Request<rpc::Callback>,
    ) -> Result<Response<()>, Status> {
        let call = self.trace.begin("/pulumirpc.ResourceMonitor/RegisterStackTransform", request.get_ref());
        answer(call, self.add_stack_transform(request.into_inner()))
    }

    async fn register_stack_invoke_transform(
        &self,
        request: Request<rpc::Callback>,
    ) -> Result<Response<()>, Status> {
        let call =
            self.trace.begin("/pulumirpc.ResourceMonitor/RegisterStackInvokeTransform", request.get_ref());
        answer(call, self.add_stack_invoke_transform(request.into_inner()))
    }

    async fn register_resource_hook(
        &self,
        request: Request<rpc::RegisterResourceHookRequest>,
    ) -> Result<Response<()>, Status> {
        let call = self.trace.begin("/pulumirpc.ResourceMonitor/RegisterResourceHook", request.get_ref());
        answer(call, self.add_hook(request.into_inner()))
    }

    async fn register_error_hook(
        &self,
        request: Request<rpc::RegisterErrorHookRequest>,
    ) -> Result<Response<()>, Status> {
        let call = self.trace.begin("/pulumirpc.ResourceMonitor/RegisterErrorHook", request.get_ref());
        answer(call, self.add_error_hook(request.into_inner()))
    }

    async fn signal_and_wait_for_shutdown(&self, _: Request<()>) -> Result<Response<()>, Status> {
        let call = self.trace.begin("/pulumirpc.ResourceMonitor/SignalAndWaitForShutdown", &());
        answer(call, self.finish().await)
    }
}

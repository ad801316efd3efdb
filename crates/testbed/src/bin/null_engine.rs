//! `null-engine RESOURCES flat|chain BYTES`: the bench program and the bench provider with an engine that checks and
//! creates what it is asked for and does nothing else. What it costs is the floor under every engine.

use drystone_plugins::proto::pulumirpc::resource_monitor_server::{ResourceMonitor, ResourceMonitorServer};
use drystone_plugins::proto::pulumirpc::resource_provider_client::ResourceProviderClient;
use drystone_plugins::proto::pulumirpc::*;
use drystone_testbed::program::Program;
use std::io::Error;
use std::process::Stdio;
use std::result::Result;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;
use tonic::transport::Channel;
use tonic::{Request, Response, Status};

type Answer<T> = Result<Response<T>, Status>;

struct Null {
    provider: ResourceProviderClient<Channel>,
}

#[tonic::async_trait]
impl ResourceMonitor for Null {
    async fn register_resource(
        &self,
        request: Request<RegisterResourceRequest>,
    ) -> Answer<RegisterResourceResponse> {
        let request = request.into_inner();
        let urn = format!("urn:pulumi:null::null::{}::{}", request.r#type, request.name);
        if !request.custom {
            return Ok(Response::new(RegisterResourceResponse {
                urn,
                ..RegisterResourceResponse::default()
            }));
        }
        let mut provider = self.provider.clone();
        let check = CheckRequest { urn: urn.clone(), news: request.object, ..CheckRequest::default() };
        let checked = provider.check(check).await?.into_inner();
        let create =
            CreateRequest { urn: urn.clone(), properties: checked.inputs, ..CreateRequest::default() };
        let created = provider.create(create).await?.into_inner();
        let answer = RegisterResourceResponse {
            urn,
            id: created.id,
            object: created.properties,
            ..RegisterResourceResponse::default()
        };
        Ok(Response::new(answer))
    }

    async fn register_resource_outputs(&self, _: Request<RegisterResourceOutputsRequest>) -> Answer<()> {
        Ok(Response::new(()))
    }

    async fn signal_and_wait_for_shutdown(&self, _: Request<()>) -> Answer<()> {
        Ok(Response::new(()))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [resources, shape, bytes] = arguments.as_slice() else {
        return Err(Error::other("usage: null-engine RESOURCES flat|chain BYTES"));
    };
    let options = serde_json::json!({"resources": resources, "shape": shape, "bytes": bytes});
    let program = options.as_object().map(Program::from_options).unwrap_or_else(|| Err(String::new()));
    let program = program.map_err(Error::other)?;
    let mut plugin = tokio::process::Command::new("pulumi-resource-bench")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdout = plugin.stdout.take().ok_or_else(|| Error::other("no stdout"))?;
    let port = BufReader::new(stdout).lines().next_line().await?.unwrap_or_default();
    let channel = Channel::from_shared(format!("http://127.0.0.1:{port}")).map_err(Error::other)?;
    let provider = ResourceProviderClient::new(channel.connect().await.map_err(Error::other)?);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    let server =
        tonic::transport::Server::builder().add_service(ResourceMonitorServer::new(Null { provider }));
    tokio::spawn(server.serve_with_incoming(drystone_testbed::at_once(listener)));
    program.run(&address, "null", "null").await.map_err(Error::other)
}

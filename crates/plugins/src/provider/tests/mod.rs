//! A provider served over loopback, asked through [`GrpcProvider`].

mod configuration;
mod failures;
mod functions;
mod lifecycle;

use super::{GrpcProvider, ProviderOptions};
use crate::monitor::Endpoint;
use crate::proto::pulumirpc as rpc;
use crate::wire::Struct;
use drystone_engine::{Cancellation, ConfigureArguments, PropertyMap, Provider};
use drystone_model::{Urn, Value};
use rpc::resource_provider_server::{ResourceProvider, ResourceProviderServer};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Endpoint as Address, Server};
use tonic::{Request, Response, Status};

type Answer<Q, A> = Box<dyn Fn(Q) -> Result<A, Status> + Send + Sync>;

/// A provider whose answers a test chooses. Without a choice it echoes what it is given.
struct Served {
    handshake: Answer<rpc::ProviderHandshakeRequest, rpc::ProviderHandshakeResponse>,
    check_config: Answer<rpc::CheckRequest, rpc::CheckResponse>,
    diff_config: Answer<rpc::DiffRequest, rpc::DiffResponse>,
    configure: Answer<rpc::ConfigureRequest, rpc::ConfigureResponse>,
    check: Answer<rpc::CheckRequest, rpc::CheckResponse>,
    diff: Answer<rpc::DiffRequest, rpc::DiffResponse>,
    create: Answer<rpc::CreateRequest, rpc::CreateResponse>,
    read: Answer<rpc::ReadRequest, rpc::ReadResponse>,
    update: Answer<rpc::UpdateRequest, rpc::UpdateResponse>,
    delete: Answer<rpc::DeleteRequest, ()>,
    invoke: Answer<rpc::InvokeRequest, rpc::InvokeResponse>,
    call: Answer<rpc::CallRequest, rpc::CallResponse>,
    construct: Answer<rpc::ConstructRequest, rpc::ConstructResponse>,
    calls: Arc<Mutex<Vec<&'static str>>>,
}

fn unimplemented<Q, A>() -> Answer<Q, A> {
    Box::new(|_| Err(Status::unimplemented("no")))
}

impl Default for Served {
    fn default() -> Self {
        Self {
            handshake: Box::new(|_| {
                Ok(rpc::ProviderHandshakeResponse {
                    accept_secrets: true,
                    accept_resources: true,
                    accept_outputs: true,
                    supports_autonaming_configuration: true,
                    accepts_byte_string: true,
                })
            }),
            check_config: Box::new(|q| Ok(rpc::CheckResponse { inputs: q.news, failures: Vec::new() })),
            diff_config: unimplemented(),
            configure: Box::new(|_| Ok(rpc::ConfigureResponse::default())),
            check: Box::new(|q| Ok(rpc::CheckResponse { inputs: q.news, failures: Vec::new() })),
            diff: unimplemented(),
            create: Box::new(|q| {
                Ok(rpc::CreateResponse { id: "made".into(), properties: q.properties, ..Default::default() })
            }),
            read: Box::new(|q| {
                Ok(rpc::ReadResponse {
                    id: q.id,
                    properties: q.properties,
                    inputs: q.inputs,
                    ..Default::default()
                })
            }),
            update: Box::new(|q| Ok(rpc::UpdateResponse { properties: q.news, ..Default::default() })),
            delete: Box::new(|_| Ok(())),
            invoke: Box::new(|q| Ok(rpc::InvokeResponse { r#return: q.args, failures: Vec::new() })),
            call: unimplemented(),
            construct: unimplemented(),
            calls: Arc::default(),
        }
    }
}

macro_rules! serve {
    ($($method:ident($request:ident) -> $answer:ty;)*) => {
        #[tonic::async_trait]
        impl ResourceProvider for Served {
            $(async fn $method(&self, request: Request<rpc::$request>) -> Result<Response<$answer>, Status> {
                self.calls.lock().unwrap().push(stringify!($method));
                (self.$method)(request.into_inner()).map(Response::new)
            })*

            async fn get_plugin_info(&self, _: Request<()>) -> Result<Response<rpc::PluginInfo>, Status> {
                Ok(Response::new(rpc::PluginInfo { version: "1.2.3".into() }))
            }
        }
    };
}

serve! {
    handshake(ProviderHandshakeRequest) -> rpc::ProviderHandshakeResponse;
    check_config(CheckRequest) -> rpc::CheckResponse;
    diff_config(DiffRequest) -> rpc::DiffResponse;
    configure(ConfigureRequest) -> rpc::ConfigureResponse;
    check(CheckRequest) -> rpc::CheckResponse;
    diff(DiffRequest) -> rpc::DiffResponse;
    create(CreateRequest) -> rpc::CreateResponse;
    read(ReadRequest) -> rpc::ReadResponse;
    update(UpdateRequest) -> rpc::UpdateResponse;
    delete(DeleteRequest) -> ();
    invoke(InvokeRequest) -> rpc::InvokeResponse;
    call(CallRequest) -> rpc::CallResponse;
    construct(ConstructRequest) -> rpc::ConstructResponse;
}

impl Served {
    /// One of before the handshake, which understands what its answer to Configure says.
    fn old(answer: rpc::ConfigureResponse) -> Self {
        Self {
            handshake: unimplemented(),
            check_config: unimplemented(),
            configure: Box::new(move |_| Ok(answer)),
            ..Self::default()
        }
    }

    /// Serves it in a runtime of its own, which can die like a process, and connects to it.
    async fn connect(self) -> Connected {
        let calls = Arc::clone(&self.calls);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let listener = listener.into_std().unwrap();
        let server = ResourceProviderServer::new(self).max_decoding_message_size(crate::LARGEST_MESSAGE);
        let process = Runtime::new().unwrap();
        process.spawn(async move {
            let incoming = TcpListenerStream::new(TcpListener::from_std(listener).unwrap());
            Server::builder().add_service(server).serve_with_incoming(incoming).await.unwrap();
        });
        let channel = Address::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap();
        let options = ProviderOptions {
            name: "pkg".into(),
            endpoint: Endpoint::new("127.0.0.1:1"),
            directory: Some("/plugins/pkg".into()),
            disable_preview: false,
            version: None,
            grace: std::time::Duration::from_millis(50),
            cancellation: Cancellation::default(),
        };
        let provider = GrpcProvider::connect(channel, options, None).await.unwrap();
        Connected { provider, calls, process: Some(process) }
    }

    /// Serves, connects and configures it.
    async fn ready(self) -> Connected {
        let connected = self.connect().await;
        connected.configure(PropertyMap::new()).await;
        connected
    }
}

struct Connected {
    provider: GrpcProvider,
    calls: Arc<Mutex<Vec<&'static str>>>,
    process: Option<Runtime>,
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Connected {
    /// Ends the provider at once, with whatever it is doing.
    fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            process.shutdown_background();
        }
    }

    async fn configure(&self, inputs: PropertyMap) {
        let arguments = ConfigureArguments { urn: provider_urn(), id: "cfg".into(), inputs };
        self.provider.configure(arguments).await.unwrap();
    }

    fn calls(&self) -> Vec<&'static str> {
        self.calls.lock().unwrap().clone()
    }
}

fn provider_urn() -> Urn {
    Urn::build("dev", "shop", "", "pulumi:providers:pkg", "default")
}

fn urn() -> Urn {
    Urn::build("dev", "shop", "", "pkg:index:Thing", "one")
}

fn map<V: Into<Value>>(members: impl IntoIterator<Item = (&'static str, V)>) -> PropertyMap {
    members.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect()
}

/// A struct as plain JSON, null when there is none.
fn json(properties: Option<&Struct>) -> serde_json::Value {
    properties.map_or(serde_json::Value::Null, |properties| properties.to_json().unwrap().into())
}

fn raw(value: serde_json::Value) -> Option<Struct> {
    let serde_json::Value::Object(members) = value else { panic!("{value} is no object") };
    Some(Struct::from_json(&members))
}

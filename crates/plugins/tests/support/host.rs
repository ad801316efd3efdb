//! A language host that does what a test tells it to.

use drystone_plugins::proto::pulumirpc::language_runtime_server::{LanguageRuntime, LanguageRuntimeServer};
use drystone_plugins::proto::pulumirpc::run_plugin_response::Output;
use drystone_plugins::proto::pulumirpc::*;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use tokio_stream::Stream;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::{Request, Response, Status};

type Answer<T> = std::result::Result<Response<T>, Status>;
type Answers<T> = Pin<Box<dyn Stream<Item = std::result::Result<T, Status>> + Send>>;

/// What a host does when it is asked to run a program.
#[derive(Clone)]
pub(crate) enum Script {
    Answer(RunResponse),
    Refuse(Status),
    UntilCancelled,
}

#[derive(Clone)]
pub(crate) struct ScriptedHost {
    pub(crate) address: String,
    script: Script,
    /// What a plugin prints first.
    port_line: String,
    cancelled: Arc<Notify>,
    pub(crate) calls: Arc<Mutex<Vec<String>>>,
    pub(crate) request: Arc<Mutex<Option<RunRequest>>>,
    pub(crate) plugin: Arc<Mutex<Option<RunPluginRequest>>>,
}

impl ScriptedHost {
    pub(crate) async fn start(script: Script, port_line: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = Self {
            address: listener.local_addr().unwrap().to_string(),
            script,
            port_line: port_line.to_owned(),
            cancelled: Arc::default(),
            calls: Arc::default(),
            request: Arc::default(),
            plugin: Arc::default(),
        };
        let server =
            tonic::transport::Server::builder().add_service(LanguageRuntimeServer::new(host.clone()));
        tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
        host
    }

    fn called(&self, name: &str) {
        self.calls.lock().unwrap().push(name.to_owned());
    }
}

#[tonic::async_trait]
impl LanguageRuntime for ScriptedHost {
    async fn handshake(&self, _: Request<LanguageHandshakeRequest>) -> Answer<LanguageHandshakeResponse> {
        self.called("handshake");
        Ok(Response::new(LanguageHandshakeResponse::default()))
    }

    async fn get_required_packages(
        &self,
        _: Request<GetRequiredPackagesRequest>,
    ) -> Answer<GetRequiredPackagesResponse> {
        self.called("packages");
        Err(Status::unimplemented("an older host"))
    }

    async fn get_required_plugins(
        &self,
        _: Request<GetRequiredPluginsRequest>,
    ) -> Answer<GetRequiredPluginsResponse> {
        self.called("plugins");
        let plugin =
            PluginDependency { name: "aws".to_owned(), kind: "resource".to_owned(), ..Default::default() };
        Ok(Response::new(GetRequiredPluginsResponse { plugins: vec![plugin] }))
    }

    async fn run(&self, request: Request<RunRequest>) -> Answer<RunResponse> {
        self.called("run");
        *self.request.lock().unwrap() = Some(request.into_inner());
        match &self.script {
            Script::Answer(response) => Ok(Response::new(response.clone())),
            Script::Refuse(status) => Err(status.clone()),
            Script::UntilCancelled => {
                self.cancelled.notified().await;
                Ok(Response::new(RunResponse::default()))
            }
        }
    }

    async fn get_plugin_info(&self, _: Request<()>) -> Answer<PluginInfo> {
        Ok(Response::new(PluginInfo { version: "9.8.7".to_owned() }))
    }

    async fn install_dependencies(
        &self,
        _: Request<InstallDependenciesRequest>,
    ) -> Answer<Answers<InstallDependenciesResponse>> {
        let printed = ["fetch", "ing\nlast"]
            .map(|text| Ok(InstallDependenciesResponse { stdout: text.into(), stderr: b"warn\n".to_vec() }));
        Ok(Response::new(Box::pin(tokio_stream::iter(printed))))
    }

    async fn run_plugin(&self, request: Request<RunPluginRequest>) -> Answer<Answers<RunPluginResponse>> {
        *self.plugin.lock().unwrap() = Some(request.into_inner());
        let (sender, receiver) = mpsc::channel(8);
        let host = self.clone();
        tokio::spawn(async move {
            let (first, second) = host.port_line.split_at(host.port_line.len() / 2);
            for output in [
                Output::Stderr(b"coming up\n".to_vec()),
                Output::Stdout(first.into()),
                Output::Stdout(format!("{second}\nmore\n").into()),
            ] {
                let _ = sender.send(Ok(RunPluginResponse { output: Some(output) })).await;
            }
            if host.port_line.is_empty() {
                let _ = sender.send(Ok(RunPluginResponse { output: Some(Output::Exitcode(3)) })).await;
            } else {
                sender.closed().await;
                host.called("plugin ended");
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }

    async fn cancel(&self, _: Request<()>) -> Answer<()> {
        self.called("cancel");
        self.cancelled.notify_one();
        Ok(Response::new(()))
    }

    async fn runtime_options_prompts(
        &self,
        _: Request<RuntimeOptionsRequest>,
    ) -> Answer<RuntimeOptionsResponse> {
        Err(Status::unimplemented(""))
    }

    async fn template(&self, _: Request<TemplateRequest>) -> Answer<TemplateResponse> {
        Err(Status::unimplemented(""))
    }

    async fn about(&self, _: Request<AboutRequest>) -> Answer<AboutResponse> {
        Err(Status::unimplemented(""))
    }

    async fn get_program_dependencies(
        &self,
        _: Request<GetProgramDependenciesRequest>,
    ) -> Answer<GetProgramDependenciesResponse> {
        Err(Status::unimplemented(""))
    }

    async fn generate_program(&self, _: Request<GenerateProgramRequest>) -> Answer<GenerateProgramResponse> {
        Err(Status::unimplemented(""))
    }

    async fn generate_project(&self, _: Request<GenerateProjectRequest>) -> Answer<GenerateProjectResponse> {
        Err(Status::unimplemented(""))
    }

    async fn generate_package(&self, _: Request<GeneratePackageRequest>) -> Answer<GeneratePackageResponse> {
        Err(Status::unimplemented(""))
    }

    async fn pack(&self, _: Request<PackRequest>) -> Answer<PackResponse> {
        Err(Status::unimplemented(""))
    }

    async fn link(&self, _: Request<LinkRequest>) -> Answer<LinkResponse> {
        Err(Status::unimplemented(""))
    }
}

//! The bench language host.

use crate::program::Program;
use crate::steps::Steps;
use drystone_plugins::proto::codegen as schemas;
use drystone_plugins::proto::codegen::loader_client::LoaderClient;
use drystone_plugins::proto::pulumirpc::language_runtime_server::LanguageRuntime;
use drystone_plugins::proto::pulumirpc::*;
use serde_json::{Map, Value};
use std::result::Result;
use tonic::transport::Endpoint;
use tonic::{Request, Response, Status};

type Answer<T> = Result<Response<T>, Status>;

/// A language whose programs are their options.
#[derive(Debug, Default)]
pub struct BenchLanguage;

/// The options of a program.
fn options(info: Option<ProgramInfo>) -> Map<String, Value> {
    let options = info.and_then(|info| info.options);
    options.and_then(|options| options.to_json().ok()).unwrap_or_default()
}

#[tonic::async_trait]
impl LanguageRuntime for BenchLanguage {
    async fn get_required_packages(
        &self,
        request: Request<GetRequiredPackagesRequest>,
    ) -> Answer<GetRequiredPackagesResponse> {
        let options = options(request.into_inner().info);
        let list = options.get("packages").and_then(Value::as_array).cloned().unwrap_or_default();
        let text = |given: &Value, key: &str| given[key].as_str().unwrap_or_default().to_owned();
        let packages = list.iter().map(|given| PackageDependency {
            name: text(given, "name"),
            kind: "resource".to_owned(),
            version: text(given, "version"),
            server: text(given, "server"),
            ..PackageDependency::default()
        });
        Ok(Response::new(GetRequiredPackagesResponse { packages: packages.collect(), specs: Vec::new() }))
    }

    async fn get_required_plugins(
        &self,
        _: Request<GetRequiredPluginsRequest>,
    ) -> Answer<GetRequiredPluginsResponse> {
        Ok(Response::new(GetRequiredPluginsResponse::default()))
    }

    async fn get_plugin_info(&self, _: Request<()>) -> Answer<PluginInfo> {
        Ok(Response::new(PluginInfo { version: "1.0.0".to_owned() }))
    }

    async fn about(&self, _: Request<AboutRequest>) -> Answer<AboutResponse> {
        Ok(Response::new(AboutResponse::default()))
    }

    async fn run(&self, request: Request<RunRequest>) -> Answer<RunResponse> {
        let request = request.into_inner();
        let options = options(request.info);
        let ran = match (Steps::from_options(&options), Program::from_options(&options)) {
            (Some(steps), _) => steps.run(&request.monitor_address, &request.project, &request.stack).await,
            (None, Ok(program)) => {
                program.run(&request.monitor_address, &request.project, &request.stack).await
            }
            (None, Err(error)) => return Ok(Response::new(RunResponse { error, bail: false })),
        };
        match ran {
            Ok(()) => Ok(Response::new(RunResponse::default())),
            // The engine is ending and has said why.
            Err(status) if status.code() == tonic::Code::Unavailable => {
                Ok(Response::new(RunResponse { error: String::new(), bail: true }))
            }
            Err(status) => Ok(Response::new(RunResponse { error: status.message().to_owned(), bail: false })),
        }
    }

    /// An SDK is a file with the schema in it. One of a package called `refused` cannot be made.
    async fn generate_package(
        &self,
        request: Request<GeneratePackageRequest>,
    ) -> Answer<GeneratePackageResponse> {
        let request = request.into_inner();
        let schema: Value = serde_json::from_str(&request.schema).unwrap_or_default();
        let is_refused = schema["name"] == "refused";
        let diagnostic = codegen::Diagnostic {
            severity: codegen::DiagnosticSeverity::DiagError.into(),
            summary: "too odd".to_owned(),
            ..codegen::Diagnostic::default()
        };
        std::fs::write(format!("{}/schema.json", request.directory), &request.schema)?;
        let diagnostics = is_refused.then_some(diagnostic).into_iter().collect();
        Ok(Response::new(GeneratePackageResponse { diagnostics }))
    }

    /// What a program depends on is a file, with what the engine says of each package.
    async fn link(&self, request: Request<LinkRequest>) -> Answer<LinkResponse> {
        let request = request.into_inner();
        let unreachable = |error: tonic::transport::Error| Status::unavailable(error.to_string());
        let address = format!("http://{}", request.loader_target);
        let channel = Endpoint::from_shared(address).map_err(unreachable)?.connect().await;
        let mut loader = LoaderClient::new(channel.map_err(unreachable)?);
        let mut text = String::new();
        for dependency in request.packages {
            let package = dependency.package.unwrap_or_default();
            let asked = schemas::GetSchemaRequest {
                package: package.name.clone(),
                version: package.version.clone(),
                parameterization: package.parameterization.clone().map(|made| schemas::Parameterization {
                    name: made.name,
                    version: made.version,
                    value: made.value,
                }),
                ..schemas::GetSchemaRequest::default()
            };
            let answer = loader.get_schema(asked).await?.into_inner();
            let schema: Value = serde_json::from_slice(&answer.schema).unwrap_or_default();
            text += &format!("{} {} from {}\n", schema["name"], schema["version"], dependency.path);
        }
        let folder = request.info.map(|info| info.program_directory).unwrap_or_default();
        std::fs::write(format!("{folder}/depends.txt"), text)?;
        Ok(Response::new(LinkResponse { import_instructions: "say what you need".to_owned() }))
    }

    async fn cancel(&self, _: Request<()>) -> Answer<()> {
        Ok(Response::new(()))
    }
}

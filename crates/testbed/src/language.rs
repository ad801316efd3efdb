//! The bench language host.

use crate::program::Program;
use crate::steps::Steps;
use drystone_plugins::proto::pulumirpc::language_runtime_server::LanguageRuntime;
use drystone_plugins::proto::pulumirpc::*;
use serde_json::{Map, Value};
use std::result::Result;
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

    async fn cancel(&self, _: Request<()>) -> Answer<()> {
        Ok(Response::new(()))
    }
}

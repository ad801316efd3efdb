//! The bench converter: it lists what a file tells it to.
//!
//! Its one argument is a JSON file with `resources`, each as a list of imports has them, and `diagnostics`, each with
//! `severity`, `summary`, `detail` and `line`. With `mapping`, it asks for the mapping of that provider, from the plugin
//! `hint` if there is one, and `{mapping}` in an id becomes what it gets; `{schema}` becomes the name in the schema of
//! the package `schema`, and `{package}` what the package `package` is resolved to, with `parameters` if there are some.
//! With `ends`, the process ends instead.

use drystone_plugins::proto::codegen::loader_client::LoaderClient;
use drystone_plugins::proto::codegen::mapper_client::MapperClient;
use drystone_plugins::proto::codegen::{GetMappingRequest, GetSchemaRequest};
use drystone_plugins::proto::pulumirpc::codegen::{Diagnostic, DiagnosticSeverity, Pos, Range};
use drystone_plugins::proto::pulumirpc::converter_server::Converter;
use drystone_plugins::proto::pulumirpc::package_resolver_client::PackageResolverClient;
use drystone_plugins::proto::pulumirpc::{
    ConvertStateRequest, ConvertStateResponse, PackageSpec, ResourceImport,
};
use drystone_plugins::wire::Struct;
use serde_json::Value;
use std::io::Write;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status};

/// A converter from the ecosystem `bench`.
#[derive(Debug, Default)]
pub struct Bench;

#[tonic::async_trait]
impl Converter for Bench {
    async fn convert_state(
        &self,
        request: Request<ConvertStateRequest>,
    ) -> Result<Response<ConvertStateResponse>, Status> {
        let request = request.into_inner();
        let [path] = &request.args[..] else {
            return Err(Status::invalid_argument("wants the name of one file"));
        };
        let refused = |error: &dyn std::fmt::Display| Status::unknown(format!("{path}: {error}"));
        let text = std::fs::read(path).map_err(|error| refused(&error))?;
        let told: Value = serde_json::from_slice(&text).map_err(|error| refused(&error))?;
        if let Some(words) = told["ends"].as_str() {
            let _ = writeln!(std::io::stderr(), "{words}");
            std::process::exit(3);
        }
        let mapping = mapping(&request.mapper_target, &told).await?;
        let schema = schema(&request.loader_target, &told).await?;
        let package = package(&request.resolver_target, &told).await?;
        let resources = members(&told["resources"]).map(|resource| {
            let listed = listed(resource);
            let id = listed.id.replace("{mapping}", &mapping).replace("{schema}", &schema);
            let id = id.replace("{package}", &package);
            ResourceImport { id, ..listed }
        });
        Ok(Response::new(ConvertStateResponse {
            resources: resources.collect(),
            diagnostics: members(&told["diagnostics"]).map(|said| diagnostic(path, said)).collect(),
        }))
    }
}

fn members(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

async fn mapping(target: &str, told: &Value) -> Result<String, Status> {
    let Some(provider) = told["mapping"].as_str() else { return Ok(String::new()) };
    let mut mapper = MapperClient::new(channel(target).await?);
    let request = GetMappingRequest {
        provider: provider.to_owned(),
        pulumi_provider: text(&told["hint"]),
        ecosystem: text(&told["ecosystem"]),
        ..GetMappingRequest::default()
    };
    let data = mapper.get_mapping(request).await?.into_inner().data;
    Ok(String::from_utf8_lossy(&data).into_owned())
}

async fn schema(target: &str, told: &Value) -> Result<String, Status> {
    let Some(package) = told["schema"].as_str() else { return Ok(String::new()) };
    let mut loader = LoaderClient::new(channel(target).await?);
    let request = GetSchemaRequest { package: package.to_owned(), ..GetSchemaRequest::default() };
    let schema = loader.get_schema(request).await?.into_inner().schema;
    let schema: Value =
        serde_json::from_slice(&schema).map_err(|error| Status::unknown(error.to_string()))?;
    Ok(text(&schema["name"]))
}

/// What a package is resolved to: the plugin, and the package that parameters make of it.
async fn package(target: &str, told: &Value) -> Result<String, Status> {
    let Some(source) = told["package"].as_str() else { return Ok(String::new()) };
    let mut resolver = PackageResolverClient::new(channel(target).await?);
    let spec = PackageSpec {
        source: source.to_owned(),
        parameters: members(&told["parameters"]).map(text).collect(),
        ..PackageSpec::default()
    };
    let found = resolver.resolve_package(spec).await?.into_inner();
    let made = found
        .parameterization
        .map(|made| format!("+{}-{}-{}", made.name, made.version, String::from_utf8_lossy(&made.value)));
    Ok(format!("{}-{}-{}{}", found.kind, found.name, found.version, made.unwrap_or_default()))
}

async fn channel(target: &str) -> Result<Channel, Status> {
    let unreachable = |error: tonic::transport::Error| Status::unavailable(error.to_string());
    let endpoint = Endpoint::from_shared(format!("http://{target}")).map_err(unreachable)?;
    endpoint.connect().await.map_err(unreachable)
}

fn listed(resource: &Value) -> ResourceImport {
    let properties = |name: &str| resource[name].as_object().map(Struct::from_json);
    ResourceImport {
        r#type: text(&resource["type"]),
        name: text(&resource["name"]),
        id: text(&resource["id"]),
        version: text(&resource["version"]),
        logical_name: text(&resource["logicalName"]),
        is_component: resource["component"] == true,
        is_remote: resource["remote"] == true,
        parent: text(&resource["parent"]),
        properties: members(&resource["properties"]).map(text).collect(),
        provider: text(&resource["provider"]),
        inputs: properties("inputs"),
        outputs: properties("outputs"),
        ..ResourceImport::default()
    }
}

fn diagnostic(path: &str, said: &Value) -> Diagnostic {
    let severity = match said["severity"].as_str() {
        Some("error") => DiagnosticSeverity::DiagError,
        _ => DiagnosticSeverity::DiagWarning,
    };
    let subject = said["line"].as_i64().map(|line| Range {
        filename: path.to_owned(),
        start: Some(Pos { line, column: 1, byte: 0 }),
        end: Some(Pos { line, column: 5, byte: 4 }),
    });
    Diagnostic {
        severity: severity.into(),
        summary: text(&said["summary"]),
        detail: text(&said["detail"]),
        subject,
        context: None,
    }
}

//! Schemas, mappings and packages that programs and plugins ask for.

mod mappings;
mod resolver;

use crate::monitor::Endpoint;
use crate::monitor::refusal::Refusal;
use crate::proto::codegen as rpc;
use crate::provider::GrpcProvider;
use crate::search::Search;
use async_trait::async_trait;
use drystone_engine::{PackageDescriptor, Parameterization, ParameterizeArguments, Provider, ProviderError};
use mappings::Mappings;
use rpc::{loader_server::Loader, mapper_server::Mapper};
use std::sync::Arc;
use tonic::{Request, Response, Status};

/// The ecosystem that mappings are from when nobody says.
pub const USUAL_ECOSYSTEM: &str = "terraform";

/// Where providers come from that are asked about their packages alone, whether an operation runs or not.
#[async_trait]
pub trait Packages: Send + Sync {
    /// The provider of a package, started but neither parameterised nor configured. A name that is a path is where it
    /// is.
    async fn provider(&self, package: &PackageDescriptor) -> Result<GrpcProvider, ProviderError>;

    /// The provider of a package that needs no plugin.
    fn in_process(&self, package: &PackageDescriptor) -> Option<Arc<dyn Provider>> {
        let _ = package;
        None
    }

    /// Where providers are looked for.
    fn search(&self) -> &Search;

    /// The ecosystem that mappings are from when the request does not say.
    fn ecosystem(&self) -> &str;
}

/// A provider that is asked about its package alone.
async fn started(
    packages: &dyn Packages,
    package: &PackageDescriptor,
) -> Result<GrpcProvider, ProviderError> {
    let provider = packages.provider(package).await?;
    if let Some(parameterization) = &package.parameterization {
        provider.parameterize(ParameterizeArguments::Value(parameterization.clone())).await?;
    }
    Ok(provider)
}

/// The schema of a package, from a provider that is started for it.
pub async fn schema(packages: &dyn Packages, package: &PackageDescriptor) -> Result<String, ProviderError> {
    if let Some(provider) = packages.in_process(package) {
        return provider.schema(None).await;
    }
    let provider = started(packages, package).await?;
    provider.schema(package.parameterization.clone()).await
}

/// Answers where programs and plugins reach this engine.
#[derive(Debug)]
pub(crate) struct Schemas {
    endpoint: Endpoint,
    mappings: Mappings,
}

impl Schemas {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, mappings: Mappings::default() }
    }

    /// The running operation has or starts the provider that knows; without one it is started for this.
    async fn schema(&self, package: &PackageDescriptor) -> Result<String, Refusal> {
        if let Some(monitor) = self.endpoint.monitor() {
            return Ok(monitor.schema(package).await?);
        }
        let packages = self.endpoint.packages().ok_or_else(Refusal::nobody)?;
        Ok(schema(packages.as_ref(), package).await?)
    }
}

#[tonic::async_trait]
impl Loader for Schemas {
    async fn get_schema(
        &self,
        request: Request<rpc::GetSchemaRequest>,
    ) -> Result<Response<rpc::GetSchemaResponse>, Status> {
        let request = request.into_inner();
        let package = PackageDescriptor {
            name: request.package,
            version: request.version,
            download_url: request.download_url,
            parameterization: request.parameterization.map(|parameterization| Parameterization {
                name: parameterization.name,
                version: parameterization.version,
                value: parameterization.value,
            }),
            ..PackageDescriptor::default()
        };
        let schema = self.schema(&package).await?;
        Ok(Response::new(rpc::GetSchemaResponse { schema: schema.into_bytes() }))
    }
}

#[tonic::async_trait]
impl Mapper for Schemas {
    /// There is no mapping where there are no packages.
    async fn get_mapping(
        &self,
        request: Request<rpc::GetMappingRequest>,
    ) -> Result<Response<rpc::GetMappingResponse>, Status> {
        let data = match self.endpoint.packages() {
            Some(packages) => self.mappings.find(packages.as_ref(), request.into_inner()).await?,
            None => Vec::new(),
        };
        Ok(Response::new(rpc::GetMappingResponse { data }))
    }
}

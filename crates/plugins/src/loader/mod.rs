//! Schemas and mappings that programs and plugins ask for.

use crate::monitor::Endpoint;
use crate::monitor::refusal::Refusal;
use crate::proto::codegen as rpc;
use drystone_engine::{PackageDescriptor, Parameterization};
use rpc::{loader_server::Loader, mapper_server::Mapper};
use tonic::{Request, Response, Status};

/// Finds schemas through the running operation, which has or starts the providers that know them.
#[derive(Debug)]
pub(crate) struct Schemas {
    endpoint: Endpoint,
}

impl Schemas {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Self { endpoint }
    }
}

#[tonic::async_trait]
impl Loader for Schemas {
    async fn get_schema(
        &self,
        request: Request<rpc::GetSchemaRequest>,
    ) -> Result<Response<rpc::GetSchemaResponse>, Status> {
        let request = request.into_inner();
        let monitor = self.endpoint.monitor().ok_or_else(Refusal::nobody)?;
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
        let schema = monitor.schema(&package).await.map_err(Refusal::from)?;
        Ok(Response::new(rpc::GetSchemaResponse { schema: schema.into_bytes() }))
    }
}

#[tonic::async_trait]
impl Mapper for Schemas {
    /// There is never a mapping: nothing is converted here from other ecosystems.
    async fn get_mapping(
        &self,
        _: Request<rpc::GetMappingRequest>,
    ) -> Result<Response<rpc::GetMappingResponse>, Status> {
        Ok(Response::new(rpc::GetMappingResponse::default()))
    }
}

//! Functions of providers.

use super::options::{read_optional_urn, read_urns};
use super::refusal::Refusal;
use super::service::{Service, decode};
use crate::proto::pulumirpc as rpc;
use crate::wire::{Accepts, Decoding, Encoding};
use drystone_engine::{CheckFailure, InvokeRequest, PackageSource};

/// The function that finds a resource by its URN. What it gives has always held references, asked for or not.
const GET_RESOURCE: &str = "pulumi:pulumi:getResource";

impl Service {
    pub(super) async fn run_function(
        &self,
        request: rpc::ResourceInvokeRequest,
    ) -> Result<rpc::ResourceInvokeResponse, Refusal> {
        let monitor = self.monitor()?;
        let accepts = Accepts {
            secrets: true,
            resources: request.accept_resources || request.tok == GET_RESOURCE,
            outputs: false,
            bytes: request.accepts_byte_string,
        };
        let request = InvokeRequest {
            arguments: decode(Decoding::default(), request.args.as_ref())?,
            token: request.tok,
            provider: request.provider,
            package: PackageSource {
                version: request.version,
                download_url: request.plugin_download_url,
                checksums: request.plugin_checksums.into_iter().collect(),
                reference: request.package_ref,
            },
            dependencies: read_urns("dependsOn", &request.depends_on)?,
            parent: read_optional_urn("parent", &request.parent)?,
        };
        let invoked = monitor.invoke(request).await?;
        Ok(rpc::ResourceInvokeResponse {
            r#return: Some(Encoding::to(accepts).properties(&invoked.properties)?),
            failures: write_failures(invoked.failures),
            unknown: invoked.unknown,
        })
    }
}

/// What is wrong with arguments.
pub(super) fn write_failures(failures: Vec<CheckFailure>) -> Vec<rpc::CheckFailure> {
    failures
        .into_iter()
        .map(|failure| rpc::CheckFailure { property: failure.property, reason: failure.reason })
        .collect()
}

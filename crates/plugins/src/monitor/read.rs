//! Reading resources that exist and are not managed here.

use super::options::{read_optional_urn, read_urns};
use super::position;
use super::refusal::Refusal;
use super::register::validate_type;
use super::service::{Service, decode};
use crate::proto::pulumirpc as rpc;
use crate::wire::{Accepts, Decoding, Encoding};
use drystone_engine::{PackageSource, ReadRequest};

impl Service {
    pub(super) async fn read(
        &self,
        request: rpc::ReadResourceRequest,
    ) -> Result<rpc::ReadResourceResponse, Refusal> {
        let monitor = self.monitor()?;
        validate_type(&request.r#type)?;
        let accepts = Accepts {
            secrets: request.accept_secrets,
            resources: request.accept_resources,
            outputs: false,
            bytes: request.accepts_byte_string,
        };
        let root = &self.settings.root;
        let request = ReadRequest {
            source_position: position::read(request.source_position.as_ref(), root),
            stack_trace: position::read_trace(
                request.source_position.as_ref(),
                request.stack_trace.as_ref(),
                root,
            ),
            led_by: request.parent_stack_trace_handle,
            properties: decode(Decoding::default(), request.properties.as_ref())?,
            dependencies: read_urns("dependency", &request.dependencies)?,
            parent: read_optional_urn("parent", &request.parent)?,
            type_token: request.r#type,
            name: request.name,
            id: request.id,
            provider: request.provider,
            package: PackageSource {
                version: request.version,
                download_url: request.plugin_download_url,
                checksums: request.plugin_checksums.into_iter().collect(),
                reference: request.package_ref,
            },
            additional_secret_outputs: request.additional_secret_outputs,
        };
        let read = monitor.read(request).await?;
        Ok(rpc::ReadResourceResponse {
            urn: read.urn.to_string(),
            properties: Some(Encoding::to(accepts).properties(&read.properties)?),
        })
    }
}

//! Packages that programs use by reference.

use super::refusal::Refusal;
use super::service::Service;
use crate::proto::pulumirpc as rpc;
use drystone_engine::{PackageDescriptor, PackageRequest, Parameterization};

impl Service {
    pub(super) async fn add_package(
        &self,
        request: rpc::RegisterPackageRequest,
    ) -> Result<rpc::RegisterPackageResponse, Refusal> {
        let monitor = self.monitor()?;
        let read = |parameterization: rpc::Parameterization| Parameterization {
            name: parameterization.name,
            version: parameterization.version,
            value: parameterization.value,
        };
        let package = PackageRequest {
            package: PackageDescriptor {
                name: request.name,
                version: request.version,
                download_url: request.download_url,
                checksums: request.checksums.into_iter().collect(),
                parameterization: request.parameterization.map(read),
                ..PackageDescriptor::default()
            },
            extension: request.extension.map(read),
        };
        let reference = monitor.register_package(package).await?;
        Ok(rpc::RegisterPackageResponse { r#ref: reference })
    }
}

//! What packages are, as people write them: a name or a folder, a version, parameters.

use super::{Packages, Schemas};
use crate::monitor::refusal::Refusal;
use crate::proto::pulumirpc as rpc;
use base64::{Engine, engine::general_purpose::STANDARD};
use drystone_engine::{PackageDescriptor, ParameterizeArguments, Provider, ProviderError};
use rpc::package_resolver_server::PackageResolver;
use serde::Deserialize;
use tonic::{Request, Response, Status};

/// What a schema says of the package itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Described {
    name: String,
    version: String,
    #[serde(rename = "pluginDownloadURL")]
    plugin_download_url: String,
    parameterization: Option<Parameterized>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Parameterized {
    base_provider: Base,
    /// Base64.
    parameter: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Base {
    name: String,
    version: String,
}

#[tonic::async_trait]
impl PackageResolver for Schemas {
    async fn resolve_package(
        &self,
        request: Request<rpc::PackageSpec>,
    ) -> Result<Response<rpc::PackageDependency>, Status> {
        let packages = self.endpoint.packages().ok_or_else(Refusal::nobody)?;
        let spec = request.into_inner();
        let source = spec.source.clone();
        let resolved = resolve(packages.as_ref(), spec).await.map_err(|error| ProviderError {
            message: format!("resolving package \"{source}\": {}", error.message),
            ..error
        });
        Ok(Response::new(resolved.map_err(Refusal::from)?))
    }
}

/// Starts the plugin, gives it the parameters, and asks what it serves then.
async fn resolve(
    packages: &dyn Packages,
    spec: rpc::PackageSpec,
) -> Result<rpc::PackageDependency, ProviderError> {
    let wanted = PackageDescriptor {
        name: spec.source,
        version: spec.version,
        download_url: spec.server,
        checksums: spec.checksums.clone().into_iter().collect(),
        ..PackageDescriptor::default()
    };
    let provider = packages.provider(&wanted).await?;
    if !spec.parameters.is_empty() {
        provider.parameterize(ParameterizeArguments::Arguments(spec.parameters)).await?;
    }
    let schema = provider.schema(None).await?;
    let described: Described = serde_json::from_str(&schema)
        .map_err(|error| ProviderError::new(format!("its schema cannot be read: {error}")))?;
    let mut resolved = rpc::PackageDependency {
        name: described.name,
        kind: "resource".to_owned(),
        version: described.version,
        server: described.plugin_download_url,
        checksums: spec.checksums,
        ..rpc::PackageDependency::default()
    };
    if let Some(made) = described.parameterization {
        let value = STANDARD.decode(made.parameter);
        let value = value.map_err(|_| ProviderError::new("the parameter in its schema is not base64"))?;
        resolved.parameterization = Some(rpc::PackageParameterization {
            name: std::mem::replace(&mut resolved.name, made.base_provider.name),
            version: std::mem::replace(&mut resolved.version, made.base_provider.version),
            value,
        });
    }
    Ok(resolved)
}

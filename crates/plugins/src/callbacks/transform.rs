//! Transforms of registrations and invokes.

use super::{Function, options};
use crate::proto::pulumirpc as rpc;
use crate::wire::{Decoding, Outputs, Properties, Struct, assets};
use async_trait::async_trait;
use drystone_engine::{
    Failed, InvokeRequest, InvokeTransform, RegisterRequest, Transform, TransformedInvoke,
};
use std::path::{Path, PathBuf};

/// A transform of a program.
#[derive(Debug)]
pub(crate) struct GrpcTransform {
    pub(crate) function: Function,
    /// Where relative paths of assets start.
    pub(crate) directory: PathBuf,
}

/// A transform of a program for invokes.
#[derive(Debug)]
pub(crate) struct GrpcInvokeTransform(pub(crate) Function);

#[async_trait]
impl Transform for GrpcTransform {
    async fn transform(&self, mut request: RegisterRequest) -> Result<RegisterRequest, Failed> {
        let encoded = self.function.encoding().properties(&request.properties);
        let asked = rpc::TransformRequest {
            r#type: request.type_token.clone(),
            name: request.name.clone(),
            custom: request.custom,
            parent: request.parent.to_string(),
            properties: Some(encoded.map_err(|error| Failed(error.to_string()))?),
            options: Some(options::write(&request, &self.function)?),
        };
        let answer: rpc::TransformResponse = self.function.call(&asked).await?;
        if let Some(answered) = answer.options {
            options::read(&mut request, answered).map_err(|refusal| Failed(refusal.message))?;
        }
        if let Some(answered) = answer.properties {
            request.properties = read_properties(answered, self.directory.clone()).await?;
        }
        Ok(request)
    }
}

async fn read_properties(answered: Struct, directory: PathBuf) -> Result<Properties, Failed> {
    let decoding = Decoding { outputs: Outputs::Keep, ..Decoding::default() };
    let mut properties = decoding.properties(&answered).map_err(|error| Failed(error.to_string()))?;
    if !assets::lacks_hashes(&properties) {
        return Ok(properties);
    }
    let hashing = tokio::task::spawn_blocking(move || {
        assets::add_hashes(&mut properties, Path::new(&directory)).map(|()| properties)
    });
    let hashed = hashing.await.map_err(|error| Failed(error.to_string()))?;
    hashed.map_err(|error| Failed(error.to_string()))
}

#[async_trait]
impl InvokeTransform for GrpcInvokeTransform {
    async fn transform(&self, request: InvokeRequest) -> Result<TransformedInvoke, Failed> {
        let encoded = self.0.encoding().properties(&request.arguments);
        let asked = rpc::TransformInvokeRequest {
            token: request.token,
            args: Some(encoded.map_err(|error| Failed(error.to_string()))?),
            options: Some(rpc::TransformInvokeOptions {
                provider: request.provider.clone(),
                plugin_download_url: request.package.download_url.clone(),
                version: request.package.version.clone(),
                plugin_checksums: request.package.checksums.clone().into_iter().collect(),
            }),
        };
        let answer: rpc::TransformInvokeResponse = self.0.call(&asked).await?;
        let arguments = match answer.args {
            Some(args) => Decoding::default().properties(&args).map_err(|error| Failed(error.to_string()))?,
            None => request.arguments,
        };
        Ok(match answer.options {
            Some(options) => TransformedInvoke {
                arguments,
                provider: options.provider,
                version: options.version,
                download_url: options.plugin_download_url,
                checksums: options.plugin_checksums.into_iter().collect(),
            },
            None => TransformedInvoke {
                arguments,
                provider: request.provider,
                version: request.package.version,
                download_url: request.package.download_url,
                checksums: request.package.checksums,
            },
        })
    }
}

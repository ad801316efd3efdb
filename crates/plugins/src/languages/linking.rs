//! SDKs that the plugin of a language makes, and lets programs use.

use super::host::info;
use super::{LanguageError, LanguageHost, Program};
use crate::converter::{Remark, remark};
use crate::proto::pulumirpc::link_request::LinkDependency;
use crate::proto::pulumirpc::{GeneratePackageRequest, LinkRequest, PackageDependency};
use std::path::Path;
use tonic::{Code, Status};

/// An SDK in a folder of the project.
#[derive(Debug, Clone, PartialEq)]
pub struct Sdk {
    /// The folder, relative to the program.
    pub folder: String,
    /// The package that it is of.
    pub package: PackageDependency,
    /// Where schemas can be asked for.
    pub loader_address: String,
}

impl LanguageHost {
    /// Writes the SDK of a package to a folder. Schemas of packages that it refers to are asked for at an address.
    pub async fn make_sdk(
        &self,
        schema: &str,
        folder: &Path,
        loader_address: &str,
    ) -> Result<Vec<Remark>, LanguageError> {
        let request = GeneratePackageRequest {
            directory: folder.to_string_lossy().into_owned(),
            schema: schema.to_owned(),
            loader_target: loader_address.to_owned(),
            local: true,
            ..GeneratePackageRequest::default()
        };
        let answer = self.client().generate_package(request).await;
        let answer = answer.map_err(|status| self.unable(status))?.into_inner();
        Ok(answer.diagnostics.into_iter().map(remark).collect())
    }

    /// Adds an SDK to what a program depends on. The answer says how programs import it, or nothing.
    pub(super) async fn link(&self, program: &Program, sdk: &Sdk) -> Result<String, LanguageError> {
        let dependency = LinkDependency { package: Some(sdk.package.clone()), path: sdk.folder.clone() };
        let request = LinkRequest {
            info: Some(info(program)),
            loader_target: sdk.loader_address.clone(),
            packages: vec![dependency],
        };
        let answer = self.client().link(request).await.map_err(|status| self.unable(status))?;
        Ok(answer.into_inner().import_instructions)
    }

    /// A host that is too old to know of SDKs is told apart from one that fails.
    fn unable(&self, status: Status) -> LanguageError {
        match status.code() {
            Code::Unimplemented => LanguageError::NoSdks { language: self.language().to_owned() },
            _ => self.failed(status),
        }
    }
}

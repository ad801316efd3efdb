//! How the names of another ecosystem map to packages. The providers that were made from that ecosystem know.

use super::{Packages, started};
use crate::monitor::refusal::Refusal;
use crate::proto::codegen::GetMappingRequest;
use crate::provider::GrpcProvider;
use crate::search::Wanted;
use drystone_engine::{PackageDescriptor, Parameterization, ProviderError};
use prost::Message;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tonic::Code;

/// Mappings that were found, by what was asked for.
#[derive(Debug, Default)]
pub(super) struct Mappings {
    found: Mutex<HashMap<Vec<u8>, Vec<u8>>>,
}

impl Mappings {
    /// The mapping of another ecosystem's provider; empty when no provider here has one.
    pub(super) async fn find(
        &self,
        packages: &dyn Packages,
        mut request: GetMappingRequest,
    ) -> Result<Vec<u8>, Refusal> {
        if request.ecosystem.is_empty() {
            packages.ecosystem().clone_into(&mut request.ecosystem);
        }
        let key = request.encode_to_vec();
        if let Some(data) = self.found.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(data.clone());
        }
        let data = look(packages, &request).await?;
        self.found.lock().unwrap_or_else(PoisonError::into_inner).insert(key, data.clone());
        Ok(data)
    }
}

/// Asks the likeliest provider, which must answer, and then every other that is installed. One of those that cannot be
/// asked only matters when none has the mapping.
async fn look(packages: &dyn Packages, request: &GetMappingRequest) -> Result<Vec<u8>, Refusal> {
    let likeliest = match request.pulumi_provider.as_str() {
        "" => &request.provider,
        hinted => hinted,
    };
    let parameterization =
        request.parameterization_hint.as_ref().filter(|_| !request.pulumi_provider.is_empty());
    let search = packages.search();
    if search.find(&Wanted::provider(likeliest, None)).is_ok() {
        let package = PackageDescriptor {
            name: likeliest.to_owned(),
            parameterization: parameterization.map(|hint| Parameterization {
                name: hint.name.clone(),
                version: hint.version.clone(),
                value: hint.value.clone(),
            }),
            ..PackageDescriptor::default()
        };
        let found =
            of_package(packages, &package, request).await.map_err(|error| refused(likeliest, &error))?;
        if let Some(data) = found {
            return Ok(data);
        }
    }
    let mut failures = Vec::new();
    for name in search.installed_providers() {
        if name == *likeliest {
            continue;
        }
        let package = PackageDescriptor { name, ..PackageDescriptor::default() };
        match of_package(packages, &package, request).await {
            Ok(Some(data)) => return Ok(data),
            Ok(None) => {}
            Err(error) => failures.push(format!("{}: {error}", package.name)),
        }
    }
    if failures.is_empty() {
        return Ok(Vec::new());
    }
    let (ecosystem, provider) = (&request.ecosystem, &request.provider);
    Err(Refusal {
        code: Code::Unknown,
        message: format!(
            "no {ecosystem} mapping of the provider '{provider}' was found, and these could not be asked: {}",
            failures.join("; ")
        ),
    })
}

fn refused(package: &str, error: &ProviderError) -> Refusal {
    Refusal {
        code: Code::Unknown,
        message: format!("the provider of the package {package} cannot be asked for mappings: {error}"),
    }
}

async fn of_package(
    packages: &dyn Packages,
    package: &PackageDescriptor,
    request: &GetMappingRequest,
) -> Result<Option<Vec<u8>>, ProviderError> {
    let provider = started(packages, package).await?;
    of_provider(&provider, &request.ecosystem, &request.provider).await
}

/// A provider that maps several says which. One that maps a single one may only tell when it is asked for any.
async fn of_provider(
    provider: &GrpcProvider,
    ecosystem: &str,
    wanted: &str,
) -> Result<Option<Vec<u8>>, ProviderError> {
    if provider.mappings(ecosystem).await?.iter().any(|mapped| mapped == wanted) {
        let (mapped, data) = provider.mapping(ecosystem, wanted).await?;
        if mapped != wanted {
            return Err(ProviderError::new(format!(
                "it was asked for the {ecosystem} mapping of '{wanted}', which it says it has, and gave that of '{mapped}'"
            )));
        }
        return Ok(Some(data));
    }
    let (mapped, data) = provider.mapping(ecosystem, "").await?;
    Ok((mapped == wanted).then_some(data))
}

//! Packages that programs make known.

use crate::deployment::Deployment;
use crate::registry::package_of_type;
use crate::{MonitorError, PackageDescriptor, PackageRequest, PackageSource, Parameterization};
use sha2::{Digest, Sha256};

/// A package by its reference.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    pub(crate) descriptor: PackageDescriptor,
    pub(crate) extension: Option<Parameterization>,
}

impl Deployment {
    /// Makes a package known; the same package has the same reference.
    pub(crate) fn register_package(&self, request: PackageRequest) -> Result<String, MonitorError> {
        let package = Package { descriptor: request.package, extension: request.extension };
        let reference = match &package.extension {
            Some(extension) => extension_reference(extension),
            None => {
                let known = self.monitor.remembered();
                let same = known
                    .packages
                    .iter()
                    .find(|(_, known)| known.extension.is_none() && known.descriptor == package.descriptor);
                match same {
                    Some((reference, _)) => return Ok(reference.clone()),
                    None => self.surroundings.uuid().to_string(),
                }
            }
        };
        self.monitor.remembered().packages.insert(reference.clone(), package);
        Ok(reference)
    }

    /// The package that a request means.
    pub(crate) fn package(&self, type_token: &str, source: &PackageSource) -> Result<Package, MonitorError> {
        if !source.reference.is_empty() {
            let known = self.monitor.remembered().packages.get(&source.reference).cloned();
            let unknown = || MonitorError::new(format!("unknown provider package '{}'", source.reference));
            return known.ok_or_else(unknown);
        }
        if !source.version.is_empty() {
            let parsed = semver::Version::parse(source.version.trim_start_matches('v'));
            parsed.map_err(|error| {
                MonitorError::new(format!(
                    "parse provider request: {:?} is no version: {error}",
                    source.version
                ))
            })?;
        }
        let descriptor = PackageDescriptor {
            name: package_of_type(type_token).to_owned(),
            version: source.version.clone(),
            download_url: source.download_url.trim_end_matches('/').to_owned(),
            checksums: source.checksums.clone(),
            ..PackageDescriptor::default()
        };
        Ok(Package { descriptor, extension: None })
    }
}

/// The name that the state has for an extension: a hash of what it is.
fn extension_reference(extension: &Parameterization) -> String {
    let mut hash = Sha256::new();
    for part in [extension.name.as_bytes(), extension.version.as_bytes(), &extension.value] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

//! Packages that programs make known.

use crate::deployment::Deployment;
use crate::registry::{package_of_type, reference_urn};
use crate::{
    MonitorError, PackageDescriptor, PackageRequest, PackageSource, Parameterization, ParameterizeArguments,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use drystone_journal::{Entry, Kind};
use drystone_model::{Extension, Resource};
use sha2::{Digest, Sha256};
use std::sync::{Arc, PoisonError};

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

impl Deployment {
    /// Extends the provider of a state by what the state says, for operations that know it from nowhere else.
    pub(crate) async fn extend_from_state(self: &Arc<Self>, record: &Resource) -> Result<(), String> {
        let reference = &record.extension_ref;
        if reference.is_empty() {
            return Ok(());
        }
        let Some(kept) = self.extensions.get(reference) else {
            // What this run made itself has been extended.
            if self.monitor.remembered().packages.contains_key(reference) {
                return Ok(());
            }
            return Err(format!(
                "extension blob for {reference} (resource {}) not found in snapshot",
                record.urn
            ));
        };
        let value = STANDARD.decode(kept.value.as_deref().unwrap_or_default());
        let value = value.map_err(|error| format!("the extension {reference} cannot be read: {error}"))?;
        let (name, version) = (kept.name.clone(), kept.version.clone());
        self.extend_provider(&record.provider, reference, &Parameterization { name, version, value }).await
    }

    /// Extends a provider by a package's extension, once.
    pub(crate) async fn extend_provider(
        self: &Arc<Self>,
        provider: &str,
        reference: &str,
        extension: &Parameterization,
    ) -> Result<(), String> {
        let key = format!("extension {provider} {reference}");
        let cell = {
            let mut extended = self.monitor.extended.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(extended.entry(key).or_default())
        };
        let extended = cell.get_or_try_init(|| async {
            let urn = reference_urn(provider).unwrap_or_default();
            let instance = self.provider(&urn, provider).await.map_err(|error| error.message)?;
            let arguments = ParameterizeArguments::Extension(extension.clone());
            let (name, _) = instance.parameterize(arguments).await.map_err(|error| error.message)?;
            if name != extension.name {
                return Err(format!(
                    "parameterize response name {name:?} does not match expected package {:?}",
                    extension.name
                ));
            }
            self.keep_extension(reference, extension).await
        });
        extended.await.map(|_| ())
    }

    /// Writes an extension down that the snapshot does not have yet.
    async fn keep_extension(&self, reference: &str, extension: &Parameterization) -> Result<(), String> {
        if self.extensions.contains_key(reference) {
            return Ok(());
        }
        let mut entry = Entry::new(Kind::ExtensionParameterize, 0, 0);
        entry.extension_ref = Some(reference.to_owned());
        entry.extension = Some(Extension {
            name: extension.name.clone(),
            version: extension.version.clone(),
            value: Some(STANDARD.encode(&extension.value)),
            ..Extension::default()
        });
        self.recorder.note(entry).await.map_err(|error| error.to_string())
    }
}

/// The name that the state has for an extension: a hash of what it is.
pub(crate) fn extension_reference(extension: &Parameterization) -> String {
    let mut hash = Sha256::new();
    hash.update(&extension.name);
    hash.update([0]);
    hash.update(&extension.version);
    hash.update([0]);
    hash.update(&extension.value);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

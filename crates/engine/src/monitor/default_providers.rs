//! Default providers: one for each package and version, made when first needed.

use super::packages::Package;
use crate::deployment::Deployment;
use crate::registry::{provider_type, reference, set_package};
use crate::{MonitorError, PackageDescriptor, PropertyMap, RegisterRequest, Severity};
use drystone_model::{Urn, Value};
use std::sync::{Arc, PoisonError};

impl Deployment {
    /// The reference of the default provider of a package, registered on first use.
    pub(crate) async fn default_provider(
        self: &Arc<Self>,
        package: &Package,
        for_type: &str,
    ) -> Result<String, MonitorError> {
        let descriptor = &self.completed(&package.descriptor);
        self.refuse_disabled(descriptor.package(), for_type)?;
        let key =
            format!("{} {} {}", descriptor.package(), descriptor.package_version(), descriptor.download_url);
        let cell = {
            let mut defaults = self.monitor.defaults.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(defaults.entry(key).or_default())
        };
        // Once for each, and as large as any registration.
        cell.get_or_init(|| Box::pin(self.register_default(descriptor))).await.clone()
    }

    async fn register_default(
        self: &Arc<Self>,
        descriptor: &PackageDescriptor,
    ) -> Result<String, MonitorError> {
        let mut inputs = self.package_config(descriptor.package());
        set_package(&mut inputs, descriptor);
        let request = RegisterRequest {
            type_token: provider_type(descriptor.package()),
            name: default_name(descriptor),
            custom: true,
            properties: inputs,
            ..RegisterRequest::default()
        };
        let settled = self.settle(request, None).await.map_err(|_| MonitorError::closing())?;
        let record = settled.known.record();
        if settled.result != crate::Registration::Done {
            return Err(MonitorError::reported(format!("the provider {} could not be made", record.urn)));
        }
        Ok(reference(&record.urn, &record.id))
    }

    /// The part of the stack's configuration that is a package's. Dynamic providers get all of it, names and all.
    pub(crate) fn package_config(&self, package: &str) -> PropertyMap {
        let dynamic = package == "pulumi-nodejs" || package == "pulumi-python";
        let mut inputs = PropertyMap::new();
        for (key, value) in &self.config {
            let Some((namespace, name)) = key.split_once(':') else { continue };
            if !dynamic && namespace != package {
                continue;
            }
            let text = Value::String(value.text.clone());
            let text = if value.secret { Value::secret(text) } else { text };
            inputs.insert(if dynamic { key.clone() } else { name.to_owned() }, text);
        }
        inputs
    }

    fn refuse_disabled(&self, package: &str, for_type: &str) -> Result<(), MonitorError> {
        let barred = |name: &String| name.trim() == "*" || name.trim() == package;
        if package == "pulumi" || !self.options.disable_default_providers.iter().any(barred) {
            return Ok(());
        }
        let message =
            format!("Default provider for '{package}' disabled. '{for_type}' must use an explicit provider.");
        self.diagnose(&Urn::default(), Severity::Error, message.clone());
        self.fail_silently();
        Err(MonitorError::reported(message))
    }
}

/// The name of a default provider: `default`, with the version and where the plugin comes from.
pub(crate) fn default_name(descriptor: &PackageDescriptor) -> String {
    let mut name = "default".to_owned();
    if let Ok(version) = semver::Version::parse(descriptor.package_version().trim_start_matches('v')) {
        name = format!("{name}_{}_{}_{}", version.major, version.minor, version.patch);
        for part in [version.pre.as_str(), version.build.as_str()] {
            for piece in part.split('.').filter(|piece| !piece.is_empty()) {
                name = format!("{name}_{piece}");
            }
        }
    }
    if !descriptor.download_url.is_empty() {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' };
        let segments = descriptor.download_url.split('/').filter(|segment| !segment.is_empty());
        let segments: Vec<String> = segments.map(|segment| segment.chars().map(plain).collect()).collect();
        name = format!("{name}_{}", segments.join("/"));
    }
    name
}

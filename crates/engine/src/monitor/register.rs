//! Registering a resource.

use super::tracker::Existence;
use super::{Inherited, dependencies};
use crate::deployment::Deployment;
use crate::generate::registration::Settled;
use crate::registry::{package_of_type, reference_urn, set_package};
use crate::{
    MonitorError, PackageDescriptor, PackageSource, RegisterRequest, Registered, Registration, Severity,
    Transform,
};
use drystone_model::{Urn, is_provider_type};
use std::sync::Arc;

impl Deployment {
    pub(crate) async fn register(
        self: &Arc<Self>,
        request: RegisterRequest,
    ) -> Result<Registered, MonitorError> {
        let (parent, component) = (request.parent.clone(), !request.custom || request.remote);
        let _under_way = self.monitor.tracker.begin(&parent);
        let registered = self.register_request(request).await?;
        let existence = match (component, registered.id.is_empty()) {
            (true, _) => Existence::Component,
            (false, true) => Existence::Missing,
            (false, false) => Existence::There,
        };
        self.monitor.tracker.track(&registered.urn, &parent, existence);
        Ok(registered)
    }

    async fn register_request(
        self: &Arc<Self>,
        mut request: RegisterRequest,
    ) -> Result<Registered, MonitorError> {
        self.validate(&request)?;
        self.inherit(&mut request);
        dependencies::complete(&mut request);
        if request.custom || request.remote {
            request.provider = self.explicit_provider(&request);
        }
        let own_transforms = self.transform(&mut request).await?;
        dependencies::complete(&mut request);
        self.inherit_component_providers(&mut request);
        let mut extension = None;
        if is_provider_type(&request.type_token) {
            self.describe_provider(&mut request)?;
        }
        let mut passed_on = request.provider.clone();
        if is_provider_type(&request.type_token) || !(request.custom || request.remote) {
            // Providers and local components are nobody's, whatever the program names for what is inside of them.
            request.provider.clear();
        } else {
            let package = self.package(&request.type_token, &request.package)?;
            if request.provider.is_empty() {
                request.provider = self.default_provider(&package, &request.type_token).await?;
            } else if reference_urn(&request.provider).is_none() {
                let message = format!("could not parse provider reference: {:?}", request.provider);
                return Err(MonitorError::new(message));
            }
            if let Some(added) = &package.extension {
                let reference = request.package.reference.clone();
                let extended = self.extend_provider(&request.provider, &reference, added).await;
                extended.map_err(MonitorError::new)?;
                extension = Some(reference);
            }
        }
        if !request.provider.is_empty() {
            passed_on.clone_from(&request.provider);
        }
        if request.remote {
            return Box::pin(self.construct(request, own_transforms)).await;
        }
        dependencies::lower(&mut request.properties);
        if let Some(trigger) = &mut request.options.replacement_trigger {
            trigger.lower_outputs();
        }
        self.warn_of_component_options(&request);
        let inherited = Inherited {
            protect: request.options.protect,
            retain_on_delete: request.options.retain_on_delete,
            deleted_with: request.options.deleted_with.clone(),
            provider: passed_on,
            delete_before_replace: request.options.delete_before_replace,
        };
        let (custom, parent, providers) = (request.custom, request.parent.clone(), request.providers.clone());
        let settled = match self.settle(request, extension).await {
            Ok(settled) => settled,
            Err(_) => return Err(MonitorError::closing()),
        };
        let urn = settled.known.urn().clone();
        {
            let mut remembered = self.monitor.remembered();
            if settled.result == Registration::Done {
                remembered.goals.insert(urn.clone(), inherited);
            }
            if !custom {
                remembered.component_providers.insert(urn.clone(), providers);
            }
        }
        self.remember_family(&urn, &parent, own_transforms);
        self.answer(&settled, custom)
    }

    /// What the program is told of a resource. A local component's outputs are what the program itself will say.
    fn answer(&self, settled: &Settled, custom: bool) -> Result<Registered, MonitorError> {
        let state = settled.known.state(&self.vault).map_err(MonitorError::new)?;
        Ok(Registered {
            urn: state.record.urn.clone(),
            id: state.record.id.clone(),
            properties: if custom { state.outputs.clone() } else { crate::PropertyMap::new() },
            result: settled.result,
            unknown: settled.unknown,
            ..Registered::default()
        })
    }

    pub(crate) fn remember_family(&self, urn: &Urn, parent: &Urn, transforms: Vec<Arc<dyn Transform>>) {
        let mut remembered = self.monitor.remembered();
        remembered.parents.insert(urn.clone(), parent.clone());
        if !transforms.is_empty() {
            remembered.transforms.insert(urn.clone(), transforms);
        }
    }

    fn validate(&self, request: &RegisterRequest) -> Result<(), MonitorError> {
        if (request.custom || request.remote) && request.type_token.split(':').count() != 3 {
            return Err(MonitorError::new(format!(
                "Type '{}' is not a valid type token (must have format '*:*:*')",
                request.type_token
            )));
        }
        if !request.options.env_var_mappings.is_empty() && !is_provider_type(&request.type_token) {
            return Err(MonitorError::new("envVarMappings can only be used with provider resources"));
        }
        for path in &request.options.hide_diffs {
            drystone_model::PropertyPath::parse(path)
                .map_err(|error| MonitorError::new(error.to_string()))?;
        }
        Ok(())
    }

    /// Takes over what the parent passes on.
    fn inherit(&self, request: &mut RegisterRequest) {
        let Some(parent) = self.monitor.remembered().goals.get(&request.parent).cloned() else { return };
        let options = &mut request.options;
        if options.deleted_with.is_empty() {
            options.deleted_with = parent.deleted_with;
        }
        options.protect = options.protect.or(parent.protect);
        options.retain_on_delete = options.retain_on_delete.or(parent.retain_on_delete);
        if request.provider.is_empty() {
            let of_package = reference_urn(&parent.provider)
                .is_some_and(|urn| package_of_type(urn.type_token()) == package_of_type(&request.type_token));
            if (!request.remote && !request.custom) || of_package {
                request.provider = parent.provider;
            }
        }
    }

    /// The provider that the program means: its own, one of its map, or one of its parent's map.
    fn explicit_provider(&self, request: &RegisterRequest) -> String {
        if !request.provider.is_empty() {
            return request.provider.clone();
        }
        let package = package_of_type(&request.type_token);
        if let Some(provider) = request.providers.get(package) {
            return provider.clone();
        }
        let remembered = self.monitor.remembered();
        let inherited =
            remembered.component_providers.get(&request.parent).filter(|_| !request.parent.is_empty());
        inherited.and_then(|providers| providers.get(package)).cloned().unwrap_or_default()
    }

    /// Components pass the providers of their parents on.
    fn inherit_component_providers(&self, request: &mut RegisterRequest) {
        if request.custom || request.parent.is_empty() {
            return;
        }
        let inherited = self.monitor.remembered().component_providers.get(&request.parent).cloned();
        for (package, provider) in inherited.into_iter().flatten() {
            request.providers.entry(package).or_insert(provider);
        }
    }

    /// Writes into a provider's inputs which plugin it runs.
    fn describe_provider(&self, request: &mut RegisterRequest) -> Result<(), MonitorError> {
        let source = &request.package;
        let mut descriptor: PackageDescriptor = self.package(&request.type_token, source)?.descriptor;
        if *source == PackageSource::default() && !request.properties.contains_key("version") {
            descriptor = self.completed(&descriptor);
        }
        descriptor.env_var_mappings.clone_from(&request.options.env_var_mappings);
        set_package(&mut request.properties, &descriptor);
        Ok(())
    }

    fn warn_of_component_options(&self, request: &RegisterRequest) {
        if request.custom {
            return;
        }
        let options = &request.options;
        let urn = self.urn(&request.parent, &request.type_token, &request.name);
        for (name, given) in [
            ("ignoreChanges", !options.ignore_changes.is_empty()),
            ("customTimeouts", options.timeouts != crate::Timeouts::default()),
            ("additionalSecretOutputs", !options.additional_secret_outputs.is_empty()),
            ("replaceOnChanges", !options.replace_on_changes.is_empty()),
        ] {
            if given {
                let message = format!("The option '{name}' has no automatic effect on component resources.");
                self.diagnose(&urn, Severity::Warning, message);
            }
        }
    }
}

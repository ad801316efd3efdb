//! States of tools from before providers were resources.
//!
//! A managed resource without a provider gets the default provider of its package, configured as the stack is now. A
//! provider without outputs has its inputs for them. The base is changed as a whole, by one `Write` entry.

use crate::State;
use crate::deployment::{Deployment, Stopped};
use crate::registry::{provider_type, reference, set_package};
use crate::{PackageDescriptor, PropertyMap};
use drystone_model::{Json, Resource, Urn, is_provider_type};
use std::collections::BTreeMap;

/// A key of a provider's inputs that its outputs never have.
const INTERNAL: &str = "__internal";

impl Deployment {
    /// Brings the base into the form that everything else expects.
    pub(crate) async fn migrate_providers(&self) -> Result<(), Stopped> {
        let is_old = |record: &Resource| {
            let is_bare = record.outputs.json().is_none() && record.inputs.json().is_some();
            lacks_provider(record) || (is_provider_type(record.urn.type_token()) && is_bare)
        };
        if !self.world().olds.iter().any(|known| is_old(known.record())) {
            return Ok(());
        }
        let olds: Vec<Resource> = self.world().olds.iter().map(|known| known.record().clone()).collect();
        let mut byte_strings = false;
        let mut made: BTreeMap<String, Resource> = BTreeMap::new();
        let mut resources = Vec::with_capacity(olds.len());
        for mut record in olds {
            if lacks_provider(&record) {
                let package = record.urn.type_token().split(':').next().unwrap_or_default().to_owned();
                let provider = match made.get(&package) {
                    Some(provider) => provider,
                    None => {
                        let (provider, bytes) = self.first_provider(&package)?;
                        byte_strings |= bytes;
                        made.entry(package).or_insert(provider)
                    }
                };
                record.provider = reference(&provider.urn, &provider.id);
            } else if is_old(&record) {
                let state = self.vault.open(&record).map_err(|message| self.fail(&record.urn, message))?;
                let (sealed, bytes) =
                    self.sealed(&State { outputs: without_internal(&state.inputs), ..state })?;
                byte_strings |= bytes;
                record = sealed;
            }
            resources.push(record);
        }
        let is_new = |provider: &Resource| !resources.iter().any(|known| known.urn == provider.urn);
        let mut whole: Vec<Resource> = made.into_values().filter(is_new).collect();
        whole.append(&mut resources);
        let pending = self.base().pending_operations.clone();
        self.rebase(whole, pending, byte_strings).await
    }

    /// The default provider of a package, which the stack may have already.
    fn first_provider(&self, package: &str) -> Result<(Resource, bool), Stopped> {
        let urn = Urn::build(&self.stack, &self.project, "", &provider_type(package), "default");
        if let Some(known) = self.world().old(&urn) {
            return Ok((known.record().clone(), false));
        }
        let mut inputs = self.package_config(package);
        set_package(&mut inputs, &self.recorded_plugin(package));
        let record = Resource {
            type_token: urn.type_token().to_owned(),
            urn,
            custom: true,
            id: self.surroundings.uuid().to_string(),
            ..Resource::default()
        };
        let outputs = without_internal(&inputs);
        self.sealed(&State { record, inputs, outputs, ..State::default() })
    }

    /// The plugin that served a package, as far as the manifest of those days says.
    fn recorded_plugin(&self, package: &str) -> PackageDescriptor {
        let text = |plugin: &Json, member: &str| {
            let plugin: serde_json::Value = serde_json::from_str(plugin.text()).unwrap_or_default();
            plugin[member].as_str().unwrap_or_default().to_owned()
        };
        let base = self.base();
        let mut plugins = base.manifest.plugins.iter();
        let found = plugins.find(|plugin| text(plugin, "name") == package);
        let version = found.map(|plugin| text(plugin, "version")).unwrap_or_default();
        PackageDescriptor { name: package.to_owned(), version, ..PackageDescriptor::default() }
    }

    fn sealed(&self, state: &State) -> Result<(Resource, bool), Stopped> {
        let sealed = self.vault.seal(state, None).map_err(|message| self.fail(&state.record.urn, message))?;
        Ok((sealed.resource, sealed.byte_strings))
    }
}

fn lacks_provider(record: &Resource) -> bool {
    record.custom && record.provider.is_empty() && !is_provider_type(record.urn.type_token())
}

fn without_internal(inputs: &PropertyMap) -> PropertyMap {
    inputs
        .iter()
        .filter(|(key, _)| *key != INTERNAL)
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

//! Asking the provider whether it takes a resource's inputs.

use super::registration::Registering;
use crate::deployment::Deployment;
use crate::{Autonaming, CheckArguments, CheckFailure, PropertyMap, Provider, Severity};
use drystone_dialects::pulumi::properties::encode_plaintext;
use drystone_model::{Urn, Value};

/// Inputs that cannot be used. People were told why.
pub(crate) enum Refused {
    /// Nothing more is known.
    Told,
    /// The provider completed them all the same.
    Completed(PropertyMap),
}

impl Registering {
    /// Checks and completes inputs.
    pub(crate) async fn check(&self, old: PropertyMap, new: PropertyMap) -> Result<PropertyMap, Refused> {
        let Some(provider) = &self.provider else { return Ok(new) };
        let arguments = CheckArguments {
            urn: self.urn.clone(),
            old_inputs: old,
            new_inputs: new,
            seed: self.seed.to_vec(),
            autonaming: self.autonaming(provider.as_ref()),
            dry_run: self.deployment.options.dry_run,
        };
        let checked = match provider.check(arguments).await {
            Ok(checked) => checked,
            Err(error) => {
                self.deployment.diagnose(&self.urn, Severity::Error, error.message);
                return Err(Refused::Told);
            }
        };
        if checked.failures.is_empty() {
            return Ok(checked.properties);
        }
        for failure in &checked.failures {
            self.deployment.tell_check_failure(&self.urn, &self.new.inputs, failure, Severity::Error);
        }
        Err(Refused::Completed(checked.properties))
    }

    /// What a provider is told of names, if it listens.
    fn autonaming(&self, provider: &dyn Provider) -> Option<Autonaming> {
        let autonaming = self.naming.autonaming.clone()?;
        if provider.supports_autonaming() {
            return Some(autonaming);
        }
        if self.naming.insisted {
            let urn = &self.urn;
            let message = format!(
                "{urn} resource has a custom autonaming setting but the provider does not support autonaming configuration, consider upgrading to a newer version"
            );
            self.deployment.warn(urn, message);
        }
        None
    }
}

impl Deployment {
    pub(crate) fn tell_check_failure(
        &self,
        urn: &Urn,
        inputs: &PropertyMap,
        failure: &CheckFailure,
        severity: Severity,
    ) {
        let (type_token, name) = (urn.type_token(), urn.name());
        let message = if failure.property.is_empty() {
            format!("{type_token} resource '{name}' has a problem: {}", failure.reason)
        } else {
            let value = shown(inputs.get(&failure.property));
            format!(
                "{type_token} resource '{name}': property {} value {{{value}}} has a problem: {}",
                failure.property, failure.reason
            )
        };
        self.diagnose(urn, severity, message);
    }
}

/// A value in a message: a text as it is, anything else as JSON; secrets are masked (S17).
pub(super) fn shown(value: Option<&Value>) -> String {
    match value.map(Value::masked) {
        None => "null".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => encode_plaintext(&value).unwrap_or_else(|error| error.to_string()),
    }
}

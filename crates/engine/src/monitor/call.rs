//! Methods of components.

use crate::deployment::Deployment;
use crate::{CallAnswer, CallArguments, CallRequest, MonitorError};
use drystone_model::{ResourceReference, Secret, Urn, Value, is_provider_type};
use std::sync::Arc;

impl Deployment {
    /// Runs a method of a component.
    pub(crate) async fn call(self: &Arc<Self>, request: CallRequest) -> Result<CallAnswer, MonitorError> {
        let mut provider = self.provider_of_method(&request)?;
        if provider.is_empty() {
            let package = self.package(&request.token, &request.package)?;
            provider = self.default_provider(&package, &request.token).await?;
        }
        let fail = |error: crate::ProviderError| {
            MonitorError::new(format!("call to function '{}' failed: {}", request.token, error.message))
        };
        let provider = self.provider(&Urn::default(), &provider).await.map_err(fail)?;
        let arguments = CallArguments {
            token: request.token.clone(),
            arguments: request.arguments,
            argument_dependencies: request.argument_dependencies,
            info: self.info(),
        };
        let mut answer = provider.call(arguments).await.map_err(fail)?;
        answer.dependencies = super::dependencies::with_sources(&answer.properties, answer.dependencies);
        Ok(answer)
    }

    /// The provider that runs a method: the one that the program names, or that of the resource it belongs to; empty
    /// for the default one. A method of a provider runs in that very provider.
    fn provider_of_method(&self, request: &CallRequest) -> Result<String, MonitorError> {
        let receiver = request.arguments.get("__self__").and_then(reference);
        if is_provider_type(&request.token) {
            let receiver = receiver
                .ok_or_else(|| MonitorError::new("missing __self__ argument for provider method call"))?;
            let id = receiver.id.as_deref().unwrap_or_default();
            return Ok(format!("{}::{id}", receiver.urn));
        }
        if !request.provider.is_empty() {
            return Ok(request.provider.clone());
        }
        let Some(receiver) = receiver else { return Ok(String::new()) };
        let remembered = self.monitor.remembered();
        Ok(remembered.goals.get(&receiver.urn).map(|goal| goal.provider.clone()).unwrap_or_default())
    }
}

/// The resource that a value refers to.
fn reference(value: &Value) -> Option<&ResourceReference> {
    match value {
        Value::ResourceReference(reference) => Some(reference),
        Value::Secret(Secret::Open(inner)) => reference(inner),
        Value::Output(output) => output.value.as_ref().and_then(reference),
        _ => None,
    }
}

//! Methods of components.

use crate::deployment::Deployment;
use crate::registry::reference;
use crate::{CallAnswer, CallArguments, CallRequest, MonitorError};
use drystone_model::{Computed, Urn, Value, is_provider_type};
use std::sync::Arc;

impl Deployment {
    /// Runs a method of a component.
    pub(crate) async fn call(self: &Arc<Self>, request: CallRequest) -> Result<CallAnswer, MonitorError> {
        let provider = match self.called_provider(&request)? {
            Some(provider) => provider,
            None => {
                let package = self.package(&request.token, &request.package)?;
                self.default_provider(&package, &request.token).await?
            }
        };
        let fail = |error: crate::ProviderError| {
            MonitorError::new(format!("call to function '{}' failed: {}", request.token, error.message))
        };
        let provider = self.provider(&Urn::default(), &provider).await.map_err(fail)?;
        let trace = self.lend_trace(&request.stack_trace);
        let arguments = CallArguments {
            token: request.token.clone(),
            arguments: request.arguments,
            argument_dependencies: request.argument_dependencies,
            info: self.info(),
            trace: trace.word.clone(),
        };
        let mut answer = provider.call(arguments).await.map_err(fail)?;
        answer.dependencies = super::dependencies::with_sources(&answer.properties, answer.dependencies);
        Ok(answer)
    }

    /// The provider that runs a method, where it is not the package's default: a provider's own methods run in itself,
    /// those of a resource in the provider that it has.
    fn called_provider(&self, request: &CallRequest) -> Result<Option<String>, MonitorError> {
        let receiver = request.arguments.get("__self__").and_then(receiver);
        if is_provider_type(&request.token) {
            let missing =
                || MonitorError::new("missing __self__ argument for provider method call".to_owned());
            let (urn, id) = receiver.ok_or_else(missing)?;
            return Ok(Some(reference(&urn, &id)));
        }
        if !request.provider.is_empty() {
            return Ok(Some(request.provider.clone()));
        }
        let Some((urn, _)) = receiver else { return Ok(None) };
        let provider = self.monitor.remembered().provider_of(&urn);
        let provider = provider.ok_or_else(|| MonitorError::new(format!("unknown resource {urn}")))?;
        Ok(Some(provider).filter(|provider| !provider.is_empty()))
    }
}

/// The resource that a method is called on, and its id.
fn receiver(value: &Value) -> Option<(Urn, String)> {
    let mut value = value.clone();
    value.lower_outputs();
    let unknown = || Computed::String.sentinel().to_owned();
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(ToOwned::to_owned);
    match value.revealed() {
        Value::ResourceReference(reference) => {
            let id = reference.id.unwrap_or_default();
            Some((reference.urn, if id.is_empty() { unknown() } else { id }))
        }
        Value::Object(members) => {
            let id = text(members.get("id")).unwrap_or_else(unknown);
            Some((Urn::new(text(members.get("urn"))?), id))
        }
        _ => None,
    }
}

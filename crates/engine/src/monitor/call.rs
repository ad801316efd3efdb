//! Methods of components.

use crate::deployment::Deployment;
use crate::{CallAnswer, CallArguments, CallRequest, MonitorError};
use drystone_model::Urn;
use std::sync::Arc;

impl Deployment {
    /// Runs a method of a component.
    pub(crate) async fn call(self: &Arc<Self>, request: CallRequest) -> Result<CallAnswer, MonitorError> {
        let package = self.package(&request.token, &request.package)?;
        let provider = if request.provider.is_empty() {
            self.default_provider(&package, &request.token).await?
        } else {
            request.provider
        };
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
}

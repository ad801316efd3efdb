//! Functions of providers.

use crate::deployment::Deployment;
use crate::registry::package_of_type;
use crate::{InvokeRequest, Invoked, MonitorError};
use drystone_model::Urn;
use std::sync::Arc;

impl Deployment {
    /// Runs a function of a provider.
    pub(crate) async fn invoke(self: &Arc<Self>, request: InvokeRequest) -> Result<Invoked, MonitorError> {
        let mut request = request;
        if request.provider.is_empty() && !request.parent.is_empty() {
            let remembered = self.monitor.remembered();
            let providers = remembered.component_providers.get(&request.parent);
            let inherited = providers.and_then(|providers| providers.get(package_of_type(&request.token)));
            request.provider = inherited.cloned().unwrap_or_default();
        }
        let mut request = self.transform_invoke(request).await?;
        super::dependencies::lower(&mut request.arguments);
        let package = self.package(&request.token, &request.package)?;
        let provider = if request.provider.is_empty() {
            self.default_provider(&package, &request.token).await?
        } else {
            request.provider
        };
        let fail = |error: crate::ProviderError| {
            MonitorError::new(format!("invocation of {} returned an error: {}", request.token, error.message))
        };
        let provider = self.provider(&Urn::default(), &provider).await.map_err(fail)?;
        let missing = tokio::select! {
            missing = self.monitor.tracker.is_missing(&request.dependencies) => missing,
            () = self.stopped() => return Err(MonitorError::closing()),
        };
        if missing {
            return Ok(Invoked { unknown: true, ..Invoked::default() });
        }
        provider.invoke(&request.token, request.arguments, self.options.dry_run).await.map_err(fail)
    }
}

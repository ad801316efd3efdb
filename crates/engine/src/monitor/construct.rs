//! Components that a provider constructs.

use super::dependencies::with_sources;
use crate::deployment::Deployment;
use crate::{Alias, ConstructArguments, MonitorError, RegisterRequest, Registered, Severity, Transform};
use drystone_model::Urn;
use std::sync::Arc;

impl Deployment {
    /// Has a provider construct a component. What is inside registers itself.
    pub(crate) async fn construct(
        self: &Arc<Self>,
        request: RegisterRequest,
        own_transforms: Vec<Arc<dyn Transform>>,
    ) -> Result<Registered, MonitorError> {
        let urn = self.urn(&request.parent, &request.type_token, &request.name);
        let fail = |error: crate::ProviderError| MonitorError::new(error.message);
        let provider = self.provider(&urn, &request.provider).await.map_err(fail)?;
        let aliases = request.options.aliases.iter().filter_map(|alias| match alias {
            Alias::Urn(urn) => Some(urn.clone()),
            Alias::Spec { .. } => None,
        });
        let trace = self.lend_trace(&request.stack_trace);
        let arguments = ConstructArguments {
            type_token: request.type_token.clone(),
            name: request.name.clone(),
            parent: request.parent.clone(),
            aliases: aliases.collect(),
            inputs: request.properties,
            input_dependencies: request.property_dependencies,
            dependencies: request.dependencies,
            providers: request.providers.clone(),
            timeouts: request.options.timeouts,
            options: request.options,
            info: self.info(),
            trace: trace.word.clone(),
        };
        let constructed = tokio::select! {
            biased;
            constructed = provider.construct(arguments) => constructed,
            // The component's own registrations are refused by now: it has no way to end well.
            () = self.stopped() => return Err(MonitorError::closing()),
        };
        let constructed = match constructed {
            Ok(constructed) => constructed,
            Err(_) if self.is_stopping() => return Err(MonitorError::closing()),
            Err(error) => {
                let message = format!(
                    "{} resource '{}' has a problem: {}",
                    request.type_token, request.name, error.message
                );
                self.diagnose(&Urn::default(), Severity::Error, message);
                self.fail_silently();
                return Err(MonitorError::closing());
            }
        };
        self.remember_family(&constructed.urn, &request.parent, own_transforms);
        let property_dependencies = with_sources(&constructed.outputs, constructed.output_dependencies);
        Ok(Registered {
            urn: constructed.urn,
            properties: constructed.outputs,
            property_dependencies,
            ..Registered::default()
        })
    }
}

//! Looking at resources that the stack does not own.

use crate::deployment::Deployment;
use crate::registry::package_of_type;
use crate::world::Decision;
use crate::{MonitorError, ReadRequest, Registered, Severity, State};
use drystone_model::Resource;
use std::sync::Arc;

impl Deployment {
    /// Reads a resource into the state as one that the stack does not own.
    pub(crate) async fn read_resource(
        self: &Arc<Self>,
        mut request: ReadRequest,
    ) -> Result<Registered, MonitorError> {
        if request.provider.is_empty() {
            let remembered = self.monitor.remembered();
            let providers = remembered.component_providers.get(&request.parent);
            let inherited =
                providers.and_then(|providers| providers.get(package_of_type(&request.type_token)));
            request.provider = inherited.cloned().unwrap_or_default();
        }
        if request.provider.is_empty() {
            let package = self.package(&request.type_token, &request.package)?;
            request.provider = self.default_provider(&package, &request.type_token).await?;
        }
        let urn = self.urn(&request.parent, &request.type_token, &request.name);
        super::dependencies::lower(&mut request.properties);
        let refuse = |message: String| {
            self.diagnose(&urn, Severity::Error, message.clone());
            self.fail_silently();
            MonitorError::closing()
        };
        if request.id.is_empty() {
            return Err(refuse(format!("Expected an ID for {urn}")));
        }
        let found = {
            let mut world = self.world();
            if !request.parent.is_empty() && !world.disposition(&request.parent).is_seen() {
                drop(world);
                return Err(refuse(format!("could not find parent resource {}", request.parent)));
            }
            if world.disposition(&urn).registered {
                drop(world);
                return Err(refuse(format!("Duplicate resource URN '{urn}'; try giving it a unique name")));
            }
            world.disposition_mut(&urn).registered = true;
            self.find_old(&mut world, &urn, &request.parent, &[])
        };
        let new = State {
            record: Resource {
                urn: urn.clone(),
                custom: true,
                id: request.id.clone(),
                type_token: request.type_token.clone(),
                parent: request.parent.clone(),
                external: true,
                dependencies: request.dependencies.clone(),
                provider: request.provider.clone(),
                additional_secret_outputs: request.additional_secret_outputs.clone(),
                aliases: found.alias.into_iter().collect(),
                source_position: request.source_position.clone(),
                stack_trace: request.stack_trace.clone(),
                ..Resource::default()
            },
            inputs: request.properties.clone(),
            ..State::default()
        };
        if self.skip_after_failure(&new, found.old.as_ref()).is_some() {
            return Ok(Registered { urn, result: crate::Registration::Skipped, ..Registered::default() });
        }
        self.refuse_missing_dependencies(&new.record).map_err(|_| MonitorError::closing())?;
        if self.has_skipped_dependencies(&self.world(), &new.record) {
            self.world().decide(&urn, Decision::SkippedCreate);
            return Ok(Registered { urn, unknown: true, ..Registered::default() });
        }
        let provider = match self.provider(&urn, &request.provider).await {
            Ok(provider) => provider,
            Err(error) => return Err(refuse(error.message)),
        };
        if let Some(old) = &found.old {
            self.until_left(old.urn()).await;
        }
        let replaces = found.old.as_ref().is_some_and(|old| {
            let record = old.record();
            !record.external && record.id != request.id
        });
        if let Some(old) = &found.old {
            self.refuse_out_of_turn(old, &new.record, replaces).map_err(|_| MonitorError::closing())?;
        }
        {
            let mut world = self.world();
            world.decide(&urn, if replaces { Decision::Replace } else { Decision::Read });
            if self.is_destroying() {
                world.to_delete.push(urn.clone());
            }
        }
        let outcome = self.read(new.clone(), found.old.clone(), replaces, provider).await;
        let settled = crate::generate::registration::settled(self, outcome, new);
        let settled = settled.map_err(|_| MonitorError::closing())?;
        let state = settled.known.state(&self.vault).map_err(MonitorError::new)?;
        if let Some(old) = found.old.filter(|_| replaces && settled.result == crate::Registration::Done) {
            self.announce_replace(&old, &state, crate::execute::Causes::default(), true);
        }
        self.remember_family(&urn, &request.parent, Vec::new());
        self.monitor.tracker.track(&urn, &request.parent, super::tracker::Existence::There);
        Ok(Registered {
            urn,
            id: state.record.id.clone(),
            properties: state.outputs.clone(),
            result: settled.result,
            ..Registered::default()
        })
    }
}

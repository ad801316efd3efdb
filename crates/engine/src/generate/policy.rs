//! What policies make of a resource, and of the stack when all is done.

use super::check::Refused;
use super::registration::Registering;
use crate::deployment::{Deployment, Stopped};
use crate::known::Known;
use crate::{
    AnalyzedOptions, AnalyzedProvider, AnalyzedResource, EnforcementLevel, Event, PolicyEvent,
    PolicyQuestion, PolicySummary, PropertyMap, Severity, State, Timeouts, Violation,
};
use drystone_model::{ProviderReference, ROOT_STACK_TYPE, Resource, Urn};
use std::sync::Arc;

/// Who is told of a remediation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tell {
    Everybody,
    Nobody,
}

impl Registering {
    /// Lets every policy pack change the resource, one after the other, and then judge it, side by side. A preview goes
    /// on after a violation, so that all of them are told at once.
    pub(crate) async fn apply_policies(&mut self) -> Result<(), Refused> {
        if self.deployment.policies.is_empty() {
            return Ok(());
        }
        self.remediate(Tell::Everybody).await?;
        let deployment = &self.deployment;
        let resource = self.analyzed();
        let packs = deployment.policies.packs();
        let answers = futures::future::join_all(packs.iter().map(|pack| pack.analyze(&resource))).await;
        let mut valid = true;
        for (pack, answer) in packs.iter().zip(answers) {
            match answer {
                Ok(answer) => {
                    let question = (PolicyQuestion::Analyze, pack.analyzer.pack());
                    let broken =
                        deployment
                            .policies
                            .tell(deployment.events(), question, answer, &self.urn, |_| self.urn.clone());
                    valid &= !broken || deployment.options.dry_run;
                }
                Err(failed) => {
                    let message = format!("failed to run policy: {failed}");
                    deployment.diagnose(&self.urn, Severity::Error, message);
                    valid = false;
                }
            }
        }
        if valid { Ok(()) } else { Err(Refused::Told) }
    }

    /// Changes inputs that were made up anew as policies changed those before. People know of it.
    pub(crate) async fn remediate_again(&mut self) -> Result<(), Refused> {
        if self.remediated { self.remediate(Tell::Nobody).await } else { Ok(()) }
    }

    async fn remediate(&mut self, tell: Tell) -> Result<(), Refused> {
        let deployment = Arc::clone(&self.deployment);
        for pack in deployment.policies.packs() {
            let turn = pack.turn().await;
            let answer = pack.analyzer.remediate(&self.analyzed()).await;
            drop(turn);
            let answer = answer.map_err(|failed| {
                let message = format!("failed to run remediation: {failed}");
                deployment.diagnose(&self.urn, Severity::Error, message);
                Refused::Told
            })?;
            let failed = answer.remediations.iter().map(|remediation| remediation.name.policy.as_str());
            let summary = PolicySummary::of(
                PolicyQuestion::Remediate,
                pack.analyzer.pack(),
                &self.urn,
                failed,
                &answer.not_applicable,
            );
            for remediation in answer.remediations {
                let event = if remediation.diagnostic.is_empty() {
                    let before = std::mem::replace(&mut self.new.inputs, remediation.properties.clone());
                    self.remediated = true;
                    PolicyEvent::Remediated {
                        name: remediation.name,
                        urn: self.urn.clone(),
                        before,
                        after: remediation.properties,
                    }
                } else {
                    PolicyEvent::Violation(Violation {
                        name: remediation.name,
                        description: remediation.description,
                        message: remediation.diagnostic,
                        level: EnforcementLevel::Advisory,
                        urn: self.urn.clone(),
                        ..Violation::default()
                    })
                };
                if tell == Tell::Everybody {
                    deployment.send(Event::Policy(event));
                }
            }
            if tell == Tell::Everybody {
                deployment.send(Event::Policy(PolicyEvent::Summary(summary)));
            }
        }
        Ok(())
    }

    /// The resource as policies see it.
    fn analyzed(&self) -> AnalyzedResource {
        let goal = &self.request.options;
        AnalyzedResource {
            urn: self.urn.clone(),
            properties: self.new.inputs.clone(),
            options: AnalyzedOptions {
                ignore_changes: goal.ignore_changes.clone(),
                delete_before_replace: goal.delete_before_replace,
                timeouts: goal.timeouts,
                ..options(&self.new.record)
            },
            provider: self.deployment.analyzed_provider(&self.new.record.provider),
            ..AnalyzedResource::default()
        }
    }
}

impl Deployment {
    /// Lets every policy pack judge the stack as it is now.
    pub(crate) async fn analyze_stack(self: &Arc<Self>) -> Result<(), Stopped> {
        if self.policies.is_empty() {
            return Ok(());
        }
        let resources = self.stack_resources()?;
        let packs = self.policies.packs();
        let ask = |pack| {
            let pack: &crate::policies::Asked = pack;
            pack.analyzer.analyze_stack(&resources)
        };
        let answers = futures::future::join_all(packs.iter().map(ask)).await;
        let root = self.urn(&Urn::default(), ROOT_STACK_TYPE, &format!("{}-{}", self.project, self.stack));
        let known = |urn: &Urn| self.world().news.contains_key(urn);
        let mut failure = None;
        for (pack, answer) in packs.iter().zip(answers) {
            match answer {
                Ok(answer) => {
                    let question = (PolicyQuestion::AnalyzeStack, pack.analyzer.pack());
                    let of = |violation: &Violation| match known(&violation.urn) {
                        true => violation.urn.clone(),
                        false => root.clone(),
                    };
                    self.policies.tell(self.events(), question, answer, &Urn::default(), of);
                }
                Err(failed) => {
                    let message = format!("failed to run stack policies: {failed}");
                    failure = Some(self.fail(&Urn::default(), message));
                }
            }
        }
        failure.map_or(Ok(()), Err)
    }

    /// Everything that the stack manages, by URN. What is only read is not its own.
    fn stack_resources(&self) -> Result<Vec<AnalyzedResource>, Stopped> {
        let mut known: Vec<Arc<Known>> = self.world().news.values().cloned().collect();
        known.retain(|known| !known.record().external);
        known.sort_by(|a, b| a.urn().cmp(b.urn()));
        known.iter().map(|known| self.stack_resource(known)).collect()
    }

    fn stack_resource(&self, known: &Known) -> Result<AnalyzedResource, Stopped> {
        let state = known.state(&self.vault).map_err(|message| self.fail(known.urn(), message))?;
        let record = &state.record;
        let delete_before_replace = self.monitor.remembered().delete_before_replace(&record.urn);
        let of_properties = record.property_dependencies.iter();
        Ok(AnalyzedResource {
            urn: record.urn.clone(),
            properties: state.outputs.clone(),
            options: AnalyzedOptions { delete_before_replace, ..options(record) },
            provider: self.analyzed_provider(&record.provider),
            dependencies: record.dependencies.clone(),
            property_dependencies: of_properties
                .map(|(key, urns)| (key.clone(), urns.clone().unwrap_or_default()))
                .collect(),
        })
    }

    /// The provider of a reference as policies see it: as it is now, or as it was if the program does not register it.
    fn analyzed_provider(&self, reference: &str) -> Option<AnalyzedProvider> {
        let ProviderReference { urn, .. } = ProviderReference::parse(reference)?;
        let (now, goal, old) = {
            let world = self.world();
            (
                world.news.get(&urn).cloned(),
                world.providers.get(&urn).cloned(),
                world.old_provider(reference).cloned(),
            )
        };
        let open = |known: Arc<Known>| known.state(&self.vault).ok();
        let state: Arc<State> = now.and_then(open).or(goal).or_else(|| old.and_then(open))?;
        let properties: PropertyMap = state.inputs.clone();
        Some(AnalyzedProvider { urn, properties })
    }
}

/// The options of a resource that its state keeps.
pub(crate) fn options(record: &Resource) -> AnalyzedOptions {
    AnalyzedOptions {
        protect: record.protect,
        ignore_changes: record.ignore_changes.clone(),
        delete_before_replace: None,
        additional_secret_outputs: record.additional_secret_outputs.clone(),
        aliases: record.aliases.clone(),
        timeouts: timeouts(record),
        parent: record.parent.clone(),
    }
}

/// The time limits that a state keeps.
fn timeouts(record: &Resource) -> Timeouts {
    let limits = record.custom_timeouts.as_ref();
    let limits = limits.and_then(|json| serde_json::from_str::<serde_json::Value>(json.text()).ok());
    let of = |operation: &str| limits.as_ref().and_then(|limits| limits.get(operation)?.as_f64());
    let seconds = |operation| of(operation).unwrap_or_default();
    Timeouts {
        create: seconds("create"),
        update: seconds("update"),
        delete: seconds("delete"),
        read: seconds("read"),
    }
}

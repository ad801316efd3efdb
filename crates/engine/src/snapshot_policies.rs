//! Policies over a state as it stands: no program, no providers, nothing changes.

use crate::generate::policy::options;
use crate::policies::Policies;
use crate::vault::Vault;
use crate::{
    AnalyzedOptions, AnalyzedProvider, AnalyzedResource, Analyzer, EnforcementLevel, Event, EventSink,
    Failed, PolicyEvent, PolicyQuestion, PropertyMap, State, Violation,
};
use drystone_model::{
    ProviderReference, ROOT_STACK_TYPE, Resource, SECRET_MASK, Secret, Snapshot, Urn, Value, is_provider_type,
};
use drystone_secrets::Sealer;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Lets policy packs judge a state, and says how often mandatory policies are broken. What they would change is told and
/// not done. Without a sealer every secret is its mask.
pub async fn analyze_snapshot(
    snapshot: &Snapshot,
    sealer: Option<Arc<Sealer>>,
    analyzers: Vec<Arc<dyn Analyzer>>,
    events: &dyn EventSink,
) -> Result<usize, Failed> {
    let vault = sealer.map(Vault::new);
    let open = |resource: &Resource| match &vault {
        Some(vault) => vault.open(resource).map_err(Failed),
        None => masked(resource),
    };
    let live = snapshot.resources.iter().filter(|resource| !resource.delete);
    let states: Vec<State> = live.map(open).collect::<Result<_, _>>()?;
    let providers = states.iter().filter(|state| is_provider_type(state.record.urn.type_token()));
    let judged = Judged {
        states: &states,
        providers: providers.map(|state| (&state.record.urn, state)).collect(),
        policies: Policies::new(analyzers),
        events,
    };
    for state in &states {
        judged.resource(state).await?;
    }
    judged.stack().await?;
    judged.policies.cancel().await;
    Ok(judged.policies.mandatory_violations())
}

/// A state with the mask in the place of every secret.
fn masked(resource: &Resource) -> Result<State, Failed> {
    let read = |properties| {
        let read = drystone_dialects::pulumi::properties::decode_properties(properties);
        let mut read: PropertyMap =
            read.map_err(|error| Failed(format!("the state of {} cannot be read: {error}", resource.urn)))?;
        for secret in read.values_mut().flat_map(Value::secrets_mut) {
            *secret = Secret::Open(Box::new(Value::from(SECRET_MASK)));
        }
        Ok(read)
    };
    Ok(State {
        record: resource.clone(),
        inputs: read(&resource.inputs)?,
        outputs: read(&resource.outputs)?,
        ..State::default()
    })
}

struct Judged<'a> {
    states: &'a [State],
    providers: HashMap<&'a Urn, &'a State>,
    policies: Policies,
    events: &'a dyn EventSink,
}

impl Judged<'_> {
    fn send(&self, event: PolicyEvent) {
        self.events.send(Event::Policy(event));
    }

    /// A resource as policies see it, with its inputs or its outputs.
    fn analyzed(&self, state: &State, properties: &PropertyMap) -> AnalyzedResource {
        let record = &state.record;
        let of_properties = record.property_dependencies.iter();
        let provider =
            ProviderReference::parse(&record.provider).and_then(|ProviderReference { urn, .. }| {
                let properties = self.providers.get(&urn)?.inputs.clone();
                Some(AnalyzedProvider { urn, properties })
            });
        AnalyzedResource {
            urn: record.urn.clone(),
            properties: properties.clone(),
            options: AnalyzedOptions { delete_before_replace: None, ..options(record) },
            provider,
            dependencies: record.dependencies.clone(),
            property_dependencies: of_properties
                .map(|(key, urns)| (key.clone(), urns.clone().unwrap_or_default()))
                .collect(),
        }
    }

    async fn resource(&self, state: &State) -> Result<(), Failed> {
        let resource = self.analyzed(state, &state.inputs);
        let urn = &resource.urn;
        for pack in self.policies.packs() {
            let answer = pack.analyzer.remediate(&resource).await;
            let answer = answer.map_err(|failed| Failed(format!("failed to run remediation: {failed}")))?;
            for remediation in answer.remediations {
                self.send(if remediation.diagnostic.is_empty() {
                    PolicyEvent::Remediated {
                        name: remediation.name,
                        urn: urn.clone(),
                        before: resource.properties.clone(),
                        after: remediation.properties,
                    }
                } else {
                    PolicyEvent::Violation(Violation {
                        name: remediation.name,
                        description: remediation.description,
                        message: remediation.diagnostic,
                        level: EnforcementLevel::Advisory,
                        urn: urn.clone(),
                        ..Violation::default()
                    })
                });
            }
        }
        let packs = self.policies.packs();
        let answers = futures::future::join_all(packs.iter().map(|pack| pack.analyze(&resource))).await;
        for (pack, answer) in packs.iter().zip(answers) {
            let answer = answer.map_err(|failed| Failed(format!("failed to run policy: {failed}")))?;
            let question = (PolicyQuestion::Analyze, pack.analyzer.pack());
            self.policies.tell(self.events, question, answer, urn, |_| urn.clone());
        }
        Ok(())
    }

    async fn stack(&self) -> Result<(), Failed> {
        let resources: Vec<_> =
            self.states.iter().map(|state| self.analyzed(state, &state.outputs)).collect();
        let known: HashSet<&Urn> = resources.iter().map(|resource| &resource.urn).collect();
        let root = self.root();
        let packs = self.policies.packs();
        let ask = |pack| {
            let pack: &crate::policies::Asked = pack;
            pack.analyzer.analyze_stack(&resources)
        };
        let answers = futures::future::join_all(packs.iter().map(ask)).await;
        for (pack, answer) in packs.iter().zip(answers) {
            let answer = answer.map_err(|failed| Failed(format!("failed to run stack policy: {failed}")))?;
            let question = (PolicyQuestion::AnalyzeStack, pack.analyzer.pack());
            self.policies.tell(self.events, question, answer, &Urn::default(), |violation| {
                if known.contains(&violation.urn) { violation.urn.clone() } else { root.clone() }
            });
        }
        Ok(())
    }

    /// The stack's own resource, or what it would be called.
    fn root(&self) -> Urn {
        let mut urns = self.states.iter().map(|state| &state.record.urn);
        let first = urns.clone().next();
        let root = urns.find(|urn| urn.qualified_type() == ROOT_STACK_TYPE);
        root.cloned().unwrap_or_else(|| {
            let (stack, project) = first.map_or(("", ""), |urn| (urn.stack(), urn.project()));
            Urn::build(stack, project, "", ROOT_STACK_TYPE, &format!("{project}-{stack}"))
        })
    }
}

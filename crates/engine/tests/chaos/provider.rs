//! Providers of the fake world.

use crate::world::{DiffAnswer, Effect, Fault, Session, World};
use async_trait::async_trait;
use drystone_engine::{
    AppliedState, CheckArguments, CheckFailure, Checked, ConfigureArguments, CreateArguments,
    DeleteArguments, Diff, DiffArguments, DiffKind, PackageDescriptor, Plugins, PropertyDiff, PropertyMap,
    Provider, ProviderError, ReadArguments, ReadState, UpdateArguments,
};
use drystone_model::{Computed, OperationKind, Value};
use std::sync::Arc;

/// Starts providers of one session.
#[derive(Debug)]
pub(crate) struct Starter(pub(crate) Arc<Session>);

#[async_trait]
impl Plugins for Starter {
    async fn load(&self, _: &PackageDescriptor) -> Result<Arc<dyn Provider>, ProviderError> {
        self.0.dawdle().await;
        Ok(Arc::new(FakeProvider(Arc::clone(&self.0))))
    }
}

#[derive(Debug)]
struct FakeProvider(Arc<Session>);

pub(crate) const REFUSAL: &[Fault] = &[Fault::Refused];

/// The keys whose values differ, those of `skipped` left out.
fn changed_keys(old: &PropertyMap, new: &PropertyMap, skipped: &[&str]) -> Vec<String> {
    let mut keys: Vec<String> = old.keys().chain(new.keys()).cloned().collect();
    keys.sort();
    keys.dedup();
    let shown = |map: &PropertyMap, key: &String| map.get(key).map(Value::revealed).unwrap_or_default();
    keys.retain(|key| !skipped.contains(&key.as_str()) && shown(old, key) != shown(new, key));
    keys
}

fn unknown(properties: &PropertyMap) -> bool {
    properties.values().any(Value::contains_unknowns)
}

impl FakeProvider {
    /// A call begins: moments pass, and a call that only asks may be refused.
    async fn ask(&self, what: &str) -> Result<(), ProviderError> {
        self.0.tick();
        self.0.dawdle().await;
        match self.0.fault(REFUSAL) {
            Some(_) => Err(ProviderError::new(format!("a fault in {what}"))),
            None => Ok(()),
        }
    }

    /// Carries an operation on the world out, as well as the session lets it.
    async fn act(
        &self,
        kind: OperationKind,
        urn: &drystone_model::Urn,
        effect: Effect,
        faults: &[Fault],
    ) -> Result<(String, bool), ProviderError> {
        let session = &self.0;
        let ticket = session.start(kind.clone(), urn, effect);
        session.tick();
        session.dawdle().await;
        let fault = session.fault(faults);
        session.say(|| format!("      {} {urn}: {fault:?}", kind.as_str()));
        let message = format!("a fault in {}", kind.as_str());
        match fault {
            Some(Fault::Refused) => {
                session.abandon(ticket);
                session.dawdle().await;
                return Err(ProviderError::new(message));
            }
            Some(Fault::LostUnheard) => {
                session.abandon(ticket);
                session.dawdle().await;
                return Err(ProviderError::unknown(message));
            }
            _ => {}
        }
        let applied = session.take_effect(ticket);
        session.dawdle().await;
        if fault == Some(Fault::DoneUnheard) {
            return Err(ProviderError::unknown(message));
        }
        let id = applied.map_err(ProviderError::new)?;
        Ok((id, fault == Some(Fault::Incomplete)))
    }

    fn refuse_unknowns(&self, what: &str, urn: &drystone_model::Urn, properties: &PropertyMap) {
        if unknown(properties) {
            self.0.wrong(format!("{what} {urn} was given unknown values: {properties:?}"));
        }
    }

    fn applied(
        &self,
        urn: &drystone_model::Urn,
        id: String,
        inputs: &PropertyMap,
        incomplete: bool,
    ) -> AppliedState {
        let behaviour = self.0.world().behaviours.get(urn.type_token()).cloned().unwrap_or_default();
        AppliedState {
            outputs: World::outputs(&id, inputs),
            id,
            inputs: None,
            incomplete: if incomplete { vec!["it is not ready".to_owned()] } else { Vec::new() },
            refresh_before_update: behaviour.refresh_before_update,
        }
    }
}

#[async_trait]
impl Provider for FakeProvider {
    async fn check_config(&self, arguments: CheckArguments) -> Result<Checked, ProviderError> {
        self.0.dawdle().await;
        Ok(Checked { properties: arguments.new_inputs, failures: Vec::new() })
    }

    /// A provider in another region is another one; all else it goes on with.
    async fn diff_config(&self, arguments: DiffArguments) -> Result<Diff, ProviderError> {
        self.0.dawdle().await;
        let changed = changed_keys(&arguments.old_inputs, &arguments.new_inputs, &["version"]);
        let replace_keys = changed.iter().filter(|key| *key == "region").cloned().collect();
        let answer = if changed.is_empty() { Diff::none() } else { Diff::some() };
        Ok(Diff { replace_keys, changed_keys: changed, ..answer })
    }

    async fn configure(&self, _: ConfigureArguments) -> Result<(), ProviderError> {
        self.ask("configure").await
    }

    async fn check(&self, arguments: CheckArguments) -> Result<Checked, ProviderError> {
        self.0.tick();
        self.0.dawdle().await;
        if unknown(&arguments.new_inputs) {
            self.0.note_unknowns();
        }
        if self.0.fault(REFUSAL).is_some() {
            let failure = CheckFailure { property: String::new(), reason: "a fault in check".to_owned() };
            return Ok(Checked { properties: PropertyMap::new(), failures: vec![failure] });
        }
        let mut properties = arguments.new_inputs;
        let mut world = self.0.world();
        let behaviour = world.behaviours.get(arguments.urn.type_token());
        if behaviour.is_some_and(|behaviour| behaviour.makes_names) && !properties.contains_key("name") {
            let name = match arguments.old_inputs.get("name") {
                Some(name) => name.clone(),
                None => Value::String(format!("auto~{}", world.number())),
            };
            properties.insert("name".to_owned(), name);
        }
        Ok(Checked { properties, failures: Vec::new() })
    }

    async fn diff(&self, arguments: DiffArguments) -> Result<Diff, ProviderError> {
        self.ask("diff").await?;
        let behaviour =
            self.0.world().behaviours.get(arguments.urn.type_token()).cloned().unwrap_or_default();
        let changed = changed_keys(&arguments.old_inputs, &arguments.new_inputs, &[]);
        let replaces = |key: &&String| behaviour.replace_keys.contains(&key.as_str());
        let replace_keys: Vec<String> = changed.iter().filter(replaces).cloned().collect();
        let diff = Diff {
            changed_keys: changed.clone(),
            delete_before_replace: behaviour.delete_first,
            ..if changed.is_empty() { Diff::none() } else { Diff::some() }
        };
        Ok(match behaviour.answer {
            DiffAnswer::Silent => Diff::default(),
            DiffAnswer::Keys => Diff { replace_keys, ..diff },
            DiffAnswer::Detailed => {
                let change = |key: &String| {
                    let kind =
                        if replace_keys.contains(key) { DiffKind::UpdateReplace } else { DiffKind::Update };
                    (key.clone(), PropertyDiff { kind, input_diff: true })
                };
                Diff { detailed: Some(changed.iter().map(change).collect()), ..diff }
            }
        })
    }

    async fn create(&self, arguments: CreateArguments) -> Result<AppliedState, ProviderError> {
        let CreateArguments { urn, inputs, dry_run, .. } = arguments;
        if dry_run {
            self.0.dawdle().await;
            let mut outputs = inputs;
            outputs.insert("arn".to_owned(), Value::Computed(Computed::String));
            return Ok(AppliedState { outputs, ..AppliedState::default() });
        }
        self.refuse_unknowns("create", &urn, &inputs);
        let effect = Effect::Create { urn: urn.clone(), properties: inputs.clone() };
        let faults = [Fault::Refused, Fault::DoneUnheard, Fault::LostUnheard, Fault::Incomplete];
        let (id, incomplete) = self.act(OperationKind::Creating, &urn, effect, &faults).await?;
        Ok(self.applied(&urn, id, &inputs, incomplete))
    }

    async fn update(&self, arguments: UpdateArguments) -> Result<AppliedState, ProviderError> {
        let UpdateArguments { urn, id, new_inputs, dry_run, .. } = arguments;
        if dry_run {
            self.0.dawdle().await;
            return Ok(self.applied(&urn, id, &new_inputs, false));
        }
        self.refuse_unknowns("update", &urn, &new_inputs);
        let effect = Effect::Update { id, properties: new_inputs.clone() };
        let faults = [Fault::Refused, Fault::DoneUnheard, Fault::LostUnheard, Fault::Incomplete];
        let (id, incomplete) = self.act(OperationKind::Updating, &urn, effect, &faults).await?;
        Ok(self.applied(&urn, id, &new_inputs, incomplete))
    }

    async fn read(&self, arguments: ReadArguments) -> Result<ReadState, ProviderError> {
        self.ask("read").await?;
        let found = self.0.world().look_up(&arguments.urn, &arguments.id).map_err(ProviderError::new)?;
        let Some((id, thing)) = found else { return Ok(ReadState::default()) };
        let applied = self.applied(&arguments.urn, id, &thing.properties, false);
        Ok(ReadState {
            id: applied.id,
            inputs: Some(thing.properties),
            outputs: Some(applied.outputs),
            incomplete: Vec::new(),
            refresh_before_update: applied.refresh_before_update,
        })
    }

    async fn delete(&self, arguments: DeleteArguments) -> Result<(), ProviderError> {
        let effect = Effect::Delete { id: arguments.id };
        let faults = [Fault::Refused, Fault::DoneUnheard, Fault::LostUnheard];
        self.act(OperationKind::Deleting, &arguments.urn, effect, &faults).await.map(|_| ())
    }
}

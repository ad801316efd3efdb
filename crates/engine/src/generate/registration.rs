//! One registration, from what the program wants to what is done about it.

use super::autonaming::Naming;
use super::check::Refused;
use super::diff::trigger_changed;
use super::replace_on_changes;
use crate::deployment::Deployment;
use crate::execute::{Causes, Create, StepFailure, StepResult, Update};
use crate::known::Known;
use crate::world::{Decision, World};
use crate::{
    Diff, Op, Operation, Provider, ProviderErrorKind, RegisterRequest, Registration, Severity, State,
};
use drystone_model::{Json, Resource, Urn, Value, is_provider_type};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::MutexGuard;

/// What the engine made of a registration.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) result: Registration,
    /// The state; a failed or skipped registration has the one that there would be.
    pub(crate) known: Arc<Known>,
    /// Whether it was not made, so that nothing is known of its outputs.
    pub(crate) unknown: bool,
}

/// One registration while it is decided.
#[derive(Debug)]
pub(crate) struct Registering {
    pub(crate) deployment: Arc<Deployment>,
    pub(crate) request: RegisterRequest,
    pub(crate) urn: Urn,
    pub(crate) new: State,
    pub(crate) provider: Option<Arc<dyn Provider>>,
    pub(crate) seed: [u8; 32],
    pub(crate) naming: Naming,
    pub(crate) delete_before_replace: Option<bool>,
    pub(crate) imported: bool,
    /// Whether a policy changed the inputs.
    pub(crate) remediated: bool,
}

impl Deployment {
    /// Makes a resource what the program wants. The request is resolved: its provider is known, its options are
    /// inherited.
    pub(crate) async fn settle(
        self: &Arc<Self>,
        request: RegisterRequest,
        extension: Option<String>,
    ) -> StepResult<Settled> {
        let parent = request.parent.clone();
        let urn = self.urn(&parent, &request.type_token, &request.name);
        let found = {
            let mut world = self.world();
            if !parent.is_empty() && !world.disposition(&parent).is_seen() {
                drop(world);
                return Err(self.fail(&urn, format!("could not find parent resource {parent}")).into());
            }
            if world.disposition(&urn).registered {
                drop(world);
                let message = format!("Duplicate resource URN '{urn}'; try giving it a unique name");
                return Err(self.fail(&urn, message).into());
            }
            if let Some(stray) = stray_reference(&world, &urn, &request) {
                drop(world);
                let message = match stray == urn {
                    true => format!("resource '{urn}' depends on itself"),
                    false => format!("resource '{urn}' depends on '{stray}', which is not registered"),
                };
                return Err(self.fail(&urn, message).into());
            }
            world.disposition_mut(&urn).registered = true;
            if urn.qualified_type() == drystone_model::ROOT_STACK_TYPE {
                world.root = urn.clone();
            }
            self.find_old(&mut world, &urn, &parent, &request.options.aliases)
        };
        let mut new = goal_state(&urn, &request, found.alias, extension);
        if let Some(old) = &found.old {
            let record = old.record();
            new.record.created.clone_from(&record.created);
            new.record.modified.clone_from(&record.modified);
            new.record.refresh_before_update = record.refresh_before_update;
        }
        if is_provider_type(&request.type_token) {
            let state = Arc::new(new.clone());
            let mut world = self.world();
            world
                .providers
                .extend(new.record.aliases.iter().map(|alias| (alias.clone(), Arc::clone(&state))));
            world.providers.insert(urn.clone(), state);
        }
        if found.contested {
            return Err(self.fail_silently().into());
        }
        let delete_before_replace = request.options.delete_before_replace;
        let seed = self.ledger.seed(&urn).unwrap_or_else(|| self.surroundings.seed());
        let registering = Registering {
            deployment: Arc::clone(self),
            request,
            urn,
            new,
            provider: None,
            seed,
            naming: Naming::default(),
            delete_before_replace,
            imported: false,
            remediated: false,
        };
        registering.go(found.old).await
    }

    /// A resource whose dependency failed is left alone.
    pub(crate) fn skip_after_failure(&self, new: &State, old: Option<&Arc<Known>>) -> Option<Settled> {
        if !self.options.continue_on_error {
            return None;
        }
        let mut world = self.world();
        let failed = |urn: &str| world.disposition(&Urn::new(urn)).failed;
        if !super::target::references(&new.record).any(failed) {
            return None;
        }
        let urn = &new.record.urn;
        world.disposition_mut(urn).failed = true;
        // Its old state must stay, and must not be deleted for being unknown.
        if old.is_some() {
            world.decide(urn, Decision::Same);
        }
        drop(world);
        let known = Known::new(crate::known::Place::Nowhere, Arc::new(new.clone()), None);
        Some(Settled { result: Registration::Skipped, known, unknown: false })
    }
}

/// What a registration may come to is in boxes of its own: most come to nothing, and thousands are under way at once.
impl Registering {
    async fn go(mut self, mut old: Option<Arc<Known>>) -> StepResult<Settled> {
        let deployment = Arc::clone(&self.deployment);
        if let Some(skipped) = deployment.skip_after_failure(&self.new, old.as_ref()) {
            return Ok(skipped);
        }
        if let Some(known) = &old
            && deployment.refreshes_with_program(known)
        {
            old = match Box::pin(self.refresh(Arc::clone(known))).await {
                Ok(found) => found,
                Err(failure) => return self.kept(old.as_ref(), failure),
            };
        }
        match deployment.options.operation {
            Operation::Refresh => {
                if let Some(settled) = Box::pin(self.only_refresh(old.as_ref())).await? {
                    return Ok(settled);
                }
            }
            Operation::Destroy => {
                if let Some(settled) = Box::pin(self.only_keep(old.as_ref())).await? {
                    return Ok(settled);
                }
            }
            Operation::Update | Operation::Import => {}
        }
        let record = &self.new.record;
        self.provider = match deployment.manager(&self.urn, record.custom, &record.provider).await {
            Ok(provider) => provider,
            Err(error) => return self.failed(error.message),
        };
        if self.is_import(old.as_ref()) {
            deployment.refuse_missing_dependencies(&self.new.record)?;
            old = match Box::pin(self.import(old.clone())).await {
                Ok(known) => Some(known),
                Err(failure) => return self.kept(old.as_ref(), failure),
            };
        }
        self.decide(old).await
    }

    /// Whether the program asks to take over something that the stack does not have yet.
    fn is_import(&self, old: Option<&Arc<Known>>) -> bool {
        let wanted = &self.request.options.import_id;
        if !self.request.custom || wanted.is_empty() {
            return false;
        }
        let Some(record) = old.map(|old| old.record()) else { return true };
        let had = if record.import_id.is_empty() { &record.id } else { &record.import_id };
        record.external || had != wanted
    }

    async fn import(&mut self, old: Option<Arc<Known>>) -> StepResult {
        let deployment = Arc::clone(&self.deployment);
        let Some(provider) = self.provider.clone() else {
            return Err(deployment.fail(&self.urn, "a component cannot be imported").into());
        };
        let recreating = {
            let mut world = deployment.world();
            world.disposition_mut(&self.urn).imported = true;
            world.is_deleted(&self.urn)
        };
        let replaces = old.filter(|_| !recreating);
        self.admit_import(if replaces.is_some() { Op::ImportReplacement } else { Op::Import })?;
        let known = deployment.import(self.new.clone(), replaces.clone(), provider).await?;
        if let Some(old) = &replaces {
            let state =
                known.state(&deployment.vault).map_err(|message| deployment.fail(&self.urn, message))?;
            deployment.announce_replace(old, &state, Causes::default(), true);
        }
        self.imported = true;
        self.new.record.created.clone_from(&known.record().created);
        self.new.record.modified.clone_from(&known.record().modified);
        self.new.record.refresh_before_update = known.record().refresh_before_update;
        self.new.replacement_trigger = Value::Null;
        Ok(known)
    }

    /// Checks the inputs, compares them with what there is, and does what follows.
    async fn decide(mut self, old: Option<Arc<Known>>) -> StepResult<Settled> {
        let deployment = Arc::clone(&self.deployment);
        let before = match &old {
            Some(old) => match old.state(&deployment.vault) {
                Ok(state) => Some(state),
                Err(message) => return Err(deployment.fail(&self.urn, message).into()),
            },
            None => None,
        };
        let targeted = deployment.is_targeted(&deployment.world(), &self.new.record);
        if self.request.custom {
            self.naming = deployment.naming(&self.urn, &self.seed);
            if self.naming.fixed {
                self.delete_before_replace = Some(true);
            }
        }
        if let Some(before) = &before {
            let paths = &self.request.options.ignore_changes;
            self.new.inputs = deployment.ignore_changes(&self.urn, &self.new.inputs, &before.inputs, paths);
        }
        let going = deployment.world().is_deleted(&self.urn);
        let was_external = before.as_ref().is_some_and(|before| before.record.external);
        let afresh = going
            || was_external
            || before.is_none()
            || deployment.is_replace_target(&self.urn, before.as_ref().map(|before| &before.record));
        if self.provider.is_some() {
            let old_inputs = before.as_ref().map(|before| before.inputs.clone()).unwrap_or_default();
            let checked = if !targeted {
                Ok(old_inputs)
            } else if afresh {
                self.check(crate::PropertyMap::new(), self.request.properties.clone()).await
            } else {
                self.check(old_inputs, self.new.inputs.clone()).await
            };
            match checked {
                Ok(inputs) => self.new.inputs = inputs,
                Err(Refused::Told) => return self.invalid(),
                Err(Refused::Completed(inputs)) => {
                    // What policies have to say of it is told, too.
                    self.new.inputs = inputs;
                    let _ = self.apply_policies().await;
                    return self.invalid();
                }
            }
        }
        self.admit_goal(before.as_deref(), afresh)?;
        if self.apply_policies().await.is_err() {
            return self.invalid();
        }
        let diff = match &before {
            Some(before) if targeted && !going && !was_external => match self.difference(before).await? {
                Ok(diff) => Some(diff),
                Err(message) => return self.failed(message),
            },
            _ => None,
        };
        // From here to the decision nothing else is decided.
        let deciding = loop {
            let deciding = deployment.deciding.lock().await;
            let leaving = |old: &&Arc<Known>| deployment.world().leaving.contains(old.urn());
            let Some(leaving) = old.as_ref().filter(leaving) else { break deciding };
            // Whether it has to be made anew is known when its deletion has ended.
            drop(deciding);
            deployment.until_left(leaving.urn()).await;
            if deployment.is_stopping() {
                return Err(StepFailure::Stopped);
            }
        };
        deployment.grow_targets(&self.new.record, targeted);
        // Something else that was decided meanwhile may have deleted it.
        let recreating = deployment.world().is_deleted(&self.urn);
        if going && !recreating {
            // It was to be deleted, and that failed, which was told: it stays as it is.
            deployment.world().mark_failed(&self.urn);
            return settled(&deployment, Err(StepFailure::Failed), self.new);
        }
        if targeted || recreating {
            deployment.refuse_missing_dependencies(&self.new.record)?;
        }
        let Some(old) = old else {
            drop(deciding);
            return Box::pin(self.create(targeted)).await;
        };
        if recreating && !was_external {
            let keys = {
                let mut world = deployment.world();
                world.disposition_mut(&self.urn).deleted = false;
                world.disposition_mut(old.urn()).deleted = false;
                world.decide(&self.urn, Decision::Replace);
                world.dependent_keys.get(old.urn()).cloned().unwrap_or_default()
            };
            deployment.admit(&[(&self.urn, Op::Replace), (&self.urn, Op::CreateReplacement)])?;
            drop(deciding);
            let causes = Causes { replace_keys: keys, ..Causes::default() };
            return Box::pin(self.create_replacement(old, causes, false)).await;
        }
        if was_external && targeted {
            deployment.refuse_out_of_turn(&old, &self.new.record, true)?;
            deployment.world().decide(&self.urn, Decision::Create);
            deployment.admit(&[(&self.urn, Op::CreateReplacement), (&self.urn, Op::Replace)])?;
            drop(deciding);
            return Box::pin(self.create_replacement(old, Causes::default(), true)).await;
        }
        if !targeted {
            deployment.admit(&[(&self.urn, Op::Same)])?;
            return self.leave(old, deciding).await;
        }
        let Some((diff, triggered)) = diff else {
            return Err(deployment.fail(&self.urn, "nothing was compared").into());
        };
        let pending = old.record().pending_replacement;
        let changes = diff.changes == crate::DiffChanges::Some || pending;
        let replaces = changes && (diff.is_replace() || triggered || pending);
        deployment.refuse_out_of_turn(&old, &self.new.record, replaces)?;
        if replaces {
            return Box::pin(self.replace(old, diff, deciding)).await;
        }
        if changes || !old.record().init_errors.is_empty() {
            deployment.admit(&[(&self.urn, Op::Update)])?;
            deployment.world().decide(&self.urn, Decision::Update);
            drop(deciding);
            let Self { new, provider, .. } = self;
            let fallback = new.clone();
            let step = Update { old, new, causes: Causes::from(&diff), provider };
            return settled(&deployment, Box::pin(deployment.update(step)).await, fallback);
        }
        if self.imported {
            deployment.world().decide(&self.urn, Decision::Same);
            drop(deciding);
            return Ok(done(old));
        }
        deployment.admit(&[(&self.urn, Op::Same)])?;
        deployment.world().decide(&self.urn, Decision::Same);
        let views = deployment.world().views_of(&self.urn);
        for view in &views {
            deployment.world().decide(view.urn(), Decision::Same);
        }
        drop(deciding);
        let fallback = self.new.clone();
        let kept = deployment.same(old, self.new).await;
        if kept.is_ok() {
            for view in views {
                deployment.carry_over(view).await?;
            }
        }
        settled(&deployment, kept, fallback)
    }

    /// What the new inputs mean, and whether the replacement trigger changed. The inner error fails the resource.
    #[allow(clippy::type_complexity)]
    async fn difference(&self, before: &Arc<State>) -> StepResult<Result<(Diff, bool), String>> {
        let deployment = &self.deployment;
        if !deployment.options.dry_run && self.new.replacement_trigger.contains_unknowns() {
            let message = format!("replacement trigger contains unknowns for {}", self.urn);
            return Err(deployment.fail(&self.urn, message).into());
        }
        let triggered = trigger_changed(&before.replacement_trigger, &self.new.replacement_trigger);
        let diff = if triggered { Ok(Diff::some()) } else { self.diff(before).await };
        let diff = match diff {
            Ok(diff) => diff,
            Err(error) if error.kind == ProviderErrorKind::DiffUnavailable => {
                deployment.warn(&self.urn, error.message);
                Diff::some()
            }
            Err(error) => return Ok(Err(error.message)),
        };
        let paths = &self.request.options.replace_on_changes;
        let had_errors = !before.record.init_errors.is_empty();
        Ok(replace_on_changes::apply(diff, paths, had_errors).map(|diff| (diff, triggered)))
    }

    /// Makes the resource, or leaves it out when the operation is not about it.
    async fn create(self, targeted: bool) -> StepResult<Settled> {
        let deployment = Arc::clone(&self.deployment);
        deployment.admit(&[(&self.urn, if targeted { Op::Create } else { Op::Same })])?;
        if !targeted {
            return self.skip_create().await;
        }
        deployment.world().decide(&self.urn, Decision::Create);
        let Self { new, provider, .. } = self;
        let fallback = new.clone();
        let step = Create { new, replaces: None, causes: Causes::default(), provider };
        settled(&deployment, deployment.create(step).await, fallback)
    }

    /// Leaves the resource out of this run.
    pub(crate) async fn skip_create(self) -> StepResult<Settled> {
        self.deployment.world().decide(&self.urn, Decision::SkippedCreate);
        let known = self.deployment.skip_create(self.new).await?;
        Ok(Settled { result: Registration::Done, known, unknown: true })
    }

    /// Leaves the old state as it is: the operation is not about it.
    async fn leave(&self, old: Arc<Known>, deciding: MutexGuard<'_, ()>) -> StepResult<Settled> {
        let deployment = &self.deployment;
        if !old.record().provider.is_empty() && deployment.registry.get(&old.record().provider).is_none() {
            let provider = &old.record().provider;
            let message = format!(
                "provider {provider} for resource {} has not been registered yet, this is due to a change of providers mixed with --target. Change your program back to the original providers",
                self.urn
            );
            return Err(deployment.fail(&self.urn, message).into());
        }
        {
            let mut world = deployment.world();
            world.decide(&self.urn, Decision::Same);
            world.disposition_mut(&self.urn).left = true;
            let disposition = world.disposition_mut(old.urn());
            disposition.decision = Some(Decision::Same);
            disposition.carried = true;
        }
        drop(deciding);
        Ok(done(deployment.leave(old).await?))
    }

    /// A step that had to come first failed: the old state stays as it is.
    fn kept(self, old: Option<&Arc<Known>>, failure: StepFailure) -> StepResult<Settled> {
        if old.is_some() {
            self.deployment.world().decide(&self.urn, Decision::Same);
        }
        settled(&self.deployment, Err(failure), self.new)
    }

    /// The resource cannot be what the program wants; people were told. What is wrong is the program, so the operation
    /// ends even if it is to go on after errors.
    pub(crate) fn invalid(self) -> StepResult<Settled> {
        Err(self.deployment.fail_silently().into())
    }

    /// The same, saying why.
    pub(crate) fn failed(self, message: impl Into<String>) -> StepResult<Settled> {
        self.deployment.diagnose(&self.urn, Severity::Error, message);
        self.invalid()
    }
}

/// A resource that is named as a dependency and that nobody knows: the resource itself, or one that neither the
/// program has registered nor the state holds. No snapshot can hold such a reference.
fn stray_reference(world: &World, urn: &Urn, request: &RegisterRequest) -> Option<Urn> {
    let options = &request.options;
    let of_properties = request.property_dependencies.values().flatten();
    let named = request.dependencies.iter().chain(of_properties).chain(&options.replace_with);
    let named = named.chain(Some(&options.deleted_with)).filter(|named| !named.is_empty());
    let known = |named: &Urn| {
        named != urn
            && (world.disposition(named).is_seen()
                || world.by_urn.contains_key(named)
                || world.aliased.contains_key(named)
                || world.news.contains_key(named)
                || world.vanished.contains(named))
    };
    named.into_iter().find(|named| !known(named)).cloned()
}

/// What the program is told of a step.
pub(crate) fn settled(deployment: &Deployment, outcome: StepResult, fallback: State) -> StepResult<Settled> {
    match outcome {
        Ok(known) => Ok(done(known)),
        Err(StepFailure::Failed) if deployment.options.continue_on_error => {
            let known = Known::new(crate::known::Place::Nowhere, Arc::new(fallback), None);
            Ok(Settled { result: Registration::Failed, known, unknown: false })
        }
        Err(failure) => Err(failure),
    }
}

pub(crate) fn done(known: Arc<Known>) -> Settled {
    Settled { result: Registration::Done, known, unknown: false }
}

/// The state that the program wants.
pub(super) fn goal_state(
    urn: &Urn,
    request: &RegisterRequest,
    alias: Option<Urn>,
    extension: Option<String>,
) -> State {
    let options = &request.options;
    let property_dependencies =
        request.property_dependencies.iter().map(|(key, urns)| (key.clone(), Some(urns.clone()))).collect();
    let record = Resource {
        urn: urn.clone(),
        custom: request.custom,
        type_token: request.type_token.clone(),
        parent: request.parent.clone(),
        protect: options.protect.unwrap_or_default(),
        dependencies: request.dependencies.clone(),
        provider: request.provider.clone(),
        property_dependencies,
        additional_secret_outputs: options.additional_secret_outputs.clone(),
        aliases: alias.into_iter().collect(),
        custom_timeouts: timeouts(options.timeouts),
        import_id: options.import_id.clone(),
        retain_on_delete: options.retain_on_delete.unwrap_or_default(),
        deleted_with: options.deleted_with.clone(),
        replace_with: options.replace_with.clone(),
        source_position: request.source_position.clone(),
        stack_trace: request.stack_trace.clone(),
        ignore_changes: options.ignore_changes.clone(),
        hide_diff: options.hide_diffs.iter().filter_map(|path| hidden(path)).collect(),
        replace_on_changes: options.replace_on_changes.clone(),
        resource_hooks: options
            .hooks
            .iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(moment, names)| (moment.as_str().to_owned(), names.clone()))
            .collect(),
        extension_ref: extension.unwrap_or_default(),
        ..Resource::default()
    };
    State {
        record,
        inputs: request.properties.clone(),
        outputs: BTreeMap::new(),
        replacement_trigger: options.replacement_trigger.clone().unwrap_or_default(),
    }
}

/// Time limits as the state keeps them: seconds by operation, or nothing.
fn timeouts(limits: crate::Timeouts) -> Option<Json> {
    let set: Vec<(&str, f64)> = [
        ("create", limits.create),
        ("update", limits.update),
        ("delete", limits.delete),
        ("read", limits.read),
    ]
    .into_iter()
    .filter(|(_, seconds)| *seconds != 0.0)
    .collect();
    if set.is_empty() {
        return None;
    }
    let mut object = serde_json::Map::new();
    for (operation, seconds) in set {
        // Whole seconds are written without a fraction.
        let number = if seconds.fract() == 0.0 {
            serde_json::json!(seconds as i64)
        } else {
            serde_json::json!(seconds)
        };
        object.insert(operation.to_owned(), number);
    }
    Json::from_serialize(&object).ok()
}

/// A path that diffs leave out, as the state keeps it: a list of keys and indexes.
fn hidden(path: &str) -> Option<Json> {
    let path = drystone_model::PropertyPath::parse(path).ok()?;
    Json::from_serialize(&path).ok()
}

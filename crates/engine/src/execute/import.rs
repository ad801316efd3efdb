//! Taking over something that exists: as the `import` option asks, or as the user does without a program.

use super::update::Recording;
use super::views::During;
use super::{Causes, StepResult, moment, protect_outputs};
use crate::deployment::Deployment;
use crate::known::Known;
use crate::recorder::Success;
use crate::secrecy::{hide, keep_secret};
use crate::{
    CheckArguments, Op, PropertyMap, Provider, ProviderError, ReadArguments, ReadState, Severity, State,
};
use drystone_model::{ROOT_STACK_TYPE, Urn};
use std::sync::Arc;

/// Something that the user named.
#[derive(Debug)]
pub(crate) struct TakeOver {
    /// What the user says of it. Where there are outputs, they are all of it, and its provider is not asked.
    pub(crate) new: State,
    pub(crate) seed: [u8; 32],
}

impl Deployment {
    /// Reads what is to be taken over and records it. What the program wants of it is decided afterwards.
    pub(crate) async fn import(
        self: &Arc<Self>,
        mut new: State,
        replaces: Option<Arc<Known>>,
        provider: Arc<dyn Provider>,
    ) -> StepResult {
        let op = if replaces.is_some() { Op::ImportReplacement } else { Op::Import };
        let running =
            self.start(op, replaces.as_ref(), Some(Arc::new(new.clone())), Causes::default()).await?;
        let token = self.views.reserve(self.surroundings.uuid().to_string());
        let arguments = ReadArguments {
            urn: new.record.urn.clone(),
            id: new.record.import_id.clone(),
            timeout: super::timeout(&new.record, "read"),
            status_token: token.clone(),
            ..ReadArguments::default()
        };
        let found = match found(provider.read(arguments).await, &new) {
            Ok(found) => found,
            Err(error) => {
                self.views.release(&token);
                return Err(running.doubting(&error).failed(error.message));
            }
        };
        found.put_into(&mut new);
        new.record.created = Some(moment(self));
        new.record.modified.clone_from(&new.record.created);
        protect_outputs(self, &mut new);
        let new = Arc::new(new);
        let known = match self.record_import(&new, replaces.as_ref()).await {
            Ok(known) => known,
            Err(Recording::Unwritable(message)) => return Err(running.failed(message)),
            Err(Recording::Lost(error)) => return Err(running.unrecorded(&error)),
        };
        let mut running = running;
        if let Some(old) = replaces {
            self.supersede(&old).await?;
            running = running.superseding();
        }
        running.done(Some(Arc::clone(&new)));
        self.show_views(&token, &new.record.urn, During::Change).await?;
        Ok(known)
    }

    /// Takes over what the user named. Its inputs are what there is.
    pub(crate) async fn take_over(self: &Arc<Self>, step: TakeOver) -> StepResult {
        let TakeOver { mut new, seed } = step;
        let running = self.start(Op::Import, None, Some(Arc::new(new.clone())), Causes::default()).await?;
        if let Some(message) = self.objection(&new) {
            return Err(running.failed(message));
        }
        let token = self.views.reserve(self.surroundings.uuid().to_string());
        let looked = self.look_at(&mut new, &token, seed).await;
        if let Err(error) = looked {
            self.views.release(&token);
            return Err(running.doubting(&error).failed(error.message));
        }
        new.record.import_id.clear();
        new.record.created = Some(moment(self));
        new.record.modified.clone_from(&new.record.created);
        protect_outputs(self, &mut new);
        let new = Arc::new(new);
        let known = match self.record_import(&new, None).await {
            Ok(known) => known,
            Err(Recording::Unwritable(message)) => return Err(running.failed(message)),
            Err(Recording::Lost(error)) => return Err(running.unrecorded(&error)),
        };
        self.world().disposition_mut(&new.record.urn).registered = true;
        running.done(Some(Arc::clone(&new)));
        self.show_views(&token, &new.record.urn, During::Change).await?;
        Ok(known)
    }

    /// Why something cannot be taken over at all.
    fn objection(&self, new: &State) -> Option<String> {
        let (urn, parent) = (&new.record.urn, &new.record.parent);
        let world = self.world();
        if world.old(urn).is_some() {
            return Some(format!("resource '{urn}' already exists"));
        }
        let is_known = parent.qualified_type() == ROOT_STACK_TYPE || world.news.contains_key(parent);
        (!is_known).then(|| format!("unknown parent '{parent}' for resource '{urn}'"))
    }

    /// Completes a state by what its provider says of it, and lets the provider check it.
    async fn look_at(
        self: &Arc<Self>,
        new: &mut State,
        token: &str,
        seed: [u8; 32],
    ) -> Result<(), ProviderError> {
        let urn = new.record.urn.clone();
        let Some(provider) = self.manager(&urn, new.record.custom, &new.record.provider).await? else {
            return Ok(());
        };
        if new.outputs.is_empty() {
            let arguments = ReadArguments {
                urn: urn.clone(),
                id: new.record.import_id.clone(),
                status_token: token.to_owned(),
                ..ReadArguments::default()
            };
            let found = found(provider.read(arguments).await, new)?;
            let supplied = std::mem::take(&mut new.inputs);
            found.put_into(new);
            supply(&mut new.inputs, supplied);
        } else {
            new.record.id.clone_from(&new.record.import_id);
        }
        let arguments = CheckArguments {
            urn: urn.clone(),
            old_inputs: new.inputs.clone(),
            new_inputs: new.inputs.clone(),
            seed: seed.to_vec(),
            autonaming: None,
            dry_run: self.options.dry_run,
        };
        let checked = provider.check(arguments).await?;
        if !checked.failures.is_empty() {
            let package = package_of(&urn);
            let message = format!(
                "One or more imported inputs failed to validate. This is almost certainly a bug in the `{package}` \
                 provider. The import will still proceed, but you will need to edit the generated code after copying \
                 it into your program."
            );
            self.warn(&urn, message);
        }
        for failure in &checked.failures {
            self.tell_check_failure(&urn, &new.inputs, failure, Severity::Warning);
        }
        Ok(())
    }

    /// Writes down what was taken over.
    async fn record_import(
        &self,
        new: &Arc<State>,
        replaces: Option<&Arc<Known>>,
    ) -> Result<Arc<Known>, Recording> {
        let sealed = match self.recorder.is_recording() {
            true => Some(self.vault.seal(new, None).map_err(Recording::Unwritable)?),
            false => None,
        };
        let success = Success {
            state: sealed.as_ref().map(|sealed| sealed.resource.clone()),
            delete: replaces.map(|old| old.place),
            byte_strings: sealed.as_ref().is_some_and(|sealed| sealed.byte_strings),
            ..Success::default()
        };
        let place = self.recorder.adjust(success).await.map_err(Recording::Lost)?;
        let known = Known::new(place, Arc::clone(new), sealed.map(|sealed| sealed.resource));
        self.remember(&known);
        Ok(known)
    }
}

/// What a provider says of something that exists.
struct Found {
    state: ReadState,
    inputs: PropertyMap,
    outputs: PropertyMap,
}

impl Found {
    fn put_into(self, new: &mut State) {
        let Self { state, mut inputs, outputs } = self;
        // What the program calls secret is.
        keep_secret(&mut inputs, &new.inputs);
        new.record.id = if state.id.is_empty() { new.record.import_id.clone() } else { state.id };
        new.record.init_errors = state.incomplete;
        new.record.refresh_before_update = state.refresh_before_update;
        (new.inputs, new.outputs) = (inputs, outputs);
    }
}

/// What a provider's answer says, or why there is nothing to take over.
fn found(answer: Result<ReadState, ProviderError>, new: &State) -> Result<Found, ProviderError> {
    let mut state = answer?;
    let outputs = state.outputs.take();
    let missing = || ProviderError::new(format!("resource '{}' does not exist", new.record.import_id));
    let outputs = outputs.ok_or_else(missing)?;
    let inputs = state.inputs.take();
    let inputs = inputs.ok_or_else(|| ProviderError::new(cannot_import(&new.record.urn)))?;
    Ok(Found { state, inputs, outputs })
}

/// Adds inputs that the user supplied where the provider has none. What the user calls secret is.
fn supply(inputs: &mut PropertyMap, supplied: PropertyMap) {
    for (key, value) in supplied {
        match inputs.get_mut(&key).filter(|found| !found.is_null()) {
            None => {
                inputs.insert(key, value);
            }
            Some(found) if value.contains_secrets() && !found.contains_secrets() => {
                hide(found);
            }
            Some(_) => {}
        }
    }
}

fn package_of(urn: &Urn) -> &str {
    urn.type_token().split(':').next().unwrap_or_default()
}

fn cannot_import(urn: &Urn) -> String {
    let package = package_of(urn);
    format!("provider does not support importing resources; please try updating the '{package}' plugin")
}

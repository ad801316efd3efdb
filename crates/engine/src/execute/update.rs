//! Changing a resource.

use super::create::{unready, unready_words};
use super::hooks::Sides;
use super::views::During;
use super::{Causes, StepResult, explain, moment, protect_outputs};
use crate::deployment::Deployment;
use crate::known::Known;
use crate::recorder::Success;
use crate::{HookMoment, Op, Provider, ProviderErrorKind, State, UpdateArguments};
use drystone_model::{OperationKind, is_provider_type};
use std::sync::Arc;

/// A resource to be changed.
#[derive(Debug)]
pub(crate) struct Update {
    pub(crate) old: Arc<Known>,
    pub(crate) new: State,
    pub(crate) causes: Causes,
    /// What changes it; nothing for a component.
    pub(crate) provider: Option<Arc<dyn Provider>>,
}

impl Deployment {
    pub(crate) async fn update(self: &Arc<Self>, step: Update) -> StepResult {
        let Update { old, mut new, causes, provider } = step;
        let before = match old.state(&self.vault) {
            Ok(state) => state,
            Err(message) => return Err(self.fail(old.urn(), message).into()),
        };
        new.record.id.clone_from(&before.record.id);
        new.record.created.clone_from(&before.record.created);
        new.record.modified.clone_from(&before.record.modified);
        let mut running = self.start(Op::Update, Some(&old), Some(Arc::new(new.clone())), causes).await?;
        let sides = Sides { old: Some(&before), new: Some(&new), applied: false };
        if let Err(message) = self.run_hooks(HookMoment::BeforeUpdate, sides).await {
            return Err(running.failed(message));
        }
        let effect = provider.is_some() && !is_provider_type(new.record.urn.type_token());
        let begun = if effect && self.recorder.is_recording() {
            let sealed = match self.vault.seal(&new, Some(&old)) {
                Ok(sealed) => sealed,
                Err(message) => return Err(running.failed(message)),
            };
            match self.recorder.begin(OperationKind::Updating, sealed.resource).await {
                Ok(begun) => Some(begun),
                Err(error) => return Err(running.unrecorded(&error)),
            }
        } else {
            None
        };
        let mut incomplete = Vec::new();
        let mut published = None;
        if let Some(provider) = provider {
            let token = self.views.reserve(self.surroundings.uuid().to_string());
            let answered = running
                .with_retries(
                    "update",
                    sides,
                    || {
                        let arguments = UpdateArguments {
                            urn: new.record.urn.clone(),
                            id: before.record.id.clone(),
                            old_inputs: before.inputs.clone(),
                            old_outputs: before.outputs.clone(),
                            new_inputs: new.inputs.clone(),
                            ignore_changes: new.record.ignore_changes.clone(),
                            timeout: super::timeout(&new.record, "update"),
                            dry_run: self.options.dry_run,
                            status_token: token.clone(),
                            old_views: self.open_views(&new.record.urn, During::Change),
                        };
                        provider.update(arguments)
                    },
                    unready_words,
                )
                .await;
            let applied = match answered {
                Ok(applied) => applied,
                Err(error) => {
                    if let Some(begun) = begun.filter(|_| error.kind != ProviderErrorKind::Unknown)
                        && let Err(error) = self.recorder.fail(begun).await
                    {
                        return Err(running.unrecorded(&error));
                    }
                    // Views stand after their owner, so it moves to where they will be.
                    if self.has_views(&token)
                        && let Err(Recording::Lost(error)) = self.replace_state(&old, before, None).await
                    {
                        return Err(running.unrecorded(&error));
                    }
                    let shown = self.show_views(&token, old.urn(), During::Change).await;
                    let failed = running.doubting(&error).failed(explain(&error, "the update"));
                    return Err(shown.err().unwrap_or(failed));
                }
            };
            new.outputs = applied.outputs;
            new.record.refresh_before_update = applied.refresh_before_update;
            incomplete = applied.incomplete;
            new.record.init_errors.clone_from(&incomplete);
            published = Some(token);
            new.record.modified = Some(moment(self));
        } else {
            // A component's outputs are what the program says next.
            new.record.modified.clone_from(&before.record.modified);
        }
        if incomplete.is_empty() {
            running.leave_the_world();
        } else {
            // The next run must see that its inputs still differ.
            new.inputs.clone_from(&before.inputs);
        }
        protect_outputs(self, &mut new);
        let new = Arc::new(new);
        let known = match self.replace_state(&old, Arc::clone(&new), begun).await {
            Ok(known) => known,
            Err(Recording::Unwritable(message)) => return Err(running.failed(message)),
            Err(Recording::Lost(error)) => return Err(running.unrecorded(&error)),
        };
        if !incomplete.is_empty() {
            let shown = self.show_published(published, &new.record.urn, During::Change).await;
            let failed = running.failed(unready(&incomplete));
            return Err(shown.err().unwrap_or(failed));
        }
        if new.record.custom {
            let sides = Sides { old: Some(&before), new: Some(&new), applied: true };
            self.run_hooks_after(HookMoment::AfterUpdate, sides).await;
        }
        running.done(Some(Arc::clone(&new)));
        self.show_published(published, &new.record.urn, During::Change).await?;
        Ok(known)
    }

    /// Records that a state took the place of another, and remembers it.
    pub(crate) async fn replace_state(
        &self,
        old: &Arc<Known>,
        new: Arc<State>,
        begun: Option<crate::recorder::Begun>,
    ) -> Result<Arc<Known>, Recording> {
        let sealed = if self.recorder.is_recording() {
            Some(self.vault.seal(&new, Some(old)).map_err(Recording::Unwritable)?)
        } else {
            None
        };
        let unchanged = sealed.as_ref().is_some_and(|sealed| old.sealed() == Some(&sealed.resource));
        let success = Success {
            state: sealed.as_ref().map(|sealed| sealed.resource.clone()),
            remove: Some(old.place),
            byte_strings: sealed.as_ref().is_some_and(|sealed| sealed.byte_strings),
            ..Success::default()
        };
        let recorded = match begun {
            Some(begun) => self.recorder.succeed(begun, success).await,
            None if unchanged => self.recorder.keep(success).await,
            None => self.recorder.adjust(success).await,
        };
        let known = Known::new(recorded.map_err(Recording::Lost)?, new, sealed.map(|sealed| sealed.resource));
        self.remember(&known);
        Ok(known)
    }
}

/// Why a state could not be recorded.
#[derive(Debug)]
pub(crate) enum Recording {
    /// It has no written form.
    Unwritable(String),
    /// The journal is lost.
    Lost(crate::JournalError),
}

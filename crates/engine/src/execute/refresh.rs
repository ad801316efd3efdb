//! Bringing the state of a resource up to what there is.

use super::update::Recording;
use super::views::During;
use super::{Causes, Running, StepFailure, StepResult, moment, protect_outputs};
use crate::deployment::Deployment;
use crate::generate::diff::{compare, invert};
use crate::known::Known;
use crate::recorder::Success;
use crate::secrecy::keep_secret;
use crate::{DiffChanges, Op, ReadArguments, ReadState, State};
use drystone_model::{Value, is_provider_type};
use std::sync::Arc;

/// On whose behalf a resource is refreshed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RefreshFor<'a> {
    /// Before everything else. One that fails does not keep the others from being refreshed.
    All,
    /// After the program, which did not name it.
    Rest,
    /// The program registers it: its state moves to its place among what the program registers, with what the program
    /// says of it besides its values.
    Program(&'a State),
}

impl RefreshFor<'_> {
    fn during(self) -> During {
        match self {
            Self::Program(_) => During::MovingRefresh,
            Self::All | Self::Rest => During::Refresh,
        }
    }

    fn fail(self, running: Running<'_>, message: impl Into<String>) -> StepFailure {
        match self {
            Self::All => running.failed_alone(message),
            Self::Rest | Self::Program(_) => running.failed(message),
        }
    }
}

impl Deployment {
    /// Reads a resource and records what was found. Gives the state as it is now; nothing when it is gone.
    pub(crate) async fn refresh(
        self: &Arc<Self>,
        old: Arc<Known>,
        purpose: RefreshFor<'_>,
    ) -> StepResult<Option<Arc<Known>>> {
        let before = match old.state(&self.vault) {
            Ok(state) => state,
            Err(message) => return Err(self.fail(old.urn(), message).into()),
        };
        let record = &before.record;
        let reads_nothing = !record.custom || is_provider_type(record.urn.type_token());
        if reads_nothing && matches!(purpose, RefreshFor::Program(_)) {
            // The program's own step tells of it.
            return Ok(Some(old));
        }
        let mut running =
            self.start(Op::Refresh, Some(&old), Some(Arc::clone(&before)), Causes::default()).await?;
        if reads_nothing || record.pending_replacement {
            running.event.result = Some(Op::Same);
            running.done(Some(before));
            return Ok(Some(old));
        }
        let provider = match self.provider(&record.urn, &record.provider).await {
            Ok(provider) => provider,
            Err(error) => return Err(purpose.fail(running, error.message)),
        };
        if let Err(message) = self.extend_from_state(record).await {
            return Err(purpose.fail(running, message));
        }
        let token = self.views.reserve(self.surroundings.uuid().to_string());
        let arguments = ReadArguments {
            urn: record.urn.clone(),
            id: record.id.clone(),
            inputs: before.inputs.clone(),
            outputs: before.outputs.clone(),
            timeout: super::timeout(record, "read"),
            status_token: token.clone(),
            old_views: self.open_views(&record.urn, purpose.during()),
        };
        let mut found = match provider.read(arguments).await {
            Ok(found) => found,
            Err(error) => {
                self.views.release(&token);
                return Err(purpose.fail(running.doubting(&error), error.message));
            }
        };
        let Some(outputs) = found.outputs.take().filter(|_| !found.id.is_empty()) else {
            self.show_views(&token, &record.urn, purpose.during()).await?;
            self.drop_views(&record.urn, During::Refresh).await?;
            if let Err(error) = self.recorder.refreshed(old.place, None, false, false).await {
                return Err(running.unrecorded(&error));
            }
            running.event.result = Some(Op::Delete);
            running.done(None);
            return Ok(None);
        };
        if !found.incomplete.is_empty() {
            let list: String = found.incomplete.iter().map(|reason| format!("\n* {reason}")).collect();
            self.warn(&record.urn, format!("Refreshed resource is in an unhealthy state:{list}"));
        }
        let new = self.refreshed_state(&before, found, outputs, purpose);
        running.event.result = Some(result_by_outputs(&before, &new));
        if !record.external && !self.options.legacy_refresh_diff {
            // What an update that changes nothing in the program would say next, seen from the other side.
            let mut after = new.clone();
            after.record.ignore_changes.clone_from(&record.ignore_changes);
            let diff =
                match compare(self, provider.as_ref(), &after, &before.inputs, self.options.dry_run).await {
                    Ok(diff) => invert(diff),
                    Err(error) => return Err(purpose.fail(running, error.message)),
                };
            let same = diff.changes != DiffChanges::Some;
            running.event.result = Some(if same { Op::Same } else { Op::Update });
            running.event.replace_keys = diff.replace_keys;
            running.event.changed_keys = diff.changed_keys;
            running.event.detailed = diff.detailed;
        }
        let new = Arc::new(new);
        let known = match self.record_refresh(&old, &new, purpose).await {
            Ok(known) => known,
            Err(Recording::Unwritable(message)) => return Err(purpose.fail(running, message)),
            Err(Recording::Lost(error)) => return Err(running.unrecorded(&error)),
        };
        running.done(Some(Arc::clone(&new)));
        self.show_views(&token, &new.record.urn, purpose.during()).await?;
        Ok(Some(known))
    }

    /// The state that a refresh leaves.
    fn refreshed_state(
        &self,
        before: &State,
        found: ReadState,
        mut outputs: crate::PropertyMap,
        purpose: RefreshFor<'_>,
    ) -> State {
        let mut inputs = found.inputs.unwrap_or_else(|| before.inputs.clone());
        keep_secret(&mut inputs, &before.inputs);
        keep_secret(&mut outputs, &before.outputs);
        let mut new = State {
            record: before.record.clone(),
            inputs,
            outputs,
            replacement_trigger: before.replacement_trigger.clone(),
        };
        if let RefreshFor::Program(goal) = purpose {
            new.record = goal.record.clone();
            new.record.created.clone_from(&before.record.created);
            new.record.modified.clone_from(&before.record.modified);
            new.record.external = before.record.external;
            new.record.taint = before.record.taint;
        }
        new.record.id = found.id;
        new.record.init_errors = found.incomplete;
        new.record.refresh_before_update = found.refresh_before_update;
        protect_outputs(self, &mut new);
        if !same(&new.inputs, &before.inputs) || !same(&new.outputs, &before.outputs) {
            new.record.modified = Some(moment(self));
        }
        new
    }

    async fn record_refresh(
        &self,
        old: &Arc<Known>,
        new: &Arc<State>,
        purpose: RefreshFor<'_>,
    ) -> Result<Arc<Known>, Recording> {
        if !self.recorder.is_recording() {
            return Ok(Known::new(old.place, Arc::clone(new), None));
        }
        let sealed = self.vault.seal(new, Some(old)).map_err(Recording::Unwritable)?;
        let unchanged = old.sealed() == Some(&sealed.resource);
        let resource = sealed.resource;
        if let RefreshFor::Program(_) = purpose {
            let success = Success {
                state: Some(resource.clone()),
                remove: Some(old.place),
                refresh: true,
                byte_strings: sealed.byte_strings,
                ..Success::default()
            };
            let recorded = match unchanged {
                true => self.recorder.keep(success).await,
                false => self.recorder.adjust(success).await,
            };
            let place = recorded.map_err(Recording::Lost)?;
            return Ok(Known::new(place, Arc::clone(new), Some(resource)));
        }
        let recorded =
            self.recorder.refreshed(old.place, Some(resource.clone()), sealed.byte_strings, unchanged);
        recorded.await.map_err(Recording::Lost)?;
        Ok(Known::new(old.place, Arc::clone(new), Some(resource)))
    }
}

/// What a refresh found of a resource that the stack does not own: only its outputs count.
fn result_by_outputs(before: &State, new: &State) -> Op {
    if same(&before.outputs, &new.outputs) { Op::Same } else { Op::Update }
}

fn same(a: &crate::PropertyMap, b: &crate::PropertyMap) -> bool {
    Value::Object(a.clone()).same_as(&Value::Object(b.clone()))
}

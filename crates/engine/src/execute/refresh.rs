//! Bringing the state of a resource up to what there is.

use super::{Causes, StepResult, moment, protect_outputs};
use crate::deployment::Deployment;
use crate::generate::diff::{compare, invert};
use crate::known::Known;
use crate::{DiffChanges, Op, ReadArguments, State};
use drystone_model::{Value, is_provider_type};
use std::sync::Arc;

impl Deployment {
    /// Reads a resource and records what was found. Gives the state as it is now; nothing when it is gone.
    pub(crate) async fn refresh(self: &Arc<Self>, old: Arc<Known>) -> StepResult<Option<Arc<Known>>> {
        let before = match old.state(&self.vault) {
            Ok(state) => state,
            Err(message) => return Err(self.fail(old.urn(), message).into()),
        };
        let record = &before.record;
        let mut running =
            self.start(Op::Refresh, Some(&old), Some(Arc::clone(&before)), Causes::default()).await?;
        if !record.custom || is_provider_type(record.urn.type_token()) || record.pending_replacement {
            running.event.result = Some(Op::Same);
            running.done(Some(before));
            return Ok(Some(old));
        }
        let provider = match self.provider(&record.urn, &record.provider).await {
            Ok(provider) => provider,
            Err(error) => return Err(running.failed(error.message)),
        };
        let token = self.views.reserve(&record.urn, self.surroundings.uuid().to_string());
        let arguments = ReadArguments {
            urn: record.urn.clone(),
            id: record.id.clone(),
            inputs: before.inputs.clone(),
            outputs: before.outputs.clone(),
            timeout: super::timeout(record, "read"),
            status_token: token.clone(),
            old_views: self.open_views(&record.urn),
        };
        let answered = provider.read(arguments).await;
        let found = match answered {
            Ok(found) => found,
            Err(error) => {
                self.views.release(&token);
                return Err(running.failed(error.message));
            }
        };
        self.show_views(&token, &record.urn).await?;
        let Some(outputs) = found.outputs.filter(|_| !found.id.is_empty()) else {
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
        let mut new = State {
            record: record.clone(),
            inputs: found.inputs.unwrap_or_else(|| before.inputs.clone()),
            outputs,
            replacement_trigger: before.replacement_trigger.clone(),
        };
        new.record.id = found.id;
        new.record.init_errors = found.incomplete;
        new.record.refresh_before_update = found.refresh_before_update;
        protect_outputs(self, &mut new);
        let same = |a: &crate::PropertyMap, b: &crate::PropertyMap| {
            Value::Object(a.clone()).same_as(&Value::Object(b.clone()))
        };
        let values_differ = !same(&new.inputs, &before.inputs) || !same(&new.outputs, &before.outputs);
        if values_differ {
            new.record.modified = Some(moment(self));
        }
        running.event.result = Some(if values_differ { Op::Update } else { Op::Same });
        if !record.external {
            // What an update that changes nothing in the program would say next, seen from the other side.
            let diff =
                match compare(self, provider.as_ref(), &new, &before.inputs, self.options.dry_run).await {
                    Ok(diff) => invert(diff),
                    Err(error) => return Err(running.failed(error.message)),
                };
            let outputs_differ = !same(&new.outputs, &before.outputs);
            if diff.changes != DiffChanges::Some && !outputs_differ {
                running.event.result = Some(Op::Same);
            }
            running.event.replace_keys = diff.replace_keys;
            running.event.changed_keys = diff.changed_keys;
            running.event.detailed = diff.detailed;
        }
        let new = Arc::new(new);
        let known = if self.recorder.is_recording() {
            let sealed = match self.vault.seal(&new, Some(&old)) {
                Ok(sealed) => sealed,
                Err(message) => return Err(running.failed(message)),
            };
            let unchanged = old.sealed() == Some(&sealed.resource);
            let recorded = self
                .recorder
                .refreshed(old.place, Some(sealed.resource.clone()), sealed.byte_strings, unchanged)
                .await;
            if let Err(error) = recorded {
                return Err(running.unrecorded(&error));
            }
            Known::new(old.place, Arc::clone(&new), Some(sealed.resource))
        } else {
            Known::new(old.place, Arc::clone(&new), None)
        };
        running.done(Some(new));
        Ok(Some(known))
    }
}

//! Looking at a resource that the stack does not own.

use super::create::unready;
use super::views::During;
use super::{Causes, StepResult, moment, protect_outputs};
use crate::deployment::Deployment;
use crate::known::Known;
use crate::recorder::Success;
use crate::{Op, PropertyMap, Provider, ReadArguments, State};
use drystone_model::{Computed, Value};
use std::sync::Arc;

impl Deployment {
    /// Reads a resource. An owned state under its name is deleted later when `replaces`.
    pub(crate) async fn read(
        self: &Arc<Self>,
        mut new: State,
        old: Option<Arc<Known>>,
        replaces: bool,
        provider: Arc<dyn Provider>,
    ) -> StepResult {
        let op = if replaces { Op::ReadReplacement } else { Op::Read };
        let running = self.start(op, old.as_ref(), Some(Arc::new(new.clone())), Causes::default()).await?;
        let mut published = None;
        // An id that is not known yet can only be read once it is.
        if new.record.id != Computed::String.sentinel() {
            let token = self.views.reserve(self.surroundings.uuid().to_string());
            let arguments = ReadArguments {
                urn: new.record.urn.clone(),
                id: new.record.id.clone(),
                inputs: new.inputs.clone(),
                outputs: new.inputs.clone(),
                status_token: token.clone(),
                ..ReadArguments::default()
            };
            let found = match provider.read(arguments).await {
                Ok(found) => found,
                Err(error) => {
                    self.views.release(&token);
                    return Err(running.doubting(&error).failed(error.message));
                }
            };
            let Some(outputs) = found.outputs else {
                self.views.release(&token);
                let message = format!("resource '{}' does not exist", new.record.id);
                return Err(running.failed(message));
            };
            new.outputs = outputs;
            if !found.id.is_empty() {
                new.record.id = found.id;
            }
            new.record.init_errors = found.incomplete;
            published = Some(token);
        } else {
            new.outputs.clear();
        }
        protect_outputs(self, &mut new);
        if let Some(old) = &old {
            self.stamp_read(&mut new, old)?;
        }
        let new = Arc::new(new);
        let sealed = if self.recorder.is_recording() {
            match self.vault.seal(&new, old.as_deref()) {
                Ok(sealed) => Some(sealed),
                Err(message) => return Err(running.failed(message)),
            }
        } else {
            None
        };
        let resource = sealed.as_ref().map(|sealed| sealed.resource.clone());
        let unchanged = resource.is_some() && old.as_ref().and_then(|old| old.sealed()) == resource.as_ref();
        let place = old.as_ref().map(|old| old.place);
        // One that was deleted first only waits for what takes its place.
        let later = replaces && !old.as_ref().is_some_and(|old| self.awaits_replacement(old));
        let success = Success {
            state: resource.clone(),
            remove: place.filter(|_| !later),
            delete: place.filter(|_| later),
            byte_strings: sealed.as_ref().is_some_and(|sealed| sealed.byte_strings),
            ..Success::default()
        };
        let recorded = if unchanged && !replaces {
            self.recorder.keep(success).await
        } else {
            self.recorder.adjust(success).await
        };
        let place = match recorded {
            Ok(place) => place,
            Err(error) => return Err(running.unrecorded(&error)),
        };
        let known = Known::new(place, Arc::clone(&new), resource);
        self.remember(&known);
        let mut running = running;
        if let Some(old) = old.filter(|_| later) {
            self.supersede(&old).await?;
            running = running.superseding();
        }
        let shown = self.show_published(published, &new.record.urn, During::Change).await;
        if !new.record.init_errors.is_empty() {
            return Err(running.failed(unready(&new.record.init_errors)));
        }
        running.done(Some(new));
        shown.map(|()| known)
    }

    /// Says when a resource that was read before was made, and when it was last found to be different.
    fn stamp_read(&self, new: &mut State, old: &Arc<Known>) -> StepResult<()> {
        let before = old.state(&self.vault).map_err(|message| self.fail(old.urn(), message))?;
        new.record.created.clone_from(&before.record.created);
        new.record.modified.clone_from(&before.record.modified);
        let same =
            |a: &PropertyMap, b: &PropertyMap| Value::Object(a.clone()).same_as(&Value::Object(b.clone()));
        if !same(&new.inputs, &before.inputs) || !same(&new.outputs, &before.outputs) {
            new.record.modified = Some(moment(self));
        }
        Ok(())
    }
}

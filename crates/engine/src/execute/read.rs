//! Looking at a resource that the stack does not own.

use super::create::unready;
use super::{Causes, StepResult, protect_outputs};
use crate::deployment::Deployment;
use crate::known::Known;
use crate::recorder::Success;
use crate::{Op, Provider, ReadArguments, State};
use drystone_model::Computed;
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
        // An id that is not known yet can only be read once it is.
        if new.record.id != Computed::String.sentinel() {
            let token = self.views.reserve(self.surroundings.uuid().to_string());
            let arguments = ReadArguments {
                urn: new.record.urn.clone(),
                id: new.record.id.clone(),
                inputs: if old.is_some() { new.inputs.clone() } else { crate::PropertyMap::new() },
                outputs: new.inputs.clone(),
                status_token: token.clone(),
                ..ReadArguments::default()
            };
            let answered = provider.read(arguments).await;
            self.views.release(&token);
            let found = match answered {
                Ok(found) => found,
                Err(error) => return Err(running.failed(error.message)),
            };
            let Some(outputs) = found.outputs.filter(|_| !found.id.is_empty()) else {
                let message = format!("resource '{}' does not exist", new.record.id);
                return Err(running.failed(message));
            };
            new.outputs = outputs;
            new.record.id = found.id;
            new.record.init_errors.clone_from(&found.incomplete);
            if let Some(inputs) = found.inputs {
                new.inputs = inputs;
            }
            if !found.incomplete.is_empty() {
                return Err(running.failed(unready(&found.incomplete)));
            }
        } else {
            new.outputs.clear();
        }
        let stamps = old.as_ref().map(|old| (old.record().created.clone(), old.record().modified.clone()));
        if let Some((created, modified)) = stamps {
            (new.record.created, new.record.modified) = (created, modified);
        }
        protect_outputs(self, &mut new);
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
        let success = Success {
            state: resource.clone(),
            remove: place.filter(|_| !replaces),
            delete: place.filter(|_| replaces),
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
        if let Some(old) = old.filter(|_| replaces) {
            self.supersede(&old).await?;
        }
        running.done(Some(new));
        Ok(known)
    }
}

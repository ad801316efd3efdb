//! Taking over something that exists, as the `import` option asks.

use super::views::During;
use super::{Causes, StepResult, moment, protect_outputs};
use crate::deployment::Deployment;
use crate::known::Known;
use crate::recorder::Success;
use crate::{Op, Provider, ReadArguments, State};
use drystone_model::Urn;
use std::sync::Arc;

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
        let found = match provider.read(arguments).await {
            Ok(found) => found,
            Err(error) => {
                self.views.release(&token);
                return Err(running.failed(error.message));
            }
        };
        let Some(outputs) = found.outputs else {
            self.views.release(&token);
            let message = format!("resource '{}' does not exist", new.record.import_id);
            return Err(running.failed(message));
        };
        let Some(inputs) = found.inputs else {
            return Err(running.failed(cannot_import(&new.record.urn)));
        };
        new.record.id = if found.id.is_empty() { new.record.import_id.clone() } else { found.id };
        new.record.init_errors = found.incomplete;
        new.record.refresh_before_update = found.refresh_before_update;
        new.inputs = inputs;
        new.outputs = outputs;
        let now = moment(self);
        new.record.created = Some(now.clone());
        new.record.modified = Some(now);
        protect_outputs(self, &mut new);
        let new = Arc::new(new);
        let sealed = if self.recorder.is_recording() {
            match self.vault.seal(&new, None) {
                Ok(sealed) => Some(sealed),
                Err(message) => return Err(running.failed(message)),
            }
        } else {
            None
        };
        let success = Success {
            state: sealed.as_ref().map(|sealed| sealed.resource.clone()),
            delete: replaces.as_ref().map(|old| old.place),
            byte_strings: sealed.as_ref().is_some_and(|sealed| sealed.byte_strings),
            ..Success::default()
        };
        let place = match self.recorder.adjust(success).await {
            Ok(place) => place,
            Err(error) => return Err(running.unrecorded(&error)),
        };
        let known = Known::new(place, Arc::clone(&new), sealed.map(|sealed| sealed.resource));
        self.remember(&known);
        if let Some(old) = replaces {
            self.supersede(&old).await?;
        }
        running.done(Some(Arc::clone(&new)));
        self.show_views(&token, &new.record.urn, During::Change).await?;
        Ok(known)
    }
}

fn cannot_import(urn: &Urn) -> String {
    let package = urn.type_token().split(':').next().unwrap_or_default();
    format!("provider does not support importing resources; please try updating the '{package}' plugin")
}

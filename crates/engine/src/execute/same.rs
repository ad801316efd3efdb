//! Leaving a resource as it is.

use super::update::Recording;
use super::{Causes, StepResult};
use crate::deployment::Deployment;
use crate::known::{Known, Place};
use crate::{Op, State};
use drystone_model::{Resource, Urn, is_provider_type};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Deployment {
    /// Keeps a resource, with what the program says of it besides its values.
    pub(crate) async fn same(self: &Arc<Self>, old: Arc<Known>, mut new: State) -> StepResult {
        let before = match old.state(&self.vault) {
            Ok(state) => state,
            Err(message) => return Err(self.fail(old.urn(), message).into()),
        };
        new.record.id.clone_from(&before.record.id);
        new.outputs.clone_from(&before.outputs);
        keep_order(&before.record, &mut new.record);
        let running =
            self.start(Op::Same, Some(&old), Some(Arc::new(new.clone())), Causes::default()).await?;
        if is_provider_type(new.record.urn.type_token()) {
            // The inputs that it had: a provider that calls a change none goes on with what it knows.
            if let Err(error) = self.registry.same(&new.record.urn, &new.record.id, &before.inputs).await {
                let message = format!("bad provider state for resource {}: {error}", new.record.urn);
                return Err(running.failed(message));
            }
            if new.record.urn != before.record.urn {
                self.registry.alias(&new.record.urn, &new.record.id, &before.record.urn);
            }
        }
        super::protect_outputs(self, &mut new);
        let new = Arc::new(new);
        match self.replace_state(&old, Arc::clone(&new), None).await {
            Ok(known) => {
                running.done(Some(new));
                Ok(known)
            }
            Err(Recording::Unwritable(message)) => Err(running.failed(message)),
            Err(Recording::Lost(error)) => Err(running.unrecorded(&error)),
        }
    }

    /// Carries a resource over that the operation is not about, word for word. Its provider is not started.
    pub(crate) async fn carry_over(self: &Arc<Self>, old: Arc<Known>) -> StepResult {
        let state = match old.state(&self.vault) {
            Ok(state) => state,
            Err(message) => return Err(self.fail(old.urn(), message).into()),
        };
        let running = self.start(Op::Same, Some(&old), Some(Arc::clone(&state)), Causes::default()).await?;
        match self.replace_state(&old, Arc::clone(&state), None).await {
            Ok(known) => {
                running.done(Some(state));
                Ok(known)
            }
            Err(Recording::Unwritable(message)) => Err(running.failed(message)),
            Err(Recording::Lost(error)) => Err(running.unrecorded(&error)),
        }
    }

    /// Leaves a resource as it is that the operation is not about. It follows what the program registered before it,
    /// with what it refers to; where that may still change in this run, it stays where it stands.
    pub(crate) async fn leave(self: &Arc<Self>, old: Arc<Known>) -> StepResult {
        let waits = {
            let world = self.world();
            let needs = self.recorder.needs_before(old.record());
            needs.iter().any(|known| self.is_targeted(&world, known.record()))
        };
        if !waits {
            return self.carry_over(old).await;
        }
        let state = match old.state(&self.vault) {
            Ok(state) => state,
            Err(message) => return Err(self.fail(old.urn(), message).into()),
        };
        let running = self.start(Op::Same, Some(&old), Some(Arc::clone(&state)), Causes::default()).await?;
        self.remember(&old);
        running.done(Some(state));
        Ok(old)
    }

    /// Answers for a resource that is not made in this run. Nothing is recorded.
    pub(crate) async fn skip_create(self: &Arc<Self>, new: State) -> StepResult {
        let new = Arc::new(new);
        let running = self.start(Op::Same, None, Some(Arc::clone(&new)), Causes::default()).await?;
        let known = Known::new(Place::Nowhere, Arc::clone(&new), None);
        self.remember(&known);
        running.done(Some(new));
        Ok(known)
    }
}

/// Dependencies are sets, which programs list in any order. Those that are what they were stay as they stand, so that
/// an unchanged resource says what it said (S3).
fn keep_order(before: &Resource, new: &mut Resource) {
    fn is_same_set(one: &[Urn], other: &[Urn]) -> bool {
        let set = |urns: &[Urn]| urns.iter().cloned().collect::<BTreeSet<_>>();
        one.len() == other.len() && one != other && set(one) == set(other)
    }
    if is_same_set(&before.dependencies, &new.dependencies) {
        new.dependencies.clone_from(&before.dependencies);
    }
    for (key, urns) in &mut new.property_dependencies {
        if let (Some(Some(old)), Some(urns)) = (before.property_dependencies.get(key), urns)
            && is_same_set(old, urns)
        {
            urns.clone_from(old);
        }
    }
}

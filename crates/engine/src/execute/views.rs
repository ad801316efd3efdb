//! Views: resources that a provider shows as parts of one of its own.
//!
//! While an operation on a resource runs, its provider publishes what happens to the views. The steps are recorded when
//! the operation has ended, in the order they were published: deletions of views before the end of their owner's
//! deletion, everything else after what their owner became, so that a view never stands without its owner.

use super::{Causes, StepFailure, StepResult, is_logical};
use crate::deployment::Deployment;
use crate::known::Known;
use crate::recorder::Success;
use crate::{Event, MonitorError, Op, Severity, State, StepEvent, ViewPublisher, ViewState, ViewStep};
use async_trait::async_trait;
use drystone_model::{Resource, Urn};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What providers published for operations that are under way, by token.
#[derive(Debug, Default)]
pub(crate) struct Views {
    published: Mutex<HashMap<String, Vec<ViewStep>>>,
}

impl Views {
    /// A token that the provider of a resource publishes with while an operation runs.
    pub(crate) fn reserve(&self, token: String) -> String {
        self.lock().insert(token.clone(), Vec::new());
        token
    }

    /// Takes what a provider publishes.
    pub(crate) fn publish(&self, token: &str, steps: Vec<ViewStep>) -> Result<(), String> {
        match self.lock().get_mut(token) {
            Some(published) => {
                published.extend(steps);
                Ok(())
            }
            None => Err(format!("token {token} not found")),
        }
    }

    /// Everything that was published with a token. Nothing more can be.
    pub(crate) fn release(&self, token: &str) -> Vec<ViewStep> {
        self.lock().remove(token).unwrap_or_default()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Vec<ViewStep>>> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ViewPublisher for Views {
    async fn publish_views(&self, token: &str, steps: Vec<ViewStep>) -> Result<(), MonitorError> {
        self.publish(token, steps).map_err(MonitorError::new)
    }
}

/// The operation that views were published for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum During {
    /// The owner was made, changed, read or taken over.
    Change,
    /// The owner was refreshed where it stands.
    Refresh,
    /// The owner was refreshed and moved to where the program registers it.
    MovingRefresh,
    /// The owner was deleted.
    Deletion,
    /// What the owner took the place of was deleted.
    DeletionOfReplaced,
}

impl During {
    fn is_refresh(self) -> bool {
        matches!(self, Self::Refresh | Self::MovingRefresh)
    }
}

impl Deployment {
    /// Records and shows the steps that a provider published while an operation ran. Fails when one of them did.
    pub(crate) async fn show_views(
        self: &Arc<Self>,
        token: &str,
        owner: &Urn,
        during: During,
    ) -> StepResult<()> {
        let mut outcome = Ok(());
        for step in self.views.release(token) {
            match self.show_view(owner, step, during).await {
                Ok(()) => {}
                Err(StepFailure::Stopped) => return Err(StepFailure::Stopped),
                Err(StepFailure::Failed) => outcome = Err(StepFailure::Failed),
            }
        }
        outcome
    }

    /// Whether a provider published anything with a token.
    pub(crate) fn has_views(&self, token: &str) -> bool {
        self.views.lock().get(token).is_some_and(|steps| !steps.is_empty())
    }

    /// The same for an operation that may have had no provider.
    pub(crate) async fn show_published(
        self: &Arc<Self>,
        token: Option<String>,
        owner: &Urn,
        during: During,
    ) -> StepResult<()> {
        match token {
            Some(token) => self.show_views(&token, owner, during).await,
            None => Ok(()),
        }
    }

    async fn show_view(self: &Arc<Self>, owner: &Urn, step: ViewStep, during: During) -> StepResult<()> {
        let replaced = during == During::DeletionOfReplaced || step.op == Op::DeleteReplaced;
        let named = step.old.as_ref().or(step.new.as_ref());
        let known = named.and_then(|view| self.world().find_view(owner, view, replaced));
        let old = step.old.as_ref().map(|view| {
            let before = known.as_ref().and_then(|known| known.state(&self.vault).ok());
            let record = before.map_or_else(|| self.view_record(owner, view), |state| state.record.clone());
            Arc::new(view_state(record, view))
        });
        let new = step.new.as_ref().map(|view| Arc::new(view_state(self.view_record(owner, view), view)));
        let op = if during.is_refresh() { Op::Refresh } else { step.op };
        let record = new.as_deref().or(old.as_deref()).map(|state| state.record.clone()).unwrap_or_default();
        let event = StepEvent {
            op,
            urn: record.urn.clone(),
            provider: String::new(),
            old,
            new: new.clone(),
            replace_keys: step.replace_keys,
            changed_keys: step.changed_keys,
            detailed: step.detailed,
            logical: is_logical(op),
            planning: self.options.dry_run,
            doubtful: false,
            result: during.is_refresh().then_some(step.op),
            duration: Duration::ZERO,
        };
        self.send(Event::StepStarted(event.clone()));
        let failed = !step.error.is_empty();
        if failed {
            self.diagnose(&record.urn, Severity::Error, step.error);
            self.send(Event::StepFailed(event.clone()));
            self.note_failure();
            if !self.options.continue_on_error {
                self.stop();
            }
        }
        if !failed || step.partial {
            self.record_view(owner, step.op, known, new, during).await?;
        }
        if failed {
            return Err(StepFailure::Failed);
        }
        self.count(&event);
        self.send(Event::StepDone(event));
        Ok(())
    }

    /// Writes down what became of a view.
    async fn record_view(
        &self,
        owner: &Urn,
        op: Op,
        old: Option<Arc<Known>>,
        new: Option<Arc<State>>,
        during: During,
    ) -> StepResult<()> {
        if op == Op::Replace {
            return Ok(());
        }
        let place = old.as_ref().map(|old| old.place);
        if during == During::Refresh {
            // One that nobody knew has no place before the program runs: its owner shows it again then.
            let Some(old) = old else { return Ok(()) };
            let known = self.seal_view(new, Some(&old), |resource| {
                let unchanged = resource.is_some() && old.sealed() == resource.as_ref();
                self.recorder.refreshed(old.place, resource, false, unchanged)
            });
            let known = known.await?.map(|(state, sealed, ())| Known::new(old.place, state, sealed));
            self.world().set_view(owner, Some(&old), known);
            return Ok(());
        }
        let kept = matches!(op, Op::CreateReplacement | Op::ReadReplacement | Op::ImportReplacement);
        let recorded = self.seal_view(new, old.as_deref(), |resource| {
            self.recorder.adjust(Success {
                state: resource,
                remove: place.filter(|_| !kept),
                delete: place.filter(|_| kept),
                refresh: during.is_refresh(),
                ..Success::default()
            })
        });
        let known = recorded.await?.map(|(state, sealed, place)| Known::new(place, state, sealed));
        let mut world = self.world();
        if let Some(known) = &known {
            world.news.insert(known.urn().clone(), Arc::clone(known));
        }
        world.set_view(owner, old.as_ref(), known);
        if let Some(old) = old.filter(|_| kept) {
            world.replaced_views.entry(owner.clone()).or_default().push(old);
        }
        Ok(())
    }

    /// Seals a view's state, if there is one, and has it recorded.
    async fn seal_view<T, F>(
        &self,
        state: Option<Arc<State>>,
        old: Option<&Known>,
        record: impl FnOnce(Option<Resource>) -> F,
    ) -> StepResult<Option<(Arc<State>, Option<Resource>, T)>>
    where
        F: Future<Output = Result<T, crate::JournalError>>,
    {
        let sealed = match &state {
            Some(state) if self.recorder.is_recording() => {
                let sealed = self.vault.seal(state, old);
                Some(sealed.map_err(|message| self.fail(&state.record.urn, message))?.resource)
            }
            _ => None,
        };
        let recorded = record(sealed.clone()).await.map_err(|error| self.lose_journal(&error))?;
        Ok(state.map(|state| (state, sealed, recorded)))
    }

    /// The views that are left of a resource go with it, whoever its provider spoke of.
    pub(crate) async fn drop_views(self: &Arc<Self>, owner: &Urn, during: During) -> StepResult<()> {
        let left = {
            let mut world = self.world();
            match during {
                During::DeletionOfReplaced => world.replaced_views.remove(owner).unwrap_or_default(),
                _ => world.live_views.remove(owner).unwrap_or_default(),
            }
        };
        for view in left {
            let op = if during.is_refresh() { Op::Refresh } else { Op::Delete };
            let running = self.start_within(op, &view, Causes::default())?;
            let recorded = if during == During::Refresh {
                self.recorder.refreshed(view.place, None, false, false).await
            } else {
                let success = Success { remove: Some(view.place), ..Success::default() };
                self.recorder.adjust(success).await.map(|_| ())
            };
            recorded.map_err(|error| self.lose_journal(&error))?;
            let mut event = running;
            event.result = during.is_refresh().then_some(Op::Delete);
            event.new = None;
            self.count(&event);
            self.send(Event::StepDone(event));
        }
        Ok(())
    }

    /// Tells people that a step starts which is a part of one that has a slot.
    fn start_within(&self, op: Op, old: &Arc<Known>, causes: Causes) -> StepResult<StepEvent> {
        let state = old.state(&self.vault).map_err(|message| self.fail(old.urn(), message))?;
        let event = StepEvent {
            op,
            urn: state.record.urn.clone(),
            provider: state.record.provider.clone(),
            old: Some(state),
            new: None,
            replace_keys: causes.replace_keys,
            changed_keys: causes.changed_keys,
            detailed: causes.detailed,
            logical: is_logical(op),
            planning: self.options.dry_run,
            doubtful: false,
            result: None,
            duration: Duration::ZERO,
        };
        self.send(Event::StepStarted(event.clone()));
        Ok(event)
    }

    /// Lets the views of a state wait for its deletion, because its replacement was made and has views of its own.
    pub(crate) async fn supersede_views(&self, owner: &Urn) -> StepResult<()> {
        let views = self.world().live_views.remove(owner).unwrap_or_default();
        for view in &views {
            let success = Success { delete: Some(view.place), ..Success::default() };
            self.recorder.adjust(success).await.map_err(|error| self.lose_journal(&error))?;
        }
        self.world().replaced_views.entry(owner.clone()).or_default().extend(views);
        Ok(())
    }

    /// The views of a resource with their values open.
    pub(crate) fn open_views(&self, owner: &Urn, during: During) -> Vec<State> {
        let views = {
            let world = self.world();
            match during {
                During::DeletionOfReplaced => world.replaced_views.get(owner).cloned().unwrap_or_default(),
                _ => world.views_of(owner),
            }
        };
        views.iter().filter_map(|known| known.state(&self.vault).ok().map(|state| (*state).clone())).collect()
    }

    /// A view's state without its values. Its owner is its parent.
    fn view_record(&self, owner: &Urn, view: &ViewState) -> Resource {
        Resource {
            urn: self.urn(owner, &view.type_token, &view.name),
            type_token: view.type_token.clone(),
            parent: owner.clone(),
            view_of: owner.clone(),
            ..Resource::default()
        }
    }
}

fn view_state(record: Resource, view: &ViewState) -> State {
    State { record, inputs: view.inputs.clone(), outputs: view.outputs.clone(), ..State::default() }
}

//! Making a resource.

use super::hooks::Sides;
use super::views::During;
use super::{Causes, StepResult, explain, moment, protect_outputs};
use crate::deployment::Deployment;
use crate::known::Known;
use crate::recorder::{Begun, Success};
use crate::{
    AppliedState, CreateArguments, HookMoment, JournalError, Op, Provider, ProviderError, ProviderErrorKind,
    Severity, State,
};
use drystone_model::{OperationKind, Resource, is_provider_type};
use futures::FutureExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A resource to be made.
#[derive(Debug)]
pub(crate) struct Create {
    pub(crate) new: State,
    /// What it takes the place of.
    pub(crate) replaces: Option<Replaced>,
    pub(crate) causes: Causes,
    /// What makes it; nothing for a component.
    pub(crate) provider: Option<Arc<dyn Provider>>,
}

/// A state whose place a new one takes.
#[derive(Debug)]
pub(crate) struct Replaced {
    pub(crate) old: Arc<Known>,
    /// Whether it is deleted later; otherwise it was deleted before.
    pub(crate) delete_later: bool,
}

impl Deployment {
    pub(crate) async fn create(self: &Arc<Self>, step: Create) -> StepResult {
        let Create { mut new, replaces, causes, provider } = step;
        let op = if replaces.is_some() { Op::CreateReplacement } else { Op::Create };
        let old = replaces.as_ref().map(|replaced| &replaced.old);
        let mut running = self.start(op, old, Some(Arc::new(new.clone())), causes).await?;
        if let Err(message) = self
            .run_hooks(HookMoment::BeforeCreate, Sides { old: None, new: Some(&new), applied: false })
            .await
        {
            return Err(running.failed(message));
        }
        // Components and providers are nothing in the world: there is nothing to lose.
        let effect = provider.is_some() && !is_provider_type(new.record.urn.type_token());
        let mut tries = Tries::default();
        if effect && self.recorder.is_recording() {
            let sealed = match self.vault.seal(&new, None) {
                Ok(sealed) => sealed,
                Err(message) => return Err(running.failed(message)),
            };
            tries.intent = Some(sealed.resource);
            if let Err(error) = self.begin_try(&tries).await {
                return Err(running.unrecorded(&error));
            }
        }
        let mut begun = None;
        let mut incomplete = Vec::new();
        let mut published = None;
        if let Some(provider) = provider {
            let token = self.views.reserve(self.surroundings.uuid().to_string());
            let sides = Sides { old: None, new: Some(&new), applied: false };
            let answered = running
                .with_retries(
                    "create",
                    sides,
                    || self.try_create(provider.as_ref(), &new, &token, &tries).boxed(),
                    unready_words,
                )
                .await;
            let mut unready = tries.take_unready();
            let last = tries.take_begun();
            let applied = match (answered, unready.pop()) {
                (Ok(applied), Some(made)) if !applied.incomplete.is_empty() => {
                    begun = made.begun;
                    applied
                }
                (Ok(applied), made) => {
                    unready.extend(made);
                    begun = last;
                    applied
                }
                // What an earlier try made is there, whatever became of the last one.
                (Err(error), Some(made)) => {
                    self.diagnose(&new.record.urn, Severity::Error, explain(&error, "the creation"));
                    if let Err(error) = self.end_try(last, &error).await {
                        self.views.release(&token);
                        return Err(running.unrecorded(&error));
                    }
                    begun = made.begun;
                    made.applied
                }
                (Err(error), None) => {
                    self.views.release(&token);
                    if let Err(error) = self.end_try(last, &error).await {
                        return Err(running.unrecorded(&error));
                    }
                    return Err(running.doubting(&error).failed(explain(&error, "the creation")));
                }
            };
            if let Err(failure) = self.let_go_of_tries(&new, &applied.id, unready).await {
                self.views.release(&token);
                return Err(failure);
            }
            new.record.id = applied.id;
            new.outputs = applied.outputs;
            new.record.refresh_before_update = applied.refresh_before_update;
            incomplete = applied.incomplete;
            new.record.init_errors.clone_from(&incomplete);
            published = Some(token);
        }
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
        let later = replaces.as_ref().filter(|replaced| replaced.delete_later);
        let before = replaces.as_ref().filter(|replaced| !replaced.delete_later);
        let success = Success {
            state: sealed.as_ref().map(|sealed| sealed.resource.clone()),
            remove: before.map(|replaced| replaced.old.place),
            delete: later.map(|replaced| replaced.old.place),
            byte_strings: sealed.as_ref().is_some_and(|sealed| sealed.byte_strings),
            ..Success::default()
        };
        if incomplete.is_empty() {
            running.leave_the_world();
        }
        let recorded = match begun {
            Some(begun) => self.recorder.succeed(begun, success).await,
            None => self.recorder.adjust(success).await,
        };
        let place = match recorded {
            Ok(place) => place,
            Err(error) => return Err(running.unrecorded(&error)),
        };
        let known = Known::new(place, Arc::clone(&new), sealed.map(|sealed| sealed.resource));
        self.remember(&known);
        if let Some(replaced) = later {
            self.supersede(&replaced.old).await?;
        }
        if !incomplete.is_empty() {
            let shown = self.show_published(published, &new.record.urn, During::Change).await;
            let failed = running.failed(unready(&incomplete));
            return Err(shown.err().unwrap_or(failed));
        }
        if new.record.custom {
            self.run_hooks_after(
                HookMoment::AfterCreate,
                Sides { old: None, new: Some(&new), applied: true },
            )
            .await;
        }
        let running = if later.is_some() { running.superseding() } else { running };
        running.done(Some(Arc::clone(&new)));
        self.show_published(published, &new.record.urn, During::Change).await?;
        Ok(known)
    }

    /// Writes down that something may be made.
    async fn begin_try(&self, tries: &Tries) -> Result<(), JournalError> {
        let Some(intent) = tries.intent.clone() else { return Ok(()) };
        let begun = self.recorder.begin(OperationKind::Creating, intent).await?;
        *tries.begun.lock().unwrap_or_else(PoisonError::into_inner) = Some(begun);
        Ok(())
    }

    /// Writes down that a try made nothing, unless nobody knows.
    async fn end_try(&self, begun: Option<Begun>, error: &ProviderError) -> Result<(), JournalError> {
        match begun.filter(|_| error.kind != ProviderErrorKind::Unknown) {
            Some(begun) => self.recorder.fail(begun).await,
            None => Ok(()),
        }
    }

    /// Makes a resource, or tries to once more. A try that made something, or of which nobody heard, keeps its begin
    /// entry, and the next one has its own.
    async fn try_create(
        &self,
        provider: &dyn Provider,
        new: &State,
        token: &str,
        tries: &Tries,
    ) -> Result<AppliedState, ProviderError> {
        if tries.over.swap(false, Ordering::SeqCst)
            && let Err(error) = self.begin_try(tries).await
        {
            self.lose_journal(&error);
            return Err(ProviderError::unknown(error.to_string()));
        }
        let answered = self.call_create(provider, new, token).await;
        match &answered {
            Err(error) if error.kind == ProviderErrorKind::Unknown => {
                tries.over.store(true, Ordering::SeqCst);
            }
            Ok(applied) if !applied.incomplete.is_empty() => {
                tries.over.store(true, Ordering::SeqCst);
                tries.keep(applied.clone());
            }
            _ => {}
        }
        answered
    }

    /// Writes down what tries made that were given up: it is deleted at the end, like what was replaced. A try whose
    /// thing the resource now is leaves nothing.
    async fn let_go_of_tries(&self, new: &State, id: &str, made: Vec<Made>) -> StepResult<()> {
        if !self.recorder.is_recording() {
            return Ok(());
        }
        for Made { applied, begun } in made {
            if applied.id == id {
                if let Some(begun) = begun {
                    self.recorder.fail(begun).await.map_err(|error| self.lose_journal(&error))?;
                }
                continue;
            }
            let mut state = new.clone();
            state.record.id = applied.id;
            state.record.init_errors = applied.incomplete;
            state.record.delete = true;
            state.outputs = applied.outputs;
            protect_outputs(self, &mut state);
            let sealed =
                self.vault.seal(&state, None).map_err(|message| self.fail(&new.record.urn, message))?;
            let success = Success {
                state: Some(sealed.resource.clone()),
                byte_strings: sealed.byte_strings,
                ..Success::default()
            };
            let recorded = match begun {
                Some(begun) => self.recorder.succeed(begun, success).await,
                None => self.recorder.adjust(success).await,
            };
            let place = recorded.map_err(|error| self.lose_journal(&error))?;
            let known = Known::new(place, Arc::new(state), Some(sealed.resource));
            self.world().superseded_news.push(known);
        }
        Ok(())
    }

    async fn call_create(
        &self,
        provider: &dyn Provider,
        new: &State,
        token: &str,
    ) -> Result<AppliedState, ProviderError> {
        let arguments = CreateArguments {
            urn: new.record.urn.clone(),
            inputs: new.inputs.clone(),
            timeout: super::timeout(&new.record, "create"),
            dry_run: self.options.dry_run,
            status_token: token.to_owned(),
        };
        let applied = provider.create(arguments).await?;
        if applied.id.is_empty() && !self.options.dry_run {
            return Err(ProviderError::unknown("provider did not return an ID from Create"));
        }
        Ok(applied)
    }

    /// Marks a state as one that is deleted at the end, because its replacement was made.
    pub(crate) async fn supersede(&self, old: &Arc<Known>) -> StepResult<()> {
        {
            let mut world = self.world();
            match old.place {
                crate::known::Place::Base(index) => {
                    world.superseded.insert(index);
                }
                _ => world.superseded_news.push(Arc::clone(old)),
            }
        }
        self.supersede_views(old.urn()).await
    }
}

/// The tries to make one resource.
#[derive(Debug, Default)]
struct Tries {
    /// What is to be made, as the journal takes it.
    intent: Option<Resource>,
    begun: Mutex<Option<Begun>>,
    /// Whether the last one made something, or nobody knows: another one begins for itself.
    over: AtomicBool,
    /// What was made and was not ready.
    unready: Mutex<Vec<Made>>,
}

/// What a try made.
#[derive(Debug)]
struct Made {
    applied: AppliedState,
    /// Its begin entry.
    begun: Option<Begun>,
}

impl Tries {
    fn keep(&self, applied: AppliedState) {
        let made = Made { applied, begun: self.take_begun() };
        self.unready.lock().unwrap_or_else(PoisonError::into_inner).push(made);
    }

    fn take_unready(&self) -> Vec<Made> {
        std::mem::take(&mut self.unready.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn take_begun(&self) -> Option<Begun> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Why an answer counts as a failure for the error hooks.
pub(crate) fn unready_words(applied: &AppliedState) -> Option<String> {
    (!applied.incomplete.is_empty()).then(|| unready(&applied.incomplete))
}

/// What is told of a resource that is there but not ready.
pub(crate) fn unready(reasons: &[String]) -> String {
    let count = reasons.len();
    let noun = if count == 1 { "error" } else { "errors" };
    let list: String = reasons.iter().map(|reason| format!("\n    * {reason}")).collect();
    format!("{count} {noun} occurred:{list}")
}

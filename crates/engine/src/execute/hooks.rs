//! Hooks: callbacks of the program around operations.

use super::Running;
use crate::deployment::Deployment;
use crate::{ErrorHook, HookCall, HookMoment, HookRegistration, ProviderError, Severity, State};
use futures::future::BoxFuture;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// How often an operation is tried at most, however often error hooks ask for it.
const MOST_TRIES: usize = 100;

/// How long a hook of a deletion may come after it is needed.
const LATE_HOOKS: Duration = Duration::from_secs(2);

/// The hooks that the program made known.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    hooks: Mutex<HashMap<String, HookRegistration>>,
    error_hooks: Mutex<HashMap<String, Arc<dyn ErrorHook>>>,
    /// Told when there is another one.
    added: Notify,
}

impl Hooks {
    /// Makes a hook known; a name can be taken once.
    pub(crate) fn add(&self, name: String, hook: HookRegistration) -> Result<(), String> {
        let mut hooks = self.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        if hooks.contains_key(&name) {
            return Err(format!("resource hook already registered for name {name:?}"));
        }
        hooks.insert(name, hook);
        self.added.notify_waiters();
        Ok(())
    }

    /// Makes an error hook known; a name can be taken once.
    pub(crate) fn add_error(&self, name: String, hook: Arc<dyn ErrorHook>) -> Result<(), String> {
        let mut hooks = self.error_hooks.lock().unwrap_or_else(PoisonError::into_inner);
        if hooks.contains_key(&name) {
            return Err(format!("error hook already registered for name {name:?}"));
        }
        hooks.insert(name, hook);
        Ok(())
    }

    fn get(&self, name: &str) -> Option<HookRegistration> {
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    fn get_error(&self, name: &str) -> Option<Arc<dyn ErrorHook>> {
        self.error_hooks.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}

/// The states that a hook is told of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sides<'a> {
    pub(crate) old: Option<&'a State>,
    pub(crate) new: Option<&'a State>,
    /// Whether the new state has its outputs.
    pub(crate) applied: bool,
}

impl Sides<'_> {
    /// The names of the hooks of a moment. Those of a deletion stand in the old state, all others in the new one.
    fn names(&self, moment: HookMoment) -> Vec<String> {
        let hooks = self.new.or(self.old).map(|state| &state.record.resource_hooks);
        hooks.and_then(|hooks| hooks.get(moment.as_str())).cloned().unwrap_or_default()
    }

    fn call(&self, moment: HookMoment) -> HookCall {
        let record = self.new.or(self.old).map(|state| state.record.clone()).unwrap_or_default();
        let id = match self.new {
            Some(new) if !new.record.id.is_empty() => new.record.id.clone(),
            _ => self.old.map(|old| old.record.id.clone()).unwrap_or_default(),
        };
        HookCall {
            name: record.urn.name().to_owned(),
            type_token: record.type_token,
            urn: record.urn,
            id,
            moment,
            new_inputs: self.new.map(|state| state.inputs.clone()),
            old_inputs: self.old.map(|state| state.inputs.clone()),
            new_outputs: self.new.filter(|_| self.applied).map(|state| state.outputs.clone()),
            old_outputs: self.old.map(|state| state.outputs.clone()),
            new_record: self.new.map(|state| state.record.clone()),
            old_record: self.old.map(|state| state.record.clone()),
            ..HookCall::default()
        }
    }
}

impl Deployment {
    /// A hook by its name. Programs make hooks known on the side, so that one of a deletion, which nothing in the program
    /// waits for, may come after all else.
    async fn hook(&self, name: &str, moment: HookMoment) -> Option<HookRegistration> {
        let is_deletion = matches!(moment, HookMoment::BeforeDelete | HookMoment::AfterDelete);
        let coming = async {
            loop {
                let added = self.hooks.added.notified();
                match self.hooks.get(name) {
                    None if is_deletion && self.monitor.has_program() => added.await,
                    found => return found,
                }
            }
        };
        tokio::time::timeout(LATE_HOOKS, coming).await.ok().flatten()
    }

    /// Runs the hooks of a moment. The first failure that is not to be ignored is the answer.
    pub(crate) async fn run_hooks(&self, moment: HookMoment, sides: Sides<'_>) -> Result<(), String> {
        for name in sides.names(moment) {
            let Some(registration) = self.hook(&name, moment).await else {
                return Err(format!("hook {name:?} was not registered"));
            };
            if self.options.dry_run && !registration.on_dry_run {
                continue;
            }
            let call = sides.call(moment);
            let urn = call.urn.clone();
            if let Err(failed) = registration.hook.run(call).await {
                if !registration.ignore_errors {
                    let side = if is_before(moment) { "before" } else { "after" };
                    return Err(format!("{side} hook {name:?} failed: {failed}"));
                }
                self.warn(&urn, format!("{} hook {name:?} failed: {failed}", moment.as_str()));
            }
        }
        Ok(())
    }

    /// Runs the hooks after an operation: it is done and recorded whatever they say, but the run fails.
    pub(crate) async fn run_hooks_after(&self, moment: HookMoment, sides: Sides<'_>) {
        if let Err(message) = self.run_hooks(moment, sides).await {
            let urn = sides.new.or(sides.old).map(|state| state.record.urn.clone()).unwrap_or_default();
            self.diagnose(&urn, Severity::Error, message);
            self.note_failure();
            if !self.options.continue_on_error {
                self.stop();
            }
        }
    }
}

impl Running<'_> {
    /// Runs an operation, again as long as it fails and an error hook asks for it.
    pub(crate) async fn with_retries<'a, T>(
        &self,
        operation: &str,
        sides: Sides<'_>,
        act: impl Fn() -> BoxFuture<'a, Result<T, ProviderError>> + Send,
        refused: fn(&T) -> Option<String>,
    ) -> Result<T, ProviderError> {
        let names = sides.names(HookMoment::OnError);
        let mut errors = Vec::new();
        loop {
            let outcome = act().await;
            let message = match &outcome {
                Ok(applied) => refused(applied),
                Err(error) => Some(error.message.clone()),
            };
            let Some(message) = message.filter(|_| !names.is_empty()) else { return outcome };
            errors.insert(0, message);
            if errors.len() >= MOST_TRIES {
                let message = format!("maximum number of error hook retries ({MOST_TRIES}) reached");
                self.deployment.warn(self.urn(), message);
                return outcome.map_err(|error| ProviderError {
                    message: format!("maximum number of error hook retries reached: {}", error.message),
                    ..error
                });
            }
            let mut call = sides.call(HookMoment::OnError);
            operation.clone_into(&mut call.operation);
            call.errors.clone_from(&errors);
            match self.asks_for_retry(&names, &call).await {
                Ok(true) if !self.deployment.is_stopping() => {}
                Ok(_) => return outcome,
                // What is there although it is not ready must not be lost for it.
                Err(message) if outcome.is_ok() => {
                    self.deployment.diagnose(self.urn(), Severity::Error, message);
                    return outcome;
                }
                Err(message) => return outcome.map_err(|error| ProviderError { message, ..error }),
            }
            self.deployment.warn(
                self.urn(),
                format!("retrying {operation} due to on-error hook request ({}/{MOST_TRIES})", errors.len()),
            );
        }
    }

    /// Whether any error hook asks for another try. All are asked.
    async fn asks_for_retry(&self, names: &[String], call: &HookCall) -> Result<bool, String> {
        let mut retry = false;
        for name in names {
            let Some(hook) = self.deployment.hooks.get_error(name) else {
                return Err(format!("error hooks execution failed: error hook {name:?} was not registered"));
            };
            retry |= hook.retry(call.clone()).await.map_err(|failed| {
                format!("error hooks execution failed: error hook {name:?} failed: {failed}")
            })?;
        }
        Ok(retry)
    }
}

fn is_before(moment: HookMoment) -> bool {
    matches!(moment, HookMoment::BeforeCreate | HookMoment::BeforeUpdate | HookMoment::BeforeDelete)
}

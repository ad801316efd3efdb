//! Does what was decided.
//!
//! Each kind of step has a file. A step waits for its slot, tells people that it starts, writes down that it begins
//! before it touches the world (S1), does its work, gives its slot back, and writes down what it left before anybody
//! hears of it (S2). A failure whose effect is not known leaves its begin entry standing: it becomes a pending operation
//! (S5).

mod create;
mod delete;
pub(crate) mod hooks;
mod import;
mod outputs;
mod read;
mod refresh;
mod same;
mod update;
pub(crate) mod views;

pub(crate) use create::{Create, Replaced};
pub(crate) use delete::{Delete, Leaving, Reason as DeleteReason};
pub(crate) use import::TakeOver;
pub(crate) use refresh::RefreshFor;
pub(crate) use update::{Recording, Update};

use crate::deployment::{Deployment, Stopped};
use crate::known::Known;
use crate::secrecy::hide;
use crate::{Diff, Event, Op, PropertyDiff, ProviderError, ProviderErrorKind, Severity, State, StepEvent};
use drystone_model::{Urn, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::SemaphorePermit;

/// Why a step did not end well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepFailure {
    /// It failed, and people were told.
    Failed,
    /// The operation is ending: it did not begin, or could not be written down.
    Stopped,
}

impl From<Stopped> for StepFailure {
    fn from(Stopped: Stopped) -> Self {
        Self::Stopped
    }
}

pub(crate) type StepResult<T = Arc<Known>> = Result<T, StepFailure>;

/// A step while it runs: its slot, and what people are told of it.
pub(crate) struct Running<'a> {
    pub(crate) deployment: &'a Arc<Deployment>,
    pub(crate) event: StepEvent,
    started: jiff::Timestamp,
    slot: Option<SemaphorePermit<'a>>,
}

/// The causes of a step that its event names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Causes {
    pub(crate) replace_keys: Vec<String>,
    pub(crate) changed_keys: Vec<String>,
    pub(crate) detailed: Option<BTreeMap<String, PropertyDiff>>,
}

impl From<&Diff> for Causes {
    fn from(diff: &Diff) -> Self {
        Self {
            replace_keys: diff.replace_keys.clone(),
            changed_keys: diff.changed_keys.clone(),
            detailed: diff.detailed.clone(),
        }
    }
}

impl Deployment {
    /// Waits for a slot and tells people that a step starts.
    pub(crate) async fn start<'a>(
        self: &'a Arc<Self>,
        op: Op,
        old: Option<&Arc<Known>>,
        new: Option<Arc<State>>,
        causes: Causes,
    ) -> StepResult<Running<'a>> {
        let old = match old {
            Some(known) => Some(known.state(&self.vault).map_err(|message| self.fail(known.urn(), message))?),
            None => None,
        };
        self.start_from(op, old, new, causes).await
    }

    /// The same, from a state that is open.
    pub(crate) async fn start_from<'a>(
        self: &'a Arc<Self>,
        op: Op,
        old: Option<Arc<State>>,
        new: Option<Arc<State>>,
        causes: Causes,
    ) -> StepResult<Running<'a>> {
        let slot = self.slots.acquire().await.map_err(|_| StepFailure::Stopped)?;
        if self.is_stopping() {
            return Err(StepFailure::Stopped);
        }
        let record = new.as_deref().or(old.as_deref()).map(|state| &state.record);
        let event = StepEvent {
            op,
            urn: record.map(|record| record.urn.clone()).unwrap_or_default(),
            provider: record.map(|record| record.provider.clone()).unwrap_or_default(),
            old,
            new,
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
        Ok(Running { deployment: self, event, started: self.surroundings.now(), slot: Some(slot) })
    }

    /// Says that a resource is replaced: nothing is done. A state that is superseded waits for its deletion by now.
    pub(crate) fn announce_replace(
        &self,
        old: &Arc<Known>,
        new: &Arc<State>,
        causes: Causes,
        superseded: bool,
    ) {
        let event = StepEvent {
            op: Op::Replace,
            urn: new.record.urn.clone(),
            provider: new.record.provider.clone(),
            old: old.state(&self.vault).ok().map(|old| if superseded { condemned(old) } else { old }),
            new: Some(Arc::clone(new)),
            replace_keys: causes.replace_keys,
            changed_keys: causes.changed_keys,
            detailed: causes.detailed,
            logical: true,
            planning: self.options.dry_run,
            doubtful: false,
            result: None,
            duration: Duration::ZERO,
        };
        self.send(Event::StepStarted(event.clone()));
        self.count(&event);
        self.send(Event::StepDone(event));
    }
}

/// A state that waits for its deletion.
pub(crate) fn condemned(mut state: Arc<State>) -> Arc<State> {
    Arc::make_mut(&mut state).record.delete = true;
    state
}

/// Whether users think of a step as one: the parts of a replacement are not.
pub(crate) fn is_logical(op: Op) -> bool {
    !matches!(
        op,
        Op::CreateReplacement
            | Op::DeleteReplaced
            | Op::ReadReplacement
            | Op::ImportReplacement
            | Op::DiscardReplaced
            | Op::Refresh
            | Op::RemovePendingReplace
    )
}

impl Running<'_> {
    fn elapsed(&self) -> Duration {
        let since = self.deployment.surroundings.now().duration_since(self.started);
        Duration::try_from(since).unwrap_or_default()
    }

    /// The state before has been superseded: it waits for its deletion by now.
    pub(crate) fn superseding(mut self) -> Self {
        self.event.old = self.event.old.map(condemned);
        self
    }

    /// Says whether what the provider did is in doubt.
    pub(crate) fn doubting(mut self, error: &ProviderError) -> Self {
        if error.is_doubtful() && !self.deployment.options.dry_run {
            self.deployment.note_doubt();
        }
        self.event.doubtful = error.is_doubtful();
        self
    }

    /// Tells people that it ended well.
    pub(crate) fn done(mut self, new: Option<Arc<State>>) {
        if let Some(new) = &new {
            self.deployment.ledger.expect_outputs(&new.record.urn, &new.outputs);
        }
        self.event.new = new;
        self.event.duration = self.elapsed();
        self.deployment.count(&self.event);
        self.deployment.send(Event::StepDone(self.event));
    }

    /// Tells people that it failed and why. The operation stops, unless it is to go on with what does not depend on it.
    pub(crate) fn failed(mut self, message: impl Into<String>) -> StepFailure {
        self.event.duration = self.elapsed();
        let urn = self.event.urn.clone();
        self.deployment.diagnose(&urn, Severity::Error, message);
        self.deployment.send(Event::StepFailed(self.event));
        self.deployment.note_failure();
        self.deployment.world().mark_failed(&urn);
        if !self.deployment.options.continue_on_error {
            self.deployment.stop();
        }
        StepFailure::Failed
    }

    /// The same for a step of which others do not depend: the operation fails in the end, but goes on.
    pub(crate) fn failed_alone(mut self, message: impl Into<String>) -> StepFailure {
        self.event.duration = self.elapsed();
        let urn = self.event.urn.clone();
        self.deployment.diagnose(&urn, Severity::Error, message);
        self.deployment.send(Event::StepFailed(self.event));
        self.deployment.note_failure();
        StepFailure::Failed
    }

    /// One of its views failed, and people were told why.
    pub(crate) fn failed_with_its_views(mut self, failure: StepFailure) -> StepFailure {
        self.event.duration = self.elapsed();
        self.deployment.world().mark_failed(&self.event.urn);
        self.deployment.send(Event::StepFailed(self.event));
        failure
    }

    /// The journal was lost.
    pub(crate) fn unrecorded(self, error: &crate::JournalError) -> StepFailure {
        let stopped = self.deployment.lose_journal(error);
        self.ended_undone();
        stopped.into()
    }

    /// Tells people that it came to nothing. What kept it from being done was told, or the operation is ending.
    pub(crate) fn ended_undone(mut self) {
        self.event.duration = self.elapsed();
        self.deployment.send(Event::StepFailed(self.event));
    }

    /// Lets another step run while this one waits for something.
    pub(crate) fn give_slot_back(&mut self) {
        self.slot = None;
    }

    /// The world has been dealt with. Writing it down needs no slot: the next step's begin can go with the same write,
    /// and a far journal is waited for once an operation rather than twice. Where steps run one at a time they also end
    /// one at a time, so that hooks and people see them in order.
    pub(crate) fn leave_the_world(&mut self) {
        if self.deployment.options.parallel != 1 {
            self.give_slot_back();
        }
    }

    pub(crate) fn urn(&self) -> &Urn {
        &self.event.urn
    }
}

/// What a failed call is told as. One of unknown effect says that it is kept.
pub(crate) fn explain(error: &ProviderError, doing: &str) -> String {
    match error.kind {
        ProviderErrorKind::Unknown => format!(
            "{}\nwhether {doing} took effect is not known: it is kept as a pending operation",
            error.message
        ),
        _ => error.message.clone(),
    }
}

/// Hides the outputs that have to be: those the program names, and those that repeat a secret input (S17).
pub(crate) fn protect_outputs(deployment: &Deployment, state: &mut State) {
    for key in &state.record.additional_secret_outputs {
        if key == "id" {
            deployment.warn(
                &state.record.urn,
                "The 'id' property cannot be made secret. See pulumi/pulumi#2717 for more details.",
            );
        } else if let Some(value) = state.outputs.get_mut(key) {
            hide(value);
        }
    }
    for (key, value) in &mut state.outputs {
        if state.inputs.get(key).is_some_and(Value::is_secret) {
            hide(value);
        }
    }
}

/// The moment as states keep it.
pub(crate) fn moment(deployment: &Deployment) -> String {
    deployment.surroundings.now().to_string()
}

/// The time limit that a state sets for an operation, in seconds; 0 when it sets none.
pub(crate) fn timeout(record: &drystone_model::Resource, operation: &str) -> f64 {
    let limits = record.custom_timeouts.as_ref().and_then(|json| json.decode::<BTreeMap<String, f64>>().ok());
    limits.and_then(|limits| limits.get(operation).copied()).unwrap_or_default()
}

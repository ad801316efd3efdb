//! Deleting a resource.

use super::hooks::Sides;
use super::views::During;
use super::{Causes, Running, StepFailure, StepResult, condemned, explain};
use crate::deployment::Deployment;
use crate::known::{Known, Place};
use crate::recorder::{Begun, Success};
use crate::{DeleteArguments, HookMoment, Op, ProviderErrorKind, State};
use drystone_model::{OperationKind, Urn, is_provider_type};
use std::sync::Arc;

/// A resource to be deleted.
#[derive(Debug, Clone)]
pub(crate) struct Delete {
    pub(crate) old: Arc<Known>,
    pub(crate) reason: Reason,
}

impl Delete {
    /// The kind of the step.
    pub(crate) fn op(&self) -> Op {
        match (self.old.record().external, self.reason) {
            (_, Reason::NeverReplaced) => Op::RemovePendingReplace,
            (false, Reason::Unwanted) => Op::Delete,
            (true, Reason::Unwanted) => Op::Discard,
            (false, _) => Op::DeleteReplaced,
            (true, _) => Op::DiscardReplaced,
        }
    }
}

/// Why a resource is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The program does not want it.
    Unwanted,
    /// Its replacement was made.
    Replaced,
    /// Its replacement is made next: the state stays until then.
    BeforeReplacement,
    /// It was deleted before, for a replacement that never came: only its state goes.
    NeverReplaced,
}

/// A resource whose deletion began: people know, its hooks agreed, and nothing was done to it.
pub(crate) struct Leaving<'a> {
    running: Running<'a>,
    old: Arc<Known>,
    state: Arc<State>,
    reason: Reason,
}

impl Leaving<'_> {
    fn sides(&self) -> Sides<'_> {
        Sides { old: Some(&self.state), new: None, applied: false }
    }

    fn during(&self) -> During {
        if self.reason == Reason::Replaced { During::DeletionOfReplaced } else { During::Deletion }
    }

    /// What is written down of it.
    fn success(&self) -> Success {
        match self.reason {
            Reason::BeforeReplacement => {
                Success { pending_replacement: Some(self.old.place), ..Success::default() }
            }
            _ => Success { remove: Some(self.old.place), ..Success::default() },
        }
    }

    /// It is still there, because what it was to go with is. People are told, unless everything is ending anyway.
    pub(crate) fn stay(self, with: &Urn) {
        let deployment = self.running.deployment;
        if deployment.is_stopping() {
            self.running.ended_undone();
        } else {
            self.running.failed_alone(staying(with));
        }
    }

    async fn end(self) {
        if self.reason != Reason::NeverReplaced {
            self.running.deployment.run_hooks_after(HookMoment::AfterDelete, self.sides()).await;
        }
        self.running.done(None);
    }
}

/// Why something is still there.
fn staying(with: &Urn) -> String {
    format!("it stays: it was to go with '{with}', which was not deleted")
}

impl Deployment {
    /// Deletes a resource, and writes down with it what was waiting to go along, dependents first.
    pub(crate) async fn delete<'a>(
        self: &'a Arc<Self>,
        step: Delete,
        along: Vec<Leaving<'a>>,
    ) -> StepResult<()> {
        let urn = step.old.urn().clone();
        let gone = match self.begin_deletion(step).await {
            Ok(leaving) => self.delete_in_world(leaving).await,
            Err(failure) => Err(failure),
        };
        match gone {
            Ok((mut leaving, begun)) => {
                leaving.running.leave_the_world();
                self.write_down(leaving, begun, along).await
            }
            Err(failure) => {
                for other in along {
                    match failure {
                        StepFailure::Failed => _ = other.running.failed_alone(staying(&urn)),
                        StepFailure::Stopped => other.running.ended_undone(),
                    }
                }
                Err(failure)
            }
        }
    }

    /// Forgets a resource that goes with another one, before that one went.
    pub(crate) async fn forget(self: &Arc<Self>, step: Delete) -> StepResult<()> {
        let leaving = self.begin_deletion(step).await?;
        self.write_down(leaving, None, Vec::new()).await
    }

    /// Begins to delete a resource that is written down with another one. Others can have its slot meanwhile.
    pub(crate) async fn hold<'a>(self: &'a Arc<Self>, step: Delete) -> StepResult<Leaving<'a>> {
        let mut leaving = self.begin_deletion(step).await?;
        leaving.running.give_slot_back();
        Ok(leaving)
    }

    async fn begin_deletion<'a>(self: &'a Arc<Self>, step: Delete) -> StepResult<Leaving<'a>> {
        let op = step.op();
        let Delete { old, reason } = step;
        let state = match old.state(&self.vault) {
            Ok(state) => state,
            Err(message) => return Err(self.fail(old.urn(), message).into()),
        };
        let shown =
            if reason == Reason::Replaced { condemned(Arc::clone(&state)) } else { Arc::clone(&state) };
        let running = self.start_from(op, Some(shown), None, Causes::default()).await?;
        let leaving = Leaving { running, old, state, reason };
        if reason == Reason::NeverReplaced {
            return Ok(leaving);
        }
        if let Err(message) = self.run_hooks(HookMoment::BeforeDelete, leaving.sides()).await {
            return Err(leaving.running.failed(message));
        }
        if reason == Reason::Unwanted && leaving.state.record.protect && !self.options.ignore_protect {
            return Err(leaving.running.refused_protected());
        }
        Ok(leaving)
    }

    /// Has the provider delete a resource, where there is something to delete.
    async fn delete_in_world<'a>(
        self: &'a Arc<Self>,
        leaving: Leaving<'a>,
    ) -> StepResult<(Leaving<'a>, Option<Begun>)> {
        let record = &leaving.state.record;
        let effect = record.custom
            && !self.options.dry_run
            && !record.external
            && !record.retain_on_delete
            && leaving.reason != Reason::NeverReplaced;
        if !effect {
            return Ok((leaving, None));
        }
        let provider = match self.manager(&record.urn, true, &record.provider).await {
            Ok(Some(provider)) => provider,
            Ok(None) => return Err(leaving.running.failed("a custom resource has no provider")),
            Err(error) => return Err(leaving.running.failed(error.message)),
        };
        if let Err(message) = self.extend_from_state(record).await {
            return Err(leaving.running.failed(message));
        }
        let mut begun = None;
        if !is_provider_type(record.urn.type_token()) {
            let sealed = match self.vault.seal(&leaving.state, Some(&leaving.old)) {
                Ok(sealed) => sealed,
                Err(message) => return Err(leaving.running.failed(message)),
            };
            match self.recorder.begin(OperationKind::Deleting, sealed.resource).await {
                Ok(operation) => begun = Some(operation),
                Err(error) => return Err(leaving.running.unrecorded(&error)),
            }
        }
        let during = leaving.during();
        let token = self.views.reserve(self.surroundings.uuid().to_string());
        let ask = || provider.delete(self.delete_arguments(&leaving.state, &token, during));
        let answered = leaving.running.with_retries("delete", leaving.sides(), ask, |()| None).await;
        let shown = self.show_views(&token, &record.urn, during).await;
        // A view that could not be deleted keeps its owner, so that the next run tries again.
        let ended =
            answered.is_ok() || !matches!(&answered, Err(error) if error.kind == ProviderErrorKind::Unknown);
        let failed = answered.is_err() || shown.is_err();
        if let Some(begun) = begun.filter(|_| failed && ended)
            && let Err(error) = self.recorder.fail(begun).await
        {
            return Err(leaving.running.unrecorded(&error));
        }
        if let Err(error) = answered {
            return Err(leaving.running.doubting(&error).failed(explain(&error, "the deletion")));
        }
        if let Err(failure) = shown {
            return Err(leaving.running.failed_with_its_views(failure));
        }
        Ok((leaving, begun))
    }

    /// Writes down that a resource is gone, after those that went along, and tells people then. A crash in between
    /// leaves states of what is gone, and the deletion that took it away as a pending operation: nothing is forgotten.
    async fn write_down(
        self: &Arc<Self>,
        leaving: Leaving<'_>,
        begun: Option<Begun>,
        along: Vec<Leaving<'_>>,
    ) -> StepResult<()> {
        if let Err(failure) = self.record_deletions(&leaving, begun, &along).await {
            for undone in along.into_iter().chain([leaving]) {
                undone.running.ended_undone();
            }
            return Err(failure);
        }
        for gone in along.into_iter().chain([leaving]) {
            if let (Reason::BeforeReplacement, Some(index)) = (gone.reason, Self::base_index(&gone.old)) {
                self.world().awaiting_replacement.insert(index);
            }
            gone.end().await;
        }
        Ok(())
    }

    async fn record_deletions(
        self: &Arc<Self>,
        leaving: &Leaving<'_>,
        begun: Option<Begun>,
        along: &[Leaving<'_>],
    ) -> StepResult<()> {
        for other in along {
            self.drop_views(other.old.urn(), other.during()).await?;
            let recorded = self.recorder.adjust(other.success()).await;
            recorded.map_err(|error| self.lose_journal(&error))?;
        }
        self.drop_views(leaving.old.urn(), leaving.during()).await?;
        let recorded = match begun {
            Some(begun) => self.recorder.succeed(begun, leaving.success()).await,
            None => self.recorder.adjust(leaving.success()).await,
        };
        recorded.map_err(|error| self.lose_journal(&error))?;
        Ok(())
    }

    fn delete_arguments(&self, state: &State, token: &str, during: During) -> DeleteArguments {
        DeleteArguments {
            urn: state.record.urn.clone(),
            id: state.record.id.clone(),
            inputs: state.inputs.clone(),
            outputs: state.outputs.clone(),
            timeout: super::timeout(&state.record, "delete"),
            status_token: token.to_owned(),
            old_views: self.open_views(&state.record.urn, during),
        }
    }

    /// Whether a resource was deleted, in this run or an earlier one, and its state waits for the replacement.
    pub(crate) fn awaits_replacement(&self, old: &Known) -> bool {
        let in_this_run = |index| self.world().awaiting_replacement.contains(&index);
        old.record().pending_replacement || Self::base_index(old).is_some_and(in_this_run)
    }

    /// The position of an old state.
    pub(crate) fn base_index(old: &Known) -> Option<usize> {
        match old.place {
            Place::Base(index) => Some(index),
            _ => None,
        }
    }
}

impl Running<'_> {
    /// Refuses to delete a protected resource. Nothing was done, so everything else goes on.
    fn refused_protected(mut self) -> StepFailure {
        let urn = self.event.urn.clone();
        let message = format!(
            "resource \"{urn}\" cannot be deleted\nbecause it is protected. To unprotect the resource, either remove the `protect` flag from the resource in your Pulumi program and run `pulumi up`, or use the command:\n`pulumi state unprotect '{urn}'`"
        );
        self.event.duration = std::time::Duration::ZERO;
        self.deployment.diagnose(&urn, crate::Severity::Error, message);
        self.deployment.send(crate::Event::StepFailed(self.event));
        self.deployment.note_failure();
        self.deployment.world().disposition_mut(&urn).failed = true;
        StepFailure::Failed
    }
}

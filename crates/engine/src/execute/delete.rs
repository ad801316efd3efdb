//! Deleting a resource.

use super::hooks::Sides;
use super::views::During;
use super::{Causes, StepResult, condemned, explain};
use crate::deployment::Deployment;
use crate::known::{Known, Place};
use crate::recorder::Success;
use crate::{DeleteArguments, HookMoment, Op, ProviderErrorKind, State};
use drystone_model::{OperationKind, is_provider_type};
use std::sync::Arc;

/// A resource to be deleted.
#[derive(Debug)]
pub(crate) struct Delete {
    pub(crate) old: Arc<Known>,
    pub(crate) reason: Reason,
}

impl Delete {
    /// The kind of the step.
    pub(crate) fn op(&self) -> Op {
        match (self.old.record().external, self.reason != Reason::Unwanted) {
            (false, false) => Op::Delete,
            (false, true) => Op::DeleteReplaced,
            (true, false) => Op::Discard,
            (true, true) => Op::DiscardReplaced,
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
}

impl Deployment {
    pub(crate) async fn delete(self: &Arc<Self>, step: Delete) -> StepResult<()> {
        let op = step.op();
        let Delete { old, reason } = step;
        let state = match old.state(&self.vault) {
            Ok(state) => state,
            Err(message) => return Err(self.fail(old.urn(), message).into()),
        };
        let replacing = reason != Reason::Unwanted;
        let shown =
            if reason == Reason::Replaced { condemned(Arc::clone(&state)) } else { Arc::clone(&state) };
        let running = self.start_from(op, Some(shown), None, Causes::default()).await?;
        let sides = Sides { old: Some(&state), new: None, applied: false };
        if let Err(message) = self.run_hooks(HookMoment::BeforeDelete, sides).await {
            return Err(running.failed(message));
        }
        if !replacing && state.record.protect && !self.options.ignore_protect {
            return Err(running.refused_protected());
        }
        let effect = state.record.custom
            && !self.options.dry_run
            && !state.record.external
            && !state.record.retain_on_delete
            && !self.is_deleted_with(&state);
        let mut begun = None;
        let during = if reason == Reason::Replaced { During::DeletionOfReplaced } else { During::Deletion };
        if effect {
            let provider = match self.manager(&state.record.urn, true, &state.record.provider).await {
                Ok(Some(provider)) => provider,
                Ok(None) => return Err(running.failed("a custom resource has no provider")),
                Err(error) => return Err(running.failed(error.message)),
            };
            if let Err(message) = self.extend_from_state(&state.record).await {
                return Err(running.failed(message));
            }
            if !is_provider_type(state.record.urn.type_token()) {
                let sealed = match self.vault.seal(&state, Some(&old)) {
                    Ok(sealed) => sealed,
                    Err(message) => return Err(running.failed(message)),
                };
                match self.recorder.begin(OperationKind::Deleting, sealed.resource).await {
                    Ok(operation) => begun = Some(operation),
                    Err(error) => return Err(running.unrecorded(&error)),
                }
            }
            let token = self.views.reserve(self.surroundings.uuid().to_string());
            let answered = running
                .with_retries(
                    "delete",
                    sides,
                    || provider.delete(self.delete_arguments(&state, &token, during)),
                    |()| None,
                )
                .await;
            let shown = self.show_views(&token, &state.record.urn, during).await;
            // A view that could not be deleted keeps its owner, so that the next run tries again.
            let ended = answered.is_ok()
                || !matches!(&answered, Err(error) if error.kind == ProviderErrorKind::Unknown);
            let failed = answered.is_err() || shown.is_err();
            if let Some(begun) = begun.filter(|_| failed && ended)
                && let Err(error) = self.recorder.fail(begun).await
            {
                return Err(running.unrecorded(&error));
            }
            if let Err(error) = answered {
                return Err(running.doubting(&error).failed(explain(&error, "the deletion")));
            }
            if let Err(failure) = shown {
                return Err(running.failed_with_its_views(failure));
            }
        }
        self.drop_views(&state.record.urn, during).await?;
        let success = match reason {
            Reason::BeforeReplacement => {
                Success { pending_replacement: Some(old.place), ..Success::default() }
            }
            _ => Success { remove: Some(old.place), ..Success::default() },
        };
        let recorded = match begun {
            Some(begun) => self.recorder.succeed(begun, success).await,
            None => self.recorder.adjust(success).await,
        };
        if let Err(error) = recorded {
            return Err(running.unrecorded(&error));
        }
        if let (Reason::BeforeReplacement, Some(index)) = (reason, Self::base_index(&old)) {
            self.world().awaiting_replacement.insert(index);
        }
        self.run_hooks_after(HookMoment::AfterDelete, sides).await;
        running.done(None);
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

    /// Whether the resource goes together with another one that is deleted too.
    fn is_deleted_with(&self, state: &State) -> bool {
        let with = &state.record.deleted_with;
        !with.is_empty() && self.world().disposition(with).deleted
    }

    /// Forgets a resource that was deleted for a replacement which never came.
    pub(crate) async fn forget_pending_replacement(self: &Arc<Self>, old: Arc<Known>) -> StepResult<()> {
        let running = self.start(Op::RemovePendingReplace, Some(&old), None, Causes::default()).await?;
        let success = Success { remove: Some(old.place), ..Success::default() };
        if let Err(error) = self.recorder.adjust(success).await {
            return Err(running.unrecorded(&error));
        }
        running.done(None);
        Ok(())
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

impl super::Running<'_> {
    /// Refuses to delete a protected resource. Nothing was done, so everything else goes on.
    fn refused_protected(mut self) -> super::StepFailure {
        let urn = self.event.urn.clone();
        let message = format!(
            "resource \"{urn}\" cannot be deleted\nbecause it is protected. To unprotect the resource, either remove the `protect` flag from the resource in your Pulumi program and run `pulumi up`, or use the command:\n`pulumi state unprotect '{urn}'`"
        );
        self.event.duration = std::time::Duration::ZERO;
        self.deployment.diagnose(&urn, crate::Severity::Error, message);
        self.deployment.send(crate::Event::StepFailed(self.event));
        self.deployment.note_failure();
        self.deployment.world().disposition_mut(&urn).failed = true;
        super::StepFailure::Failed
    }
}

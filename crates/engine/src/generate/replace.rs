//! Replacing a resource.

use super::check::shown;
use super::delete::stay;
use super::registration::{Registering, Settled, settled};
use super::together::{Schedule, Way, containers};
use crate::deployment::Deployment;
use crate::execute::{Causes, Create, Delete, DeleteReason, Leaving, Replaced, StepResult};
use crate::known::Known;
use crate::world::Decision;
use crate::{Diff, Op, Severity};
use drystone_model::Urn;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tokio::sync::MutexGuard;

impl Registering {
    /// Replaces a resource, the old one before or after the new one.
    pub(crate) async fn replace(
        mut self,
        old: Arc<Known>,
        diff: Diff,
        deciding: MutexGuard<'_, ()>,
    ) -> StepResult<Settled> {
        let deployment = Arc::clone(&self.deployment);
        if self.new.record.protect && old.record().protect && !deployment.options.ignore_protect {
            let message = format!(
                "unable to replace resource \"{}\"\nas it is currently marked for protection. To unprotect the resource, remove the `protect` flag from the resource in your Pulumi program and run `pulumi up`",
                self.urn
            );
            deployment.diagnose(&self.urn, Severity::Error, message);
            deployment.note_failure();
            // A preview goes on to show what would have been replaced.
            if !deployment.options.dry_run {
                return Err(deployment.fail_silently().into());
            }
        }
        if !self.request.options.import_id.is_empty() {
            let message = self.import_conflict(&old, &diff);
            if deployment.options.dry_run {
                deployment.warn(&self.urn, message);
            } else {
                return self.failed(message);
            }
        }
        deployment.world().decide(&self.urn, Decision::Replace);
        if self.provider.is_some() && !deployment.is_replace_target(&self.urn, Some(old.record())) {
            // Nothing that was made up for the old one is carried over.
            match self.check(crate::PropertyMap::new(), self.request.properties.clone()).await {
                Ok(inputs) => self.new.inputs = inputs,
                Err(_) => return Err(deployment.fail_silently().into()),
            }
            if self.remediate_again().await.is_err() {
                return self.invalid();
            }
        }
        self.admit_replacement()?;
        let first = self.delete_before_replace.unwrap_or(diff.delete_before_replace);
        let causes = Causes::from(&diff);
        if !first && !old.record().pending_replacement {
            deployment.admit(&[(&self.urn, Op::CreateReplacement), (&self.urn, Op::Replace)])?;
            drop(deciding);
            return self.create_replacement(old, causes, true).await;
        }
        let deletions = self.condemn(&old).await?;
        let mut steps: Vec<(&Urn, Op)> =
            deletions.iter().rev().map(|step| (step.old.urn(), step.op())).collect();
        steps.extend([(&self.urn, Op::Replace), (&self.urn, Op::CreateReplacement)]);
        deployment.admit(&steps)?;
        deployment.world().leaving.extend(deletions.iter().map(|step| step.old.urn().clone()));
        drop(deciding);
        if let Err(failure) = deployment.delete_before(&self.urn, &old, deletions).await {
            return settled(&deployment, Err(failure), self.new);
        }
        self.create_replacement(old, causes, false).await
    }

    /// What has to be deleted before the replacement is made, in the order of dependencies: the resource itself first.
    async fn condemn(&self, old: &Arc<Known>) -> StepResult<Vec<Delete>> {
        let deployment = &self.deployment;
        let dependents = match deployment.dependent_replacements(old).await {
            Ok(dependents) => dependents,
            Err(error) => return Err(deployment.fail(&self.urn, error.message).into()),
        };
        let mut deletions = Vec::new();
        for dependent in dependents.into_iter().rev() {
            let record = dependent.known.record();
            // One that this run has refreshed stands in the base no more.
            let index = Deployment::base_index(&dependent.known);
            let is_condemned = {
                let world = deployment.world();
                index.map_or_else(
                    || world.disposition(&record.urn).deleted,
                    |at| world.condemned.contains(&at),
                )
            };
            if is_condemned {
                continue;
            }
            if !record.delete && record.protect && !deployment.options.ignore_protect {
                let urn = &record.urn;
                let message = format!(
                    "unable to replace resource \"{urn}\" as part of replacing \"{}\" as it is currently marked for protection. To unprotect the resource, remove the `protect` flag from the resource in your Pulumi program and run `pulumi up`, or use the command:\n`pulumi state unprotect '{urn}'`",
                    self.urn
                );
                return Err(deployment.fail(&self.urn, message).into());
            }
            let reason = if record.delete { DeleteReason::Unwanted } else { DeleteReason::BeforeReplacement };
            let mut world = deployment.world();
            world.dependent_keys.insert(record.urn.clone(), dependent.keys);
            world.disposition_mut(&record.urn).deleted = true;
            world.condemned.extend(index);
            drop(world);
            // A run that was interrupted deleted it already.
            if record.pending_replacement && !record.delete {
                continue;
            }
            deletions.push(Delete { old: Arc::clone(&dependent.known), reason });
        }
        if !old.record().pending_replacement {
            if let Some(index) = Deployment::base_index(old) {
                deployment.world().condemned.insert(index);
            }
            deletions.push(Delete { old: Arc::clone(old), reason: DeleteReason::BeforeReplacement });
        }
        deletions.reverse();
        Ok(deletions)
    }

    /// Makes what takes the place of a state.
    pub(crate) async fn create_replacement(
        self,
        old: Arc<Known>,
        causes: Causes,
        delete_later: bool,
    ) -> StepResult<Settled> {
        let deployment = Arc::clone(&self.deployment);
        let Self { new, provider, .. } = self;
        let fallback = new.clone();
        if !delete_later {
            deployment.announce_replace(&old, &Arc::new(new.clone()), causes.clone(), false);
        }
        let replaces = Some(Replaced { old: Arc::clone(&old), delete_later });
        let outcome = deployment.create(Create { new, replaces, causes: causes.clone(), provider }).await;
        if let (true, Ok(known)) = (delete_later, &outcome)
            && let Ok(state) = known.state(&deployment.vault)
        {
            deployment.announce_replace(&old, &state, causes, true);
        }
        settled(&deployment, outcome, fallback)
    }

    fn import_conflict(&self, old: &Known, diff: &Diff) -> String {
        let before = old.state(&self.deployment.vault).map(|state| state.inputs.clone()).unwrap_or_default();
        let keys: Vec<String> = diff
            .replace_keys
            .iter()
            .map(|key| format!("{key}: {} => {}", shown(before.get(key)), shown(self.new.inputs.get(key))))
            .collect();
        format!(
            "previously-imported resources that still specify an ID may not be replaced; please remove the `import` declaration from your program;\n{}",
            keys.join("\n")
        )
    }
}

impl Deployment {
    /// Waits until a resource is not being deleted any more, whether that went well or not.
    pub(crate) async fn until_left(&self, urn: &Urn) {
        loop {
            let stirred = self.stirred.notified();
            if self.is_stopping() || !self.world().leaving.contains(urn) {
                return;
            }
            stirred.await;
        }
    }

    /// Deletes what has to go before the replacement of `root` is made, one after the other, dependents first.
    async fn delete_before(
        self: &Arc<Self>,
        urn: &Urn,
        root: &Arc<Known>,
        going: Vec<Delete>,
    ) -> StepResult<()> {
        let schedule = {
            let world = self.world();
            let mut containers = containers(&world, &going);
            // What is replaced comes back, so that nothing can count on going with it.
            for container in &mut containers {
                *container = container.filter(|&at| !Arc::ptr_eq(&going[at].old, root));
            }
            Schedule::new(&going, &containers, &world.aliased)
        };
        let mut gone: HashSet<usize> = HashSet::new();
        let mut waiting: HashMap<usize, Vec<Leaving<'_>>> = HashMap::new();
        let mut outcome = Ok(());
        for at in schedule.turns() {
            let along = waiting.remove(&at).unwrap_or_default();
            match self.let_go(going[at].clone(), schedule.way(at), along).await {
                Ok(None) => _ = gone.insert(at),
                Ok(Some((with, leaving))) => waiting.entry(with).or_default().push(leaving),
                Err(failure) => {
                    outcome = Err((at, failure));
                    break;
                }
            }
        }
        stay(&going, waiting);
        let mut world = self.world();
        going.iter().for_each(|step| _ = world.leaving.remove(step.old.urn()));
        self.stirred.notify_waiters();
        let Err((stuck, failure)) = outcome else { return Ok(()) };
        // What is still there is not made anew, and what depends on the replacement is left alone.
        world.mark_failed(urn);
        for (at, step) in going.iter().enumerate() {
            let is_gone = match schedule.way(at) {
                Way::With(with) => gone.contains(&with),
                _ => gone.contains(&at),
            };
            if is_gone {
                continue;
            }
            world.disposition_mut(step.old.urn()).deleted = false;
            if let Some(index) = Self::base_index(&step.old).filter(|_| at != stuck) {
                world.condemned.remove(&index);
            }
        }
        Err(failure)
    }
}

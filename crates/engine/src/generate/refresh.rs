//! Bringing the state up to what there is: before everything else, or as the program registers.

use super::registration::{Registering, Settled, done};
use crate::deployment::{Deployment, Stopped};
use crate::execute::{Recording, RefreshFor, StepFailure, StepResult};
use crate::known::{Known, Place};
use crate::world::Decision;
use crate::{Operation, RefreshMode};
use drystone_model::is_provider_type;
use std::collections::HashMap;
use std::sync::Arc;

impl Deployment {
    /// Refreshes what has to be before the program runs or anything is deleted.
    pub(crate) async fn refresh_first(self: &Arc<Self>) -> Result<(), Stopped> {
        let with_program = self.options.run_program;
        let all = self.options.operation == Operation::Refresh || self.options.refresh == RefreshMode::First;
        if all && with_program {
            return Ok(());
        }
        let is_empty = self.world().olds.is_empty();
        if !is_empty && (all || self.world().olds.iter().any(|known| known.record().refresh_before_update)) {
            self.check_targets(&self.options.targets)?;
            self.check_targets(&self.options.excludes)?;
        }
        let chosen: Vec<(usize, Arc<Known>)> = {
            let mut world = self.world();
            let olds = world.olds.clone();
            let mut chosen = Vec::new();
            for (index, known) in olds.into_iter().enumerate() {
                let record = known.record();
                let wanted = all || (record.refresh_before_update && record.custom && !record.delete);
                if !record.view_of.is_empty() || !wanted {
                    continue;
                }
                let included = self.is_included(&world, record);
                if included && self.options.targets.is_constrained() {
                    world.targets.insert(&record.urn);
                }
                if !included && self.options.excludes.is_constrained() {
                    world.excludes.insert(&record.urn);
                }
                if included {
                    chosen.push((index, known));
                }
            }
            chosen
        };
        let refreshed = chosen
            .into_iter()
            .map(|(index, known)| async move { (index, self.refresh(known, RefreshFor::All).await) });
        let outcomes = futures::future::join_all(refreshed).await;
        let mut world = self.world();
        let mut olds: Vec<Option<Arc<Known>>> = world.olds.drain(..).map(Some).collect();
        let mut stopped = false;
        for (index, outcome) in outcomes {
            match outcome {
                Ok(found) => {
                    if found.is_none() {
                        world.vanished.extend(olds[index].as_ref().map(|known| known.urn().clone()));
                    }
                    olds[index] = found;
                }
                Err(_) => stopped = true,
            }
        }
        let views: HashMap<Place, Arc<Known>> =
            world.live_views.values().flatten().map(|view| (view.place, Arc::clone(view))).collect();
        for slot in &mut olds {
            let shown = slot.as_ref().filter(|known| is_live_view(known)).map(|known| known.place);
            if let Some(place) = shown {
                *slot = views.get(&place).cloned();
            }
        }
        world.set_olds(olds.into_iter().flatten().collect());
        // What a refresh touched has its targets anew: dependents found here are none of the update's.
        world.targets = self.options.targets.clone();
        world.excludes = self.options.excludes.clone();
        drop(world);
        if stopped || self.is_stopping() { Err(Stopped) } else { Ok(()) }
    }

    /// Whether a resource is refreshed when the program registers it.
    pub(crate) fn refreshes_with_program(&self, known: &Known) -> bool {
        let all = self.options.operation == Operation::Refresh || self.options.refresh == RefreshMode::First;
        all && self.options.run_program && self.is_included(&self.world(), known.record())
    }

    /// After a refresh that ran the program: what the program did not name is refreshed too.
    pub(crate) async fn refresh_the_rest(self: &Arc<Self>) -> Result<(), Stopped> {
        let rest: Vec<Arc<Known>> = {
            let world = self.world();
            let wanted = |known: &&Arc<Known>| {
                let record = known.record();
                record.view_of.is_empty()
                    && !world.is_operated_on(&record.urn)
                    && self.is_included(&world, record)
            };
            world.olds.iter().filter(wanted).cloned().collect()
        };
        let outcomes =
            futures::future::join_all(rest.into_iter().map(|known| self.refresh(known, RefreshFor::Rest)))
                .await;
        let stopped = outcomes.iter().any(|outcome| matches!(outcome, Err(StepFailure::Stopped)));
        if stopped { Err(Stopped) } else { Ok(()) }
    }
}

fn is_live_view(known: &Known) -> bool {
    !known.record().view_of.is_empty() && !known.record().delete
}

impl Registering {
    /// Refreshes the old state; gives the one to go on with.
    pub(crate) async fn refresh(&mut self, known: Arc<Known>) -> StepResult<Option<Arc<Known>>> {
        let deployment = Arc::clone(&self.deployment);
        let old_urn = known.urn().clone();
        let found = deployment.refresh(known, RefreshFor::Program(&self.new)).await?;
        if let Some(found) = &found {
            self.new.record.modified.clone_from(&found.record().modified);
            self.new.record.refresh_before_update = found.record().refresh_before_update;
        }
        let mut world = deployment.world();
        world.disposition_mut(&old_urn).refreshed = true;
        world.disposition_mut(&self.urn).refreshed = true;
        if let Some(&index) = world.by_urn.get(&old_urn) {
            match &found {
                Some(found) => {
                    if let Some(slot) = world.olds.get_mut(index) {
                        *slot = Arc::clone(found);
                    }
                }
                None => {
                    world.by_urn.remove(&old_urn);
                    let place = world.olds.get(index).and_then(|known| Deployment::base_index(known));
                    world.condemned.extend(place);
                }
            }
        }
        Ok(found)
    }

    /// In a refresh that runs the program: nothing is made, and what exists was just read.
    pub(crate) async fn only_refresh(&mut self, old: Option<&Arc<Known>>) -> StepResult<Option<Settled>> {
        let deployment = Arc::clone(&self.deployment);
        let managed = self.request.custom && !is_provider_type(&self.request.type_token);
        let skipped = deployment.has_skipped_dependencies(&deployment.world(), &self.new.record);
        if !managed && !skipped {
            return Ok(None);
        }
        let Some(old) = old else {
            deployment.world().decide(&self.urn, Decision::SkippedCreate);
            let known = deployment.skip_create(self.new.clone()).await?;
            return Ok(Some(Settled { unknown: true, ..done(known) }));
        };
        let refreshed = deployment.world().disposition(&self.urn).refreshed;
        if refreshed {
            deployment.remember(old);
            return Ok(Some(done(Arc::clone(old))));
        }
        // What was refreshed moves to where the program registers it; what it may depend on has to stand before it.
        Ok(Some(done(self.keep_in_place(old).await?)))
    }

    /// Writes a state that the operation is not about down again, among what the program registers. Nobody is told.
    async fn keep_in_place(&self, old: &Arc<Known>) -> StepResult {
        let deployment = &self.deployment;
        let state = old.state(&deployment.vault).map_err(|message| deployment.fail(&self.urn, message))?;
        let kept = match deployment.replace_state(old, state, None).await {
            Ok(kept) => kept,
            Err(Recording::Unwritable(message)) => return Err(deployment.fail(&self.urn, message).into()),
            Err(Recording::Lost(error)) => return Err(deployment.lose_journal(&error).into()),
        };
        let mut world = deployment.world();
        if let Some(&index) = world.by_urn.get(old.urn())
            && let Some(slot) = world.olds.get_mut(index)
        {
            *slot = Arc::clone(&kept);
        }
        Ok(kept)
    }

    /// In a destroy that runs the program: nothing is made, and what exists goes at the end.
    pub(crate) async fn only_keep(&mut self, old: Option<&Arc<Known>>) -> StepResult<Option<Settled>> {
        let deployment = Arc::clone(&self.deployment);
        let skipped = deployment.has_skipped_dependencies(&deployment.world(), &self.new.record);
        let managed = self.request.custom && !is_provider_type(&self.request.type_token);
        let old = match old {
            Some(old) if !skipped && managed => old,
            None if !skipped && !managed => {
                deployment.world().to_delete.push(self.urn.clone());
                return Ok(None);
            }
            Some(_) if !skipped => {
                deployment.world().to_delete.push(self.urn.clone());
                return Ok(None);
            }
            _ => {
                deployment.world().decide(&self.urn, Decision::SkippedCreate);
                if let Some(old) = old {
                    // It goes with everything that the program does not keep, refreshed or not.
                    let mut world = deployment.world();
                    world.disposition_mut(&self.urn).refreshed = false;
                    world.disposition_mut(old.urn()).refreshed = false;
                }
                if let Some(before) = old.and_then(|old| old.state(&deployment.vault).ok()) {
                    self.new.outputs.clone_from(&before.outputs);
                    // What it manages, if it is a provider, names it by that.
                    self.new.record.id.clone_from(&before.record.id);
                }
                let known = deployment.skip_create(self.new.clone()).await?;
                return Ok(Some(Settled { unknown: true, ..done(known) }));
            }
        };
        {
            let mut world = deployment.world();
            world.decide(&self.urn, Decision::Same);
            world.to_delete.push(self.urn.clone());
        }
        let before = old.state(&deployment.vault).map_err(|message| deployment.fail(&self.urn, message))?;
        self.new.inputs.clone_from(&before.inputs);
        let kept = deployment.same(Arc::clone(old), self.new.clone()).await?;
        Ok(Some(done(kept)))
    }
}

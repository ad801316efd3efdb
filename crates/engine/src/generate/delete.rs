//! What goes because the program does not name it any more, or because it was replaced.

use super::target::references;
use super::together::{Schedule, Way, containers};
use crate::deployment::{Deployment, Stopped};
use crate::execute::{Delete, DeleteReason, Leaving, StepFailure, StepResult};
use crate::known::{Known, Place};
use crate::world::{Decision, World};
use crate::{Op, Operation, Severity, Targets};
use drystone_model::{Operation as Interrupted, OperationKind, ProviderReference, Urn};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

impl Deployment {
    /// Deletes everything that has to go, each after all that depends on it.
    pub(crate) async fn delete_the_rest(self: &Arc<Self>) -> Result<(), Stopped> {
        let (going, staying) = self.find_going().await?;
        let kept = staying.iter().map(|known| (known.urn().clone(), Op::Same));
        let steps: Vec<(Urn, Op)> =
            kept.chain(going.iter().map(|step| (step.old.urn().clone(), step.op()))).collect();
        self.admit_rest(&steps)?;
        for known in staying {
            if let Err(StepFailure::Stopped) = self.leave(known).await {
                return Err(Stopped);
            }
        }
        self.refuse_untargeted(&going)?;
        self.refuse_needed(&going)?;
        let schedule = {
            let world = self.world();
            Schedule::new(&going, &containers(&world, &going), &world.aliased)
        };
        let mut spared: HashSet<usize> = HashSet::new();
        let mut waiting: HashMap<usize, Vec<Leaving<'_>>> = HashMap::new();
        for mut layer in schedule.layers() {
            layer.retain(|at| !spared.contains(at));
            let turns = layer.iter().map(|at| {
                let along = waiting.remove(at).unwrap_or_default();
                self.let_go(going[*at].clone(), schedule.way(*at), along)
            });
            let outcomes = futures::future::join_all(turns).await;
            let mut stopped = false;
            for (&at, outcome) in layer.iter().zip(outcomes) {
                match outcome {
                    Ok(None) => {}
                    Ok(Some((root, leaving))) => waiting.entry(root).or_default().push(leaving),
                    Err(StepFailure::Stopped) => stopped = true,
                    // What it depends on has to stay as long as it does.
                    Err(StepFailure::Failed) => schedule.spare(at, &mut spared),
                }
            }
            if stopped || self.is_stopping() {
                stay(&going, waiting);
                return Err(Stopped);
            }
        }
        stay(&going, waiting);
        Ok(())
    }

    /// Deletes something when its turn comes, or begins to, and says what it waits for then.
    pub(crate) async fn let_go<'a>(
        self: &'a Arc<Self>,
        step: Delete,
        way: Way,
        along: Vec<Leaving<'a>>,
    ) -> StepResult<Option<(usize, Leaving<'a>)>> {
        match way {
            Way::Alone => self.delete(step, along).await.map(|()| None),
            Way::AtOnce => self.forget(step).await.map(|()| None),
            Way::With(root) => Ok(Some((root, self.hold(step).await?))),
        }
    }

    /// What goes, in the snapshot's order, and what stays only because the operation is not about it.
    async fn find_going(self: &Arc<Self>) -> Result<(Vec<Delete>, Vec<Arc<Known>>), Stopped> {
        let scope = self.deletion_scope().await?;
        let mut world = self.world();
        let mut going = Vec::new();
        let mut staying = Vec::new();
        let needed = needed_by_failures(&world);
        let asked = asked_about_creations(&world, &self.base().pending_operations);
        // What this run made or kept stands before the rest of the base, which may depend on it.
        for known in std::mem::take(&mut world.superseded_news) {
            world.disposition_mut(known.urn()).deleted = true;
            going.push(Delete { old: known, reason: DeleteReason::Replaced });
        }
        for urn in std::mem::take(&mut world.to_delete) {
            let former = world.aliases.get(&urn);
            let needed = needed.contains(&urn) || former.is_some_and(|former| needed.contains(former));
            let in_scope = scope.contains_either(&urn, former) && !needed;
            if asked.contains(&urn) {
                world.kept_to_be_asked.insert(urn);
                continue;
            }
            if let Some(known) = world.news.get(&urn).cloned().filter(|_| in_scope) {
                world.disposition_mut(&urn).deleted = true;
                going.push(Delete { old: known, reason: DeleteReason::Unwanted });
            }
        }
        for (index, known) in world.olds.clone().into_iter().enumerate() {
            let record = known.record();
            // Views go with what they are views of.
            if !record.view_of.is_empty() {
                continue;
            }
            if needed.contains(&record.urn) {
                continue;
            }
            let place = Self::base_index(&known).unwrap_or(index);
            let operated_on = world.is_operated_on(&record.urn);
            if !scope.contains(&record.urn) {
                if !operated_on && !record.delete && !world.condemned.contains(&place) {
                    staying.push(known);
                }
                continue;
            }
            let awaiting = record.pending_replacement || world.awaiting_replacement.contains(&place);
            let reason = if record.delete || world.superseded.contains(&place) {
                if world.condemned.contains(&place) {
                    continue;
                }
                DeleteReason::Replaced
            } else if operated_on {
                continue;
            } else if awaiting {
                DeleteReason::NeverReplaced
            } else if world.condemned.contains(&place) {
                continue;
            } else {
                DeleteReason::Unwanted
            };
            if asked.contains(&record.urn) {
                world.kept_to_be_asked.insert(record.urn.clone());
                continue;
            }
            world.disposition_mut(&record.urn).deleted = true;
            going.push(Delete { old: known, reason });
        }
        Ok((going, staying))
    }

    /// Which resources may be deleted.
    async fn deletion_scope(self: &Arc<Self>) -> Result<Scope, Stopped> {
        if self.options.targets.is_constrained() {
            let roots = {
                let world = self.world();
                closure_of_dependents(&world, &self.options.targets)
            };
            let mut allowed: HashSet<Urn> = HashSet::new();
            for known in roots {
                allowed.insert(known.urn().clone());
                let dependents = self.dependent_replacements(&known).await;
                let dependents = dependents.map_err(|error| self.fail(known.urn(), error.message))?;
                allowed.extend(dependents.iter().map(|dependent| dependent.known.urn().clone()));
            }
            return Ok(Scope::Only(allowed));
        }
        if self.options.excludes.is_constrained() {
            return Ok(Scope::AllBut(self.kept_by_excludes()));
        }
        Ok(Scope::All)
    }

    /// What has to stay so that the excluded resources can.
    fn kept_by_excludes(&self) -> HashSet<Urn> {
        let world = self.world();
        let mut kept: HashSet<Urn> = HashSet::new();
        if self.options.exclude_dependents {
            kept.extend(
                closure_of_dependents(&world, &self.options.excludes).iter().map(|known| known.urn().clone()),
            );
        }
        // Dependencies come before what depends on them, so going backwards sees every dependent first.
        for known in world.olds.iter().rev() {
            if self.options.excludes.contains(known.urn()) || kept.contains(known.urn()) {
                kept.insert(known.urn().clone());
                kept.extend(references(known.record()).map(Urn::new));
                // It may refer to more since the program registered it.
                let now = world.news.get(world.aliased.get(known.urn()).unwrap_or(known.urn()));
                kept.extend(now.iter().flat_map(|now| references(now.record())).map(Urn::new));
            }
        }
        kept
    }

    /// Refuses to delete what depends on a target and is none itself.
    fn refuse_untargeted(&self, going: &[Delete]) -> Result<(), Stopped> {
        if !self.options.targets.is_constrained() || self.options.target_dependents {
            return Ok(());
        }
        let mut refused = false;
        for gone in going {
            let urn = gone.old.urn();
            if is_named(&self.world(), &self.options.targets, urn) {
                continue;
            }
            refused = true;
            let message = format!(
                "Resource '{urn}' will be destroyed but was not specified in --target list.\nEither include resource in --target list or pass --target-dependents to proceed."
            );
            self.diagnose(urn, Severity::Error, message);
            self.note_failure();
        }
        // A preview goes on, so that all of it is told at once.
        if refused && !self.options.dry_run { Err(self.fail_silently()) } else { Ok(()) }
    }

    /// Refuses to delete what a resource still refers to that stays because the operation is not about it.
    fn refuse_needed(&self, going: &[Delete]) -> Result<(), Stopped> {
        if !self.is_constrained() {
            return Ok(());
        }
        let staying = self.staying(going);
        let mut refused = false;
        for gone in going {
            let record = gone.old.record();
            let reference = crate::registry::reference(&record.urn, &record.id);
            let disappears = gone.reason != DeleteReason::Replaced;
            let needs = |edge: drystone_model::Edge<'_>| match edge.provider {
                Some(provider) => provider == reference,
                None => disappears && edge.urn == record.urn.as_str(),
            };
            // Views go with what they are views of.
            let needed_by = |known: &&Arc<Known>| {
                known.record().view_of != record.urn && drystone_model::edges(known.record()).any(needs)
            };
            let Some(by) = staying.iter().find(needed_by) else {
                continue;
            };
            refused = true;
            let message = format!(
                "Resource '{}' cannot be deleted: '{}' still depends on it, and this run is not about that one.",
                record.urn,
                by.urn()
            );
            self.diagnose(&record.urn, Severity::Error, message);
            self.note_failure();
        }
        if refused && !self.options.dry_run { Err(self.fail_silently()) } else { Ok(()) }
    }

    /// The states that stay, those of this run first.
    fn staying(&self, going: &[Delete]) -> Vec<Arc<Known>> {
        let world = self.world();
        let places: HashSet<Place> = going.iter().map(|gone| gone.old.place).collect();
        let made = |(urn, _): &(&Urn, &Arc<Known>)| !world.decided(urn, Decision::SkippedCreate);
        let mut staying: Vec<Arc<Known>> =
            world.news.iter().filter(made).map(|(_, known)| Arc::clone(known)).collect();
        staying.sort_by(|a, b| a.urn().cmp(b.urn()));
        let renewed =
            |known: &Known| world.news.contains_key(world.aliased.get(known.urn()).unwrap_or(known.urn()));
        staying.extend(world.olds.iter().filter(|known| !renewed(known)).cloned());
        staying.retain(|known| !places.contains(&known.place) && !known.record().delete);
        staying
    }

    /// In a destroy that runs the program: what it registers is kept until everything goes.
    pub(crate) fn is_destroying(&self) -> bool {
        self.options.operation == Operation::Destroy
    }
}

/// What waited to go with something else is still there.
pub(super) fn stay(going: &[Delete], waiting: HashMap<usize, Vec<Leaving<'_>>>) {
    let mut waiting: Vec<_> = waiting.into_iter().collect();
    waiting.sort_by_key(|(root, _)| *root);
    for (root, leaving) in waiting {
        for one in leaving {
            one.stay(going[root].old.urn());
        }
    }
}

enum Scope {
    All,
    Only(HashSet<Urn>),
    AllBut(HashSet<Urn>),
}

impl Scope {
    /// Whether a resource is in it under its name or the one that it had.
    fn contains_either(&self, urn: &Urn, former: Option<&Urn>) -> bool {
        match self {
            Self::AllBut(_) => self.contains(urn) && former.is_none_or(|former| self.contains(former)),
            _ => self.contains(urn) || former.is_some_and(|former| self.contains(former)),
        }
    }

    fn contains(&self, urn: &Urn) -> bool {
        match self {
            Self::All => true,
            Self::Only(allowed) => allowed.contains(urn),
            Self::AllBut(kept) => !kept.contains(urn),
        }
    }
}

/// The targets and everything that refers to them, children too, in the snapshot's order. What a destroy that runs the
/// program keeps until its end counts as it is now and as it was.
fn closure_of_dependents(world: &World, targets: &Targets) -> Vec<Arc<Known>> {
    let mut reached: HashSet<Urn> = HashSet::new();
    let mut found = Vec::new();
    let kept = world.to_delete.iter().filter_map(|urn| world.news.get(urn));
    for known in kept.chain(&world.olds) {
        let record = known.record();
        let refers = || references(record).any(|urn| reached.contains(&Urn::new(urn)));
        if is_named(world, targets, &record.urn) || refers() {
            let names = [world.aliases.get(&record.urn), world.aliased.get(&record.urn)];
            reached.extend(names.into_iter().flatten().cloned());
            reached.insert(record.urn.clone());
            found.push(Arc::clone(known));
        }
    }
    found
}

/// Whether a resource is among the targets, by the name that it has or the one that it had.
fn is_named(world: &World, targets: &Targets, urn: &Urn) -> bool {
    targets.contains(urn) || world.aliases.get(urn).is_some_and(|old| targets.contains(old))
}

/// What failed and skipped resources refer to, directly or not, as they were and as they are now: they still need it.
fn needed_by_failures(world: &World) -> HashSet<Urn> {
    let now = |urn: &Urn| world.aliased.get(urn).unwrap_or(urn).clone();
    let failed = |known: &&Arc<Known>| world.disposition(&now(known.urn())).failed;
    referred_to(world, world.olds.iter().filter(failed).cloned().collect())
}

/// The providers of creations whose end nobody knows, with what they refer to: they stay as long as they may be asked.
fn asked_about_creations(world: &World, pending: &[Interrupted]) -> HashSet<Urn> {
    let creations = pending.iter().filter(|operation| operation.kind == OperationKind::Creating);
    let providers = creations.filter_map(|operation| ProviderReference::split(&operation.resource.provider));
    let mut asked: HashSet<Urn> = providers.map(|(urn, _)| Urn::new(urn)).collect();
    let known = world.olds.iter().filter(|known| asked.contains(known.urn())).cloned().collect();
    asked.extend(referred_to(world, known));
    asked
}

/// What some refer to, directly or not, as it was and as it is now.
fn referred_to(world: &World, mut pending: Vec<Arc<Known>>) -> HashSet<Urn> {
    let now = |urn: &Urn| world.aliased.get(urn).unwrap_or(urn).clone();
    let mut needed: HashSet<Urn> = HashSet::new();
    if pending.is_empty() {
        return needed;
    }
    let mut olds: HashMap<&Urn, Vec<&Arc<Known>>> = HashMap::new();
    for known in &world.olds {
        olds.entry(known.urn()).or_default().push(known);
    }
    while let Some(known) = pending.pop() {
        for urn in references(known.record()).map(Urn::new) {
            if needed.insert(urn.clone()) {
                let old = olds.get(&urn).into_iter().flatten().copied();
                pending.extend(old.chain(world.news.get(&now(&urn))).cloned());
            }
        }
    }
    needed
}

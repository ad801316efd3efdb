//! What goes because the program does not name it any more, or because it was replaced.

use super::target::references;
use crate::deployment::{Deployment, Stopped};
use crate::execute::{Delete, DeleteReason, StepFailure};
use crate::known::{Known, Place};
use crate::world::{Decision, World};
use crate::{Op, Operation, Severity, Targets};
use drystone_model::{Operation as Interrupted, OperationKind, ProviderReference, Urn};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Something that goes.
#[derive(Debug, Clone)]
struct Going {
    known: Arc<Known>,
    how: How,
}

impl Going {
    /// The step that it takes.
    fn step(&self) -> (Urn, Op) {
        let op = match self.how {
            How::Delete(reason) => Delete { old: Arc::clone(&self.known), reason }.op(),
            How::Forget => Op::RemovePendingReplace,
        };
        (self.known.urn().clone(), op)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Delete(DeleteReason),
    /// It was deleted before: only its state goes.
    Forget,
}

impl Deployment {
    /// Deletes everything that has to go, each after all that depends on it.
    pub(crate) async fn delete_the_rest(self: &Arc<Self>) -> Result<(), Stopped> {
        let (going, staying) = self.find_going().await?;
        let kept = staying.iter().map(|known| (known.urn().clone(), Op::Same));
        let steps: Vec<(Urn, Op)> = kept.chain(going.iter().map(Going::step)).collect();
        self.admit_rest(&steps)?;
        for known in staying {
            if let Err(StepFailure::Stopped) = self.leave(known).await {
                return Err(Stopped);
            }
        }
        self.refuse_untargeted(&going)?;
        self.refuse_needed(&going)?;
        let needs = dependencies_among(&going, &self.world().aliased);
        let mut spared: HashSet<Place> = HashSet::new();
        for layer in layers(&going, &needs) {
            let layer: Vec<&Going> =
                layer.into_iter().filter(|going| !spared.contains(&going.known.place)).collect();
            let steps = layer.iter().map(|going| self.let_go((*going).clone()));
            let outcomes = futures::future::join_all(steps).await;
            for (gone, outcome) in layer.iter().zip(outcomes) {
                match outcome {
                    Ok(()) => {}
                    Err(StepFailure::Stopped) => return Err(Stopped),
                    // What it depends on has to stay as long as it does.
                    Err(StepFailure::Failed) => spare_dependencies(&going, &needs, gone, &mut spared),
                }
            }
            if self.is_stopping() {
                return Err(Stopped);
            }
        }
        Ok(())
    }

    async fn let_go(self: &Arc<Self>, going: Going) -> Result<(), StepFailure> {
        match going.how {
            How::Delete(reason) => self.delete(Delete { old: going.known, reason }).await,
            How::Forget => self.forget_pending_replacement(going.known).await,
        }
    }

    /// What goes, in the snapshot's order, and what stays only because the operation is not about it.
    async fn find_going(self: &Arc<Self>) -> Result<(Vec<Going>, Vec<Arc<Known>>), Stopped> {
        let scope = self.deletion_scope().await?;
        let mut world = self.world();
        let mut going = Vec::new();
        let mut staying = Vec::new();
        let needed = needed_by_failures(&world);
        let asked = asked_about_creations(&world, &self.base().pending_operations);
        // What this run made or kept stands before the rest of the base, which may depend on it.
        for known in std::mem::take(&mut world.superseded_news) {
            world.disposition_mut(known.urn()).deleted = true;
            going.push(Going { known, how: How::Delete(DeleteReason::Replaced) });
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
                going.push(Going { known, how: How::Delete(DeleteReason::Unwanted) });
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
            let how = if record.delete || world.superseded.contains(&place) {
                if world.condemned.contains(&place) {
                    continue;
                }
                How::Delete(DeleteReason::Replaced)
            } else if operated_on {
                continue;
            } else if awaiting {
                How::Forget
            } else if world.condemned.contains(&place) {
                continue;
            } else {
                How::Delete(DeleteReason::Unwanted)
            };
            if asked.contains(&record.urn) {
                world.kept_to_be_asked.insert(record.urn.clone());
                continue;
            }
            world.disposition_mut(&record.urn).deleted = true;
            going.push(Going { known, how });
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
    fn refuse_untargeted(&self, going: &[Going]) -> Result<(), Stopped> {
        if !self.options.targets.is_constrained() || self.options.target_dependents {
            return Ok(());
        }
        let mut refused = false;
        for gone in going {
            let urn = gone.known.urn();
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
    fn refuse_needed(&self, going: &[Going]) -> Result<(), Stopped> {
        if !self.is_constrained() {
            return Ok(());
        }
        let staying = self.staying(going);
        let mut refused = false;
        for gone in going {
            let record = gone.known.record();
            let reference = crate::registry::reference(&record.urn, &record.id);
            let disappears = gone.how != How::Delete(DeleteReason::Replaced);
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
    fn staying(&self, going: &[Going]) -> Vec<Arc<Known>> {
        let world = self.world();
        let places: HashSet<Place> = going.iter().map(|gone| gone.known.place).collect();
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

/// For each of what goes, the positions of what it depends on among it, by any of its names. They come before it.
fn dependencies_among(going: &[Going], aliased: &HashMap<Urn, Urn>) -> Vec<Vec<usize>> {
    let mut by_urn: HashMap<&Urn, Vec<usize>> = HashMap::new();
    let mut found = Vec::with_capacity(going.len());
    for (index, gone) in going.iter().enumerate() {
        let record = gone.known.record();
        let mut needs: Vec<usize> = Vec::new();
        for edge in drystone_model::edges(record) {
            let urn = Urn::new(edge.urn);
            let names = [Some(&urn), aliased.get(&urn)];
            let candidates = names.into_iter().flatten().filter_map(|name| by_urn.get(name)).flatten();
            let id = edge.provider.and_then(ProviderReference::split).map(|(_, id)| id);
            needs.extend(candidates.filter(|&&at| {
                id.is_none_or(|id| going.get(at).is_some_and(|provider| provider.known.record().id == id))
            }));
        }
        needs.sort_unstable();
        needs.dedup();
        found.push(needs);
        by_urn.entry(&record.urn).or_default().push(index);
    }
    found
}

/// What can be deleted side by side, dependents before what they depend on.
fn layers<'a>(going: &'a [Going], needs: &[Vec<usize>]) -> Vec<Vec<&'a Going>> {
    let mut depth = vec![0usize; going.len()];
    for index in 0..going.len() {
        depth[index] = needs[index].iter().map(|&at| depth[at] + 1).max().unwrap_or(0);
    }
    let deepest = depth.iter().copied().max().map_or(0, |deepest| deepest + 1);
    let mut layers: Vec<Vec<&Going>> = vec![Vec::new(); deepest];
    for (gone, depth) in going.iter().zip(depth) {
        layers[depth].push(gone);
    }
    layers.reverse();
    layers
}

/// Spares what a resource that could not be deleted depends on, directly or not.
fn spare_dependencies(going: &[Going], needs: &[Vec<usize>], stuck: &Going, spared: &mut HashSet<Place>) {
    let at = |place: Place| going.iter().position(|gone| gone.known.place == place);
    let mut pending: Vec<usize> = at(stuck.known.place).into_iter().collect();
    while let Some(index) = pending.pop() {
        for &need in &needs[index] {
            if spared.insert(going[need].known.place) {
                pending.push(need);
            }
        }
    }
}

//! What has become of every resource so far.

use crate::{Targets, ViewState, known::Known};
use drystone_model::{ProviderReference, Urn};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What the engine decided for a URN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It stays as it is.
    Same,
    /// It is not made: not targeted, or not in a run that makes things.
    SkippedCreate,
    /// It is made.
    Create,
    /// It is changed.
    Update,
    /// It is replaced.
    Replace,
    /// It is only read.
    Read,
}

/// What has become of a URN.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Disposition {
    /// The program registered it.
    pub(crate) registered: bool,
    /// It is the former name of a resource that stays as it is.
    pub(crate) carried: bool,
    /// What was decided.
    pub(crate) decision: Option<Decision>,
    /// It was refreshed on behalf of the program.
    pub(crate) refreshed: bool,
    /// It was imported.
    pub(crate) imported: bool,
    /// It was deleted, and nobody knows yet whether it comes back.
    pub(crate) deleted: bool,
    /// Its step failed, or it was skipped because of one that did.
    pub(crate) failed: bool,
    /// The operation is not about it: its old state stays, with everything that it refers to.
    pub(crate) left: bool,
}

impl Disposition {
    /// Whether its old state has been dealt with, so that it is not deleted for being unknown to the program.
    pub(crate) fn is_operated_on(self) -> bool {
        self.refreshed
            || matches!(self.decision, Some(decision) if decision != Decision::Create && decision != Decision::SkippedCreate)
    }

    /// Whether others may have it as their parent.
    pub(crate) fn is_seen(self) -> bool {
        self.registered || self.carried
    }
}

/// What has become of every resource so far.
#[derive(Debug, Default)]
pub(crate) struct World {
    /// The states of the snapshot that the update began with, in its order; refreshed ones in their new form.
    pub(crate) olds: Vec<Arc<Known>>,
    /// Where in `olds` the live state of a URN is; those that wait to be deleted are not here.
    pub(crate) by_urn: HashMap<Urn, usize>,
    /// The views of each resource as they are now.
    pub(crate) live_views: HashMap<Urn, Vec<Arc<Known>>>,
    /// The views of what was replaced, which go when it does.
    pub(crate) replaced_views: HashMap<Urn, Vec<Arc<Known>>>,
    pub(crate) dispositions: HashMap<Urn, Disposition>,
    /// What a refresh before everything else found gone.
    pub(crate) vanished: HashSet<Urn>,
    /// The newest state of each URN that a step left.
    pub(crate) news: HashMap<Urn, Arc<Known>>,
    /// From a name that a resource had to the one it has.
    pub(crate) aliased: HashMap<Urn, Urn>,
    /// From the name that a resource has to the one that it had.
    pub(crate) aliases: HashMap<Urn, Urn>,
    /// Old states, by position, that a delete step was made for.
    pub(crate) condemned: HashSet<usize>,
    /// What is being deleted before a replacement is made, or is about to be: who makes it anew waits for that.
    pub(crate) leaving: HashSet<Urn>,
    /// Old states, by position, that were deleted and wait for their replacement.
    pub(crate) awaiting_replacement: HashSet<usize>,
    /// Old states, by position, whose replacement was made and that wait to be deleted.
    pub(crate) superseded: HashSet<usize>,
    /// States of this update whose replacement was made: an import that was then replaced.
    pub(crate) superseded_news: Vec<Arc<Known>>,
    /// What would have been deleted, but may still be asked about a creation whose end nobody knows.
    pub(crate) kept_to_be_asked: HashSet<Urn>,
    /// States that a destroy which runs the program deletes at its end.
    pub(crate) to_delete: Vec<Urn>,
    /// The properties that made dependents be replaced.
    pub(crate) dependent_keys: HashMap<Urn, Vec<String>>,
    /// What is targeted so far, dependents included.
    pub(crate) targets: Targets,
    /// What is excluded so far, dependents included.
    pub(crate) excludes: Targets,
    /// Providers by URN, as they are registered.
    pub(crate) providers: HashMap<Urn, Arc<crate::State>>,
    /// The stack's own resource.
    pub(crate) root: Urn,
}

impl World {
    /// Builds the indexes over a list of states.
    pub(crate) fn set_olds(&mut self, olds: Vec<Arc<Known>>) {
        self.by_urn.clear();
        self.live_views.clear();
        self.replaced_views.clear();
        for (index, known) in olds.iter().enumerate() {
            let record = known.record();
            if !record.view_of.is_empty() {
                let views = if record.delete { &mut self.replaced_views } else { &mut self.live_views };
                views.entry(record.view_of.clone()).or_default().push(Arc::clone(known));
            }
            if !record.delete {
                self.by_urn.insert(record.urn.clone(), index);
            }
        }
        self.olds = olds;
    }

    /// The live old state of a URN.
    pub(crate) fn old(&self, urn: &Urn) -> Option<&Arc<Known>> {
        self.by_urn.get(urn).and_then(|&index| self.olds.get(index))
    }

    /// The live old state of a resource, under its name or the one that it had.
    pub(crate) fn old_of(&self, urn: &Urn) -> Option<&Arc<Known>> {
        self.old(urn).or_else(|| self.old(self.aliases.get(urn)?))
    }

    /// The old state of a provider by its reference. A provider that was replaced may still be there, waiting to be
    /// deleted, beside the one that took its name.
    pub(crate) fn old_provider(&self, reference: &str) -> Option<&Arc<Known>> {
        let ProviderReference { urn, id } = ProviderReference::parse(reference)?;
        let named = |known: &&Arc<Known>| known.urn() == &urn && known.record().id == id;
        self.old(&urn).filter(named).or_else(|| self.olds.iter().find(named))
    }

    /// The views of a resource, under this name or the one that it had.
    pub(crate) fn views_of(&self, owner: &Urn) -> Vec<Arc<Known>> {
        let named = |owner: &Urn| self.live_views.get(owner).cloned();
        named(owner).or_else(|| named(self.aliases.get(owner)?)).unwrap_or_default()
    }

    /// The view of a resource that a provider names; one of what was replaced when `replaced` and there is one.
    pub(crate) fn find_view(&self, owner: &Urn, view: &ViewState, replaced: bool) -> Option<Arc<Known>> {
        let is_it = |known: &&Arc<Known>| {
            known.urn().type_token() == view.type_token && known.urn().name() == view.name
        };
        let of_replaced = self.replaced_views.get(owner).filter(|_| replaced);
        let of_replaced = of_replaced.and_then(|views| views.iter().find(is_it)).cloned();
        of_replaced.or_else(|| self.views_of(owner).iter().find(is_it).cloned())
    }

    /// Puts a view in the place of another, or takes it away.
    pub(crate) fn set_view(&mut self, owner: &Urn, old: Option<&Arc<Known>>, new: Option<Arc<Known>>) {
        let is_other = |known: &Arc<Known>| old.is_none_or(|old| old.place != known.place);
        let mut views = self.views_of(owner);
        views.retain(is_other);
        views.extend(new);
        self.live_views.insert(owner.clone(), views);
        if let Some(replaced) = self.replaced_views.get_mut(owner) {
            replaced.retain(is_other);
        }
    }

    pub(crate) fn disposition(&self, urn: &Urn) -> Disposition {
        self.dispositions.get(urn).copied().unwrap_or_default()
    }

    pub(crate) fn disposition_mut(&mut self, urn: &Urn) -> &mut Disposition {
        self.dispositions.entry(urn.clone()).or_default()
    }

    /// Takes note of a failure, under the name that the resource has now too: others refer to it by that.
    pub(crate) fn mark_failed(&mut self, urn: &Urn) {
        self.disposition_mut(urn).failed = true;
        if let Some(now) = self.aliased.get(urn).cloned() {
            self.disposition_mut(&now).failed = true;
        }
    }

    pub(crate) fn decide(&mut self, urn: &Urn, decision: Decision) {
        self.disposition_mut(urn).decision = Some(decision);
    }

    pub(crate) fn decided(&self, urn: &Urn, decision: Decision) -> bool {
        self.disposition(urn).decision == Some(decision)
    }

    /// Whether the old state of a URN was deleted, under this name or the one that it had, and is to come back.
    pub(crate) fn is_deleted(&self, urn: &Urn) -> bool {
        let former = self.aliases.get(urn).map(|former| self.disposition(former).deleted);
        self.disposition(urn).deleted || former.unwrap_or_default()
    }

    /// Whether the old state of a URN has been dealt with, under this name or the one that it has now.
    pub(crate) fn is_operated_on(&self, urn: &Urn) -> bool {
        self.disposition(self.aliased.get(urn).unwrap_or(urn)).is_operated_on()
    }
}

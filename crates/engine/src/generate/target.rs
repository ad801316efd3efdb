//! Which resources an operation is about.

use crate::deployment::{Deployment, Stopped};
use crate::known::Known;
use crate::recorder::refers_no_further;
use crate::world::{Decision, World};
use crate::{Severity, Targets};
use drystone_model::{ROOT_STACK_TYPE, Resource, Urn, edges, is_provider_type};
use std::collections::HashSet;

/// Everything that a state refers to, its provider among it.
pub(crate) fn references(record: &Resource) -> impl Iterator<Item = &str> {
    edges(record).map(|edge| edge.urn)
}

impl Deployment {
    /// Whether any targets or excludes were given.
    pub(crate) fn is_constrained(&self) -> bool {
        self.options.targets.is_constrained() || self.options.excludes.is_constrained()
    }

    /// Whether the operation is about a resource. Providers and the stack itself always are.
    pub(crate) fn is_targeted(&self, world: &World, record: &Resource) -> bool {
        if is_provider_type(record.urn.type_token()) || record.urn.qualified_type() == ROOT_STACK_TYPE {
            return true;
        }
        self.is_included(world, record)
    }

    /// The same without the exception.
    pub(crate) fn is_included(&self, world: &World, record: &Resource) -> bool {
        if self.options.targets.is_constrained() {
            return self.options.targets.contains(&record.urn)
                || (self.options.target_dependents && refers_to(record, &world.targets));
        }
        if self.options.excludes.is_constrained() {
            return !self.is_excluded(world, record);
        }
        true
    }

    pub(crate) fn is_excluded(&self, world: &World, record: &Resource) -> bool {
        self.options.excludes.contains(&record.urn)
            || (self.options.exclude_dependents && refers_to(record, &world.excludes))
    }

    /// Lets the set of targets, or of excludes, grow by a resource that was just decided to be in it.
    pub(crate) fn grow_targets(&self, record: &Resource, targeted: bool) {
        if !self.is_constrained() {
            return;
        }
        let mut world = self.world();
        if self.options.excludes.is_constrained() {
            if !targeted && self.is_excluded(&world, record) {
                world.excludes.insert(&record.urn);
            }
        } else if targeted && self.is_included(&world, record) {
            world.targets.insert(&record.urn);
        }
    }

    /// Whether a resource is to be replaced: asked for by the user, or marked in the state.
    pub(crate) fn is_replace_target(&self, urn: &Urn, old: Option<&Resource>) -> bool {
        self.options.replace.contains(urn) || old.is_some_and(|old| old.taint)
    }

    /// Refuses a step that needs a resource which was left out of this run.
    pub(crate) fn refuse_missing_dependencies(&self, record: &Resource) -> Result<(), Stopped> {
        if !self.is_constrained() && !self.options.replace.is_constrained() {
            return Ok(());
        }
        let missing: Vec<Urn> = {
            let world = self.world();
            let skipped = |urn: &Urn| world.decided(urn, Decision::SkippedCreate);
            references(record).map(Urn::new).filter(skipped).collect()
        };
        for urn in &missing {
            let message = if self.options.excludes.is_constrained() {
                format!(
                    "Resource '{}' depends on '{urn}' which does not exist and is left out by --exclude.\nEither exclude both or pass --exclude-dependents to proceed.",
                    record.urn
                )
            } else {
                format!(
                    "Resource '{}' depends on '{urn}' which was was not specified in --target list.",
                    record.urn
                )
            };
            self.diagnose(&record.urn, Severity::Error, message);
            self.note_failure();
            if !self.options.dry_run {
                self.stop();
                return Err(Stopped);
            }
        }
        Ok(())
    }

    /// Whether anything that a state refers to was left out of this run.
    pub(crate) fn has_skipped_dependencies(&self, world: &World, record: &Resource) -> bool {
        references(record).any(|urn| world.decided(&Urn::new(urn), Decision::SkippedCreate))
    }

    /// Refuses to change a state in a way that what already stands behind it does not allow.
    pub(crate) fn refuse_out_of_turn(
        &self,
        old: &Known,
        new: &Resource,
        replaces: bool,
    ) -> Result<(), Stopped> {
        let refers_no_further = refers_no_further(new, old.record());
        if !refers_no_further && let Some(between) = self.leads_back(old, new) {
            let message = format!(
                "Resource '{}' cannot be changed in this run: '{between}', which the run is not about, depends on it in the state, and it would depend on that one. Run without targets, or include it.",
                new.urn
            );
            return Err(self.fail(&new.urn, message));
        }
        if (refers_no_further && !replaces) || !self.recorder.is_needed_where_it_stands(old.place) {
            return Ok(());
        }
        let message = format!(
            "Resource '{}' cannot be changed in this run: a resource that the run is not about depends on it in the state, and the program registers that one first. Run without targets, or include it.",
            new.urn
        );
        Err(self.fail(&new.urn, message))
    }

    /// A resource by which what a state refers to leads back to it. Only one that is left as it is can: what the program
    /// registers refers to what it registered before.
    fn leads_back(&self, old: &Known, new: &Resource) -> Option<Urn> {
        if !self.is_constrained() {
            return None;
        }
        let world = self.world();
        let mut seen = HashSet::new();
        let mut pending: Vec<Urn> = references(new).map(Urn::new).collect();
        while let Some(urn) = pending.pop() {
            let Some(known) = world.news.get(&urn).or_else(|| world.old(&urn)) else { continue };
            if !seen.insert(urn) {
                continue;
            }
            for reference in references(known.record()).map(Urn::new) {
                if reference == new.urn || reference == *old.urn() {
                    return Some(known.urn().clone());
                }
                pending.push(reference);
            }
        }
        None
    }

    /// Refuses resources to replace that the stack does not have, before anything begins.
    pub(crate) fn check_replacements(&self) -> Result<(), Stopped> {
        self.check_targets(&self.options.replace)
    }

    /// Refuses targets that name nothing: nothing that was there, and nothing that the program registered.
    pub(crate) fn check_targets(&self, targets: &Targets) -> Result<(), Stopped> {
        let missing: Vec<String> = {
            let world = self.world();
            let unknown = |text: &&str| {
                let urn = Urn::new(*text);
                !world.olds.iter().any(|old| old.urn() == &urn)
                    && !world.disposition(&urn).registered
                    && !world.vanished.contains(&urn)
            };
            targets.literals().filter(unknown).map(ToOwned::to_owned).collect()
        };
        for target in &missing {
            let hint = if target.contains('$') { "" } else { " Did you forget to escape $ in your shell?" };
            let message = format!("Target '{target}' could not be found in the stack.{hint}");
            self.diagnose(&Urn::default(), Severity::Error, message);
        }
        if missing.is_empty() { Ok(()) } else { Err(self.fail_silently()) }
    }
}

fn refers_to(record: &Resource, targets: &Targets) -> bool {
    references(record).any(|urn| targets.contains(&Urn::new(urn)))
}

//! Making a snapshot sound again, and saying what was done.

mod change;
mod references;
#[cfg(test)]
mod tests;

pub use change::{Change, Remaining};
use references::Plan;

use crate::graph::DependencyGraph;
use crate::integrity::{Severity, Subject, Violation, is_sound, verify};
use crate::{CyclicError, Manifest, Resource, Snapshot};
use std::collections::HashMap;

/// A repaired snapshot and the way to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Repair {
    /// The snapshot after the changes.
    pub snapshot: Snapshot,
    /// What was changed, in order. Positions in it are those in the snapshot before the repair.
    pub changes: Vec<Change>,
    /// The errors that are still there, each with what to do about it. Positions are those in the repaired snapshot.
    pub remaining: Vec<Remaining>,
}

impl Repair {
    /// Whether the repaired snapshot is sound.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.remaining.is_empty()
    }
}

/// Repairs a snapshot as far as that needs no guess.
///
/// A sound snapshot stays as it is. Otherwise a magic that does not fit is computed again, a missing type is read from
/// the URN, exact copies of a live resource are dropped, the resources are put in order, and references that lead
/// nowhere are taken out. A resource that loses its parent loses its parent's types from its URN too, as do its
/// children, and all references follow. It moves, renames and drops nothing that it need not, and equal snapshots are
/// repaired equally.
///
/// Resources that depend on each other in a circle cannot be put in order, so that nothing is repaired then. What
/// else only a person can decide is left as it is and listed in [`Repair::remaining`].
pub fn repair(snapshot: &Snapshot) -> Result<Repair, CyclicError> {
    let mut violations = verify(snapshot);
    if is_sound(&violations) {
        return Ok(Repair { snapshot: snapshot.clone(), changes: Vec::new(), remaining: Vec::new() });
    }

    let mut draft = Draft::new(snapshot);
    draft.fit_magic();
    if draft.restore_types() {
        // A provider whose type was missing was no provider until now.
        violations = verify(&draft.snapshot);
    }
    draft.drop_copies();
    draft.drop_snippet_copies();
    if violations.iter().any(is_about_order) {
        draft.sort()?;
    }
    draft.mend_references();
    // What differed in a broken reference only is a copy now.
    draft.drop_copies();
    Ok(draft.finish())
}

fn is_about_order(violation: &Violation) -> bool {
    violation.rule.is_about_order() && violation.severity() == Severity::Error
}

/// A snapshot under repair.
struct Draft {
    snapshot: Snapshot,
    /// Where each resource stood before the repair.
    origins: Vec<usize>,
    changes: Vec<Change>,
}

impl Draft {
    fn new(snapshot: &Snapshot) -> Self {
        Self {
            snapshot: snapshot.clone(),
            origins: (0..snapshot.resources.len()).collect(),
            changes: Vec::new(),
        }
    }

    fn fit_magic(&mut self) {
        let manifest = &mut self.snapshot.manifest;
        let magic = Manifest::magic_of(&manifest.version);
        if manifest.magic != magic {
            manifest.magic = magic;
            self.changes.push(Change::MagicRewritten { version: manifest.version.clone() });
        }
    }

    /// Whether there were types to restore.
    fn restore_types(&mut self) -> bool {
        let before = self.changes.len();
        let resources = self.snapshot.resources.iter_mut().enumerate();
        let operations = self.snapshot.pending_operations.iter_mut().enumerate();
        let all = resources.map(|(index, resource)| (Subject::Resource(index), resource)).chain(
            operations.map(|(index, operation)| (Subject::PendingOperation(index), &mut operation.resource)),
        );
        for (subject, resource) in all {
            if resource.type_token.is_empty() && !resource.urn.type_token().is_empty() {
                resource.type_token = resource.urn.type_token().to_owned();
                self.changes.push(Change::TypeRestored { subject, urn: resource.urn.clone() });
            }
        }
        self.changes.len() > before
    }

    /// Old forms of a resource may be alike; live ones may not.
    fn drop_copies(&mut self) {
        let mut firsts = HashMap::new();
        let mut kept_positions = Vec::new();
        let resources = &self.snapshot.resources;
        for (index, resource) in resources.iter().enumerate() {
            let may_be_alike = resource.delete || resource.urn.is_empty();
            let first = if may_be_alike { index } else { *firsts.entry(&resource.urn).or_insert(index) };
            if first == index || resources[first] != *resource {
                kept_positions.push(index);
            } else {
                let (index, kept) = (self.origins[index], self.origins[first]);
                self.changes.push(Change::CopyDropped { index, urn: resource.urn.clone(), kept });
            }
        }
        keep_at(&mut self.origins, &kept_positions);
        keep_at(&mut self.snapshot.resources, &kept_positions);
    }

    fn drop_snippet_copies(&mut self) {
        let mut firsts = HashMap::new();
        let snippets = &self.snapshot.snippets;
        let mut kept_positions = Vec::new();
        for (index, snippet) in snippets.iter().enumerate() {
            let first = *firsts.entry(snippet.uuid.as_str()).or_insert(index);
            if first == index || snippet.uuid.is_empty() || snippets[first] != *snippet {
                kept_positions.push(index);
            } else {
                self.changes.push(Change::SnippetCopyDropped { index, kept: first });
            }
        }
        keep_at(&mut self.snapshot.snippets, &kept_positions);
    }

    fn sort(&mut self) -> Result<(), CyclicError> {
        let graph = DependencyGraph::new(&self.snapshot.resources);
        let placements = graph.placements().map_err(|error| self.in_original_positions(error))?;
        let named = |index: usize| (self.origins[index], self.snapshot.resources[index].urn.clone());
        for placement in &placements {
            let Some(moved) = placement.moved else { continue };
            let (index, urn) = named(placement.index);
            self.changes.push(Change::Moved {
                index,
                urn,
                before: named(moved.before),
                wanted_by: named(moved.wanted_by),
                edge: moved.edge,
            });
        }
        let mut resources: Vec<Option<Resource>> =
            std::mem::take(&mut self.snapshot.resources).into_iter().map(Some).collect();
        let order = placements.iter().map(|placement| placement.index);
        self.snapshot.resources = order.clone().filter_map(|index| resources[index].take()).collect();
        self.origins = order.map(|index| self.origins[index]).collect();
        Ok(())
    }

    fn in_original_positions(&self, mut error: CyclicError) -> CyclicError {
        for (index, _) in error.cycles.iter_mut().flat_map(|cycle| &mut cycle.path) {
            *index = self.origins[*index];
        }
        error
    }

    fn mend_references(&mut self) {
        let plan = Plan::new(&self.snapshot, &self.origins);
        self.changes.extend(plan.apply(&mut self.snapshot));
    }

    fn finish(mut self) -> Repair {
        let errors =
            verify(&self.snapshot).into_iter().filter(|violation| violation.severity() == Severity::Error);
        let remaining: Vec<Remaining> = errors.map(Remaining::new).collect();
        if remaining.is_empty() && self.snapshot.metadata.integrity_error.take().is_some() {
            self.changes.push(Change::IntegrityErrorCleared);
        }
        Repair { snapshot: self.snapshot, changes: self.changes, remaining }
    }
}

/// Keeps the members at these ascending positions.
fn keep_at<T>(list: &mut Vec<T>, positions: &[usize]) {
    let mut wanted = positions.iter().copied().peekable();
    let mut index = 0;
    list.retain(|_| {
        let keep = wanted.next_if_eq(&index).is_some();
        index += 1;
        keep
    });
}

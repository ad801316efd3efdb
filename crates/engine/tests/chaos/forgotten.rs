//! What a state may lose although it may still exist.

use crate::check::open;
use drystone_model::{Resource, Snapshot, Urn, edges, is_provider_type};
use std::collections::BTreeSet;

/// The ids that one entry made a state forget although nobody was asked to delete them, where that is as it should be.
///
/// A resource that goes with another is forgotten when that one is gone. Three kinds may be forgotten that exist: those
/// in something that was left behind itself, those that refer to something which has to be deleted before what they go
/// with is, so that they cannot wait for it, and those that were never put where the program says they are, because an
/// import of them got no further.
pub(crate) fn rightly_forgotten(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let held: BTreeSet<(&Urn, &str)> =
        after.resources.iter().filter(|state| is_held(state)).map(name).collect();
    let marked: BTreeSet<(&Urn, &str)> = after.resources.iter().map(name).collect();
    let mut found = Vec::new();
    for (at, state) in before.resources.iter().enumerate() {
        if state.deleted_with.is_empty() || !is_held(state) || held.contains(&name(state)) {
            continue;
        }
        let states = States(&before.resources);
        let root = states.root(at);
        let left_behind = root != at && !states.exists(root);
        // A state that waits for its replacement keeps everything that refers to it, and can wait for anything.
        let cannot_wait = root != at && !marked.contains(&name(state)) && states.is_entangled(root);
        let elsewhere = root != at && !open(&state.inputs).contains_key("within");
        if left_behind || cannot_wait || elsewhere {
            found.push(state.id.clone());
        }
    }
    found
}

/// Whether a state says that its thing exists.
fn is_held(state: &Resource) -> bool {
    !state.pending_replacement
}

fn name(state: &Resource) -> (&Urn, &str) {
    (&state.urn, &state.id)
}

struct States<'a>(&'a [Resource]);

impl States<'_> {
    /// The last of the row that a state goes with.
    fn root(&self, at: usize) -> usize {
        let with = &self.0[at].deleted_with;
        let container = self.0[..at].iter().rposition(|other| other.urn == *with);
        container.map_or(at, |container| self.root(container))
    }

    /// Whether deleting a state deletes something.
    fn exists(&self, at: usize) -> bool {
        let state = &self.0[at];
        state.custom
            && !state.external
            && !state.retain_on_delete
            && !state.pending_replacement
            && !is_provider_type(&state.type_token)
    }

    /// Whether something that is to be deleted has to go both before and after what goes with a root.
    fn is_entangled(&self, root: usize) -> bool {
        let count = self.0.len();
        let roots: Vec<usize> = (0..count).map(|at| self.root(at)).collect();
        let needs: Vec<(usize, usize)> = (0..count)
            .flat_map(|at| self.needs(at).into_iter().map(move |need| (at, need)))
            .map(|(at, need)| (roots[at], roots[need]))
            .filter(|(at, need)| at != need)
            .collect();
        let reach = |forward: bool| {
            let mut reached: BTreeSet<usize> = BTreeSet::new();
            let mut pending = vec![root];
            while let Some(from) = pending.pop() {
                let steps = needs.iter().map(|&(at, need)| if forward { (at, need) } else { (need, at) });
                pending.extend(
                    steps.filter(|step| step.0 == from).map(|step| step.1).filter(|to| reached.insert(*to)),
                );
            }
            reached
        };
        let between: BTreeSet<usize> = reach(true).intersection(&reach(false)).copied().collect();
        let group = |of: usize| roots.iter().filter(|root| **root == of).count() > 1;
        between.into_iter().any(|at| at != root && (self.exists(at) || group(at)))
    }

    fn needs(&self, at: usize) -> Vec<usize> {
        let mut found = Vec::new();
        for edge in edges(&self.0[at]) {
            let named = |other: &Resource| {
                other.urn.as_str() == edge.urn && edge.provider_id().is_none_or(|id| other.id == id)
            };
            found.extend(
                self.0[..at].iter().enumerate().filter(|(_, other)| named(other)).map(|(need, _)| need),
            );
        }
        found
    }
}

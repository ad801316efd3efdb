//! What the journal of a dead update knows that the state which another tool left does not (S20).

use super::super::{counted, lock, repair};
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::snapshot_secrets;
use drystone_model::{
    DependencyGraph, Operation, ProviderReference, Resource, ShortName, Snapshot, Urn, is_provider_type,
};
use drystone_secrets::Manager;
use drystone_stores::{Orphan, StackId};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// What one journal knows.
pub(super) struct Knowledge {
    orphan: Orphan,
    /// Positions in the orphan's snapshot of what it made and the state has no trace of.
    made: Vec<usize>,
    /// What it made under a URN that the state has with another id: URN, id here, id there.
    doubled: Vec<(Urn, String, String)>,
    /// What it changed and the state has otherwise.
    changed: Vec<Urn>,
    /// What it deleted and the state still has.
    deleted: Vec<Urn>,
    /// What it had begun and the state has no trace of.
    begun: Vec<Operation>,
}

type Identity<'a> = (&'a Urn, &'a str);

fn by_identity(snapshot: &Snapshot) -> HashMap<Identity<'_>, &Resource> {
    snapshot.resources.iter().map(|resource| ((&resource.urn, resource.id.as_str()), resource)).collect()
}

impl Knowledge {
    /// Compares what a journal did to its base with what became of the base otherwise.
    pub(super) fn new(orphan: Orphan, base: &Snapshot, current: &Snapshot) -> Self {
        let (before, now) = (by_identity(base), by_identity(current));
        let live: HashMap<&Urn, &Resource> =
            current.resources.iter().filter(|it| !it.delete).map(|it| (&it.urn, it)).collect();
        let (mut made, mut doubled, mut changed) = (Vec::new(), Vec::new(), Vec::new());
        for (index, resource) in orphan.snapshot.resources.iter().enumerate() {
            let identity = (&resource.urn, resource.id.as_str());
            match (before.get(&identity), now.get(&identity)) {
                (None, None) => match live.get(&resource.urn) {
                    Some(other) => {
                        doubled.push((resource.urn.clone(), resource.id.clone(), other.id.clone()));
                    }
                    None => made.push(index),
                },
                (Some(before), Some(now)) if *before != resource && *now != resource => {
                    changed.push(resource.urn.clone());
                }
                _ => {}
            }
        }
        let after = by_identity(&orphan.snapshot);
        let deleted = base
            .resources
            .iter()
            .map(|resource| (&resource.urn, resource.id.as_str()))
            .filter(|identity| !after.contains_key(identity) && now.contains_key(identity))
            .map(|(urn, _)| urn.clone())
            .collect();
        let is_known = |operation: &&Operation| {
            live.contains_key(&operation.resource.urn)
                || base.pending_operations.contains(operation)
                || current.pending_operations.contains(operation)
        };
        let begun = orphan
            .snapshot
            .pending_operations
            .iter()
            .filter(|operation| !is_known(operation))
            .cloned()
            .collect();
        Self { made, doubled, changed, deleted, begun, orphan }
    }

    /// The journal's name.
    pub(super) fn journal(&self) -> &str {
        &self.orphan.journal
    }

    /// Whether there is something that can be taken over.
    pub(super) fn is_mergeable(&self) -> bool {
        !self.made.is_empty() || !self.begun.is_empty()
    }

    fn made(&self) -> impl Iterator<Item = &Resource> {
        self.made.iter().map(|&index| &self.orphan.snapshot.resources[index])
    }

    pub(super) fn in_words(&self) -> Vec<String> {
        let Orphan { journal, started, holder, entries, base, .. } = &self.orphan;
        let mut lines = vec![format!(
            "The journal {journal} of `{}` by {}@{} (begun {started} on revision {base}, {entries} journaled) was kept: \
             another tool changed the stack before it could be brought in.",
            holder.purpose, holder.user, holder.host
        )];
        let mut list = |heading: &str, items: Vec<String>| {
            if !items.is_empty() {
                lines.push(format!("  {heading}"));
                lines.extend(items.into_iter().map(|item| format!("    {item}")));
            }
        };
        let named = |urns: &[Urn]| urns.iter().map(|urn| ShortName(urn).to_string()).collect::<Vec<_>>();
        list(
            "It made these, which the state does not have; merging takes them in:",
            self.made().map(|it| format!("{}  {}", ShortName(&it.urn), it.id)).collect(),
        );
        list(
            "It had begun these; merging makes them pending operations:",
            self.begun
                .iter()
                .map(|it| format!("{}  {}", it.kind.as_str(), ShortName(&it.resource.urn)))
                .collect(),
        );
        let doubled = self.doubled.iter();
        list(
            "It made these, and so did the other tool. Delete the first by hand, or import it under another name:",
            doubled.map(|(urn, ours, theirs)| format!("{}  {ours} and {theirs}", ShortName(urn))).collect(),
        );
        list("It changed these; a refresh shows how they are now:", named(&self.changed));
        list(
            "It deleted these, which the state still has; a refresh shows that they are gone:",
            named(&self.deleted),
        );
        if lines.len() == 1 {
            lines.push("  It knows nothing that the state does not.".to_owned());
        }
        lines
    }

    pub(super) fn as_json(&self) -> Value {
        let mut object = lock::orphan_json(&self.orphan);
        object["made"] = self.made().map(|it| json!({ "urn": it.urn, "id": it.id })).collect();
        object["begun"] =
            self.begun.iter().map(|it| json!({ "urn": it.resource.urn, "type": it.kind.as_str() })).collect();
        object["doubled"] = self
            .doubled
            .iter()
            .map(|(urn, ours, theirs)| json!({ "urn": urn, "id": ours, "currentId": theirs }))
            .collect();
        object["changed"] = json!(self.changed);
        object["deleted"] = json!(self.deleted);
        object
    }

    /// Takes in what the journal made and had begun, with what that needs and the state lacks.
    pub(super) fn merge_into(&self, context: &Context, stack: &StackId, current: &mut Snapshot) -> Outcome {
        let mut taken = self.with_needs(current);
        self.reseal(context, stack, current, &mut taken)?;
        adopt_providers(current, &mut taken);
        current.resources.append(&mut taken.resources);
        current.pending_operations.append(&mut taken.pending_operations);
        let mended = drystone_model::repair(current).map_err(|error| repair::circular(&error))?;
        if !mended.is_complete() {
            let mut failure = Failure::new(
                ExitCode::Unsound,
                format!("{} cannot be merged: the state would break its rules", self.orphan.journal),
            );
            failure.details = mended.remaining.iter().map(ToString::to_string).collect();
            return Err(failure
                .hint("import the resources that it made with `drystone import`, or delete them by hand"));
        }
        *current = mended.snapshot;
        crate::terminal::note(format!(
            "Merged {} and {}",
            counted(self.made.len(), "resource"),
            counted(self.begun.len(), "pending operation")
        ));
        Ok(())
    }

    /// What is taken over: what was made, and what it refers to as far as the state does not have it.
    fn with_needs(&self, current: &Snapshot) -> Snapshot {
        let there: HashSet<&Urn> = current.resources.iter().map(|resource| &resource.urn).collect();
        let graph = DependencyGraph::new(&self.orphan.snapshot.resources);
        let needed = graph.transitive_dependencies(&self.made);
        let mut positions: Vec<usize> = needed
            .into_iter()
            .filter(|&index| !there.contains(&self.orphan.snapshot.resources[index].urn))
            .chain(self.made.iter().copied())
            .collect();
        positions.sort_unstable();
        let resources = positions.into_iter().map(|index| self.orphan.snapshot.resources[index].clone());
        Snapshot {
            resources: resources.collect(),
            pending_operations: self.begun.clone(),
            ..Snapshot::default()
        }
    }

    fn reseal(
        &self,
        context: &Context,
        stack: &StackId,
        current: &Snapshot,
        taken: &mut Snapshot,
    ) -> Outcome {
        let (Some(ours), Some(theirs)) = (&self.orphan.snapshot.secrets_provider, &current.secrets_provider)
        else {
            return Ok(());
        };
        let manager = |provider| Manager::of_snapshot(context.keyring(), provider, Some(&stack.to_string()));
        let (from, to) = (manager(ours), manager(theirs));
        if from.opens_what_is_sealed_by(&to) {
            return Ok(());
        }
        snapshot_secrets::reseal(taken, from.crypter().as_ref(), to.crypter().as_ref())
    }
}

/// Points what is taken over to the providers that the state has now, where those were replaced.
fn adopt_providers(current: &Snapshot, taken: &mut Snapshot) {
    let providers: HashMap<&Urn, &str> = current
        .resources
        .iter()
        .filter(|resource| is_provider_type(&resource.type_token) && !resource.delete)
        .map(|resource| (&resource.urn, resource.id.as_str()))
        .collect();
    for resource in &mut taken.resources {
        let Some(reference) = ProviderReference::parse(&resource.provider) else { continue };
        if let Some(&id) = providers.get(&reference.urn) {
            resource.provider = ProviderReference { id: id.to_owned(), ..reference }.to_string();
        }
    }
}

//! Resources that have to be replaced because one that they depend on goes away first.

use super::diff::compare;
use super::replace_on_changes;
use crate::deployment::Deployment;
use crate::known::Known;
use crate::registry::reference_urn;
use crate::{PropertyMap, ProviderError};
use drystone_model::{Computed, Resource, Urn, Value, is_provider_type};
use std::collections::HashSet;
use std::sync::Arc;

/// A resource that is replaced together with another.
#[derive(Debug)]
pub(crate) struct Dependent {
    pub(crate) known: Arc<Known>,
    /// The properties that make it be replaced.
    pub(crate) keys: Vec<String>,
}

impl Deployment {
    /// The resources that must be deleted before `root` can be, in dependency order: those that would be replaced if
    /// what they take from it were not known, and those that are replaced with it by name.
    ///
    /// The graph is that of the old state. What the program registered already cannot depend on something that it has
    /// not registered yet, so it is left out.
    pub(crate) async fn dependent_replacements(
        self: &Arc<Self>,
        root: &Arc<Known>,
    ) -> Result<Vec<Dependent>, ProviderError> {
        let candidates = {
            let world = self.world();
            let settled = |urn: &Urn| {
                let disposition = world.disposition(urn);
                disposition.decision.is_some() || disposition.deleted
            };
            let candidates = self.transitive_dependents(&world.olds, root);
            candidates.into_iter().filter(|known| !settled(known.urn())).collect::<Vec<_>>()
        };
        let mut replaced: HashSet<Urn> = HashSet::from([root.urn().clone()]);
        let mut found: Vec<Dependent> = Vec::new();
        for known in candidates {
            if let Some(keys) = self.requires_replacement(&known, &replaced).await? {
                replaced.insert(known.urn().clone());
                found.push(Dependent { known, keys });
            }
        }
        let with: Vec<Arc<Known>> = {
            let world = self.world();
            let named = |known: &&Arc<Known>| {
                known.record().replace_with.contains(root.urn()) && !known.record().delete
            };
            let fresh = |known: &&Arc<Known>| {
                !replaced.contains(known.urn()) && !world.disposition(known.urn()).registered
            };
            world.olds.iter().filter(named).filter(fresh).cloned().collect()
        };
        found.extend(with.into_iter().map(|known| Dependent { known, keys: Vec::new() }));
        Ok(found)
    }

    /// Everything that depends on a state, directly or not, in the snapshot's order. Children do not count.
    fn transitive_dependents(&self, olds: &[Arc<Known>], root: &Known) -> Vec<Arc<Known>> {
        let mut reached: HashSet<Urn> = HashSet::from([root.urn().clone()]);
        let Some(start) = olds.iter().position(|known| known.place == root.place) else { return Vec::new() };
        let mut found = Vec::new();
        // The snapshot is in dependency order, so one pass sees every dependent after what it depends on.
        for known in olds.iter().skip(start + 1) {
            let record = known.record();
            let depends = depends_on(record).any(|urn| reached.contains(&urn));
            if depends {
                reached.insert(record.urn.clone());
                found.push(Arc::clone(known));
            }
        }
        found
    }

    /// Whether a resource has to be replaced when others are, and because of which properties.
    async fn requires_replacement(
        self: &Arc<Self>,
        known: &Arc<Known>,
        replaced: &HashSet<Urn>,
    ) -> Result<Option<Vec<String>>, ProviderError> {
        let record = known.record();
        if !record.custom || record.external {
            return Ok(None);
        }
        if reference_urn(&record.provider).is_some_and(|urn| replaced.contains(&urn)) {
            return Ok(Some(Vec::new()));
        }
        if replaced.contains(&record.deleted_with) {
            return Ok(Some(vec!["deletedWith".to_owned()]));
        }
        let state = known.state(&self.vault).map_err(ProviderError::new)?;
        let affected = |key: &String| {
            let urns = record.property_dependencies.get(key).and_then(Option::as_ref);
            urns.is_some_and(|urns| urns.iter().any(|urn| replaced.contains(urn)))
        };
        if !state.inputs.keys().any(affected) {
            return Ok(None);
        }
        let inputs: PropertyMap = state
            .inputs
            .iter()
            .map(|(key, value)| {
                let value = if affected(key) { Value::Computed(Computed::String) } else { value.clone() };
                (key.clone(), value)
            })
            .collect();
        if is_provider_type(record.urn.type_token()) {
            self.registry.same(&record.urn, &record.id, &state.inputs).await?;
        }
        let Some(provider) = self.manager(&record.urn, true, &record.provider).await? else {
            return Ok(None);
        };
        let diff = compare(self, provider.as_ref(), &state, &inputs, true).await?;
        let diff =
            replace_on_changes::apply(diff, &record.replace_on_changes, false).map_err(ProviderError::new)?;
        Ok(diff.is_replace().then_some(diff.replace_keys))
    }
}

/// What a resource depends on, its provider included; its parent is no dependency.
fn depends_on(record: &Resource) -> impl Iterator<Item = Urn> {
    drystone_model::edges(record)
        .filter(|edge| edge.kind != drystone_model::EdgeKind::Parent)
        .map(|edge| Urn::new(edge.urn))
}

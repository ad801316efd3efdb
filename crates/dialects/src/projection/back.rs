//! From a snapshot back to the stack that it is a projection of.
//!
//! What the model has no place for stays with the original, so that only some changes have a way back: a resource that is
//! gone, and other dependencies. That is what repairing needs.

use crate::cdkd::{StackKey, StackState};
use crate::unobin;
use drystone_model::{Resource, Snapshot, Urn, is_provider_type};
use std::collections::{BTreeMap, HashMap};

/// A change that has no way back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{urn}: {change} cannot be written in the form of its own tool")]
pub struct NoWayBack {
    /// The resource.
    pub urn: Urn,
    /// What changed.
    pub change: &'static str,
}

/// The names that stay, each with what it needs now where that changed.
type Staying = BTreeMap<String, Option<Vec<String>>>;

impl StackState {
    /// The state that a changed projection of this one stands for.
    pub fn with_changes_of(&self, key: &StackKey, changed: &Snapshot) -> Result<Self, NoWayBack> {
        let staying = staying(&self.project(key), changed)?;
        let mut state = self.clone();
        state.resources.retain(|name, _| staying.contains_key(name));
        for (name, needs) in staying {
            if let (Some(resource), Some(needs)) = (state.resources.get_mut(&name), needs) {
                resource.dependencies = Some(needs);
            }
        }
        Ok(state)
    }
}

impl unobin::Snapshot {
    /// The record that a changed projection of this one stands for.
    pub fn with_changes_of(&self, changed: &Snapshot) -> Result<Self, NoWayBack> {
        let mut staying = staying(&self.project(), changed)?;
        let mut record = self.clone();
        if let Some(entries) = &mut record.entries {
            entries.retain(|entry| entry.as_ref().is_some_and(|entry| staying.contains_key(&entry.address)));
            for entry in entries.iter_mut().flatten() {
                if let Some(Some(needs)) = staying.remove(&entry.address) {
                    entry.depends_on = needs;
                }
            }
        }
        Ok(record)
    }
}

fn staying(before: &Snapshot, after: &Snapshot) -> Result<Staying, NoWayBack> {
    let known: HashMap<&Urn, &Resource> =
        before.resources.iter().map(|resource| (&resource.urn, resource)).collect();
    let mut staying = Staying::new();
    for resource in after.resources.iter().filter(|resource| is_member(resource)) {
        let refuse = |change| NoWayBack { urn: resource.urn.clone(), change };
        let original = known.get(&resource.urn).ok_or_else(|| refuse("a new resource"))?;
        let is_same =
            Resource { dependencies: original.dependencies.clone(), ..resource.clone() } == **original;
        if !is_same {
            return Err(refuse("a change of more than its dependencies"));
        }
        let needs = || resource.dependencies.iter().map(|urn| urn.name().to_owned()).collect();
        let changed = (resource.dependencies != original.dependencies).then(needs);
        staying.insert(resource.urn.name().to_owned(), changed);
    }
    Ok(staying)
}

/// Whether it is a resource of the stack, rather than the stack itself or a provider.
fn is_member(resource: &Resource) -> bool {
    resource.custom && !is_provider_type(&resource.type_token)
}

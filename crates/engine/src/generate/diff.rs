//! What new inputs mean for a resource that exists.

use super::registration::Registering;
use crate::deployment::Deployment;
use crate::registry::{reference_urn, without_internal};
use crate::world::Decision;
use crate::{
    Diff, DiffArguments, DiffChanges, DiffKind, PropertyDiff, PropertyMap, Provider, ProviderError, State,
};
use drystone_model::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Registering {
    /// Compares the old state with what is wanted, asking the provider last.
    pub(crate) async fn diff(&self, before: &Arc<State>) -> Result<Diff, ProviderError> {
        let deployment = &self.deployment;
        let urn = &self.urn;
        if deployment.is_replace_target(urn, Some(&before.record)) {
            return Ok(Diff::replace("id"));
        }
        let replaced = {
            let world = deployment.world();
            self.new.record.replace_with.iter().any(|with| world.decided(with, Decision::Replace))
        };
        if replaced {
            return Ok(Diff::replace("replaceWith"));
        }
        let deleted_with = &self.new.record.deleted_with;
        if !deleted_with.is_empty() && deployment.world().decided(deleted_with, Decision::Replace) {
            return Ok(Diff::replace("deletedWith"));
        }
        if self.provider_changed(before).await? {
            return Ok(Diff::replace("provider"));
        }
        let same = || same_inputs(&before.inputs, &self.new.inputs);
        let Some(provider) = &self.provider else {
            return Ok(if same() { Diff::none() } else { Diff::some() });
        };
        if deployment.options.legacy_diff && same() {
            return Ok(Diff::none());
        }
        let mut old = (**before).clone();
        old.record.urn = urn.clone();
        old.record.ignore_changes.clone_from(&self.request.options.ignore_changes);
        compare(deployment, provider.as_ref(), &old, &self.new.inputs, deployment.options.dry_run).await
    }

    /// Whether another provider manages it, in a way that the new one cannot go on with.
    async fn provider_changed(&self, before: &State) -> Result<bool, ProviderError> {
        let (old, new) = (&before.record.provider, &self.new.record.provider);
        if old == new {
            return Ok(false);
        }
        if old.is_empty() || new.is_empty() {
            return Ok(true);
        }
        let deployment = &self.deployment;
        let bad = |text: &str| {
            ProviderError::new(format!("bad provider reference '{text}' for resource '{}'", self.urn))
        };
        let old_urn = reference_urn(old).ok_or_else(|| bad(old))?;
        let new_urn = reference_urn(new).ok_or_else(|| bad(new))?;
        let (old_known, new_state) = {
            let world = deployment.world();
            if world.aliased.get(&old_urn) == Some(&new_urn) {
                return Ok(false);
            }
            let checked = world.news.get(&new_urn).and_then(|known| known.state(&deployment.vault).ok());
            let new_state = checked.or_else(|| world.providers.get(&new_urn).cloned());
            (world.old_provider(old).cloned(), new_state)
        };
        let provider = deployment.provider(&self.urn, new).await?;
        let (Some(old_known), Some(new_state)) = (old_known, new_state) else { return Ok(true) };
        let old_state = old_known.state(&deployment.vault).map_err(ProviderError::new)?;
        let arguments = DiffArguments {
            urn: new_urn,
            id: old_state.record.id.clone(),
            old_inputs: without_internal(&old_state.inputs),
            old_outputs: old_state.outputs.clone(),
            new_inputs: without_internal(&new_state.inputs),
            dry_run: true,
            ..DiffArguments::default()
        };
        Ok(provider.diff_config(arguments).await?.is_replace())
    }
}

/// Asks a provider what new inputs mean for a state; where it does not say, the inputs decide.
pub(crate) async fn compare(
    deployment: &Deployment,
    provider: &dyn Provider,
    old: &State,
    new_inputs: &PropertyMap,
    dry_run: bool,
) -> Result<Diff, ProviderError> {
    let urn = &old.record.urn;
    let arguments = DiffArguments {
        urn: urn.clone(),
        id: old.record.id.clone(),
        old_inputs: old.inputs.clone(),
        old_outputs: old.outputs.clone(),
        new_inputs: new_inputs.clone(),
        ignore_changes: old.record.ignore_changes.clone(),
        dry_run,
    };
    let mut diff = provider.diff(arguments).await?;
    if diff.changes == DiffChanges::Unknown {
        let new_inputs = deployment.ignore_changes(urn, new_inputs, &old.inputs, &old.record.ignore_changes);
        // That something became secret is no change of it.
        let (old_inputs, new_inputs) = (revealed(&old.inputs), revealed(&new_inputs));
        let detailed = object_diff(&old_inputs, &new_inputs);
        if detailed.is_empty() {
            diff.changes = DiffChanges::None;
        } else {
            diff.changes = DiffChanges::Some;
            diff.changed_keys = top_level_changes(&old_inputs, &new_inputs);
            diff.detailed = Some(detailed);
        }
    }
    Ok(diff)
}

fn revealed(inputs: &PropertyMap) -> PropertyMap {
    inputs.iter().map(|(key, value)| (key.clone(), value.revealed())).collect()
}

/// Whether inputs mean the same.
pub(crate) fn same_inputs(a: &PropertyMap, b: &PropertyMap) -> bool {
    let present = |map: &PropertyMap| map.values().filter(|value| !value.is_null()).count();
    present(a) == present(b)
        && a.iter()
            .filter(|(_, value)| !value.is_null())
            .all(|(key, value)| b.get(key).is_some_and(|other| value.same_as(other)))
}

fn top_level_changes(old: &PropertyMap, new: &PropertyMap) -> Vec<String> {
    let mut keys: Vec<&String> = old.keys().chain(new.keys()).collect();
    keys.sort();
    keys.dedup();
    let changed = |key: &&String| {
        let null = Value::Null;
        !old.get(*key).unwrap_or(&null).same_as(new.get(*key).unwrap_or(&null))
    };
    keys.into_iter().filter(changed).cloned().collect()
}

/// Every difference between two objects by its path.
#[must_use]
pub fn object_diff(old: &PropertyMap, new: &PropertyMap) -> BTreeMap<String, PropertyDiff> {
    let mut found = BTreeMap::new();
    diff_members("", old, new, &mut found);
    found
}

fn diff_members(
    path: &str,
    old: &PropertyMap,
    new: &PropertyMap,
    found: &mut BTreeMap<String, PropertyDiff>,
) {
    let mut keys: Vec<&String> = old.keys().chain(new.keys()).collect();
    keys.sort();
    keys.dedup();
    for key in keys {
        let present = |map: &PropertyMap| map.get(key).filter(|value| !value.is_null()).cloned();
        diff_values(&member(path, key), present(old).as_ref(), present(new).as_ref(), found);
    }
}

fn diff_values(
    path: &str,
    old: Option<&Value>,
    new: Option<&Value>,
    found: &mut BTreeMap<String, PropertyDiff>,
) {
    let kind = match (old, new) {
        (None, None) => return,
        (None, Some(_)) => DiffKind::Add,
        (Some(_), None) => DiffKind::Delete,
        (Some(Value::Object(old)), Some(Value::Object(new))) => return diff_members(path, old, new, found),
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            for index in 0..old.len().max(new.len()) {
                diff_values(&format!("{path}[{index}]"), old.get(index), new.get(index), found);
            }
            return;
        }
        (Some(old), Some(new)) if old.same_as(new) => return,
        _ => DiffKind::Update,
    };
    found.insert(path.to_owned(), PropertyDiff { kind, input_diff: true });
}

/// The path of a member; names that paths cannot hold plainly are quoted.
fn member(path: &str, key: &str) -> String {
    let plain =
        !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$' || c == '-');
    match (plain, path.is_empty()) {
        (true, true) => key.to_owned(),
        (true, false) => format!("{path}.{key}"),
        (false, _) => format!("{path}[{key:?}]"),
    }
}

/// The same difference seen from the other side.
pub(crate) fn invert(mut diff: Diff) -> Diff {
    for change in diff.detailed.iter_mut().flat_map(BTreeMap::values_mut) {
        change.kind = match change.kind {
            DiffKind::Add => DiffKind::Delete,
            DiffKind::AddReplace => DiffKind::DeleteReplace,
            DiffKind::Delete => DiffKind::Add,
            DiffKind::DeleteReplace => DiffKind::AddReplace,
            kept => kept,
        };
    }
    diff
}

/// Whether a value that triggers replacements changed. Secrets and outputs count by what they hold.
pub(crate) fn trigger_changed(old: &Value, new: &Value) -> bool {
    let (old, new) = (old.revealed(), new.revealed());
    old.contains_unknowns()
        || new.contains_unknowns()
        || (!old.is_null() && !new.is_null() && !old.same_as(&new))
}

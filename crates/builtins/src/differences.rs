//! What a change of inputs means.

use crate::schema::Shape;
use drystone_engine::{Diff, DiffChanges, DiffKind, PropertyDiff, PropertyMap, object_diff};
use drystone_model::Value;
use std::collections::BTreeMap;

/// Differences by property path.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    found: BTreeMap<String, PropertyDiff>,
    /// Property paths whose changes are ignored.
    ignored: Vec<String>,
}

impl Differences {
    /// The differences between inputs, defaults filled in on both sides: what a newer schema adds is no change. That
    /// something became secret is none either.
    pub(crate) fn of_inputs(shape: &Shape, old: &PropertyMap, new: &PropertyMap, ignored: &[String]) -> Self {
        let (old, new) = (complete(shape, old), complete(shape, new));
        let mut found = object_diff(&old, &new);
        found.retain(|path, _| !ignored.iter().any(|ignored| is_within(path, ignored)));
        // What the resource itself says when the program does not stays as it is.
        found.retain(|path, change| change.kind != DiffKind::Delete || !shape.is_completed(path));
        for (path, change) in &mut found {
            let replaces = shape.inputs.get(top_level(path)).is_some_and(|property| property.replaces);
            change.kind = if replaces { change.kind.to_replace() } else { change.kind };
        }
        Self { found, ignored: ignored.to_vec() }
    }

    /// The names of the inputs that differ.
    pub(crate) fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.found.keys().map(|path| top_level(path).to_owned()).collect();
        keys.dedup();
        keys
    }

    /// Whether an input or something inside of it differs.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.found.keys().any(|path| top_level(path) == key)
    }

    /// Adds a difference between what there is and what is wanted, beyond the inputs, unless it is ignored.
    pub(crate) fn note(&mut self, path: &str, kind: DiffKind) {
        if !self.ignored.iter().any(|ignored| is_within(path, ignored)) {
            self.found.entry(path.to_owned()).or_insert(PropertyDiff { kind, input_diff: false });
        }
    }

    pub(crate) fn into_diff(self) -> Diff {
        if self.found.is_empty() {
            return Diff::none();
        }
        let mut replace_keys: Vec<String> = Vec::new();
        for (path, _) in self.found.iter().filter(|(_, change)| change.kind.is_replace()) {
            replace_keys.push(top_level(path).to_owned());
        }
        replace_keys.dedup();
        Diff {
            changes: DiffChanges::Some,
            replace_keys,
            changed_keys: self.keys(),
            detailed: Some(self.found),
            ..Diff::default()
        }
    }
}

fn complete(shape: &Shape, properties: &PropertyMap) -> PropertyMap {
    let mut complete: PropertyMap =
        properties.iter().map(|(key, value)| (key.clone(), value.revealed())).collect();
    complete.retain(|_, value| !value.is_null());
    for (key, property) in &shape.inputs {
        if let Some(default) = &property.default {
            complete.entry(key.clone()).or_insert_with(|| default.clone());
        }
    }
    complete.retain(|_, value| !matches!(value, Value::Null));
    complete
}

fn top_level(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or(path)
}

/// Whether a path is another one or inside of it.
fn is_within(path: &str, outer: &str) -> bool {
    outer == "*"
        || path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

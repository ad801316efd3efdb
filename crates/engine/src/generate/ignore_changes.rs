//! Properties whose changes the program ignores.

use crate::PropertyMap;
use crate::Severity;
use crate::deployment::Deployment;
use drystone_model::{PropertyPath, Segment, Urn, Value};

impl Deployment {
    /// Sets the ignored properties of new inputs back to what they were.
    pub(crate) fn ignore_changes(
        &self,
        urn: &Urn,
        new: &PropertyMap,
        old: &PropertyMap,
        paths: &[String],
    ) -> PropertyMap {
        if paths.is_empty() {
            return new.clone();
        }
        let (inputs, unresolved) = reset_all(new, old, paths);
        if !unresolved.is_empty() {
            let message = format!(
                "cannot ignore changes in added or removed elements of the path: {:?}",
                unresolved.join(", ")
            );
            self.diagnose(urn, Severity::Info, message);
        }
        inputs
    }
}

/// The new inputs with the paths set back, and the paths that could not be.
fn reset_all(new: &PropertyMap, old: &PropertyMap, paths: &[String]) -> (PropertyMap, Vec<String>) {
    let old = Value::Object(old.clone());
    let mut inputs = Value::Object(new.clone());
    let mut unresolved = Vec::new();
    for text in paths {
        let Ok(path) = PropertyPath::parse(text) else { continue };
        if !reset(&path.0, &old, &mut inputs) {
            unresolved.push(text.clone());
        }
    }
    let Value::Object(inputs) = inputs else { return (new.clone(), unresolved) };
    (inputs, unresolved)
}

/// Sets what a path names in `new` to what it is in `old`. Fails where one of them has no such place.
fn reset(path: &[Segment], old: &Value, new: &mut Value) -> bool {
    if let Value::Secret(drystone_model::Secret::Open(inside)) = new {
        return reset(path, unwrap(old), inside);
    }
    let old = unwrap(old);
    let Some((first, rest)) = path.split_first() else {
        *new = old.clone();
        return true;
    };
    if first.is_wildcard() {
        return reset_each(rest, old, new);
    }
    match (first, old, &mut *new) {
        (Segment::Key(key), Value::Object(old), Value::Object(new)) if rest.is_empty() => {
            match old.get(key) {
                Some(value) => new.insert(key.clone(), value.clone()),
                None => new.remove(key),
            };
            true
        }
        (Segment::Key(key), Value::Object(old), Value::Object(new)) => match (old.get(key), new.get_mut(key))
        {
            (Some(old), Some(new)) => reset(rest, old, new),
            (None, None) => true,
            _ => false,
        },
        (Segment::Index(index), Value::Array(old), Value::Array(new)) => {
            match (old.get(*index), new.get_mut(*index)) {
                (Some(old), Some(new)) => reset(rest, old, new),
                (None, None) => true,
                _ => false,
            }
        }
        (Segment::Key(_), Value::Object(_), _) | (Segment::Index(_), Value::Array(_), _) => false,
        _ => old.same_as(new),
    }
}

fn reset_each(rest: &[Segment], old: &Value, new: &mut Value) -> bool {
    match (old, &mut *new) {
        (Value::Object(old), Value::Object(new)) if rest.is_empty() => {
            new.clone_from(old);
            true
        }
        (Value::Array(old), Value::Array(new)) if rest.is_empty() => {
            new.clone_from(old);
            true
        }
        (Value::Object(old), Value::Object(new)) => {
            let mut all = old.len() == new.len();
            for (key, value) in new.iter_mut() {
                all &= old.get(key).is_some_and(|old| reset(rest, old, value));
            }
            all
        }
        (Value::Array(old), Value::Array(new)) => {
            let mut all = old.len() == new.len();
            for (old, value) in old.iter().zip(new.iter_mut()) {
                all &= reset(rest, old, value);
            }
            all
        }
        _ => false,
    }
}

fn unwrap(value: &Value) -> &Value {
    match value {
        Value::Secret(drystone_model::Secret::Open(inside)) => inside,
        other => other,
    }
}

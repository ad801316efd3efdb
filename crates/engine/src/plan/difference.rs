//! How properties change, and whether that is what was planned.

use super::PlanDiff;
use crate::PropertyMap;
use drystone_model::{Secret, Value};
use std::collections::{BTreeMap, BTreeSet};

impl PlanDiff {
    /// How properties change from old to new. One that becomes unknown changes.
    pub(super) fn between(old: &PropertyMap, new: &PropertyMap) -> Self {
        let mut diff = Self::default();
        for key in keys([old, new]) {
            match (present(old, key), present(new, key)) {
                (None, Some(new)) => _ = diff.adds.insert(key.clone(), new.clone()),
                (Some(_), None) => diff.deletes.push(key.clone()),
                (Some(old), Some(new)) if !means_the_same(old, new) => {
                    diff.updates.insert(key.clone(), new.clone());
                }
                _ => {}
            }
        }
        diff
    }

    /// Compares the change from old to new with what was planned. Fails in the stock engine's words: each property with
    /// the sign of what was planned, the sign of what would happen, and the values.
    pub(super) fn check(&self, old: &PropertyMap, new: &PropertyMap) -> Result<(), String> {
        let planned = self.adds.keys().chain(self.updates.keys()).chain(&self.deletes);
        let all: BTreeSet<&String> = keys([old, new]).into_iter().chain(planned).collect();
        let mut wrong: Vec<String> =
            all.into_iter().filter_map(|key| self.violation(key, old.get(key), new.get(key))).collect();
        if wrong.is_empty() {
            return Ok(());
        }
        wrong.sort();
        Err(format!("properties changed: {}", wrong.join(", ")))
    }

    fn violation(&self, key: &String, old: Option<&Value>, new: Option<&Value>) -> Option<String> {
        let there = new.is_some();
        let (old, new) = (old.filter(|old| !old.is_null()), new.filter(|new| !new.is_null()));
        let change = match (old, new) {
            (None, Some(_)) => Change::Add,
            (Some(old), None) if !there && is_unknown(old) => Change::None,
            (Some(_), None) => Change::Delete,
            (Some(old), Some(new)) if !fits(old, new) => Change::Update,
            _ => Change::None,
        };
        let wrong = |sign: &str, actual: Option<&Value>| Some(self.describe(key, sign, actual));
        if let Some(planned) = self.updates.get(key) {
            return match (change, new) {
                (Change::Add, new) => wrong("+", new),
                (Change::Update, Some(new)) if !fits(planned, new) => wrong("~", Some(new)),
                (Change::None, Some(new)) if !fits(planned, new) => wrong("=", Some(new)),
                (_, None) if !is_unknown(planned) => wrong("-", None),
                _ => None,
            };
        }
        if let Some(planned) = self.adds.get(key) {
            return match (change, new) {
                (Change::Add, Some(new)) if !fits(planned, new) => wrong("+", Some(new)),
                (Change::Update, Some(new)) if !fits(planned, new) => wrong("~", Some(new)),
                (Change::None, Some(new)) if !fits(planned, new) => wrong("=", Some(new)),
                // It was there and goes, which was not planned, or it was to come and is not unknown.
                (Change::Delete, None) => wrong("-", None),
                (_, None) if !is_unknown(planned) => wrong("-", None),
                _ => None,
            };
        }
        let deleted = self.deletes.contains(key);
        match (change, new) {
            (Change::Add, new) => wrong("+", new),
            (Change::Update, new) => wrong("~", new),
            (Change::Delete, _) if !deleted => wrong("-", None),
            (Change::None, Some(new)) if deleted => wrong("=", Some(new)),
            _ => None,
        }
    }

    /// A property with what was planned for it and what would happen.
    fn describe(&self, key: &str, sign: &str, actual: Option<&Value>) -> String {
        let (planned_sign, planned) = if let Some(value) = self.adds.get(key) {
            ("+", Some(value))
        } else if let Some(value) = self.updates.get(key) {
            ("~", Some(value))
        } else if self.deletes.iter().any(|deleted| deleted == key) {
            ("-", None)
        } else {
            ("=", None)
        };
        let values = match (planned, actual) {
            (Some(planned), Some(actual)) => format!("[{}!={}]", shown(planned), shown(actual)),
            (Some(one), None) | (None, Some(one)) => format!("[{}]", shown(one)),
            (None, None) => String::new(),
        };
        format!("{planned_sign}{sign}{key}{values}")
    }
}

/// What happens to a property.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Add,
    Delete,
    Update,
    None,
}

fn keys<const N: usize>(maps: [&PropertyMap; N]) -> BTreeSet<&String> {
    maps.into_iter().flat_map(BTreeMap::keys).collect()
}

fn present<'a>(map: &'a PropertyMap, key: &str) -> Option<&'a Value> {
    map.get(key).filter(|value| !value.is_null())
}

/// Whether two values mean the same. Members that hold nothing are not there.
fn means_the_same(a: &Value, b: &Value) -> bool {
    compare(a, b, Unknowns::AreDifferent)
}

/// Whether a value is what was planned: what is not known yet may be anything, or nothing.
pub(super) fn fits(planned: &Value, actual: &Value) -> bool {
    compare(planned, actual, Unknowns::AreAnything)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknowns {
    AreAnything,
    AreDifferent,
}

fn compare(a: &Value, b: &Value, unknowns: Unknowns) -> bool {
    let free = unknowns == Unknowns::AreAnything;
    match (a, b) {
        (Value::Computed(_), _) | (_, Value::Computed(_)) if free => true,
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| compare(a, b, unknowns))
        }
        (Value::Object(a), Value::Object(b)) => {
            keys([a, b]).into_iter().all(|key| match (a.get(key), b.get(key)) {
                (Some(a), Some(b)) => compare(a, b, unknowns),
                (Some(planned), None) => planned.is_null() || (free && is_unknown(planned)),
                (None, Some(actual)) => actual.is_null(),
                (None, None) => true,
            })
        }
        (Value::Secret(Secret::Open(a)), Value::Secret(Secret::Open(b))) => compare(a, b, unknowns),
        (Value::ResourceReference(a), Value::ResourceReference(b)) => {
            let unknown = |id: &Option<String>| id.as_deref() == Some("");
            a.urn == b.urn && (a.id == b.id || (free && (unknown(&a.id) || unknown(&b.id))))
        }
        (a, b) => a.same_as(b),
    }
}

/// Whether a value is not known yet, secret or not.
fn is_unknown(value: &Value) -> bool {
    match value {
        Value::Computed(_) => true,
        Value::Secret(Secret::Open(inner)) => is_unknown(inner),
        _ => false,
    }
}

/// A value in a message, as the stock engine writes it, secrets masked (S17).
fn shown(value: &Value) -> String {
    match value {
        Value::Computed(kind) => format!("output<{}>{{}}", type_word(*kind)),
        value => format!("{{{}}}", inner(value)),
    }
}

fn inner(value: &Value) -> String {
    match value {
        _ if value.is_secret() => drystone_model::SECRET_MASK.to_owned(),
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(elements) => {
            format!("[{}]", elements.iter().map(shown).collect::<Vec<_>>().join(" "))
        }
        Value::Object(members) => {
            let members = members.iter().map(|(key, member)| format!("{key}:{}", shown(member)));
            format!("map[{}]", members.collect::<Vec<_>>().join(" "))
        }
        Value::Asset(asset) => format!("asset {}", asset.hash),
        Value::Archive(archive) => format!("archive {}", archive.hash),
        Value::ResourceReference(reference) => reference.urn.to_string(),
        other => {
            let text = drystone_dialects::pulumi::properties::encode_plaintext(&other.masked());
            text.unwrap_or_else(|error| error.to_string())
        }
    }
}

fn type_word(kind: drystone_model::Computed) -> &'static str {
    use drystone_model::Computed;
    match kind {
        Computed::Bool => "bool",
        Computed::Number => "number",
        Computed::String => "string",
        Computed::Array => "[]",
        Computed::Asset => "asset",
        Computed::Archive => "archive",
        Computed::Object => "object",
    }
}

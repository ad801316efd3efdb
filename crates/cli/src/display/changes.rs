//! Which properties a step changes: as the provider says, or else as the old and new ones compare.

use super::lists::{Edit, edits};
use super::values::Secrets;
use drystone_engine::{DiffKind, Op, PropertyDiff, State, StepEvent};
use drystone_model::{Json, PropertyPath, Secret, Segment, Value};
use std::collections::BTreeMap;

/// How a property changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// It appears.
    Add,
    /// It goes.
    Delete,
    /// It changes.
    Update,
    /// It stands in another place of its list, where it stood in that one.
    Move(usize),
}

/// A property that changes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    /// Where it is.
    pub(super) path: PropertyPath,
    /// How it changes.
    pub(super) how: How,
    /// Whether it makes the resource be replaced.
    pub(super) replaces: bool,
    /// Whether the user asked not to see its values.
    pub(super) hidden: bool,
    /// The value before, where there is one.
    pub(super) old: Option<Value>,
    /// The value after, where there is one.
    pub(super) new: Option<Value>,
}

/// The properties that a step changes, in the order of their paths. A resource that is made or goes has no changes but
/// its whole properties.
pub(super) fn changes(step: &StepEvent, secrets: Secrets) -> Vec<Change> {
    let (Some(old), Some(new)) = (&step.old, &step.new) else { return Vec::new() };
    let refreshed = step.op == Op::Refresh;
    let mut changes = match &step.detailed {
        Some(detailed) if !detailed.is_empty() => told(detailed, old, new, refreshed, secrets),
        _ => {
            let (before, after) =
                if refreshed { (&old.outputs, &new.outputs) } else { (&old.inputs, &new.inputs) };
            let mut comparison = Comparison::default();
            comparison.values(&secrets.ready(before), &secrets.ready(after));
            comparison.changes
        }
    };
    let hidden = hidden_paths(&new.record.hide_diff);
    let replacing: Vec<PropertyPath> = step.replace_keys.iter().map(|key| read_path(key)).collect();
    for change in &mut changes {
        change.hidden = hidden.iter().any(|path| path.contains(&change.path));
        change.replaces |=
            replacing.iter().any(|path| path.contains(&change.path) || change.path.contains(path));
    }
    changes
}

/// The changes that a provider tells of.
fn told(
    detailed: &BTreeMap<String, PropertyDiff>,
    old: &State,
    new: &State,
    refreshed: bool,
    secrets: Secrets,
) -> Vec<Change> {
    let [old_inputs, old_outputs] = [&old.inputs, &old.outputs].map(|properties| secrets.ready(properties));
    let [new_inputs, new_outputs] = [&new.inputs, &new.outputs].map(|properties| secrets.ready(properties));
    let mut changes = Vec::new();
    for (text, diff) in detailed {
        let path = read_path(text);
        let old_value = match diff.input_diff {
            true => find(&old_inputs, &path),
            false => find(&old_outputs, &path).or_else(|| find(&old_inputs, &path)),
        };
        let new_value = match refreshed && !diff.input_diff {
            true => find(&new_outputs, &path),
            false => find(&new_inputs, &path).or_else(|| find(&new_outputs, &path)),
        };
        let (how, old, new) = match diff.kind {
            DiffKind::Add | DiffKind::AddReplace => (How::Add, None, new_value),
            DiffKind::Delete | DiffKind::DeleteReplace => (How::Delete, old_value, None),
            DiffKind::Update | DiffKind::UpdateReplace => (How::Update, old_value, new_value),
        };
        let replaces = diff.kind.is_replace();
        match (&old, &new) {
            (Some(before), Some(after)) if is_container(before) && is_container(after) => {
                let mut comparison = Comparison { path: path.0.clone(), changes: Vec::new() };
                comparison.values(before, after);
                for inner in &mut comparison.changes {
                    inner.replaces = replaces;
                }
                if comparison.changes.is_empty() {
                    changes.push(Change { path, how, replaces, hidden: false, old, new });
                } else {
                    changes.append(&mut comparison.changes);
                }
            }
            _ => changes.push(Change { path, how, replaces, hidden: false, old, new }),
        }
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    // In a list one may go and another appear in the same place.
    changes.dedup_by(|later, earlier| (&earlier.path, earlier.how) == (&later.path, later.how));
    changes
}

fn is_container(value: &Value) -> bool {
    matches!(value, Value::Object(_) | Value::Array(_))
}

/// Compares two values and collects where they differ.
#[derive(Default)]
struct Comparison {
    path: Vec<Segment>,
    changes: Vec<Change>,
}

impl Comparison {
    fn values(&mut self, old: &Value, new: &Value) {
        match (old, new) {
            (Value::Object(before), Value::Object(after)) => {
                let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
                let mut keys: Vec<&String> = keys.collect();
                keys.sort();
                for key in keys {
                    self.below(Segment::Key(key.clone()), before.get(key), after.get(key));
                }
            }
            (Value::Array(before), Value::Array(after)) => {
                for edit in edits(before, after) {
                    match edit {
                        Edit::Change { old, new } => {
                            self.below(Segment::Index(new), before.get(old), after.get(new));
                        }
                        Edit::Insert(new) => self.below(Segment::Index(new), None, after.get(new)),
                        Edit::Delete(old) => self.below(Segment::Index(old), before.get(old), None),
                        Edit::Move { old, new } => {
                            self.path.push(Segment::Index(new));
                            self.found(How::Move(old), before.get(old), after.get(new));
                            self.path.pop();
                        }
                    }
                }
            }
            _ if old.same_as(new) => {}
            _ => self.found(How::Update, Some(old), Some(new)),
        }
    }

    fn below(&mut self, segment: Segment, old: Option<&Value>, new: Option<&Value>) {
        self.path.push(segment);
        match (old, new) {
            (Some(old), Some(new)) => self.values(old, new),
            (None, Some(new)) => self.found(How::Add, None, Some(new)),
            (Some(old), None) => self.found(How::Delete, Some(old), None),
            (None, None) => {}
        }
        self.path.pop();
    }

    fn found(&mut self, how: How, old: Option<&Value>, new: Option<&Value>) {
        self.changes.push(Change {
            path: PropertyPath(self.path.clone()),
            how,
            replaces: false,
            hidden: false,
            old: old.cloned(),
            new: new.cloned(),
        });
    }
}

/// The changes between two sets of named values.
pub(super) fn compare(old: &Value, new: &Value) -> Vec<Change> {
    let mut comparison = Comparison::default();
    comparison.values(old, new);
    comparison.changes
}

/// A path that a provider wrote; one that cannot be read is a key.
fn read_path(text: &str) -> PropertyPath {
    PropertyPath::parse(text).unwrap_or_else(|_| PropertyPath(vec![Segment::from(text)]))
}

/// The value at a path. What is found inside a secret is a secret.
fn find(root: &Value, path: &PropertyPath) -> Option<Value> {
    let mut value = root;
    let mut secret = false;
    for segment in &path.0 {
        while let Value::Secret(Secret::Open(inner)) = value {
            secret = true;
            value = inner;
        }
        value = match (value, segment) {
            (Value::Object(members), Segment::Key(key)) => members.get(key)?,
            (Value::Array(elements), Segment::Index(index)) => elements.get(*index)?,
            (Value::Secret(Secret::Sealed(_)), _) => return Some(value.clone()),
            _ => return None,
        };
    }
    Some(if secret { Value::secret(value.clone()) } else { value.clone() })
}

/// Paths as the state stores them: a list of keys and indexes, or a text.
fn hidden_paths(stored: &[Json]) -> Vec<PropertyPath> {
    let read = |json: &Json| match json.decode::<serde_json::Value>().ok()? {
        serde_json::Value::String(text) => Some(read_path(&text)),
        serde_json::Value::Array(segments) => {
            segments.iter().map(read_segment).collect::<Option<_>>().map(PropertyPath)
        }
        _ => None,
    };
    stored.iter().filter_map(read).collect()
}

fn read_segment(segment: &serde_json::Value) -> Option<Segment> {
    match segment {
        serde_json::Value::String(key) => Some(Segment::Key(key.clone())),
        serde_json::Value::Number(index) => usize::try_from(index.as_u64()?).ok().map(Segment::Index),
        _ => None,
    }
}

//! What differs between two snapshots: which resources came, went, changed or moved, and each value that changed.
//!
//! Nothing here opens a secret. Where one stands, `[secret]` is shown (S17), unless the snapshots were revealed before
//! and the caller asks to see it.

mod values;

#[cfg(test)]
mod tests;

use drystone_model::{Json, PropertyPath, Resource, Segment, ShortName, Snapshot, Urn};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

pub(crate) use values::ValueDiff;

/// What became of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Change {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// Some of its values differ.
    Changed,
    /// It is the same and stands elsewhere.
    Moved,
}

/// A resource that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ResourceDiff {
    /// What became of it.
    pub(crate) change: Change,
    /// Its URN.
    pub(crate) urn: Urn,
    /// Its id, where it has one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) id: String,
    /// Whether it waits to be deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) delete: bool,
    /// Its place before and after, when it moved among the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) moved: Option<(usize, usize)>,
    /// The values that differ.
    pub(crate) values: Vec<ValueDiff>,
}

/// What differs between two snapshots.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub(crate) struct SnapshotDiff {
    /// The resources that differ: those that were there before in their old order, then the new ones.
    pub(crate) resources: Vec<ResourceDiff>,
    /// What differs beside the resources: pending operations, the secrets provider, and what is unknown. The manifest
    /// says when a snapshot was written and is not compared.
    pub(crate) rest: Vec<ValueDiff>,
}

/// Whether secrets that stand in clear are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrets {
    /// They are masked.
    Masked,
    /// They are shown.
    Shown,
}

impl SnapshotDiff {
    /// Compares two snapshots, in time that follows their size.
    pub(crate) fn new(before: &Snapshot, after: &Snapshot, secrets: Secrets) -> Self {
        let pairs = pair(&before.resources, &after.resources);
        let moved = moved(&pairs);
        let mut resources = Vec::new();
        for (index, old) in before.resources.iter().enumerate() {
            let Some(&place) = pairs.get(&index) else {
                resources.push(ResourceDiff::new(Change::Removed, old));
                continue;
            };
            let new = &after.resources[place];
            let values = compare(old, new, secrets);
            let moved = moved.contains(&index).then_some((index, place));
            if !values.is_empty() || moved.is_some() {
                let change = if values.is_empty() { Change::Moved } else { Change::Changed };
                resources.push(ResourceDiff { values, moved, ..ResourceDiff::new(change, new) });
            }
        }
        let kept: HashSet<usize> = pairs.values().copied().collect();
        let added = after.resources.iter().enumerate().filter(|(index, _)| !kept.contains(index));
        resources.extend(added.map(|(_, resource)| ResourceDiff::new(Change::Added, resource)));
        Self { resources, rest: rest(before, after, secrets) }
    }

    /// Whether nothing differs.
    pub(crate) fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.rest.is_empty()
    }

    /// How many resources came, went, changed and moved, in a phrase.
    pub(crate) fn summary(&self) -> String {
        let count = |change| self.resources.iter().filter(|resource| resource.change == change).count();
        let counts = [
            (count(Change::Added), "added"),
            (count(Change::Removed), "removed"),
            (count(Change::Changed), "changed"),
            (count(Change::Moved), "moved"),
        ];
        let parts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        match (parts.is_empty(), self.rest.is_empty()) {
            (true, true) => "no differences".to_owned(),
            (true, false) => "no resource differs".to_owned(),
            (false, _) => parts.join(", "),
        }
    }

    /// The differences for people: a line a resource, below it a line for each value that changed.
    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        for resource in &self.resources {
            resource.render(&mut text);
        }
        for value in &self.rest {
            let _ = writeln!(text, "  {value}");
        }
        text
    }
}

/// More values of one resource than this are counted, not listed, for people.
const VALUES_LISTED: usize = 20;

/// Members that say where a resource comes from and when it was written. People are shown them only when nothing else
/// changed.
const BOOKKEEPING: [&str; 4] = ["created", "modified", "sourcePosition", "stackTrace"];

impl ResourceDiff {
    fn new(change: Change, resource: &Resource) -> Self {
        Self {
            change,
            urn: resource.urn.clone(),
            id: resource.id.clone(),
            delete: resource.delete,
            moved: None,
            values: Vec::new(),
        }
    }

    fn render(&self, text: &mut String) {
        let sign = match self.change {
            Change::Added => '+',
            Change::Removed => '-',
            Change::Changed => '~',
            Change::Moved => '>',
        };
        let _ = write!(text, "{sign} {}", ShortName(&self.urn));
        if self.delete {
            text.push_str("  (to be deleted)");
        }
        if matches!(self.change, Change::Added | Change::Removed) && !self.id.is_empty() {
            let _ = write!(text, "  {}", self.id);
        }
        if let Some((from, to)) = self.moved {
            let _ = write!(text, "  moved from #{from} to #{to}");
        }
        text.push('\n');
        let telling: Vec<&ValueDiff> = self.values.iter().filter(|value| !is_bookkeeping(value)).collect();
        let shown = if telling.is_empty() { self.values.iter().collect() } else { telling };
        for value in shown.iter().take(VALUES_LISTED) {
            let _ = writeln!(text, "    {value}");
        }
        if shown.len() > VALUES_LISTED {
            let _ = writeln!(text, "    and {} more", shown.len() - VALUES_LISTED);
        }
    }
}

fn is_bookkeeping(value: &ValueDiff) -> bool {
    matches!(value.path.0.first(), Some(Segment::Key(key)) if BOOKKEEPING.contains(&key.as_str()))
}

/// Which resource of the old list is which of the new one: same URN and deletion mark, same id where there are several.
fn pair(before: &[Resource], after: &[Resource]) -> HashMap<usize, usize> {
    let mut places: HashMap<(&Urn, bool), Vec<usize>> = HashMap::new();
    for (index, resource) in after.iter().enumerate() {
        places.entry((&resource.urn, resource.delete)).or_default().push(index);
    }
    let mut pairs = HashMap::new();
    // Those with the same id go first, so that the others do not take their place.
    for by_id in [true, false] {
        for (index, resource) in before.iter().enumerate().filter(|(_, resource)| !resource.urn.is_empty()) {
            if pairs.contains_key(&index) {
                continue;
            }
            let Some(candidates) = places.get_mut(&(&resource.urn, resource.delete)) else { continue };
            let fitting = candidates.iter().position(|&place| !by_id || after[place].id == resource.id);
            if let Some(position) = fitting {
                pairs.insert(index, candidates.remove(position));
            }
        }
    }
    pairs
}

/// The resources, by their old index, that have to move for the others to stand in their new order: as few as can be.
fn moved(pairs: &HashMap<usize, usize>) -> HashSet<usize> {
    let mut ordered: Vec<(usize, usize)> = pairs.iter().map(|(&old, &new)| (old, new)).collect();
    ordered.sort_unstable();
    // The longest run that is increasing already, by patience sorting: `tails[n]` ends the best run of length n + 1.
    let mut tails: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = vec![None; ordered.len()];
    for (position, &(_, new)) in ordered.iter().enumerate() {
        let length = tails.partition_point(|&tail| ordered[tail].1 < new);
        previous[position] = length.checked_sub(1).map(|shorter| tails[shorter]);
        if length == tails.len() {
            tails.push(position);
        } else {
            tails[length] = position;
        }
    }
    let mut stays = HashSet::new();
    let mut at = tails.last().copied();
    while let Some(position) = at {
        stays.insert(position);
        at = previous[position];
    }
    let moves = ordered.iter().enumerate().filter(|(position, _)| !stays.contains(position));
    moves.map(|(_, &(old, _))| old).collect()
}

/// The values that differ between two records, as their JSON has them.
fn compare<T: Serialize>(before: &T, after: &T, secrets: Secrets) -> Vec<ValueDiff> {
    match (Json::from_serialize(before), Json::from_serialize(after)) {
        (Ok(before), Ok(after)) => values::compare(before.text(), after.text(), secrets),
        _ => Vec::new(),
    }
}

/// What differs beside the resources.
fn rest(before: &Snapshot, after: &Snapshot, secrets: Secrets) -> Vec<ValueDiff> {
    let without_resources = |snapshot: &Snapshot| Snapshot {
        secrets_provider: snapshot.secrets_provider.clone(),
        metadata: snapshot.metadata.clone(),
        snippets: snapshot.snippets.clone(),
        extensions: snapshot.extensions.clone(),
        extra: snapshot.extra.clone(),
        ..Snapshot::default()
    };
    let mut found = compare(&without_resources(before), &without_resources(after), secrets);
    found.extend(pending_operations(before, after));
    found
}

/// The pending operations that came and went.
fn pending_operations(before: &Snapshot, after: &Snapshot) -> Vec<ValueDiff> {
    let names = |snapshot: &Snapshot| -> Vec<String> {
        let operations = snapshot.pending_operations.iter();
        operations
            .map(|operation| format!("{} {}", operation.kind.as_str(), operation.resource.urn))
            .collect()
    };
    let path = || PropertyPath(vec![Segment::from("pending_operations")]);
    let text = |name: &String| Json::from_serialize(name).ok();
    let (old, mut new) = (names(before), names(after));
    let mut found = Vec::new();
    for name in &old {
        match new.iter().position(|other| other == name) {
            Some(position) => {
                new.remove(position);
            }
            None => found.push(ValueDiff { path: path(), before: text(name), after: None }),
        }
    }
    found.extend(new.iter().map(|name| ValueDiff { path: path(), before: None, after: text(name) }));
    found
}

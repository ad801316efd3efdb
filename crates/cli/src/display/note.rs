//! What changes, in a few words beside a resource.

use super::changes::{Change, How, changes};
use super::text::printable;
use super::values::{Secrets, inline};
use drystone_engine::{Op, StepEvent};

/// How many changes are named; the rest is counted.
const NAMED: usize = 3;
/// How many letters of a value are shown.
const VALUE: usize = 32;

/// What a step changes: `tags.team: "a" → "b"`. Empty when there is nothing to say.
pub(super) fn note(step: &StepEvent, secrets: Secrets) -> String {
    match step.op {
        Op::Delete | Op::DeleteReplaced if retains(step) => "[retain]".to_owned(),
        Op::Same => protection(step),
        Op::Refresh if step.result != Some(Op::Update) => String::new(),
        Op::Create | Op::Delete | Op::DeleteReplaced | Op::Read | Op::Discard | Op::DiscardReplaced => {
            String::new()
        }
        _ => listed(step, secrets),
    }
}

fn retains(step: &StepEvent) -> bool {
    step.old.as_ref().is_some_and(|state| state.record.retain_on_delete)
}

fn protection(step: &StepEvent) -> String {
    match (&step.old, &step.new) {
        (Some(old), Some(new)) if old.record.protect != new.record.protect => {
            format!("protect: {} → {}", old.record.protect, new.record.protect)
        }
        _ => String::new(),
    }
}

fn listed(step: &StepEvent, secrets: Secrets) -> String {
    let mut changes = changes(step, secrets);
    if changes.is_empty() {
        let keys = if step.replace_keys.is_empty() { &step.changed_keys } else { &step.replace_keys };
        let keys: Vec<String> = keys.iter().take(NAMED).map(|key| format!("~ {}", printable(key))).collect();
        return keys.join(", ");
    }
    // What replaces the resource is named first.
    changes.sort_by_key(|change| !change.replaces);
    few(&changes)
}

/// The first few changes; the rest is counted.
pub(super) fn few(changes: &[Change]) -> String {
    let mut parts: Vec<String> = changes.iter().take(NAMED).map(describe).collect();
    if changes.len() > NAMED {
        parts.push(format!("and {} more", changes.len() - NAMED));
    }
    parts.join(", ")
}

fn describe(change: &Change) -> String {
    let path = printable(&change.path.to_string()).into_owned();
    let value = |value: &Option<_>| value.as_ref().map(|value| inline(value, VALUE));
    if change.hidden {
        return format!("~ {path}");
    }
    match (change.how, value(&change.old), value(&change.new)) {
        (How::Delete, _, _) => format!("- {path}"),
        (How::Add, _, Some(new)) => format!("+ {path}: {new}"),
        (How::Add, _, None) => format!("+ {path}"),
        (How::Update, Some(old), Some(new)) => format!("{path}: {old} → {new}"),
        (How::Update, _, Some(new)) => format!("{path}: → {new}"),
        (How::Update, _, None) => format!("~ {path}"),
        (How::Move(from), _, _) => format!("{path}: moved from [{from}]"),
    }
}

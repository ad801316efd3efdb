//! What two runs of the same thing never share is taken out: times, random ids, and the order of what is independent.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A state, and a preview that may speak of its resources.
///
/// Resources and preview steps are keyed by their URN, so that a difference is named by it.
pub(crate) fn state_and_preview(export: &Value, preview: Value) -> (Value, Value) {
    let ids = random_ids(export);
    let deployment = &export["deployment"];
    let mut state = Map::new();
    state.insert("version".to_owned(), export["version"].clone());
    state.insert("features".to_owned(), export["features"].clone());
    state.insert("secrets".to_owned(), deployment["secrets_providers"]["type"].clone());
    state.insert("resources".to_owned(), by_urn(&deployment["resources"], |resource| resource));
    let pending = |operation: &Value| json!({ "urn": operation["resource"]["urn"], "operation": operation });
    let operations = deployment["pending_operations"].as_array().map_or(&[][..], Vec::as_slice);
    let operations = Value::Array(operations.iter().map(pending).collect());
    state.insert("pending".to_owned(), by_urn(&operations, |operation| operation["operation"].clone()));
    state.insert("metadata".to_owned(), deployment["metadata"].clone());
    (cleaned(Value::Object(state), &ids), cleaned(preview_steps(preview), &ids))
}

/// Groups the elements of a list by their URN; those with the same URN keep their order.
fn by_urn(list: &Value, content: impl Fn(Value) -> Value) -> Value {
    let mut groups: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for element in list.as_array().map_or(&[][..], Vec::as_slice) {
        let urn = element["urn"].as_str().unwrap_or_default().to_owned();
        groups.entry(urn).or_default().push(content(element.clone()));
    }
    groups.into_iter().map(|(urn, elements)| (urn, Value::Array(elements))).collect::<Map<_, _>>().into()
}

fn preview_steps(mut preview: Value) -> Value {
    let Some(members) = preview.as_object_mut() else { return preview };
    members.remove("duration");
    // Their texts are for people; what failed is compared by the exit code.
    members.remove("diagnostics");
    let steps = by_urn(&preview["steps"], |mut step| {
        for list in ["diffReasons", "replaceReasons"] {
            if let Some(list) = step.get_mut(list).and_then(Value::as_array_mut) {
                list.sort_by_key(Value::to_string);
            }
        }
        step
    });
    preview["steps"] = steps;
    preview
}

/// The random ids of providers and of what the engine makes itself, each with the name that stands for it.
fn random_ids(export: &Value) -> Vec<(String, String)> {
    let mut ids: Vec<(String, String)> = Vec::new();
    for resource in export["deployment"]["resources"].as_array().map_or(&[][..], Vec::as_slice) {
        let urn = resource["urn"].as_str().unwrap_or_default();
        if let Some(id) = resource["id"].as_str().filter(|id| is_uuid(id)) {
            let name = urn.rsplit("::").take(2).collect::<Vec<_>>().join(" ");
            let earlier = ids.iter().filter(|(_, known)| known.contains(&name)).count();
            ids.push((id.to_owned(), format!("<id {} of {name}>", earlier + 1)));
        }
    }
    ids
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.char_indices().all(|(at, character)| match at {
            8 | 13 | 18 | 23 => character == '-',
            _ => character.is_ascii_hexdigit(),
        })
}

/// Replaces random ids and times in every string and moment.
fn cleaned(value: Value, ids: &[(String, String)]) -> Value {
    match value {
        Value::String(text) => {
            Value::String(ids.iter().fold(text, |text, (id, name)| text.replace(id.as_str(), name)))
        }
        Value::Array(elements) => elements.into_iter().map(|element| cleaned(element, ids)).collect(),
        Value::Object(mut members) => {
            let created = members.get("created").cloned();
            if let Some(modified) = members.get_mut("modified").filter(|modified| modified.is_string()) {
                let moment = if Some(&*modified) == created.as_ref() { "when created" } else { "later" };
                *modified = json!(moment);
            }
            // Sets, in whatever order each of the two keeps them.
            for key in ["dependencies", "propertyDependencies"] {
                members.get_mut(key).into_iter().for_each(sort_sets);
            }
            if let Some(ciphertext) = members.get_mut("ciphertext") {
                *ciphertext = json!("<sealed>");
            }
            if let Some(created) = members.get_mut("created").filter(|created| created.is_string()) {
                *created = json!("then");
            }
            members.into_iter().map(|(key, value)| (key, cleaned(value, ids))).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

/// Sorts a list, or every list of an object.
fn sort_sets(value: &mut Value) {
    match value {
        Value::Array(list) => list.sort_by_key(Value::to_string),
        Value::Object(members) => members.values_mut().for_each(sort_sets),
        _ => {}
    }
}

/// Provider calls in a form in which two runs can be compared.
#[derive(Debug, PartialEq)]
pub(crate) struct Calls {
    /// The calls about each resource, in order; those about none are under the method's name.
    pub(crate) by_resource: Value,
    /// For two resources of which one depends on the other: the order in which they were changed.
    pub(crate) order: Value,
}

/// Sorts calls out. `related` says of two resources whether the order of their changes matters.
pub(crate) fn calls(calls: &[Value], related: impl Fn(&str, &str) -> bool) -> Calls {
    let mut groups: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut changes: Vec<(String, String)> = Vec::new();
    for call in calls {
        let text = |key: &str| call[key].as_str().unwrap_or_default();
        let urn = text("urn").to_owned();
        let group = if urn.is_empty() { text("method").to_owned() } else { urn.clone() };
        groups.entry(group).or_default().push(call.clone());
        if matches!(text("method"), "create" | "update" | "delete") && call["preview"] != true {
            changes.push((urn, text("method").to_owned()));
        }
    }
    for (group, calls) in &mut groups {
        if !group.starts_with("urn:") {
            calls.sort_by_key(Value::to_string);
        }
        // What is there and what it replaced go side by side: either CLI may ask for one or the other first.
        for deletions in
            calls.chunk_by_mut(|one, next| one["method"] == "delete" && next["method"] == "delete")
        {
            deletions.sort_by_key(|call| call["id"].to_string());
        }
    }
    let mut order = Map::new();
    let mut urns: Vec<&String> = changes.iter().map(|(urn, _)| urn).collect();
    urns.sort();
    urns.dedup();
    for (at, first) in urns.iter().enumerate() {
        for second in urns[at + 1..].iter().filter(|second| related(first, second)) {
            let sequence: Vec<String> = changes
                .iter()
                .filter(|(urn, _)| urn == *first || urn == *second)
                .map(|(urn, method)| format!("{method} {}", name(urn)))
                .collect();
            order.insert(format!("{} and {}", name(first), name(second)), json!(sequence));
        }
    }
    let by_resource =
        groups.into_iter().map(|(group, calls)| (group, Value::Array(calls))).collect::<Map<_, _>>();
    Calls { by_resource: by_resource.into(), order: order.into() }
}

/// What events tell of policies: by kind, in whatever order, and which packs ran.
pub(crate) fn policies(events: &[Value]) -> Value {
    let mut kinds: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for event in events {
        for (kind, content) in event.as_object().into_iter().flatten() {
            if kind.starts_with("policy") {
                kinds.entry(kind.clone()).or_default().push(content.clone());
            }
        }
        if let Some(packs) = event["summaryEvent"].get("PolicyPacks") {
            kinds.entry("packs".to_owned()).or_default().push(packs.clone());
        }
    }
    kinds.values_mut().for_each(|events| events.sort_by_key(Value::to_string));
    kinds.into_iter().map(|(kind, events)| (kind, Value::Array(events))).collect::<Map<_, _>>().into()
}

/// The methods of a list of calls, in order.
pub(crate) fn methods(calls: &Value) -> Vec<&str> {
    calls.as_array().into_iter().flatten().filter_map(|call| call["method"].as_str()).collect()
}

fn name(urn: &str) -> &str {
    urn.rsplit("::").next().unwrap_or(urn)
}

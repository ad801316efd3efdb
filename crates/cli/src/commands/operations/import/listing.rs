//! The list that `preview --import-file` writes: what would be created, for somebody to fill in the ids.

use super::file::{ImportFile, Listed};
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use drystone_dialects::pulumi::properties::{SecretForm, encode};
use drystone_engine::{Event, EventSink, Op, PropertyMap, SecretText, State};
use drystone_model::{ProviderReference, ROOT_STACK_TYPE, Urn, Value, is_default_provider, is_provider_type};
use drystone_secrets::{Manager, Reuse, Sealer};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What stands where an id has to be filled in.
const PLACEHOLDER: &str = "<PLACEHOLDER>";

/// Notes the steps of a preview.
#[derive(Debug)]
pub(crate) struct Listing {
    path: PathBuf,
    seen: Mutex<Vec<(Op, Arc<State>)>>,
}

impl Listing {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, seen: Mutex::default() }
    }

    /// Hears of an event that goes on to somebody else.
    pub(crate) fn hear(&self, event: &Event) {
        if let Event::StepStarted(step) = event
            && let Some(state) = step.new.as_ref().or(step.old.as_ref())
        {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.push((step.op, Arc::clone(state)));
        }
    }

    /// Writes the list.
    pub(crate) fn write(&self, manager: &Manager) -> Outcome {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let file = list(&seen, manager)?;
        let fail = |error: &dyn std::fmt::Display| {
            Failure::general(format!("the list {} cannot be written: {error}", self.path.display()))
        };
        let text = file.text().map_err(|error| fail(&error))?;
        std::fs::write(&self.path, text).map_err(|error| fail(&error))
    }
}

/// Passes events on, and lets a listing hear of them.
pub(crate) struct Heard {
    pub(crate) by: Arc<Listing>,
    pub(crate) next: Arc<dyn EventSink>,
}

impl EventSink for Heard {
    fn send(&self, event: Event) {
        self.by.hear(&event);
        self.next.send(event);
    }
}

fn list(seen: &[(Op, Arc<State>)], manager: &Manager) -> Outcome<ImportFile> {
    let names = names(seen);
    let name = |urn: &Urn| names.get(urn).cloned().unwrap_or_else(|| urn.name().to_owned());
    let providers: HashMap<&Urn, &PropertyMap> = seen
        .iter()
        .filter(|(_, state)| is_provider_type(&state.record.type_token))
        .map(|(_, state)| (&state.record.urn, &state.inputs))
        .collect();
    let is_listed =
        |(op, state): &&(Op, Arc<State>)| *op == Op::Create && state.record.type_token != ROOT_STACK_TYPE;
    let created: HashSet<&Urn> = seen.iter().filter(is_listed).map(|(_, state)| &state.record.urn).collect();
    let mut file = ImportFile::default();
    for (_, state) in seen.iter().filter(is_listed) {
        let record = &state.record;
        let (urn, custom) = (&record.urn, record.custom);
        if is_default_provider(urn) {
            continue;
        }
        let is_provider = is_provider_type(&record.type_token);
        let mut listed = Listed {
            type_token: record.type_token.clone(),
            name: name(urn),
            id: if custom && !is_provider { PLACEHOLDER.to_owned() } else { String::new() },
            component: !custom,
            remote: !custom && !record.provider.is_empty(),
            ..Listed::default()
        };
        if listed.name != urn.name() {
            urn.name().clone_into(&mut listed.logical_name);
        }
        if !record.parent.is_empty() && record.parent.qualified_type() != ROOT_STACK_TYPE {
            listed.parent = name(&record.parent);
            if !created.contains(&record.parent) {
                file.name_table.insert(listed.parent.clone(), record.parent.to_string());
            }
        }
        if let Some(reference) = ProviderReference::parse(&record.provider) {
            if !is_default_provider(&reference.urn) {
                listed.provider = name(&reference.urn);
                if !created.contains(&reference.urn) {
                    file.name_table.insert(listed.provider.clone(), reference.urn.to_string());
                }
            }
            let text = |key: &str| match providers.get(&reference.urn).and_then(|inputs| inputs.get(key)) {
                Some(Value::String(text)) => text.clone(),
                _ => String::new(),
            };
            listed.version = text("version");
            listed.plugin_download_url = text("pluginDownloadURL");
        }
        if is_provider {
            listed.inputs = configuration(state, manager)?;
        }
        file.resources.push(listed);
    }
    Ok(file)
}

/// What the list calls each resource: by its name, the later of two with its type behind it.
fn names(seen: &[(Op, Arc<State>)]) -> HashMap<Urn, String> {
    let mut own: HashSet<&str> = seen.iter().map(|(_, state)| state.record.urn.name()).collect();
    let mut names: HashMap<Urn, String> = HashMap::new();
    let mut taken: HashSet<String> = HashSet::new();
    for (_, state) in seen {
        let urn = &state.record.urn;
        if names.contains_key(urn) {
            continue;
        }
        let mut name = urn.name().to_owned();
        if !own.remove(urn.name()) {
            let kind = urn.type_token().rsplit(':').next().unwrap_or_default();
            let suffixed = format!("{name}{kind}");
            let mut number = 2;
            name.clone_from(&suffixed);
            while taken.contains(&name) || own.contains(name.as_str()) {
                name = format!("{suffixed}{number}");
                number += 1;
            }
        }
        taken.insert(name.clone());
        names.insert(urn.clone(), name);
    }
    names
}

/// A provider's configuration as far as it is known, its secrets sealed.
fn configuration(
    state: &State,
    manager: &Manager,
) -> Outcome<Option<serde_json::Map<String, serde_json::Value>>> {
    let urn = &state.record.urn;
    let (unknown, mut known): (Vec<_>, Vec<_>) =
        state.inputs.clone().into_iter().partition(|(_, value)| value.contains_unknowns());
    if !unknown.is_empty() {
        let keys: Vec<String> = unknown.into_iter().map(|(key, _)| key).collect();
        terminal::warning(format!(
            "configuration of provider {urn} is not known during the preview and has been omitted from the import \
             file, fill it in before importing: {}",
            keys.join(", ")
        ));
    }
    let internal = |error: &dyn std::fmt::Display| {
        Failure::new(ExitCode::Internal, format!("could not serialize provider inputs for {urn}: {error}"))
    };
    if known.iter().any(|(_, value)| value.contains_secrets()) {
        let sealer = Sealer::new(manager, Reuse::On).map_err(|error| internal(&error))?;
        let mut places: Vec<(&str, &mut Value)> =
            known.iter_mut().map(|(key, value)| (key.as_str(), value)).collect();
        sealer.seal_values(&SecretText, &mut places).map_err(crate::context::secrets_failure)?;
    }
    let mut members = serde_json::Map::new();
    for (key, value) in known {
        let json = encode(&value, SecretForm::Sealed).map_err(|error| internal(&error))?;
        members.insert(key, serde_json::from_str(json.text()).map_err(|error| internal(&error))?);
    }
    Ok((!members.is_empty()).then_some(members))
}

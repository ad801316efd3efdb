//! The outputs of a stack: those of its root resource, secrets masked or opened.

use crate::context::{Context, secrets_failure};
use crate::report::{ExitCode, Failure, Outcome};
use drystone_dialects::pulumi::properties::{SecretForm, decode_properties, encode, encode_properties};
use drystone_model::{Json, Properties, ROOT_STACK_TYPE, Value};
use drystone_secrets::stored;
use drystone_stores::{Recorded, StackId};
use std::collections::BTreeMap;

/// The outputs by name. No key is derived unless secrets are to be shown and there are any (S17).
pub(super) fn outputs_of(
    context: &Context,
    stack: &StackId,
    recorded: &Recorded,
    show_secrets: bool,
) -> Outcome<BTreeMap<String, Value>> {
    let resources = &recorded.snapshot.resources;
    let is_root = |type_token: &str, parent: &str| type_token == ROOT_STACK_TYPE && parent.is_empty();
    let Some(root) =
        resources.iter().find(|resource| is_root(&resource.type_token, resource.parent.as_str()))
    else {
        return Ok(BTreeMap::new());
    };
    let unreadable = |error: &dyn std::fmt::Display| {
        Failure::new(ExitCode::Unsound, format!("the outputs of {stack} cannot be read: {error}"))
            .hint("`drystone state verify` shows what else is wrong")
    };
    let mut stored = root.outputs.clone();
    if show_secrets {
        let manager = context.snapshot_secrets(stack, recorded);
        let opened = stored::reveal(&[stored.text()], manager.crypter().as_ref()).map_err(secrets_failure)?;
        if let Some(text) = opened.into_iter().next().flatten() {
            stored = Properties::new(Json::parse(text).map_err(|error| unreadable(&error))?);
        }
    }
    let values = decode_properties(&stored).map_err(|error| unreadable(&error))?;
    let shown = |value: Value| if show_secrets { value.revealed() } else { value.masked() };
    Ok(values.into_iter().map(|(name, value)| (name, shown(value))).collect())
}

/// All outputs as one JSON object.
pub(super) fn as_json(outputs: &BTreeMap<String, Value>) -> Outcome<Json> {
    let properties = encode_properties(outputs, SecretForm::Sealed).map_err(Failure::general)?;
    Json::parse(properties.text()).map_err(Failure::general)
}

/// One output as JSON.
pub(super) fn value_as_json(value: &Value) -> Outcome<Json> {
    encode(value, SecretForm::Sealed).map_err(Failure::general)
}

/// One output for people and shells: a text as it is, anything else as JSON on one line.
pub(super) fn as_text(value: &Value) -> Outcome<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        other => Ok(value_as_json(other)?.text().to_owned()),
    }
}

/// Rows of name and value for people; the lines of a value stand below each other.
pub(super) fn rows(outputs: &BTreeMap<String, Value>) -> Outcome<Vec<Vec<String>>> {
    let mut rows = Vec::new();
    for (name, value) in outputs {
        let text = as_text(value)?;
        let mut lines = text.split('\n');
        rows.push(vec![name.clone(), lines.next().unwrap_or_default().to_owned()]);
        rows.extend(lines.map(|line| vec![String::new(), line.to_owned()]));
    }
    Ok(rows)
}

//! The states of resources in events and previews.

use drystone_dialects::pulumi::properties::{SecretForm, encode_properties};
use drystone_engine::{PropertyMap, State};
use drystone_model::{
    ArchiveSource, AssetSource, Json, Properties, Resource, SECRET_MASK, Secret, Urn, Value,
};
use serde::Serialize;

/// What stands for the text of an asset, which may be as large as a file.
const ELIDED: &str = "<contents elided>";

/// A state as events show it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EventState<'s> {
    r#type: &'s str,
    urn: &'s Urn,
    #[serde(skip_serializing_if = "is_false")]
    custom: bool,
    #[serde(skip_serializing_if = "is_false")]
    delete: bool,
    id: &'s str,
    parent: &'s Urn,
    #[serde(skip_serializing_if = "is_false")]
    protect: bool,
    #[serde(skip_serializing_if = "is_false")]
    taint: bool,
    #[serde(skip_serializing_if = "is_false")]
    external: bool,
    #[serde(skip_serializing_if = "is_false")]
    retain_on_delete: bool,
    inputs: Option<Json>,
    outputs: Option<Json>,
    provider: &'s str,
    #[serde(skip_serializing_if = "is_empty")]
    init_errors: &'s [String],
    #[serde(skip_serializing_if = "is_empty")]
    hide_diffs: &'s [Json],
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_empty<T>(list: &&[T]) -> bool {
    list.is_empty()
}

impl<'s> EventState<'s> {
    pub(super) fn new(state: &'s State) -> Self {
        let record = &state.record;
        Self {
            r#type: &record.type_token,
            urn: &record.urn,
            custom: record.custom,
            delete: record.delete,
            id: &record.id,
            parent: &record.parent,
            protect: record.protect,
            taint: record.taint,
            external: record.external,
            retain_on_delete: record.retain_on_delete,
            inputs: blinded(&state.inputs),
            outputs: blinded(&state.outputs),
            provider: &record.provider,
            init_errors: &record.init_errors,
            hide_diffs: &record.hide_diff,
        }
    }

    /// Leaves the id and the outputs out.
    pub(super) fn as_begun(&mut self) {
        self.id = "";
        self.outputs = blinded(&PropertyMap::new());
    }
}

/// Properties with `[secret]` in the place of each ciphertext and without the texts of assets. Nothing when they cannot
/// be written.
pub(super) fn blinded(properties: &PropertyMap) -> Option<Json> {
    let mut value = Value::Object(properties.clone());
    value.lower_outputs();
    for secret in value.secrets_mut() {
        *secret = Secret::Sealed(SECRET_MASK.to_owned());
    }
    elide(&mut value);
    let Value::Object(members) = value else { return None };
    let encoded = encode_properties(&members, SecretForm::Sealed).ok()?;
    encoded.json().cloned().or_else(|| Json::parse("{}").ok())
}

fn elide(value: &mut Value) {
    match value {
        Value::Asset(asset) => {
            if let AssetSource::Text(text) = &mut asset.source {
                ELIDED.clone_into(text);
            }
        }
        Value::Archive(archive) => {
            if let ArchiveSource::Assets(assets) = &mut archive.source {
                assets.values_mut().for_each(elide);
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(elide),
        Value::Object(members) => members.values_mut().for_each(elide),
        _ => {}
    }
}

/// Whether the properties of the stack itself are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StackProperties {
    Shown,
    Left,
}

/// A state as previews show it: as it would be stored, but with `[secret]` for every secret.
pub(super) fn preview_state(state: &State, stack: StackProperties) -> Option<Resource> {
    let mut resource = state.record.clone();
    if stack == StackProperties::Left && crate::display::model::is_stack(&resource.urn) {
        return Some(resource);
    }
    resource.inputs = masked(&state.inputs)?;
    resource.outputs = masked(&state.outputs)?;
    if !state.replacement_trigger.is_null() {
        let trigger = state.replacement_trigger.masked();
        resource.replacement_trigger =
            drystone_dialects::pulumi::properties::encode(&trigger, SecretForm::Sealed).ok();
    }
    Some(resource)
}

fn masked(properties: &PropertyMap) -> Option<Properties> {
    let Value::Object(members) = Value::Object(properties.clone()).masked() else { return None };
    encode_properties(&members, SecretForm::Sealed).ok()
}

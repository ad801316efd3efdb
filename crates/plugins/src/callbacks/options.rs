//! The options of resources as transforms and hooks see them.

use super::Function;
use crate::monitor::options::{
    AliasStyle, read_alias, read_hooks, read_optional_urn, read_timeouts, read_urns, write_alias,
    write_hooks, write_timeouts, write_urns,
};
use crate::monitor::refusal::Refusal;
use crate::proto::pulumirpc as rpc;
use crate::wire::{Decoding, Outputs};
use drystone_engine::{Alias, Failed, HookMoment, RegisterRequest, Timeouts};
use drystone_model::{Json, PropertyPath, Resource, Segment};

/// The options of a request, for a transform to change.
pub(super) fn write(
    request: &RegisterRequest,
    function: &Function,
) -> Result<rpc::TransformResourceOptions, Failed> {
    let options = &request.options;
    let replacement_trigger = match &options.replacement_trigger {
        Some(trigger) => function
            .encoding()
            .value(trigger)
            .map_err(|error| Failed(format!("the replacement trigger for a transform: {error}")))?,
        None => None,
    };
    Ok(rpc::TransformResourceOptions {
        depends_on: write_urns(&request.dependencies),
        protect: options.protect,
        ignore_changes: options.ignore_changes.clone(),
        replace_on_changes: options.replace_on_changes.clone(),
        version: request.package.version.clone(),
        aliases: options.aliases.iter().cloned().map(write_alias).collect(),
        provider: request.provider.clone(),
        custom_timeouts: write_timeouts(options.timeouts),
        plugin_download_url: request.package.download_url.clone(),
        retain_on_delete: options.retain_on_delete,
        deleted_with: options.deleted_with.to_string(),
        delete_before_replace: options.delete_before_replace,
        additional_secret_outputs: options.additional_secret_outputs.clone(),
        providers: request.providers.clone().into_iter().collect(),
        plugin_checksums: request.package.checksums.clone().into_iter().collect(),
        hooks: write_hooks(options.hooks.clone()),
        import: options.import_id.clone(),
        hide_diff: options.hide_diffs.clone(),
        replace_with: write_urns(&options.replace_with),
        replacement_trigger,
    })
}

/// Gives a request the options that a transform answered with. All of them are in the answer; what is not there was
/// taken away.
pub(super) fn read(
    request: &mut RegisterRequest,
    answer: rpc::TransformResourceOptions,
) -> Result<(), Refusal> {
    let decoding = Decoding { outputs: Outputs::Keep, ..Decoding::default() };
    let options = &mut request.options;
    options.replacement_trigger = match &answer.replacement_trigger {
        Some(trigger) => decoding.value(trigger)?,
        None => None,
    };
    options.aliases = answer
        .aliases
        .into_iter()
        .map(|alias| read_alias(alias, AliasStyle::Specified))
        .collect::<Result<_, _>>()?;
    options.protect = answer.protect;
    options.ignore_changes = answer.ignore_changes;
    options.replace_on_changes = answer.replace_on_changes;
    options.timeouts = read_timeouts(answer.custom_timeouts)?;
    options.retain_on_delete = answer.retain_on_delete;
    options.deleted_with = read_optional_urn("DeletedWith", &answer.deleted_with)?;
    options.delete_before_replace = answer.delete_before_replace;
    options.additional_secret_outputs = answer.additional_secret_outputs;
    options.hooks = read_hooks(answer.hooks);
    options.import_id = answer.import;
    options.hide_diffs = answer.hide_diff;
    options.replace_with = read_urns("ReplaceWith", &answer.replace_with)?;
    request.dependencies = read_urns("dependency", &answer.depends_on)?;
    request.package.version = answer.version;
    request.package.download_url = answer.plugin_download_url;
    request.package.checksums = answer.plugin_checksums.into_iter().collect();
    request.provider = answer.provider;
    request.providers = answer.providers.into_iter().collect();
    Ok(())
}

/// The options that a state remembers. Versions and the like are those of its provider, and not in it.
pub(super) fn write_record(record: Resource) -> rpc::ResourceOptions {
    rpc::ResourceOptions {
        depends_on: write_urns(&record.dependencies),
        protect: Some(record.protect),
        ignore_changes: record.ignore_changes,
        replace_on_changes: record.replace_on_changes,
        aliases: record.aliases.into_iter().map(|urn| write_alias(Alias::Urn(urn))).collect(),
        provider: record.provider,
        custom_timeouts: record.custom_timeouts.as_ref().map(timeouts).and_then(write_timeouts),
        retain_on_delete: Some(record.retain_on_delete),
        deleted_with: record.deleted_with.to_string(),
        additional_secret_outputs: record.additional_secret_outputs,
        hooks: write_hooks(
            HookMoment::ALL
                .into_iter()
                .filter_map(|(moment, word)| Some((moment, record.resource_hooks.get(word)?.clone())))
                .collect(),
        ),
        import: record.import_id,
        hide_diff: record.hide_diff.iter().filter_map(path).collect(),
        replace_with: write_urns(&record.replace_with),
        parent: record.parent.to_string(),
        ..rpc::ResourceOptions::default()
    }
}

/// Time limits as a state holds them: seconds by operation.
fn timeouts(stored: &Json) -> Timeouts {
    let stored: serde_json::Value = stored.decode().unwrap_or_default();
    let seconds = |operation: &str| stored[operation].as_f64().unwrap_or_default();
    Timeouts {
        create: seconds("create"),
        update: seconds("update"),
        delete: seconds("delete"),
        read: seconds("read"),
    }
}

/// A property path as a program writes it. States hold it as a text or as the list of its steps.
fn path(stored: &Json) -> Option<String> {
    match stored.decode().ok()? {
        serde_json::Value::String(text) => Some(text),
        serde_json::Value::Array(steps) => {
            let segment = |step: &serde_json::Value| match step {
                serde_json::Value::String(key) => Some(Segment::Key(key.clone())),
                step => step.as_u64().and_then(|index| usize::try_from(index).ok()).map(Segment::Index),
            };
            let path: Option<Vec<Segment>> = steps.iter().map(segment).collect();
            path.map(|path| PropertyPath(path).to_string())
        }
        _ => None,
    }
}

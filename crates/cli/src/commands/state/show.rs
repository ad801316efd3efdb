//! `state get`: what the state knows of one resource.

use super::target;
use crate::context::{Context, secrets_failure};
use crate::report::{Failure, Outcome};
use crate::terminal;
use clap::{Args, ValueEnum};
use drystone_dialects::pulumi::properties::{SecretForm, decode_properties, encode_properties};
use drystone_model::{Json, Properties, Resource, Snapshot, Value};
use drystone_secrets::{Manager, stored};
use drystone_stores::Recorded;
use serde_json::json;
use std::collections::BTreeMap;

/// Shows what the state knows of a resource: its type, URN and id, its inputs and outputs.
///
/// The resource is named by its URN, or by its name where only one has it. Secrets are shown as [secret].
#[derive(Debug, Args)]
#[command(after_help = "Example: drystone state get assets --json")]
pub(crate) struct ShowArgs {
    /// The URN or the name of the resource
    resource: Option<String>,
    /// Print JSON
    #[arg(short, long)]
    json: bool,
    /// The form: `default` for people, `json` for tools
    #[arg(long, value_enum, default_value_t = Output::Default, hide = true)]
    output: Output,
    /// Show secrets in clear
    #[arg(long)]
    show_secrets: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    Default,
    Json,
}

pub(crate) async fn run(context: &Context, args: ShowArgs) -> Outcome {
    let backend = context.backend().await?;
    let (stack, recorded) = context.current(&backend, None).await?;
    let given = args.resource.into_iter().collect();
    let question = "Which resource do you want to see?";
    let named = target::given_or_picked(context, &backend, &stack, given, question).await?;
    let Recorded { snapshot, .. } = &recorded;
    let resource = find(snapshot, named.first().map(String::as_str).unwrap_or_default())?;
    let manager = args.show_secrets.then(|| context.snapshot_secrets(&stack, &recorded));
    let inputs = shown(&resource.inputs, manager.as_ref())?;
    let outputs = shown(&resource.outputs, manager.as_ref())?;
    if args.json || args.output == Output::Json {
        let mut object = json!({
            "id": resource.id, "inputs": inputs, "outputs": outputs,
            "type": resource.type_token, "urn": resource.urn,
        });
        if let (true, Some(members)) = (resource.delete, object.as_object_mut()) {
            members.insert("pendingDeletion".to_owned(), json!(true));
            members.sort_keys();
        }
        terminal::json(&object);
        return Ok(());
    }
    let mut text = format!("Type: {}\nURN:  {}\n", resource.type_token, resource.urn);
    let mut add = |name: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("{name}{value}\n"));
        }
    };
    add("ID:   ", &resource.id);
    add("Parent: ", resource.parent.as_str());
    add("Provider: ", &resource.provider);
    add("Protected: ", if resource.protect { "yes" } else { "" });
    add("Tainted: ", if resource.taint { "yes" } else { "" });
    add("Pending deletion: ", if resource.delete { "yes" } else { "" });
    for (name, properties) in [("Inputs", &inputs), ("Outputs", &outputs)] {
        if properties.text() != "{}" {
            let mut indented = Vec::new();
            let _ = drystone_model::text::indent(properties.text().as_bytes(), "  ", &mut indented);
            text.push_str(&format!("{name}: {}\n", String::from_utf8_lossy(&indented)));
        }
    }
    terminal::data(&text);
    Ok(())
}

/// The live resource with this URN, or the only one with this name.
fn find<'a>(snapshot: &'a Snapshot, text: &str) -> Outcome<&'a Resource> {
    let with_urn: Vec<&Resource> =
        target::positions(snapshot, text).into_iter().map(|index| &snapshot.resources[index]).collect();
    if let Some(live) = with_urn.iter().find(|resource| !resource.delete) {
        if with_urn.len() > 1 {
            terminal::warning(format!("{} more with this URN wait to be deleted", with_urn.len() - 1));
        }
        return Ok(live);
    }
    if let Some(first) = with_urn.first() {
        return Ok(first);
    }
    let named: Vec<&Resource> = snapshot
        .resources
        .iter()
        .filter(|resource| !resource.delete && resource.urn.name() == text)
        .collect();
    match named[..] {
        [] => Err(target::not_found(snapshot.resources.iter(), text)),
        [only] => Ok(only),
        _ => {
            let mut failure = Failure::general(format!("{} resources are named `{text}`", named.len()));
            failure.details = named.iter().map(|resource| resource.urn.to_string()).collect();
            Err(failure.hint("name the one you mean by its URN"))
        }
    }
}

/// Properties as they are shown: without what tools keep for themselves, secrets masked or, with a manager, in clear.
fn shown(properties: &Properties, manager: Option<&Manager>) -> Outcome<Json> {
    let unreadable =
        |error: &dyn std::fmt::Display| Failure::general(format!("reading the properties: {error}"));
    let parsed = |text: &str| Json::parse(text).map_err(|error| unreadable(&error));
    let revealed = match manager {
        None => None,
        Some(manager) => {
            let opened = stored::reveal(&[properties.text()], manager.crypter().as_ref());
            opened.map_err(secrets_failure)?.pop().flatten()
        }
    };
    let stored = Properties::new(parsed(revealed.as_deref().unwrap_or(properties.text()))?);
    let values = decode_properties(&stored).map_err(|error| unreadable(&error))?;
    let visible: BTreeMap<String, Value> = values
        .into_iter()
        .filter(|(name, _)| !name.starts_with("__"))
        .map(|(name, value)| (name, if manager.is_some() { value.revealed() } else { value.masked() }))
        .collect();
    let encoded = encode_properties(&visible, SecretForm::Plaintext).map_err(|error| unreadable(&error))?;
    parsed(encoded.text())
}

//! `stack`: shows a stack.

mod tree;

use super::format::{FormatArgs, milliseconds, moment, print_json};
use super::outputs::{as_json, outputs_of, rows};
use crate::backend::Backend;
use crate::context::Context;
use crate::moments::ago;
use crate::report::Outcome;
use crate::terminal;
use clap::Args;
use drystone_model::{Json, Operation, Resource, ShortName};
use drystone_stores::{At, Host, Recorded, StackDescription, StackId, SystemHost};
use serde::Serialize;
use std::collections::BTreeMap;
use tree::Shown;

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Show each resource's id
    #[arg(short = 'i', long)]
    show_ids: bool,
    /// Show each resource's URN
    #[arg(short = 'u', long)]
    show_urns: bool,
    /// Print only the stack's name
    #[arg(long)]
    show_name: bool,
    /// Show secret outputs in clear
    #[arg(long)]
    show_secrets: bool,
    /// Show also what the running update has recorded so far
    #[arg(long)]
    running: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) async fn run(context: &Context, args: ShowArgs) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    if args.show_name {
        super::init::require(&backend, &stack).await?;
        let in_full = context.globals.fully_qualify_stack_names;
        terminal::line(if in_full { stack.qualified() } else { stack.name().to_owned() });
        return Ok(());
    }
    let at = if args.running { At::Running } else { At::Current };
    let recorded = backend.store().snapshot(&stack, at).await?;
    let description = backend.store().describe(&stack).await?;
    if args.format.is_json() {
        let json = envelope(context, &stack, &recorded, description, args.show_secrets)?;
        return print_json(&json);
    }
    let mut text = heading(&backend, &stack, &recorded, &description, args.running);
    let resources = &recorded.snapshot.resources;
    if resources.is_empty() {
        text.push_str("\nNo resources\n");
    } else {
        text.push_str(&format!("\nResources ({})\n", resources.len()));
        let shown = Shown { ids: args.show_ids, urns: args.show_urns };
        text.push_str(&indented(&tree::render(resources, shown)));
    }
    let pending = &recorded.snapshot.pending_operations;
    if !pending.is_empty() {
        text.push_str(&format!("\nPending operations ({})\n", pending.len()));
        text.push_str(&indented(&terminal::table(&pending.iter().map(pending_row).collect::<Vec<_>>())));
    }
    let outputs = outputs_of(context, &stack, &recorded, args.show_secrets)?;
    if !outputs.is_empty() {
        text.push_str(&format!("\nOutputs ({})\n", outputs.len()));
        text.push_str(&indented(&terminal::table(&rows(&outputs)?)));
    }
    terminal::data(&text);
    Ok(())
}

/// What is known of the stack besides its resources.
fn heading(
    backend: &Backend,
    stack: &StackId,
    recorded: &Recorded,
    description: &StackDescription,
    running: bool,
) -> String {
    let manifest = &recorded.snapshot.manifest;
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![row("Backend", backend.to_string())];
    let updated = if recorded.ever_written { moment(&manifest.time) } else { None };
    rows.push(row(
        "Last update",
        updated.map_or_else(
            || "never".to_owned(),
            |moment| format!("{} ({moment:.0})", ago(moment, jiff::Timestamp::now())),
        ),
    ));
    if !manifest.version.is_empty() {
        rows.push(row("Written by", manifest.version.clone()));
    }
    if let Some(revision) = recorded.revision {
        rows.push(row("Revision", revision.to_string()));
    }
    for holder in &description.holders {
        rows.push(row("Held by", holder.describe()));
    }
    if running && recorded.revision.is_none() && recorded.hash.is_empty() {
        rows.push(row("Shown", "what the update has recorded so far".to_owned()));
    }
    if description.unrecovered {
        rows.push(row(
            "Unfinished",
            "an update died here; the next command on the stack brings it in".to_owned(),
        ));
    }
    for orphan in &description.orphans {
        let told =
            format!("{} ({} entries); `drystone state doctor` explains", orphan.journal, orphan.entries);
        rows.push(row("Kept aside", told));
    }
    if let Some(broken) = &recorded.snapshot.metadata.integrity_error {
        rows.push(row("Unsound", format!("{}; `drystone state doctor` explains", broken.error)));
    }
    for (name, value) in &description.tags {
        rows.push(row("Tag", format!("{name} = {value}")));
    }
    format!("{stack}\n{}", indented(&terminal::table(&rows)))
}

fn pending_row(operation: &Operation) -> Vec<String> {
    vec![operation.kind.as_str().to_owned(), ShortName(&operation.resource.urn).to_string()]
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// A stack as the stock CLI prints it, and below that what only this one knows.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<&'a str>,
    stack: &'a str,
    backend: String,
    tags: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest: Option<EnvelopeManifest<'a>>,
    resources: Vec<EnvelopeResource<'a>>,
    outputs: Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pending_operations: Vec<EnvelopeOperation<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    held_by: Vec<drystone_stores::LeaseInfo>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct EnvelopeManifest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pulumi_version: &'a str,
    #[serde(skip_serializing_if = "<[Json]>::is_empty")]
    plugins: &'a [Json],
}

#[derive(Debug, Serialize)]
struct EnvelopeResource<'a> {
    urn: &'a str,
    r#type: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    parent: &'a str,
}

#[derive(Debug, Serialize)]
struct EnvelopeOperation<'a> {
    r#type: &'a str,
    urn: &'a str,
}

fn envelope<'a>(
    context: &Context,
    stack: &'a StackId,
    recorded: &'a Recorded,
    description: StackDescription,
    show_secrets: bool,
) -> Outcome<Envelope<'a>> {
    let snapshot = &recorded.snapshot;
    let resource = |resource: &'a Resource| EnvelopeResource {
        urn: resource.urn.as_str(),
        r#type: &resource.type_token,
        name: resource.urn.name(),
        id: &resource.id,
        parent: resource.parent.as_str(),
    };
    let operation = |operation: &'a Operation| EnvelopeOperation {
        r#type: operation.kind.as_str(),
        urn: operation.resource.urn.as_str(),
    };
    Ok(Envelope {
        project: stack.project(),
        stack: stack.name(),
        backend: SystemHost.hostname(),
        tags: description.tags,
        manifest: recorded.ever_written.then(|| EnvelopeManifest {
            time: moment(&snapshot.manifest.time).map(milliseconds),
            pulumi_version: &snapshot.manifest.version,
            plugins: &snapshot.manifest.plugins,
        }),
        resources: snapshot.resources.iter().map(resource).collect(),
        outputs: as_json(&outputs_of(context, stack, recorded, show_secrets)?)?,
        revision: recorded.revision,
        pending_operations: snapshot.pending_operations.iter().map(operation).collect(),
        held_by: description.holders,
    })
}

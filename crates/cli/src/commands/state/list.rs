//! `state ls`: the resources of a stack.

use crate::context::Context;
use crate::report::Outcome;
use crate::terminal;
use clap::Args;
use drystone_model::Resource;
use serde_json::json;

/// Lists the resources of a stack in the order in which the state holds them.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print JSON
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: ListArgs) -> Outcome {
    let backend = context.backend().await?;
    let (_, recorded) = context.current(&backend, None).await?;
    let resources = &recorded.snapshot.resources;
    if args.json {
        let rows: Vec<_> = resources
            .iter()
            .map(|resource| {
                json!({
                    "urn": resource.urn, "type": resource.type_token, "name": resource.urn.name(),
                    "id": resource.id, "custom": resource.custom, "parent": resource.parent,
                    "protect": resource.protect, "taint": resource.taint, "external": resource.external,
                    "pendingDeletion": resource.delete,
                })
            })
            .collect();
        terminal::json(&rows);
        return Ok(());
    }
    terminal::data_with(|out| {
        resources.iter().try_for_each(|resource| writeln!(out, "{}{}", resource.urn, marks(resource)))
    });
    Ok(())
}

fn marks(resource: &Resource) -> String {
    let marks = [
        (resource.protect, "protected"),
        (resource.taint, "tainted"),
        (resource.external, "external"),
        (resource.delete, "pending deletion"),
        (resource.pending_replacement, "pending replacement"),
    ];
    let set: Vec<&str> = marks.into_iter().filter(|(is_set, _)| *is_set).map(|(_, mark)| mark).collect();
    if set.is_empty() { String::new() } else { format!("  ({})", set.join(", ")) }
}

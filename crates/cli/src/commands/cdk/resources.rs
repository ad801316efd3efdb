//! `cdk state resources`: the resources of a stack.

use super::named::{StackArgs, no_stack};
use super::place::PlaceArgs;
use super::values::{by_dictionary, inline, members, plain, print_json, print_lines};
use crate::context::Context;
use crate::report::Outcome;
use crate::terminal;
use clap::Args;
use drystone_dialects::cdkd::{Members, Resource, StackState};
use drystone_model::Json;
use serde::Serialize;

#[derive(Debug, Args)]
pub(super) struct ResourcesArgs {
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    stack: StackArgs,
    /// Show what each needs, and its attributes
    #[arg(short, long)]
    long: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A resource in the tool's shape.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    logical_id: &'a str,
    resource_type: &'a str,
    physical_id: &'a str,
    dependencies: &'a [String],
    attributes: Members<Json>,
}

pub(super) async fn run(context: &Context, args: &ResourcesArgs) -> Outcome {
    let store = args.place.open(context).await?.store;
    let key = args.stack.find(&store).await?;
    let state = store.state(&key).await?.ok_or_else(|| no_stack(&key.stack))?;
    let resources = sorted(&state);
    if args.json {
        let rows = resources.iter().map(|(id, resource)| Row {
            logical_id: id,
            resource_type: &resource.resource_type,
            physical_id: &resource.physical_id,
            dependencies: resource.needs(),
            attributes: members(resource.attributes.as_ref()),
        });
        print_json(&rows.collect::<Vec<_>>());
    } else if args.long {
        let mut lines = Vec::new();
        for (id, resource) in resources {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(head(id, resource));
            lines.push(needs_line(resource));
            lines.extend(section("Attributes", resource.attributes.as_ref()));
        }
        print_lines(&lines);
    } else {
        let row = |(id, resource): &(&str, &Resource)| {
            vec![(*id).to_owned(), resource.resource_type.clone(), plain(&resource.physical_id)]
        };
        terminal::data(&terminal::table(&resources.iter().map(row).collect::<Vec<_>>()));
    }
    Ok(())
}

/// The resources of a state by their names.
pub(super) fn sorted(state: &StackState) -> Vec<(&str, &Resource)> {
    let mut resources: Vec<(&str, &Resource)> = state.resources.iter().collect();
    resources.sort_by(|(one, _), (other, _)| by_dictionary(one, other));
    resources
}

/// What a resource is.
pub(super) fn head(id: &str, resource: &Resource) -> [String; 3] {
    [
        plain(id),
        format!("  Type: {}", plain(&resource.resource_type)),
        format!("  PhysicalID: {}", plain(&resource.physical_id)),
    ]
}

/// What a resource needs.
pub(super) fn needs_line(resource: &Resource) -> String {
    let needs = if resource.needs().is_empty() { "(none)".to_owned() } else { resource.needs().join(", ") };
    format!("  Dependencies: {}", plain(&needs))
}

/// The members of an object under a heading.
pub(super) fn section(heading: &str, value: Option<&Json>) -> Vec<String> {
    let members = members(value);
    if members.is_empty() {
        return vec![format!("  {heading}: (none)")];
    }
    let mut lines = vec![format!("  {heading}:")];
    lines.extend(members.iter().map(|(name, value)| format!("    {}: {}", plain(name), inline(value))));
    lines
}

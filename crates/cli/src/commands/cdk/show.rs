//! `cdk state show`: all that is recorded of a stack.

use super::named::{StackArgs, no_stack};
use super::place::PlaceArgs;
use super::resources::{head, needs_line, section, sorted};
use super::values::{inline, lock_line, moment, now, plain, print_json, print_lines};
use crate::context::Context;
use crate::report::Outcome;
use clap::Args;
use drystone_dialects::cdkd::{Lock, StackState};
use drystone_stores::cdkd::{LockFile, Nested};
use serde::Serialize;

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    stack: StackArgs,
    /// Show the stacks that are nested in it, too
    #[arg(long)]
    show_nested: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A stack in the tool's shape.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    state: &'a StackState,
    lock: Option<&'a Lock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    children: Option<Vec<Shown<'a>>>,
}

pub(super) async fn run(context: &Context, args: &ShowArgs) -> Outcome {
    let store = args.place.open(context).await?.store;
    let key = args.stack.find(&store).await?;
    if args.show_nested {
        let nested = store.nested(&key).await?.ok_or_else(|| no_stack(&key.stack))?;
        if args.json {
            print_json(&shape(&nested));
        } else {
            let mut lines = Vec::new();
            block(&nested.state, &nested.lock, &mut lines);
            below(&nested, &mut lines);
            print_lines(&lines);
        }
        return Ok(());
    }
    let (state, lock) = futures::try_join!(store.state(&key), store.lock(&key))?;
    let state = state.ok_or_else(|| no_stack(&key.stack))?;
    if args.json {
        print_json(&Shown { state: &state, lock: held(&lock), children: None });
    } else {
        let mut lines = Vec::new();
        block(&state, &lock, &mut lines);
        print_lines(&lines);
    }
    Ok(())
}

fn shape(nested: &Nested) -> Shown<'_> {
    Shown {
        state: &nested.state,
        lock: held(&nested.lock),
        children: Some(nested.children.iter().map(shape).collect()),
    }
}

fn held(lock: &LockFile) -> Option<&Lock> {
    match lock {
        LockFile::Held(lock) => Some(lock),
        LockFile::Absent | LockFile::Unreadable(_) => None,
    }
}

fn below(nested: &Nested, lines: &mut Vec<String>) {
    for child in &nested.children {
        lines.push(String::new());
        lines.push(format!("Nested stack: {}", plain(&child.state.stack_name)));
        block(&child.state, &child.lock, lines);
        below(child, lines);
    }
}

fn block(state: &StackState, lock: &LockFile, lines: &mut Vec<String>) {
    lines.push(format!("Stack: {}", plain(&state.stack_name)));
    if !state.region.is_empty() {
        lines.push(format!("  Region: {}", plain(&state.region)));
    }
    lines.push(format!("  Version: {}", state.version));
    lines.push(format!(
        "  Last Modified: {}",
        moment(state.last_modified).unwrap_or_else(|| "unknown".to_owned())
    ));
    lines.push(format!("  Lock: {}", lock_line(lock, now())));
    if let Some(parent) = state.parent() {
        let (stack, region, id) = (plain(parent.stack), plain(parent.region), plain(parent.logical_id));
        lines.push(format!("  Parent: {stack} ({region}), logical id: {id}"));
    }
    if !state.outputs.is_empty() {
        lines.extend([String::new(), "Outputs:".to_owned()]);
        let outputs = state.outputs.iter();
        lines.extend(outputs.map(|(name, value)| format!("  {}: {}", plain(name), inline(value))));
    }
    lines.extend([String::new(), format!("Resources ({}):", state.resources.len())]);
    for (id, resource) in sorted(state) {
        lines.push(String::new());
        lines.extend(head(id, resource));
        let by = resource.provisioned_by.as_ref().map(|by| plain(by.as_str()));
        lines.push(format!("  ProvisionedBy: {}", by.as_deref().unwrap_or("(sdk, legacy default)")));
        lines.push(needs_line(resource));
        lines.extend(section("Attributes", resource.attributes.as_ref()));
        lines.extend(section("Properties", resource.properties.as_ref()));
    }
}

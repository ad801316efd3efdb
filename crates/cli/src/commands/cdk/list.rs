//! `cdk state list`: the stacks of a bucket.

use super::named::shown;
use super::place::PlaceArgs;
use super::tree;
use super::values::{moment, print_json, print_lines};
use crate::context::Context;
use crate::report::Outcome;
use crate::terminal;
use clap::Args;
use drystone_stores::cdkd::{CdkdStore, Contents, Listed, LockFile, Summary};
use serde::Serialize;

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// Show how many resources each has, when it was changed, and whether it is locked
    #[arg(short, long, conflicts_with = "tree")]
    long: bool,
    /// Show nested stacks under those that they are nested in
    #[arg(long)]
    tree: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    stack_name: String,
    region: Option<String>,
}

/// A stack in detail, in the tool's shape. One that cannot be read says why, which the tool never comes to.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Detail {
    #[serde(flatten)]
    row: Row,
    resource_count: Option<usize>,
    last_modified: Option<String>,
    locked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(super) async fn run(context: &Context, args: &ListArgs) -> Outcome {
    let store = args.place.open(context).await?.store;
    if args.tree {
        return tree::run(&store, args.json).await;
    }
    if args.long {
        return long(&store, args.json).await;
    }
    let mut stacks = store.stacks().await?;
    stacks.sort_by(in_order);
    if args.json {
        print_json(&stacks.iter().map(row).collect::<Vec<_>>());
    } else {
        print_lines(&stacks.iter().map(shown).collect::<Vec<_>>());
    }
    Ok(())
}

/// By names, then by regions; those whose region nobody knows come last.
pub(super) fn in_order(one: &Listed, other: &Listed) -> std::cmp::Ordering {
    let key = |listed: &Listed| (listed.stack.clone(), listed.region.is_none(), listed.region.clone());
    key(one).cmp(&key(other))
}

fn row(listed: &Listed) -> Row {
    Row {
        stack_name: listed.stack.to_string(),
        region: listed.region.as_ref().map(std::string::ToString::to_string),
    }
}

async fn long(store: &CdkdStore, json: bool) -> Outcome {
    let mut summaries = store.summaries(Contents::StatesAndLocks).await?;
    summaries.sort_by(|one, other| in_order(&one.listed, &other.listed));
    tell_unreadable(&summaries);
    let details: Vec<Detail> = summaries.iter().map(detail).collect();
    if json {
        print_json(&details);
        return Ok(());
    }
    let mut lines = Vec::new();
    for (Summary { listed, .. }, detail) in summaries.iter().zip(&details) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(shown(listed));
        lines.push(format!("  Region: {}", detail.row.region.as_deref().unwrap_or("(legacy)")));
        match &detail.error {
            Some(error) => lines.push(format!("  Error: {error}")),
            None => lines.extend([
                format!("  Resources: {}", detail.resource_count.unwrap_or_default()),
                format!("  Last Modified: {}", detail.last_modified.as_deref().unwrap_or("unknown")),
            ]),
        }
        lines.push(format!("  Lock: {}", if detail.locked { "locked" } else { "unlocked" }));
    }
    print_lines(&lines);
    Ok(())
}

fn detail(Summary { listed, state, lock }: &Summary) -> Detail {
    let state = state.as_ref();
    Detail {
        row: row(listed),
        resource_count: state.ok().map(|state| state.resources.len()),
        last_modified: state.ok().and_then(|state| moment(state.last_modified)),
        locked: !matches!(lock, LockFile::Absent),
        error: state.err().map(std::string::ToString::to_string),
    }
}

/// Says which states cannot be read. Those of others are listed all the same.
pub(super) fn tell_unreadable(summaries: &[Summary]) {
    for error in summaries.iter().filter_map(|summary| summary.state.as_ref().err()) {
        terminal::warning(error);
    }
}

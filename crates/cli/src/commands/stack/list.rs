//! `stack ls`: lists stacks.

use super::format::{FormatArgs, milliseconds, moment, print_json};
use super::selection;
use crate::backend::Backend;
use crate::context::Context;
use crate::moments::ago;
use crate::report::{Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_stores::{StackId, StackSummary};
use futures::{StreamExt, TryStreamExt};
use serde::Serialize;
use std::collections::BTreeMap;

/// How many stacks are asked for their tags at once.
const AT_ONCE: usize = 16;

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The stacks of all projects, not only of this one
    #[arg(short, long)]
    all: bool,
    /// The stacks of this project
    #[arg(short, long, value_name = "NAME")]
    project: Option<String>,
    /// The stacks with this tag, or with this value of it
    #[arg(short, long, value_name = "NAME[=VALUE]")]
    tag: Option<String>,
    /// Accepted for the stock CLI's sake: a directory has one organization
    #[arg(short, long, value_name = "NAME", hide = true)]
    organization: Option<String>,
    /// What was removed and can be brought back with `stack restore`
    #[arg(long)]
    trash: bool,
    #[command(flatten)]
    format: FormatArgs,
}

/// A stack as the stock CLI lists it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    name: String,
    current: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_update: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_count: Option<u64>,
}

/// A stack in the trash.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedTrash {
    name: String,
    id: String,
    removed: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_count: Option<u64>,
}

pub(crate) async fn run(context: &Context, args: ListArgs) -> Outcome {
    let backend = context.backend().await?;
    let here = if args.all || args.project.is_some() {
        context.project()?
    } else {
        Some(context.require_project()?)
    };
    let here_name = here.as_ref().map(|project| project.name.as_str());
    let wanted = args.project.as_deref().or(if args.all { None } else { here_name });
    let wanted = wanted.filter(|_| backend.has_projects());
    let holders = async {
        if args.trash || args.format.is_json() {
            return BTreeMap::new();
        }
        // A lease that cannot be read hides no stack.
        backend.store().holders(wanted).await.unwrap_or_default()
    };
    let (summaries, holders) = futures::future::join(backend.store().stacks(wanted), holders).await;
    let summaries: Vec<StackSummary> =
        summaries?.into_iter().filter(|summary| summary.trashed.is_some() == args.trash).collect();
    let summaries = match args.tag.as_deref().filter(|_| !args.trash) {
        Some(filter) => with_tag(&backend, summaries, filter).await?,
        None => summaries,
    };
    let in_full = context.globals.fully_qualify_stack_names;
    let shown = |summary: StackSummary| (backend.shown(&summary.stack, here_name, in_full), summary);
    let mut stacks: Vec<(String, StackSummary)> = summaries.into_iter().map(shown).collect();
    stacks.sort_by(|(one, _), (other, _)| one.cmp(other));
    if args.trash {
        return show_trash(&stacks, args.format);
    }
    let current = match &here {
        Some(project) => selection::current(context, &backend, project)?,
        None => None,
    };
    if args.format.is_json() {
        let listed: Vec<Listed> = stacks
            .iter()
            .map(|(name, summary)| Listed {
                name: name.clone(),
                current: current.as_ref() == Some(&summary.stack),
                last_update: summary.last_update.as_deref().and_then(moment).map(milliseconds),
                resource_count: summary.resources.filter(|_| summary.last_update.is_some()),
            })
            .collect();
        return print_json(&listed);
    }
    let mut rows = vec![["NAME", "LAST UPDATE", "RESOURCES"].map(str::to_owned).to_vec()];
    for (name, summary) in &stacks {
        let star = if current.as_ref() == Some(&summary.stack) { "*" } else { "" };
        let updated = match holders.get(&summary.stack).and_then(|holders| holders.first()) {
            Some(holder) if !holder.dead => format!("in progress by {}@{}", holder.user, holder.host),
            _ => summary.last_update.as_deref().and_then(moment).map_or_else(|| "never".to_owned(), ago_now),
        };
        let resources = summary.resources.map_or_else(|| "unreadable".to_owned(), |count| count.to_string());
        rows.push(vec![format!("{name}{star}"), updated, resources]);
    }
    terminal::data(&terminal::table(&rows));
    if stacks.is_empty() {
        terminal::note(match wanted {
            _ if args.tag.is_some() => "No stack has that tag".to_owned(),
            Some(project) => {
                format!("{project} has no stacks; `drystone stack ls --all` lists those of all projects")
            }
            None => "There are no stacks; make one with `drystone stack init NAME`".to_owned(),
        });
    }
    Ok(())
}

/// The stacks that have a tag, of which several are asked at once.
async fn with_tag(
    backend: &Backend,
    summaries: Vec<StackSummary>,
    filter: &str,
) -> Outcome<Vec<StackSummary>> {
    let asked = summaries.into_iter().map(|summary| async move {
        let is_wanted = has_tag(backend, &summary.stack, filter).await?;
        Ok::<_, Failure>(is_wanted.then_some(summary))
    });
    let asked: Vec<_> = asked.collect();
    let found: Vec<Option<StackSummary>> =
        futures::stream::iter(asked).buffered(AT_ONCE).try_collect().await?;
    Ok(found.into_iter().flatten().collect())
}

/// Whether a stack has a tag, given as `name` or `name=value`.
async fn has_tag(backend: &Backend, stack: &StackId, filter: &str) -> Outcome<bool> {
    let tags = backend.store().describe(stack).await?.tags;
    Ok(match filter.split_once('=') {
        Some((name, value)) => tags.get(name).is_some_and(|found| found == value),
        None => tags.contains_key(filter),
    })
}

fn show_trash(stacks: &[(String, StackSummary)], format: FormatArgs) -> Outcome {
    if format.is_json() {
        let listed: Vec<ListedTrash> = stacks
            .iter()
            .filter_map(|(name, summary)| {
                let trashed = summary.trashed.as_ref()?;
                Some(ListedTrash {
                    name: name.clone(),
                    id: trashed.id.clone(),
                    removed: milliseconds(trashed.removed),
                    resource_count: summary.resources,
                })
            })
            .collect();
        return print_json(&listed);
    }
    print_trash(stacks);
    Ok(())
}

/// Prints what is in the trash, for people.
pub(super) fn print_trash(stacks: &[(String, StackSummary)]) {
    if stacks.is_empty() {
        terminal::note("The trash is empty");
        return;
    }
    let mut rows = vec![["NAME", "REMOVED", "RESOURCES", "ID"].map(str::to_owned).to_vec()];
    for (name, summary) in stacks {
        let Some(trashed) = &summary.trashed else { continue };
        let resources = summary.resources.map_or_else(|| "unreadable".to_owned(), |count| count.to_string());
        rows.push(vec![name.clone(), ago_now(trashed.removed), resources, trashed.id.clone()]);
    }
    terminal::data(&terminal::table(&rows));
    terminal::note(
        "Bring one back with `drystone stack restore NAME`, or `--id ID` where a name is there twice",
    );
}

fn ago_now(moment: jiff::Timestamp) -> String {
    ago(moment, jiff::Timestamp::now())
}

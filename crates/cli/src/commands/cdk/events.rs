//! `cdk events`: past deployments of a stack, and what happened in them.

use super::named::StackArgs;
use super::place::PlaceArgs;
use super::values::{plain, print_json, print_lines};
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use clap::{Args, ValueEnum};
use drystone_dialects::cdkd::{Event, Region, RunId, RunSummary, StackKey};
use drystone_stores::cdkd::CdkdStore;
use serde::Serialize;

#[derive(Debug, Args)]
pub(super) struct EventsArgs {
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    stack: StackArgs,
    /// Show what happened in one of them
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The same, spelled out
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Json,
}

/// The runs of a stack in the tool's shape.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Runs<'a> {
    stack_name: &'a str,
    region: &'a str,
    runs: &'a [RunSummary],
}

pub(super) async fn run(context: &Context, args: &EventsArgs) -> Outcome {
    let json = args.json || args.format == Some(Format::Json);
    let store = args.place.open(context).await?.store;
    let key = find(&args.stack, &store).await?;
    if let Some(run) = &args.run {
        let run = RunId::parse(run).map_err(Failure::configuration)?;
        let events = store.events(&key, &run).await?.ok_or_else(|| {
            Failure::general(format!("{key} has no run {run}"))
                .hint(format!("`drystone cdk events {}` lists its runs", key.stack))
        })?;
        if json {
            print_json(&events);
        } else {
            let mut lines = vec![format!("Events for run {run} ({}, {})", key.stack, key.region)];
            lines.extend(events.iter().flat_map(event_lines));
            print_lines(&lines);
        }
        return Ok(());
    }
    let runs = store.runs(&key).await?;
    if json {
        print_json(&Runs { stack_name: key.stack.as_str(), region: key.region.as_str(), runs: &runs });
    } else {
        let mut lines = vec![format!("Deployment runs for {key}")];
        lines.extend(runs.iter().map(run_line));
        print_lines(&lines);
    }
    Ok(())
}

/// The stack that is meant, which need not be there any more: its runs outlive it.
async fn find(stack: &StackArgs, store: &CdkdStore) -> Outcome<StackKey> {
    let name = stack.name()?;
    if let Some(region) = stack.region()? {
        return Ok(StackKey { stack: name, region });
    }
    let mut regions = store.regions_of_runs(&name).await?;
    match (regions.pop(), regions.is_empty()) {
        (Some(region), true) => Ok(StackKey { stack: name, region }),
        (Some(last), false) => {
            let all: Vec<&str> = regions.iter().chain([&last]).map(Region::as_str).collect();
            Err(Failure::configuration(format!("{name} has runs in several regions: {}", all.join(", ")))
                .hint("say which is meant with `--stack-region REGION`"))
        }
        (None, _) => {
            Err(Failure::new(ExitCode::StackNotFound, format!("no run of a stack {name} is recorded"))
                .hint("list what is there with `drystone cdk state list`"))
        }
    }
}

fn run_line(run: &RunSummary) -> String {
    let known = |text: &str| if text.is_empty() { "?".to_owned() } else { plain(text) };
    format!(
        "  {}  {}  {}  {} -> {}  cdkd {}  {} events",
        run.run_id,
        run.command,
        run.result,
        known(&run.started_at),
        known(&run.finished_at),
        plain(&run.cdkd_version),
        run.event_count
    )
}

fn event_lines(event: &Event) -> Vec<String> {
    let mut parts = vec![event.timestamp.clone(), event.event_type.to_string()];
    if let Some(id) = &event.logical_id {
        let of_type = event.resource_type.as_ref().map(|of_type| format!(" ({of_type})"));
        parts.push(format!("{id}{}", of_type.unwrap_or_default()));
    }
    parts.extend(event.operation.as_ref().map(std::string::ToString::to_string));
    parts.extend(event.provisioned_by.as_ref().map(|by| format!("[{by}]")));
    parts.extend(event.command.as_ref().map(std::string::ToString::to_string));
    parts.extend(event.region.clone());
    parts.extend(event.cdkd_version.as_ref().map(|version| format!("cdkd {version}")));
    parts.extend(event.result.as_ref().map(std::string::ToString::to_string));
    parts.extend(event.duration_ms.map(|duration| format!("{duration}ms")));
    if let Some(counts) = &event.counts {
        let more = |mark: &str, count: Option<i64>| {
            count.filter(|count| *count > 0).map(|count| format!(" {mark}{count}")).unwrap_or_default()
        };
        parts.push(format!(
            "+{}/~{}/-{}{}{}",
            counts.created,
            counts.updated,
            counts.deleted,
            more("!", counts.failed),
            more("?", counts.skipped)
        ));
    }
    let mut lines = vec![format!("  {}", plain(&parts.join("  ")))];
    lines.extend(event.reason.as_ref().map(|reason| format!("      {}", plain(reason))));
    if let Some(error) = &event.error {
        let code = error.aws_error_code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
        let id = error.request_id.as_ref().map(|id| format!(" requestId={id}")).unwrap_or_default();
        lines.push(format!("      {}", plain(&format!("{}{code}: {}{id}", error.name, error.message))));
    }
    lines
}

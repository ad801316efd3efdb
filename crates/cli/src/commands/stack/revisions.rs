//! `stack revisions`: lists every state that a stack has had.

use super::revision_name::Revisions;
use crate::context::Context;
use crate::moments::ago;
use crate::report::Outcome;
use crate::terminal;
use clap::Args;
use drystone_stores::RevisionInfo;
use jiff::Timestamp;
use serde::Serialize;

/// List the revisions of a stack, newest first.
///
/// Every change of the state makes one, and it stays until it is pruned. The current one is marked `*`. Compare them
/// with `drystone stack diff`, go back with `drystone stack rollback`.
#[derive(Debug, Args)]
pub(crate) struct RevisionsArgs {
    /// Print JSON
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: RevisionsArgs) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    let revisions = Revisions::load(&backend, &stack).await?;
    let current = revisions.current_number();
    if args.json {
        let shown: Vec<Shown<'_>> =
            revisions.infos.iter().rev().map(|info| Shown::of(info, current)).collect();
        terminal::json(&shown);
    } else if revisions.infos.is_empty() {
        terminal::line(format!("{stack} has no revisions yet"));
    } else {
        let now = Timestamp::now();
        let heading = ["", "NUMBER", "WHEN", "WHO", "COMMAND", "RESOURCES", "NOTES"];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        rows.extend(revisions.infos.iter().rev().map(|info| row(info, current, now)));
        terminal::data(&terminal::table(&rows));
    }
    match &revisions.current {
        Err(error) => terminal::warning(format!("the current state cannot be read: {error}")),
        Ok(recorded) if recorded.revision.is_none() && recorded.ever_written => terminal::note(
            "The current state was written by another tool; the next command that changes it makes a revision of it.",
        ),
        Ok(_) => {}
    }
    Ok(())
}

#[derive(Debug, Serialize)]
struct Shown<'a> {
    number: i64,
    current: bool,
    parent: Option<i64>,
    time: &'a str,
    by: &'a str,
    command: &'a str,
    message: &'a str,
    resources: i64,
    sound: bool,
    violations: i64,
    restores: Option<i64>,
    hash: &'a str,
}

impl<'a> Shown<'a> {
    fn of(info: &'a RevisionInfo, current: Option<u64>) -> Self {
        Self {
            number: info.number,
            current: is_current(info, current),
            parent: info.parent,
            time: &info.time,
            by: &info.by,
            command: &info.title,
            message: &info.message,
            resources: info.resources,
            sound: info.violations == 0,
            violations: info.violations,
            restores: info.restores,
            hash: &info.hash,
        }
    }
}

fn is_current(info: &RevisionInfo, current: Option<u64>) -> bool {
    u64::try_from(info.number).ok() == current
}

fn row(info: &RevisionInfo, current: Option<u64>, now: Timestamp) -> Vec<String> {
    let mut notes = Vec::new();
    if info.violations > 0 {
        notes.push(format!("unsound: breaks {} rule(s)", info.violations));
    }
    if let Some(restored) = info.restores {
        notes.push(format!("brings back {restored}"));
    }
    if !info.message.is_empty() {
        notes.push(info.message.clone());
    }
    let previous = info.number.checked_sub(1);
    if let Some(parent) = info.parent.filter(|parent| Some(*parent) != previous) {
        notes.push(format!("after {parent}"));
    }
    vec![
        if is_current(info, current) { "*".to_owned() } else { String::new() },
        info.number.to_string(),
        info.time.parse().map_or_else(|_| info.time.clone(), |time| ago(time, now)),
        info.by.clone(),
        info.title.clone(),
        info.resources.to_string(),
        notes.join("; "),
    ]
}

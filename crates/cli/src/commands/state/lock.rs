//! `state lock show`: who holds a stack.

use super::counted;
use crate::context::Context;
use crate::report::Outcome;
use crate::terminal;
use clap::{Args, Subcommand};
use drystone_stores::{At, LeaseInfo, Orphan, StackDescription, StackId};
use serde_json::{Value, json};

#[derive(Debug, Args)]
pub(crate) struct LockArgs {
    #[command(subcommand)]
    command: LockCommand,
}

#[derive(Debug, Subcommand)]
enum LockCommand {
    /// Show who holds a stack, since when, and whether they live
    Show(LockShowArgs),
}

/// Shows who holds a stack, since when, and whether they live: our own lease, lock files of other tools, and what
/// dead updates left to be brought in. Changes nothing and waits for nobody.
#[derive(Debug, Args)]
pub(crate) struct LockShowArgs {
    /// Print JSON
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: LockArgs) -> Outcome {
    let LockCommand::Show(args) = args.command;
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    let described = backend.store().describe(&stack).await?;
    if described.holders.is_empty() && !described.unrecovered && described.orphans.is_empty() {
        // Nothing is known of a stack that is not there either.
        let found = backend.store().snapshot(&stack, At::Current).await;
        if let Err(error @ drystone_stores::Error::NotFound { .. }) = found {
            return Err(error.into());
        }
    }
    if args.json {
        terminal::json(&json!({
            "stack": stack.qualified(),
            "held": described.holders.iter().any(|holder| !holder.dead),
            "holders": described.holders.iter().map(holder_json).collect::<Vec<_>>(),
            "unrecoveredJournal": described.unrecovered,
            "orphanedJournals": described.orphans.iter().map(orphan_json).collect::<Vec<_>>(),
        }));
        return Ok(());
    }
    terminal::data(&lines(&stack, &described).join("\n"));
    terminal::data("\n");
    Ok(())
}

/// Who holds the stack, in words.
fn lines(stack: &StackId, described: &StackDescription) -> Vec<String> {
    let mut lines = Vec::new();
    if described.holders.is_empty() {
        lines.push(format!("{stack} is free"));
    }
    for holder in &described.holders {
        lines.push(format!("{stack} is held by {}", holder.describe()));
        lines.push(format!("  {}", advice(holder)));
    }
    if described.unrecovered {
        lines.push(
            "A dead update left a journal; the next command that changes the stack brings it in.".to_owned(),
        );
    }
    for orphan in &described.orphans {
        lines.push(format!(
            "The journal {} of {}@{} ({}) was kept because another tool has changed the stack since; \
             `drystone state doctor` shows what it knows.",
            orphan.journal,
            orphan.holder.user,
            orphan.holder.host,
            counted(orphan.entries, "entry").replace("entrys", "entries"),
        ));
    }
    lines
}

/// What can be done about a holder.
pub(super) fn advice(holder: &LeaseInfo) -> &'static str {
    match (holder.dead, holder.foreign) {
        (true, false) => "it is dead: the next command that changes the stack takes over",
        (true, true) => "it is dead: free the stack with `drystone cancel`",
        (false, _) => "wait for it with `--wait`, or end it with `drystone cancel`",
    }
}

/// A holder as tools read it.
pub(super) fn holder_json(holder: &LeaseInfo) -> Value {
    json!({
        "user": holder.user, "host": holder.host, "pid": holder.pid, "purpose": holder.purpose,
        "since": holder.since, "heartbeat": holder.heartbeat, "epoch": holder.epoch,
        "lockFile": holder.lock_file, "foreign": holder.foreign, "dead": holder.dead,
    })
}

/// An orphaned journal as tools read it.
pub(super) fn orphan_json(orphan: &Orphan) -> Value {
    json!({
        "journal": orphan.journal, "started": orphan.started.to_string(), "entries": orphan.entries,
        "baseRevision": orphan.base, "holder": holder_json(&orphan.holder),
    })
}

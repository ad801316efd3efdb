//! `state repair`: makes a state sound again as far as that needs no decision.

use super::document::StateFile;
use super::{counted, require_approval};
use crate::backend::Backend;
use crate::context::Context;
use crate::edit::new_manifest;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_model::{CyclicError, Repair, Snapshot, repair};
use drystone_stores::{At, Commit, Committed, Recorded, StackId};
use std::path::{Path, PathBuf};

/// Puts resources in order, drops references that lead nowhere, and restores what can be told from the rest. Says each
/// change, asks, and makes one revision of it.
///
/// Equal states are repaired equally. When something remains that only a person can decide, nothing is written and the
/// command ends with code 11.
#[derive(Debug, Args)]
#[command(after_help = "Example: drystone state repair --file broken.json > repaired.json")]
pub(crate) struct RepairArgs {
    /// Repair this file, a checkpoint or an export, and print the result
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Write the result back to the file instead
    #[arg(long, requires = "file")]
    in_place: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) async fn run(context: &Context, args: RepairArgs) -> Outcome {
    match &args.file {
        Some(path) => repair_file(path, args.in_place),
        None => repair_stack(context, args.yes).await,
    }
}

fn repair_file(path: &Path, in_place: bool) -> Outcome {
    let mut file = StateFile::read(path)?;
    let repaired =
        repair(file.snapshot().unwrap_or(&Snapshot::default())).map_err(|error| circular(&error))?;
    let changed = !repaired.changes.is_empty();
    tell_changes(&repaired);
    let outcome = judge(&path.display().to_string(), &repaired);
    if changed {
        file.replace(repaired.snapshot);
    }
    if !in_place {
        let mut written = Ok(());
        terminal::data_with(|out| {
            written = file.write(out);
            Ok(())
        });
        written?;
        return outcome;
    }
    outcome?;
    if changed {
        file.write_back()?;
    }
    Ok(())
}

async fn repair_stack(context: &Context, yes: bool) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    let asks = !yes && !context.skips_confirmations();
    if asks {
        let snapshot = backend.store().snapshot(&stack, At::Current).await?.snapshot;
        let planned = repair(&snapshot).map_err(|error| circular(&error))?;
        drop(snapshot);
        tell_changes(&planned);
        judge(&stack.to_string(), &planned)?;
        if planned.changes.is_empty() {
            return Ok(());
        }
        require_approval(context, yes, &format!("This edits the state of {stack} directly. Go on?"))?;
    }
    let told = if asks { Telling::Nothing } else { Telling::Changes };
    if let Some(committed) = commit_repair(context, &backend, &stack, "state repair", told).await? {
        tell_repaired(&committed);
    }
    Ok(())
}

/// What is said about a repair while it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Telling {
    /// Each change, and how it ended.
    Changes,
    /// Nothing: the user has seen it.
    Nothing,
}

/// Repairs the current snapshot under the lease and commits it, unless there is nothing to repair or something would
/// remain.
pub(super) async fn commit_repair(
    context: &Context,
    backend: &Backend,
    stack: &StackId,
    purpose: &str,
    telling: Telling,
) -> Outcome<Option<Committed>> {
    let lease = context.lease(backend, stack, purpose).await?;
    let repaired = async {
        let reading = terminal::working("Reading the state");
        let Recorded { snapshot, byte_strings, .. } = backend.store().snapshot(stack, At::Current).await?;
        let repaired = repair(&snapshot).map_err(|error| circular(&error))?;
        drop((reading, snapshot));
        if telling == Telling::Changes {
            tell_changes(&repaired);
            judge(&stack.to_string(), &repaired)?;
        } else if !repaired.is_complete() {
            return Err(incomplete(&stack.to_string(), &repaired));
        }
        if repaired.changes.is_empty() {
            return Ok(None);
        }
        let message = counted(repaired.changes.len(), "change");
        let mut snapshot = repaired.snapshot;
        snapshot.manifest = new_manifest();
        let snapshot = Some(snapshot);
        let commit =
            Commit { title: purpose.to_owned(), message, snapshot, byte_strings, ..Commit::default() };
        let _working = terminal::working("Writing the state");
        Ok(Some(lease.commit(commit).await?))
    };
    let repaired: Outcome<_> = repaired.await;
    let released = lease.release().await;
    let repaired = repaired?;
    released?;
    Ok(repaired)
}

/// Says which revision a repair made and how to undo it: the state before is unsound, so that undoing needs a word more.
pub(super) fn tell_repaired(committed: &Committed) {
    if let Some(revision) = committed.revision {
        terminal::note(format!(
            "revision {revision}   undo: drystone stack undo --disable-integrity-checking"
        ));
    }
}

/// Says what a repair changes, a line a change.
pub(super) fn tell_changes(repaired: &Repair) {
    const LINES_AT_ONCE: usize = 1000;
    for changes in repaired.changes.chunks(LINES_AT_ONCE) {
        let lines: Vec<String> = changes.iter().map(ToString::to_string).collect();
        terminal::note(lines.join("\n"));
    }
}

/// Says how a repair ended.
fn judge(name: &str, repaired: &Repair) -> Outcome {
    if !repaired.is_complete() {
        return Err(incomplete(name, repaired));
    }
    terminal::note(match repaired.changes.len() {
        0 => format!("{name} is sound: nothing to repair"),
        changes => format!("{name} is sound after {}", counted(changes, "change")),
    });
    Ok(())
}

/// What a repair left, each with what to do about it.
pub(super) fn incomplete(name: &str, repaired: &Repair) -> Failure {
    let mut failure = Failure::new(
        ExitCode::Unsound,
        format!(
            "{name} cannot be repaired without a decision: {} remain",
            counted(repaired.remaining.len(), "error")
        ),
    );
    for remaining in &repaired.remaining {
        failure.details.push(remaining.to_string());
        failure.details.push(format!("    {}", remaining.hint));
    }
    failure.hint(
        "`drystone state edit` opens the state in your editor; `drystone stack revisions` lists what can be gone back to",
    )
}

/// Resources in a circle, which no order fits.
pub(super) fn circular(error: &CyclicError) -> Failure {
    let mut failure = Failure::new(
        ExitCode::Unsound,
        "resources depend on each other in a circle, so that no order fits them",
    );
    failure.details = error.cycles.iter().map(ToString::to_string).collect();
    failure.hint(
        "take one of these references out with `drystone state edit`, or go back with `drystone stack rollback`",
    )
}

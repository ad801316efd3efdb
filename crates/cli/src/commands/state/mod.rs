//! `state`: looking at and mending the state of a stack, a file a command.
//!
//! What names a resource on the command line is resolved in `target`; state in a file is read and written in `document`.
//! Every change is one revision, so that `stack undo` takes it back.

mod delete;
mod doctor;
pub(super) mod document;
mod edit;
mod list;
mod lock;
mod mark;
mod ops;
mod relocation;
mod rename;
mod repair;
mod seal;
mod show;
mod target;
mod upgrade;
mod verify;

use super::stack::{diff, revisions, rollback};
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct StateArgs {
    #[command(subcommand)]
    command: StateCommand,
}

#[derive(Debug, Subcommand)]
enum StateCommand {
    /// Delete resources from the state, leaving the real ones alone
    #[command(name = "delete", visible_aliases = ["remove", "rm"])]
    Delete(delete::DeleteArgs),
    /// Give a resource another name
    Rename(rename::RenameArgs),
    /// Move resources to another stack
    #[command(name = "move", visible_alias = "mv")]
    Move(relocation::MoveArgs),
    /// Refuse to delete resources from now on
    Protect(mark::MarkArgs),
    /// Allow to delete resources again
    Unprotect(mark::MarkArgs),
    /// Replace resources in the next update
    Taint(mark::MarkArgs),
    /// Leave resources that were to be replaced as they are
    Untaint(mark::MarkArgs),
    /// Edit the state in your editor
    #[command(visible_aliases = ["update", "modify"])]
    Edit(edit::EditArgs),
    /// Make a state that breaks its rules sound again
    Repair(repair::RepairArgs),
    /// Check a state against its rules
    Verify(verify::VerifyArgs),
    /// Explain what is wrong with a stack, and mend it
    Doctor(doctor::DoctorArgs),
    /// Give the stacks of an old directory their projects
    Upgrade(upgrade::UpgradeArgs),
    /// List the revisions of a stack, newest first; the same as `stack revisions`
    History(revisions::RevisionsArgs),
    /// Compare two revisions of a stack; the same as `stack diff`
    Diff(diff::DiffArgs),
    /// Bring back the state of an earlier revision; the same as `stack rollback`
    Rollback(rollback::RollbackArgs),
    /// Seal everything in the backend at rest
    Seal(seal::SealArgs),
    /// Leave everything in the backend in clear
    Unseal(seal::UnsealArgs),
    /// Seal everything in the backend with another key
    Rekey(seal::RekeyArgs),
    /// Look at the lease of a stack
    Lock(lock::LockArgs),
    /// List and settle operations that were under way when a run died
    Ops(ops::OpsArgs),
    /// List the resources of a stack
    #[command(name = "ls", alias = "list")]
    List(list::ListArgs),
    /// Show what the state knows of a resource
    #[command(name = "get", alias = "show")]
    Show(show::ShowArgs),
}

pub(crate) async fn run(context: &Context, args: StateArgs) -> Outcome {
    match args.command {
        StateCommand::Delete(args) => delete::run(context, args).await,
        StateCommand::Rename(args) => rename::run(context, args).await,
        StateCommand::Move(args) => relocation::run(context, args).await,
        StateCommand::Protect(args) => mark::run(context, args, mark::Mark::Protect).await,
        StateCommand::Unprotect(args) => mark::run(context, args, mark::Mark::Unprotect).await,
        StateCommand::Taint(args) => mark::run(context, args, mark::Mark::Taint).await,
        StateCommand::Untaint(args) => mark::run(context, args, mark::Mark::Untaint).await,
        StateCommand::Edit(args) => edit::run(context, args).await,
        StateCommand::Repair(args) => repair::run(context, args).await,
        StateCommand::Verify(args) => verify::run(context, args).await,
        StateCommand::Doctor(args) => doctor::run(context, args).await,
        StateCommand::Upgrade(args) => upgrade::run(context, args).await,
        StateCommand::Seal(args) => seal::seal(context, args).await,
        StateCommand::Unseal(args) => seal::unseal(context, args).await,
        StateCommand::Rekey(args) => seal::rekey(context, args).await,
        StateCommand::History(args) => revisions::run(context, args).await,
        StateCommand::Diff(args) => diff::run(context, args).await,
        StateCommand::Rollback(args) => rollback::run(context, args).await,
        StateCommand::Lock(args) => lock::run(context, args).await,
        StateCommand::Ops(args) => ops::run(context, args).await,
        StateCommand::List(args) => list::run(context, args).await,
        StateCommand::Show(args) => show::run(context, args).await,
    }
}

/// Asks before a small edit. As with the stock CLI, nobody is asked where nobody can answer.
fn approve_edit(context: &Context, yes: bool, question: &str) -> Outcome {
    if yes || context.skips_confirmations() || !context.is_interactive() || context.confirm(question)? {
        return Ok(());
    }
    Err(declined())
}

/// Asks before a change that needs a clear yes.
fn require_approval(context: &Context, yes: bool, question: &str) -> Outcome {
    if yes || context.skips_confirmations() || context.confirm(question)? {
        return Ok(());
    }
    Err(declined())
}

fn declined() -> Failure {
    Failure::new(ExitCode::Cancelled, "confirmation declined: nothing was changed")
}

/// A count with its noun, as in `1 resource` or `3 resources`.
fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

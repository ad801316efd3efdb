//! `stack`: making, listing, looking at and changing stacks, a file a command.

mod change_secrets_provider;
mod diff;
mod export;
mod graph;
mod history;
mod import;
mod list;
mod prune;
mod restore_revision;
mod revision_name;
mod revisions;
mod rollback;
mod undo;

use crate::context::Context;
use crate::report::Outcome;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct StackArgs {
    #[command(subcommand)]
    command: Option<StackCommand>,
}

#[derive(Debug, Subcommand)]
enum StackCommand {
    /// Change what seals the secrets of a stack
    ChangeSecretsProvider(change_secrets_provider::ChangeSecretsProviderArgs),
    /// Compare two revisions of a stack
    Diff(diff::DiffArgs),
    /// Print the state of a stack
    Export(export::ExportArgs),
    /// Write the dependency graph of a stack to a file
    Graph(graph::GraphArgs),
    /// List the past updates of a stack
    #[command(alias = "hist")]
    History(history::HistoryArgs),
    /// Replace the state of a stack with one that was exported
    Import(import::ImportArgs),
    /// List stacks
    #[command(name = "ls", alias = "list")]
    List(list::ListArgs),
    /// Delete old revisions of a stack
    Prune(prune::PruneArgs),
    /// List the revisions of a stack
    Revisions(revisions::RevisionsArgs),
    /// Bring back the state of an earlier revision
    Rollback(rollback::RollbackArgs),
    /// Take back the last change of the state
    Undo(undo::UndoArgs),
}

pub(crate) async fn run(context: &Context, args: StackArgs) -> Outcome {
    match args.command {
        Some(StackCommand::ChangeSecretsProvider(args)) => change_secrets_provider::run(context, args).await,
        Some(StackCommand::Diff(args)) => diff::run(context, args).await,
        Some(StackCommand::Export(args)) => export::run(context, args).await,
        Some(StackCommand::Graph(args)) => graph::run(context, args).await,
        Some(StackCommand::History(args)) => history::run(context, args).await,
        Some(StackCommand::Import(args)) => import::run(context, args).await,
        Some(StackCommand::List(args)) => list::run(context, args).await,
        Some(StackCommand::Prune(args)) => prune::run(context, args).await,
        Some(StackCommand::Revisions(args)) => revisions::run(context, args).await,
        Some(StackCommand::Rollback(args)) => rollback::run(context, args).await,
        Some(StackCommand::Undo(args)) => undo::run(context, args).await,
        None => Ok(()),
    }
}

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

/// The commands; what each says in its help stands with its arguments.
#[derive(Debug, Subcommand)]
enum StackCommand {
    ChangeSecretsProvider(change_secrets_provider::ChangeSecretsProviderArgs),
    Diff(diff::DiffArgs),
    Export(export::ExportArgs),
    Graph(graph::GraphArgs),
    #[command(alias = "hist")]
    History(history::HistoryArgs),
    Import(import::ImportArgs),
    /// List stacks
    #[command(name = "ls", alias = "list")]
    List(list::ListArgs),
    Prune(prune::PruneArgs),
    Revisions(revisions::RevisionsArgs),
    Rollback(rollback::RollbackArgs),
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

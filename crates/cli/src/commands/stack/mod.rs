//! `stack`: making, listing, looking at and changing stacks, a file a command.

mod change_secrets_provider;
pub(super) mod diff;
mod export;
mod format;
mod graph;
mod history;
mod import;
pub(super) mod init;
mod list;
mod migrate;
mod output;
mod outputs;
mod prune;
pub(super) mod remove;
mod rename;
mod restore;
mod restore_revision;
mod revision_name;
pub(super) mod revisions;
pub(super) mod rollback;
mod sealing;
mod select;
pub(super) mod selection;
mod show;
mod tag;
mod undo;
mod unselect;
mod watch;

pub(super) use format::milliseconds;

use crate::context::Context;
use crate::report::Outcome;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct StackArgs {
    #[command(subcommand)]
    command: Option<StackCommand>,
    #[command(flatten)]
    show: show::ShowArgs,
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
    /// Make a stack
    #[command(aliases = ["new", "create", "setup"])]
    Init(init::InitArgs),
    /// List stacks
    #[command(name = "ls", alias = "list")]
    List(list::ListArgs),
    Migrate(migrate::MigrateArgs),
    /// Show the outputs of a stack
    Output(output::OutputArgs),
    Prune(prune::PruneArgs),
    /// Move a stack to the trash
    #[command(name = "rm", aliases = ["remove", "delete"])]
    Remove(remove::RemoveArgs),
    /// Give a stack another name or project
    Rename(rename::RenameArgs),
    /// Bring a removed stack back from the trash
    Restore(restore::RestoreArgs),
    Revisions(revisions::RevisionsArgs),
    Rollback(rollback::RollbackArgs),
    /// Choose the stack that commands work on
    Select(select::SelectArgs),
    /// Read and change the tags of a stack
    Tag(tag::TagArgs),
    Undo(undo::UndoArgs),
    /// Forget the choice of `stack select`
    Unselect(unselect::UnselectArgs),
    Watch(watch::WatchArgs),
}

pub(crate) async fn run(context: &Context, args: StackArgs) -> Outcome {
    match args.command {
        Some(StackCommand::ChangeSecretsProvider(args)) => change_secrets_provider::run(context, args).await,
        Some(StackCommand::Diff(args)) => diff::run(context, args).await,
        Some(StackCommand::Export(args)) => export::run(context, args).await,
        Some(StackCommand::Graph(args)) => graph::run(context, args).await,
        Some(StackCommand::History(args)) => history::run(context, args).await,
        Some(StackCommand::Import(args)) => import::run(context, args).await,
        Some(StackCommand::Init(args)) => init::run(context, args).await,
        Some(StackCommand::List(args)) => list::run(context, args).await,
        Some(StackCommand::Migrate(args)) => migrate::run(context, args).await,
        Some(StackCommand::Output(args)) => output::run(context, args).await,
        Some(StackCommand::Prune(args)) => prune::run(context, args).await,
        Some(StackCommand::Remove(args)) => remove::run(context, args).await,
        Some(StackCommand::Rename(args)) => rename::run(context, args).await,
        Some(StackCommand::Restore(args)) => restore::run(context, args).await,
        Some(StackCommand::Revisions(args)) => revisions::run(context, args).await,
        Some(StackCommand::Rollback(args)) => rollback::run(context, args).await,
        Some(StackCommand::Select(args)) => select::run(context, args).await,
        Some(StackCommand::Tag(args)) => tag::run(context, args).await,
        Some(StackCommand::Undo(args)) => undo::run(context, args).await,
        Some(StackCommand::Unselect(args)) => unselect::run(context, args).await,
        Some(StackCommand::Watch(args)) => watch::run(context, args).await,
        None => show::run(context, args.show).await,
    }
}

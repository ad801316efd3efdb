//! `stack`: making, listing, looking at and changing stacks, a file a command.

mod format;
mod init;
mod list;
mod output;
mod outputs;
mod remove;
mod rename;
mod restore;
mod select;
mod selection;
mod show;
mod tag;
mod unselect;

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

#[derive(Debug, Subcommand)]
enum StackCommand {
    /// Make a stack
    #[command(aliases = ["new", "create", "setup"])]
    Init(init::InitArgs),
    /// List stacks
    #[command(name = "ls", alias = "list")]
    List(list::ListArgs),
    /// Show the outputs of a stack
    Output(output::OutputArgs),
    /// Move a stack to the trash
    #[command(name = "rm", aliases = ["remove", "delete"])]
    Remove(remove::RemoveArgs),
    /// Give a stack another name or project
    Rename(rename::RenameArgs),
    /// Bring a removed stack back from the trash
    Restore(restore::RestoreArgs),
    /// Choose the stack that commands work on
    Select(select::SelectArgs),
    /// Read and change the tags of a stack
    Tag(tag::TagArgs),
    /// Forget the choice of `stack select`
    Unselect(unselect::UnselectArgs),
}

pub(crate) async fn run(context: &Context, args: StackArgs) -> Outcome {
    match args.command {
        Some(StackCommand::Init(args)) => init::run(context, args).await,
        Some(StackCommand::List(args)) => list::run(context, args).await,
        Some(StackCommand::Output(args)) => output::run(context, args).await,
        Some(StackCommand::Remove(args)) => remove::run(context, args).await,
        Some(StackCommand::Rename(args)) => rename::run(context, args).await,
        Some(StackCommand::Restore(args)) => restore::run(context, args).await,
        Some(StackCommand::Select(args)) => select::run(context, args).await,
        Some(StackCommand::Tag(args)) => tag::run(context, args).await,
        Some(StackCommand::Unselect(args)) => unselect::run(context, args).await,
        None => show::run(context, args.show).await,
    }
}

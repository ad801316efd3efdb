//! `stack`: making, listing, looking at and changing stacks, a file a command.

mod list;

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
    /// List stacks
    #[command(name = "ls", alias = "list")]
    List(list::ListArgs),
}

pub(crate) async fn run(context: &Context, args: StackArgs) -> Outcome {
    match args.command {
        Some(StackCommand::List(args)) => list::run(context, args).await,
        None => Ok(()),
    }
}

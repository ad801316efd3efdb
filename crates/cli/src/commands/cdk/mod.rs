//! `cdk`: the stacks that cdkd keeps in a bucket, with the words, flags and JSON of its own command line.
//!
//! Which bucket is meant is found in `place`, and what names a stack in `named`. The rest is a file a command.

mod bootstrap;
mod events;
mod failures;
mod force_unlock;
mod info;
mod list;
mod migrate;
mod named;
mod orphan;
mod place;
mod resources;
mod show;
mod tree;
mod values;

use crate::context::Context;
use crate::report::Outcome;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct CdkArgs {
    #[command(subcommand)]
    command: CdkCommand,
}

#[derive(Debug, Subcommand)]
enum CdkCommand {
    /// Make the bucket that states are kept in
    Bootstrap(bootstrap::BootstrapArgs),
    /// Look at and mend what the bucket holds
    State(StateArgs),
    /// Break the locks of stacks
    ForceUnlock(force_unlock::ForceUnlockArgs),
    /// Show past deployments of a stack, and what happened in them
    Events(events::EventsArgs),
}

#[derive(Debug, Args)]
struct StateArgs {
    #[command(subcommand)]
    command: StateCommand,
}

#[derive(Debug, Subcommand)]
enum StateCommand {
    /// Show which bucket is used, why, and what is in it
    Info(info::InfoArgs),
    /// List the stacks of the bucket
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    /// List the resources of a stack
    Resources(resources::ResourcesArgs),
    /// Show all that is recorded of a stack
    Show(show::ShowArgs),
    /// Forget stacks, leaving their resources alone
    Orphan(orphan::OrphanArgs),
    /// Move from the bucket of a region to the one of the account
    Migrate(migrate::MigrateArgs),
}

pub(crate) async fn run(context: &Context, args: CdkArgs) -> Outcome {
    match args.command {
        CdkCommand::Bootstrap(args) => bootstrap::run(context, &args).await,
        CdkCommand::ForceUnlock(args) => force_unlock::run(context, &args).await,
        CdkCommand::Events(args) => events::run(context, &args).await,
        CdkCommand::State(args) => match args.command {
            StateCommand::Info(args) => info::run(context, &args).await,
            StateCommand::List(args) => list::run(context, &args).await,
            StateCommand::Resources(args) => resources::run(context, &args).await,
            StateCommand::Show(args) => show::run(context, &args).await,
            StateCommand::Orphan(args) => orphan::run(context, &args).await,
            StateCommand::Migrate(args) => migrate::run(context, &args).await,
        },
    }
}

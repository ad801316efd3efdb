//! `plugin`: the plugins that are installed on this machine, a file a command.

mod install;
mod list;
mod progress;
mod remove;
mod run;

pub(super) use install::{Wish, install_all, read_version};

use crate::context::Context;
use crate::report::{Failure, Outcome};
use clap::{Args, Subcommand};
use drystone_plugins::search::{Cache, Kind};

#[derive(Debug, Args)]
pub(crate) struct PluginArgs {
    #[command(subcommand)]
    command: PluginCommand,
}

#[derive(Debug, Subcommand)]
enum PluginCommand {
    /// Install a plugin, or those that the project needs
    Install(install::InstallArgs),
    /// List the plugins that are installed
    #[command(name = "ls", visible_alias = "list")]
    List(list::ListArgs),
    /// Remove plugins that are installed
    #[command(name = "rm", visible_aliases = ["remove", "delete"])]
    Remove(remove::RemoveArgs),
    /// Run a plugin as a program of its own
    Run(run::RunArgs),
}

pub(crate) async fn run(context: &Context, args: PluginArgs) -> Outcome {
    match args.command {
        PluginCommand::Install(args) => install::run(context, args).await,
        PluginCommand::List(args) => list::run(context, &args),
        PluginCommand::Remove(args) => remove::run(context, &args),
        PluginCommand::Run(args) => run::run(context, args).await,
    }
}

/// The installed plugins of this user.
pub(super) fn cache(context: &Context) -> Outcome<Cache> {
    let home = context.environment.pulumi_home().map_err(Failure::configuration)?;
    Ok(Cache::new(home.join("plugins")))
}

/// What a plugin is for, as a word of the command line.
fn kind(word: &str) -> Result<Kind, String> {
    Kind::of(word)
        .ok_or_else(|| "a plugin is a `resource`, `language`, `analyzer`, `converter` or `tool`".to_owned())
}

//! `config`: reading and changing the configuration of a stack, a file a command.
//!
//! Configuration stands in the stack's settings file, beside the project. Commands change that file and nothing else:
//! only the text of what changed is written anew, in one step.

mod copy;
mod get;
mod list;
pub(super) mod refresh;
mod remove;
mod set;
mod set_all;
pub(super) mod settings;
mod suspicion;

use crate::context::Context;
use crate::report::{Failure, Outcome};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  drystone config                                   list all values, secrets masked
  drystone config set aws:region eu-central-1       set a value of a provider
  drystone config set --secret dbPassword           ask for a secret and keep it encrypted
  drystone config set --path 'subnets[0].cidr' 10.0.0.0/24")]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: Option<ConfigCommand>,
    #[command(flatten)]
    list: list::ListArgs,
    #[command(flatten)]
    place: Place,
}

/// Where the configuration stands.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Use this settings file rather than the stack's own
    #[arg(long, global = true, value_name = "FILE")]
    pub(in crate::commands) config_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print one value
    Get(get::GetArgs),
    /// Set a value
    ///
    /// Without a value, it is read from standard input, or asked for on a terminal. As parts of values (`--path`),
    /// `true`, `false` and whole numbers are taken for what they look like; whole values stay texts unless `--type` says
    /// otherwise.
    Set(set::SetArgs),
    /// Set several values at once
    SetAll(set_all::SetAllArgs),
    /// Remove a value
    #[command(name = "rm", visible_aliases = ["remove", "delete"])]
    Remove(remove::RemoveArgs),
    /// Remove several values at once
    #[command(name = "rm-all", visible_aliases = ["remove-all", "delete-all"])]
    RemoveAll(remove::RemoveAllArgs),
    /// Copy one value or all of them to another stack
    ///
    /// Secrets are encrypted anew for the other stack. `--config-file` names the file to copy from.
    #[command(name = "cp", visible_alias = "copy")]
    Copy(copy::CopyArgs),
    /// Bring the settings file back to what the last update ran with
    ///
    /// The file as it was is kept beside it with the ending `.bak`, unless `--force` is given.
    Refresh(refresh::RefreshArgs),
    /// Not available: environments are kept by Pulumi Cloud
    #[command(disable_help_flag = true)]
    Env {
        #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

pub(crate) async fn run(context: &Context, args: ConfigArgs) -> Outcome {
    let place = &args.place;
    match args.command {
        None => list::run(context, place, &args.list).await,
        Some(ConfigCommand::Get(args)) => get::run(context, place, &args).await,
        Some(ConfigCommand::Set(args)) => set::run(context, place, args).await,
        Some(ConfigCommand::SetAll(args)) => set_all::run(context, place, &args).await,
        Some(ConfigCommand::Remove(args)) => remove::one(context, place, &args).await,
        Some(ConfigCommand::RemoveAll(args)) => remove::several(context, place, &args).await,
        Some(ConfigCommand::Copy(args)) => copy::run(context, place, &args).await,
        Some(ConfigCommand::Refresh(args)) => refresh::run(context, place, &args).await,
        Some(ConfigCommand::Env { words: _ }) => {
            Err(environments_unavailable("this backend does not support environments"))
        }
    }
}

/// Environments live in Pulumi Cloud, which no directory replaces.
pub(super) fn environments_unavailable(message: impl std::fmt::Display) -> Failure {
    Failure::general(message).hint(
        "environments are kept by Pulumi Cloud; set the values themselves with `drystone config set KEY VALUE`",
    )
}

//! `plugin run`: runs a plugin as a program of its own.

use super::kind;
use crate::commands::operations::hosting::{Hosting, hinted};
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use clap::Args;
use drystone_plugins::languages::Offer;
use drystone_plugins::loader::USUAL_ECOSYSTEM;
use drystone_plugins::search::{self, Kind, Place, Wanted, tolerant_version};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitStatus;
use tokio::process::Command;

/// The variable that tells a plugin where it reaches us, to ask for schemas and mappings.
const TARGET: &str = "PULUMI_RPC_TARGET";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  drystone plugin run lint -- --fix
  drystone plugin run ./bin/pulumi-tool-lint
  drystone plugin run --kind resource aws@6.0.0 -- --help")]
pub(crate) struct RunArgs {
    /// The name of the plugin, or where it is; the newest that is installed unless a version follows an `@`
    #[arg(value_name = "NAME[@VERSION] | PATH")]
    plugin: String,
    /// What the plugin is given
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
    /// What it is for: resource, language, analyzer, converter or tool
    #[arg(long, value_parser = kind, default_value = "tool")]
    kind: Kind,
}

pub(crate) async fn run(context: &Context, args: RunArgs) -> Outcome {
    let project = context.project()?;
    let hosting = Hosting::alone(context, project.as_ref(), USUAL_ECOSYSTEM).await?;
    let ended = ended(context, &hosting, &args).await;
    hosting.close().await;
    let status = ended?;
    if status.success() {
        return Ok(());
    }
    // Whoever runs it through us sees what it ended with.
    std::process::exit(status.code().unwrap_or(i32::from(ExitCode::General as u8)))
}

/// Runs the plugin to its end, with our input and output.
async fn ended(context: &Context, hosting: &Hosting, args: &RunArgs) -> Outcome<ExitStatus> {
    let place = place(context, hosting, args).await?;
    let command = hosting.host().command(&place).await.map_err(|error| {
        let hint = error.hint();
        hinted(Failure::general(&error), hint)
    })?;
    let mut command = Command::from(command);
    command.args(&args.args).env(TARGET, hosting.endpoint().address());
    command.current_dir(context.environment.working_directory());
    let failed = |error| Failure::general(format!("the plugin `{}` cannot be run: {error}", args.plugin));
    let mut child = command.spawn().map_err(failed)?;
    loop {
        tokio::select! {
            status = child.wait() => return status.map_err(failed),
            // The plugin is told as well, and decides what that means.
            _ = tokio::signal::ctrl_c() => {}
        }
    }
}

/// Where the plugin is; one that is missing is installed.
async fn place(context: &Context, hosting: &Hosting, args: &RunArgs) -> Outcome<Place> {
    let path = Path::new(&args.plugin);
    if path.is_absolute() || args.plugin.starts_with('.') {
        let path = context.environment.resolve(path);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return search::at(&path, args.kind, &name).map_err(|error| {
            let hint = error.hint();
            hinted(Failure::configuration(error), hint)
        });
    }
    let (name, version) = match args.plugin.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (args.plugin.as_str(), None),
    };
    let wrong = |text: &str| Failure::configuration(format!("`{text}` is no version"));
    let version = version.map(|text| tolerant_version(text).ok_or_else(|| wrong(text))).transpose()?;
    let wanted = Wanted { kind: args.kind, name: name.to_owned(), version };
    hosting.host().provide(&wanted, &Offer::default()).await.map_err(|error| {
        let hint = error.hint();
        hinted(Failure::new(ExitCode::Unavailable, &error), hint)
    })?;
    let found = hosting.search().find(&wanted).map_err(|error| {
        let hint = error.hint();
        hinted(Failure::configuration(error), hint)
    })?;
    Ok(found.place)
}

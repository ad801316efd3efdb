//! `config cp`: copies values to another stack.

use super::Place;
use super::settings::{Opened, chain};
use crate::context::Context;
use crate::report::{Failure, Outcome};
use clap::Args;
use drystone_workspace::config::{Config, NewValue};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  drystone config cp --dest staging
  drystone config cp dbPassword --stack prod --dest staging")]
pub(crate) struct CopyArgs {
    /// The key of the only value to copy; all of them by default
    key: Option<String>,
    /// The stack to copy to
    #[arg(short, long, value_name = "STACK")]
    dest: String,
    /// Read the key as a path into a list or into named values
    #[arg(long)]
    path: bool,
}

pub(crate) async fn run(context: &Context, place: &Place, args: &CopyArgs) -> Outcome {
    let source = Opened::open(context, place, None).await?;
    let own_file = Place { config_file: None };
    let mut destination = Opened::open(context, &own_file, Some(&args.dest)).await?;
    if source.stack == destination.stack {
        return Err(Failure::configuration("current stack and destination stack are the same")
            .hint("name another stack with `--dest`"));
    }
    match &args.key {
        Some(key) => one(context, &source, &mut destination, key, args.path)?,
        None => all(context, &source, &mut destination)?,
    }
    destination.save().map(drop)
}

fn one(context: &Context, source: &Opened, destination: &mut Opened, key: &str, is_path: bool) -> Outcome {
    let locator = source.locate(key, is_path)?;
    let Some(value) = source.file.settings.config.get(&locator) else {
        return Err(source.missing(&locator));
    };
    let only = Config::from_iter([(locator.key.clone(), value.into_owned())]);
    let resealed = source.reseal_for(context, &only, destination)?;
    for (_, value) in resealed.iter() {
        destination.file.settings.config.set(&locator, NewValue::Typed(value.clone())).map_err(chain)?;
    }
    Ok(())
}

fn all(context: &Context, source: &Opened, destination: &mut Opened) -> Outcome {
    let resealed = source.reseal_for(context, &source.file.settings.config, destination)?;
    destination.file.settings.config.copy_from(&resealed);
    if source.file.settings.environment.is_some() {
        destination.file.settings.environment.clone_from(&source.file.settings.environment);
    }
    Ok(())
}

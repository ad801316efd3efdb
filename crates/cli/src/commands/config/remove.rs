//! `config rm` and `config rm-all`: remove values. What is not there is removed already.

use super::Place;
use super::settings::{Opened, chain};
use crate::context::Context;
use crate::report::Outcome;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The key, as `name` or `namespace:name`
    key: String,
    /// Read the key as a path into a list or into named values
    #[arg(long)]
    path: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveAllArgs {
    /// The keys, as `name` or `namespace:name`
    #[arg(required = true, value_name = "KEY")]
    keys: Vec<String>,
    /// Read the keys as paths into lists or into named values
    #[arg(long)]
    path: bool,
}

pub(crate) async fn one(context: &Context, place: &Place, args: &RemoveArgs) -> Outcome {
    remove(context, place, std::slice::from_ref(&args.key), args.path).await
}

pub(crate) async fn several(context: &Context, place: &Place, args: &RemoveAllArgs) -> Outcome {
    remove(context, place, &args.keys, args.path).await
}

async fn remove(context: &Context, place: &Place, keys: &[String], is_path: bool) -> Outcome {
    let mut opened = Opened::open(context, place, None).await?;
    for key in keys {
        let locator = opened.locate(key, is_path)?;
        opened.file.settings.config.remove(&locator).map_err(chain)?;
    }
    opened.save().map(drop)
}

//! `config`: reading and changing the configuration of a stack, a file a command.

use crate::context::Context;
use crate::report::Outcome;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {}

pub(crate) async fn run(_context: &Context, _args: ConfigArgs) -> Outcome {
    Ok(())
}

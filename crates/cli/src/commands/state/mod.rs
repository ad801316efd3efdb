//! `state`: looking at and mending the state of a stack, a file a command.

use crate::context::Context;
use crate::report::Outcome;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct StateArgs {}

pub(crate) async fn run(_context: &Context, _args: StateArgs) -> Outcome {
    Ok(())
}

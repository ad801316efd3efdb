//! `stack ls`.

use crate::context::Context;
use crate::report::Outcome;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ListArgs {}

pub(crate) async fn run(context: &Context, _args: ListArgs) -> Outcome {
    context.backend()?.store().stacks(None).await?;
    Ok(())
}

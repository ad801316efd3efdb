//! `stack unselect`: forgets which stack is selected.

use super::selection;
use crate::context::Context;
use crate::report::Outcome;
use crate::terminal;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct UnselectArgs {}

pub(crate) async fn run(context: &Context, _args: UnselectArgs) -> Outcome {
    let url = context.backend_url()?;
    let project = context.require_project()?;
    if selection::unselect(context, &url, &project)? {
        terminal::note("Stack was unselected");
    }
    Ok(())
}

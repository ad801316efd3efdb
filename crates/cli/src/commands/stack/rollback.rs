//! `stack rollback`: brings back the state of an earlier revision.

use super::restore_revision::{Restoring, restore};
use super::revision_name::Revisions;
use crate::context::Context;
use crate::report::{Failure, Outcome};
use clap::Args;
use drystone_stores::At;

/// Bring back the state of an earlier revision.
///
/// The old state becomes the current one, as a new revision; nothing is lost, and `drystone stack undo` takes it back.
/// Only the state changes. What it describes in the cloud does not: run `drystone refresh` or `drystone up` to bring
/// the two together.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  drystone stack revisions\n  drystone stack rollback 12")]
pub(crate) struct RollbackArgs {
    /// The revision: its number, or `@-` for the one before the current
    #[arg(value_name = "REVISION")]
    revision: String,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) async fn run(context: &Context, args: RollbackArgs) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    let revisions = Revisions::load(&backend, &stack).await?;
    let At::Revision(number) = revisions.find(&args.revision)? else {
        return Err(Failure::general("that is the current state already; nothing was changed")
            .hint("list the revisions with `drystone stack revisions`"));
    };
    let restoring = Restoring { title: "stack rollback", number, yes: args.yes };
    restore(context, &backend, &stack, revisions, restoring).await
}

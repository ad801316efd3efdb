//! `stack undo`: takes back the last change of the state.

use super::restore_revision::{Restoring, restore};
use super::revision_name::{Revisions, UNDO};
use crate::context::Context;
use crate::report::{Failure, Outcome};
use clap::Args;

/// Take back the last change of the state.
///
/// The state before the last change becomes the current one, as a new revision. Undo again to go back one change
/// further, as in an editor. To take an undo back, `drystone stack rollback` to the revision that it left, whose number
/// it prints. A rollback is a change like any other: undo takes it back. Only the state changes; what it describes in
/// the cloud does not.
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// Accepted for habit's sake: an undo can be taken back, so nobody is asked
    #[arg(short, long, hide = true)]
    yes: bool,
}

pub(crate) async fn run(context: &Context, UndoArgs { yes: _ }: UndoArgs) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    let revisions = Revisions::load(&backend, &stack).await?;
    let number = revisions.before_current().ok_or_else(|| {
        Failure::general(format!(
            "there is nothing to undo on {stack}: no revision is known before the current one"
        ))
        .hint("list the revisions with `drystone stack revisions`")
    })?;
    restore(context, &backend, &stack, revisions, Restoring { title: UNDO, number, yes: true }).await
}

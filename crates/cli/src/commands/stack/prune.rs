//! `stack prune`: deletes old revisions.

use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_stores::{At, Keep};

/// Delete old revisions of a stack.
///
/// The newest ones are kept, and the current one always. What is deleted cannot be brought back.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  drystone stack prune --keep 50")]
pub(crate) struct PruneArgs {
    /// How many of the newest revisions to keep
    #[arg(long, value_name = "COUNT")]
    keep: usize,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) async fn run(context: &Context, args: PruneArgs) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    let revisions = backend.store().revisions(&stack).await?;
    if revisions.is_empty() {
        backend.store().snapshot(&stack, At::Current).await?;
    }
    let many = revisions.len().saturating_sub(args.keep);
    if many == 0 {
        terminal::note(format!("{stack} has {} revision(s); nothing to delete.", revisions.len()));
        return Ok(());
    }
    if !args.yes && !context.skips_confirmations() {
        let question =
            format!("Delete up to {many} of the {} revisions of {stack} for good?", revisions.len());
        if !context.confirm(&question)? {
            return Err(Failure::new(ExitCode::Cancelled, "cancelled: nothing was changed"));
        }
    }
    let lease = context.lease(&backend, &stack, "stack prune").await?;
    let pruned = lease.prune(Keep { newest: args.keep }).await;
    let released = lease.release().await;
    let pruned = pruned?;
    released?;
    terminal::note(format!(
        "Deleted {} revision(s) of {stack}, {} left.",
        pruned.len(),
        revisions.len() - pruned.len()
    ));
    Ok(())
}

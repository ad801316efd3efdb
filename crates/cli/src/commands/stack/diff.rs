//! `stack diff`: compares two revisions of a stack.

use super::revision_name::Revisions;
use crate::context::Context;
use crate::report::Outcome;
use crate::snapshot_diff::{Secrets, SnapshotDiff};
use crate::{snapshot_secrets, terminal};
use clap::Args;
use drystone_stores::{At, Recorded};
use serde::Serialize;

/// Compare two revisions of a stack.
///
/// A revision is its number, `current`, or `@-` for the one before the current. Without a second one the current state
/// is compared with. Secrets are masked: that a sealed secret differs may mean no more than that it was sealed anew;
/// `--show-secrets` opens and compares what they hide.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  drystone stack diff @-        what the last change did\n  drystone stack diff 12 15"
)]
pub(crate) struct DiffArgs {
    /// The earlier revision
    #[arg(value_name = "A")]
    before: String,
    /// The later revision; the current state by default
    #[arg(value_name = "B", default_value = "current")]
    after: String,
    /// Print JSON
    #[arg(short, long)]
    json: bool,
    /// Open secrets and print them in clear
    #[arg(long)]
    show_secrets: bool,
}

#[derive(Debug, Serialize)]
struct Shown<'a> {
    before: Option<u64>,
    after: Option<u64>,
    #[serde(flatten)]
    diff: &'a SnapshotDiff,
}

pub(crate) async fn run(context: &Context, args: DiffArgs) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    let revisions = Revisions::load(&backend, &stack).await?;
    let (before, after) = (revisions.find(&args.before)?, revisions.find(&args.after)?);
    // Two snapshots in memory are enough.
    drop(revisions);
    let read = async |at: At| -> Outcome<Recorded> {
        let mut recorded = backend.store().snapshot(&stack, at).await?;
        if args.show_secrets {
            let manager = context.snapshot_secrets(&stack, &recorded);
            snapshot_secrets::reveal(&mut recorded.snapshot, manager.crypter().as_ref())?;
        }
        Ok(recorded)
    };
    let (before, after) = (read(before).await?, read(after).await?);
    let secrets = if args.show_secrets { Secrets::Shown } else { Secrets::Masked };
    let diff = SnapshotDiff::new(&before.snapshot, &after.snapshot, secrets);
    if args.json {
        terminal::json(&Shown { before: before.revision, after: after.revision, diff: &diff });
    } else {
        terminal::data(&diff.render());
        terminal::note(diff.summary());
    }
    Ok(())
}

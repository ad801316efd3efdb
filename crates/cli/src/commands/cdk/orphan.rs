//! `cdk state orphan`: forgets stacks, and leaves their resources alone.

use super::named::{RegionArgs, not_there, shown, stack_name};
use super::place::PlaceArgs;
use super::values::{holder, now};
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_stores::cdkd::{Listed, LockFile};

#[derive(Debug, Args)]
#[command(
    after_help = "A state need not be readable to be forgotten. Past deployments can still be looked at with \
                  `drystone cdk events`."
)]
pub(super) struct OrphanArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// The stacks
    #[arg(required = true, value_name = "STACK")]
    stacks: Vec<String>,
    #[command(flatten)]
    region: RegionArgs,
    /// Do not ask, and do it even to a stack that somebody holds
    #[arg(short, long)]
    force: bool,
}

pub(super) async fn run(context: &Context, args: &OrphanArgs) -> Outcome {
    let region = args.region.region()?;
    let place = args.place.open(context).await?;
    for stack in &args.stacks {
        let stack = stack_name(stack)?;
        let found = place.store.stacks_named(&stack).await?;
        if found.is_empty() {
            terminal::note(format!("There is no state of a stack {stack}: passed over"));
            continue;
        }
        let is_meant = |listed: &&Listed| region.is_none() || listed.region == region;
        let targets: Vec<&Listed> = found.iter().filter(is_meant).collect();
        if let (true, Some(region)) = (targets.is_empty(), &region) {
            return Err(not_there(&stack, region, &found));
        }
        let names = targets.iter().map(|target| shown(target)).collect::<Vec<_>>().join(", ");
        if !(args.place.account.yes || args.force || context.skips_confirmations()) {
            let question = format!("Forget {names} in {}? Its resources stay", place.bucket);
            if !context.confirm(&question)? {
                return Err(Failure::new(ExitCode::Cancelled, "cancelled: nothing was changed"));
            }
        }
        for target in targets {
            if args.force {
                tell_broken(target, &place.store.orphan_by_force(target).await?);
            } else {
                place.store.orphan(target).await?;
            }
            terminal::line(format!("Removed state for stack: {}", shown(target)));
        }
    }
    Ok(())
}

/// Says whose lock was broken (S13).
fn tell_broken(target: &Listed, lock: &LockFile) {
    match lock {
        LockFile::Held(lock) => terminal::warning(format!(
            "broke the lock on {} of {}; its holder may write the record anew",
            shown(target),
            holder(lock, now())
        )),
        LockFile::Unreadable(reason) => {
            terminal::note(format!(
                "Deleted the lock of {}, which could not be read: {reason}",
                shown(target)
            ));
        }
        LockFile::Absent => {}
    }
}

//! `cdk force-unlock`: breaks the locks of stacks.

use super::named::{RegionArgs, stack_name};
use super::place::PlaceArgs;
use super::values::{holder, now};
use crate::context::Context;
use crate::report::{Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_dialects::cdkd::{Region, StackKey};
use drystone_stores::cdkd::LockFile;

#[derive(Debug, Args)]
#[command(
    after_help = "Without `--stack-region` the locks of a stack are broken in every region that it is in. A holder of \
                  ours that still works learns of it with its next save, and records nothing more."
)]
pub(super) struct ForceUnlockArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// The stacks
    #[arg(value_name = "STACK")]
    stacks: Vec<String>,
    #[command(flatten)]
    region: RegionArgs,
}

pub(super) async fn run(context: &Context, args: &ForceUnlockArgs) -> Outcome {
    let named: Vec<&str> = match (args.stacks.is_empty(), context.globals.stack.as_deref()) {
        (true, Some(stack)) => vec![stack],
        (true, None) => {
            return Err(Failure::configuration("which stack?")
                .hint("name it, as in `drystone cdk force-unlock STACK`"));
        }
        (false, _) => args.stacks.iter().map(String::as_str).collect(),
    };
    let region = args.region.region()?;
    let place = args.place.open(context).await?;
    for stack in named {
        let stack = stack_name(stack)?;
        let regions = match &region {
            Some(region) => vec![Some(region.clone())],
            None => place.store.regions(&stack).await?,
        };
        // One that has left nothing is looked for where a new stack would be.
        let usual = || Region::parse(place.account.region()).map_err(Failure::configuration);
        let regions = if regions.is_empty() { vec![Some(usual()?)] } else { regions };
        for region in regions {
            let (shown, found) = match region {
                Some(region) => {
                    let key = StackKey { stack: stack.clone(), region };
                    (key.to_string(), place.store.force_unlock(&key).await?)
                }
                None => {
                    let found = place.store.force_unlock_legacy(&stack).await?;
                    (format!("{stack} (legacy lock key)"), found)
                }
            };
            tell(&shown, &found);
        }
    }
    Ok(())
}

fn tell(stack: &str, found: &LockFile) {
    match found {
        LockFile::Absent => terminal::line(format!("No lock found for stack: {stack}")),
        LockFile::Held(lock) => {
            terminal::note(format!("The lock was of {}", holder(lock, now())));
            terminal::line(format!("Lock released for stack: {stack}"));
        }
        LockFile::Unreadable(reason) => {
            terminal::note(format!("What stood there could not be read: {reason}"));
            terminal::line(format!("Lock released for stack: {stack}"));
        }
    }
}

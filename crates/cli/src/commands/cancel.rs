//! `cancel`: ends the update that is running on a stack.

use crate::context::{Context, tell_recovery};
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_stores::{At, Claim};

#[derive(Debug, Args)]
pub(crate) struct CancelArgs {
    /// The stack; the selected one by default
    name: Option<String>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) async fn run(context: &Context, args: CancelArgs) -> Outcome {
    let backend = context.backend()?;
    let stack = context.stack_id(&backend, args.name.as_deref())?;
    backend.store().snapshot(&stack, At::Current).await.map(drop).or_else(|error| match error {
        // A stack that cannot be read can still be freed.
        drystone_stores::Error::Corrupt { .. } | drystone_stores::Error::Unsupported { .. } => Ok(()),
        other => Err(other),
    })?;
    let holders = backend.store().describe(&stack).await?.holders;
    for holder in &holders {
        terminal::note(format!("{stack} is held by {}", holder.describe()));
    }
    if !args.yes && !context.skips_confirmations() {
        let question = format!("This ends the update of {stack} and records what it did so far. Go on?");
        if !context.confirm(&question)? {
            return Err(Failure::new(ExitCode::Cancelled, "cancelled: nothing was changed"));
        }
    }
    let (broken, recovery) = backend.store().break_lease(&stack, Claim::new("cancel")).await?;
    for lease in broken {
        terminal::note(format!("Took the stack from {}", lease.describe()));
    }
    tell_recovery(&stack, &recovery);
    terminal::note(format!("The currently running update for '{}' has been canceled", stack.name()));
    Ok(())
}

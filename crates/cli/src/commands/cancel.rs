//! `cancel`: ends the update that is running on a stack.

use crate::context::{Context, tell_recovery};
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_stores::{At, Claim, Error as StoreError};

#[derive(Debug, Args)]
#[command(
    after_help = "The update's next step is refused, and what it did so far is recorded. An operation that was \
                  under way goes on in the cloud; it becomes a pending operation of the stack."
)]
pub(crate) struct CancelArgs {
    /// The stack; the selected one by default
    name: Option<String>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) async fn run(context: &Context, args: CancelArgs) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, context.named_once(args.name.as_deref())?)?;
    let description = backend.store().describe(&stack).await?;
    match backend.store().snapshot(&stack, At::Current).await {
        // A stack that cannot be read can still be freed, and so can one that somebody was about to make.
        Ok(_) | Err(StoreError::Corrupt { .. } | StoreError::Unsupported { .. }) => {}
        Err(StoreError::NotFound { .. }) if !description.holders.is_empty() => {}
        Err(error) => return Err(error.into()),
    }
    if description.holders.is_empty() && !description.unrecovered {
        terminal::note(format!("No update of '{}' is running; nothing was changed", stack.name()));
        return Ok(());
    }
    for holder in &description.holders {
        terminal::note(format!("{stack} is held by {}", holder.describe()));
    }
    // Like the stock CLI: who cannot be asked has meant it.
    if context.is_interactive() && !args.yes && !context.skips_confirmations() {
        let question = format!("This ends the update of {stack} and records what it did so far. Go on?");
        if !context.confirm(&question)? {
            return Err(Failure::new(ExitCode::Cancelled, "cancelled: nothing was changed"));
        }
    }
    let (broken, recovery) = backend.store().break_lease(&stack, Claim::new("cancel")).await?;
    for lease in broken {
        terminal::note(format!("Took the stack from {}", lease.describe()));
    }
    tell_recovery(&backend, &stack, &recovery).await;
    terminal::line(format!("The currently running update for '{}' has been canceled", stack.name()));
    Ok(())
}

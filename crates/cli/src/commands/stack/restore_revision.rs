//! Making an earlier revision's state the current one, for `stack rollback` and `stack undo`.

use super::revision_name::Revisions;
use crate::backend::Backend;
use crate::context::Context;
use crate::edit::{commit_and_release, errors, new_manifest, tell_committed};
use crate::report::{ExitCode, Failure, Outcome};
use crate::snapshot_diff::{Secrets, SnapshotDiff};
use crate::terminal;
use drystone_model::Snapshot;
use drystone_stores::{At, Commit, Committed, Error as StoreError, Recorded, StackId};

/// What is to be restored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Restoring {
    /// The command.
    pub(super) title: &'static str,
    /// The revision.
    pub(super) number: u64,
    /// Whether nobody is asked.
    pub(super) yes: bool,
}

/// Shows what would change, asks, and commits the old state as a new revision.
pub(super) async fn restore(
    context: &Context,
    backend: &Backend,
    stack: &StackId,
    revisions: Revisions,
    restoring: Restoring,
) -> Outcome {
    let Restoring { number, yes, .. } = restoring;
    let old = backend.store().snapshot(stack, At::Revision(number)).await?;
    if !context.globals.disable_integrity_checking {
        refuse_unsound(stack, number, &old.snapshot)?;
    }
    match &revisions.current {
        Ok(current) => {
            refuse_old_names(stack, number, &current.snapshot, &old.snapshot)?;
            let diff = SnapshotDiff::new(&current.snapshot, &old.snapshot, Secrets::Masked);
            if diff.is_empty() && current.ever_written == old.ever_written {
                terminal::note(format!("The state of {stack} is that of revision {number} already."));
                return Ok(());
            }
            terminal::note(diff.render().trim_end());
            terminal::note(diff.summary());
            if current.snapshot.secrets_provider != old.snapshot.secrets_provider {
                terminal::warning(format!(
                    "revision {number} was sealed by another secrets provider: its secrets open with the passphrase or key of that time"
                ));
            }
        }
        // What a newer version wrote is not replaced by one that cannot read it (S9).
        Err(error @ StoreError::Unsupported { .. }) => {
            return Err(Failure::configuration(error).hint("use the newer version that wrote it"));
        }
        Err(error) => terminal::warning(format!("the current state cannot be read: {error}")),
    }
    terminal::note("Only the state changes. What it describes in the cloud stays as it is.");
    if !yes && !context.skips_confirmations() {
        let question = format!("Make the state of revision {number} the current one?");
        if !context.confirm(&question)? {
            return Err(Failure::new(ExitCode::Cancelled, "cancelled: nothing was changed"));
        }
    }
    let shown = revisions.hash().map(str::to_owned);
    drop(revisions);
    let committed = commit(context, backend, stack, shown.as_deref(), restoring, old).await?;
    if let (Some(revision), Some(previous)) = (committed.revision, committed.previous) {
        terminal::note(format!("The state of {stack} is that of revision {number} again."));
        terminal::note(format!(
            "revision {previous} → {revision}   take it back: drystone stack rollback {previous}"
        ));
    } else {
        tell_committed(&committed);
    }
    Ok(())
}

/// Going back to a state that breaks its rules only moves the trouble.
fn refuse_unsound(stack: &StackId, number: u64, snapshot: &Snapshot) -> Outcome {
    let broken = errors(snapshot);
    if broken.is_empty() {
        return Ok(());
    }
    let message =
        format!("revision {number} of {stack} breaks {} rule(s); refusing to go back to it", broken.len());
    let mut failure = Failure::new(ExitCode::Unsound, message);
    failure.details = broken.iter().map(ToString::to_string).collect();
    Err(failure
        .hint("`drystone stack revisions` lists the sound ones")
        .hint("`--disable-integrity-checking` brings it back all the same"))
}

/// Refuses a state from before the stack was renamed: its resources have the old name, and the next update would make
/// all of them anew.
fn refuse_old_names(stack: &StackId, number: u64, current: &Snapshot, old: &Snapshot) -> Outcome {
    let foreign = |snapshot: &Snapshot| {
        let urns = snapshot.resources.iter().map(|resource| &resource.urn);
        urns.filter(|urn| {
            urn.stack() != stack.name() || stack.project().is_some_and(|project| project != urn.project())
        })
        .map(|urn| format!("{}/{}", urn.project(), urn.stack()))
        .next()
    };
    match (foreign(current), foreign(old)) {
        (None, Some(name)) => Err(Failure::general(format!(
            "revision {number} is from when the stack was named {name}; its resources carry that name"
        ))
        .hint(format!(
            "look at it with `drystone stack export --version {number}`, or rename the stack back with `drystone stack rename` first"
        ))),
        _ => Ok(()),
    }
}

async fn commit(
    context: &Context,
    backend: &Backend,
    stack: &StackId,
    shown: Option<&str>,
    Restoring { title, number, .. }: Restoring,
    old: Recorded,
) -> Outcome<Committed> {
    let lease = context.lease(backend, stack, title).await?;
    // What was shown and agreed to must still be what is replaced.
    if Revisions::load(backend, stack).await?.hash() != shown {
        lease.release().await?;
        return Err(Failure::new(
            ExitCode::Held,
            format!("{stack} was changed in the meantime; nothing was done"),
        )
        .hint("run the command again to see what it would do now"));
    }
    let snapshot = Snapshot { manifest: new_manifest(), ..old.snapshot };
    let commit = Commit {
        title: title.to_owned(),
        message: String::new(),
        snapshot: Some(snapshot),
        restores: Some(number),
        byte_strings: old.byte_strings,
        ..Commit::default()
    };
    commit_and_release(lease, commit).await
}

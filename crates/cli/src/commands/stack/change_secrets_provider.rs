//! `stack change-secrets-provider`: seals the secrets of a stack anew, in its state and in its settings.
//!
//! The state and the settings file each say what seals them, so either can be read whatever became of the other. The
//! state is committed first, as one revision; then the settings file is replaced in one step. A crash between the two
//! leaves a stack whose state is sealed by the new provider and whose settings by the old: the same command, given the
//! same new passphrase or the same URL of a key, sees that the state is sealed so already and does the rest (S18).
//! `stack undo` goes the other way. The stock CLI writes the settings first; a crash of it in between is finished just so.
//!
//! The same key once more makes a new data key, which is how the key of a stack is rotated.

use super::sealing::{Wanted, seal_settings, seal_snapshot};
use crate::context::{Context, secrets_failure};
use crate::edit::new_manifest;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_secrets::{Manager, ProviderChoice};
use drystone_stores::{At, Commit, Committed, HeldLease, Recorded, StackId};
use drystone_workspace::stack::StackFile;

/// Change what seals the secrets of a stack.
///
/// `passphrase` on a stack that has a passphrase changes it: PULUMI_CONFIG_PASSPHRASE holds the old one, the new one is
/// asked for, or read as a line from standard input when nobody can be asked. The URL of a key has a data key of the
/// stack sealed by that key's service; the URL that the stack has already makes it a new data key. The secrets of the
/// state and of the settings file are sealed anew. Earlier revisions stay as they are and open with the old passphrase
/// or key. If the command is interrupted, run it again with the same arguments.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  drystone stack change-secrets-provider passphrase\n  echo new | drystone stack change-secrets-provider passphrase\n  drystone stack change-secrets-provider 'awskms://alias/pulumi?region=eu-central-1'"
)]
pub(crate) struct ChangeSecretsProviderArgs {
    /// `passphrase`, `default`, or the URL of a key at `awskms://`, `gcpkms://`, `azurekeyvault://` or `hashivault://`
    #[arg(value_name = "PROVIDER")]
    provider: String,
}

pub(crate) async fn run(context: &Context, args: ChangeSecretsProviderArgs) -> Outcome {
    let choice: ProviderChoice = args.provider.parse().map_err(Failure::configuration)?;
    let project = context.require_project()?;
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    // Missing stacks are told before anybody is asked for anything.
    backend.store().snapshot(&stack, At::Current).await?;
    let file = context.stack_file(&project, &stack)?;
    let wanted = Wanted::of(context, &choice, &file.settings)?;
    let lease = context.lease(&backend, &stack, TITLE).await?;
    let changed = async {
        let recorded = backend.store().snapshot(&stack, At::Current).await?;
        // What the settings said before the lease was had may be old.
        let file = context.stack_file(&project, &stack)?;
        change(context, &stack, lease.as_ref(), recorded, file, wanted).await
    };
    let changed = changed.await;
    let released = lease.release().await;
    changed?;
    Ok(released?)
}

const TITLE: &str = "stack change-secrets-provider";

async fn change(
    context: &Context,
    stack: &StackId,
    lease: &dyn HeldLease,
    recorded: Recorded,
    mut file: StackFile,
    wanted: Wanted,
) -> Outcome {
    let settings_manager = context.settings_secrets(stack, &file.settings)?;
    let state_manager =
        recorded.snapshot.secrets_provider.as_ref().map(|_| context.snapshot_secrets(stack, &recorded));
    // Halves that differ are left by a change that was interrupted; one of them may be as wanted already.
    let halves = match (&state_manager, &settings_manager) {
        (Some(state), Some(settings)) if !settings.opens_what_is_sealed_by(state) => vec![state, settings],
        _ => Vec::new(),
    };
    let target = match wanted.among(context, halves) {
        Some(half) => {
            terminal::note("Finishing a change of the secrets provider that was interrupted.");
            half
        }
        None => wanted.fresh(context, settings_manager.as_ref())?,
    };
    target.unlock().map_err(secrets_failure)?;
    terminal::line("Migrating old configuration and state to new secrets provider");
    seal_settings(&mut file, settings_manager.as_ref(), &target)?;
    // Whether the settings can be written is known before the state is.
    file.render().map_err(Failure::configuration)?;
    let committed = seal_state(lease, recorded, state_manager, &target).await?;
    let revision = committed.as_ref().and_then(|committed| committed.revision);
    let saved = file.save().map_err(|error| {
        let failure = Failure::new(ExitCode::Unavailable, error);
        match revision {
            Some(revision) => failure
                .detail(format!(
                    "the state is sealed anew already, as revision {revision}; the settings are not"
                ))
                .hint("run the same command again to finish, or go back with `drystone stack undo`"),
            None => failure.hint("nothing was changed"),
        }
    })?;
    if let Some(revision) = revision {
        terminal::note(format!("revision {revision}   earlier revisions open with what sealed them"));
    }
    if !saved && revision.is_none() {
        terminal::note("Nothing had to change.");
    }
    Ok(())
}

/// Seals the state anew and commits it. A state that is sealed so already, or was never written, stays.
async fn seal_state(
    lease: &dyn HeldLease,
    recorded: Recorded,
    from: Option<Manager>,
    to: &Manager,
) -> Outcome<Option<Committed>> {
    if !recorded.ever_written || from.as_ref().is_some_and(|from| from.opens_what_is_sealed_by(to)) {
        return Ok(None);
    }
    let from = from.unwrap_or_else(Manager::absent);
    let mut snapshot = recorded.snapshot;
    seal_snapshot(&mut snapshot, &from, to)
        .map_err(|failure| failure.detail("the state's secrets cannot be opened; nothing was changed"))?;
    snapshot.manifest = new_manifest();
    let commit = Commit {
        title: TITLE.to_owned(),
        message: format!("sealed with a new {}", to.provider().kind),
        snapshot: Some(snapshot),
        byte_strings: recorded.byte_strings,
        ..Commit::default()
    };
    let working = terminal::working("Writing the state");
    let committed = lease.commit(commit).await;
    drop(working);
    Ok(Some(committed?))
}

//! `stack import`: replaces the state of a stack with one that was exported.

use crate::canonical_properties::canonicalize;
use crate::context::Context;
use crate::edit::{commit_and_release, errors, tell_committed};
use crate::report::{ExitCode, Failure, Outcome};
use crate::{snapshot_secrets, terminal};
use clap::Args;
use drystone_dialects::pulumi::{Document, ReadError};
use drystone_model::Snapshot;
use drystone_secrets::Manager;
use drystone_stores::{At, Commit, Recorded, StackId};
use std::io::Read;
use std::path::PathBuf;

/// Replace the state of a stack with one that was exported.
///
/// The document is read from standard input unless a file is named. It may be what `stack export` prints or a stack's
/// own state file. Secrets that stand in clear are sealed before anything is written. The state that was there stays
/// as a revision: `drystone stack undo` brings it back.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  drystone stack import --file state.json\n  drystone stack export | jq … | drystone stack import"
)]
pub(crate) struct ImportArgs {
    /// Read this file instead of standard input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Import a document of another stack, one that breaks rules, or one whose secrets cannot be opened
    #[arg(short, long)]
    force: bool,
}

pub(crate) async fn run(context: &Context, args: ImportArgs) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    let current = match backend.store().snapshot(&stack, At::Current).await {
        // A stack whose state is damaged can be given another.
        Err(drystone_stores::Error::Corrupt { .. }) => None,
        other => Some(other?),
    };
    let (mut snapshot, byte_strings) = read(&args)?;
    check_origin(&stack, &snapshot, args.force)?;
    if !context.globals.disable_integrity_checking {
        check_rules(&snapshot, args.force)?;
    }
    drop_pending_operations(&mut snapshot);
    canonicalize(&mut snapshot);
    seal(context, &stack, current.as_ref(), &mut snapshot, args.force)?;
    drop(current);
    let lease = context.lease(&backend, &stack, "stack import").await?;
    let message = match &args.file {
        Some(path) => format!("{} resources from {}", snapshot.resources.len(), path.display()),
        None => format!("{} resources from standard input", snapshot.resources.len()),
    };
    let commit = Commit {
        title: "stack import".to_owned(),
        message,
        snapshot: Some(snapshot),
        byte_strings,
        ..Commit::default()
    };
    let committed = commit_and_release(lease, commit).await?;
    terminal::line("Import complete.");
    tell_committed(&committed);
    Ok(())
}

/// Reads the document, of either form.
fn read(args: &ImportArgs) -> Outcome<(Snapshot, bool)> {
    let name =
        args.file.as_ref().map_or_else(|| "standard input".to_owned(), |path| path.display().to_string());
    let bytes = match &args.file {
        Some(path) => std::fs::read(path),
        None => {
            if terminal::is_interactive() {
                terminal::note("Reading the document from standard input; end it with Ctrl-D.");
            }
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        }
    };
    let bytes = bytes.map_err(|error| {
        Failure::general(format!("could not open {name}: {error}"))
            .hint("name a file with `--file`, or pipe the document to standard input")
    })?;
    let working = terminal::working("Reading the document");
    let document = Document::read(&bytes).map_err(|error| unreadable(&name, &error))?;
    drop(working);
    let (snapshot, byte_strings) = match document {
        Document::Checkpoint(checkpoint) => (checkpoint.snapshot, checkpoint.byte_strings),
        Document::Export(export) => (export.snapshot, export.byte_strings),
    };
    let snapshot = snapshot.ok_or_else(|| {
        Failure::general(format!("{name}: the document holds no state"))
            .hint("a stack without resources has a `deployment` without `resources`, not none at all")
    })?;
    Ok((snapshot, byte_strings))
}

fn unreadable(name: &str, error: &ReadError) -> Failure {
    let failure = Failure::general(format!("{name}: {error}")).detail("nothing was changed");
    match error {
        ReadError::Empty => failure.hint("pipe a document to standard input, or name a file with `--file`"),
        ReadError::TooNew { .. } | ReadError::UnsupportedFeatures { .. } => {
            failure.hint("use the newer version that wrote it")
        }
        _ => failure.hint("`drystone stack export` prints what can be imported"),
    }
}

/// More of a kind than this are counted, not listed.
const LISTED: usize = 10;

/// Refuses resources of another stack or project: to import them would make the next update replace everything.
fn check_origin(stack: &StackId, snapshot: &Snapshot, force: bool) -> Outcome {
    let foreign = snapshot.resources.iter().map(|resource| &resource.urn).filter_map(|urn| {
        if urn.stack() != stack.name() {
            return Some(format!(
                "resource '{urn}' is from a different stack ({} != {})",
                urn.stack(),
                stack.name()
            ));
        }
        let own = stack.project()?;
        (urn.project() != own)
            .then(|| format!("resource '{urn}' is from a different project ({} != {own})", urn.project()))
    });
    let foreign: Vec<String> = foreign.collect();
    if foreign.is_empty() {
        return Ok(());
    }
    let message = format!("{} of {} resources are not of {stack}", foreign.len(), snapshot.resources.len());
    refuse_or_warn(Failure::general(message), foreign, force)
}

/// Refuses a snapshot that breaks rules (S7).
fn check_rules(snapshot: &Snapshot, force: bool) -> Outcome {
    let broken = errors(snapshot);
    if broken.is_empty() {
        return Ok(());
    }
    let failure = Failure::new(ExitCode::Unsound, format!("the document breaks {} rule(s)", broken.len()));
    refuse_or_warn(failure, broken.iter().map(ToString::to_string).collect(), force)
}

fn refuse_or_warn(failure: Failure, details: Vec<String>, force: bool) -> Outcome {
    let more = details.len().saturating_sub(LISTED);
    let mut details: Vec<String> = details.into_iter().take(LISTED).collect();
    if more > 0 {
        details.push(format!("and {more} more"));
    }
    if force {
        terminal::warning(&failure.message);
        details.iter().for_each(|detail| terminal::note(format!("  {detail}")));
        return Ok(());
    }
    Err(Failure { details, ..failure }.hint("nothing was changed; `--force` imports it anyway"))
}

/// Drops operations that had not ended: whether they did is not known here.
fn drop_pending_operations(snapshot: &mut Snapshot) {
    for operation in snapshot.pending_operations.drain(..) {
        terminal::warning(format!(
            "removing pending operation '{}' on '{}' from snapshot",
            operation.kind.as_str(),
            operation.resource.urn
        ));
    }
}

/// Checks that sealed secrets open, and seals those that stand in clear (S17): with the provider that the document
/// names, or with the stack's own when it names none.
fn seal(
    context: &Context,
    stack: &StackId,
    current: Option<&Recorded>,
    snapshot: &mut Snapshot,
    force: bool,
) -> Outcome {
    let own = snapshot.secrets_provider.as_ref();
    let manager =
        own.map(|provider| Manager::of_snapshot(context.keyring(), provider, Some(&stack.to_string())));
    let checked = manager.clone().unwrap_or_else(Manager::absent);
    match snapshot_secrets::check(snapshot, checked.crypter().as_ref()) {
        Err(failure) if force => terminal::warning(format!(
            "the document's secrets cannot be opened and are imported as they are: {}",
            failure.message
        )),
        other => other?,
    }
    if !snapshot_secrets::holds_open(snapshot) {
        return Ok(());
    }
    let manager = match manager {
        Some(manager) => manager,
        None => own_manager(context, stack, current)?,
    };
    snapshot_secrets::conceal(snapshot, manager.crypter().as_ref())?;
    snapshot.secrets_provider = Some(manager.provider().clone());
    Ok(())
}

/// What seals the secrets of the stack that is imported into.
fn own_manager(context: &Context, stack: &StackId, current: Option<&Recorded>) -> Outcome<Manager> {
    if let Some(recorded) = current.filter(|recorded| recorded.snapshot.secrets_provider.is_some()) {
        return Ok(context.snapshot_secrets(stack, recorded));
    }
    let project = context.project()?.filter(|project| stack.project().is_none_or(|own| own == project.name));
    let manager = match project {
        Some(project) => {
            let settings = context.stack_file(&project, stack)?.settings;
            context.settings_secrets(stack, &settings)?
        }
        None => None,
    };
    manager.ok_or_else(|| {
        Failure::configuration(format!(
            "the document holds secrets in clear, and neither it nor {stack} says what seals them"
        ))
        .hint("choose what does with `drystone stack change-secrets-provider passphrase`, then import again")
    })
}

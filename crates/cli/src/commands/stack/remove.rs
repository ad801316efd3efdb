//! `stack rm`: moves a stack to the trash.

use super::selection;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_model::{ROOT_STACK_TYPE, Snapshot};
use drystone_stores::{At, Error as StoreError, Relocation};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    after_help = "A removed stack waits in the trash with its revisions, history, tags, backups and settings; \
                  `drystone stack restore NAME` brings it back."
)]
pub(crate) struct RemoveArgs {
    /// The stack; the selected one by default
    name: Option<String>,
    /// Remove it although it still has resources, which stay where they are
    #[arg(short, long)]
    force: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Keep its settings file
    #[arg(long)]
    preserve_config: bool,
    /// Remove its backups too; they go to the trash in any case
    #[arg(long)]
    remove_backups: bool,
    /// Delete it for good, revisions and backups included, rather than move it to the trash
    #[arg(long)]
    purge: bool,
}

impl RemoveArgs {
    /// Removes the stack of the command line, which has nothing left in it.
    pub(in crate::commands) fn emptied() -> Self {
        Self {
            name: None,
            force: false,
            yes: true,
            preserve_config: false,
            remove_backups: false,
            purge: false,
        }
    }
}

pub(crate) async fn run(context: &Context, args: RemoveArgs) -> Outcome {
    let purge = args.purge;
    let shown = remove(context, args).await?;
    terminal::line(format!("Stack '{shown}' has been removed"));
    if !purge {
        terminal::note(format!("undo: drystone stack restore {shown}"));
    }
    Ok(())
}

/// Removes a stack, and gives its name.
pub(in crate::commands) async fn remove(context: &Context, args: RemoveArgs) -> Outcome<String> {
    let backend = context.backend().await?;
    let name = context.named_once(args.name.as_deref())?;
    let stack = context.stack_id(&backend, name)?;
    let project = context.project()?;
    let project_name = project.as_ref().map(|project| project.name.as_str());
    let shown = backend.shown(&stack, project_name, context.globals.fully_qualify_stack_names);
    let read = |read: Result<drystone_stores::Recorded, StoreError>| match read {
        Ok(recorded) => Ok(Some(recorded.snapshot)),
        // What cannot be read can still be put away, by who insists.
        Err(StoreError::Corrupt { .. } | StoreError::Unsupported { .. }) if args.force => Ok(None),
        Err(error) => Err(Failure::from(error)),
    };
    let snapshot = read(backend.store().snapshot(&stack, At::Current).await)?;
    refuse_resources(&shown, snapshot.as_ref(), args.force)?;
    if !args.yes && !context.skips_confirmations() {
        let question = if args.purge {
            format!("This deletes '{shown}' and all its revisions for good. Go on?")
        } else {
            format!("This moves '{shown}' to the trash. Go on?")
        };
        if !context.confirm(&question)? {
            return Err(Failure::new(ExitCode::Cancelled, "cancelled: nothing was changed"));
        }
    }
    let settings_path: Option<PathBuf> = project
        .as_ref()
        .filter(|project| stack.project().is_none_or(|own| own == project.name))
        .map(|project| project.stack_settings_path(stack.name()));
    let note =
        settings_path.as_deref().map(|path| settings_text(path, args.preserve_config)).transpose()?.flatten();

    let lease = context.lease(&backend, &stack, "stack rm").await?;
    let removed = async {
        // Somebody may have updated it while the user thought it over.
        let snapshot = read(backend.store().snapshot(&stack, At::Current).await)?;
        refuse_resources(&shown, snapshot.as_ref(), args.force)?;
        let to = if args.purge { Relocation::Nowhere } else { Relocation::Trash { note } };
        Ok::<_, Failure>(lease.relocate(to).await?)
    };
    let removed = removed.await;
    let released = lease.release().await;
    removed?;
    released?;

    if let Some(path) = settings_path.filter(|_| !args.preserve_config) {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Failure::new(
                    ExitCode::Unavailable,
                    format!("the stack is removed, but its settings {} are not: {error}", path.display()),
                ));
            }
            _ => {}
        }
    }
    if let Some(project) = &project
        && selection::selected(context, &backend, project)?.as_ref() == Some(&stack)
    {
        selection::unselect(context, &backend.url, project)?;
    }
    Ok(shown)
}

/// The settings, which go to the trash with the stack. Those that cannot be read are not deleted either.
fn settings_text(path: &Path, preserved: bool) -> Outcome<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if preserved || error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::configuration(format!("{}: {error}", path.display()))
            .hint("keep the file with `--preserve-config`; nothing was changed")),
    }
}

/// Refuses a stack that still has resources. The root alone is none.
fn refuse_resources(shown: &str, snapshot: Option<&Snapshot>, force: bool) -> Outcome {
    let resources = snapshot.map(|snapshot| snapshot.resources.as_slice()).unwrap_or_default();
    let is_empty = match resources {
        [] => true,
        [only] => only.type_token == ROOT_STACK_TYPE,
        _ => false,
    };
    if force || is_empty {
        return Ok(());
    }
    Err(Failure::general(format!("'{shown}' still has resources; removal rejected"))
        .detail(format!("{} resources would be left behind with nobody to manage them", resources.len()))
        .hint("delete them first, or leave them behind with `drystone stack rm --force`"))
}

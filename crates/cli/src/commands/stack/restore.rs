//! `stack restore`: brings a removed stack back from the trash.

use super::list::print_trash;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_stores::{Relocation, StackId, StackSummary, Trashed};
use drystone_workspace::project::Project;

#[derive(Debug, Args)]
#[command(after_help = "Without a name it lists what is in the trash.")]
pub(crate) struct RestoreArgs {
    /// The stack; the one that was removed last if there are several of that name
    name: Option<String>,
    /// Which of several of that name, as `stack ls --trash` lists them
    #[arg(long)]
    id: Option<String>,
}

pub(crate) async fn run(context: &Context, args: RestoreArgs) -> Outcome {
    let backend = context.backend().await?;
    let project = context.project()?;
    let project_name = project.as_ref().map(|project| project.name.as_str());
    let in_full = context.globals.fully_qualify_stack_names;
    let trash = backend.store().stacks(None).await?.into_iter().filter(|stack| stack.trashed.is_some());
    let mut trash: Vec<(String, StackSummary)> =
        trash.map(|summary| (backend.shown(&summary.stack, project_name, in_full), summary)).collect();
    trash.sort_by(|(one, _), (other, _)| one.cmp(other));
    let named = context.named_once(args.name.as_deref())?;
    if named.is_none() && args.id.is_none() {
        print_trash(&trash);
        return Ok(());
    }
    let stack = named.map(|name| backend.stack_id(name, project_name)).transpose()?;
    let (stack, trashed) = find(trash, stack.as_ref(), args.id.as_deref()).ok_or_else(|| {
        let what = match (named, &args.id) {
            (Some(name), None) => format!("no stack named '{name}' found in the trash"),
            (Some(name), Some(id)) => format!("no stack named '{name}' with the id {id} found in the trash"),
            (None, id) => {
                format!("no stack with the id {} found in the trash", id.as_deref().unwrap_or_default())
            }
        };
        Failure::new(ExitCode::StackNotFound, what)
            .hint("`drystone stack ls --trash --all` lists what is there")
    })?;

    let lease = context.lease(&backend, &stack, "stack restore").await?;
    let restored = lease.relocate(Relocation::FromTrash { id: trashed.id.clone() }).await;
    let released = lease.release().await;
    restored?;
    released?;
    let shown = backend.shown(&stack, project_name, in_full);
    terminal::line(format!("Stack '{shown}' is back"));
    if let (Some(project), Some(settings)) = (&project, &trashed.note) {
        restore_settings(project, &stack, settings)?;
    }
    terminal::note(format!("select it with `drystone stack select {shown}`"));
    Ok(())
}

/// The one that is meant; of several of one name the one that was removed last.
fn find(
    trash: Vec<(String, StackSummary)>,
    stack: Option<&StackId>,
    id: Option<&str>,
) -> Option<(StackId, Trashed)> {
    trash
        .into_iter()
        .filter_map(|(_, summary)| summary.trashed.map(|trashed| (summary.stack, trashed)))
        .filter(|(found, _)| stack.is_none_or(|stack| stack == found))
        .filter(|(_, trashed)| id.is_none_or(|id| id == trashed.id))
        .max_by_key(|(_, trashed)| trashed.removed)
}

/// Writes the settings file that was removed with the stack, unless there is one.
fn restore_settings(project: &Project, stack: &StackId, settings: &str) -> Outcome {
    if stack.project().is_some_and(|own| own != project.name) {
        return Ok(());
    }
    let path = project.stack_settings_path(stack.name());
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, settings.as_bytes()));
    match written {
        Ok(()) => terminal::note(format!("{} is back too", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => {
            return Err(Failure::new(
                ExitCode::Unavailable,
                format!("the stack is back, but its settings {} are not: {error}", path.display()),
            ));
        }
    }
    Ok(())
}

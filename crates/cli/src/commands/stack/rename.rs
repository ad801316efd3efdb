//! `stack rename`: gives a stack another name or project.

pub(super) mod references;

use super::selection;
use crate::context::Context;
use crate::edit::require_sound;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_stores::{At, Error as StoreError, Relocation, StackId};
use drystone_workspace::project::Project;
use references::Renaming;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Revisions, history and tags go with it. A name in full moves it to another project: \
                  `drystone stack rename organization/PROJECT/NAME`."
)]
pub(crate) struct RenameArgs {
    /// The new name
    new_name: String,
}

pub(crate) async fn run(context: &Context, args: RenameArgs) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    let project = context.project()?;
    let project_name = project.as_ref().map(|project| project.name.as_str());
    let target = backend.stack_id(&args.new_name, project_name)?;
    super::init::require(&backend, &stack).await?;
    if super::init::exists(&backend, &target).await? {
        return Err(StoreError::AlreadyExists { stack: target }.into());
    }
    let settings = settings_move(project.as_ref(), &stack, &target)?;

    let lease = context.lease(&backend, &stack, "stack rename").await?;
    let renamed = async {
        let recorded = backend.store().snapshot(&stack, At::Current).await?;
        let snapshot = if recorded.ever_written {
            if !context.globals.disable_integrity_checking {
                require_sound(&stack, recorded.revision, &recorded.snapshot)?;
            }
            let mut snapshot = recorded.snapshot;
            Renaming::new(&stack, &target, &snapshot).rename(&mut snapshot)?;
            Some(Box::new(snapshot))
        } else {
            None
        };
        Ok::<_, Failure>(lease.relocate(Relocation::To { stack: target.clone(), snapshot }).await?)
    };
    let renamed = renamed.await;
    let released = lease.release().await;
    renamed?;
    released?;

    if let Some((from, to)) = settings {
        std::fs::rename(&from, &to).map_err(|error| {
            Failure::new(
                ExitCode::Unavailable,
                format!("the stack is renamed, but its settings {} are not: {error}", from.display()),
            )
            .hint(format!("rename that file to {}", to.display()))
        })?;
    }
    if let Some(project) = &project
        && selection::selected(context, &backend, project)?.as_ref() == Some(&stack)
    {
        selection::select(context, &backend, project, &target)?;
    }
    let in_full = context.globals.fully_qualify_stack_names;
    let shown = |stack: &StackId| backend.shown(stack, project_name, in_full);
    terminal::line(format!("Renamed {} to {}", shown(&stack), shown(&target)));
    Ok(())
}

/// The settings file and its new name, where there is one to be moved.
fn settings_move(
    project: Option<&Project>,
    stack: &StackId,
    target: &StackId,
) -> Outcome<Option<(PathBuf, PathBuf)>> {
    let Some(project) = project.filter(|project| stack.project().is_none_or(|own| own == project.name))
    else {
        return Ok(None);
    };
    let (from, to) = (project.stack_settings_path(stack.name()), project.stack_settings_path(target.name()));
    if from == to || !from.exists() {
        return Ok(None);
    }
    if to.exists() {
        return Err(Failure::configuration(format!(
            "the settings of {} cannot be moved: {} is there already",
            stack.name(),
            to.display()
        ))
        .hint("move that file away, or choose another name; nothing was changed"));
    }
    Ok(Some((from, to)))
}

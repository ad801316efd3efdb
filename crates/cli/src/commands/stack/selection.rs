//! The selected stack of the project.

use crate::backend::Backend;
use crate::context::Context;
use crate::report::{Failure, Outcome};
use drystone_stores::StackId;
use drystone_workspace::home::SelectionsFile;
use drystone_workspace::project::Project;

/// Selects a stack for everything that is run in the project.
pub(in crate::commands) fn select(
    context: &Context,
    backend: &Backend,
    project: &Project,
    stack: &StackId,
) -> Outcome {
    let mut file = open(context, project)?;
    file.selections.select(&backend.url, &stack.qualified());
    file.save().map_err(|error| Failure::configuration_error(&error))
}

/// Forgets the selection, and says whether there was one.
pub(in crate::commands) fn unselect(context: &Context, url: &str, project: &Project) -> Outcome<bool> {
    let mut file = open(context, project)?;
    if file.selections.get(url).is_none() {
        return Ok(false);
    }
    file.selections.unselect(url);
    file.save().map_err(|error| Failure::configuration_error(&error))?;
    Ok(true)
}

/// The stack that is selected, where its name is one.
pub(in crate::commands) fn selected(
    context: &Context,
    backend: &Backend,
    project: &Project,
) -> Outcome<Option<StackId>> {
    let selection = open(context, project)?.selections.get(&backend.url);
    Ok(selection.and_then(|selection| backend.stack_id(&selection.stack, Some(&project.name)).ok()))
}

/// The stack that commands work on: what `PULUMI_STACK` says, or the selected one.
pub(in crate::commands) fn current(
    context: &Context,
    backend: &Backend,
    project: &Project,
) -> Outcome<Option<StackId>> {
    let current = open(context, project)?.current(&context.environment, &backend.url);
    Ok(current.and_then(|current| backend.stack_id(&current.stack, Some(&project.name)).ok()))
}

fn open(context: &Context, project: &Project) -> Outcome<SelectionsFile> {
    SelectionsFile::open(&context.environment, project).map_err(|error| Failure::configuration_error(&error))
}

//! `state upgrade`: brings a backend from before projects up to date.

use super::{counted, require_approval};
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_stores::StackId;
use drystone_workspace::project::check_project_name;

/// Gives the stacks of a backend from before projects their projects. Very old versions of the stock CLI cannot read it
/// afterwards.
///
/// The project is the one that a stack's resources name. For a stack without resources it is asked for.
#[derive(Debug, Args)]
pub(crate) struct UpgradeArgs {
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) async fn run(context: &Context, args: UpgradeArgs) -> Outcome {
    let backend = context.backend().await?;
    let Some(store) = backend.upgrade() else {
        return Err(Failure::configuration(format!(
            "{backend} has another system's stacks, which are as it keeps them"
        )));
    };
    let mut stacks = store.legacy().await?;
    if stacks.is_empty() && backend.has_projects() {
        terminal::note(format!("{backend} is up to date: nothing to do"));
        return Ok(());
    }
    for (stack, project) in &stacks {
        terminal::note(match project {
            Some(project) => format!("  {stack}  belongs to project {project}"),
            None => format!("  {stack}  names no project"),
        });
    }
    let question = format!(
        "This gives {} of {} their projects; very old versions of the stock CLI cannot read them afterwards. Go on?",
        counted(stacks.len(), "stack"),
        backend
    );
    require_approval(context, args.yes, &question)?;
    if context.is_interactive() {
        for (stack, project) in stacks.iter_mut().filter(|(_, project)| project.is_none()) {
            *project = ask_project(stack)?;
        }
    }
    let working = terminal::working("Giving each stack its project");
    let upgraded = store.upgrade(stacks).await?;
    drop(working);
    for (old, new) in &upgraded.moved {
        terminal::note(format!("{old} is {} now", new.qualified()));
    }
    if upgraded.skipped.is_empty() {
        terminal::note(format!("Upgraded {}", counted(upgraded.moved.len(), "stack")));
        return Ok(());
    }
    for (stack, reason) in &upgraded.skipped {
        terminal::warning(format!("{stack} was left where it is: {reason}"));
    }
    terminal::note(
        "Run `drystone state upgrade` in a terminal to name the projects of those that were left.",
    );
    Ok(())
}

/// Asks which project a stack belongs to; no answer leaves the stack where it is.
fn ask_project(stack: &StackId) -> Outcome<Option<String>> {
    let answer = inquire::Text::new(&format!("Which project does {stack} belong to?"))
        .with_help_message("press enter to leave it where it is")
        .with_validator(|text: &str| {
            use inquire::validator::Validation;
            Ok(match check_project_name(text) {
                Err(problem) if !text.is_empty() => Validation::Invalid(problem.to_string().into()),
                _ => Validation::Valid,
            })
        })
        .prompt()
        .map_err(|_| Failure::new(ExitCode::Cancelled, "cancelled: nothing was changed"))?;
    Ok(Some(answer).filter(|answer| !answer.is_empty()))
}

//! `stack select`: chooses the stack that commands work on.

use super::init::{NewStack, create, exists};
use super::selection;
use crate::backend::Backend;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use clap::Args;
use drystone_stores::Error as StoreError;
use drystone_workspace::project::Project;

#[derive(Debug, Args)]
pub(crate) struct SelectArgs {
    /// The stack; asked for where it is not given
    name: Option<String>,
    /// Make the stack if there is none of that name
    #[arg(short, long)]
    create: bool,
    /// What seals the secrets of a stack that is made: `default`, `passphrase`, or the URL of a key
    #[arg(long, value_name = "PROVIDER", default_value = "default")]
    secrets_provider: String,
}

pub(crate) async fn run(context: &Context, args: SelectArgs) -> Outcome {
    let backend = context.backend().await?;
    let project = context.require_project()?;
    let name = match context.named_once(args.name.as_deref())? {
        Some(name) => name.to_owned(),
        None => choose(context, &backend, &project).await?,
    };
    let stack = backend.stack_id(&name, Some(&project.name))?;
    if !exists(&backend, &stack).await? {
        if !args.create {
            return Err(StoreError::NotFound { stack }.into());
        }
        let new = NewStack { secrets_provider: &args.secrets_provider, copy_config_from: None };
        create(context, &backend, &project, &stack, new).await?;
    }
    selection::select(context, &backend, &project, &stack)
}

/// Asks which of the project's stacks it shall be.
async fn choose(context: &Context, backend: &Backend, project: &Project) -> Outcome<String> {
    let missing = || {
        Failure::new(ExitCode::StackNotFound, "no stack selected; specify a stack name with --stack")
            .hint("list what is there with `drystone stack ls`")
    };
    if !context.is_interactive() {
        return Err(missing());
    }
    let here = backend.has_projects().then_some(project.name.as_str());
    let stacks = backend.store().stacks(here).await?;
    let names: Vec<String> = stacks
        .iter()
        .filter(|summary| summary.trashed.is_none())
        .map(|summary| summary.stack.name().to_owned())
        .collect();
    if names.is_empty() {
        return Err(missing().hint("make one with `drystone stack init NAME`"));
    }
    inquire::Select::new("Select a stack", names)
        .prompt()
        .map_err(|_| Failure::new(ExitCode::Cancelled, "cancelled"))
}

//! `stack tag`: reads and changes the tags of a stack.

use super::format::{FormatArgs, print_json};
use crate::backend::Backend;
use crate::context::Context;
use crate::report::{Failure, Outcome};
use crate::terminal;
use clap::{Args, Subcommand};
use drystone_stores::{Commit, StackId};
use std::collections::BTreeMap;

#[derive(Debug, Args)]
pub(crate) struct TagArgs {
    #[command(subcommand)]
    command: TagCommand,
}

#[derive(Debug, Subcommand)]
enum TagCommand {
    /// Print the value of a tag
    Get {
        /// The tag
        name: String,
    },
    /// List the tags
    #[command(name = "ls", alias = "list")]
    List {
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Remove a tag
    #[command(name = "rm", aliases = ["remove", "delete"])]
    Remove {
        /// The tag
        name: String,
    },
    /// Set a tag
    Set {
        /// The tag
        name: String,
        /// Its value
        value: String,
    },
}

pub(crate) async fn run(context: &Context, args: TagArgs) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    // A stack that is not there has no tags, and is to be told apart from one without any.
    super::init::require(&backend, &stack).await?;
    match args.command {
        TagCommand::Get { name } => {
            let tags = backend.store().describe(&stack).await?.tags;
            let value = tags.get(&name).ok_or_else(|| {
                Failure::general(format!("stack tag '{name}' not found for stack '{}'", stack.name()))
                    .hint("`drystone stack tag ls` lists the tags")
            })?;
            terminal::line(value);
            Ok(())
        }
        TagCommand::List { format } => {
            let tags = backend.store().describe(&stack).await?.tags;
            if format.is_json() {
                return print_json(&tags);
            }
            let mut rows = vec![vec!["NAME".to_owned(), "VALUE".to_owned()]];
            rows.extend(tags.into_iter().map(|(name, value)| vec![name, value]));
            terminal::data(&terminal::table(&rows));
            Ok(())
        }
        TagCommand::Remove { name } => {
            change(context, &backend, &stack, "stack tag rm", |tags| drop(tags.remove(&name))).await
        }
        TagCommand::Set { name, value } => {
            change(context, &backend, &stack, "stack tag set", |tags| drop(tags.insert(name, value))).await
        }
    }
}

/// Changes the tags under the lease, so that no two changes lose each other.
async fn change(
    context: &Context,
    backend: &Backend,
    stack: &StackId,
    purpose: &str,
    change: impl FnOnce(&mut BTreeMap<String, String>),
) -> Outcome {
    let lease = context.lease(backend, stack, purpose).await?;
    let changed = async {
        super::init::require(backend, stack).await?;
        let before = backend.store().describe(stack).await?.tags;
        let mut tags = before.clone();
        change(&mut tags);
        if tags != before {
            let commit = Commit { title: purpose.to_owned(), tags: Some(tags), ..Commit::default() };
            lease.commit(commit).await?;
        }
        Ok::<_, Failure>(())
    };
    let changed = changed.await;
    let released = lease.release().await;
    changed?;
    Ok(released?)
}

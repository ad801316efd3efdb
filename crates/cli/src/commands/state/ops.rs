//! `state ops`: operations that were under way when a run died.

use super::counted;
use crate::commands::operations::{Resolution, Resolutions, resolve};
use crate::context::Context;
use crate::edit::{Title, edit_state, tell_committed};
use crate::report::{Failure, Outcome};
use crate::terminal;
use clap::{Args, Subcommand};
use drystone_model::Operation;
use serde_json::{Value, json};

#[derive(Debug, Args)]
pub(crate) struct OpsArgs {
    #[command(subcommand)]
    command: OpsCommand,
}

#[derive(Debug, Subcommand)]
enum OpsCommand {
    /// List the operations that were under way when a run died
    #[command(name = "list", visible_alias = "ls")]
    List(OpsListArgs),
    /// Say what became of them
    Resolve(OpsResolveArgs),
}

#[derive(Debug, Args)]
struct OpsListArgs {
    /// Print JSON
    #[arg(short, long)]
    json: bool,
}

/// Say what became of operations that were under way when a run died.
///
/// All of it is one revision, which `drystone stack undo` takes back. Nobody is asked anything. A resource that is taken
/// over has the inputs that it was made from; `drystone refresh` reads the rest of it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  drystone state ops resolve --import 'urn:pulumi:dev::shop::aws:rds/instance:Instance::db=db-8f3a'
  drystone state ops resolve --clear 'urn:pulumi:dev::shop::aws:rds/instance:Instance::db'
  drystone state ops resolve --all-clear")]
struct OpsResolveArgs {
    /// A creation that made something, and its id
    #[arg(long, value_name = "URN=ID", allow_hyphen_values = true)]
    import: Vec<String>,
    /// An operation that had no effect
    #[arg(long, value_name = "URN")]
    clear: Vec<String>,
    /// Every operation that is not named had no effect
    #[arg(long)]
    all_clear: bool,
}

pub(crate) async fn run(context: &Context, args: OpsArgs) -> Outcome {
    match args.command {
        OpsCommand::List(args) => list(context, &args).await,
        OpsCommand::Resolve(args) => settle(context, args).await,
    }
}

async fn list(context: &Context, args: &OpsListArgs) -> Outcome {
    let backend = context.backend().await?;
    let (stack, recorded) = context.current(&backend, None).await?;
    let operations = &recorded.snapshot.pending_operations;
    if args.json {
        terminal::json(&operations.iter().map(as_json).collect::<Vec<_>>());
    } else if operations.is_empty() {
        terminal::note(format!("No operation is pending on {stack}."));
    } else {
        let rows: Vec<Vec<String>> = operations
            .iter()
            .map(|operation| {
                vec![
                    operation.kind.as_str().to_owned(),
                    operation.resource.urn.to_string(),
                    operation.resource.id.clone(),
                ]
            })
            .collect();
        terminal::data(&terminal::table(&rows));
    }
    if backend.store().describe(&stack).await?.unrecovered {
        terminal::note(
            "A dead update's journal waits to be brought in: the next command that changes the stack does so, `drystone cancel` does at once.",
        );
    }
    Ok(())
}

fn as_json(operation: &Operation) -> Value {
    json!({
        "urn": operation.resource.urn.as_str(),
        "type": operation.resource.type_token,
        "operation": operation.kind.as_str(),
        "id": operation.resource.id,
    })
}

async fn settle(context: &Context, args: OpsResolveArgs) -> Outcome {
    let mut resolutions = Resolutions::new();
    for text in &args.import {
        // An id may hold `=`, a URN does not.
        let Some((urn, id)) = text.split_once('=').filter(|(_, id)| !id.is_empty()) else {
            return Err(Failure::configuration(format!("`{text}` is not of the form URN=ID"))
                .hint("`drystone state ops list` lists the URNs; nothing was changed"));
        };
        resolutions.insert(urn.to_owned(), Resolution::Import(id.to_owned()));
    }
    for urn in args.clear {
        if resolutions.insert(urn.clone(), Resolution::Clear).is_some() {
            return Err(Failure::configuration(format!("{urn} is both to be imported and cleared")));
        }
    }
    if resolutions.is_empty() && !args.all_clear {
        return Err(Failure::configuration("what became of which operation?")
            .hint("say so with `--import URN=ID`, `--clear URN` or `--all-clear`; `drystone state ops list` lists them"));
    }
    let backend = context.backend().await?;
    let (stack, recorded) = context.current(&backend, None).await?;
    if resolutions.is_empty()
        && recorded.snapshot.pending_operations.is_empty()
        && !backend.store().describe(&stack).await?.unrecovered
    {
        terminal::note(format!("No operation is pending on {stack}; nothing was changed."));
        return Ok(());
    }
    let title = Title {
        purpose: "state ops resolve".to_owned(),
        message: "settled pending operations".to_owned(),
        ..Title::default()
    };
    let ((imported, cleared), committed) =
        edit_state(context, &backend, &stack, title, false, async |snapshot| {
            let mut resolutions = resolutions;
            if args.all_clear {
                for operation in &snapshot.pending_operations {
                    resolutions.entry(operation.resource.urn.to_string()).or_insert(Resolution::Clear);
                }
            }
            let pending = snapshot.pending_operations.len();
            resolve(snapshot, &resolutions)?;
            let settled = pending - snapshot.pending_operations.len();
            let imported =
                resolutions.values().filter(|resolution| matches!(resolution, Resolution::Import(_))).count();
            Ok((imported, settled.saturating_sub(imported)))
        })
        .await?;
    if imported > 0 {
        terminal::note(format!(
            "{} taken over; `drystone refresh` reads the rest of what is known of them.",
            counted(imported, "resource")
        ));
    }
    if cleared > 0 {
        terminal::note(format!("{} cleared.", counted(cleared, "operation")));
    }
    tell_committed(&committed);
    Ok(())
}

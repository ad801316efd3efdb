//! `state rename`: gives a resource another name.

use super::{approve_edit, target};
use crate::context::Context;
use crate::edit::{Title, edit_state, tell_committed};
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_model::{Fate, Resource, Snapshot, Urn, rewrite_edges};

/// Gives a resource another name in the state. Everything that refers to it follows.
///
/// Do the same in the program before the next update, or the resource is replaced.
#[derive(Debug, Args)]
#[command(after_help = "Example: drystone state rename 'urn:pulumi:dev::shop::random:index:Pet::a' b")]
pub(crate) struct RenameArgs {
    /// The URN of the resource
    urn: Option<String>,
    /// Its new name, the last part of the URN
    new_name: Option<String>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) async fn run(context: &Context, args: RenameArgs) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    if !context.is_interactive() && args.new_name.is_none() {
        return Err(Failure::configuration("which resource, and what is it to be called?")
            .hint("`drystone state rename URN NEW-NAME`; `drystone state ls` lists the URNs"));
    }
    let given: Vec<String> = args.urn.into_iter().collect();
    let question = "Which resource is to be renamed?";
    let picked = target::given_or_picked(context, &backend, &stack, given, question).await?;
    let old = picked.into_iter().next().unwrap_or_default();
    let name = match args.new_name {
        Some(name) => name,
        None => inquire::Text::new("What is it to be called?")
            .prompt()
            .map_err(|_| Failure::new(ExitCode::Cancelled, "cancelled: nothing was changed"))?,
    };
    approve_edit(context, args.yes, &format!("This edits the state of {stack} directly. Go on?"))?;
    let message = format!("{old} to {name}");
    let title = Title { purpose: "state rename".to_owned(), message, ..Title::default() };
    let edit = async |snapshot: &mut Snapshot| rename(snapshot, &old, &name);
    let (new, committed) = edit_state(context, &backend, &stack, title, false, edit).await?;
    terminal::note(format!("Renamed to {new}"));
    tell_committed(&committed);
    Ok(())
}

/// Renames the one resource with this URN and gives its new one.
fn rename(snapshot: &mut Snapshot, old: &str, name: &str) -> Outcome<Urn> {
    if name.is_empty() {
        return Err(Failure::configuration("a resource cannot have an empty name"));
    }
    match target::positions(snapshot, old).len() {
        0 => return Err(target::not_found(snapshot.resources.iter(), old)),
        1 => {}
        several => {
            return Err(Failure::general(format!("{several} resources have the URN {old}"))
                .hint("run an update to finish the replacement that made a second one, then rename it"));
        }
    }
    let new = Urn::new(old).renamed(name);
    if new.as_str() == old {
        return Err(Failure::general(format!("{old} has that name already")));
    }
    if let Some(index) = target::positions(snapshot, new.as_str()).first() {
        return Err(Failure::general(format!("#{index} is called {new} already")).hint("choose another name"));
    }
    let operations = snapshot.pending_operations.iter_mut().map(|operation| &mut operation.resource);
    for resource in snapshot.resources.iter_mut().chain(operations) {
        follow(resource, old, &new);
    }
    for snippet in &mut snapshot.snippets {
        for urn in snippet.references.values_mut().filter(|urn| urn.as_str() == old) {
            *urn = new.clone();
        }
    }
    Ok(new)
}

/// Rewrites a resource's own URN and its references.
fn follow(resource: &mut Resource, old: &str, new: &Urn) {
    if resource.urn.as_str() == old {
        resource.urn = new.clone();
    }
    rewrite_edges(resource, |edge| if edge.urn == old { Fate::Follow(new.clone()) } else { Fate::Keep });
}

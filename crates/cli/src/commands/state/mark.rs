//! `state protect`, `unprotect`, `taint` and `untaint`: set and clear marks of resources.

use super::{approve_edit, counted, target};
use crate::context::Context;
use crate::edit::{Title, edit_state, tell_committed};
use crate::report::{Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_model::{Resource, Snapshot};
use std::collections::HashMap;

#[derive(Debug, Args)]
#[command(after_help = "Resources that wait to be deleted are left alone.")]
pub(crate) struct MarkArgs {
    /// The URNs of the resources
    #[arg(value_name = "URN")]
    urns: Vec<String>,
    /// Every resource of the stack
    #[arg(long, conflicts_with = "urns")]
    all: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// Which mark is set or cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Protect,
    Unprotect,
    Taint,
    Untaint,
}

impl Mark {
    fn command(self) -> &'static str {
        match self {
            Self::Protect => "protect",
            Self::Unprotect => "unprotect",
            Self::Taint => "taint",
            Self::Untaint => "untaint",
        }
    }

    fn done(self) -> &'static str {
        match self {
            Self::Protect => "Protected",
            Self::Unprotect => "Unprotected",
            Self::Taint => "Tainted",
            Self::Untaint => "Untainted",
        }
    }

    fn set(self, resource: &mut Resource) {
        match self {
            Self::Protect | Self::Unprotect => resource.protect = self == Self::Protect,
            Self::Taint | Self::Untaint => resource.taint = self == Self::Taint,
        }
    }

    /// What to know before saying yes.
    fn question(self, stack: &drystone_stores::StackId) -> String {
        let note = match self {
            Self::Protect | Self::Unprotect => " The next update sets it again to what the program says.",
            Self::Taint | Self::Untaint => "",
        };
        format!("This edits the state of {stack} directly.{note} Go on?")
    }
}

pub(crate) async fn run(context: &Context, args: MarkArgs, mark: Mark) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    let urns = if args.all {
        Vec::new()
    } else {
        let question = format!("Which resource do you want to {}?", mark.command());
        target::given_or_picked(context, &backend, &stack, args.urns, &question).await?
    };
    approve_edit(context, args.yes, &mark.question(&stack))?;
    let message = if args.all { "every resource".to_owned() } else { urns.join(", ") };
    let title = Title { purpose: format!("state {}", mark.command()), message, ..Title::default() };
    let edit = async |snapshot: &mut Snapshot| {
        if args.all { Ok(set_all(snapshot, mark)) } else { set_each(snapshot, mark, &urns) }
    };
    let (count, committed) = edit_state(context, &backend, &stack, title, false, edit).await?;
    terminal::note(format!("{} {}", mark.done(), counted(count, "resource")));
    tell_committed(&committed);
    Ok(())
}

fn set_all(snapshot: &mut Snapshot, mark: Mark) -> usize {
    let live = snapshot.resources.iter_mut().filter(|resource| !resource.delete);
    live.map(|resource| mark.set(resource)).count()
}

/// Marks the live resources with these URNs, or none when one of them is not there.
fn set_each(snapshot: &mut Snapshot, mark: Mark, urns: &[String]) -> Outcome<usize> {
    let live = || snapshot.resources.iter().enumerate().filter(|(_, resource)| !resource.delete);
    let by_urn: HashMap<&str, usize> =
        live().map(|(index, resource)| (resource.urn.as_str(), index)).collect();
    let missing: Vec<&String> = urns.iter().filter(|urn| !by_urn.contains_key(urn.as_str())).collect();
    match missing[..] {
        [] => {}
        [only] => return Err(target::not_found(live().map(|(_, resource)| resource), only)),
        _ => {
            let mut failure = Failure::general(format!(
                "{} are not in the current state",
                counted(missing.len(), "resource")
            ));
            failure.details = missing.into_iter().cloned().collect();
            return Err(failure.hint("`drystone state ls` lists the URNs"));
        }
    }
    let mut positions: Vec<usize> = urns.iter().filter_map(|urn| by_urn.get(urn.as_str()).copied()).collect();
    positions.sort_unstable();
    positions.dedup();
    for &position in &positions {
        mark.set(&mut snapshot.resources[position]);
    }
    Ok(positions.len())
}

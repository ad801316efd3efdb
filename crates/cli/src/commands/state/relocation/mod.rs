//! `state move`: moves resources to another stack.
//!
//! Two stacks change, and a crash may come between. The destination is committed first, so that the resources are then
//! in both stacks and never in none; running the same command again finds them there, unchanged, and only takes them out
//! of the source.

mod plan;
mod secrets;

use super::{counted, require_approval};
use crate::backend::{Backend, StackAt};
use crate::context::Context;
use crate::edit::{new_manifest, require_sound, tell_committed};
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_model::{EdgeKind, Snapshot};
use drystone_stores::{At, Commit, Committed, HeldLease, Recorded, StackId};
use plan::{Broken, Plan, Request};
use secrets::Keys;

/// Moves resources, with their children, to another stack. Their providers are copied along, URNs are rewritten, and
/// secrets are sealed for the other stack.
///
/// References between what moves and what stays cannot be kept: they are listed and dropped. Make up for them in the
/// programs of both stacks.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: drystone state move 'urn:pulumi:dev::shop::aws:s3/bucket:Bucket::assets' --dest organization/assets/dev"
)]
pub(crate) struct MoveArgs {
    /// The URNs of the resources
    #[arg(value_name = "URN", required = true)]
    urns: Vec<String>,
    /// The stack that they are in, `URL#STACK` in another backend; the selected one by default
    #[arg(long, value_name = "STACK")]
    source: Option<String>,
    /// The stack that they move to, `URL#STACK` in another backend; the selected one by default
    #[arg(long, value_name = "STACK")]
    dest: Option<String>,
    /// Move the parents too
    #[arg(long)]
    include_parents: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// The two stacks of a move, and the backends that they are in.
struct Stacks {
    source: StackId,
    from: Backend,
    destination: StackId,
    to: Backend,
}

/// The two snapshots that a move is planned with.
struct Before {
    source: Recorded,
    destination: Recorded,
}

pub(crate) async fn run(context: &Context, args: MoveArgs) -> Outcome {
    let stacks = stacks(context, &args).await?;
    let mut approved = None;
    if !args.yes && !context.skips_confirmations() {
        let before = read(context, &stacks).await?;
        let plan = plan(context, &stacks, &before, &args)?;
        tell(&stacks, &plan);
        require_approval(context, args.yes, "Move these resources?")?;
        approved = Some((before.source.hash, before.destination.hash));
    }
    let leases = Leases::take(context, &stacks).await?;
    let moved = perform(context, &stacks, &args, approved, &leases).await;
    let released = leases.release().await;
    moved?;
    released
}

async fn stacks(context: &Context, args: &MoveArgs) -> Outcome<Stacks> {
    if args.source.is_none() && args.dest.is_none() {
        return Err(Failure::configuration("at least one of `--source` and `--dest` must be given")
            .hint("`drystone stack ls --all` lists the stacks"));
    }
    let named = async |name: Option<&String>| match name {
        Some(name) => context.stack_at(name, None).await,
        None => {
            let backend = context.backend().await?;
            let stack = context.stack_id(&backend, None)?;
            Ok(StackAt { backend, stack })
        }
    };
    let StackAt { stack: source, backend: from } = named(args.source.as_ref()).await?;
    let StackAt { stack: destination, backend: to } = named(args.dest.as_ref()).await?;
    if source == destination && from.url == to.url {
        return Err(Failure::configuration(format!("{source} is both source and destination"))
            .hint("name the other stack with `--source` or `--dest`"));
    }
    Ok(Stacks { source, from, destination, to })
}

/// Reads both stacks, which must be sound.
async fn read(context: &Context, stacks: &Stacks) -> Outcome<Before> {
    let _working = terminal::working("Reading the states");
    let source = stacks.from.store().snapshot(&stacks.source, At::Current).await?;
    let destination = stacks.to.store().snapshot(&stacks.destination, At::Current).await?;
    if !context.globals.disable_integrity_checking {
        require_sound(&stacks.source, source.revision, &source.snapshot)?;
        require_sound(&stacks.destination, destination.revision, &destination.snapshot)?;
    }
    Ok(Before { source, destination })
}

fn plan(context: &Context, stacks: &Stacks, before: &Before, args: &MoveArgs) -> Outcome<Plan> {
    let source = &before.source.snapshot;
    let unknown = plan::unknown(source, &args.urns);
    if unknown.len() == args.urns.len() {
        let failure = super::target::not_found(source.resources.iter(), &args.urns[0]);
        return Err(Failure { message: format!("{}: {}", stacks.source, failure.message), ..failure });
    }
    for urn in unknown {
        terminal::warning(format!("{urn} is not in {}", stacks.source));
    }
    let keys = Keys::new(context, stacks, before);
    let same = |moving: &_, there: &_| keys.same(moving, there);
    let request = Request {
        urns: &args.urns,
        include_parents: args.include_parents,
        destination: &stacks.destination,
        same: &same,
    };
    Plan::new(source, &before.destination.snapshot, &request)
}

/// Plans and commits under both leases.
async fn perform(
    context: &Context,
    stacks: &Stacks,
    args: &MoveArgs,
    approved: Option<(String, String)>,
    leases: &Leases,
) -> Outcome {
    let before = read(context, stacks).await?;
    let was_shown = approved.is_some();
    if approved.is_some_and(|hashes| hashes != (before.source.hash.clone(), before.destination.hash.clone()))
    {
        return Err(Failure::new(ExitCode::Held, "a stack changed while you were asked: nothing was moved")
            .hint("run the command again"));
    }
    let mut plan = plan(context, stacks, &before, args)?;
    if !was_shown {
        tell(stacks, &plan);
    }
    let keys = Keys::new(context, stacks, &before);
    keys.seal_arrivals(&mut plan)?;
    let byte_strings = before.source.byte_strings || before.destination.byte_strings;
    let Plan { source, destination, moved, resumes, .. } = plan;
    let count = counted(moved.len(), "resource");
    if resumes {
        terminal::note(format!(
            "{} has them already: an earlier move was cut short. Taking them out of {} finishes it.",
            stacks.destination, stacks.source
        ));
    } else {
        require_sound_result(&stacks.destination, &destination)?;
        require_sound_result(&stacks.source, &source)?;
        let message = format!("{count} from {}", stacks.source);
        let commit = as_commit(message, destination, byte_strings);
        let committed = leases.destination.commit(commit).await.map_err(Failure::from)?;
        tell_side(&stacks.destination, &committed);
    }
    let commit = as_commit(format!("{count} to {}", stacks.destination), source, before.source.byte_strings);
    let committed = leases.source.commit(commit).await.map_err(|error| {
        let failure = Failure::from(error);
        let detail = format!(
            "the resources are in {} already, and still in {} too",
            stacks.destination, stacks.source
        );
        failure.detail(detail).hint("run the same command again to finish the move")
    })?;
    tell_side(&stacks.source, &committed);
    terminal::note(format!("Moved {count} from {} to {}", stacks.source, stacks.destination));
    Ok(())
}

fn as_commit(message: String, mut snapshot: Snapshot, byte_strings: bool) -> Commit {
    snapshot.manifest = new_manifest();
    Commit {
        title: "state move".to_owned(),
        message,
        snapshot: Some(snapshot),
        byte_strings,
        ..Commit::default()
    }
}

fn tell_side(stack: &StackId, committed: &Committed) {
    if let Some(revision) = committed.revision {
        terminal::note(format!(
            "{stack}: revision {revision}   undo: drystone stack undo --stack {}",
            stack.qualified()
        ));
    }
    tell_committed(&Committed { revision: None, ..committed.clone() });
}

/// A sound state must stay sound; that it does not is a bug, and nothing is written.
fn require_sound_result(stack: &StackId, snapshot: &Snapshot) -> Outcome {
    let broken = crate::edit::errors(snapshot);
    if broken.is_empty() {
        return Ok(());
    }
    let mut failure = Failure::new(
        ExitCode::Unsound,
        format!("this move would leave {stack} with a state that breaks its rules: nothing was moved"),
    );
    failure.details = broken.iter().map(ToString::to_string).collect();
    Err(failure.hint("move what is named above too, or take its references out with `drystone state edit`"))
}

/// Says what moves and which references are cut.
fn tell(stacks: &Stacks, plan: &Plan) {
    let Stacks { source, destination, .. } = stacks;
    terminal::note(format!("From {source} to {destination}:"));
    for (old, new) in &plan.moved {
        terminal::note(format!("  {old}"));
        if old.moved("", "") != new.moved("", "") {
            terminal::note(format!("    is called {new} there"));
        }
    }
    for urn in &plan.copied {
        terminal::note(format!("  a copy of the provider {urn}"));
    }
    let sides = [
        (false, format!("What stays in {source} loses these references to what moves:")),
        (true, format!("What moves to {destination} loses these references to what stays:")),
    ];
    for (moves, heading) in sides {
        let cut: Vec<&Broken> = plan.broken.iter().filter(|broken| broken.moves == moves).collect();
        if !cut.is_empty() {
            terminal::warning(heading);
            cut.iter().for_each(|broken| terminal::note(format!("  {}", in_words(broken))));
        }
    }
    if !plan.broken.is_empty() {
        terminal::note("Give the programs of both stacks the outputs and inputs that take their place.");
    }
    for urn in &plan.pending {
        terminal::warning(format!("an operation on {urn} is pending; it stays pending in {source}"));
    }
}

fn in_words(broken: &Broken) -> String {
    let Broken { from, to, kind, property, .. } = broken;
    match kind {
        EdgeKind::PropertyDependency => {
            format!("{from} depends on {to} (property `{}`)", property.as_deref().unwrap_or_default())
        }
        EdgeKind::DeletedWith => format!("{from} is deleted with {to}"),
        EdgeKind::ReplaceWith => format!("{from} is replaced with {to}"),
        EdgeKind::ViewOf => format!("{from} is a view of {to}"),
        EdgeKind::Dependency | EdgeKind::Parent | EdgeKind::Provider => format!("{from} depends on {to}"),
    }
}

/// The leases of both stacks.
struct Leases {
    source: Box<dyn HeldLease>,
    destination: Box<dyn HeldLease>,
}

impl Leases {
    /// Takes them in the order of the names, so that two moves in opposite directions cannot wait for each other.
    async fn take(context: &Context, stacks: &Stacks) -> Outcome<Self> {
        let take =
            async |(stack, backend): (&StackId, &Backend)| context.lease(backend, stack, "state move").await;
        let sides = [(&stacks.source, &stacks.from), (&stacks.destination, &stacks.to)];
        let source_first = (sides[0].0, &sides[0].1.url) < (sides[1].0, &sides[1].1.url);
        let [first, second] = if source_first { sides } else { [sides[1], sides[0]] };
        let one = take(first).await?;
        let other = match take(second).await {
            Ok(other) => other,
            Err(failure) => {
                one.release().await?;
                return Err(failure);
            }
        };
        let (source, destination) = if source_first { (one, other) } else { (other, one) };
        Ok(Self { source, destination })
    }

    async fn release(self) -> Outcome {
        let destination = self.destination.release().await;
        self.source.release().await?;
        Ok(destination?)
    }
}

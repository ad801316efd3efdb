//! `stack migrate`: copies a stack to another backend, or to another name.
//!
//! Both stacks are leased. The revisions are copied one after the other, oldest first, each with the time and the author
//! that it had, and read back before the next; then the records of updates and the tags; then the settings file is
//! written. Every copy says which revision it is of, so that a migration that was cut short goes on where it stopped. The
//! source stays as it is.

mod copying;
mod secrets;

use crate::backend::StackAt;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use copying::{Extent, Migration};
use drystone_model::Resource;
use drystone_secrets::ProviderChoice;
use drystone_stores::Relocation;
use secrets::Settings;

/// Copy a stack to another backend, with its revisions, its history and its tags.
///
/// A stack is named `URL#STACK`, or as usual where it is in the backend that is logged in to. A URL alone as the target
/// keeps the name. Each revision is read back after it was written. A migration that was interrupted goes on when the same
/// command is run again.
///
/// The secrets stay sealed as they are. `--secrets-provider` has them sealed anew: those of every revision that can be
/// opened, the current one first of all, and those of the settings file in the project's folder. An earlier revision that
/// cannot be opened here is copied as it is and opens with what sealed it. A copy of another name gets the settings of the
/// source where it has none.
///
/// A stack of another system, such as `unobin+file://PATH#FACTORY/STACK`, becomes one of the types that providers serve;
/// what none serves is listed and left out. What was sensitive there has to be sealed: give `--secrets-provider`.
///
/// The source stays as it is; `--remove` moves it to its backend's trash in the end, so that nobody goes on with it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  drystone stack migrate dev s3://acme-state\n  drystone stack migrate file://~#shop/dev 'postgres://db.example/state#shop/prod'\n  drystone stack migrate dev s3://acme-state --secrets-provider 'awskms://alias/pulumi?region=eu-central-1'"
)]
pub(crate) struct MigrateArgs {
    /// The stack to copy
    from: String,
    /// Where to
    to: String,
    /// Copy the current state alone, without earlier revisions and history
    #[arg(long)]
    current_only: bool,
    /// What seals the copy's secrets from now on: `default`, `passphrase`, or the URL of a key at `awskms://`,
    /// `gcpkms://`, `azurekeyvault://` or `hashivault://`
    #[arg(long, value_name = "PROVIDER")]
    secrets_provider: Option<String>,
    /// Move the source to the trash when all is there
    #[arg(long)]
    remove: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

const TITLE: &str = "stack migrate";

pub(crate) async fn run(context: &Context, args: MigrateArgs) -> Outcome {
    let from = context.stack_at(&args.from, None).await?;
    let to = context.stack_at(&args.to, Some(&from.stack)).await?;
    if from.backend.url == to.backend.url && from.stack == to.stack {
        return Err(Failure::configuration(format!("{from} is both source and target"))
            .hint("name another backend, or another stack as in `URL#STACK`"));
    }
    if to.backend.unserved().is_some() {
        return Err(Failure::configuration(format!(
            "{to}: another system's stacks are made by its own tool"
        ))
        .hint("name one of our backends as the target, such as `file://PATH`"));
    }
    let choice = args.secrets_provider.as_deref().map(str::parse::<ProviderChoice>).transpose();
    let choice = choice.map_err(Failure::configuration)?;
    super::init::require(&from.backend, &from.stack).await?;
    let settings = Settings::open(context, &from.stack, &to.stack)?;
    let wanted = match (&choice, &settings) {
        (None, _) => None,
        (Some(choice), Some(settings)) => Some(settings.wanted(context, choice)?),
        (Some(_), None) => return Err(elsewhere(&to)),
    };
    if args.remove && !args.yes && !context.skips_confirmations() {
        let question = format!("Copy {from} to {to}, and move it to the trash then?");
        if !context.confirm(&question)? {
            return Err(Failure::new(ExitCode::Cancelled, "cancelled: nothing was changed"));
        }
    }
    let source = context.lease(&from.backend, &from.stack, TITLE).await?;
    let migrated = async {
        let target = context.lease(&to.backend, &to.stack, TITLE).await?;
        let migration =
            Migration { context, from: &from, to: &to, target: &*target, wanted: wanted.as_ref() };
        let extent = if args.current_only { Extent::Current } else { Extent::Everything };
        let copied = migration.run(extent).await;
        let released = target.release().await;
        let copied = copied?;
        released?;
        if args.remove {
            let note = format!("migrated to {to}");
            source.relocate(Relocation::Trash { note: Some(note) }).await?;
        }
        Ok::<_, Failure>(copied)
    };
    let migrated = migrated.await;
    let released = source.release().await;
    let migrated = migrated.map_err(|failure| {
        failure.hint("the source is as it was; run the same command again to go on where it stopped")
    })?;
    released?;
    migrated.tell(&from, &to, args.remove);
    Ok(())
}

/// What a migration did.
#[derive(Debug, Default)]
struct Migrated {
    /// How many revisions it copied, and how many it found copied.
    revisions: usize,
    found: usize,
    updates: usize,
    /// What the current state has that no provider serves.
    left_out: Vec<Resource>,
}

impl Migrated {
    fn tell(&self, from: &StackAt, to: &StackAt, removed: bool) {
        if self.found > 0 {
            terminal::note(format!(
                "{} of the revisions were there already: an earlier migration was cut short.",
                self.found
            ));
        }
        terminal::note(format!(
            "Copied {} revision(s) and {} record(s) of updates from {from} to {to}; all were read back.",
            self.revisions, self.updates
        ));
        if !self.left_out.is_empty() {
            terminal::warning(format!(
                "{} of the resources of {from} are of types that no provider serves, and were left out:",
                self.left_out.len()
            ));
            for resource in &self.left_out {
                terminal::note(format!(
                    "  {}  {}  {}",
                    resource.type_token,
                    resource.urn.name(),
                    resource.id
                ));
            }
        }
        if from.backend.unserved().is_some() {
            terminal::note(
                "Run `drystone refresh` there before the first update: it reads what the providers know.",
            );
        }
        terminal::note(match removed {
            true => format!("{from} is in the trash; `drystone stack restore` brings it back."),
            false => format!("{from} is still there: see that nobody goes on with it."),
        });
        if from.backend.url != to.backend.url {
            terminal::note(format!("Go on there with `drystone login '{}'`.", to.backend));
        }
    }
}

fn elsewhere(to: &StackAt) -> Failure {
    Failure::configuration(format!(
        "the settings of {to} are not here, and their secrets go with those of the state"
    ))
    .hint("run the command in the folder of its project, or leave out `--secrets-provider`")
}

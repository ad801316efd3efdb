//! `stack migrate`: copies a stack to another backend, or to another name.
//!
//! Both stacks are leased. The revisions are copied one after the other, oldest first, each with the time and the author
//! that it had, and read back before the next; then the records of updates and the tags. Every copy says which revision
//! it is of, so that a migration that was cut short goes on where it stopped. The source stays as it is.

use super::rename::references::Renaming;
use crate::backend::StackAt;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_model::{Json, Manifest, Metadata, Snapshot};
use drystone_stores::{At, Commit, Error as StoreError, HeldLease, Recorded, Relocation, RevisionInfo};
use std::collections::BTreeMap;

/// Copy a stack to another backend, with its revisions, its history and its tags.
///
/// A stack is named `URL#STACK`, or as usual where it is in the backend that is logged in to. A URL alone as the target
/// keeps the name. Each revision is read back after it was written. A migration that was interrupted goes on when the same
/// command is run again.
///
/// The source stays as it is; `--remove` moves it to its backend's trash in the end, so that nobody goes on with it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  drystone stack migrate dev s3://acme-state\n  drystone stack migrate file://~#shop/dev 'postgres://db.example/state#shop/prod'"
)]
pub(crate) struct MigrateArgs {
    /// The stack to copy
    from: String,
    /// Where to
    to: String,
    /// Copy the current state alone, without earlier revisions and history
    #[arg(long)]
    current_only: bool,
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
    super::init::require(&from.backend, &from.stack).await?;
    if args.remove && !args.yes && !context.skips_confirmations() {
        let question = format!("Copy {from} to {to}, and move it to the trash then?");
        if !context.confirm(&question)? {
            return Err(Failure::new(ExitCode::Cancelled, "cancelled: nothing was changed"));
        }
    }
    let source = context.lease(&from.backend, &from.stack, TITLE).await?;
    let migrated = async {
        let target = context.lease(&to.backend, &to.stack, TITLE).await?;
        let copied = Migration { from: &from, to: &to, target: &*target }.run(args.current_only).await;
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
        terminal::note(match removed {
            true => format!("{from} is in the trash; `drystone stack restore` brings it back."),
            false => format!("{from} is still there: see that nobody goes on with it."),
        });
        if from.backend.url != to.backend.url {
            terminal::note(format!("Go on there with `drystone login '{}'`.", to.backend));
        }
    }
}

struct Migration<'a> {
    from: &'a StackAt,
    to: &'a StackAt,
    target: &'a dyn HeldLease,
}

impl Migration<'_> {
    async fn run(&self, current_only: bool) -> Outcome<Migrated> {
        let (from, to) = (self.from.backend.store(), self.to.backend.store());
        let current = from.snapshot(&self.from.stack, At::Current).await?;
        let revisions = from.revisions(&self.from.stack).await?;
        let mut migrated = Migrated::default();
        // What each revision of the source is called in the target.
        let mut numbers = self.copied_before(&revisions).await?;
        migrated.found = numbers.len();
        let wanted =
            |info: &RevisionInfo| !current_only || u64::try_from(info.number).ok() == current.revision;
        for info in revisions.iter().filter(|info| wanted(info)) {
            if numbers.contains_key(&info.number) {
                continue;
            }
            terminal::note(format!("revision {}  {}  {}", info.number, info.time, info.title));
            let number = u64::try_from(info.number).unwrap_or_default();
            let recorded = from.snapshot(&self.from.stack, At::Revision(number)).await?;
            let copy = self.copy(recorded, info, &numbers).await?;
            numbers.insert(info.number, copy);
            migrated.revisions += 1;
        }
        if current.revision.is_none() {
            migrated.revisions += usize::from(self.copy_found(current, &numbers).await?);
        }
        if !current_only {
            migrated.updates = self.copy_updates().await?;
        }
        let tags = from.describe(&self.from.stack).await?.tags;
        if to.describe(&self.to.stack).await?.tags != tags {
            self.commit(Commit { tags: Some(tags), ..Commit::default() }).await?;
        }
        Ok(migrated)
    }

    /// The revisions that an earlier migration has copied. A target that has others is somebody else's.
    async fn copied_before(&self, revisions: &[RevisionInfo]) -> Outcome<BTreeMap<i64, i64>> {
        let there = match self.to.backend.store().revisions(&self.to.stack).await {
            Ok(there) => there,
            Err(StoreError::NotFound { .. }) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let taken = || Failure::from(StoreError::AlreadyExists { stack: self.to.stack.clone() });
        let mut copied = BTreeMap::new();
        for info in &there {
            let original = info.copy_of.and_then(|number| revisions.iter().find(|own| own.number == number));
            let original = original.filter(|own| (&own.time, &own.title) == (&info.time, &info.title));
            copied.insert(original.ok_or_else(taken)?.number, info.number);
        }
        if there.is_empty() && super::init::exists(&self.to.backend, &self.to.stack).await? {
            return Err(taken());
        }
        Ok(copied)
    }

    /// Copies a revision and reads it back; gives its number in the target.
    async fn copy(
        &self,
        recorded: Recorded,
        info: &RevisionInfo,
        numbers: &BTreeMap<i64, i64>,
    ) -> Outcome<i64> {
        let snapshot = self.renamed(recorded.snapshot)?;
        let restores = info.restores.and_then(|number| numbers.get(&number));
        let commit = Commit {
            title: info.title.clone(),
            message: info.message.clone(),
            snapshot: Some(snapshot.clone()),
            restores: restores.and_then(|number| u64::try_from(*number).ok()),
            copies: Some(Box::new(info.clone())),
            byte_strings: recorded.byte_strings,
            ..Commit::default()
        };
        let revision = self.commit(commit).await?;
        self.verify(snapshot, revision).await?;
        Ok(revision.and_then(|number| i64::try_from(number).ok()).unwrap_or_default())
    }

    /// Copies a state that no revision has been made of: another tool wrote it, or nothing was ever written. Says
    /// whether it made a revision.
    async fn copy_found(&self, current: Recorded, numbers: &BTreeMap<i64, i64>) -> Outcome<bool> {
        if !current.ever_written {
            if numbers.is_empty() {
                self.commit(Commit { title: TITLE.to_owned(), ..Commit::default() }).await?;
            }
            return Ok(false);
        }
        let snapshot = self.renamed(current.snapshot)?;
        let commit = Commit {
            title: TITLE.to_owned(),
            message: format!("from {}", self.from),
            snapshot: Some(snapshot.clone()),
            byte_strings: current.byte_strings,
            ..Commit::default()
        };
        let revision = self.commit(commit).await?;
        self.verify(snapshot, revision).await?;
        Ok(true)
    }

    /// Copies the records of updates that the target does not have, oldest first.
    async fn copy_updates(&self) -> Outcome<usize> {
        let mut records = self.from.backend.store().updates(&self.from.stack).await?;
        let there = self.to.backend.store().updates(&self.to.stack).await?;
        records.reverse();
        let missing: Vec<Json> = records.into_iter().skip(there.len()).collect();
        let copied = missing.len();
        for update in missing {
            self.commit(Commit { update: Some(update), ..Commit::default() }).await?;
        }
        let there = self.to.backend.store().updates(&self.to.stack).await?;
        let source = self.from.backend.store().updates(&self.from.stack).await?;
        if there != source {
            return Err(self.differs("the history"));
        }
        Ok(copied)
    }

    async fn commit(&self, commit: Commit) -> Outcome<Option<u64>> {
        Ok(self.target.commit(commit).await?.revision)
    }

    /// The snapshot under the target's name.
    fn renamed(&self, mut snapshot: Snapshot) -> Outcome<Snapshot> {
        if self.from.stack != self.to.stack {
            Renaming::new(&self.from.stack, &self.to.stack, &snapshot).rename(&mut snapshot)?;
        }
        Ok(snapshot)
    }

    /// Reads a revision back and compares it with what was sent.
    async fn verify(&self, sent: Snapshot, revision: Option<u64>) -> Outcome {
        let at = revision.map_or(At::Current, At::Revision);
        let there = self.to.backend.store().snapshot(&self.to.stack, at).await?;
        if content(sent) == content(there.snapshot) {
            return Ok(());
        }
        Err(self
            .differs(&revision.map_or_else(|| "the state".to_owned(), |number| format!("revision {number}"))))
    }

    fn differs(&self, what: &str) -> Failure {
        Failure::new(ExitCode::Unsound, format!("{what} of {} is not what was written there", self.to))
    }
}

/// A snapshot without what a store may say of it.
fn content(snapshot: Snapshot) -> Snapshot {
    Snapshot { manifest: Manifest::default(), metadata: Metadata::default(), ..snapshot }
}

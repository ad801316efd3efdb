//! Changing the state of a stack as one revision that can be undone.

use crate::backend::Backend;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use drystone_model::{Manifest, Severity, Snapshot, Violation, verify};
use drystone_stores::{At, Commit, Committed, HeldLease, Recorded, StackId};
use std::collections::HashMap;

/// The version that manifests name.
pub(crate) const TOOL_VERSION: &str = concat!("drystone-", env!("CARGO_PKG_VERSION"));

/// What an edit is recorded as.
#[derive(Debug, Clone, Default)]
pub(crate) struct Title {
    /// The command, as in `state delete`.
    pub(crate) purpose: String,
    /// What it did, as the revision's message.
    pub(crate) message: String,
    /// Journals kept aside whose knowledge this edit takes in (S20).
    pub(crate) settles: Vec<String>,
}

/// Changes the current snapshot under the lease and commits it. An unsound snapshot is refused unless the user or the
/// command says otherwise; an edit that fails changes nothing.
pub(crate) async fn edit_state<T>(
    context: &Context,
    backend: &Backend,
    stack: &StackId,
    title: Title,
    allow_unsound: bool,
    edit: impl AsyncFnOnce(&mut Snapshot) -> Outcome<T>,
) -> Outcome<(T, Committed)> {
    let lease = context.lease(backend, stack, &title.purpose).await?;
    let edited = async {
        let reading = terminal::working("Reading the state");
        let Recorded { mut snapshot, byte_strings, revision, .. } =
            backend.store().snapshot(stack, At::Current).await?;
        drop(reading);
        if !allow_unsound && !context.globals.disable_integrity_checking {
            require_sound(stack, revision, &snapshot)?;
        }
        let outcome = edit(&mut snapshot).await?;
        snapshot.manifest = new_manifest();
        let commit = Commit {
            title: title.purpose.clone(),
            message: title.message.clone(),
            snapshot: Some(snapshot),
            byte_strings,
            settles: title.settles.clone(),
            ..Commit::default()
        };
        let _working = terminal::working("Writing the state");
        Ok::<_, Failure>((outcome, lease.commit(commit).await?))
    };
    let edited = edited.await;
    let released = lease.release().await;
    let edited = edited?;
    released?;
    Ok(edited)
}

/// Commits and gives the lease back, whatever became of the commit.
pub(crate) async fn commit_and_release(lease: Box<dyn HeldLease>, commit: Commit) -> Outcome<Committed> {
    let working = terminal::working("Writing the state");
    let committed = lease.commit(commit).await;
    drop(working);
    let released = lease.release().await;
    let committed = committed?;
    released?;
    Ok(committed)
}

/// A manifest of now.
pub(crate) fn new_manifest() -> Manifest {
    Manifest::new(jiff::Timestamp::now().to_string(), TOOL_VERSION)
}

/// Refuses a snapshot that breaks rules, naming each, and says how to mend it (S7).
pub(crate) fn require_sound(stack: &StackId, revision: Option<u64>, snapshot: &Snapshot) -> Outcome {
    let broken = errors(snapshot);
    if broken.is_empty() {
        return Ok(());
    }
    let which = revision.map_or_else(String::new, |revision| format!(" (revision {revision})"));
    let mut failure = Failure::new(
        ExitCode::Unsound,
        format!(
            "the current snapshot of {stack}{which} breaks {} rule(s); refusing to operate on it",
            broken.len()
        ),
    );
    failure.details = broken.iter().map(ToString::to_string).collect();
    Err(failure.hint(
        "`drystone state doctor` explains and proposes a repair; `drystone stack revisions` lists what can be gone back to",
    ))
}

/// The rules that a snapshot breaks.
pub(crate) fn errors(snapshot: &Snapshot) -> Vec<Violation> {
    verify(snapshot).into_iter().filter(|violation| violation.severity() == Severity::Error).collect()
}

/// Says which revision an edit made and how to undo it.
pub(crate) fn tell_committed(committed: &Committed) {
    if let Some(revision) = committed.revision {
        terminal::note(format!("revision {revision}   undo: drystone stack undo"));
    }
    for violation in &committed.violations {
        terminal::warning(violation);
    }
}

/// Refuses an edit that breaks a rule which was not broken before.
pub(crate) fn require_no_new_errors(before: &[Violation], after: &Snapshot) -> Outcome {
    let mut known: HashMap<_, usize> = HashMap::new();
    for violation in before {
        *known.entry((violation.rule, &violation.urn, &violation.refers_to)).or_default() += 1;
    }
    let after = errors(after);
    let mut failure = Failure::general("this would leave a state that breaks its rules: nothing was changed");
    for violation in &after {
        match known.get_mut(&(violation.rule, &violation.urn, &violation.refers_to)) {
            Some(left) if *left > 0 => *left -= 1,
            _ => failure.details.push(violation.to_string()),
        }
    }
    if failure.details.is_empty() {
        return Ok(());
    }
    Err(failure.hint("`drystone state doctor` explains what is wrong with the current state"))
}

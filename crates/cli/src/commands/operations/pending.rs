//! Operations that were under way when an earlier run died: telling of them, and settling them.

use crate::context::Context;
use crate::edit::{errors, require_no_new_errors};
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_model::{Operation, OperationKind, Snapshot};
use std::collections::BTreeMap;

/// What becomes of creations that were under way when an earlier run died.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Pending operations")]
pub(super) struct PendingFlags {
    /// Forget creations that were under way: they made nothing
    #[arg(long)]
    clear_pending_creates: bool,
    /// Take over what a creation made: its URN, then the same option with its id
    #[arg(long, value_name = "URN|ID", allow_hyphen_values = true)]
    import_pending_creates: Vec<String>,
    /// Do not ask about creations that were under way
    #[arg(long)]
    skip_pending_creates: bool,
}

/// What becomes of one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) enum Resolution {
    /// It had no effect.
    Clear,
    /// It made something that has this id.
    Import(String),
}

/// What becomes of operations, by URN.
pub(in crate::commands) type Resolutions = BTreeMap<String, Resolution>;

impl PendingFlags {
    /// The ids that were given, by URN.
    pub(super) fn imports(&self) -> Outcome<Resolutions> {
        if self.clear_pending_creates && self.skip_pending_creates {
            return Err(Failure::configuration(
                "cannot set both --skip-pending-creates and --clear-pending-creates",
            ));
        }
        let (pairs, rest) = self.import_pending_creates.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(Failure::configuration(
                "each URN must be followed by an ID: found an odd number of entries",
            )
            .hint("as in `--import-pending-creates URN --import-pending-creates ID`"));
        }
        let pair = |[urn, id]: &[String; 2]| (urn.clone(), Resolution::Import(id.clone()));
        Ok(pairs.iter().map(pair).collect())
    }

    /// What becomes of the pending creations of a snapshot: as given, then as answered, then cleared.
    pub(super) fn resolutions(&self, context: &Context, snapshot: &Snapshot) -> Outcome<Resolutions> {
        let mut resolutions = self.imports()?;
        resolutions.retain(|urn, _| {
            let known = creations(snapshot).any(|operation| operation.resource.urn.as_str() == urn);
            if !known {
                terminal::warning(format!("\"{urn}\" did not correspond to a pending create"));
            }
            known
        });
        for operation in creations(snapshot) {
            let urn = operation.resource.urn.to_string();
            if resolutions.contains_key(&urn) {
                continue;
            }
            if self.clear_pending_creates {
                resolutions.insert(urn, Resolution::Clear);
            } else if context.is_interactive()
                && !self.skip_pending_creates
                && let Some(resolution) = ask(operation)?
            {
                resolutions.insert(urn, resolution);
            }
        }
        Ok(resolutions)
    }
}

fn creations(snapshot: &Snapshot) -> impl Iterator<Item = &Operation> {
    snapshot.pending_operations.iter().filter(|operation| operation.kind == OperationKind::Creating)
}

/// Asks what became of a creation; `None` leaves it pending.
fn ask(operation: &Operation) -> Outcome<Option<Resolution>> {
    const CLEAR: &str = "clear (the CREATE failed; remove the pending CREATE)";
    const SKIP: &str = "skip (do nothing)";
    const IMPORT: &str =
        "import (the CREATE succeeded; provide a resource ID and complete the CREATE operation)";
    let cancelled = |_| Failure::new(ExitCode::Cancelled, "cancelled: nothing was changed");
    let question = format!("Options for pending CREATE of {}", operation.resource.urn);
    Ok(match inquire::Select::new(&question, vec![CLEAR, SKIP, IMPORT]).prompt().map_err(cancelled)? {
        CLEAR => Some(Resolution::Clear),
        IMPORT => Some(Resolution::Import(inquire::Text::new("ID:").prompt().map_err(cancelled)?)),
        _ => None,
    })
}

/// Settles operations in a snapshot. What a creation made becomes a resource of the stack, with the inputs that it was
/// made from; the next refresh reads the rest. What it was to replace waits to be deleted.
pub(in crate::commands) fn resolve(snapshot: &mut Snapshot, resolutions: &Resolutions) -> Outcome {
    let before = errors(snapshot);
    for urn in resolutions.keys() {
        if !snapshot.pending_operations.iter().any(|operation| operation.resource.urn.as_str() == urn) {
            return Err(unknown(snapshot, urn));
        }
    }
    let mut left = Vec::new();
    for operation in std::mem::take(&mut snapshot.pending_operations) {
        match resolutions.get(operation.resource.urn.as_str()) {
            None => left.push(operation),
            Some(Resolution::Clear) => {}
            Some(Resolution::Import(id)) => import(snapshot, operation, id)?,
        }
    }
    snapshot.pending_operations = left;
    require_no_new_errors(&before, snapshot)
}

fn import(snapshot: &mut Snapshot, operation: Operation, id: &str) -> Outcome {
    let Operation { kind, mut resource, .. } = operation;
    if kind != OperationKind::Creating {
        return Err(Failure::general(format!(
            "{} was {}, not creating: its id is known already",
            resource.urn,
            kind.as_str()
        ))
        .hint("read it back with `drystone refresh`; nothing was changed"));
    }
    if id.is_empty() {
        return Err(Failure::configuration(format!(
            "the id of {} is empty; nothing was changed",
            resource.urn
        )));
    }
    let replaced = |other: &&mut drystone_model::Resource| other.urn == resource.urn && !other.delete;
    if let Some(old) = snapshot.resources.iter_mut().find(replaced) {
        old.delete = true;
    }
    id.clone_into(&mut resource.id);
    // Nothing else is known of it yet, and providers look at what they once gave when they read.
    resource.outputs = resource.inputs.clone();
    snapshot.resources.push(resource);
    Ok(())
}

fn unknown(snapshot: &Snapshot, urn: &str) -> Failure {
    let mut failure = Failure::general(format!("no operation is pending on {urn}; nothing was changed"));
    failure.details = snapshot
        .pending_operations
        .iter()
        .map(|operation| format!("{}  {}", operation.kind.as_str(), operation.resource.urn))
        .collect();
    failure.hint("`drystone state ops list` lists what is pending")
}

/// Whether operations are pending that a refresh settles by reading: all but creations.
pub(super) fn has_stale(snapshot: &Snapshot) -> bool {
    snapshot.pending_operations.len() > creations(snapshot).count()
}

/// Forgets them.
pub(super) fn drop_stale(snapshot: &mut Snapshot) {
    snapshot.pending_operations.retain(|operation| operation.kind == OperationKind::Creating);
}

//! What `destroy --exclude-protected` leaves.

use super::subject::Subject;
use crate::report::Outcome;
use drystone_engine::Options;
use drystone_model::{DependencyGraph, Snapshot};
use drystone_stores::At;
use std::fmt;

/// What is left because it is protected, or needed by what is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Kept {
    pub(super) count: usize,
    /// Whether nothing else is there.
    pub(super) everything: bool,
}

impl Kept {
    pub(super) async fn of(subject: &Subject) -> Outcome<Self> {
        let recorded = subject.backend.store().snapshot(&subject.stack, At::Current).await?;
        let count = protected(&recorded.snapshot).len();
        Ok(Self { count, everything: count > 0 && count == recorded.snapshot.resources.len() })
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "There are still {} protected resources associated with this stack.", self.count)
    }
}

/// Leaves it out of an operation.
pub(super) fn exclude(snapshot: &Snapshot, options: &mut Options) {
    for index in protected(snapshot) {
        options.excludes.insert(&snapshot.resources[index].urn);
    }
}

/// The positions of protected resources and of everything that they need.
fn protected(snapshot: &Snapshot) -> Vec<usize> {
    let indices = snapshot.resources.iter().enumerate().filter(|(_, resource)| resource.protect);
    let protected: Vec<usize> = indices.map(|(index, _)| index).collect();
    let mut kept = DependencyGraph::new(&snapshot.resources).transitive_dependencies(&protected);
    kept.extend(protected);
    kept.sort_unstable();
    kept.dedup();
    kept
}

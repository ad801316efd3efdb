//! What stands in a bucket besides Pulumi's layout and what a directory has too: the lease, journals in segments, and
//! what is known of the current document.

use crate::StackId;
use crate::diy::layout;

pub(super) use crate::diy::layout::journal_name;

/// The ending of the object in a journal's folder that says that everything in it has been dealt with.
pub(super) const SETTLED: &str = "settled";

/// The lease of a stack.
pub(super) fn lease(stack: &StackId) -> String {
    format!("{}/lease.json", layout::lease(stack))
}

/// An object that is written to learn the time by the server's clock.
pub(super) fn clock(stack: &StackId, id: &str) -> String {
    format!("{}/clock-{id}", layout::lease(stack))
}

/// What is known of the current document.
pub(super) fn known(stack: &StackId) -> String {
    format!("{}/current.json", layout::own(stack))
}

/// A segment of a journal.
pub(super) fn segment(stack: &StackId, journal: &str, number: u64) -> String {
    format!("{}/{journal}/{number:08}", layout::journals(stack))
}

/// The object that says that a journal has been dealt with.
pub(super) fn settled(stack: &StackId, journal: &str) -> String {
    format!("{}/{journal}/{SETTLED}", layout::journals(stack))
}

/// A document that waits to become another stack's checkpoint.
pub(super) fn staged(stack: &StackId, id: &str) -> String {
    format!("{}/staged-{id}", layout::own(stack))
}

/// What is kept with a stack in the trash.
pub(super) fn trash_note(stack: &StackId, id: &str) -> String {
    format!("{}/trash.json", layout::trashed(stack, id))
}

/// An object that is written to learn whether the server is honest.
pub(super) fn probe(id: &str) -> String {
    format!(".pulumi/drystone/probe-{id}")
}

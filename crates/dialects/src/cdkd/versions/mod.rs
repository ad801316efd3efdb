//! The schema versions of a state: what each brought, and what it means that a file of an earlier one lacks it.
//!
//! Every version only added members, so that a file of an old one needs no more than its absences understood. The
//! tool itself fills them in by and by, as it deploys; it writes the newest number at once.

mod v1;
mod v2;
mod v3;
mod v4;
mod v5;
mod v6;
mod v7;
mod v8;

pub use v4::Import;
pub use v5::Policy;
pub use v6::Parent;
pub use v7::Provisioner;
pub use v8::OutputRead;

use super::{StackKey, StackState};

/// The newest version.
pub const NEWEST: i64 = 8;

/// The version that a file without a number counts as.
const UNNUMBERED: i64 = 1;

/// What a version brought.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// The version.
    pub version: i64,
    /// The members of a state that it brought.
    pub stack: &'static [&'static str],
    /// The members of a resource that it brought.
    pub resource: &'static [&'static str],
    /// Brings a state of the version before to this one.
    upgrade: fn(&mut StackState, &StackKey),
}

/// The versions after the first, in their order.
pub const STEPS: [Step; 7] = [v2::STEP, v3::STEP, v4::STEP, v5::STEP, v6::STEP, v7::STEP, v8::STEP];

/// Brings a state of any version to the newest, one step after the other.
pub(super) fn upgrade(state: &mut StackState, key: &StackKey) {
    v1::name(state, key);
    let from = if state.version == 0 { UNNUMBERED } else { state.version };
    for step in STEPS.iter().filter(|step| step.version > from) {
        (step.upgrade)(state, key);
        state.version = step.version;
    }
    v2::place(state, key);
}

/// A step that changes nothing: what the version brought is not there yet, and its absence has a meaning.
fn nothing(_: &mut StackState, _: &StackKey) {}

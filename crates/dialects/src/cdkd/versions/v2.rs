//! Version 2: the region is a part of the key, so that the same name in two regions is two stacks.

use super::super::{StackKey, StackState};
use super::Step;

pub(super) const STEP: Step = Step { version: 2, stack: &["region"], resource: &[], upgrade: place };

/// A file is always written with the region that its key has.
pub(super) fn place(state: &mut StackState, key: &StackKey) {
    key.region.as_str().clone_into(&mut state.region);
}

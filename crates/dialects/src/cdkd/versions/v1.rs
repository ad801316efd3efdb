//! Version 1: a stack's name alone is its key, and its region is said in the file, if anywhere.
//!
//! A file without a version is taken for one of these.

use super::super::{StackKey, StackState};

/// A file is always written under the name that its key has.
pub(super) fn name(state: &mut StackState, key: &StackKey) {
    key.stack.as_str().clone_into(&mut state.stack_name);
}

//! Version 5: what the template says should become of a resource that is no longer wanted.

use super::super::Resource;
use super::super::words::words;
use super::{Step, nothing};

pub(super) const STEP: Step =
    Step { version: 5, stack: &[], resource: &["deletionPolicy", "updateReplacePolicy"], upgrade: nothing };

words! {
    /// What becomes of a resource that is no longer wanted.
    pub enum Policy {
        /// It is deleted.
        Delete => "Delete",
        /// It is left alone.
        Retain => "Retain",
        /// It is deleted after a copy has been made.
        Snapshot => "Snapshot",
        /// It is left alone, unless the deployment that made it failed.
        RetainExceptOnCreate => "RetainExceptOnCreate",
    }
}

impl Policy {
    /// Whether the resource is left alone.
    #[must_use]
    pub fn retains(&self) -> bool {
        matches!(self, Self::Retain | Self::RetainExceptOnCreate)
    }
}

impl Resource {
    /// Whether the resource outlives its stack. One that says nothing does not.
    #[must_use]
    pub fn is_retained(&self) -> bool {
        self.deletion_policy.as_ref().is_some_and(Policy::retains)
    }
}

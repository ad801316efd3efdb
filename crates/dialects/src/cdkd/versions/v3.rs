//! Version 3: what a service told of a resource after it was made is kept beside what was asked for.

use super::super::Resource;
use super::{Step, nothing};
use drystone_model::Json;

pub(super) const STEP: Step =
    Step { version: 3, stack: &[], resource: &["observedProperties"], upgrade: nothing };

impl Resource {
    /// The properties that drift is measured from: those observed, and where there are none those asked for.
    #[must_use]
    pub fn baseline(&self) -> Option<&Json> {
        self.observed_properties.as_ref().or(self.properties.as_ref())
    }
}

//! Version 4: what a stack imports is known, so that the stack which exports it is not destroyed under it.

use super::super::object::object;
use super::super::{StackKey, StackState};
use super::{Step, nothing};

pub(super) const STEP: Step = Step { version: 4, stack: &["imports"], resource: &[], upgrade: nothing };

object! {
    /// A value that a stack imports.
    pub struct Import {
        /// The stack that exports it.
        always "sourceStack" => source_stack: String,
        /// That stack's region.
        always "sourceRegion" => source_region: String,
        /// The name that it is exported under.
        always "exportName" => export_name: String,
    }
}

impl StackState {
    /// What this stack imports from another. A state that says nothing of imports is known to import nothing.
    pub fn imports_from<'a>(&'a self, source: &'a StackKey) -> impl Iterator<Item = &'a Import> {
        self.imports.iter().flatten().filter(|import| {
            import.source_stack == source.stack.as_str() && import.source_region == source.region.as_str()
        })
    }
}

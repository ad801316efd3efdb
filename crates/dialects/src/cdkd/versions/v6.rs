//! Version 6: stacks in stacks. A nested stack has a state of its own, which names its parent.

use super::super::{Resource, StackKey, StackName, StackState};
use super::{Step, nothing};

pub(super) const STEP: Step = Step {
    version: 6,
    stack: &["parentStack", "parentLogicalId", "parentRegion"],
    resource: &[],
    upgrade: nothing,
};

/// The type of a resource that is a nested stack.
const NESTED_STACK: &str = "AWS::CloudFormation::Stack";

/// Where a nested stack belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent<'a> {
    /// The stack that it is a resource of.
    pub stack: &'a str,
    /// Its logical id there.
    pub logical_id: &'a str,
    /// That stack's region.
    pub region: &'a str,
}

impl StackState {
    /// The parent of a nested stack. A state that names none is that of a stack on its own.
    #[must_use]
    pub fn parent(&self) -> Option<Parent<'_>> {
        Some(Parent {
            stack: self.parent_stack.as_deref()?,
            logical_id: self.parent_logical_id.as_deref().unwrap_or_default(),
            region: self.parent_region.as_deref().unwrap_or(&self.region),
        })
    }

    /// Makes it the state of a nested stack.
    pub fn nest_in(&mut self, parent: &StackKey, logical_id: &str) {
        self.parent_stack = Some(parent.stack.as_str().to_owned());
        self.parent_logical_id = Some(logical_id.to_owned());
        self.parent_region = Some(parent.region.as_str().to_owned());
    }

    /// The keys of the stacks that are nested directly in this one. A logical id that cannot be in a key is left out.
    pub fn children<'a>(&'a self, key: &'a StackKey) -> impl Iterator<Item = StackKey> + 'a {
        self.resources.iter().filter(|(_, resource)| resource.is_nested_stack()).filter_map(|(id, _)| {
            let stack = StackName::nested(&key.stack, id).ok()?;
            Some(StackKey { stack, region: key.region.clone() })
        })
    }
}

impl Resource {
    /// Whether the resource is a nested stack.
    #[must_use]
    pub fn is_nested_stack(&self) -> bool {
        self.resource_type == NESTED_STACK
    }
}

//! What is not sound in a state.

use super::{StackKey, StackName, StackState};
use std::collections::{BTreeMap, BTreeSet};

/// A rule that a state breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The file names the stack that its key names.
    Name,
    /// The file names the region that its key names.
    Region,
    /// A resource has a physical id.
    PhysicalId,
    /// A resource has a type.
    Type,
    /// What a resource needs is there.
    Dependency,
    /// No resource needs itself, by whatever way.
    Cycle,
    /// A nested stack names its parent, its logical id there and the parent's region, and is called after them.
    Parent,
}

/// Something that is not sound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The rule that is broken.
    pub rule: Rule,
    /// The resource that breaks it; `None` for the stack itself.
    pub resource: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl StackState {
    /// Everything that is not sound in the state of a stack; nothing when all is well.
    #[must_use]
    pub fn check(&self, key: &StackKey) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut tell = |rule, resource: Option<&str>, message: String| {
            problems.push(Problem { rule, resource: resource.map(str::to_owned), message });
        };
        if self.stack_name != key.stack.as_str() {
            tell(
                Rule::Name,
                None,
                format!("it stands at the key of {} but names {}", key.stack, self.stack_name),
            );
        }
        if !self.fits(&key.region) {
            tell(
                Rule::Region,
                None,
                format!("it stands at the key of {} but names {}", key.region, self.region),
            );
        }
        if let Some(message) = self.parent_problem() {
            tell(Rule::Parent, None, message);
        }
        for (id, resource) in self.resources.iter() {
            if resource.physical_id.is_empty() {
                tell(Rule::PhysicalId, Some(id), "it has no physical id".to_owned());
            }
            if resource.resource_type.is_empty() {
                tell(Rule::Type, Some(id), "it has no type".to_owned());
            }
            for missing in resource.needs().iter().filter(|need| !self.resources.contains(need)) {
                tell(Rule::Dependency, Some(id), format!("it needs {missing}, which is not there"));
            }
        }
        for id in self.in_cycles() {
            tell(Rule::Cycle, Some(id), "it needs itself, by way of what it needs".to_owned());
        }
        problems
    }

    fn parent_problem(&self) -> Option<String> {
        let named = [&self.parent_stack, &self.parent_logical_id, &self.parent_region];
        if named.iter().all(|name| name.is_none()) {
            return None;
        }
        if named.iter().any(|name| name.is_none()) {
            return Some("it names its parent only in part".to_owned());
        }
        let parent = self.parent()?;
        let expected = StackName::parse(parent.stack)
            .and_then(|stack| StackName::nested(&stack, parent.logical_id))
            .map(|name| name.to_string());
        match expected {
            Ok(expected) if expected == self.stack_name => None,
            Ok(expected) => Some(format!("it is called {} and not {expected}", self.stack_name)),
            Err(error) => Some(error.to_string()),
        }
    }

    /// The resources that need themselves: what is left when those are taken away, again and again, that need nothing
    /// which is left, and those that nothing left needs.
    fn in_cycles(&self) -> BTreeSet<&str> {
        let mut left: BTreeMap<&str, BTreeSet<&str>> = self
            .resources
            .iter()
            .map(|(id, resource)| (id, resource.needs().iter().map(String::as_str).collect()))
            .collect();
        loop {
            let needed: BTreeSet<&str> = left.values().flatten().copied().collect();
            let free: Vec<&str> = left
                .iter()
                .filter(|(id, needs)| {
                    !needed.contains(*id) || !needs.iter().any(|need| left.contains_key(need))
                })
                .map(|(id, _)| *id)
                .collect();
            if free.is_empty() {
                return left.into_keys().collect();
            }
            free.into_iter().for_each(|id| drop(left.remove(id)));
        }
    }
}

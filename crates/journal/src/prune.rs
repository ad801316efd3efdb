//! Dropping references to what a refresh found gone.

use drystone_model::{Resource, Urn};
use std::collections::HashSet;

/// Drops references to resources that do not stand before the one that refers, and parents that are not there at all:
/// one that only waits to be deleted is no parent of what stands before it.
///
/// A refresh removes what is gone from the middle of the list, whoever refers to it. A resource that has a new name is
/// not gone: references by its aliases stay. Properties that depend on nothing are dropped with those whose
/// dependencies are gone. Views keep what they are a view of.
pub fn prune_references(resources: &mut [Resource]) {
    let mut before = HashSet::<Urn>::with_capacity(resources.len());
    let living = resources.iter().filter(|resource| !resource.delete);
    let live: HashSet<Urn> = living
        .flat_map(|resource| std::iter::once(&resource.urn).chain(&resource.aliases))
        .cloned()
        .collect();
    for resource in &mut *resources {
        let there = |urn: &Urn| before.contains(urn);
        resource.dependencies.retain(there);
        resource.replace_with.retain(there);
        resource.property_dependencies.retain(|_, urns| {
            urns.as_mut().is_some_and(|urns| {
                urns.retain(there);
                !urns.is_empty()
            })
        });
        if !there(&resource.deleted_with) {
            resource.deleted_with = Urn::default();
        }
        if !there(&resource.parent) && !live.contains(&resource.parent) {
            resource.parent = Urn::default();
        }
        before.insert(resource.urn.clone());
        before.extend(resource.aliases.iter().cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_to_what_is_gone_or_comes_later_are_dropped() {
        let mut resources: Vec<Resource> = serde_json::from_value(json!([
            {"urn": "a", "dependencies": ["b"], "parent": "late"},
            {"urn": "b", "dependencies": ["gone", "a", "a"], "replaceWith": ["gone", "a"], "deletedWith": "gone",
             "parent": "gone", "viewOf": "gone", "propertyDependencies": {"p": ["a", "gone"], "q": ["gone"], "r": [], "s": null}},
            {"urn": "late", "deletedWith": "b"},
        ]))
        .unwrap();
        prune_references(&mut resources);
        assert_eq!(
            serde_json::to_value(&resources).unwrap(),
            json!([
                {"urn": "a", "custom": false, "type": "", "parent": "late"},
                {"urn": "b", "custom": false, "type": "", "dependencies": ["a", "a"], "replaceWith": ["a"],
                 "viewOf": "gone", "propertyDependencies": {"p": ["a"]}},
                {"urn": "late", "custom": false, "type": "", "deletedWith": "b"},
            ])
        );
    }

    #[test]
    fn what_only_waits_to_be_deleted_is_no_parent_of_what_stands_before_it() {
        let mut resources: Vec<Resource> = serde_json::from_value(json!([
            {"urn": "before", "parent": "a"},
            {"urn": "a", "delete": true},
            {"urn": "behind", "parent": "a"},
        ]))
        .unwrap();
        prune_references(&mut resources);
        let parents: Vec<&str> = resources.iter().map(|resource| resource.parent.as_str()).collect();
        assert_eq!(parents, ["", "", "a"]);
    }

    #[test]
    fn a_renamed_resource_is_not_gone() {
        let mut resources: Vec<Resource> = serde_json::from_value(json!([
            {"urn": "new", "aliases": ["old"]},
            {"urn": "a", "parent": "old", "dependencies": ["old"], "deletedWith": "old"},
        ]))
        .unwrap();
        let before = resources.clone();
        prune_references(&mut resources);
        assert_eq!(resources, before);
    }
}

//! Settling names: references by an alias become references by the name that the resource has now.

use crate::{ProviderReference, ROOT_STACK_TYPE, Resource, Snapshot, Urn};
use std::collections::HashMap;

/// Two resources claim the same former name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{first}` and `{second}` have the same alias `{alias}`")]
pub struct DuplicateAlias {
    /// The name that both claim.
    pub alias: Urn,
    /// The resource that claims it first.
    pub first: Urn,
    /// The other one.
    pub second: Urn,
}

/// Rewrites every reference by an alias to the name that the resource has now, and drops the aliases.
///
/// A child of a resource that got a new type gets a new name too. A name is looked up once: an alias of an alias is
/// not followed. Snippets are rewritten, pending operations are not. Malformed names and provider references stay as
/// they are. When two resources claim the same alias, nothing is changed.
///
/// Costs the number of resources and references; without any alias, a look at each resource.
pub fn normalize(snapshot: &mut Snapshot) -> Result<(), DuplicateAlias> {
    if snapshot.resources.iter().all(|resource| resource.aliases.is_empty()) {
        return Ok(());
    }
    let names = Names::collect(&snapshot.resources)?;
    for resource in &mut snapshot.resources {
        names.settle(resource);
    }
    for reference in snapshot.snippets.iter_mut().flat_map(|snippet| snippet.references.values_mut()) {
        names.settle_urn(reference);
    }
    Ok(())
}

/// Former names and what they are now.
struct Names(HashMap<Urn, Urn>);

impl Names {
    fn collect(resources: &[Resource]) -> Result<Self, DuplicateAlias> {
        let mut now = HashMap::<Urn, Urn>::new();
        for resource in resources {
            for alias in resource.aliases.iter().filter(|alias| !alias.is_empty()) {
                match now.insert(alias.clone(), resource.urn.clone()) {
                    Some(first) if first != resource.urn => {
                        let second = resource.urn.clone();
                        return Err(DuplicateAlias { alias: alias.clone(), first, second });
                    }
                    _ => {}
                }
            }
            if let Some(moved) = now.get(&resource.parent).and_then(|parent| under(&resource.urn, parent)) {
                now.insert(resource.urn.clone(), moved);
            }
        }
        Ok(Self(now))
    }

    fn settle(&self, resource: &mut Resource) {
        self.settle_urn(&mut resource.urn);
        self.settle_urn(&mut resource.parent);
        self.settle_provider(&mut resource.provider);
        resource.dependencies.iter_mut().for_each(|urn| self.settle_urn(urn));
        let property_dependencies = resource.property_dependencies.values_mut().flatten().flatten();
        property_dependencies.for_each(|urn| self.settle_urn(urn));
        self.settle_urn(&mut resource.deleted_with);
        resource.replace_with.iter_mut().for_each(|urn| self.settle_urn(urn));
        self.settle_urn(&mut resource.view_of);
        resource.aliases.clear();
    }

    fn settle_urn(&self, urn: &mut Urn) {
        if let Some(now) = self.0.get(urn) {
            *urn = now.clone();
        }
    }

    fn settle_provider(&self, provider: &mut String) {
        let Some(reference) = ProviderReference::parse(provider) else { return };
        let Some(now) = self.0.get(&reference.urn) else { return };
        let settled = ProviderReference { urn: now.clone(), id: reference.id }.to_string();
        if ProviderReference::parse(&settled).is_some() {
            *provider = settled;
        }
    }
}

/// The name of a child whose parent is now called `parent`; `None` when the child keeps its name.
fn under(child: &Urn, parent: &Urn) -> Option<Urn> {
    let well_formed = child.validate().is_ok() && parent.validate().is_ok();
    (well_formed && parent.qualified_type() != ROOT_STACK_TYPE)
        .then(|| child.reparented(parent.qualified_type()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn urn(qualified_type: &str, name: &str) -> String {
        format!("urn:pulumi:dev::shop::{qualified_type}::{name}")
    }

    fn snapshot(value: serde_json::Value) -> Snapshot {
        serde_json::from_value(value).unwrap()
    }

    fn normalized(value: serde_json::Value) -> serde_json::Value {
        let mut snapshot = snapshot(value);
        normalize(&mut snapshot).unwrap();
        serde_json::to_value(&snapshot).unwrap()
    }

    #[test]
    fn every_kind_of_reference_follows_the_new_name() {
        let (old, new) = (urn("a:b:C", "old"), urn("a:b:C", "new"));
        let provider = |name: &str| format!("{}::0c5b", urn("pulumi:providers:aws", name));
        let document = |target: &str, provider: &str| {
            json!([
                {"urn": urn("a:b:D", "user"), "custom": true, "type": "a:b:D", "id": "1", "parent": target,
                 "dependencies": ["urn:odd", target], "provider": provider,
                 "propertyDependencies": {"p": [target], "q": []},
                 "deletedWith": target, "replaceWith": [target], "viewOf": target},
            ])
        };
        let mut before = document(&old, &provider("before"));
        let resources = before.as_array_mut().unwrap();
        resources.insert(0, json!({"urn": new, "custom": false, "type": "a:b:C", "aliases": [old, old]}));
        resources.insert(1, json!({"urn": urn("pulumi:providers:aws", "after"), "custom": true,
            "type": "pulumi:providers:aws", "id": "0c5b", "aliases": [urn("pulumi:providers:aws", "before")]}));
        let after =
            normalized(json!({"resources": before, "snippets": [{"uuid": "1", "references": {"x": old}}]}));
        let mut user = document(&new, &provider("after"))[0].clone();
        user["urn"] = json!(urn("a:b:C$a:b:D", "user"));
        assert_eq!(after["resources"][2], user);
        assert_eq!(after["resources"][0].get("aliases"), None);
        assert_eq!(after["snippets"][0]["references"]["x"], json!(new));
    }

    #[test]
    fn descendants_of_a_retyped_parent_get_new_names() {
        let (old, new) = (urn("a:b:Old", "p"), urn("a:b:New", "p"));
        let (child, grandchild) = (urn("a:b:Old$c:d:E", "c"), urn("a:b:Old$c:d:E$c:d:F", "g"));
        let after = normalized(json!({"resources": [
            {"urn": new, "type": "a:b:New", "aliases": [old]},
            {"urn": child, "type": "c:d:E", "parent": old},
            {"urn": grandchild, "type": "c:d:F", "parent": child},
            {"urn": urn("c:d:F", "h"), "type": "c:d:F", "dependencies": [grandchild, child]},
        ]}));
        let (child, grandchild) = (urn("a:b:New$c:d:E", "c"), urn("a:b:New$c:d:E$c:d:F", "g"));
        assert_eq!(after["resources"][1]["urn"], json!(child));
        assert_eq!(after["resources"][2]["urn"], json!(grandchild));
        assert_eq!(after["resources"][2]["parent"], json!(child));
        assert_eq!(after["resources"][3]["dependencies"], json!([grandchild, child]));
    }

    #[test]
    fn children_of_a_renamed_root_keep_their_names() {
        let (old, new) = (urn(ROOT_STACK_TYPE, "old"), urn(ROOT_STACK_TYPE, "new"));
        let child = urn("c:d:E", "c");
        let after = normalized(json!({"resources": [
            {"urn": new, "type": ROOT_STACK_TYPE, "aliases": [old]},
            {"urn": child, "type": "c:d:E", "parent": old},
        ]}));
        assert_eq!(after["resources"][1]["urn"], json!(child));
        assert_eq!(after["resources"][1]["parent"], json!(new));
    }

    #[test]
    fn an_alias_of_an_alias_is_not_followed() {
        let (a, b, c) = (urn("a:b:C", "a"), urn("a:b:C", "b"), urn("a:b:C", "c"));
        let after = normalized(json!({"resources": [
            {"urn": b, "type": "a:b:C", "aliases": [a]},
            {"urn": c, "type": "a:b:C", "aliases": [b]},
            {"urn": urn("a:b:C", "d"), "type": "a:b:C", "dependencies": [a, b]},
        ]}));
        assert_eq!(after["resources"][2]["dependencies"], json!([b, c]));
    }

    #[test]
    fn a_contested_alias_is_an_error_that_changes_nothing() {
        let (a, b, old) = (urn("a:b:C", "a"), urn("a:b:C", "b"), urn("a:b:C", "old"));
        let mut snapshot = snapshot(json!({"resources": [
            {"urn": a, "type": "a:b:C", "aliases": [old]},
            {"urn": b, "type": "a:b:C", "dependencies": [old], "aliases": [old]},
        ]}));
        let before = snapshot.clone();
        let error = normalize(&mut snapshot).unwrap_err();
        assert_eq!((error.first.as_str(), error.second.as_str(), error.alias.as_str()), (&*a, &*b, &*old));
        assert_eq!(snapshot, before);
    }

    #[test]
    fn malformed_names_and_provider_references_are_left_alone() {
        let odd = json!({"urn": "odd", "custom": true, "type": "a:b:C", "parent": "older", "provider": "no reference"});
        let after = normalized(json!({"resources": [
            {"urn": urn("a:b:C", "a"), "custom": false, "type": "a:b:C", "aliases": ["older", ""]},
            odd,
            {"urn": urn("a:b:C", "b"), "custom": false, "type": "a:b:C"},
        ]}));
        let mut expected = odd.clone();
        expected["parent"] = json!(urn("a:b:C", "a"));
        assert_eq!(after["resources"][1], expected);
        assert_eq!(after["resources"][2].get("parent"), None, "an empty alias names nothing");
    }
}

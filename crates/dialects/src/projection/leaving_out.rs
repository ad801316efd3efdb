//! Taking away what no provider serves.

use drystone_model::{Resource, Snapshot, Urn, is_provider_type};
use std::collections::HashMap;

/// Takes the resources of a package out of a snapshot, its provider too, and gives those resources back. What depended
/// on one of them depends on what that one needed.
pub fn leave_out(snapshot: &mut Snapshot, package: &str) -> Vec<Resource> {
    let provider = format!("pulumi:providers:{package}");
    let is_of = |resource: &Resource| {
        resource.type_token == provider || super::package(&resource.type_token) == package
    };
    let mut gone: HashMap<Urn, Vec<Urn>> = HashMap::new();
    let mut left_out = Vec::new();
    for mut resource in std::mem::take(&mut snapshot.resources) {
        resource.dependencies = inherited(&resource.dependencies, &gone);
        if is_of(&resource) {
            gone.insert(resource.urn.clone(), resource.dependencies.clone());
            left_out.push(resource);
        } else {
            snapshot.resources.push(resource);
        }
    }
    left_out.retain(|resource| !is_provider_type(&resource.type_token));
    left_out
}

/// Dependencies without what is gone: instead, what that needed. Each comes once. What stands before a resource has its
/// own dependencies settled already, so that one step is enough.
fn inherited(dependencies: &[Urn], gone: &HashMap<Urn, Vec<Urn>>) -> Vec<Urn> {
    let mut settled = Vec::new();
    for urn in dependencies {
        let instead = gone.get(urn).map_or(std::slice::from_ref(urn), Vec::as_slice);
        for urn in instead {
            if !settled.contains(urn) {
                settled.push(urn.clone());
            }
        }
    }
    settled
}

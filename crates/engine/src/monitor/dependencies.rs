//! What each input of a resource depends on.

use crate::{PropertyMap, RegisterRequest};
use drystone_model::{Urn, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// Fills in what a program leaves unsaid: without dependencies of its own, every input depends on everything that the
/// resource does; and an input depends on what its output values come from.
pub(crate) fn complete(request: &mut RegisterRequest) {
    if request.property_dependencies.is_empty() && !request.remote {
        let all = request.dependencies.clone();
        request.property_dependencies =
            request.properties.keys().map(|key| (key.clone(), all.clone())).collect();
    }
    for (key, value) in &request.properties {
        let known = request.property_dependencies.entry(key.clone()).or_default();
        for urn in sources(value) {
            if !known.contains(&urn) {
                known.push(urn);
            }
        }
    }
}

/// The resources that the output values inside a value come from.
pub(crate) fn sources(value: &Value) -> BTreeSet<Urn> {
    let mut found = BTreeSet::new();
    let _ = value.visit(&mut |value| {
        if let Value::Output(output) = value {
            found.extend(output.dependencies.iter().cloned());
        }
        ControlFlow::<()>::Continue(())
    });
    found
}

/// Turns output values into plain, secret and unknown ones.
pub(crate) fn lower(properties: &mut PropertyMap) {
    for value in properties.values_mut() {
        value.lower_outputs();
    }
}

/// The dependencies of several members, those inside their output values added.
pub(crate) fn with_sources(
    properties: &PropertyMap,
    mut dependencies: BTreeMap<String, Vec<Urn>>,
) -> BTreeMap<String, Vec<Urn>> {
    for (key, value) in properties {
        let known = dependencies.entry(key.clone()).or_default();
        for urn in sources(value) {
            if !known.contains(&urn) {
                known.push(urn);
            }
        }
    }
    dependencies
}

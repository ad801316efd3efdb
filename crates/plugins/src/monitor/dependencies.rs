//! What properties depend on: inside of values on the wire, beside them in the engine.

use crate::wire::Properties;
use drystone_model::{Computed, Output, Secret, Urn, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// What each property depends on.
pub(crate) type PropertyDependencies = BTreeMap<String, Vec<Urn>>;

/// Adds what the values themselves say they depend on.
pub(crate) fn extend(dependencies: &mut PropertyDependencies, properties: &Properties) {
    for (key, value) in properties {
        let mut found = BTreeSet::new();
        let _: ControlFlow<()> = value.visit(&mut |inner| {
            if let Value::Output(output) = inner {
                found.extend(output.dependencies.iter().cloned());
            }
            ControlFlow::Continue(())
        });
        let known = dependencies.entry(key.clone()).or_default();
        found.retain(|urn| !known.contains(urn));
        known.extend(found);
    }
}

/// Replaces outputs by what the state keeps of them.
pub(crate) fn lower(properties: &mut Properties) {
    properties.values_mut().for_each(Value::lower_outputs);
}

/// Makes outputs of properties that depend on something, so that a program's function sees it.
pub(crate) fn raise(properties: &mut Properties, dependencies: &PropertyDependencies) {
    for (key, value) in properties {
        let Some(urns) = dependencies.get(key).filter(|urns| !urns.is_empty()) else { continue };
        let mut output = match std::mem::take(value) {
            Value::Output(output) => *output,
            Value::Computed(_) => Output::default(),
            Value::Secret(Secret::Open(inner)) => {
                let known = !matches!(*inner, Value::Computed(Computed::String));
                Output { value: known.then_some(*inner), secret: true, dependencies: Vec::new() }
            }
            other => Output { value: Some(other), secret: false, dependencies: Vec::new() },
        };
        for urn in urns {
            if !output.dependencies.contains(urn) {
                output.dependencies.push(urn.clone());
            }
        }
        *value = Value::Output(Box::new(output));
    }
}

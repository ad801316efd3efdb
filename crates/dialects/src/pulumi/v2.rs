//! Version 2: what a resource depends on is known for the whole resource, not for each input.

use super::scan::member_names;
use drystone_model::{Resource, Snapshot};

/// Brings a snapshot of version 2 to version 3.
pub(super) fn upgrade(mut snapshot: Snapshot) -> Snapshot {
    let operations = snapshot.pending_operations.iter_mut().map(|operation| &mut operation.resource);
    snapshot.resources.iter_mut().chain(operations).for_each(upgrade_resource);
    snapshot
}

/// To be on the safe side, every input depends on everything that the resource depends on.
fn upgrade_resource(resource: &mut Resource) {
    let dependencies = (!resource.dependencies.is_empty()).then(|| resource.dependencies.clone());
    resource.property_dependencies = member_names(resource.inputs.text())
        .into_iter()
        .map(|name| (name.into_owned(), dependencies.clone()))
        .collect();
}

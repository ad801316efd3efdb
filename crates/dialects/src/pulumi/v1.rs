//! Version 1, and the files from before versions: no first-class providers, no resources that were only read.

use drystone_model::{Resource, Snapshot};

/// Brings a snapshot of version 1 to version 2.
pub(super) fn upgrade(mut snapshot: Snapshot) -> Snapshot {
    let operations = snapshot.pending_operations.iter_mut().map(|operation| &mut operation.resource);
    snapshot.resources.iter_mut().chain(operations).for_each(upgrade_resource);
    snapshot
}

/// Defaults were kept apart and used by nothing; they are the one thing that is dropped.
fn upgrade_resource(resource: &mut Resource) {
    resource.extra.0.retain(|(key, _)| key != "defaults");
    resource.external = false;
    resource.provider.clear();
}

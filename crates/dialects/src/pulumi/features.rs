//! Which features a written document names.

use super::signature;
use drystone_model::{Feature, Features, Resource, Snapshot};

/// The features that a snapshot visibly uses. As the stock CLI writes them: pending operations count for byte strings
/// only. Sealed secrets may hold byte strings that cannot be seen:
/// [`Checkpoint::byte_strings`](super::Checkpoint::byte_strings) remembers them.
#[must_use]
pub fn features(snapshot: &Snapshot) -> Features {
    let mut used =
        snapshot.resources.iter().map(Features::of_resource).fold(Features::default(), Features::union);
    if !snapshot.snippets.is_empty() {
        used.insert(Feature::Snippets);
    }
    let operations = snapshot.pending_operations.iter().map(|operation| &operation.resource);
    if snapshot.resources.iter().chain(operations).any(holds_byte_string) {
        used.insert(Feature::ByteString);
    }
    used
}

fn holds_byte_string(resource: &Resource) -> bool {
    let stored = [resource.inputs.json(), resource.outputs.json(), resource.replacement_trigger.as_ref()];
    stored.into_iter().flatten().any(|json| json.text().contains(signature::BYTE_STRING))
}

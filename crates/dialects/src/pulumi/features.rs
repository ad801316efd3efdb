//! The features that make a state version 4.

use super::signature;
use drystone_model::{Resource, Snapshot};
use std::{collections::BTreeSet, fmt};

/// Something in a state that older tools would lose, so that they must refuse it. In the order that they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// Text that is not valid UTF-8.
    ByteString,
    /// Resources of a package that was extended.
    ExtensionParameterization,
    /// Hooks that run around operations.
    Hooks,
    /// Resources that are refreshed before every update.
    RefreshBeforeUpdate,
    /// Resources that are replaced together with others.
    ReplaceWith,
    /// Pieces of program kept with the state.
    Snippets,
    /// Resources to be replaced by the next update.
    Taint,
    /// Resources that are views of others.
    Views,
}

impl Feature {
    /// Every feature that this version knows.
    pub const ALL: [Self; 8] = [
        Self::ByteString,
        Self::ExtensionParameterization,
        Self::Hooks,
        Self::RefreshBeforeUpdate,
        Self::ReplaceWith,
        Self::Snippets,
        Self::Taint,
        Self::Views,
    ];

    /// The name that the state uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ByteString => "byteString",
            Self::ExtensionParameterization => "extensionParameterization",
            Self::Hooks => "hooks",
            Self::RefreshBeforeUpdate => "refreshBeforeUpdate",
            Self::ReplaceWith => "replaceWith",
            Self::Snippets => "snippets-prototype",
            Self::Taint => "taint",
            Self::Views => "views",
        }
    }

    /// The feature of that name, if this version knows it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|feature| feature.name() == name)
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The features that a snapshot visibly uses. Sealed secrets may hold byte strings that cannot be seen:
/// [`Checkpoint::byte_strings`](super::Checkpoint::byte_strings) remembers them.
#[must_use]
pub fn features(snapshot: &Snapshot) -> BTreeSet<Feature> {
    let mut used = BTreeSet::new();
    for resource in &snapshot.resources {
        let conditions = [
            (resource.refresh_before_update, Feature::RefreshBeforeUpdate),
            (!resource.view_of.is_empty(), Feature::Views),
            (!resource.resource_hooks.is_empty(), Feature::Hooks),
            (resource.taint, Feature::Taint),
            (!resource.replace_with.is_empty(), Feature::ReplaceWith),
            (!resource.extension_ref.is_empty(), Feature::ExtensionParameterization),
            (!resource.snippet_id.is_empty(), Feature::Snippets),
        ];
        used.extend(conditions.into_iter().filter(|(uses, _)| *uses).map(|(_, feature)| feature));
    }
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

//! What a snapshot uses that older tools cannot read.

use crate::{Resource, Snapshot};
use serde::{Serialize, Serializer};

/// A part of the state format that came after schema version 3. A reader that does not know a feature refuses the
/// snapshot (S9).
///
/// The order is that of the names, which is the order they are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Feature {
    /// Strings that are not valid UTF-8.
    ByteString,
    /// Resources of an extended package.
    ExtensionParameterization,
    /// Resources with hooks.
    Hooks,
    /// Resources that are refreshed before every update.
    RefreshBeforeUpdate,
    /// Resources that are replaced together with others.
    ReplaceWith,
    /// Snippets, or resources that one registers.
    Snippets,
    /// Resources that the next update replaces.
    Taint,
    /// Resources that are views of others.
    Views,
}

impl Feature {
    /// Every feature, in the order of the names.
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

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl Serialize for Feature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A set of features. Written as the list of their names, sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Features(u8);

impl Features {
    /// What one resource needs. Byte strings are not seen here: they may hide inside sealed secrets.
    #[must_use]
    pub fn of_resource(resource: &Resource) -> Self {
        [
            (!resource.extension_ref.is_empty(), Feature::ExtensionParameterization),
            (!resource.resource_hooks.is_empty(), Feature::Hooks),
            (resource.refresh_before_update, Feature::RefreshBeforeUpdate),
            (!resource.replace_with.is_empty(), Feature::ReplaceWith),
            (!resource.snippet_id.is_empty(), Feature::Snippets),
            (resource.taint, Feature::Taint),
            (!resource.view_of.is_empty(), Feature::Views),
        ]
        .into_iter()
        .filter_map(|(needed, feature)| needed.then_some(feature))
        .collect()
    }

    /// What a snapshot needs: its resources, its pending operations and its snippets.
    ///
    /// `byte_strings` says that a property somewhere holds a byte string, which whoever sealed the secrets knows. It
    /// counts only when there is a resource or an operation that can hold one.
    #[must_use]
    pub fn of_snapshot(snapshot: &Snapshot, byte_strings: bool) -> Self {
        let operations = snapshot.pending_operations.iter().map(|operation| &operation.resource);
        let mut features = Self::default();
        let mut any = false;
        for resource in snapshot.resources.iter().chain(operations) {
            features = features.union(Self::of_resource(resource));
            any = true;
        }
        if byte_strings && any {
            features.insert(Feature::ByteString);
        }
        if !snapshot.snippets.is_empty() {
            features.insert(Feature::Snippets);
        }
        features
    }

    /// Adds a feature.
    pub fn insert(&mut self, feature: Feature) {
        self.0 |= feature.bit();
    }

    /// The features of both sets.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the feature is in the set.
    #[must_use]
    pub fn contains(self, feature: Feature) -> bool {
        self.0 & feature.bit() != 0
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The features in the order of their names.
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.into_iter().filter(move |&feature| self.contains(feature))
    }

    /// The schema version of a snapshot that needs these features: 4 when there is any, 3 otherwise.
    #[must_use]
    pub fn schema_version(self) -> u32 {
        if self.is_empty() { 3 } else { 4 }
    }
}

impl FromIterator<Feature> for Features {
    fn from_iter<I: IntoIterator<Item = Feature>>(features: I) -> Self {
        let mut set = Self::default();
        features.into_iter().for_each(|feature| set.insert(feature));
        set
    }
}

impl Serialize for Features {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Operation, Snippet, Urn};

    fn resource(json: &str) -> Resource {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn names_are_sorted_and_read_back() {
        let names = Feature::ALL.map(Feature::name);
        assert!(names.is_sorted());
        for feature in Feature::ALL {
            assert_eq!(Feature::from_name(feature.name()), Some(feature));
        }
        assert_eq!(Feature::from_name("snippets"), None);
        let all: Features = Feature::ALL.into_iter().rev().collect();
        assert_eq!(serde_json::to_value(all).unwrap(), serde_json::json!(names));
    }

    #[test]
    fn each_field_needs_its_feature() {
        let cases = [
            (r#"{"refreshBeforeUpdate":true}"#, Feature::RefreshBeforeUpdate),
            (r#"{"viewOf":"urn:pulumi:a::b::c:d:E::f"}"#, Feature::Views),
            (r#"{"resourceHooks":{"BeforeCreate":["h"]}}"#, Feature::Hooks),
            (r#"{"taint":true}"#, Feature::Taint),
            (r#"{"replaceWith":["urn:pulumi:a::b::c:d:E::f"]}"#, Feature::ReplaceWith),
            (r#"{"snippetID":"1"}"#, Feature::Snippets),
            (r#"{"extensionRef":"1"}"#, Feature::ExtensionParameterization),
        ];
        for (json, feature) in cases {
            assert_eq!(Features::of_resource(&resource(json)), [feature].into_iter().collect(), "{json}");
        }
        let plain = resource(r#"{"resourceHooks":{},"replaceWith":[],"protect":true,"aliases":["x"]}"#);
        assert!(Features::of_resource(&plain).is_empty());
    }

    #[test]
    fn pending_operations_and_snippets_count() {
        let mut snapshot = Snapshot::default();
        assert_eq!(Features::of_snapshot(&snapshot, true).schema_version(), 3, "nothing holds a byte string");
        snapshot
            .pending_operations
            .push(Operation { resource: resource(r#"{"taint":true}"#), ..Default::default() });
        snapshot.resources.push(Resource { view_of: Urn::new("x"), ..Default::default() });
        snapshot.snippets.push(Snippet::default());
        let features = Features::of_snapshot(&snapshot, true);
        let expected = [Feature::ByteString, Feature::Snippets, Feature::Taint, Feature::Views];
        assert_eq!(features.iter().collect::<Vec<_>>(), expected);
        assert_eq!(features.schema_version(), 4);
        assert!(!Features::of_snapshot(&snapshot, false).contains(Feature::ByteString));
    }
}

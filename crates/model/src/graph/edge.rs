//! The edges of a resource: the one place that knows which of its members name other resources.

use crate::{ProviderReference, Resource, Urn};
use std::fmt;

/// Why a resource refers to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    /// The target is the provider that manages it.
    Provider,
    /// The target is its parent.
    Parent,
    /// The target is in its `dependencies`.
    Dependency,
    /// The target is in the dependencies of one of its properties.
    PropertyDependency,
    /// Deleting the target deletes it too.
    DeletedWith,
    /// Replacing the target replaces it too.
    ReplaceWith,
    /// It is a view of the target.
    ViewOf,
}

impl EdgeKind {
    /// Every kind, in the order in which [`edges`] gives them.
    pub const ALL: [Self; 7] = [
        Self::Provider,
        Self::Parent,
        Self::Dependency,
        Self::PropertyDependency,
        Self::DeletedWith,
        Self::ReplaceWith,
        Self::ViewOf,
    ];

    /// What the target is to the resource, as in "its parent".
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Parent => "parent",
            Self::Dependency => "dependency",
            Self::PropertyDependency => "property dependency",
            Self::DeletedWith => "`deletedWith` target",
            Self::ReplaceWith => "`replaceWith` target",
            Self::ViewOf => "`viewOf` target",
        }
    }

    /// What the resource does with the target, as in "which depends on it".
    #[must_use]
    pub fn verb(self) -> &'static str {
        match self {
            Self::Provider => "is managed by it",
            Self::Parent => "is its child",
            Self::Dependency | Self::PropertyDependency => "depends on it",
            Self::DeletedWith => "is deleted with it",
            Self::ReplaceWith => "is replaced with it",
            Self::ViewOf => "is a view of it",
        }
    }
}

impl fmt::Display for EdgeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.noun())
    }
}

/// One reference from a resource to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge<'a> {
    /// Why it refers to it.
    pub kind: EdgeKind,
    /// The URN of the target; the whole text of a provider reference that cannot be read.
    pub urn: &'a str,
    /// The property that a property dependency belongs to.
    pub property: Option<&'a str>,
    /// The whole text of a provider reference that can be read, `<urn>::<id>`.
    pub provider: Option<&'a str>,
}

impl<'a> Edge<'a> {
    fn new(kind: EdgeKind, urn: &'a str) -> Self {
        Self { kind, urn, property: None, provider: None }
    }

    fn of_property(property: &'a str, urn: &'a str) -> Self {
        Self { property: Some(property), ..Self::new(EdgeKind::PropertyDependency, urn) }
    }

    fn of_provider(reference: &'a str) -> Self {
        let edge = Self::new(EdgeKind::Provider, reference);
        ProviderReference::split(reference).map_or(edge, |(urn, _)| Self {
            urn,
            provider: Some(reference),
            ..edge
        })
    }

    /// The id in a provider reference that can be read.
    #[must_use]
    pub fn provider_id(&self) -> Option<&'a str> {
        self.provider?.strip_prefix(self.urn)?.strip_prefix("::")
    }

    /// Whether this is a provider reference that cannot be read, and so leads nowhere.
    #[must_use]
    pub fn is_malformed(&self) -> bool {
        self.kind == EdgeKind::Provider && self.provider.is_none()
    }
}

/// Every reference that a resource makes: provider, parent, dependencies, property dependencies in the order of the
/// properties, deleted-with, replace-with, view-of. Empty names are not references.
pub fn edges<'a>(resource: &'a Resource) -> impl Iterator<Item = Edge<'a>> {
    let one = |kind, urn: &'a Urn| std::iter::once(Edge::new(kind, urn.as_str()));
    let many = |kind, urns: &'a [Urn]| urns.iter().map(move |urn| Edge::new(kind, urn.as_str()));
    let of_properties = resource.property_dependencies.iter().flat_map(|(property, urns)| {
        urns.iter().flatten().map(|urn| Edge::of_property(property, urn.as_str()))
    });
    std::iter::once(Edge::of_provider(&resource.provider))
        .chain(one(EdgeKind::Parent, &resource.parent))
        .chain(many(EdgeKind::Dependency, &resource.dependencies))
        .chain(of_properties)
        .chain(one(EdgeKind::DeletedWith, &resource.deleted_with))
        .chain(many(EdgeKind::ReplaceWith, &resource.replace_with))
        .chain(one(EdgeKind::ViewOf, &resource.view_of))
        .filter(|edge| !edge.urn.is_empty())
}

/// What becomes of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It stays.
    Keep,
    /// It is taken out. A property stays in the property dependencies although nothing is left of its list.
    Drop,
    /// It names this resource from now on.
    Follow(Urn),
}

/// Changes the references of a resource. `decide` is asked once for each of [`edges`], in that order.
pub fn rewrite_edges(resource: &mut Resource, mut decide: impl FnMut(Edge<'_>) -> Fate) {
    if !resource.provider.is_empty() {
        let edge = Edge::of_provider(&resource.provider);
        match decide(edge) {
            Fate::Keep => {}
            Fate::Drop => resource.provider.clear(),
            Fate::Follow(urn) => {
                resource.provider = format!("{urn}::{}", edge.provider_id().unwrap_or_default());
            }
        }
    }
    rewrite_one(&mut resource.parent, |urn| decide(Edge::new(EdgeKind::Parent, urn)));
    rewrite_many(&mut resource.dependencies, |urn| decide(Edge::new(EdgeKind::Dependency, urn)));
    for (property, urns) in &mut resource.property_dependencies {
        if let Some(urns) = urns {
            rewrite_many(urns, |urn| decide(Edge::of_property(property, urn)));
        }
    }
    rewrite_one(&mut resource.deleted_with, |urn| decide(Edge::new(EdgeKind::DeletedWith, urn)));
    rewrite_many(&mut resource.replace_with, |urn| decide(Edge::new(EdgeKind::ReplaceWith, urn)));
    rewrite_one(&mut resource.view_of, |urn| decide(Edge::new(EdgeKind::ViewOf, urn)));
}

fn rewrite_one(urn: &mut Urn, decide: impl FnOnce(&str) -> Fate) {
    if urn.is_empty() {
        return;
    }
    match decide(urn.as_str()) {
        Fate::Keep => {}
        Fate::Drop => *urn = Urn::default(),
        Fate::Follow(target) => *urn = target,
    }
}

fn rewrite_many(urns: &mut Vec<Urn>, mut decide: impl FnMut(&str) -> Fate) {
    urns.retain_mut(|urn| {
        if urn.is_empty() {
            return true;
        }
        match decide(urn.as_str()) {
            Fate::Keep => true,
            Fate::Drop => false,
            Fate::Follow(target) => {
                *urn = target;
                true
            }
        }
    });
}

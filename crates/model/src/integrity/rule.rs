//! The rules by name.

use crate::EdgeKind;
use std::fmt;

/// How bad a violation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The snapshot may be operated on.
    Warning,
    /// Operating on the snapshot is refused.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

macro_rules! rules {
    ($( $(#[$meta:meta])* $severity:ident $name:literal => $rule:ident, )*) => {
        /// Something that must be true of a snapshot. "After" means: later in the list.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Rule {
            $( $(#[$meta])* $rule, )*
        }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Self] = &[$( Self::$rule, )*];

            /// The name by which tools and documents call it; it does not change.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $( Self::$rule => $name, )*
                }
            }

            /// How bad it is to break it.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self {
                    $( Self::$rule => Severity::$severity, )*
                }
            }
        }
    };
}

rules! {
    /// The manifest's magic is the hash of its version.
    Error "magic-mismatch" => MagicMismatch,
    /// A resource has a URN.
    Error "missing-urn" => MissingUrn,
    /// A resource has a type.
    Error "missing-type" => MissingType,
    /// A component has no id.
    Error "id-on-component" => IdOnComponent,
    /// Of the resources with one URN all but one are marked for deletion.
    Error "duplicate-urn" => DuplicateUrn,
    /// A provider's URN is that of a provider.
    Error "unreferenceable-provider" => UnreferenceableProvider,
    /// A provider reference is a provider's URN and an id.
    Error "malformed-provider-reference" => MalformedProviderReference,
    /// The provider of a resource is in the snapshot.
    Error "unknown-provider" => UnknownProvider,
    /// A provider does not come after what it manages.
    Error "provider-after" => ProviderAfter,
    /// The parent of a resource is in the snapshot.
    Error "missing-parent" => MissingParent,
    /// A parent does not come after its child.
    Error "parent-after-child" => ParentAfterChild,
    /// What a resource depends on is in the snapshot.
    Error "missing-dependency" => MissingDependency,
    /// A dependency does not come after what needs it.
    Error "dependency-after" => DependencyAfter,
    /// What a property depends on is in the snapshot.
    Error "missing-property-dependency" => MissingPropertyDependency,
    /// What a property depends on does not come after its resource.
    Error "property-dependency-after" => PropertyDependencyAfter,
    /// What a resource is deleted with is in the snapshot.
    Error "missing-deleted-with" => MissingDeletedWith,
    /// What a resource is deleted with does not come after it.
    Error "deleted-with-after" => DeletedWithAfter,
    /// What a resource is replaced with is in the snapshot.
    Error "missing-replace-with" => MissingReplaceWith,
    /// What a resource is replaced with does not come after it.
    Error "replace-with-after" => ReplaceWithAfter,
    /// A resource is not its own parent or dependency.
    Error "refers-to-itself" => RefersToItself,
    /// A snippet has a UUID.
    Error "snippet-missing-uuid" => SnippetMissingUuid,
    /// No two snippets have the same UUID.
    Error "snippet-duplicate-uuid" => SnippetDuplicateUuid,
    /// A URN has its four parts.
    Warning "malformed-urn" => MalformedUrn,
    /// A child's URN names the types of its parents.
    Warning "parent-type-mismatch" => ParentTypeMismatch,
    /// What a resource is a view of is in the snapshot.
    Warning "missing-view-of" => MissingViewOf,
    /// What a resource is a view of does not come after it.
    Warning "view-of-after" => ViewOfAfter,
    /// The extension that a resource names is in the snapshot.
    Warning "missing-extension" => MissingExtension,
    /// What a snippet names is in the snapshot.
    Warning "snippet-missing-reference" => SnippetMissingReference,
}

impl Rule {
    /// The rule that a reference of this kind leads somewhere.
    pub(crate) fn missing(kind: EdgeKind) -> Self {
        match kind {
            EdgeKind::Provider => Self::UnknownProvider,
            EdgeKind::Parent => Self::MissingParent,
            EdgeKind::Dependency => Self::MissingDependency,
            EdgeKind::PropertyDependency => Self::MissingPropertyDependency,
            EdgeKind::DeletedWith => Self::MissingDeletedWith,
            EdgeKind::ReplaceWith => Self::MissingReplaceWith,
            EdgeKind::ViewOf => Self::MissingViewOf,
        }
    }

    /// The rule that what a reference of this kind leads to comes first.
    pub(crate) fn after(kind: EdgeKind) -> Self {
        match kind {
            EdgeKind::Provider => Self::ProviderAfter,
            EdgeKind::Parent => Self::ParentAfterChild,
            EdgeKind::Dependency => Self::DependencyAfter,
            EdgeKind::PropertyDependency => Self::PropertyDependencyAfter,
            EdgeKind::DeletedWith => Self::DeletedWithAfter,
            EdgeKind::ReplaceWith => Self::ReplaceWithAfter,
            EdgeKind::ViewOf => Self::ViewOfAfter,
        }
    }

    /// Whether the rule is about the order of the list only.
    pub(crate) fn is_about_order(self) -> bool {
        EdgeKind::ALL.iter().any(|&kind| self == Self::after(kind))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

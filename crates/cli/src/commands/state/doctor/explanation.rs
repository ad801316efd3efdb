//! What each rule is for, and how a state comes to break it.

use drystone_model::Rule;

/// The rule in words.
pub(super) fn of(rule: Rule) -> &'static str {
    match rule {
        Rule::MagicMismatch => {
            "The manifest names the version that wrote the state, with a checksum. They do not fit: the file was \
             edited by hand or damaged."
        }
        Rule::MissingUrn => "Every resource has a URN; without one nothing can refer to it.",
        Rule::MissingType => "Every resource has a type, which says what provider manages it.",
        Rule::IdOnComponent => {
            "Only what a provider manages has an id. A component with one is half of each."
        }
        Rule::DuplicateUrn => {
            "Two live resources have the same URN, so that it cannot be told which one the program means. This comes \
             from edits by hand and from merging states."
        }
        Rule::UnreferenceableProvider => {
            "A provider whose URN does not name one cannot be referred to, so that nothing it manages can be updated."
        }
        Rule::MalformedProviderReference => {
            "A provider reference is a provider's URN and its id. This one cannot be read, so that the resource cannot \
             be updated or deleted."
        }
        Rule::UnknownProvider => {
            "The provider that manages the resource is not in the state, so that the resource cannot be updated or \
             deleted. This comes from deleting a provider before what it manages."
        }
        Rule::MissingParent | Rule::MissingDependency | Rule::MissingPropertyDependency => {
            "What it refers to is not in the state, so that it cannot be told when it may be changed or deleted. This \
             comes from updates with targets and from edits by hand."
        }
        Rule::MissingDeletedWith | Rule::MissingReplaceWith => {
            "The resource follows the fate of another one, which is not in the state."
        }
        Rule::ProviderAfter
        | Rule::ParentAfterChild
        | Rule::DependencyAfter
        | Rule::PropertyDependencyAfter
        | Rule::DeletedWithAfter
        | Rule::ReplaceWithAfter => {
            "Resources stand after what they refer to, since they are made in that order and deleted in the reverse \
             one. Here the order is not kept."
        }
        Rule::RefersToItself => "A resource that waits for itself can never be made or deleted.",
        Rule::SnippetMissingUuid | Rule::SnippetDuplicateUuid => {
            "Snippets are told apart by their UUIDs; each needs one of its own."
        }
        Rule::MalformedUrn => "The URN does not have its four parts; some commands cannot name the resource.",
        Rule::ParentTypeMismatch => {
            "A URN holds the types of the parents. Here they are not those of the parent that the resource names; the \
             next update may replace it."
        }
        Rule::MissingViewOf | Rule::ViewOfAfter => {
            "A view belongs to the resource that it shows, which is missing or stands after it."
        }
        Rule::MissingExtension => "The extension of the resource's package is not in the state.",
        Rule::SnippetMissingReference => "A snippet names a resource that is not in the state.",
    }
}

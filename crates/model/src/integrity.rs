//! What must be true of a snapshot. One function says so, for loading and for saving.

mod rule;
#[cfg(test)]
mod tests;

pub use rule::{Rule, Severity};

use crate::graph::{Edge, EdgeKind, Group, ResourceIndex, edges, is_referenceable};
use crate::{Manifest, ROOT_STACK_TYPE, Resource, ShortName, Snapshot, Urn, is_provider_type};
use std::{collections::HashMap, fmt};

/// Everything that is wrong with a snapshot: first the manifest, then the resources in their order, the pending
/// operations and the snippets.
///
/// A snapshot is sound when none of the violations is an error. What the stock Pulumi CLI accepts when it loads a
/// snapshot is sound here too (S14); what it does not look at is a warning at most.
#[must_use]
pub fn verify(snapshot: &Snapshot) -> Vec<Violation> {
    let mut inspection =
        Inspection { snapshot, index: ResourceIndex::new(&snapshot.resources), violations: Vec::new() };
    inspection.manifest();
    for (position, resource) in snapshot.resources.iter().enumerate() {
        inspection.resource(position, resource);
    }
    for (position, operation) in snapshot.pending_operations.iter().enumerate() {
        inspection.well_formed(Subject::PendingOperation(position), &operation.resource);
    }
    inspection.snippets();
    inspection.violations
}

/// Whether nothing forbids to operate on the snapshot.
#[must_use]
pub fn is_sound(violations: &[Violation]) -> bool {
    violations.iter().all(|violation| violation.severity() == Severity::Warning)
}

/// One way in which a snapshot breaks a rule.
///
/// Its text names the resource and what is wrong with it:
/// `#14 aws:ec2:Subnet private  refers to missing parent aws:ec2:Vpc main`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The rule that is broken.
    pub rule: Rule,
    /// What breaks it.
    pub subject: Subject,
    /// The URN of what breaks it; empty when it has none.
    pub urn: Urn,
    /// The kind of the reference that breaks it, when a reference does.
    pub edge: Option<EdgeKind>,
    /// The resource that it refers to, if it refers to one.
    pub refers_to: Option<Urn>,
    /// The position of that resource in the snapshot, if it is there.
    pub refers_to_index: Option<usize>,
    /// The property, id, text, or other name that belongs to the rule; empty when none does.
    pub detail: String,
}

/// What a violation is about. Positions count from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// The manifest.
    Manifest,
    /// The resource at this position.
    Resource(usize),
    /// The pending operation at this position.
    PendingOperation(usize),
    /// The snippet at this position.
    Snippet(usize),
}

impl Subject {
    /// The position in its list.
    #[must_use]
    pub fn index(self) -> Option<usize> {
        match self {
            Self::Manifest => None,
            Self::Resource(index) | Self::PendingOperation(index) | Self::Snippet(index) => Some(index),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manifest => f.write_str("manifest"),
            Self::Resource(index) => write!(f, "#{index}"),
            Self::PendingOperation(index) => write!(f, "pending operation #{index}"),
            Self::Snippet(index) => write!(f, "snippet #{index}"),
        }
    }
}

impl Violation {
    fn new(rule: Rule, subject: Subject, urn: &Urn) -> Self {
        Self {
            rule,
            subject,
            urn: urn.clone(),
            edge: None,
            refers_to: None,
            refers_to_index: None,
            detail: String::new(),
        }
    }

    fn with_detail(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }

    fn referring_to(self, urn: &str, index: Option<usize>) -> Self {
        Self { refers_to: Some(Urn::new(urn)), refers_to_index: index, ..self }
    }

    /// How bad it is.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.rule.severity()
    }

    /// What breaks the rule, as in `#14 aws:ec2:Subnet private`.
    #[must_use]
    pub fn who(&self) -> String {
        match self.subject {
            Subject::Resource(_) | Subject::PendingOperation(_) => {
                format!("{} {}", self.subject, ShortName(&self.urn))
            }
            Subject::Manifest | Subject::Snippet(_) => self.subject.to_string(),
        }
    }

    /// What is wrong with it, as in `refers to missing parent aws:ec2:Vpc main`.
    #[must_use]
    pub fn problem(&self) -> String {
        let nowhere = Urn::default();
        let target = ShortName(self.refers_to.as_ref().unwrap_or(&nowhere));
        let at = self.refers_to_index.map(|index| format!("#{index} ")).unwrap_or_default();
        let (detail, noun) = (&self.detail, self.edge.map_or("reference", EdgeKind::noun));
        match self.rule {
            Rule::MagicMismatch => format!("has a magic that does not fit its version `{detail}`"),
            Rule::MissingUrn => "has no URN".to_owned(),
            Rule::MissingType => "has no type".to_owned(),
            Rule::IdOnComponent => format!("is a component, yet has the id `{detail}`"),
            Rule::DuplicateUrn => {
                format!("has the same URN as {}, and neither is marked for deletion", at.trim_end())
            }
            Rule::UnreferenceableProvider => {
                format!("is a provider, yet its URN does not name one: `{detail}`")
            }
            Rule::MalformedProviderReference => {
                format!("has a provider reference that cannot be read: `{detail}`")
            }
            Rule::UnknownProvider => format!("refers to unknown provider {target} with id `{detail}`"),
            Rule::ProviderAfter | Rule::ParentAfterChild | Rule::DependencyAfter => {
                format!("comes before its {noun} {at}{target}")
            }
            Rule::MissingParent | Rule::MissingDependency => format!("refers to missing {noun} {target}"),
            Rule::MissingPropertyDependency => {
                format!("refers to missing dependency {target} of its property `{detail}`")
            }
            Rule::PropertyDependencyAfter => {
                format!("comes before {at}{target}, the dependency of its property `{detail}`")
            }
            Rule::MissingDeletedWith => format!("is to be deleted with {target}, which is missing"),
            Rule::DeletedWithAfter => format!("comes before {at}{target}, which it is to be deleted with"),
            Rule::MissingReplaceWith => format!("is to be replaced with {target}, which is missing"),
            Rule::ReplaceWithAfter => format!("comes before {at}{target}, which it is to be replaced with"),
            Rule::MissingViewOf => format!("is a view of {target}, which is missing"),
            Rule::ViewOfAfter => format!("comes before {at}{target}, which it is a view of"),
            Rule::RefersToItself => format!("names itself as its {noun}"),
            Rule::MalformedUrn => format!("has a malformed URN: {detail}"),
            Rule::ParentTypeMismatch => {
                format!("has the parent {target}, yet its URN is not that of a child of it")
            }
            Rule::MissingExtension => format!("refers to missing extension `{detail}`"),
            Rule::SnippetMissingUuid => "has no UUID".to_owned(),
            Rule::SnippetDuplicateUuid => {
                format!("has the same UUID as snippet {}: `{detail}`", at.trim_end())
            }
            Rule::SnippetMissingReference => format!("names {target} as `{detail}`, which is missing"),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {}", self.who(), self.problem())
    }
}

struct Inspection<'a> {
    snapshot: &'a Snapshot,
    index: ResourceIndex<'a>,
    violations: Vec<Violation>,
}

impl Inspection<'_> {
    fn report(&mut self, violation: Violation) {
        self.violations.push(violation);
    }

    fn manifest(&mut self) {
        let manifest = &self.snapshot.manifest;
        if manifest.magic != Manifest::magic_of(&manifest.version) {
            let violation = Violation::new(Rule::MagicMismatch, Subject::Manifest, &Urn::default());
            self.report(violation.with_detail(&manifest.version));
        }
    }

    fn resource(&mut self, position: usize, resource: &Resource) {
        let subject = Subject::Resource(position);
        self.well_formed(subject, resource);
        if is_provider_type(&resource.type_token) && !is_referenceable(&resource.urn) {
            let violation = Violation::new(Rule::UnreferenceableProvider, subject, &resource.urn);
            self.report(violation.with_detail(resource.urn.as_str()));
        }
        self.unique(position, resource);
        for edge in edges(resource) {
            self.edge(position, resource, &edge);
        }
        let extension = &resource.extension_ref;
        if !extension.is_empty() && !self.snapshot.extensions.contains_key(extension) {
            let violation = Violation::new(Rule::MissingExtension, subject, &resource.urn);
            self.report(violation.with_detail(extension));
        }
    }

    /// What a resource must have to be read at all, in the list of resources or in a pending operation.
    fn well_formed(&mut self, subject: Subject, resource: &Resource) {
        if resource.urn.is_empty() {
            self.report(Violation::new(Rule::MissingUrn, subject, &resource.urn));
        } else if let Err(error) = resource.urn.validate() {
            let violation = Violation::new(Rule::MalformedUrn, subject, &resource.urn);
            self.report(violation.with_detail(error.to_string()));
        }
        if resource.type_token.is_empty() {
            self.report(Violation::new(Rule::MissingType, subject, &resource.urn));
        }
        if !resource.custom && !resource.id.is_empty() {
            let violation = Violation::new(Rule::IdOnComponent, subject, &resource.urn);
            self.report(violation.with_detail(&resource.id));
        }
    }

    fn unique(&mut self, position: usize, resource: &Resource) {
        if resource.delete {
            return;
        }
        let first =
            self.index.with_urn(resource.urn.as_str()).and_then(|Group { live, .. }| live.first().copied());
        if let Some(first) = first.filter(|&first| first < position) {
            let violation = Violation::new(Rule::DuplicateUrn, Subject::Resource(position), &resource.urn);
            self.report(violation.referring_to(resource.urn.as_str(), Some(first)));
        }
    }

    fn edge(&mut self, position: usize, resource: &Resource, edge: &Edge<'_>) {
        if edge.kind == EdgeKind::Provider {
            return self.provider(position, resource, edge);
        }
        let first = self.index.first(edge);
        let violation = |rule| Violation {
            edge: Some(edge.kind),
            ..Violation::new(rule, Subject::Resource(position), &resource.urn)
                .referring_to(edge.urn, first)
                .with_detail(edge.property.unwrap_or_default())
        };
        match first {
            None => self.report(violation(Rule::missing(edge.kind))),
            Some(first) if first > position => self.report(violation(Rule::after(edge.kind))),
            Some(first) if first == position && edge.kind != EdgeKind::ViewOf => {
                self.report(violation(Rule::RefersToItself));
            }
            Some(_) => {
                if edge.kind == EdgeKind::Parent && !is_child_name(&resource.urn, &resource.parent) {
                    self.report(violation(Rule::ParentTypeMismatch));
                }
            }
        }
    }

    /// A resource whose replacement is still to be made may refer to a provider that is gone already: the provider
    /// was replaced first, and the update ended before the resource's turn.
    fn provider(&mut self, position: usize, resource: &Resource, edge: &Edge<'_>) {
        let violation = |rule, detail: &str| Violation {
            edge: Some(EdgeKind::Provider),
            ..Violation::new(rule, Subject::Resource(position), &resource.urn).with_detail(detail)
        };
        let Some(id) = edge.provider_id() else {
            return self.report(violation(Rule::MalformedProviderReference, edge.urn));
        };
        if resource.pending_replacement {
            return;
        }
        match self.index.first(edge) {
            None => self.report(violation(Rule::UnknownProvider, id).referring_to(edge.urn, None)),
            Some(first) if first > position => {
                self.report(violation(Rule::ProviderAfter, id).referring_to(edge.urn, Some(first)));
            }
            Some(_) => {}
        }
    }

    fn snippets(&mut self) {
        let snapshot = self.snapshot;
        let mut uuids = HashMap::new();
        for (position, snippet) in snapshot.snippets.iter().enumerate() {
            let violation = |rule| Violation::new(rule, Subject::Snippet(position), &Urn::default());
            if snippet.uuid.is_empty() {
                self.report(violation(Rule::SnippetMissingUuid));
            } else {
                let first = *uuids.entry(snippet.uuid.as_str()).or_insert(position);
                if first != position {
                    let violation = violation(Rule::SnippetDuplicateUuid).with_detail(&snippet.uuid);
                    self.report(Violation { refers_to_index: Some(first), ..violation });
                }
            }
            for (name, urn) in &snippet.references {
                if self.index.with_urn(urn.as_str()).is_none() {
                    let violation = violation(Rule::SnippetMissingReference).with_detail(name);
                    self.report(violation.referring_to(urn.as_str(), None));
                }
            }
        }
    }
}

/// Whether a URN is that of a child of `parent`. Malformed ones are not judged.
fn is_child_name(urn: &Urn, parent: &Urn) -> bool {
    if urn.validate().is_err() || parent.validate().is_err() {
        return true;
    }
    let above = urn.qualified_type().strip_suffix(urn.type_token()).unwrap_or_default();
    match parent.qualified_type() {
        ROOT_STACK_TYPE => above.is_empty(),
        parent => above.strip_suffix('$') == Some(parent),
    }
}

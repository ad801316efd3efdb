//! Resources and pending operations as a snapshot holds them.

use crate::{Json, Urn, record};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

record! {
    /// A resource as the state holds it, secrets sealed.
    pub struct Resource {
        /// Its name.
        always "urn" => urn: Urn,
        /// Whether a provider manages it; components are not custom.
        always "custom" => custom: bool,
        /// Whether it waits to be deleted because a replacement took its place.
        optional "delete" => delete: bool,
        /// What the provider calls it.
        optional "id" => id: String,
        /// Its type token.
        always "type" => type_token: String,
        /// The inputs last given to the provider.
        optional "inputs" => inputs: Properties,
        /// The outputs last returned by the provider.
        optional "outputs" => outputs: Properties,
        /// Its parent, or empty.
        optional "parent" => parent: Urn,
        /// Whether deleting it is refused.
        optional "protect" => protect: bool,
        /// Whether the next update replaces it.
        optional "taint" => taint: bool,
        /// Whether it was read rather than made.
        optional "external" => external: bool,
        /// What it depends on.
        optional "dependencies" => dependencies: Vec<Urn>,
        /// What went wrong after it was made.
        optional "initErrors" => init_errors: Vec<String>,
        /// Its provider, `<urn>::<id>`, or empty.
        optional "provider" => provider: String,
        /// What each input property depends on.
        optional "propertyDependencies" => property_dependencies: BTreeMap<String, Option<Vec<Urn>>>,
        /// Whether it was deleted and its replacement is still to be made.
        optional "pendingReplacement" => pending_replacement: bool,
        /// Outputs to keep secret whatever the provider says.
        optional "additionalSecretOutputs" => additional_secret_outputs: Vec<String>,
        /// Names that it had before.
        optional "aliases" => aliases: Vec<Urn>,
        /// Time limits in seconds.
        optional "customTimeouts" => custom_timeouts: Option<Json>,
        /// The id that it was imported by.
        optional "importID" => import_id: String,
        /// Whether deleting it leaves the real thing alone.
        optional "retainOnDelete" => retain_on_delete: bool,
        /// A resource whose deletion deletes this one too.
        optional "deletedWith" => deleted_with: Urn,
        /// Resources whose replacement replaces this one too.
        optional "replaceWith" => replace_with: Vec<Urn>,
        /// When it was made, RFC 3339.
        optional "created" => created: Option<String>,
        /// When it was last changed, RFC 3339.
        optional "modified" => modified: Option<String>,
        /// Where the program registers it.
        optional "sourcePosition" => source_position: String,
        /// How the program came there.
        optional "stackTrace" => stack_trace: Vec<StackFrame>,
        /// Property paths whose changes are ignored.
        optional "ignoreChanges" => ignore_changes: Vec<String>,
        /// Property paths that diffs leave out.
        optional "hideDiff" => hide_diff: Vec<Json>,
        /// Property paths whose changes replace it.
        optional "replaceOnChanges" => replace_on_changes: Vec<String>,
        /// A value whose change replaces it.
        optional "replacementTrigger" => replacement_trigger: Option<Json>,
        /// Whether it is refreshed before every update.
        optional "refreshBeforeUpdate" => refresh_before_update: bool,
        /// The resource that this one is a view of.
        optional "viewOf" => view_of: Urn,
        /// Hook names by the moment they run.
        optional "resourceHooks" => resource_hooks: BTreeMap<String, Vec<String>>,
        /// The extension of its provider's package.
        optional "extensionRef" => extension_ref: String,
        /// The snippet that registers it.
        optional "snippetID" => snippet_id: String,
    }
}

record! {
    /// A frame of the program's stack.
    pub struct StackFrame {
        /// Where it is.
        optional "sourcePosition" => source_position: String,
    }
}

record! {
    /// An operation that had begun and not ended when the snapshot was written.
    pub struct Operation {
        /// The state that it began with.
        always "resource" => resource: Resource,
        /// What was being done.
        always "type" => kind: OperationKind,
    }
}

/// What a pending operation was doing. Kinds that this version does not know are kept (S9).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
#[serde(from = "String", into = "String")]
pub enum OperationKind {
    /// Making the resource.
    #[default]
    Creating,
    /// Changing it.
    Updating,
    /// Deleting it.
    Deleting,
    /// Reading it.
    Reading,
    /// Importing it.
    Importing,
    /// Something else.
    Other(String),
}

impl OperationKind {
    /// The word the state uses.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Creating => "creating",
            Self::Updating => "updating",
            Self::Deleting => "deleting",
            Self::Reading => "reading",
            Self::Importing => "importing",
            Self::Other(word) => word,
        }
    }
}

impl From<String> for OperationKind {
    fn from(word: String) -> Self {
        match word.as_str() {
            "creating" => Self::Creating,
            "updating" => Self::Updating,
            "deleting" => Self::Deleting,
            "reading" => Self::Reading,
            "importing" => Self::Importing,
            _ => Self::Other(word),
        }
    }
}

impl From<OperationKind> for String {
    fn from(kind: OperationKind) -> Self {
        kind.as_str().to_owned()
    }
}

/// The properties of a resource in their stored form: a JSON object with sealed secrets, or nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Properties(Option<Json>);

impl Properties {
    /// Takes a JSON object; an empty one is no properties.
    #[must_use]
    pub fn new(object: Json) -> Self {
        let inside = object.text().trim().strip_prefix('{').unwrap_or("x").trim_start();
        Self(if inside.starts_with('}') { None } else { Some(object) })
    }

    /// The JSON object, when there are properties.
    #[must_use]
    pub fn json(&self) -> Option<&Json> {
        self.0.as_ref()
    }

    /// The JSON text, `{}` when there are none.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.as_ref().map_or("{}", Json::text)
    }
}

impl crate::Wire for Properties {
    fn is_absent(&self) -> bool {
        self.0.is_none()
    }
}

impl Serialize for Properties {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        match json.text().as_bytes().first() {
            Some(b'{') => Ok(Self::new(json)),
            Some(b'n') => Ok(Self(None)),
            _ => Err(serde::de::Error::custom("properties must be an object")),
        }
    }
}

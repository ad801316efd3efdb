//! What a program asks for.

use crate::{PropertyMap, Transform};
use drystone_model::{StackFrame, Urn, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A resource that the program wants.
#[derive(Debug, Clone, Default)]
pub struct RegisterRequest {
    /// Its type token.
    pub type_token: String,
    /// Its name.
    pub name: String,
    /// Whether a provider manages it; components are not custom.
    pub custom: bool,
    /// Whether a provider constructs it.
    pub remote: bool,
    /// Its inputs.
    pub properties: PropertyMap,
    /// What it depends on.
    pub dependencies: Vec<Urn>,
    /// What each input depends on; empty when the program does not say.
    pub property_dependencies: BTreeMap<String, Vec<Urn>>,
    /// Its parent, or empty.
    pub parent: Urn,
    /// Its provider, `<urn>::<id>`, or empty for the default one.
    pub provider: String,
    /// Providers for its children by package.
    pub providers: BTreeMap<String, String>,
    /// Which plugin serves it.
    pub package: PackageSource,
    /// Everything else that was asked for.
    pub options: ResourceOptions,
    /// Transforms of this resource and its children.
    pub transforms: Vec<Arc<dyn Transform>>,
    /// Where the program registers it.
    pub source_position: String,
    /// How the program came there.
    pub stack_trace: Vec<StackFrame>,
    /// What stands for the trace that led to who asks, where a plugin was given one, or empty.
    pub led_by: String,
}

/// Which plugin serves a request, where the program says so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackageSource {
    /// The version, or empty.
    pub version: String,
    /// Where the plugin comes from, or empty.
    pub download_url: String,
    /// Checksums of the plugin by platform.
    pub checksums: BTreeMap<String, Vec<u8>>,
    /// A package registered before, or empty.
    pub reference: String,
}

/// The options of a resource.
#[derive(Debug, Clone, Default)]
pub struct ResourceOptions {
    /// Names that it had before.
    pub aliases: Vec<Alias>,
    /// Whether deleting it is refused; inherited when not said.
    pub protect: Option<bool>,
    /// Property paths whose changes are ignored.
    pub ignore_changes: Vec<String>,
    /// Property paths whose changes replace it.
    pub replace_on_changes: Vec<String>,
    /// A value whose change replaces it.
    pub replacement_trigger: Option<Value>,
    /// Resources whose replacement replaces it.
    pub replace_with: Vec<Urn>,
    /// A resource whose deletion deletes it too; inherited when empty.
    pub deleted_with: Urn,
    /// Whether its replacement is made after it is deleted; the provider decides when not said.
    pub delete_before_replace: Option<bool>,
    /// Whether deleting it leaves the real thing alone; inherited when not said.
    pub retain_on_delete: Option<bool>,
    /// Outputs to keep secret.
    pub additional_secret_outputs: Vec<String>,
    /// The id of an existing thing to take over, or empty.
    pub import_id: String,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Property paths that diffs leave out.
    pub hide_diffs: Vec<String>,
    /// Hooks by name.
    pub hooks: HookBindings,
    /// For providers: environment variables to rename for the plugin.
    pub env_var_mappings: BTreeMap<String, String>,
}

/// Time limits in seconds; 0 for the provider's own.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Timeouts {
    /// For making it.
    pub create: f64,
    /// For changing it.
    pub update: f64,
    /// For deleting it.
    pub delete: f64,
    /// For reading it.
    pub read: f64,
}

/// A name that a resource had before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alias {
    /// The whole of it.
    Urn(Urn),
    /// What differs from the present name; empty texts do not differ.
    Spec {
        /// The name.
        name: String,
        /// The type.
        type_token: String,
        /// The stack.
        stack: String,
        /// The project.
        project: String,
        /// The parent.
        parent: AliasParent,
    },
}

/// The parent that a resource had before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum AliasParent {
    /// The one it has.
    #[default]
    Unchanged,
    /// None.
    Root,
    /// Another one.
    Urn(Urn),
}

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum HookMoment {
    /// Before it is made.
    #[default]
    BeforeCreate,
    /// After it was made.
    AfterCreate,
    /// Before it is changed.
    BeforeUpdate,
    /// After it was changed.
    AfterUpdate,
    /// Before it is deleted.
    BeforeDelete,
    /// After it was deleted.
    AfterDelete,
    /// After an operation failed.
    OnError,
}

impl HookMoment {
    /// Every moment with the word that the state uses for it.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::BeforeCreate, "BeforeCreate"),
        (Self::AfterCreate, "AfterCreate"),
        (Self::BeforeUpdate, "BeforeUpdate"),
        (Self::AfterUpdate, "AfterUpdate"),
        (Self::BeforeDelete, "BeforeDelete"),
        (Self::AfterDelete, "AfterDelete"),
        (Self::OnError, "OnError"),
    ];

    /// The word that the state uses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(moment, _)| *moment == self).map_or("", |(_, word)| word)
    }
}

/// Names of hooks by the moment they run.
pub type HookBindings = BTreeMap<HookMoment, Vec<String>>;

/// What became of a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Registration {
    /// It was done.
    #[default]
    Done,
    /// It failed.
    Failed,
    /// Something that it depends on failed, so it was left alone.
    Skipped,
}

/// The answer to a registration or a read.
#[derive(Debug, Clone, Default)]
pub struct Registered {
    /// The resource's name.
    pub urn: Urn,
    /// What its provider calls it, or empty.
    pub id: String,
    /// Its inputs and outputs in one, as the program sees them.
    pub properties: PropertyMap,
    /// What each property depends on; from `Construct`.
    pub property_dependencies: BTreeMap<String, Vec<Urn>>,
    /// What became of it.
    pub result: Registration,
    /// Whether nothing is known of its outputs because it was not made in this run.
    pub unknown: bool,
    /// Whether the properties do not change.
    pub stable: bool,
}

/// A resource that exists and is only looked at.
#[derive(Debug, Clone, Default)]
pub struct ReadRequest {
    /// Its type token.
    pub type_token: String,
    /// Its name.
    pub name: String,
    /// What its provider calls it.
    pub id: String,
    /// Its parent, or empty.
    pub parent: Urn,
    /// What is known of it.
    pub properties: PropertyMap,
    /// What it depends on.
    pub dependencies: Vec<Urn>,
    /// Its provider, or empty.
    pub provider: String,
    /// Which plugin serves it.
    pub package: PackageSource,
    /// Outputs to keep secret.
    pub additional_secret_outputs: Vec<String>,
    /// Where the program reads it.
    pub source_position: String,
    /// How the program came there.
    pub stack_trace: Vec<StackFrame>,
    /// What stands for the trace that led to who asks, where a plugin was given one, or empty.
    pub led_by: String,
}

/// A function of a provider.
#[derive(Debug, Clone, Default)]
pub struct InvokeRequest {
    /// The function's token.
    pub token: String,
    /// Its arguments.
    pub arguments: PropertyMap,
    /// Its provider, or empty.
    pub provider: String,
    /// Which plugin serves it.
    pub package: PackageSource,
    /// What must be there before it runs.
    pub dependencies: Vec<Urn>,
    /// The resource whose providers it uses, or empty.
    pub parent: Urn,
}

/// A method of a component.
#[derive(Debug, Clone, Default)]
pub struct CallRequest {
    /// The method's token.
    pub token: String,
    /// Its arguments.
    pub arguments: PropertyMap,
    /// What each argument depends on.
    pub argument_dependencies: BTreeMap<String, Vec<Urn>>,
    /// Its provider, or empty.
    pub provider: String,
    /// Which plugin serves it.
    pub package: PackageSource,
    /// Where the program calls it.
    pub source_position: String,
    /// How the program came there.
    pub stack_trace: Vec<StackFrame>,
    /// What stands for the trace that led to who asks, where a plugin was given one, or empty.
    pub led_by: String,
}

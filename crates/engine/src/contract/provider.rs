//! Providers: what makes, reads, changes and deletes real things.

use crate::{PropertyMap, Timeouts};
use async_trait::async_trait;
use drystone_model::Urn;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Finds and starts providers.
#[async_trait]
pub trait Plugins: Send + Sync {
    /// A fresh instance of a package's provider, neither parameterised nor configured.
    async fn load(&self, package: &PackageDescriptor) -> Result<Arc<dyn Provider>, ProviderError>;

    /// Says, before anything is loaded, where providers publish views; an operation without a program has no monitor.
    fn attach(&self, views: Arc<dyn crate::ViewPublisher>) {
        let _ = views;
    }
}

/// A package and the plugin that serves it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageDescriptor {
    /// The plugin's name.
    pub name: String,
    /// The plugin's version, or empty for any.
    pub version: String,
    /// Where it comes from, or empty.
    pub download_url: String,
    /// Checksums by platform.
    pub checksums: BTreeMap<String, Vec<u8>>,
    /// What makes another package of the plugin's.
    pub parameterization: Option<Parameterization>,
    /// Environment variables to rename for the plugin.
    pub env_var_mappings: BTreeMap<String, String>,
}

impl PackageDescriptor {
    /// The package's name: the parameterised one's, or the plugin's own.
    #[must_use]
    pub fn package(&self) -> &str {
        self.parameterization.as_ref().map_or(&self.name, |parameterization| &parameterization.name)
    }

    /// The package's version, or empty.
    #[must_use]
    pub fn package_version(&self) -> &str {
        self.parameterization.as_ref().map_or(&self.version, |parameterization| &parameterization.version)
    }
}

/// What makes a package of a plugin that can serve many.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Parameterization {
    /// The package's name.
    pub name: String,
    /// The package's version.
    pub version: String,
    /// What the plugin needs to know.
    pub value: Vec<u8>,
}

/// A provider. What a provider cannot do answers [`ProviderErrorKind::Unimplemented`].
#[async_trait]
pub trait Provider: Send + Sync + fmt::Debug {
    /// Makes it serve another package; gives that package's name and version.
    async fn parameterize(
        &self,
        arguments: ParameterizeArguments,
    ) -> Result<(String, String), ProviderError> {
        let _ = arguments;
        Err(ProviderError::unimplemented("Parameterize"))
    }

    /// The package's schema as JSON.
    async fn schema(&self, arguments: Option<Parameterization>) -> Result<String, ProviderError> {
        let _ = arguments;
        Err(ProviderError::unimplemented("GetSchema"))
    }

    /// The plugin's version, or empty.
    async fn version(&self) -> Result<String, ProviderError> {
        Ok(String::new())
    }

    /// Checks and completes its configuration. `arguments.urn` is the provider resource.
    async fn check_config(&self, arguments: CheckArguments) -> Result<Checked, ProviderError> {
        Ok(Checked { properties: arguments.new_inputs, failures: Vec::new() })
    }

    /// Whether a change of configuration needs a new provider.
    async fn diff_config(&self, arguments: DiffArguments) -> Result<Diff, ProviderError> {
        let _ = arguments;
        Ok(Diff::default())
    }

    /// Takes its configuration. Everything below comes after this.
    async fn configure(&self, arguments: ConfigureArguments) -> Result<(), ProviderError> {
        let _ = arguments;
        Ok(())
    }

    /// Checks and completes a resource's inputs.
    async fn check(&self, arguments: CheckArguments) -> Result<Checked, ProviderError> {
        Ok(Checked { properties: arguments.new_inputs, failures: Vec::new() })
    }

    /// What new inputs mean for a resource.
    async fn diff(&self, arguments: DiffArguments) -> Result<Diff, ProviderError> {
        let _ = arguments;
        Ok(Diff::default())
    }

    /// Makes a resource.
    async fn create(&self, arguments: CreateArguments) -> Result<AppliedState, ProviderError>;

    /// Looks at a resource.
    async fn read(&self, arguments: ReadArguments) -> Result<ReadState, ProviderError>;

    /// Changes a resource.
    async fn update(&self, arguments: UpdateArguments) -> Result<AppliedState, ProviderError>;

    /// Deletes a resource. One that is gone already is no failure.
    async fn delete(&self, arguments: DeleteArguments) -> Result<(), ProviderError>;

    /// Runs a function.
    async fn invoke(
        &self,
        token: &str,
        arguments: PropertyMap,
        dry_run: bool,
    ) -> Result<Invoked, ProviderError> {
        let _ = (arguments, dry_run);
        Err(ProviderError::new(format!("there is no function `{token}`")))
    }

    /// Runs a method of a component.
    async fn call(&self, arguments: CallArguments) -> Result<CallAnswer, ProviderError> {
        let _ = arguments;
        Err(ProviderError::unimplemented("Call"))
    }

    /// Constructs a component, registering what is in it with the monitor.
    async fn construct(&self, arguments: ConstructArguments) -> Result<Constructed, ProviderError> {
        let _ = arguments;
        Err(ProviderError::unimplemented("Construct"))
    }

    /// Whether it takes the naming rules of the stack.
    fn supports_autonaming(&self) -> bool {
        false
    }

    /// Asks it to give up what it is doing.
    async fn cancel(&self) -> Result<(), ProviderError> {
        Ok(())
    }
}

/// What went wrong in a provider, by what may be done about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// What may be done about it.
    pub kind: ProviderErrorKind,
    /// What went wrong, in the provider's words.
    pub message: String,
}

/// What may be done about a provider's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProviderErrorKind {
    /// It answered that it failed: nothing was done.
    #[default]
    Refused,
    /// It answered that something in it broke: nothing is taken to be done, but event logs call it in doubt.
    Broken,
    /// It cannot do that at all.
    Unimplemented,
    /// It cannot say what would change before it is configured; an update is assumed.
    DiffUnavailable,
    /// No answer, or one that makes no sense: whether anything was done is not known.
    Unknown,
}

impl ProviderError {
    /// A failure that the provider answered with.
    pub fn new(message: impl Into<String>) -> Self {
        Self { kind: ProviderErrorKind::Refused, message: message.into() }
    }

    /// A missing method.
    #[must_use]
    pub fn unimplemented(method: &str) -> Self {
        Self {
            kind: ProviderErrorKind::Unimplemented,
            message: format!("the provider does not implement {method}"),
        }
    }

    /// Whether what the provider did is in doubt.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        matches!(self.kind, ProviderErrorKind::Broken | ProviderErrorKind::Unknown)
    }

    /// A call of which nobody knows what it did.
    pub fn unknown(message: impl Into<String>) -> Self {
        Self { kind: ProviderErrorKind::Unknown, message: message.into() }
    }
}

/// A package to serve.
#[derive(Debug, Clone)]
pub enum ParameterizeArguments {
    /// As the command line gives it.
    Arguments(Vec<String>),
    /// As a generated SDK gives it.
    Value(Parameterization),
    /// On top of what it serves.
    Extension(Parameterization),
}

/// How a provider names what has no name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Autonaming {
    /// A name to take if possible.
    Propose(String),
    /// A name to take or fail.
    Enforce(String),
    /// Make up none.
    Disable,
}

/// Inputs to be checked.
#[derive(Debug, Clone, Default)]
pub struct CheckArguments {
    /// The resource.
    pub urn: Urn,
    /// The inputs it had; empty for a new one.
    pub old_inputs: PropertyMap,
    /// The inputs it is to have.
    pub new_inputs: PropertyMap,
    /// For names that are made up.
    pub seed: Vec<u8>,
    /// How to name it.
    pub autonaming: Option<Autonaming>,
    /// Whether inputs may be unknown.
    pub dry_run: bool,
}

/// Checked inputs.
#[derive(Debug, Clone, Default)]
pub struct Checked {
    /// The inputs, completed.
    pub properties: PropertyMap,
    /// What is wrong with them.
    pub failures: Vec<CheckFailure>,
}

/// Something wrong with an input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckFailure {
    /// The property, or empty for the whole.
    pub property: String,
    /// What is wrong.
    pub reason: String,
}

/// What to compare.
#[derive(Debug, Clone, Default)]
pub struct DiffArguments {
    /// The resource.
    pub urn: Urn,
    /// What the provider calls it.
    pub id: String,
    /// The inputs it had.
    pub old_inputs: PropertyMap,
    /// The outputs it has.
    pub old_outputs: PropertyMap,
    /// The inputs it is to have.
    pub new_inputs: PropertyMap,
    /// Property paths whose changes are ignored.
    pub ignore_changes: Vec<String>,
    /// Whether inputs may be unknown.
    pub dry_run: bool,
}

/// What a change of inputs means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diff {
    /// Whether anything changes.
    pub changes: DiffChanges,
    /// Properties that make it be replaced.
    pub replace_keys: Vec<String>,
    /// Properties that stay as they are whatever happens.
    pub stable_keys: Vec<String>,
    /// Properties that change.
    pub changed_keys: Vec<String>,
    /// Every change by its property path; `None` when the provider does not say.
    pub detailed: Option<BTreeMap<String, PropertyDiff>>,
    /// Whether the old one has to go before the new one is made.
    pub delete_before_replace: bool,
}

impl Diff {
    /// Something changes, without more being known.
    #[must_use]
    pub fn some() -> Self {
        Self { changes: DiffChanges::Some, ..Self::default() }
    }

    /// Nothing changes.
    #[must_use]
    pub fn none() -> Self {
        Self { changes: DiffChanges::None, ..Self::default() }
    }

    /// It is replaced because of a property.
    #[must_use]
    pub fn replace(key: &str) -> Self {
        Self { replace_keys: vec![key.to_owned()], ..Self::some() }
    }

    /// Whether it has to be replaced.
    #[must_use]
    pub fn is_replace(&self) -> bool {
        let detailed = self.detailed.iter().flatten();
        !self.replace_keys.is_empty() || detailed.map(|(_, change)| change.kind).any(DiffKind::is_replace)
    }
}

/// Whether anything changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiffChanges {
    /// The provider does not say; the inputs decide.
    #[default]
    Unknown,
    /// Nothing.
    None,
    /// Something.
    Some,
}

/// A change of one property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PropertyDiff {
    /// How it changes.
    pub kind: DiffKind,
    /// Whether the inputs differ, rather than an input from an output.
    pub input_diff: bool,
}

/// How a property changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffKind {
    /// It appears.
    Add,
    /// It appears, and the resource is replaced.
    AddReplace,
    /// It goes.
    Delete,
    /// It goes, and the resource is replaced.
    DeleteReplace,
    /// It changes.
    Update,
    /// It changes, and the resource is replaced.
    UpdateReplace,
}

impl DiffKind {
    /// The word that events use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::AddReplace => "add-replace",
            Self::Delete => "delete",
            Self::DeleteReplace => "delete-replace",
            Self::Update => "update",
            Self::UpdateReplace => "update-replace",
        }
    }

    /// The same change, with the resource replaced.
    #[must_use]
    pub fn to_replace(self) -> Self {
        match self {
            Self::Add | Self::AddReplace => Self::AddReplace,
            Self::Delete | Self::DeleteReplace => Self::DeleteReplace,
            Self::Update | Self::UpdateReplace => Self::UpdateReplace,
        }
    }

    /// Whether the resource is replaced.
    #[must_use]
    pub fn is_replace(self) -> bool {
        matches!(self, Self::AddReplace | Self::DeleteReplace | Self::UpdateReplace)
    }
}

/// A provider's configuration.
#[derive(Debug, Clone, Default)]
pub struct ConfigureArguments {
    /// The provider resource.
    pub urn: Urn,
    /// Its id, or empty in a preview.
    pub id: String,
    /// Its checked inputs.
    pub inputs: PropertyMap,
}

/// Something to be made.
#[derive(Debug, Clone, Default)]
pub struct CreateArguments {
    /// The resource.
    pub urn: Urn,
    /// Its checked inputs.
    pub inputs: PropertyMap,
    /// The time limit in seconds; 0 for the provider's own.
    pub timeout: f64,
    /// Only say what would come out.
    pub dry_run: bool,
    /// Where the provider publishes views of it, or empty.
    pub status_token: String,
}

/// Something that was made or changed.
#[derive(Debug, Clone, Default)]
pub struct AppliedState {
    /// What the provider calls it; empty in a preview.
    pub id: String,
    /// Its outputs.
    pub outputs: PropertyMap,
    /// Its inputs, where the provider says so.
    pub inputs: Option<PropertyMap>,
    /// Why it is there but not ready; empty when it is.
    pub incomplete: Vec<String>,
    /// Whether it is to be refreshed before every update.
    pub refresh_before_update: bool,
}

/// Something to be looked at.
#[derive(Debug, Clone, Default)]
pub struct ReadArguments {
    /// The resource.
    pub urn: Urn,
    /// What the provider calls it.
    pub id: String,
    /// What is known of its inputs.
    pub inputs: PropertyMap,
    /// What is known of its outputs.
    pub outputs: PropertyMap,
    /// The time limit in seconds; 0 for the provider's own.
    pub timeout: f64,
    /// Where the provider publishes views of it, or empty.
    pub status_token: String,
    /// The views that it has.
    pub old_views: Vec<crate::State>,
}

/// Something that was looked at.
#[derive(Debug, Clone, Default)]
pub struct ReadState {
    /// What the provider calls it; empty when it is gone.
    pub id: String,
    /// Its inputs; `None` when the provider cannot tell.
    pub inputs: Option<PropertyMap>,
    /// Its outputs; `None` when it is gone.
    pub outputs: Option<PropertyMap>,
    /// Why it is there but not ready; empty when it is.
    pub incomplete: Vec<String>,
    /// Whether it is to be refreshed before every update.
    pub refresh_before_update: bool,
}

/// Something to be changed.
#[derive(Debug, Clone, Default)]
pub struct UpdateArguments {
    /// The resource.
    pub urn: Urn,
    /// What the provider calls it.
    pub id: String,
    /// The inputs it had.
    pub old_inputs: PropertyMap,
    /// The outputs it has.
    pub old_outputs: PropertyMap,
    /// The inputs it is to have.
    pub new_inputs: PropertyMap,
    /// Property paths whose changes are ignored.
    pub ignore_changes: Vec<String>,
    /// The time limit in seconds; 0 for the provider's own.
    pub timeout: f64,
    /// Only say what would come out.
    pub dry_run: bool,
    /// Where the provider publishes views of it, or empty.
    pub status_token: String,
    /// The views that it has.
    pub old_views: Vec<crate::State>,
}

/// Something to be deleted.
#[derive(Debug, Clone, Default)]
pub struct DeleteArguments {
    /// The resource.
    pub urn: Urn,
    /// What the provider calls it.
    pub id: String,
    /// Its inputs.
    pub inputs: PropertyMap,
    /// Its outputs.
    pub outputs: PropertyMap,
    /// The time limit in seconds; 0 for the provider's own.
    pub timeout: f64,
    /// Where the provider publishes views of it, or empty.
    pub status_token: String,
    /// The views that it has.
    pub old_views: Vec<crate::State>,
}

/// What a function answered.
#[derive(Debug, Clone, Default)]
pub struct Invoked {
    /// The result.
    pub properties: PropertyMap,
    /// What is wrong with the arguments.
    pub failures: Vec<CheckFailure>,
    /// Whether it did not run, because something that it depends on is not there yet: nothing of its result is known.
    pub unknown: bool,
}

/// A method to be run.
#[derive(Debug, Clone, Default)]
pub struct CallArguments {
    /// The method's token.
    pub token: String,
    /// Its arguments, `__self__` among them.
    pub arguments: PropertyMap,
    /// What each argument depends on.
    pub argument_dependencies: BTreeMap<String, Vec<Urn>>,
    /// The surroundings of the program.
    pub info: RunInfo,
    /// What stands for the trace of the request that led here, or empty. What is registered on its behalf names it.
    pub trace: String,
}

/// What a method answered.
#[derive(Debug, Clone, Default)]
pub struct CallAnswer {
    /// The result.
    pub properties: PropertyMap,
    /// What each member of the result depends on.
    pub dependencies: BTreeMap<String, Vec<Urn>>,
    /// What is wrong with the arguments.
    pub failures: Vec<CheckFailure>,
}

/// What a component's code is told of the run it is part of.
#[derive(Debug, Clone, Default)]
pub struct RunInfo {
    /// The project.
    pub project: String,
    /// The stack.
    pub stack: String,
    /// The organization.
    pub organization: String,
    /// The configuration, by `namespace:name`.
    pub config: BTreeMap<String, String>,
    /// Which of it is secret.
    pub secret_keys: Vec<String>,
    /// Whether this is a preview.
    pub dry_run: bool,
    /// How many operations run side by side.
    pub parallel: usize,
}

/// A component to be constructed.
#[derive(Debug, Clone, Default)]
pub struct ConstructArguments {
    /// Its type token.
    pub type_token: String,
    /// Its name.
    pub name: String,
    /// Its parent, or empty.
    pub parent: Urn,
    /// Its inputs.
    pub inputs: PropertyMap,
    /// What each input depends on.
    pub input_dependencies: BTreeMap<String, Vec<Urn>>,
    /// What the component depends on.
    pub dependencies: Vec<Urn>,
    /// Providers for its children by package.
    pub providers: BTreeMap<String, String>,
    /// Its options.
    pub options: crate::ResourceOptions,
    /// Names that it had before, whole.
    pub aliases: Vec<Urn>,
    /// Time limits.
    pub timeouts: Timeouts,
    /// The surroundings of the program.
    pub info: RunInfo,
    /// What stands for the trace of the request that led here, or empty. What is registered on its behalf names it.
    pub trace: String,
}

/// A constructed component.
#[derive(Debug, Clone, Default)]
pub struct Constructed {
    /// Its name.
    pub urn: Urn,
    /// Its outputs.
    pub outputs: PropertyMap,
    /// What each output depends on.
    pub output_dependencies: BTreeMap<String, Vec<Urn>>,
}

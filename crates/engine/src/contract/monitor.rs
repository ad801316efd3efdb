//! What programs, components and providers may ask of a running operation.

use crate::{
    CallAnswer, CallRequest, Diagnostic, ErrorHook, Hook, InvokeRequest, InvokeTransform, Invoked, Op,
    PackageDescriptor, Parameterization, PropertyDiff, PropertyMap, ReadRequest, RegisterRequest, Registered,
    Transform,
};
use async_trait::async_trait;
use drystone_model::Urn;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The way into a running operation.
pub type Monitor = Arc<dyn ResourceMonitor>;

/// What programs, components and providers may ask of a running operation.
#[async_trait]
pub trait ResourceMonitor: Send + Sync {
    /// Makes a resource what the program wants it to be. Answers when it is.
    async fn register(&self, request: RegisterRequest) -> Result<Registered, MonitorError>;
    /// Sets the outputs of a component or of the stack.
    async fn register_outputs(&self, urn: &Urn, outputs: PropertyMap) -> Result<(), MonitorError>;
    /// Looks at a resource that exists.
    async fn read(&self, request: ReadRequest) -> Result<Registered, MonitorError>;
    /// Runs a function of a provider.
    async fn invoke(&self, request: InvokeRequest) -> Result<Invoked, MonitorError>;
    /// Runs a method of a component.
    async fn call(&self, request: CallRequest) -> Result<CallAnswer, MonitorError>;
    /// Says what the program needs, before it runs: what its requests leave out of a package is as it is here.
    fn require_packages(&self, packages: Vec<PackageDescriptor>) -> Result<(), MonitorError>;
    /// Makes a package known; what it gives stands for the package in later requests.
    async fn register_package(&self, package: PackageRequest) -> Result<String, MonitorError>;
    /// Transforms every resource from now on.
    fn add_stack_transform(&self, transform: Arc<dyn Transform>) -> Result<(), MonitorError>;
    /// Transforms every invoke from now on.
    fn add_stack_invoke_transform(&self, transform: Arc<dyn InvokeTransform>) -> Result<(), MonitorError>;
    /// Makes a hook known by its name.
    fn add_hook(&self, name: String, hook: HookRegistration) -> Result<(), MonitorError>;
    /// Makes an error hook known by its name.
    fn add_error_hook(&self, name: String, hook: Arc<dyn ErrorHook>) -> Result<(), MonitorError>;
    /// Says that nothing more will be registered, and waits until the engine needs no callbacks any more.
    async fn finish(&self);
    /// Tells people something.
    fn log(&self, diagnostic: Diagnostic);
    /// The stack's own resource, once there is one.
    fn root(&self) -> Urn;
    /// Steps of views, published by the provider that was given the token with an operation.
    async fn publish_views(&self, token: &str, steps: Vec<ViewStep>) -> Result<(), MonitorError>;
    /// The package's schema as JSON; for programs that check types.
    async fn schema(&self, package: &PackageDescriptor) -> Result<String, MonitorError>;
}

/// Takes the steps of views that providers publish while an operation on their owner runs.
#[async_trait]
pub trait ViewPublisher: Send + Sync {
    /// Takes steps, published with the token that came with the operation.
    async fn publish_views(&self, token: &str, steps: Vec<ViewStep>) -> Result<(), MonitorError>;
}

/// A package that a program uses.
#[derive(Debug, Clone, Default)]
pub struct PackageRequest {
    /// The plugin and, for replacement parameterisation, what is made of it.
    pub package: PackageDescriptor,
    /// What is added to the package, for extension parameterisation.
    pub extension: Option<Parameterization>,
}

/// A hook and how it is treated.
#[derive(Debug, Clone)]
pub struct HookRegistration {
    /// What runs.
    pub hook: Arc<dyn Hook>,
    /// Whether it runs in previews too.
    pub on_dry_run: bool,
    /// Whether its failures are only warnings.
    pub ignore_errors: bool,
}

/// Why a request could not be answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MonitorError {
    /// What may be done about it.
    pub kind: MonitorErrorKind,
    /// What went wrong.
    pub message: String,
}

/// What may be done about a request that could not be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MonitorErrorKind {
    /// The request is wrong.
    #[default]
    Invalid,
    /// It failed, and people have been told.
    Reported,
    /// The operation is ending; nothing more is taken.
    Closing,
    /// The engine cannot do that.
    Unimplemented,
}

impl MonitorError {
    /// A request that is wrong.
    pub fn new(message: impl Into<String>) -> Self {
        Self { kind: MonitorErrorKind::Invalid, message: message.into() }
    }

    /// A failure that people have been told of.
    pub fn reported(message: impl Into<String>) -> Self {
        Self { kind: MonitorErrorKind::Reported, message: message.into() }
    }

    /// The operation is ending.
    #[must_use]
    pub fn closing() -> Self {
        Self { kind: MonitorErrorKind::Closing, message: "the operation is ending".to_owned() }
    }
}

/// A step of a view, as its provider tells it.
#[derive(Debug, Clone)]
pub struct ViewStep {
    /// What was done.
    pub op: Op,
    /// What went wrong, or empty.
    pub error: String,
    /// Whether it is there although something went wrong.
    pub partial: bool,
    /// Its type token.
    pub type_token: String,
    /// Its name.
    pub name: String,
    /// The state before.
    pub old: Option<ViewState>,
    /// The state after.
    pub new: Option<ViewState>,
    /// Properties that made it be replaced.
    pub replace_keys: Vec<String>,
    /// Properties that changed.
    pub changed_keys: Vec<String>,
    /// Every change by its property path; `None` when the provider does not say.
    pub detailed: Option<BTreeMap<String, PropertyDiff>>,
}

/// The state of a view, as its provider tells it.
#[derive(Debug, Clone, Default)]
pub struct ViewState {
    /// Its type token.
    pub type_token: String,
    /// Its name.
    pub name: String,
    /// The type of the view that it is in, or empty.
    pub parent_type: String,
    /// The name of the view that it is in, or empty.
    pub parent_name: String,
    /// Its inputs.
    pub inputs: PropertyMap,
    /// Its outputs.
    pub outputs: PropertyMap,
}

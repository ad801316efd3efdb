//! Programs, and what they may hand to the engine to be called back.

use crate::{HookMoment, InvokeRequest, Monitor, PropertyMap, RegisterRequest};
use async_trait::async_trait;
use drystone_model::{Resource, Urn};
use std::fmt;

/// What registers resources: a language process, an evaluator in this one, or a closure in a test.
#[async_trait]
pub trait Program: Send + Sync {
    /// Runs to the end. Dropping the future ends the program.
    async fn run(&self, monitor: Monitor) -> Result<(), ProgramError>;
}

/// Why a program did not run to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// It failed and has said why.
    #[error("the program failed")]
    Bailed,
    /// It failed, and this is all that is known.
    #[error("{0}")]
    Failed(String),
}

/// A callback that failed, in its own words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failed(pub String);

/// Changes what is registered before the engine sees it.
#[async_trait]
pub trait Transform: Send + Sync + fmt::Debug {
    /// The request as it should be. Only properties and options may differ.
    async fn transform(&self, request: RegisterRequest) -> Result<RegisterRequest, Failed>;
}

/// Changes the arguments and options of an invoke.
#[async_trait]
pub trait InvokeTransform: Send + Sync + fmt::Debug {
    /// The invoke as it should be.
    async fn transform(&self, request: InvokeRequest) -> Result<TransformedInvoke, Failed>;
}

/// What became of an invoke.
#[derive(Debug, Clone, Default)]
pub struct TransformedInvoke {
    /// Its arguments.
    pub arguments: PropertyMap,
    /// Its provider reference, or empty.
    pub provider: String,
    /// Its package's version, or empty.
    pub version: String,
    /// Where its plugin comes from, or empty.
    pub download_url: String,
    /// Checksums of the plugin by platform.
    pub checksums: std::collections::BTreeMap<String, Vec<u8>>,
}

/// What a hook is told.
#[derive(Debug, Clone, Default)]
pub struct HookCall {
    /// The resource.
    pub urn: Urn,
    /// Its id, or empty when it has none yet.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its type.
    pub type_token: String,
    /// When the hook runs.
    pub moment: HookMoment,
    /// The inputs that it gets.
    pub new_inputs: Option<PropertyMap>,
    /// The inputs that it had.
    pub old_inputs: Option<PropertyMap>,
    /// The outputs that it got.
    pub new_outputs: Option<PropertyMap>,
    /// The outputs that it had.
    pub old_outputs: Option<PropertyMap>,
    /// The state that it is to have, without its values.
    pub new_record: Option<Resource>,
    /// The state that it had, without its values.
    pub old_record: Option<Resource>,
    /// For error hooks: the operation that failed (`create`, `update`, `delete`).
    pub operation: String,
    /// For error hooks: what went wrong each time, newest first.
    pub errors: Vec<String>,
}

/// Runs before or after an operation.
#[async_trait]
pub trait Hook: Send + Sync + fmt::Debug {
    /// Runs it.
    async fn run(&self, call: HookCall) -> Result<(), Failed>;
}

/// Decides whether a failed operation is tried again.
#[async_trait]
pub trait ErrorHook: Send + Sync + fmt::Debug {
    /// Whether to try again.
    async fn retry(&self, call: HookCall) -> Result<bool, Failed>;
}

/// Reads the outputs of other stacks.
#[async_trait]
pub trait StackReader: Send + Sync {
    /// The outputs of a stack by its name as the program gives it.
    async fn outputs(&self, stack: &str) -> Result<PropertyMap, Failed>;
    /// Type, id and outputs of every resource of a stack, by URN, as the engine reads them for
    /// `readStackResourceOutputs`.
    async fn resource_outputs(&self, stack: &str) -> Result<PropertyMap, Failed>;
}

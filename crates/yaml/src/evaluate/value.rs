//! Values while a program runs.

use super::promise::Promise;
use super::resource::Handle;
use drystone_model::{Archive, ArchiveSource, Asset, Computed, Secret, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A value. What is not known yet, or must not be shown, is an output.
#[derive(Debug, Clone)]
pub(crate) enum Val {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A text.
    String(Arc<str>),
    /// A list.
    List(Arc<Vec<Val>>),
    /// Named values.
    Object(Arc<BTreeMap<String, Val>>),
    /// A file-like thing.
    Asset(Asset),
    /// A collection of such.
    Archive(Archive),
    /// A resource.
    Resource(Arc<Handle>),
    /// What something will give.
    Output(Promise),
}

/// Evaluation came to an end; why has been told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stopped;

/// A value, unless evaluation came to an end.
pub(crate) type Evaluated = Result<Val, Stopped>;

impl Val {
    /// A text.
    pub(crate) fn text(text: impl Into<Arc<str>>) -> Self {
        Self::String(text.into())
    }

    /// A list.
    pub(crate) fn list(items: Vec<Self>) -> Self {
        Self::List(Arc::new(items))
    }

    /// Named values.
    pub(crate) fn object(members: BTreeMap<String, Self>) -> Self {
        Self::Object(Arc::new(members))
    }

    /// Whether it is or holds an output.
    pub(crate) fn has_outputs(&self) -> bool {
        match self {
            Self::Output(_) => true,
            Self::List(items) => items.iter().any(Self::has_outputs),
            Self::Object(members) => members.values().any(Self::has_outputs),
            _ => false,
        }
    }

    /// The words for its kind, for messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Self::Null => "nil",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
            Self::Asset(_) => "an asset",
            Self::Archive(_) => "an archive",
            Self::Resource(_) => "a resource",
            Self::Output(_) => "an output",
        }
    }
}

/// What becomes of a reference to a resource.
pub(crate) type Refer<'a> = &'a dyn Fn(&drystone_model::ResourceReference) -> Val;

/// A value of the engine's as a program sees it.
pub(crate) fn from_model(value: &Value, refer: Refer<'_>) -> Val {
    match value {
        Value::Null => Val::Null,
        Value::Bool(value) => Val::Bool(*value),
        Value::Number(number) => Val::Number(number.as_f64()),
        Value::String(text) => Val::text(text.as_str()),
        Value::Bytes(bytes) => Val::text(String::from_utf8_lossy(bytes).as_ref()),
        Value::Array(items) => Val::list(items.iter().map(|item| from_model(item, refer)).collect()),
        Value::Object(members) => Val::object(
            members.iter().map(|(name, value)| (name.clone(), from_model(value, refer))).collect(),
        ),
        Value::Asset(asset) => Val::Asset(asset.clone()),
        Value::Archive(archive) => Val::Archive(archive.clone()),
        Value::Secret(Secret::Open(inner)) => {
            Val::Output(Promise::settled(Some(from_model(inner, refer)), true))
        }
        // Only the state has sealed secrets.
        Value::Secret(Secret::Sealed(_)) | Value::Computed(_) => Val::Output(Promise::settled(None, false)),
        Value::Output(output) => {
            let value = output.value.as_ref().map(|value| from_model(value, refer));
            Val::Output(Promise::with_dependencies(value, output.secret, output.dependencies.iter().cloned()))
        }
        Value::ResourceReference(reference) => refer(reference),
    }
}

/// A plain value as the members of an archive are kept; `None` when it cannot be one.
pub(crate) fn archived(value: &Val) -> Option<Value> {
    match value {
        Val::Asset(asset) => Some(Value::Asset(asset.clone())),
        Val::Archive(archive) => Some(Value::Archive(archive.clone())),
        _ => None,
    }
}

/// An archive of assets and archives by name.
pub(crate) fn archive_of(members: BTreeMap<String, Value>) -> Val {
    Val::Archive(Archive { hash: String::new(), source: ArchiveSource::Assets(members) })
}

/// What stands for a value that is not known, outside of outputs.
pub(crate) const UNKNOWN: Value = Value::Computed(Computed::String);

//! Values for the engine.

use super::promise::Rejected;
use super::value::{UNKNOWN, Val};
use drystone_engine::PropertyMap;
use drystone_model::{Number, Output, ResourceReference, Urn, Value};
use futures::future::BoxFuture;
use std::collections::{BTreeMap, BTreeSet};

/// What becomes of outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outputs {
    /// Secrets and what is not known stay outputs, the rest is what it is: inputs of resources.
    Inputs,
    /// All that is known of them is kept: inputs of components that a provider constructs.
    Whole,
    /// What the state keeps of them.
    State,
}

/// A value for the engine.
#[derive(Debug, Clone, Default)]
pub(super) struct Marshalled {
    /// The value.
    pub(super) value: Value,
    /// The resources that it came from.
    pub(super) dependencies: BTreeSet<Urn>,
    /// Whether nothing was said, which is another thing than that something gave nothing.
    absent: bool,
}

impl Marshalled {
    fn of(value: Value) -> Self {
        Self { absent: value.is_null(), value, dependencies: BTreeSet::new() }
    }
}

/// Named values for the engine, with what each of them came from.
#[derive(Debug, Clone, Default)]
pub(super) struct MarshalledProperties {
    /// The values; what is nothing is left out.
    pub(super) properties: PropertyMap,
    /// What each of them came from.
    pub(super) dependencies: BTreeMap<String, Vec<Urn>>,
}

impl MarshalledProperties {
    /// Everything that any of them came from.
    pub(super) fn all_dependencies(&self) -> BTreeSet<Urn> {
        self.dependencies.values().flatten().cloned().collect()
    }
}

/// Waits for everything in named values.
pub(super) async fn marshal_properties(
    properties: &BTreeMap<String, Val>,
    outputs: Outputs,
) -> Result<MarshalledProperties, Rejected> {
    let mut all = MarshalledProperties::default();
    for (name, value) in properties {
        let marshalled = marshal(value, outputs).await?;
        if !marshalled.absent {
            all.dependencies.insert(name.clone(), marshalled.dependencies.into_iter().collect());
            all.properties.insert(name.clone(), marshalled.value);
        }
    }
    Ok(all)
}

/// Waits for everything in a value.
pub(super) fn marshal(value: &Val, outputs: Outputs) -> BoxFuture<'_, Result<Marshalled, Rejected>> {
    Box::pin(async move {
        if let Some(plain) = plain(value) {
            return Ok(Marshalled::of(plain));
        }
        match value {
            Val::List(items) => {
                let mut dependencies = BTreeSet::new();
                let mut elements = Vec::with_capacity(items.len());
                for item in items.iter() {
                    let item = marshal(item, outputs).await?;
                    dependencies.extend(item.dependencies);
                    elements.push(item.value);
                }
                Ok(Marshalled { value: Value::Array(elements), dependencies, absent: false })
            }
            Val::Object(members) => {
                let mut dependencies = BTreeSet::new();
                let mut marshalled = BTreeMap::new();
                for (name, member) in members.iter() {
                    let member = marshal(member, outputs).await?;
                    dependencies.extend(member.dependencies);
                    if !member.absent {
                        marshalled.insert(name.clone(), member.value);
                    }
                }
                Ok(Marshalled { value: Value::Object(marshalled), dependencies, absent: false })
            }
            Val::Resource(handle) => {
                let state = handle.wait().await?;
                let reference = ResourceReference {
                    urn: state.urn.clone(),
                    id: Some(state.id.clone().unwrap_or_default()),
                    package_version: String::new(),
                };
                let dependencies =
                    Some(state.urn.clone()).filter(|urn| !urn.is_empty()).into_iter().collect();
                Ok(Marshalled { value: Value::ResourceReference(reference), dependencies, absent: false })
            }
            Val::Output(promise) => {
                let known = promise.wait().await?;
                let mut dependencies = known.dependencies.as_ref().clone();
                let inner = match &known.value {
                    None => None,
                    Some(inner) => Some(marshal(inner, outputs).await?),
                };
                if let Some(inner) = &inner {
                    dependencies.extend(inner.dependencies.iter().cloned());
                    if !known.secret && dependencies.is_empty() {
                        return Ok(inner.clone());
                    }
                }
                let value = hold(inner.map(|inner| inner.value), known.secret, &dependencies, outputs);
                Ok(Marshalled { value, dependencies, absent: false })
            }
            _ => Ok(Marshalled::default()),
        }
    })
}

fn hold(value: Option<Value>, secret: bool, dependencies: &BTreeSet<Urn>, outputs: Outputs) -> Value {
    let output = |value, dependencies| Value::Output(Box::new(Output { value, secret, dependencies }));
    match (outputs, value, secret) {
        (Outputs::Whole, value, _) => output(value, dependencies.iter().cloned().collect()),
        (Outputs::Inputs, Some(value), false) | (Outputs::State, Some(value), false) => value,
        (Outputs::Inputs, value, _) => output(value, Vec::new()),
        (Outputs::State, Some(value), true) => Value::secret(value),
        (Outputs::State, None, true) => Value::secret(UNKNOWN),
        (Outputs::State, None, false) => UNKNOWN,
    }
}

/// A value without parts that have to be waited for.
fn plain(value: &Val) -> Option<Value> {
    match value {
        Val::Null => Some(Value::Null),
        Val::Bool(value) => Some(Value::Bool(*value)),
        Val::Number(number) => Some(Value::Number(Number::from(*number))),
        Val::String(text) => Some(Value::String(text.to_string())),
        Val::Asset(asset) => Some(Value::Asset(asset.clone())),
        Val::Archive(archive) => Some(Value::Archive(archive.clone())),
        Val::List(_) | Val::Object(_) | Val::Resource(_) | Val::Output(_) => None,
    }
}

/// A value that was waited for, for a function of a provider. What is nothing is left out of objects.
pub(super) async fn marshal_plain(value: &Val) -> Result<Value, Rejected> {
    Ok(marshal(value, Outputs::State).await?.value)
}

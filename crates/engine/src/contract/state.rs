//! A resource's state while the engine works with it.

use drystone_model::{Resource, Value};
use std::collections::BTreeMap;

/// Named property values.
pub type PropertyMap = BTreeMap<String, Value>;

/// A resource's state with its values open.
///
/// The record holds everything but the values; its own `inputs`, `outputs` and `replacement_trigger` are left empty and
/// filled, sealed, when the state is written to the journal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    /// Everything but the values.
    pub record: Resource,
    /// The inputs last given to the provider.
    pub inputs: PropertyMap,
    /// The outputs last returned by it.
    pub outputs: PropertyMap,
    /// The value whose change replaces the resource; null when there is none.
    pub replacement_trigger: Value,
}

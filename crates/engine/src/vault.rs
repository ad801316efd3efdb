//! Between open states and sealed ones.

use crate::{PropertyMap, State, known::Known};
use drystone_dialects::pulumi::properties::{
    SecretForm, decode, decode_plaintext, decode_properties, encode, encode_plaintext, encode_properties,
};
use drystone_model::{Properties, Resource, Urn, Value};
use drystone_secrets::{CodecError, Sealer, ValueText};
use std::sync::Arc;

/// Opens and seals states.
#[derive(Debug, Clone)]
pub(crate) struct Vault {
    sealer: Arc<Sealer>,
}

/// A state as the journal takes it.
pub(crate) struct Sealed {
    pub(crate) resource: Resource,
    /// Whether texts that are not UTF-8 are somewhere inside.
    pub(crate) byte_strings: bool,
}

/// The texts that secrets seal: values as the state writes them.
#[derive(Debug, Clone, Copy)]
pub struct SecretText;

impl ValueText for SecretText {
    fn write(&self, value: &Value) -> Result<String, CodecError> {
        Ok(encode_plaintext(value)?)
    }

    fn read(&self, text: &str) -> Result<Value, CodecError> {
        Ok(decode_plaintext(text)?)
    }
}

impl Vault {
    pub(crate) fn new(sealer: Arc<Sealer>) -> Self {
        Self { sealer }
    }

    /// Opens a state of the snapshot. Fails in words that name the resource.
    pub(crate) fn open(&self, resource: &Resource) -> Result<State, String> {
        let fail =
            |error: &dyn std::fmt::Display| format!("the state of {} cannot be read: {error}", resource.urn);
        let read = |properties: &Properties| decode_properties(properties).map_err(|error| fail(&error));
        let mut inputs = read(&resource.inputs)?;
        let mut outputs = read(&resource.outputs)?;
        let mut trigger = match &resource.replacement_trigger {
            Some(json) => decode(json).map_err(|error| fail(&error))?,
            None => Value::Null,
        };
        let secret = |properties: &PropertyMap| properties.values().any(Value::contains_secrets);
        if secret(&inputs) || secret(&outputs) || trigger.contains_secrets() {
            self.each_place(resource.urn.as_str(), &mut inputs, &mut outputs, &mut trigger, |values| {
                self.sealer.open_values(&SecretText, values).map_err(|error| fail(&error))
            })?;
        }
        let mut record = resource.clone();
        record.inputs = Properties::default();
        record.outputs = Properties::default();
        record.replacement_trigger = None;
        Ok(State { record, inputs, outputs, replacement_trigger: trigger })
    }

    /// Opens values that come from elsewhere. Fails in words that name the resource.
    pub(crate) fn open_map(&self, urn: &Urn, values: &mut PropertyMap) -> Result<(), String> {
        let mut places: Vec<(&str, &mut Value)> =
            values.iter_mut().map(|(key, value)| (key.as_str(), value)).collect();
        self.sealer
            .open_values(&SecretText, &mut places)
            .map_err(|error| format!("what is said of {urn} cannot be read: {error}"))
    }

    /// Seals a state. What has not changed since `before` keeps its very text.
    pub(crate) fn seal(&self, state: &State, before: Option<&Known>) -> Result<Sealed, String> {
        let fail = |error: &dyn std::fmt::Display| {
            format!("the state of {} cannot be written: {error}", state.record.urn)
        };
        let old = before.and_then(|known| Some((known.sealed()?, known.state(self).ok()?)));
        let mut resource = state.record.clone();
        let mut byte_strings = false;
        let same_inputs = old.as_ref().is_some_and(|(_, open)| open.inputs == state.inputs);
        let same_outputs = old.as_ref().is_some_and(|(_, open)| open.outputs == state.outputs);
        if let Some((sealed, _)) = &old {
            if same_inputs {
                resource.inputs = sealed.inputs.clone();
            }
            if same_outputs {
                resource.outputs = sealed.outputs.clone();
            }
        }
        for (place, values, same, target) in [
            ("inputs", &state.inputs, same_inputs, &mut resource.inputs),
            ("outputs", &state.outputs, same_outputs, &mut resource.outputs),
        ] {
            if same || values.is_empty() {
                continue;
            }
            byte_strings |= values.values().any(Value::needs_byte_string);
            let place = format!("{} {place}", state.record.urn);
            *target = self.seal_map(&place, values).map_err(|error| fail(&error))?;
        }
        if !state.replacement_trigger.is_null() {
            let mut value = state.replacement_trigger.clone();
            value.lower_outputs();
            byte_strings |= value.needs_byte_string();
            let place = format!("{} replacementTrigger", state.record.urn);
            self.sealer
                .seal_values(&SecretText, &mut [(&place, &mut value)])
                .map_err(|error| fail(&error))?;
            resource.replacement_trigger =
                Some(encode(&value, SecretForm::Sealed).map_err(|error| fail(&error))?);
        }
        Ok(Sealed { resource, byte_strings })
    }

    pub(crate) fn seal_map(&self, place: &str, values: &PropertyMap) -> Result<Properties, String> {
        let plain = |value: &Value| !value.contains_secrets() && !holds_outputs(value);
        if values.values().all(plain) {
            return encode_properties(values, SecretForm::Sealed).map_err(|error| error.to_string());
        }
        let mut values = values.clone();
        for value in values.values_mut() {
            value.lower_outputs();
        }
        let mut object = Value::Object(values);
        self.sealer
            .seal_values(&SecretText, &mut [(place, &mut object)])
            .map_err(|error| error.to_string())?;
        let Value::Object(values) = object else { return Ok(Properties::default()) };
        encode_properties(&values, SecretForm::Sealed).map_err(|error| error.to_string())
    }

    /// Opens properties in their stored form.
    pub(crate) fn open_stored(&self, place: &str, stored: &Properties) -> Result<PropertyMap, String> {
        let values = decode_properties(stored).map_err(|error| error.to_string())?;
        if !values.values().any(Value::contains_secrets) {
            return Ok(values);
        }
        let mut object = Value::Object(values);
        let opened = self.sealer.open_values(&SecretText, &mut [(place, &mut object)]);
        opened.map_err(|error| error.to_string())?;
        Ok(object.as_object_mut().map(std::mem::take).unwrap_or_default())
    }

    /// Hands the values of a resource out with their places.
    fn each_place<T>(
        &self,
        urn: &str,
        inputs: &mut PropertyMap,
        outputs: &mut PropertyMap,
        trigger: &mut Value,
        act: impl FnOnce(&mut [(&str, &mut Value)]) -> T,
    ) -> T {
        let places = ["inputs", "outputs", "replacementTrigger"].map(|part| format!("{urn} {part}"));
        let mut open_inputs = Value::Object(std::mem::take(inputs));
        let mut open_outputs = Value::Object(std::mem::take(outputs));
        let result = act(&mut [
            (&places[0], &mut open_inputs),
            (&places[1], &mut open_outputs),
            (&places[2], trigger),
        ]);
        for (value, target) in [(open_inputs, inputs), (open_outputs, outputs)] {
            if let Value::Object(members) = value {
                *target = members;
            }
        }
        result
    }
}

fn holds_outputs(value: &Value) -> bool {
    use std::ops::ControlFlow;
    let found = value.visit(&mut |value| match value {
        Value::Output(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}

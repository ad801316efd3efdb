//! Checking and completing properties.

use super::suggest::did_you_mean;
use super::{Form, Property, Shape};
use drystone_engine::{CheckFailure, PropertyMap};
use drystone_model::{Number, Secret, Value};
use std::collections::BTreeMap;

/// The most of a misspelt name or a wrong value that is repeated in a message.
const LONGEST_SHOWN: usize = 80;

/// What is wrong with properties. Values are never repeated: they may be secret.
#[derive(Debug, Default)]
pub(crate) struct Failures(pub(crate) Vec<CheckFailure>);

impl Failures {
    pub(crate) fn add(&mut self, property: &str, reason: impl Into<String>) {
        self.0.push(CheckFailure { property: property.to_owned(), reason: reason.into() });
    }
}

/// The properties with defaults and in the types that the schema asks for. What does not fit is in `failures`.
pub(crate) fn check(shape: &Shape, properties: &PropertyMap, failures: &mut Failures) -> PropertyMap {
    let mut checked = members("", &shape.inputs, &shape.required, Some(&shape.outputs), properties, failures);
    for (name, property) in &shape.inputs {
        if let Some(default) = &property.default {
            checked.entry(name.clone()).or_insert_with(|| default.clone());
        }
    }
    checked
}

fn members(
    path: &str,
    known: &BTreeMap<String, Property>,
    required: &[String],
    outputs: Option<&BTreeMap<String, Property>>,
    given: &PropertyMap,
    failures: &mut Failures,
) -> PropertyMap {
    let mut fitting = PropertyMap::new();
    let at = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    for (name, value) in given.iter().filter(|(_, value)| !value.is_null()) {
        match known.get(name) {
            Some(property) => {
                let value = fit(&at(name), &property.form, value, failures);
                let value = if property.secret { Value::secret(value) } else { value };
                fitting.insert(name.clone(), value);
            }
            None if outputs.is_some_and(|outputs| outputs.contains_key(name)) => {
                failures.add(&at(name), format!("`{name}` is an output and cannot be set"));
            }
            None => {
                let hint = did_you_mean(name, known.keys().map(String::as_str));
                let name = shown(name);
                failures.add(&at(&name), format!("unknown property `{name}`{hint}"));
            }
        }
    }
    for name in required.iter().filter(|name| given.get(*name).is_none_or(Value::is_null)) {
        failures.add(&at(name), format!("missing required property `{name}`"));
    }
    fitting
}

/// The value as the type wants it. Numbers and truth values become text where text is wanted and the other way round,
/// as they do between the languages and configuration, which only knows text.
fn fit(path: &str, form: &Form, value: &Value, failures: &mut Failures) -> Value {
    match (form, value) {
        (_, Value::Secret(Secret::Open(inner))) => Value::secret(fit(path, form, inner, failures)),
        (_, Value::Output(_)) => {
            let mut lowered = value.clone();
            lowered.lower_outputs();
            fit(path, form, &lowered, failures)
        }
        (Form::Any, _)
        | (_, Value::Computed(_) | Value::Secret(_))
        | (Form::Text, Value::String(_))
        | (Form::Flag, Value::Bool(_)) => value.clone(),
        (Form::Text, Value::Number(number)) if number.is_finite() => Value::String(number.to_string()),
        (Form::Text, Value::Bool(flag)) => Value::String(flag.to_string()),
        (Form::Flag, Value::String(text)) if text == "true" || text == "false" => Value::Bool(text == "true"),
        (Form::Number, Value::Number(number)) if number.is_finite() => value.clone(),
        (Form::Whole, Value::Number(number)) if number.as_i64().is_some() => value.clone(),
        (Form::Whole | Form::Number, Value::String(text)) => match Number::parse(text) {
            Some(number) => fit(path, form, &Value::Number(number), failures),
            None => misfit(path, form, value, failures),
        },
        (Form::Choice(choices), Value::String(text)) if choices.contains(text) => value.clone(),
        (Form::Choice(choices), Value::String(text)) => {
            let hint = did_you_mean(text, choices.iter().map(String::as_str));
            let names: Vec<String> = choices.iter().map(|choice| format!("`{choice}`")).collect();
            failures.add(path, format!("`{path}` must be one of {}{hint}", names.join(", ")));
            value.clone()
        }
        (Form::List(element), Value::Array(elements)) => {
            let each = |(index, value)| fit(&format!("{path}[{index}]"), element, value, failures);
            Value::Array(elements.iter().enumerate().map(each).collect())
        }
        (Form::Map(element), Value::Object(entries)) => {
            let mut fitting = PropertyMap::new();
            for (name, value) in entries.iter().filter(|(_, value)| !value.is_null()) {
                let at = format!("{path}[\"{}\"]", shown(name));
                fitting.insert(name.clone(), fit(&at, element, value, failures));
            }
            Value::Object(fitting)
        }
        (Form::Object { members: known, required }, Value::Object(given)) => {
            Value::Object(members(path, known, required, None, given, failures))
        }
        _ => misfit(path, form, value, failures),
    }
}

fn misfit(path: &str, form: &Form, value: &Value, failures: &mut Failures) -> Value {
    let (wanted, got) = (noun(form), kind(value));
    failures.add(path, format!("`{path}` must be {wanted}, not {got}"));
    value.clone()
}

fn noun(form: &Form) -> &'static str {
    match form {
        Form::Any => "a value",
        Form::Text | Form::Choice(_) => "a string",
        Form::Whole => "a whole number",
        Form::Number => "a number",
        Form::Flag => "true or false",
        Form::List(_) => "a list",
        Form::Map(_) | Form::Object { .. } => "a map",
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "true or false",
        Value::Number(number) if number.as_i64().is_none() => "this number",
        Value::Number(_) => "a number",
        Value::String(_) => "this string",
        Value::Bytes(_) => "bytes that are no text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
        Value::Asset(_) => "an asset",
        Value::Archive(_) => "an archive",
        Value::ResourceReference(_) => "a resource",
        _ => "this value",
    }
}

fn shown(name: &str) -> String {
    match name.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

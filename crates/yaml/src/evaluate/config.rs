//! Values from outside: the configuration of a stack.

use super::run::Evaluator;
use super::value::{Evaluated, Stopped, Val};
use crate::check::config_type;
use crate::template::ConfigEntry;
use drystone_engine::ConfigValue;
use drystone_plugins::schema::Type;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The values that are given from outside.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// By name, those of the project without its name before them.
    values: BTreeMap<String, GivenValue>,
    /// The project's name and a colon.
    prefix: String,
}

#[derive(Debug, Clone)]
struct GivenValue {
    text: String,
    value: Val,
    secret: bool,
}

impl Given {
    /// The configuration of a stack, by `namespace:name`.
    pub(crate) fn config(project: &str, config: &BTreeMap<String, ConfigValue>) -> Self {
        let prefix = format!("{project}:");
        let values = config.iter().map(|(key, value)| {
            let name = key.strip_prefix(&prefix).unwrap_or(key).to_owned();
            let given =
                GivenValue { text: value.text.clone(), value: guess(&value.text), secret: value.secret };
            (name, given)
        });
        Self { values: values.collect(), prefix: prefix.clone() }
    }

    /// The inputs of a component.
    pub(crate) fn inputs(inputs: BTreeMap<String, Val>) -> Self {
        let given = |value| GivenValue { text: String::new(), value, secret: false };
        let values = inputs.into_iter().map(|(name, value)| (name, given(value))).collect();
        Self { values, prefix: String::new() }
    }

    /// The names of the values.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        self.values.keys().cloned().collect()
    }

    /// A value by its name.
    pub(crate) fn value(&self, name: &str) -> Option<Val> {
        let own = || name.strip_prefix(&self.prefix).and_then(|name| self.values.get(name));
        let given = self.values.get(name).or_else(own)?;
        Some(match given.secret {
            true => Val::Output(super::promise::Promise::settled(Some(given.value.clone()), true)),
            false => given.value.clone(),
        })
    }

    /// What the values are, as far as that can be told from them.
    pub(crate) fn types(&self) -> HashMap<String, Type> {
        let kind = |given: &GivenValue| match (&given.value, given.secret) {
            (_, true) => Type::Unknown,
            (Val::Bool(_), _) => Type::Bool,
            (Val::Number(_), _) => Type::Number,
            (Val::String(_), _) => Type::String,
            (Val::Object(_), _) => Type::Map(Arc::new(Type::Any)),
            _ => Type::Unknown,
        };
        self.values.iter().map(|(name, given)| (name.clone(), kind(given))).collect()
    }
}

/// What a text of the configuration means. Texts that start with a zero stay texts: they may be codes.
fn guess(text: &str) -> Val {
    if text.len() > 1 && text.starts_with('0') && !text.starts_with("0.") {
        return Val::text(text);
    }
    if let Ok(integer) = text.parse::<i64>() {
        #[expect(
            clippy::cast_precision_loss,
            reason = "numbers of the language are floating-point numbers"
        )]
        return Val::Number(integer as f64);
    }
    match text {
        "t" | "T" | "TRUE" | "true" | "True" => return Val::Bool(true),
        "f" | "F" | "FALSE" | "false" | "False" => return Val::Bool(false),
        _ => {}
    }
    if let Ok(number) = text.parse::<f64>()
        && number.is_finite()
    {
        return Val::Number(number);
    }
    match serde_json::from_str(text) {
        Ok(json) => from_json(&json),
        Err(_) => Val::text(text),
    }
}

fn from_json(json: &serde_json::Value) -> Val {
    match json {
        serde_json::Value::Null => Val::Null,
        serde_json::Value::Bool(value) => Val::Bool(*value),
        serde_json::Value::Number(number) => Val::Number(number.as_f64().unwrap_or(f64::NAN)),
        serde_json::Value::String(text) => Val::text(text.as_str()),
        serde_json::Value::Array(items) => Val::list(items.iter().map(from_json).collect()),
        serde_json::Value::Object(members) => {
            Val::object(members.iter().map(|(name, member)| (name.clone(), from_json(member))).collect())
        }
    }
}

const TYPES: &str = "string, List<string>, number, List<number>, integer, List<integer>, boolean, List<boolean>, \
                     object, List<object>";

impl Evaluator {
    /// A declared value from outside: what is given, or what it is when nobody says.
    pub(super) fn configured(self: &Arc<Self>, entry: &ConfigEntry) -> Evaluated {
        let key = entry.key.as_str();
        if let Some(value) = self.given.value(key) {
            return Ok(value);
        }
        if entry.kind.is_none() && entry.default.is_none() {
            return Err(
                self.fail(entry.key.span, "unable to infer type: either 'default' or 'type' is required")
            );
        }
        let wanted = match &entry.kind {
            Some(kind) => Some(config_type(kind.as_str()).ok_or_else(|| {
                let written = &kind.value;
                self.fail(
                    kind.span,
                    format!("unexpected configuration type '{written}': valid types are {TYPES}"),
                )
            })?),
            None => None,
        };
        let default = entry.default.as_ref().map(|value| self.evaluate(value)).transpose()?;
        if let (Some(default), Some(wanted)) = (&default, &wanted) {
            self.check_default(entry, default, wanted)?;
        }
        let name = entry.name.as_ref().filter(|name| !name.value.is_empty()).unwrap_or(&entry.key).as_str();
        let marked = matches!(entry.secret, Some((true, _)));
        if let Some(given) = self.given.values.get(name) {
            if given.secret
                && let Some((false, span)) = entry.secret
            {
                return Err(self.fail(
                    span,
                    "Cannot mark a configuration value as not secret if the associated config value is secret",
                ));
            }
            let value = self.read_as(entry, given, wanted.as_ref())?;
            return Ok(self.maybe_secret(value, marked || given.secret));
        }
        match default {
            Some(default) => Ok(self.maybe_secret(default, marked)),
            None => {
                let prefix = &self.given.prefix;
                let summary = format!(
                    "missing required configuration variable '{prefix}{name}'; run `pulumi config` to set"
                );
                Err(self.fail(entry.key.span, summary))
            }
        }
    }

    fn maybe_secret(&self, value: Val, secret: bool) -> Val {
        if secret { Val::Output(self.hidden(value, true)) } else { value }
    }

    fn check_default(&self, entry: &ConfigEntry, default: &Val, wanted: &Type) -> Result<(), Stopped> {
        if matches_type(default, wanted) {
            return Ok(());
        }
        let summary = format!(
            "type mismatch: default value is {} but type {} was specified",
            default.describe(),
            wanted.describe()
        );
        Err(self.fail(entry.key.span, summary))
    }

    /// A value under another name, read as the type that is declared.
    fn read_as(&self, entry: &ConfigEntry, given: &GivenValue, wanted: Option<&Type>) -> Evaluated {
        let Some(wanted) = wanted else { return Ok(given.value.clone()) };
        let value = match wanted {
            Type::String => Val::text(given.text.as_str()),
            _ => given.value.clone(),
        };
        if matches_type(&value, wanted) {
            return Ok(value);
        }
        let (name, wanted) = (&entry.key.value, wanted.describe());
        Err(self.fail(entry.key.span, format!("the configuration value of {name} is not of type {wanted}")))
    }
}

/// Whether a value is of a type that can be declared. Of values that come later nothing is said.
fn matches_type(value: &Val, wanted: &Type) -> bool {
    match (value, wanted) {
        (Val::Output(_), _)
        | (Val::String(_), Type::String)
        | (Val::Bool(_), Type::Bool)
        | (Val::Number(_), Type::Number)
        | (Val::Object(_), Type::Map(_)) => true,
        (Val::Number(number), Type::Integer) => number.fract() == 0.0,
        (Val::List(items), Type::Array(element)) => items.iter().all(|item| matches_type(item, element)),
        _ => false,
    }
}

//! Checked inputs, in clear.

use drystone_engine::PropertyMap;
use drystone_model::Value;
use std::collections::BTreeMap;

/// Properties whose types were checked, with secrets in clear. What is missing, null or not known yet is not there.
#[derive(Clone, Default)]
pub(crate) struct Fields {
    values: PropertyMap,
    /// Names of those that are or hold secrets.
    secret: Vec<String>,
}

impl Fields {
    pub(crate) fn new(properties: &PropertyMap) -> Self {
        let secret = properties.iter().filter(|(_, value)| value.contains_secrets());
        Self {
            secret: secret.map(|(key, _)| key.clone()).collect(),
            values: properties.iter().map(|(key, value)| (key.clone(), value.revealed())).collect(),
        }
    }

    /// The value, when all of it is known.
    pub(crate) fn value(&self, key: &str) -> Option<&Value> {
        self.values.get(key).filter(|value| !value.is_null() && !value.contains_unknowns())
    }

    /// Whether something is said of it, known or not.
    pub(crate) fn is_given(&self, key: &str) -> bool {
        self.values.get(key).is_some_and(|value| !value.is_null())
    }

    /// Whether it is given but not known yet.
    pub(crate) fn is_unknown(&self, key: &str) -> bool {
        self.values.get(key).is_some_and(Value::contains_unknowns)
    }

    pub(crate) fn is_secret(&self, key: &str) -> bool {
        self.secret.iter().any(|secret| secret == key)
    }

    /// Whether one of those is or holds a secret.
    pub(crate) fn any_secret(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.is_secret(key))
    }

    /// Makes outputs secret that say something of one of those, if it is a secret.
    pub(crate) fn hide_with(&self, keys: &[&str], outputs: &mut PropertyMap) {
        if self.any_secret(keys) {
            outputs.values_mut().for_each(|value| *value = Value::secret(std::mem::take(value)));
        }
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.value(key)?.as_str()
    }

    pub(crate) fn whole(&self, key: &str) -> Option<i64> {
        self.value(key)?.as_number()?.as_i64()
    }

    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        self.value(key)?.as_bool()
    }

    pub(crate) fn list(&self, key: &str) -> &[Value] {
        self.value(key).and_then(Value::as_array).unwrap_or_default()
    }

    pub(crate) fn texts(&self, key: &str) -> Vec<String> {
        self.list(key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Texts by name.
    pub(crate) fn map(&self, key: &str) -> BTreeMap<String, String> {
        let members = self.value(key).and_then(Value::as_object).into_iter().flatten();
        members.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
    }
}

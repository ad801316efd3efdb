//! Stack settings in JSON, which has no comments to keep: the file is written whole, as the stock CLI lays it out.

use super::settings::{
    CONFIG, ENCRYPTED_KEY, ENCRYPTION_SALT, ENVIRONMENT, ReadSettings, SECRETS_PROVIDER, StackSettings,
};
use crate::Value;
use crate::value::quote_json;
use drystone_model::text::indent;
use std::collections::BTreeMap;

/// The text of a file with these settings. Members that are no settings follow the settings.
pub(super) fn render(text: &str, settings: &StackSettings, saved: &ReadSettings) -> String {
    let mut members: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: Option<&Value>| {
        if let Some(value) = value {
            members.push((name.to_owned(), value.to_json()));
        }
    };
    let texts = [
        (SECRETS_PROVIDER, &settings.secrets_provider),
        (ENCRYPTED_KEY, &settings.encrypted_key),
        (ENCRYPTION_SALT, &settings.encryption_salt),
    ];
    for (name, text) in texts {
        add(name, text.clone().map(Value::String).as_ref());
    }
    let config: BTreeMap<String, Value> = settings
        .config
        .iter()
        .map(|(key, value)| {
            let spelled = saved.spelled.get(key).and_then(|names| names.first().cloned());
            (spelled.unwrap_or_else(|| key.to_string()), value.clone())
        })
        .collect();
    add(CONFIG, Some(&Value::Object(config)).filter(|_| !settings.config.is_empty()));
    add(ENVIRONMENT, settings.environment.as_ref());
    if let Ok(serde_json::Value::Object(before)) = serde_json::from_str(text) {
        let known = [SECRETS_PROVIDER, ENCRYPTED_KEY, ENCRYPTION_SALT, CONFIG, ENVIRONMENT];
        for (name, value) in before.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
            members.push((name.clone(), value.to_string()));
        }
    }
    let mut compact = String::from("{");
    for (index, (name, value)) in members.iter().enumerate() {
        if index > 0 {
            compact.push(',');
        }
        quote_json(name, &mut compact);
        compact.push(':');
        compact.push_str(value);
    }
    compact.push('}');
    let mut out = Vec::new();
    match indent(compact.as_bytes(), "    ", &mut out).map(|()| String::from_utf8(out)) {
        Ok(Ok(text)) => text + "\n",
        _ => compact,
    }
}

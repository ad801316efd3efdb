//! What the settings of a stack say.

use crate::config::{Config, Key};
use crate::file::Parsed;
use crate::project::Problem;
use crate::yaml::{Entry, Kind, Node};
use crate::{Location, Value};
use std::collections::BTreeMap;

/// The settings of a stack.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StackSettings {
    /// The provider of its secrets, if it is not the backend's own.
    pub secrets_provider: Option<String>,
    /// The encrypted data key of a cloud secrets provider.
    pub encrypted_key: Option<String>,
    /// The salt of a passphrase secrets provider.
    pub encryption_salt: Option<String>,
    /// The configuration.
    pub config: Config,
    /// The environments that the stack imports.
    pub environment: Option<Value>,
}

/// The names of the settings in a file, in the order in which new ones are written.
pub(super) const SECRETS_PROVIDER: &str = "secretsprovider";
pub(super) const ENCRYPTED_KEY: &str = "encryptedkey";
pub(super) const ENCRYPTION_SALT: &str = "encryptionsalt";
pub(super) const CONFIG: &str = "config";
pub(super) const ENVIRONMENT: &str = "environment";

/// Settings, and the names that configuration keys have in the file that they came from.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ReadSettings {
    pub(super) settings: StackSettings,
    pub(super) spelled: BTreeMap<Key, Vec<String>>,
}

/// Reads settings; keys without a namespace belong to the project.
pub(super) fn read(parsed: &Parsed, project: Option<&str>) -> Result<ReadSettings, Problem> {
    let problem = |location: Location, message: String| Problem {
        location: parsed.located.then_some(location),
        message,
    };
    let root = &parsed.root;
    let mut read = ReadSettings::default();
    if root.value == Value::Null {
        return Ok(read);
    }
    if !matches!(root.kind, Kind::Mapping { .. }) {
        return Err(problem(root.location, "stack settings are a mapping".to_owned()));
    }
    let text = |name: &str| match root.get(name).map(|entry| &entry.value) {
        None => Ok(None),
        Some(node) => match &node.value {
            Value::Null => Ok(None),
            Value::Array(_) | Value::Object(_) | Value::Secure(_) => {
                Err(problem(node.location, format!("`{name}` is a text")))
            }
            value => Ok(Some(value.text(&mut |_| "".into())).filter(|text| !text.is_empty())),
        },
    };
    read.settings.secrets_provider = text(SECRETS_PROVIDER)?;
    read.settings.encrypted_key = text(ENCRYPTED_KEY)?;
    read.settings.encryption_salt = text(ENCRYPTION_SALT)?;
    read.settings.environment =
        root.get(ENVIRONMENT).map(|entry| entry.value.value.clone()).filter(|value| *value != Value::Null);
    if let Some(Entry { value: node, .. }) = root.get(CONFIG) {
        match node.value.members() {
            Some(members) => {
                let place = |name: &str| node.get(name).map_or(node.location, |entry| entry.key_location);
                let mut members: Vec<_> =
                    members.iter().map(|(name, value)| (place(name), name, value)).collect();
                members.sort_by_key(|(location, ..)| *location);
                for (location, name, value) in members {
                    read.add(project, name, value).map_err(|message| problem(location, message))?;
                }
            }
            None if node.value == Value::Null => {}
            None => return Err(problem(node.location, "`config` is a mapping".to_owned())),
        }
    }
    Ok(read)
}

impl ReadSettings {
    fn add(&mut self, project: Option<&str>, name: &str, value: &Value) -> Result<(), String> {
        let key = Key::parse_in(project, name).map_err(|error| error.to_string())?;
        if has_no_number(value) {
            return Err(format!("`{name}` is not a number that configuration can hold"));
        }
        let names = self.spelled.entry(key.clone()).or_default();
        if let Some(other) = names.first()
            && self.settings.config.stored(&key) != Some(value)
        {
            return Err(format!("`{name}` and `{other}` name the same value"));
        }
        names.push(name.to_owned());
        self.settings.config.insert(key, value.clone());
        Ok(())
    }
}

/// Whether infinity, or what is not a number at all, stands in a value.
fn has_no_number(value: &Value) -> bool {
    match value {
        Value::Float(number) => !number.is_finite(),
        Value::Array(items) => items.iter().any(has_no_number),
        Value::Object(members) => members.values().any(has_no_number),
        _ => false,
    }
}

/// The node of the configuration section, if there is one.
pub(super) fn config_node(root: &Node) -> Option<&Node> {
    root.get(CONFIG).map(|entry| &entry.value)
}

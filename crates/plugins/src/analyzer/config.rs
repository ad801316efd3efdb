//! The settings of a policy pack: levels and properties by policy.
//!
//! What a pack says of its policies comes first, then what it sets itself, then what a file says. `all` stands for the
//! level of every policy.

use super::answers::{Senseless, level, level_number};
use super::schema;
use crate::proto::pulumirpc as rpc;
use crate::wire::Struct;
use drystone_engine::EnforcementLevel;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The name that stands for every policy.
const ALL: &str = "all";
/// Where settings name environments of Pulumi Cloud.
const ENVIRONMENTS: &str = "environments";
/// Where the settings of a policy have its level.
const LEVEL: &str = "enforcementLevel";

/// Settings by policy.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PolicySettings {
    policies: BTreeMap<String, Setting>,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Setting {
    level: Option<EnforcementLevel>,
    properties: Map<String, Value>,
}

/// Why a file of settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// It cannot be read.
    #[error("the policy settings `{}` cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no JSON object.
    #[error("the policy settings `{}` are not a JSON object: {source}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Why and where.
        source: serde_json::Error,
    },
    /// A policy's settings are not right.
    #[error("the policy settings `{}` are not right for \"{policy}\": {reason}", path.display())]
    Policy {
        /// The file.
        path: PathBuf,
        /// The policy.
        policy: String,
        /// What is wrong.
        reason: String,
    },
    /// It names environments.
    #[error("the policy settings `{}` name environments, which only Pulumi Cloud has", path.display())]
    Environments {
        /// The file.
        path: PathBuf,
    },
}

impl PolicySettings {
    /// The settings in a file. An empty file has none.
    pub fn load(path: &Path) -> Result<Self, SettingsError> {
        let path = path.to_owned();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(source) => return Err(SettingsError::Unreadable { path, source }),
        };
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let members: Map<String, Value> = match serde_json::from_str(&text) {
            Ok(members) => members,
            Err(source) => return Err(SettingsError::Malformed { path, source }),
        };
        let mut policies = BTreeMap::new();
        for (policy, value) in members {
            if policy == ENVIRONMENTS {
                match value {
                    Value::Array(named) if named.is_empty() => continue,
                    _ => return Err(SettingsError::Environments { path }),
                }
            }
            match Setting::read(value) {
                Ok(setting) if setting == Setting::default() => {}
                Ok(setting) => {
                    policies.insert(policy, setting);
                }
                Err(reason) => return Err(SettingsError::Policy { path, policy, reason }),
            }
        }
        Ok(Self { policies })
    }

    /// The policies that a pack does not have.
    pub(super) fn strangers(&self, info: &rpc::AnalyzerInfo) -> Vec<String> {
        let known = |name: &&String| *name == ALL || info.policies.iter().any(|policy| policy.name == **name);
        self.policies.keys().filter(|name| !known(name)).cloned().collect()
    }

    pub(super) fn level(&self, policy: &str) -> Option<EnforcementLevel> {
        self.policies.get(policy)?.level
    }

    /// What is wrong with them, by the schemas of the policies.
    pub(super) fn problems(&self, info: &rpc::AnalyzerInfo) -> Result<Vec<String>, Senseless> {
        let mut problems = Vec::new();
        for policy in &info.policies {
            let Some(declared) = &policy.config_schema else { continue };
            let schema = whole_schema(declared)?;
            let properties = self.policies.get(&policy.name).map(|setting| setting.properties.clone());
            let found = schema::check(&schema, &Value::Object(properties.unwrap_or_default()));
            problems.extend(found.into_iter().map(|problem| format!("{}: {problem}", policy.name)));
        }
        problems.sort();
        Ok(problems)
    }

    /// The same on the wire. A policy whose level nobody says is left out.
    pub(super) fn to_wire(&self) -> rpc::ConfigureAnalyzerRequest {
        let policy_config = self.policies.iter().filter_map(|(policy, setting)| {
            let setting = rpc::PolicyConfig {
                enforcement_level: level_number(setting.level?),
                properties: Some(Struct::from_json(&setting.properties)),
            };
            Some((policy.clone(), setting))
        });
        rpc::ConfigureAnalyzerRequest { policy_config: policy_config.collect() }
    }

    /// Puts other settings over these.
    fn apply(&mut self, given: Self) {
        if let Some(level) = given.level(ALL) {
            for setting in self.policies.values_mut() {
                setting.level = Some(level);
            }
        }
        for (policy, given) in given.policies {
            let setting = self.policies.entry(policy).or_default();
            setting.level = given.level.or(setting.level);
            setting.properties.extend(given.properties);
        }
    }
}

impl Setting {
    /// A level, or properties with the level among them.
    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::String(word) => Ok(Self { level: Some(read_level(&word)?), properties: Map::new() }),
            Value::Object(mut properties) => {
                let level = match properties.remove(LEVEL) {
                    None => None,
                    Some(Value::String(word)) => Some(read_level(&word)?),
                    Some(other) => {
                        return Err(format!("{other} is not a valid enforcement level; must be a string"));
                    }
                };
                Ok(Self { level, properties })
            }
            other => Err(format!("{other} is not a valid value; must be a string or object")),
        }
    }
}

fn read_level(word: &str) -> Result<EnforcementLevel, String> {
    EnforcementLevel::of(word).ok_or_else(|| {
        let known: Vec<&str> = EnforcementLevel::ALL.iter().map(|(_, word)| *word).collect();
        format!("\"{word}\" is not a valid enforcement level; it can be {}", known.join(", "))
    })
}

/// The settings of a pack with what was given for it.
pub(super) fn reconciled(
    info: &rpc::AnalyzerInfo,
    given: Option<PolicySettings>,
) -> Result<PolicySettings, Senseless> {
    let mut settings = PolicySettings::default();
    for policy in &info.policies {
        let mut properties = Map::new();
        if let Some(declared) = &policy.config_schema {
            for (key, schema) in declared_properties(declared)? {
                properties.extend(schema.get("default").map(|value| (key, value.clone())));
            }
        }
        let setting = Setting { level: Some(level(policy.enforcement_level)?), properties };
        settings.policies.insert(policy.name.clone(), setting);
    }
    let mut initial = PolicySettings::default();
    for (policy, config) in &info.initial_config {
        let properties = json(config.properties.as_ref())?;
        let setting = Setting { level: Some(level(config.enforcement_level)?), properties };
        initial.policies.insert(policy.clone(), setting);
    }
    settings.apply(initial);
    settings.apply(given.unwrap_or_default());
    Ok(settings)
}

/// The schema of all settings of a policy.
fn whole_schema(declared: &rpc::PolicyConfigSchema) -> Result<Value, Senseless> {
    Ok(serde_json::json!({
        "type": "object",
        "properties": declared_properties(declared)?,
        "required": declared.required,
    }))
}

fn declared_properties(declared: &rpc::PolicyConfigSchema) -> Result<Map<String, Value>, Senseless> {
    json(declared.properties.as_ref())
}

fn json(members: Option<&Struct>) -> Result<Map<String, Value>, Senseless> {
    members.map_or_else(|| Ok(Map::new()), |members| members.to_json().map_err(|_| Senseless::Schema))
}

//! What a project's declarations do to the configuration of its stacks.

use super::assign::NewValue;
use super::key::{KeyError, Locator};
use super::map::{BatchError, Config, ConfigError};
use crate::Value;
use crate::project::{ConfigType, Project};
use std::borrow::Cow;
use std::collections::HashMap;

/// Why a project's declarations cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeclarationError {
    /// A declared key is not one.
    #[error("the project declares a key that is not one")]
    Key(#[from] KeyError),
    /// A default does not fit into what the stack has.
    #[error("the default of `{key}` cannot be applied")]
    Default {
        /// The key.
        key: String,
        /// Why.
        #[source]
        reason: ConfigError,
    },
}

/// What a project wants of a stack's configuration and does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigProblem {
    /// A value is not there.
    #[error("the configuration value `{key}` is missing")]
    Missing {
        /// The key as the project declares it.
        key: String,
    },
    /// A value is not of its type.
    #[error("the configuration value `{key}` must be of type {kind}")]
    Type {
        /// The key as the project declares it.
        key: String,
        /// The type.
        kind: ConfigType,
    },
    /// A value is not encrypted.
    #[error("the configuration value `{key}` must be encrypted, because the project declares it a secret")]
    NotSecret {
        /// The key as the project declares it.
        key: String,
    },
}

/// A stack's configuration with the project's values where the stack has none, as `config` shows it.
pub fn apply_project(project: &Project, config: &Config) -> Result<Config, DeclarationError> {
    let mut applied = config.clone();
    for (name, declaration) in &project.config {
        let locator = Locator::parse(Some(&project.name), name, true)?;
        let Some(fallback) = declaration.fallback() else { continue };
        if applied.get(&locator).is_some() {
            continue;
        }
        let value = match fallback {
            Value::String(_) | Value::Integer(_) | Value::Bool(_) => {
                NewValue::Text(fallback.text(&mut |_| Cow::Borrowed("")))
            }
            other => NewValue::Typed(other.clone()),
        };
        applied
            .set(&locator, value)
            .map_err(|reason| DeclarationError::Default { key: name.clone(), reason })?;
    }
    Ok(applied)
}

/// Everything that is missing or wrong in a configuration that has the project's values applied. `plaintexts` are the
/// texts behind [`Config::ciphertexts`].
pub fn check(
    project: &Project,
    config: &Config,
    plaintexts: &[String],
) -> Result<Vec<ConfigProblem>, BatchError> {
    let answers = config.answers(plaintexts)?;
    let mut problems = Vec::new();
    for (name, declaration) in &project.config {
        let Ok(locator) = Locator::parse(Some(&project.name), name, true) else { continue };
        let Some(value) = config.get(&locator) else {
            if locator.key.namespace() == project.name {
                problems.push(ConfigProblem::Missing { key: name.clone() });
            }
            continue;
        };
        let Some(kind) = &declaration.kind else { continue };
        if declaration.secret && !value.is_secure() {
            problems.push(ConfigProblem::NotSecret { key: name.clone() });
        } else if !kind.accepts(&opened(&value, &answers)) {
            problems.push(ConfigProblem::Type { key: name.clone(), kind: kind.clone() });
        }
    }
    Ok(problems)
}

/// A value as a program sees it: secrets opened, and a value that is neither a list nor named values as a text.
fn opened(value: &Value, answers: &HashMap<String, &str>) -> Value {
    fn inside(value: &Value, answers: &HashMap<String, &str>) -> Value {
        match value {
            Value::Secure(ciphertext) => {
                Value::String(answers.get(ciphertext).map(|text| (*text).to_owned()).unwrap_or_default())
            }
            Value::Array(items) => Value::Array(items.iter().map(|item| inside(item, answers)).collect()),
            Value::Object(members) => Value::Object(
                members.iter().map(|(name, value)| (name.clone(), inside(value, answers))).collect(),
            ),
            other => other.clone(),
        }
    }
    match inside(value, answers) {
        whole if whole.is_object() => whole,
        scalar => Value::String(scalar.text(&mut |_| Cow::Borrowed(""))),
    }
}

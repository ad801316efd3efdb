//! Default organizations of backends: `config.json`.

use super::{HomeError, credentials_directory, to_text};
use crate::Environment;
use crate::file::{self, Access};
use serde_json::{Map, Value as Json, json};
use std::path::PathBuf;

/// The organization that names without one belong to.
pub fn default_organization(environment: &Environment, backend: &str) -> Result<Option<String>, HomeError> {
    let (_, config) = read(environment)?;
    let organization = config.get("backends").and_then(|backends| backends.get(backend)?.get("defaultOrg"));
    Ok(organization.and_then(Json::as_str).filter(|name| !name.is_empty()).map(str::to_owned))
}

/// Changes the organization that names without one belong to.
pub fn set_default_organization(
    environment: &Environment,
    backend: &str,
    organization: &str,
) -> Result<(), HomeError> {
    let (path, mut config) = read(environment)?;
    let backends = config.entry("backends").or_insert_with(|| json!({}));
    if let Json::Object(backends) = backends {
        let backend = backends.entry(backend).or_insert_with(|| json!({}));
        if let Json::Object(backend) = backend {
            backend.insert("defaultOrg".to_owned(), organization.into());
        }
    }
    write(path, &config)
}

/// Forgets the default organization of a backend, or of all.
pub(super) fn forget(environment: &Environment, backend: Option<&str>) -> Result<(), HomeError> {
    let (path, mut config) = read(environment)?;
    if config.is_empty() {
        return Ok(());
    }
    match (backend, config.get_mut("backends")) {
        (Some(backend), Some(Json::Object(backends))) => {
            if backends.remove(backend).is_none() {
                return Ok(());
            }
            if backends.is_empty() {
                config.remove("backends");
            }
        }
        (None, Some(_)) => {
            config.remove("backends");
        }
        _ => return Ok(()),
    }
    if config.is_empty() { Ok(file::remove(&path)?) } else { write(path, &config) }
}

fn read(environment: &Environment) -> Result<(PathBuf, Map<String, Json>), HomeError> {
    let path = credentials_directory(environment)?.join("config.json");
    let config = match file::read_if_there(&path)?.filter(|text| !text.trim().is_empty()) {
        Some(text) => {
            serde_json::from_str(&text).map_err(|source| HomeError::Invalid { path: path.clone(), source })?
        }
        None => Map::new(),
    };
    Ok((path, config))
}

fn write(path: PathBuf, config: &Map<String, Json>) -> Result<(), HomeError> {
    match to_text(config) {
        Ok(text) => Ok(file::write(&path, &text, Access::Private)?),
        Err(source) => Err(HomeError::Invalid { path, source }),
    }
}

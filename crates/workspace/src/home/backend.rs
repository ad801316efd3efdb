//! Which backend is meant.

use super::credentials::{CredentialsError, CredentialsFile};
use crate::Environment;
use crate::project::Project;
use std::fmt;

/// The backend that commands work with, and why it is that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backend {
    /// Its URL.
    pub url: String,
    /// Where the URL comes from, which is also where to change it.
    pub source: BackendSource,
}

/// Where a backend's URL comes from, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendSource {
    /// The variable `PULUMI_BACKEND_URL`.
    Variable,
    /// The project file.
    Project,
    /// The last login.
    Login,
}

impl fmt::Display for BackendSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Variable => "the variable PULUMI_BACKEND_URL",
            Self::Project => "the `backend` of the project file",
            Self::Login => "the last login",
        })
    }
}

/// The backend to work with, or nothing if nobody said.
pub fn current_backend(
    environment: &Environment,
    project: Option<&Project>,
) -> Result<Option<Backend>, CredentialsError> {
    if let Some(url) = environment.filled_variable("PULUMI_BACKEND_URL") {
        return Ok(Some(Backend { url, source: BackendSource::Variable }));
    }
    if let Some(url) = project.and_then(|project| project.backend_url.clone()) {
        return Ok(Some(Backend { url, source: BackendSource::Project }));
    }
    let credentials = CredentialsFile::open(environment)?.credentials;
    Ok(credentials.current.map(|url| Backend { url, source: BackendSource::Login }))
}

//! What is kept in the user's home folder: credentials, the selected stack, default organizations.

mod backend;
mod credentials;
mod organization;
mod selection;

pub use backend::{Backend, BackendSource, current_backend};
pub use credentials::{Account, Credentials, CredentialsError, CredentialsFile, TokenInformation};
pub use organization::{default_organization, set_default_organization};
pub use selection::{Selection, SelectionSource, Selections, SelectionsFile};

use crate::file::FileError;
use crate::project::NameProblem;
use crate::{Environment, NoHome};
use std::path::PathBuf;

/// Why something in the home folder cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// There is no home folder.
    #[error(transparent)]
    NoHome(#[from] NoHome),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file is not what it should be.
    #[error("`{}` is not valid", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// The project's name cannot be a part of a file name.
    #[error("the project has a name that stacks cannot have")]
    ProjectName(#[from] NameProblem),
}

/// The folder of `credentials.json` and `config.json`.
fn credentials_directory(environment: &Environment) -> Result<PathBuf, NoHome> {
    match environment.filled_variable("PULUMI_CREDENTIALS_PATH") {
        Some(directory) => Ok(environment.resolve(directory.as_ref())),
        None => environment.pulumi_home(),
    }
}

/// A JSON text with an indent of four, as the stock CLI writes these files.
fn to_text<T: serde::Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let compact = serde_json::to_vec(value)?;
    let mut text = Vec::new();
    drystone_model::text::indent(&compact, "    ", &mut text).map_err(serde_json::Error::io)?;
    String::from_utf8(text).map_err(serde::ser::Error::custom)
}

//! Plugins that are source code: what their `PulumiPlugin.yaml` or `PulumiPolicy.yaml` says.

use super::{ProjectError, Runtime, read};
use crate::file::Format;
use std::path::Path;

/// A folder with the source code of a plugin, which a language runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PluginProject {
    /// The language that it is written in.
    pub runtime: Runtime,
    /// Where the program is, if it is not in the folder itself.
    pub main: Option<String>,
    /// Its version; only policy packs have one.
    pub version: Option<String>,
    /// The range of CLI versions that it asks for.
    pub required_pulumi_version: Option<String>,
}

impl PluginProject {
    /// The plugin of a file.
    pub fn load(path: &Path) -> Result<Self, ProjectError> {
        let format = Format::of(path)?;
        let text = crate::file::read(path)?;
        read::plugin_project(&text, format)
            .map_err(|problems| ProjectError::Invalid { path: path.to_owned(), problems })
    }
}

//! Why a plugin is not found.

use super::{Kind, Wanted};
use drystone_workspace::project::ProjectError;
use semver::Version;
use std::path::PathBuf;

/// Why a plugin is not found.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// It is nowhere.
    #[error(transparent)]
    Missing(Box<Missing>),
    /// A folder that should have a plugin has none.
    #[error("`{}` has no plugin: no program `{file_name}`{}", folder.display(), or_source(*project_file))]
    Nothing {
        /// The folder.
        folder: PathBuf,
        /// The program that it could have.
        file_name: String,
        /// The file that would make it a plugin in source code.
        project_file: Option<&'static str>,
    },
    /// The file that describes a plugin in source code is not right.
    #[error(transparent)]
    Project(ProjectError),
    /// A variable names no port.
    #[error("{variable} has `{written}` as the port of `{plugin}`, which is not a number from 1 to 65535")]
    DebugPort {
        /// The variable.
        variable: &'static str,
        /// The plugin.
        plugin: String,
        /// What it says.
        written: String,
    },
    /// The project gives a plugin something that is no version.
    #[error("the project asks for version `{written}` of the plugin `{plugin}`, which is not a version")]
    Version {
        /// The plugin.
        plugin: String,
        /// The text.
        written: String,
    },
    /// The project takes one version of a plugin from two folders.
    #[error("the project names two folders for one version of the {kind} plugin `{plugin}`")]
    Twice {
        /// Its kind.
        kind: Kind,
        /// The plugin.
        plugin: String,
    },
}

/// A plugin that is nowhere. It is told in the stock CLI's words, which scripts look for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no {} plugin '{}' found in the workspace{}{}", wanted.kind, wanted.file_name(), self.at_version(), self.ambient())]
pub struct Missing {
    /// What was wanted.
    pub wanted: Wanted,
    /// Whether the PATH was searched.
    pub is_ambient: bool,
    /// Where it was looked for.
    pub looked: Vec<String>,
    /// The versions of it that are installed.
    pub others: Vec<Version>,
}

impl Missing {
    fn at_version(&self) -> String {
        self.wanted.version.as_ref().map(|version| format!(" at version v{version}")).unwrap_or_default()
    }

    fn ambient(&self) -> &'static str {
        if self.is_ambient { " or on your $PATH" } else { "" }
    }
}

impl SearchError {
    /// Where it was looked for, and what else there is; a line each.
    #[must_use]
    pub fn details(&self) -> Vec<String> {
        let Self::Missing(missing) = self else { return Vec::new() };
        let Missing { looked, others, .. } = missing.as_ref();
        let mut details = vec![format!("looked for it in {}", looked.join(", "))];
        if !others.is_empty() {
            let versions: Vec<String> = others.iter().map(|version| format!("v{version}")).collect();
            details.push(format!("installed are {}", versions.join(", ")));
        }
        details
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let Self::Missing(missing) = self else { return None };
        let Missing { wanted, is_ambient, .. } = missing.as_ref();
        let file_name = wanted.file_name();
        let version = wanted.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        let install = format!("`drystone plugin install {} {}{version}`", wanted.kind, wanted.name);
        Some(match *is_ambient {
            true => format!("install it with {install}, or put `{file_name}` on your $PATH"),
            false => format!("install it with {install}"),
        })
    }
}

fn or_source(project_file: Option<&str>) -> String {
    project_file.map(|file| format!(" and no file `{file}`")).unwrap_or_default()
}

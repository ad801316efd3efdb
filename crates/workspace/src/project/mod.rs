//! Project files: finding the nearest one and reading it.

mod declaration;
mod edit;
mod find;
mod name;
mod plugin;
mod problem;
mod read;

pub use declaration::{ConfigDeclaration, ConfigType};
pub use find::find_project;
pub use name::{NameProblem, check_new_project_name, check_project_name, check_stack_name};
pub use plugin::PluginProject;
pub use problem::Problem;

use crate::file::{FileError, Format};
use crate::{Environment, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A project: what its `Pulumi.yaml`, `Pulumi.yml` or `Pulumi.json` says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Project {
    /// The project file.
    pub path: PathBuf,
    /// The name. Reading does not hold it to the rules for names; making a stack does.
    pub name: String,
    /// The language that the program is written in.
    pub runtime: Option<Runtime>,
    /// What the project is about.
    pub description: Option<String>,
    /// Who made it.
    pub author: Option<String>,
    /// Where to read more.
    pub website: Option<String>,
    /// Its license.
    pub license: Option<String>,
    /// Where the program is, if it is not in the project's folder.
    pub main: Option<String>,
    /// The folder of the stacks' settings, if it is not the project's folder.
    pub stack_config_dir: Option<String>,
    /// The backend that the project's stacks live in.
    pub backend_url: Option<String>,
    /// Whether every operation refreshes the state first.
    pub always_refreshes: bool,
    /// The declared configuration, by key as it is written.
    pub config: BTreeMap<String, ConfigDeclaration>,
    /// The packages that the program uses, by name.
    pub packages: BTreeMap<String, Package>,
    /// Plugins that are taken from given folders.
    pub plugins: Plugins,
    /// The range of CLI versions that the project asks for.
    pub required_pulumi_version: Option<String>,
    /// Everything else.
    pub extra: BTreeMap<String, Value>,
}

/// The language that a program is written in.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Runtime {
    /// Its name, such as `nodejs`.
    pub name: String,
    /// What its host is told.
    pub options: BTreeMap<String, Value>,
}

/// A package that a program uses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Package {
    /// Where it comes from: a name, a registry path, a repository or a folder.
    pub source: String,
    /// Its version.
    pub version: Option<String>,
    /// What it is parameterised with.
    pub parameters: Vec<String>,
    /// What extends it.
    pub extensions: Vec<String>,
    /// The server that its plugin comes from.
    pub plugin_download_url: Option<String>,
    /// Checksums of its plugin by system and architecture, base64.
    pub checksums: BTreeMap<String, String>,
}

/// Plugins that are taken from given folders.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plugins {
    /// For resources.
    pub providers: Vec<Plugin>,
    /// For languages.
    pub languages: Vec<Plugin>,
    /// For policies.
    pub analyzers: Vec<Plugin>,
}

/// A plugin that is taken from a given folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plugin {
    /// Its name.
    pub name: String,
    /// The folder.
    pub path: String,
    /// The version that it stands in for, or any.
    pub version: Option<String>,
}

/// Why there is no project to work with.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// There is no project file in the folder or above it.
    #[error("no Pulumi.yaml project file in `{}` or above it", directory.display())]
    NotFound {
        /// The folder where the search began.
        directory: PathBuf,
    },
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file cannot be changed without disturbing the rest of it.
    #[error("`{}` cannot be changed without disturbing the rest of it", path.display())]
    Entangled {
        /// The file.
        path: PathBuf,
    },
    /// The file does not describe a project.
    #[error("{}:{}", path.display(), problem::List(problems))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Everything that is wrong with it, at least one thing.
        problems: Vec<Problem>,
    },
}

/// A project with the text that it was read from.
#[derive(Debug)]
pub struct ProjectFile {
    text: String,
    /// What the text says.
    pub project: Project,
}

impl ProjectFile {
    /// The file of the project that the working folder belongs to. Where it says what it said before, it is not parsed
    /// again: the program of a project in YAML stands in it, too, and may be long.
    pub fn discover(environment: &Environment, before: Option<Self>) -> Result<Self, ProjectError> {
        let directory = environment.working_directory();
        let path = find_project(directory)
            .ok_or_else(|| ProjectError::NotFound { directory: directory.to_owned() })?;
        Self::load(&path, before)
    }

    fn load(path: &Path, before: Option<Self>) -> Result<Self, ProjectError> {
        let format = Format::of(path)?;
        let text = crate::file::read(path)?;
        if let Some(before) = before.filter(|before| before.project.path == path && before.text == text) {
            return Ok(before);
        }
        let project = read::project(path, &text, format)
            .map_err(|problems| ProjectError::Invalid { path: path.to_owned(), problems })?;
        Ok(Self { text, project })
    }
}

impl Project {
    /// The project that the working folder belongs to.
    pub fn discover(environment: &Environment) -> Result<Self, ProjectError> {
        Ok(ProjectFile::discover(environment, None)?.project)
    }

    /// The project of a file.
    pub fn load(path: &Path) -> Result<Self, ProjectError> {
        Ok(ProjectFile::load(path, None)?.project)
    }

    /// The folder of the project file.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// The file with the settings of a stack, which has the extension of the project file. Of a qualified stack name
    /// only the last part counts.
    #[must_use]
    pub fn stack_settings_path(&self, stack: &str) -> PathBuf {
        let name = stack.rsplit('/').next().unwrap_or(stack);
        let extension = self.path.extension().unwrap_or_default().to_string_lossy();
        let mut directory = self.directory().to_owned();
        if let Some(inside) = &self.stack_config_dir {
            directory.push(inside);
        }
        directory.join(format!("Pulumi.{name}.{extension}"))
    }
}

//! Where a plugin is: attached to, in a folder that the project names, built in, on the PATH, beside our executable,
//! or in the cache of installed plugins.

mod cache;
mod error;
mod path;
mod project;
mod version;
mod wanted;

pub use cache::{Cache, Installed};
pub use error::{Missing, SearchError};
pub use version::{VersionRange, tolerant_version};
pub use wanted::{Kind, Wanted};

pub(crate) use path::on_path;

use drystone_workspace::Environment;
use drystone_workspace::project::{PluginProject, Project, Runtime};
use project::ProjectPlugin;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where a plugin is and what to tell the user of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Where.
    pub place: Place,
    /// Something that may surprise.
    pub warning: Option<String>,
}

/// Where a plugin is.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// It already runs and listens on this port of this machine.
    Attached(u16),
    /// A program.
    Executable(PathBuf),
    /// Source code, run by a language.
    Source(Source),
    /// Part of an SDK that we start ourselves.
    BuiltIn(BuiltIn),
}

/// A plugin that is source code.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Its folder.
    pub folder: PathBuf,
    /// The language that runs it.
    pub runtime: Runtime,
}

/// What we start ourselves, with no plugin on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltIn {
    /// Programs for Node.js.
    Node,
    /// Programs for Bun.
    Bun,
    /// Programs in Python.
    Python,
    /// Providers that a Node.js program carries within itself.
    NodeDynamic,
    /// Providers that a Python program carries within itself.
    PythonDynamic,
}

impl BuiltIn {
    fn of(wanted: &Wanted) -> Option<Self> {
        match (wanted.kind, wanted.name.as_str()) {
            (Kind::Language, "nodejs") => Some(Self::Node),
            (Kind::Language, "bun") => Some(Self::Bun),
            (Kind::Language, "python") => Some(Self::Python),
            (Kind::Resource, "pulumi-nodejs") => Some(Self::NodeDynamic),
            (Kind::Resource, "pulumi-python") => Some(Self::PythonDynamic),
            _ => None,
        }
    }
}

/// Where to look for plugins.
#[derive(Debug, Clone)]
pub struct Search {
    project: Vec<ProjectPlugin>,
    debugged_providers: String,
    debugged_languages: String,
    /// The PATH, unless plugins on it are to be ignored.
    path: Option<OsString>,
    /// The folder of our own executable.
    beside: Option<PathBuf>,
    cache: Option<Cache>,
    /// Whether a newer version in the cache will do as well, as it did years ago.
    accepts_newer: bool,
}

impl Search {
    /// Where the surroundings, and the project if there is one, say to look.
    pub fn new(environment: &Environment, project: Option<&Project>) -> Result<Self, SearchError> {
        let ignores_ambient = environment
            .variable("PULUMI_IGNORE_AMBIENT_PLUGINS")
            .is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"));
        Ok(Self {
            project: project.map(project::plugins).transpose()?.unwrap_or_default(),
            debugged_providers: environment.variable("PULUMI_DEBUG_PROVIDERS").unwrap_or_default(),
            debugged_languages: environment.variable("PULUMI_DEBUG_LANGUAGES").unwrap_or_default(),
            path: environment.variable("PATH").filter(|_| !ignores_ambient).map(OsString::from),
            beside: own_folder(),
            cache: environment.pulumi_home().ok().map(|home| Cache::new(home.join("plugins"))),
            accepts_newer: environment.filled_variable("PULUMI_ENABLE_LEGACY_PLUGIN_SEARCH").is_some(),
        })
    }

    /// The same, with another folder in the place of our executable's.
    #[must_use]
    pub fn beside(mut self, folder: Option<PathBuf>) -> Self {
        self.beside = folder;
        self
    }

    /// Whether the user names a plugin: one that already runs, or one of the project. A language that needs no plugin
    /// is run by it then.
    #[must_use]
    pub fn is_asked_for(&self, wanted: &Wanted) -> bool {
        !matches!(self.attached(wanted), Ok(None)) || self.project.iter().any(|plugin| plugin.suits(wanted))
    }

    /// Where a plugin is.
    pub fn find(&self, wanted: &Wanted) -> Result<Found, SearchError> {
        if let Some(port) = self.attached(wanted)? {
            return Ok(Place::Attached(port).into());
        }
        if let Some(plugin) = self.project.iter().find(|plugin| plugin.suits(wanted)) {
            return at(&plugin.path, wanted.kind, &wanted.name).map(Found::from);
        }
        if let Some(built_in) = BuiltIn::of(wanted) {
            return Ok(Place::BuiltIn(built_in).into());
        }
        if let Some(found) = self.on_path_or_beside(wanted) {
            return Ok(found);
        }
        let cache = self.cache.as_ref();
        match cache.and_then(|cache| cache.select(wanted, self.accepts_newer)) {
            Some(installed) => at(&installed.folder, wanted.kind, &wanted.name).map(Found::from),
            None => Err(self.missing(wanted)),
        }
    }

    /// The names of the providers that are installed or attached to, each once.
    #[must_use]
    pub fn installed_providers(&self) -> BTreeSet<String> {
        let installed = self.cache.iter().flat_map(Cache::installed);
        let installed = installed.filter(|plugin| plugin.kind == Kind::Resource).map(|plugin| plugin.name);
        let attached = self.debugged_providers.split(',').filter_map(|entry| entry.trim().split_once(':'));
        installed.chain(attached.map(|(name, _)| name.to_owned())).collect()
    }

    fn attached(&self, wanted: &Wanted) -> Result<Option<u16>, SearchError> {
        let (variable, list) = match wanted.kind {
            Kind::Resource => ("PULUMI_DEBUG_PROVIDERS", &self.debugged_providers),
            Kind::Language => ("PULUMI_DEBUG_LANGUAGES", &self.debugged_languages),
            _ => return Ok(None),
        };
        let mut entries = list.split(',').filter_map(|entry| entry.trim().split_once(':'));
        let Some((_, port)) = entries.find(|(name, _)| *name == wanted.name) else {
            return Ok(None);
        };
        match port.parse() {
            Ok(port) if port != 0 => Ok(Some(port)),
            _ => Err(SearchError::DebugPort {
                variable,
                plugin: wanted.name.clone(),
                written: port.to_owned(),
            }),
        }
    }

    fn on_path_or_beside(&self, wanted: &Wanted) -> Option<Found> {
        let file_name = wanted.file_name();
        let beside = self.beside.as_ref().filter(|_| wanted.is_bundled());
        let bundled = beside.and_then(|folder| path::executable(folder, &file_name));
        let Some(ambient) = self.path.as_ref().and_then(|path| on_path(path, &file_name)) else {
            return bundled.map(|path| Place::Executable(path).into());
        };
        let real = ambient.canonicalize().ok();
        let warning = real.filter(|real| Some(real) != bundled.as_ref()).map(|_| {
            let expected =
                bundled.as_ref().map(|path| format!(" expected {}", path.display())).unwrap_or_default();
            format!("using {file_name} from $PATH at {}{expected}", ambient.display())
        });
        Some(Found { place: Place::Executable(ambient), warning })
    }

    fn missing(&self, wanted: &Wanted) -> SearchError {
        let mut looked = Vec::new();
        if self.path.is_some() {
            looked.push("the folders of $PATH".to_owned());
        }
        let beside = self.beside.iter().filter(|_| wanted.is_bundled());
        looked.extend(beside.map(|path| path.display().to_string()));
        looked.extend(self.cache.iter().map(|cache| cache.folder().display().to_string()));
        let others = self.cache.iter().flat_map(|cache| cache.versions(wanted)).collect();
        let wanted = wanted.clone();
        SearchError::Missing(Box::new(Missing { wanted, is_ambient: self.path.is_some(), looked, others }))
    }
}

impl From<Place> for Found {
    fn from(place: Place) -> Self {
        Self { place, warning: None }
    }
}

/// The plugin in a folder: its program, or else its source code. A file is the program itself.
pub fn at(path: &Path, kind: Kind, name: &str) -> Result<Place, SearchError> {
    if path.is_file() {
        return Ok(Place::Executable(path.to_owned()));
    }
    let file_name = format!("pulumi-{kind}-{name}");
    if let Some(program) = path::executable(path, &file_name) {
        return Ok(Place::Executable(program));
    }
    let project_file = kind.project_file().map(|name| path.join(name)).filter(|file| file.is_file());
    let Some(project_file) = project_file else {
        let project_file = kind.project_file();
        return Err(SearchError::Nothing { folder: path.to_owned(), file_name, project_file });
    };
    let runtime = PluginProject::load(&project_file).map_err(SearchError::Project)?.runtime;
    let folder = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Ok(Place::Source(Source { folder, runtime }))
}

fn own_folder() -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?.canonicalize().ok()?;
    executable.parent().map(Path::to_owned)
}

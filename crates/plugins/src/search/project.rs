//! Plugins that the project takes from folders.

use super::version::is_same;
use super::{Kind, SearchError, Wanted, tolerant_version};
use drystone_workspace::project::Project;
use semver::Version;
use std::path::PathBuf;

/// A plugin that the project takes from a folder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ProjectPlugin {
    kind: Kind,
    name: String,
    /// The version that it stands in for, or any.
    version: Option<Version>,
    pub(super) path: PathBuf,
}

impl ProjectPlugin {
    /// Whether it is the wanted one.
    pub(super) fn suits(&self, wanted: &Wanted) -> bool {
        self.kind == wanted.kind
            && self.name == wanted.name
            && match (&self.version, &wanted.version) {
                (Some(given), Some(wanted)) => is_same(given, wanted),
                _ => true,
            }
    }

    fn is_the_same_as(&self, other: &Self) -> bool {
        self.version.is_some()
            && (self.kind, &self.name, &self.version) == (other.kind, &other.name, &other.version)
    }
}

/// The plugins of a project.
pub(super) fn plugins(project: &Project) -> Result<Vec<ProjectPlugin>, SearchError> {
    let lists = [
        (Kind::Resource, &project.plugins.providers),
        (Kind::Language, &project.plugins.languages),
        (Kind::Analyzer, &project.plugins.analyzers),
    ];
    let mut plugins: Vec<ProjectPlugin> = Vec::new();
    for (kind, plugin) in
        lists.into_iter().flat_map(|(kind, list)| list.iter().map(move |entry| (kind, entry)))
    {
        let version = plugin.version.as_deref().map(|text| {
            tolerant_version(text)
                .ok_or_else(|| SearchError::Version { plugin: plugin.name.clone(), written: text.to_owned() })
        });
        let given = ProjectPlugin {
            kind,
            name: plugin.name.clone(),
            version: version.transpose()?,
            path: project.directory().join(&plugin.path),
        };
        if plugins.iter().any(|other| given.is_the_same_as(other)) {
            return Err(SearchError::Twice { kind, plugin: given.name });
        }
        plugins.push(given);
    }
    plugins.extend(project.packages.iter().filter_map(|(name, package)| {
        let source = &package.source;
        let is_folder = ["./", "..", "/"].iter().any(|start| source.starts_with(start));
        is_folder.then(|| ProjectPlugin {
            kind: Kind::Resource,
            name: name.clone(),
            version: None,
            path: project.directory().join(source),
        })
    }));
    Ok(plugins)
}

//! The folder of installed plugins: `<kind>-<name>-v<version>` each.

use super::version::is_same;
use super::{Kind, Wanted, tolerant_version};
use semver::Version;
use std::cmp::Ordering;
use std::path::{Path, PathBuf};

/// The folder of installed plugins.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

/// A plugin in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// What it is for.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Version,
    /// Its folder.
    pub folder: PathBuf,
}

impl Cache {
    /// The cache in a folder, which may not exist yet.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Everything that is installed completely, in no order.
    pub fn installed(&self) -> impl Iterator<Item = Installed> + use<> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| installed(&entry.path()))
    }

    /// The versions of a plugin that are here, oldest first.
    pub(super) fn versions(&self, wanted: &Wanted) -> Vec<Version> {
        let mut versions: Vec<Version> = self.of(wanted).map(|plugin| plugin.version).collect();
        versions.sort();
        versions
    }

    /// The plugin of the wanted version or, when any will do, the newest stable one, or else the newest.
    pub(super) fn select(&self, wanted: &Wanted, accepts_newer: bool) -> Option<Installed> {
        let fitting = self.of(wanted).filter(|plugin| match &wanted.version {
            Some(wanted) if accepts_newer => plugin.version.cmp_precedence(wanted) != Ordering::Less,
            Some(wanted) => is_same(&plugin.version, wanted),
            None => true,
        });
        fitting.max_by(|a, b| {
            let stable = |version: &Version| version.pre.is_empty();
            stable(&a.version).cmp(&stable(&b.version)).then_with(|| a.version.cmp(&b.version))
        })
    }

    fn of<'a>(&self, wanted: &'a Wanted) -> impl Iterator<Item = Installed> + use<'a> {
        self.installed().filter(|plugin| plugin.kind == wanted.kind && plugin.name == wanted.name)
    }
}

fn installed(folder: &Path) -> Option<Installed> {
    let name = folder.file_name()?.to_str()?;
    if is_unfinished(folder, name) || !folder.is_dir() {
        return None;
    }
    let (kind, rest) = name.split_once('-')?;
    let (plugin, version) = rest.rsplit_once("-v")?;
    Some(Installed {
        kind: Kind::of(kind)?,
        name: Some(plugin).filter(|name| !name.is_empty())?.to_owned(),
        version: tolerant_version(version)?,
        folder: folder.to_owned(),
    })
}

/// Whether somebody is still installing it, or died while doing so: a file `<folder>.partial` stands beside it, or
/// the folder itself is `<folder>.tmp<digits>`.
fn is_unfinished(folder: &Path, name: &str) -> bool {
    let is_temporary = name
        .rsplit_once(".tmp")
        .is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()));
    is_temporary || folder.with_file_name(format!("{name}.partial")).exists()
}

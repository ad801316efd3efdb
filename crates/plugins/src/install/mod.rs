//! Installing plugins into the cache, and removing them.
//!
//! A plugin is unpacked beside its place, into a folder that nobody takes for a plugin, and moved there whole. So one
//! that is found is complete, whenever the installer dies and however many install it at once. Those that install the
//! same wait for each other, by the lock file that the stock CLI has, too; a download that breaks off is gone on with.

mod overrides;
mod source;
mod unpack;

pub use overrides::Overrides;
pub use source::{Source, Tokens};

use crate::digest::Digest;
use crate::fetch::Partial;
use crate::search::{Cache, Installed, Kind};
use drystone_workspace::Environment;
use semver::Version;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// One version of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Release {
    /// What it is for.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Version,
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} plugin {}-{}", self.kind, self.name, self.version)
    }
}

impl Release {
    /// The program that the plugin is, unless it is source code.
    fn executable(&self) -> String {
        format!("pulumi-{}-{}", self.kind, self.name)
    }

    /// Its folder in the cache.
    fn folder(&self) -> String {
        format!("{}-{}-v{}", self.kind, self.name, self.version)
    }

    /// A name that stands for one folder and no other place.
    fn is_proper(&self) -> bool {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        !self.name.is_empty() && !self.name.starts_with('.') && self.name.chars().all(is_plain)
    }
}

/// Why a plugin is not installed. Nothing is left of what was begun.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The name could be that of another place.
    #[error("'{name}' is no name of a plugin")]
    Name {
        /// The name.
        name: String,
    },
    /// There is no folder for plugins.
    #[error("{cause}")]
    Home {
        /// Why.
        cause: String,
    },
    /// Nobody says what its newest version is.
    #[error("the newest version of the {kind} plugin {name} cannot be told")]
    Latest {
        /// What it is for.
        kind: Kind,
        /// Its name.
        name: String,
        /// Why not, a place each.
        causes: Vec<String>,
    },
    /// The other places for plugins make no sense.
    #[error("the other places for plugins, `{text}`, make no sense: {cause}")]
    Overrides {
        /// What they are.
        text: String,
        /// Why.
        cause: String,
    },
    /// It could not be fetched from anywhere.
    #[error("{release} could not be downloaded")]
    Download {
        /// What was to be installed.
        release: Release,
        /// Why not, an address each.
        causes: Vec<String>,
    },
    /// The source is not what a server can be.
    #[error("'{address}' is no address that plugins can be downloaded from")]
    Address {
        /// What was given.
        address: String,
    },
    /// It is not what was asked for.
    #[error("the checksum of {release} is {found}, not {wanted}")]
    Checksum {
        /// What was to be installed.
        release: Release,
        /// The SHA-256 that it has.
        found: String,
        /// The SHA-256 that it should have.
        wanted: String,
    },
    /// What came is not a plugin.
    #[error("{release} cannot be unpacked: {reason}")]
    Content {
        /// What was to be installed.
        release: Release,
        /// What is wrong with it.
        reason: String,
    },
    /// The disk said no.
    #[error("{}: {source}", path.display())]
    Disk {
        /// Where.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// What is to be installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Which plugin.
    pub release: Release,
    /// From where.
    pub source: Source,
    /// The SHA-256 that its archive must have.
    pub checksum: Option<String>,
    /// Whether it takes the place of the same version.
    pub reinstall: bool,
}

/// How installing goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Somebody else is installing it.
    Waiting,
    /// That much has come.
    Downloading {
        /// How many bytes.
        bytes: u64,
        /// How many there will be, if the server says.
        total: Option<u64>,
    },
    /// A download broke off and is tried again.
    Again {
        /// Why.
        cause: String,
    },
    /// It is here, and is being unpacked.
    Unpacking,
}

/// A plugin that is in its place. Until it is finished nobody takes it for installed, and nobody else installs it.
#[derive(Debug)]
pub struct Fresh {
    installed: Installed,
    /// The file that says that it is not finished, unless somebody else finished it.
    mark: Option<PathBuf>,
    _lock: fs::File,
}

impl Fresh {
    /// The folder of a plugin in source code that has to be given what it depends on.
    #[must_use]
    pub fn source(&self) -> Option<&Path> {
        let folder = &self.installed.folder;
        (self.mark.is_some() && folder.join("PulumiPlugin.yaml").is_file()).then_some(folder)
    }

    /// The plugin is complete.
    pub fn finish(self) -> Result<Installed, InstallError> {
        if let Some(path) = self.mark {
            fs::remove_file(&path).map_err(|source| InstallError::Disk { path, source })?;
        }
        Ok(self.installed)
    }
}

/// Names other places to fetch plugins from.
pub const OVERRIDES: &str = "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES";

/// Installs plugins.
#[derive(Debug, Clone)]
pub struct Installer {
    cache: Cache,
    overrides: Overrides,
    tokens: Tokens,
}

impl InstallError {
    /// What adds to it, a line each.
    #[must_use]
    pub fn details(&self) -> &[String] {
        match self {
            Self::Download { causes, .. } | Self::Latest { causes, .. } => causes,
            _ => &[],
        }
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Home { .. } | Self::Name { .. } | Self::Disk { .. } => return None,
            Self::Overrides { .. } => {
                return Some(format!("{OVERRIDES} is `REGEXP=ADDRESS`, several separated by commas"));
            }
            Self::Latest { kind, name, .. } => {
                return Some(format!("name the version: `drystone plugin install {kind} {name} VERSION`"));
            }
            Self::Address { .. } => {
                "name a folder at an `http://` or `https://` address, `github://HOST/OWNER/REPOSITORY` or \
                 `gitlab://HOST/PROJECT` with `--server`, or a file with `--file`"
            }
            Self::Download { .. } => {
                "look at its name and version, or name where it is with `drystone plugin install` and `--server` or \
                 `--file`"
            }
            Self::Checksum { .. } => {
                "nothing was installed; it is not the file that was meant, or somebody changed it"
            }
            Self::Content { .. } => "nothing was installed",
        };
        Some(hint.to_owned())
    }
}

impl Installer {
    /// Installs into the cache of this user, as the surroundings say.
    pub fn new(environment: &Environment) -> Result<Self, InstallError> {
        let home = environment.pulumi_home();
        let home = home.map_err(|error| InstallError::Home { cause: error.to_string() })?;
        let overrides = environment.variable(OVERRIDES).unwrap_or_default();
        Ok(Self {
            cache: Cache::new(home.join("plugins")),
            overrides: Overrides::parse(&overrides)?,
            tokens: Tokens {
                github: environment.filled_variable("GITHUB_TOKEN"),
                gitlab: environment.filled_variable("GITLAB_TOKEN"),
            },
        })
    }

    /// Where it installs to.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Installs a plugin. It blocks.
    pub fn install(&self, order: &Order, watch: &dyn Fn(Stage)) -> Result<Fresh, InstallError> {
        let release = &order.release;
        if !release.is_proper() {
            return Err(InstallError::Name { name: release.name.clone() });
        }
        let disk = |path: &Path| {
            let path = path.to_owned();
            move |source| InstallError::Disk { path: path.clone(), source }
        };
        let folder = self.cache.folder();
        fs::create_dir_all(folder).map_err(disk(folder))?;
        let place = folder.join(release.folder());
        let Release { kind, name, version } = release.clone();
        let installed = Installed { kind, name, version, folder: place.clone() };
        let lock = lock(&beside(&place, ".lock"), watch)?;
        if !order.reinstall && self.cache.installed().any(|other| other == installed) {
            return Ok(Fresh { installed, mark: None, _lock: lock });
        }
        let fresh = tempfile::Builder::new()
            .prefix(&passed_over(&release.folder()))
            .rand_bytes(0)
            .tempdir_in(folder)
            .map_err(disk(folder))?;
        self.fill(fresh.path(), order, &beside(&place, DOWNLOAD), watch)?;
        let mark = beside(&place, ".partial");
        fs::write(&mark, "").map_err(disk(&mark))?;
        remove(&place).and_then(|()| fs::rename(fresh.path(), &place)).map_err(disk(&place))?;
        // It is no longer where it would be removed from.
        let _ = fresh.keep();
        Ok(Fresh { installed, mark: Some(mark), _lock: lock })
    }

    /// Puts a plugin's files into a folder.
    fn fill(
        &self,
        folder: &Path,
        order: &Order,
        kept: &Path,
        watch: &dyn Fn(Stage),
    ) -> Result<(), InstallError> {
        let Order { release, source, checksum, .. } = order;
        let wrong =
            |error: io::Error| InstallError::Content { release: release.clone(), reason: error.to_string() };
        let source = self.overrides.of(source.clone(), release);
        let Source::Path(path) = &source else {
            let mut archive = self.download(&source, release, kept, watch)?;
            // Whatever it turns out to be, it is whole.
            Partial::remove(kept);
            check(&mut archive, release, checksum.as_deref())?;
            watch(Stage::Unpacking);
            return unpack::archive(archive, folder).map_err(wrong);
        };
        let disk = |source| InstallError::Disk { path: path.clone(), source };
        watch(Stage::Unpacking);
        let about = fs::metadata(path).map_err(disk)?;
        if about.is_dir() {
            return unpack::copy_folder(path, folder).map_err(wrong);
        }
        let mut file = fs::File::open(path).map_err(disk)?;
        check(&mut file, release, checksum.as_deref())?;
        let mut magic = [0; 2];
        let is_archive = file.read_exact(&mut magic).is_ok() && magic == [0x1f, 0x8b];
        file.rewind().map_err(disk)?;
        if is_archive {
            return unpack::archive(file, folder).map_err(wrong);
        }
        unpack::copy_program(path, &folder.join(release.executable())).map_err(wrong)
    }
}

/// The checksum among those of a package that is for this machine.
#[must_use]
pub fn checksum_here(checksums: &BTreeMap<String, Vec<u8>>) -> Option<String> {
    let (os, arch) = source::machine();
    checksums.get(&format!("{os}-{arch}")).map(|bytes| crate::digest::hex(bytes))
}

impl Cache {
    /// Removes a plugin, and what stands beside it.
    pub fn remove(&self, plugin: &Installed) -> io::Result<()> {
        remove(&plugin.folder)?;
        Partial::remove(&beside(&plugin.folder, DOWNLOAD));
        for suffix in [".partial", ".lock", ".lastused"] {
            // They say something of a plugin that is gone; nobody minds one that stays.
            let _ = fs::remove_file(beside(&plugin.folder, suffix));
        }
        Ok(())
    }
}

/// What a download is kept as until it is whole.
const DOWNLOAD: &str = ".download";

/// The file that stands beside a plugin's folder.
fn beside(folder: &Path, suffix: &str) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Keeps others from installing the same.
fn lock(path: &Path, watch: &dyn Fn(Stage)) -> Result<fs::File, InstallError> {
    let disk = |source| InstallError::Disk { path: path.to_owned(), source };
    let file = fs::OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(disk)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => {
            watch(Stage::Waiting);
            file.lock().map_err(disk)?;
        }
        Err(fs::TryLockError::Error(error)) => return Err(disk(error)),
    }
    Ok(file)
}

/// A name for a folder that whoever lists plugins passes over: digits after `.tmp`.
fn passed_over(folder: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{folder}.tmp{}{:04}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Removes a plugin's folder, first by giving it a name that nobody takes for a plugin.
fn remove(folder: &Path) -> io::Result<()> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let leaving = folder.with_file_name(passed_over(&name));
    match fs::rename(folder, &leaving) {
        Ok(()) => fs::remove_dir_all(&leaving)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Compares the SHA-256 of an archive with the wanted one.
fn check(archive: &mut fs::File, release: &Release, wanted: Option<&str>) -> Result<(), InstallError> {
    let Some(wanted) = wanted else { return Ok(()) };
    let broken =
        |error: io::Error| InstallError::Content { release: release.clone(), reason: error.to_string() };
    let mut digest = Digest::default();
    io::copy(archive, &mut digest).and_then(|_| archive.rewind()).map_err(broken)?;
    let found = digest.into_hex();
    if found.eq_ignore_ascii_case(wanted) {
        return Ok(());
    }
    Err(InstallError::Checksum { release: release.clone(), found, wanted: wanted.to_owned() })
}

#[cfg(test)]
mod tests;

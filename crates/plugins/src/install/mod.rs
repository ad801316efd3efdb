//! Installing plugins into the cache, and removing them.
//!
//! A plugin is unpacked beside its place, into a folder that nobody takes for a plugin, and moved there whole. So one
//! that is found is complete, whenever the installer dies and however many install it at once.

mod overrides;
mod source;
mod unpack;

pub use overrides::Overrides;
pub use source::Source;

use crate::digest::Digest;
use crate::search::{Cache, Installed, Kind};
use semver::Version;
use std::fmt;
use std::fs;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// One version of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
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

impl Cache {
    /// Installs a plugin in the place of one of the same version, if there is one. It blocks.
    pub fn install(
        &self,
        release: &Release,
        source: &Source,
        checksum: Option<&str>,
    ) -> Result<Installed, InstallError> {
        if !release.is_proper() {
            return Err(InstallError::Name { name: release.name.clone() });
        }
        let disk = |path: &Path| {
            let path = path.to_owned();
            move |source| InstallError::Disk { path: path.clone(), source }
        };
        fs::create_dir_all(self.folder()).map_err(disk(self.folder()))?;
        let place = self.folder().join(release.folder());
        let fresh = tempfile::Builder::new()
            .prefix(&passed_over(&release.folder()))
            .rand_bytes(0)
            .tempdir_in(self.folder())
            .map_err(disk(self.folder()))?;
        fill(fresh.path(), release, source, checksum)?;
        // Somebody else may have put theirs there since it was removed.
        while let Err(error) = remove(&place).and_then(|()| fs::rename(fresh.path(), &place)) {
            if error.kind() != io::ErrorKind::DirectoryNotEmpty {
                return Err(disk(&place)(error));
            }
        }
        // It is no longer where it would be removed from.
        let _ = fresh.keep();
        let Release { kind, name, version } = release.clone();
        Ok(Installed { kind, name, version, folder: place })
    }

    /// Removes a plugin, and what stands beside it.
    pub fn remove(&self, plugin: &Installed) -> io::Result<()> {
        remove(&plugin.folder)
    }
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
    for suffix in [".partial", ".lock", ".lastused"] {
        // They say something of a plugin that is gone; nobody minds one that stays.
        let _ = fs::remove_file(folder.with_file_name(format!("{name}{suffix}")));
    }
    Ok(())
}

/// Puts a plugin's files into a folder.
fn fill(
    folder: &Path,
    release: &Release,
    source: &Source,
    checksum: Option<&str>,
) -> Result<(), InstallError> {
    let wrong =
        |error: io::Error| InstallError::Content { release: release.clone(), reason: error.to_string() };
    let Source::Path(path) = source else {
        let mut archive = source.download(release)?;
        check(&mut archive, release, checksum)?;
        return unpack::archive(archive, folder).map_err(wrong);
    };
    let disk = |source| InstallError::Disk { path: path.clone(), source };
    let about = fs::metadata(path).map_err(disk)?;
    if about.is_dir() {
        return unpack::copy_folder(path, folder).map_err(wrong);
    }
    let mut file = fs::File::open(path).map_err(disk)?;
    check(&mut file, release, checksum)?;
    let mut magic = [0; 2];
    let is_archive = file.read_exact(&mut magic).is_ok() && magic == [0x1f, 0x8b];
    file.rewind().map_err(disk)?;
    if is_archive {
        return unpack::archive(file, folder).map_err(wrong);
    }
    unpack::copy_program(path, &folder.join(release.executable())).map_err(wrong)
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

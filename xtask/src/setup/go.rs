//! A Go toolchain, for peers that are Go modules.
//!
//! A Go that is new enough is used as it is. An older one fetches the pinned toolchain, which the Go module proxy
//! carries as a module, into the cache. Without any, Debian's package gives the first one.

use super::debian;
use crate::cache::{Cache, make_folder, remove_folder};
use crate::failure::Failure;
use crate::process;
use std::env::consts::{ARCH, EXE_SUFFIX, OS};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the Go peers need at least.
const OLDEST: (u32, u32, u32) = (1, 25, 11);
/// What is fetched where that is not there.
const PINNED: &str = "1.26.8";

/// A Go toolchain that can build the peers.
pub(super) struct Go {
    binary: PathBuf,
}

impl Go {
    /// Finds one or installs one.
    pub(super) fn ready(cache: &Cache) -> Result<Self, Failure> {
        let pinned = cache.peer("go", PINNED).join("bin").join(format!("go{EXE_SUFFIX}"));
        for binary in [PathBuf::from("go"), pinned] {
            if version_of(&binary).is_some_and(|version| version >= OLDEST) {
                return Ok(Self { binary });
            }
        }
        if version_of(Path::new("go")).is_none() {
            install_package()?;
            if version_of(Path::new("go")).is_some_and(|version| version >= OLDEST) {
                return Ok(Self { binary: "go".into() });
            }
        }
        Ok(Self { binary: fetch_toolchain(cache)? })
    }

    /// Builds a package in a folder that has its go.mod, completing the checksums as it goes.
    ///
    /// `stamps` set string variables of the program, as `package.Name=value`. What only debuggers read is left out.
    pub(super) fn build(
        &self,
        folder: &Path,
        package: &str,
        stamps: &[&str],
        output: &Path,
    ) -> Result<(), Failure> {
        let mut linking = "-s -w".to_owned();
        for stamp in stamps {
            linking.push_str(&format!(" -X {stamp}"));
        }
        let mut build = local(&self.binary, ["build", "-ldflags", &linking]);
        build.arg("-o").arg(output).arg(package);
        process::run(build.current_dir(folder).env("GOFLAGS", "-mod=mod -buildvcs=false"))
    }
}

/// A program that is a Go module as it is published.
pub(super) struct Module {
    /// Its name for files.
    pub(super) name: &'static str,
    pub(super) path: &'static str,
    pub(super) version: &'static str,
    /// The package that is the program.
    pub(super) package: &'static str,
}

impl Module {
    /// Where the program stands once it is built.
    pub(super) fn place(&self, cache: &Cache) -> PathBuf {
        cache.peer(self.name, self.version).join(format!("{}{EXE_SUFFIX}", self.name))
    }

    /// Builds it in the cache and renames the binary into place.
    pub(super) fn install(&self, go: &Go, cache: &Cache) -> Result<(), Failure> {
        let workshop = cache.workshop(self.name, self.version)?;
        let go_mod = workshop.join("go.mod");
        let needs = format!(
            "module drystone.peers/{}\n\ngo 1.25.11\n\nrequire {} {}\n",
            self.name, self.path, self.version
        );
        fs::write(&go_mod, needs).map_err(|error| Failure::at(&go_mod, "write", &error))?;
        let built = workshop.join(format!("{}{EXE_SUFFIX}", self.name));
        go.build(&workshop, self.package, &[], &built)?;
        let place = self.place(cache);
        make_folder(&cache.peer(self.name, self.version))?;
        fs::rename(&built, &place).map_err(|error| Failure::at(&place, "put the program at", &error))?;
        remove_folder(&workshop)
    }
}

fn local<'a>(binary: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = process::command(binary, arguments);
    command.env("GOTOOLCHAIN", "local").env("GOWORK", "off").env_remove("GOROOT");
    command
}

fn version_of(binary: &Path) -> Option<(u32, u32, u32)> {
    parse_version(&process::output_of(&mut local(binary, ["version"]))?)
}

/// Reads `go version go1.26.8 linux/amd64`.
fn parse_version(text: &str) -> Option<(u32, u32, u32)> {
    let version = text.split_whitespace().find_map(|word| word.strip_prefix("go1."))?;
    let mut parts = version.split(|character: char| !character.is_ascii_digit());
    let minor = parts.next()?.parse().ok()?;
    let patch = if version.contains("rc") || version.contains("beta") { None } else { parts.next() };
    Some((1, minor, patch.and_then(|patch| patch.parse().ok()).unwrap_or(0)))
}

fn install_package() -> Result<(), Failure> {
    let hint = format!("install Go 1.{}.{} or newer and put it on the PATH", OLDEST.1, OLDEST.2);
    debian::install("Go", &["golang-go"], &hint)
}

/// Fetches the pinned toolchain through the Go at hand, which may be much older, and puts it into the cache.
fn fetch_toolchain(cache: &Cache) -> Result<PathBuf, Failure> {
    let module = format!("golang.org/toolchain@v0.0.1-go{PINNED}.{}-{}", go_os(), go_architecture());
    eprintln!("Go {PINNED}: missing, fetching {module}");
    let workshop = cache.workshop("go", PINNED)?;
    let mut download = local(Path::new("go"), ["mod", "download", "-json", &module]);
    let answer = process::output_of(download.current_dir(&workshop).env("GOFLAGS", ""))
        .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
        .and_then(|answer| Some(PathBuf::from(answer.get("Dir")?.as_str()?)))
        .ok_or_else(|| {
            Failure::new(format!("`go mod download {module}` failed"))
                .hint("is the Go module proxy reachable? See `go env GOPROXY`")
        })?;
    let whole = workshop.join("whole");
    remove_folder(&whole)?;
    copy_toolchain(&answer, &whole)?;
    let place = cache.peer("go", PINNED);
    remove_folder(&place)?;
    make_folder(&cache.root().join("peers"))?;
    fs::rename(&whole, &place).map_err(|error| Failure::at(&place, "put Go at", &error))?;
    remove_folder(&workshop)?;
    Ok(place.join("bin").join(format!("go{EXE_SUFFIX}")))
}

/// Copies the toolchain out of the module cache, where files are neither writable nor executable.
fn copy_toolchain(from: &Path, to: &Path) -> Result<(), Failure> {
    make_folder(to)?;
    let failed = |error: &std::io::Error| Failure::at(from, "copy", error);
    for entry in fs::read_dir(from).map_err(|error| failed(&error))? {
        let entry = entry.map_err(|error| failed(&error))?;
        let target = to.join(entry.file_name());
        if entry.file_type().map_err(|error| failed(&error))?.is_dir() {
            copy_toolchain(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target).map_err(|error| failed(&error))?;
            let program = from.ends_with("bin") || from.parent().is_some_and(|above| above.ends_with("tool"));
            make_usable(&target, program)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn make_usable(path: &Path, program: bool) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    let mode = if program { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(|error| Failure::at(path, "change the mode of", &error))
}

#[cfg(not(unix))]
fn make_usable(_: &Path, _: bool) -> Result<(), Failure> {
    Ok(())
}

fn go_os() -> &'static str {
    if OS == "macos" { "darwin" } else { OS }
}

fn go_architecture() -> &'static str {
    match ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_versions_compare_by_number() {
        assert_eq!(parse_version("go version go1.26.8 linux/amd64\n"), Some((1, 26, 8)));
        assert_eq!(parse_version("go version go1.19 linux/amd64"), Some((1, 19, 0)));
        assert_eq!(parse_version("go version go1.26rc2 linux/amd64"), Some((1, 26, 0)));
        assert_eq!(parse_version("command not found"), None);
        assert!(parse_version("go version go1.9.7 linux/amd64").unwrap() < OLDEST);
        assert!(parse_version("go version go1.25.11 linux/amd64").unwrap() >= OLDEST);
    }
}

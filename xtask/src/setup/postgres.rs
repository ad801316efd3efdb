//! PostgreSQL, as Debian packages it. Root, whose folders the server's user cannot read, installs the packages; anybody
//! else unpacks them in the cache, which changes nothing of the system. No cluster of Debian's is made or started.

use super::Peer;
use crate::cache::{Cache, make_folder, remove_folder};
use crate::failure::Failure;
use crate::process;
use std::fs;
use std::path::{Path, PathBuf};

const VERSION: &str = "15";
/// Where Debian puts it.
const PROGRAMS: &str = "usr/lib/postgresql/15/bin";
/// What tests start.
const STARTED: [&str; 3] = ["initdb", "postgres", "pg_ctl"];
const HINT: &str = "install PostgreSQL 15 as Debian packages it: `apt-get install postgresql-15`";

/// The PostgreSQL server.
pub(crate) const POSTGRES: Peer = Peer {
    name: "PostgreSQL",
    version: VERSION,
    purpose: "the tests of stacks in a database",
    variable: Some("DRYSTONE_PEER_POSTGRES"),
    find,
    install,
};

/// The folder with the programs, when all of them run.
fn find(cache: &Cache) -> Option<PathBuf> {
    let folders = [Path::new("/").join(PROGRAMS), place(cache)];
    folders.into_iter().find(|folder| {
        STARTED.iter().all(|program| {
            let version = process::output_of(&mut process::command(folder.join(program), ["--version"]));
            version.is_some_and(|version| version.contains(&format!(" {VERSION}.")))
        })
    })
}

fn place(cache: &Cache) -> PathBuf {
    cache.peer("postgresql", VERSION).join("bin")
}

fn install(cache: &Cache) -> Result<(), Failure> {
    let is_root = process::output_of(&mut process::command("id", ["-u"])).is_some_and(|id| id.trim() == "0");
    if is_root { install_packages() } else { unpack_packages(cache) }
}

/// Installs the packages of the system, and keeps them from making a cluster.
fn install_packages() -> Result<(), Failure> {
    let settings = Path::new("/etc/postgresql-common/createcluster.conf");
    if !settings.exists() {
        make_folder(Path::new("/etc/postgresql-common"))?;
        let content = "create_main_cluster = false\n";
        fs::write(settings, content).map_err(|error| Failure::at(settings, "write", &error))?;
    }
    let keep_settings = "Dpkg::Options::=--force-confold";
    let install = ["install", "--yes", "--no-install-recommends", "-o", keep_settings, "postgresql-15"];
    for arguments in [&["update"][..], &install] {
        let mut command = process::command("apt-get", arguments);
        process::run(command.env("DEBIAN_FRONTEND", "noninteractive"))
            .map_err(|failure| failure.hint(HINT))?;
    }
    Ok(())
}

/// Downloads the package and those of its libraries that the system lacks, unpacks them, and puts programs in place that
/// find them.
fn unpack_packages(cache: &Cache) -> Result<(), Failure> {
    let workshop = cache.workshop("postgresql", VERSION)?;
    let missing = missing_packages()?;
    let mut download = process::command("apt-get", ["download"]);
    process::run(download.args(&missing).current_dir(&workshop)).map_err(|failure| failure.hint(HINT))?;
    let folder = cache.peer("postgresql", VERSION);
    remove_folder(&folder)?;
    let unpacked = folder.join("root");
    make_folder(&unpacked)?;
    let packages = fs::read_dir(&workshop).map_err(|error| Failure::at(&workshop, "list", &error))?;
    for package in packages.flatten().map(|entry| entry.path()) {
        if package.extension().is_some_and(|ending| ending == "deb") {
            let mut unpack = process::command("dpkg", ["-x"]);
            process::run(unpack.arg(&package).arg(&unpacked))?;
        }
    }
    put_programs(&unpacked, &place(cache))?;
    remove_folder(&workshop)
}

/// The packages that an installation would add, without those that only manage clusters.
fn missing_packages() -> Result<Vec<String>, Failure> {
    let arguments = ["install", "--simulate", "--no-install-recommends", "postgresql-15"];
    let simulated = process::output_of(&mut process::command("apt-get", arguments))
        .ok_or_else(|| Failure::new("Debian's PostgreSQL 15 is not to be had").hint(HINT))?;
    let added = simulated.lines().filter_map(|line| line.strip_prefix("Inst ")?.split(' ').next());
    let mut packages: Vec<String> =
        added.filter(|package| !package.contains("-common")).map(str::to_owned).collect();
    if packages.is_empty() {
        packages.push("postgresql-15".to_owned());
    }
    Ok(packages)
}

/// Programs that start those that were unpacked, with their libraries.
fn put_programs(unpacked: &Path, place: &Path) -> Result<(), Failure> {
    make_folder(place)?;
    let libraries: Vec<String> = fs::read_dir(unpacked.join("usr/lib"))
        .map_err(|error| Failure::at(unpacked, "list", &error))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with("-linux-gnu"))
        .map(|path| path.display().to_string())
        .collect();
    for program in STARTED {
        let script = format!(
            "#!/bin/sh\nLD_LIBRARY_PATH='{}' exec '{}' \"$@\"\n",
            libraries.join(":"),
            unpacked.join(PROGRAMS).join(program).display()
        );
        let path = place.join(program);
        fs::write(&path, script).map_err(|error| Failure::at(&path, "write", &error))?;
        process::run(process::command("chmod", ["755"]).arg(&path))?;
    }
    Ok(())
}

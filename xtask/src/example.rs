//! `cargo xtask example`: runs one of the example programs, with all that it takes.

use crate::cache::{make_folder, remove_folder};
use crate::failure::Failure;
use crate::process;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// The examples. The first needs nothing but Rust, and is the one that runs when none is named.
const NAMES: [&str; 3] = [QUICKSTART, "node", "python"];
const QUICKSTART: &str = "quickstart";

/// `cargo xtask example [NAME]`: builds for release and brings the example up where it stands.
pub(crate) fn command(name: Option<&str>) -> Result<ExitCode, Failure> {
    let name = name.unwrap_or(QUICKSTART);
    if !NAMES.contains(&name) {
        return Err(Failure::new(format!("there is no example `{name}`"))
            .hint(format!("there are {}", NAMES.join(", "))));
    }
    process::run(&mut process::cargo(["build", "--release", "--locked", "--package", "drystone"]))?;
    let example = Example::new(&crate::root().join("examples").join(name), &crate::target("release"))?;
    example.up()?;
    if name == QUICKSTART {
        example.up_to_the_next_release()?;
    }
    eprintln!("\nTo go on with it:");
    eprintln!("  export PATH=\"{}:$PATH\"", crate::target("release").display());
    eprintln!("  cd {}", example.folder.display());
    eprintln!("  export PULUMI_BACKEND_URL=\"file://$PWD/state\" PULUMI_CONFIG_PASSPHRASE=example");
    eprintln!("  drystone refresh; drystone up; drystone destroy");
    Ok(ExitCode::SUCCESS)
}

/// Brings copies of every example up and destroys them, as a newcomer would, with the binary that tests are built with.
pub(crate) fn all() -> Result<(), Failure> {
    let folder = crate::target("examples");
    for name in NAMES {
        let copy = folder.join(name);
        remove_folder(&copy)?;
        copy_sources(&crate::root().join("examples").join(name), &copy)?;
        let mut example = Example::new(&copy, &crate::target("debug"))?;
        let others = folder.join("others");
        if name == QUICKSTART {
            example.path = Some(stand_ins(&others)?);
        }
        let start = Instant::now();
        example.up()?;
        eprintln!("{name} is up after {:.1} s", start.elapsed().as_secs_f64());
        process::run(&mut example.drystone(["up", "--yes", "--skip-preview", "--expect-no-changes"]))?;
        if name == QUICKSTART {
            if others.join(USED).exists() {
                return Err(Failure::new(format!("{name} is to need no other language, but called one")));
            }
            let before = example.output("name")?;
            example.up_to_the_next_release()?;
            if example.output("name")? == before {
                return Err(Failure::new(format!("the next release is still named {before}")));
            }
        }
        process::run(&mut example.drystone(["destroy", "--yes", "--skip-preview"]))?;
    }
    remove_folder(&folder)
}

/// What the quick start is to do without.
const OTHERS: [&str; 7] = ["go", "node", "npm", "pip", "pulumi", "python", "python3"];
/// The file that says that one of them was called.
const USED: &str = "used";

/// A PATH on which other languages only say that they were called.
fn stand_ins(folder: &Path) -> Result<OsString, Failure> {
    make_folder(folder)?;
    for name in OTHERS {
        let path = folder.join(name);
        let script = format!("#!/bin/sh\necho {name} >> '{}'\nexit 99\n", folder.join(USED).display());
        fs::write(&path, script).map_err(|error| Failure::at(&path, "write", &error))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let permissions = fs::Permissions::from_mode(0o755);
            fs::set_permissions(&path, permissions).map_err(|error| Failure::at(&path, "write", &error))?;
        }
    }
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&rest));
    std::env::join_paths(folders).map_err(|error| Failure::new(format!("the PATH: {error}")))
}

/// Copies an example without what a run leaves, which its `.gitignore` lists.
fn copy_sources(from: &Path, to: &Path) -> Result<(), Failure> {
    let list = from.join(".gitignore");
    let left = fs::read_to_string(&list).map_err(|error| Failure::at(&list, "read", &error))?;
    copy_folder(from, to, &|name| left.lines().any(|pattern| is_named_by(name, pattern)))
}

fn copy_folder(from: &Path, to: &Path, is_left_out: &dyn Fn(&str) -> bool) -> Result<(), Failure> {
    make_folder(to)?;
    for entry in fs::read_dir(from).map_err(|error| Failure::at(from, "read", &error))? {
        let entry = entry.map_err(|error| Failure::at(from, "read", &error))?;
        if is_left_out(&entry.file_name().to_string_lossy()) {
            continue;
        }
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_folder(&from, &to, is_left_out)?;
        } else {
            fs::copy(&from, &to).map_err(|error| Failure::at(&to, "write", &error))?;
        }
    }
    Ok(())
}

/// Whether a line of a `.gitignore` names a file or a folder: whole, or with one `*` for any text.
fn is_named_by(name: &str, pattern: &str) -> bool {
    let pattern = pattern.trim_end_matches('/');
    match pattern.split_once('*') {
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
        None => name == pattern,
    }
}

/// An example, and the binary that runs it.
struct Example {
    folder: PathBuf,
    binaries: PathBuf,
    /// The PATH, if it is another one than ours.
    path: Option<OsString>,
}

impl Example {
    fn new(folder: &Path, binaries: &Path) -> Result<Self, Failure> {
        make_folder(&folder.join("state"))?;
        Ok(Self { folder: folder.to_path_buf(), binaries: binaries.to_path_buf(), path: None })
    }

    /// Installs what the program depends on, makes the stack if it is not there, and brings it up.
    fn up(&self) -> Result<(), Failure> {
        process::run(&mut self.drystone(["install"]))?;
        process::run(&mut self.drystone(["stack", "select", "--create", "dev"]))?;
        process::run(&mut self.drystone(["up", "--yes", "--skip-preview"]))
    }

    /// Brings the quick start up with another configuration, which replaces a part of it.
    fn up_to_the_next_release(&self) -> Result<(), Failure> {
        process::run(&mut self.drystone(["up", "--yes", "--skip-preview", "--config", "release=2"]))
    }

    fn output(&self, name: &str) -> Result<String, Failure> {
        process::output_of(&mut self.drystone(["stack", "output", name]))
            .ok_or_else(|| Failure::new(format!("{} has no output `{name}`", self.folder.display())))
    }

    fn drystone<const COUNT: usize>(&self, words: [&str; COUNT]) -> Command {
        let mut command = process::command(self.binaries.join("drystone"), words);
        command
            .current_dir(&self.folder)
            .env("PULUMI_BACKEND_URL", format!("file://{}", self.folder.join("state").display()))
            .env("PULUMI_CONFIG_PASSPHRASE", "example");
        command.envs(self.path.iter().map(|path| ("PATH", path)));
        command
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

    use super::*;

    #[test]
    fn a_copy_has_the_folders_of_an_example_and_nothing_that_a_run_left() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for (file, text) in [
            (".gitignore", "public/\nsite.zip\nPulumi.*.yaml\nstate/\n"),
            ("Pulumi.yaml", "name: site"),
            ("Pulumi.dev.yaml", "config: {}"),
            ("site/PulumiPlugin.yaml", "name: parts"),
            ("site.zip", ""),
            ("state/meta.yaml", ""),
        ] {
            let path = from.join(file);
            make_folder(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        copy_sources(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("site/PulumiPlugin.yaml")).unwrap(), "name: parts");
        let mut names: Vec<_> = fs::read_dir(&to)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, [".gitignore", "Pulumi.yaml", "site"]);
    }
}

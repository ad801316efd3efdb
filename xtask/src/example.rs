//! `cargo xtask example`: runs one of the example programs, with all that it takes.

use crate::cache::make_folder;
use crate::failure::Failure;
use crate::process;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// `cargo xtask example NAME`: builds for release and brings the example up where it stands.
pub(crate) fn command(name: &str) -> Result<ExitCode, Failure> {
    process::run(&mut process::cargo(["build", "--release", "--locked", "--package", "drystone"]))?;
    let example = Example::new(&crate::root().join("examples").join(name), &crate::target("release"))?;
    example.up()?;
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
    for name in ["node", "python"] {
        let copy = folder.join(name);
        crate::cache::remove_folder(&copy)?;
        make_folder(&copy)?;
        let original = crate::root().join("examples").join(name);
        let files = std::fs::read_dir(&original).map_err(|error| Failure::at(&original, "read", &error))?;
        // Folders are what a run leaves: packages, state, and what the program makes.
        for file in files.flatten().filter(|file| file.path().is_file()) {
            let to = copy.join(file.file_name());
            std::fs::copy(file.path(), &to).map_err(|error| Failure::at(&to, "write", &error))?;
        }
        let example = Example::new(&copy, &crate::target("debug"))?;
        example.up()?;
        process::run(&mut example.drystone(["up", "--yes", "--skip-preview", "--expect-no-changes"]))?;
        process::run(&mut example.drystone(["destroy", "--yes", "--skip-preview"]))?;
    }
    crate::cache::remove_folder(&folder)
}

/// An example, and the binary that runs it.
struct Example {
    folder: PathBuf,
    binaries: PathBuf,
}

impl Example {
    fn new(folder: &Path, binaries: &Path) -> Result<Self, Failure> {
        if !folder.join("Pulumi.yaml").exists() {
            return Err(Failure::new(format!("there is no example in {}", folder.display()))
                .hint("there are `node` and `python`"));
        }
        make_folder(&folder.join("state"))?;
        Ok(Self { folder: folder.to_path_buf(), binaries: binaries.to_path_buf() })
    }

    /// Installs what the program depends on, makes the stack if it is not there, and brings it up.
    fn up(&self) -> Result<(), Failure> {
        process::run(&mut self.drystone(["install"]))?;
        process::run(&mut self.drystone(["stack", "select", "--create", "dev"]))?;
        process::run(&mut self.drystone(["up", "--yes", "--skip-preview"]))
    }

    fn drystone<const COUNT: usize>(&self, words: [&str; COUNT]) -> Command {
        let mut command = process::command(self.binaries.join("drystone"), words);
        command
            .current_dir(&self.folder)
            .env("PULUMI_BACKEND_URL", format!("file://{}", self.folder.join("state").display()))
            .env("PULUMI_CONFIG_PASSPHRASE", "example");
        command
    }
}

//! The SDKs of Node.js and Python, and programs that use them.

use drystone_plugins::languages::{Program, RunRequest};
use drystone_workspace::project::Project;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn peer(variable: &str) -> PathBuf {
    let value = std::env::var_os(variable);
    let value = value.unwrap_or_else(|| panic!("{variable} is not set; run this test by `cargo xtask test`"));
    PathBuf::from(value)
}

/// The `node_modules` with the SDK for Node.js.
pub(crate) fn node_modules() -> PathBuf {
    peer("DRYSTONE_PEER_NODE_SDK").join("node_modules")
}

/// The virtual environment with the SDK for Python.
pub(crate) fn virtualenv() -> PathBuf {
    peer("DRYSTONE_PEER_PYTHON")
}

/// A project in a folder of its own.
pub(crate) struct Written {
    folder: TempDir,
    root: PathBuf,
}

impl Written {
    /// A project in `inside` of a new folder, with a project file and others.
    pub(crate) fn new(inside: &str, files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join(inside);
        for (name, text) in files {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self { folder, root }
    }

    /// A program for Node.js, with the SDK beside it.
    pub(crate) fn node(files: &[(&str, &str)]) -> Self {
        Self::new("project", files).with_node_modules("")
    }

    pub(crate) fn with_node_modules(self, inside: &str) -> Self {
        symlink(node_modules(), self.root.join(inside).join("node_modules")).unwrap();
        self
    }

    /// A program in Python, with the SDK in `venv`.
    pub(crate) fn python(files: &[(&str, &str)]) -> Self {
        Self::new("project", files).with_virtualenv("venv")
    }

    pub(crate) fn with_virtualenv(self, inside: &str) -> Self {
        symlink(virtualenv(), self.root.join(inside)).unwrap();
        self
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn project(&self) -> Project {
        Project::load(&self.root.join("Pulumi.yaml")).unwrap()
    }

    /// What the program is told when it is run for an engine at an address.
    pub(crate) fn request(&self, address: &str) -> RunRequest {
        let project = self.project();
        RunRequest {
            program: Program::of(&project).unwrap(),
            project: project.name,
            stack: "dev".to_owned(),
            organization: "acme".to_owned(),
            monitor_address: address.to_owned(),
            engine_address: address.to_owned(),
            loader_address: None,
            config: BTreeMap::new(),
            secret_keys: BTreeSet::new(),
            dry_run: false,
            parallel: 4,
            args: Vec::new(),
            debugger: None,
        }
    }
}

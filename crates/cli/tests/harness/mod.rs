//! A project, a backend and a home of their own, and both CLIs to run in them.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A project folder with a backend folder and a home folder beside it. Nothing outside is read or written.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    /// A project named `shop` and an empty backend.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["project", "state", "home"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        let sandbox = Self { folder, variables: Vec::new() };
        sandbox.write("Pulumi.yaml", "name: shop\nruntime: yaml\n");
        sandbox
    }

    /// Sets a variable for every command from now on.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// Takes a variable back.
    pub(crate) fn unset(&mut self, name: &str) {
        self.variables.retain(|(known, _)| known != name);
    }

    /// The folder of everything.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The project's folder.
    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// The backend's folder.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// Writes a file of the project, and makes the folders that it is in.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.project().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// Reads a file of the project.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.project().join(name)).expect("a file")
    }

    /// Runs our CLI.
    pub(crate) fn drystone(&self, arguments: &[&str]) -> Ended {
        self.drystone_with(arguments, "")
    }

    /// Runs our CLI with something on its standard input.
    pub(crate) fn drystone_with(&self, arguments: &[&str], input: &str) -> Ended {
        self.run(Path::new(env!("CARGO_BIN_EXE_drystone")), arguments, input)
    }

    /// Runs our CLI, which must succeed, and gives what it printed as data.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let ended = self.drystone(arguments);
        assert_eq!(ended.code, 0, "drystone {arguments:?}: {ended:#?}");
        ended.stdout
    }

    /// Runs the stock Pulumi CLI. Without one the test fails: it is not to be passed over.
    pub(crate) fn stock(&self, arguments: &[&str]) -> Ended {
        self.stock_with(arguments, "")
    }

    /// Runs the stock Pulumi CLI with something on its standard input.
    pub(crate) fn stock_with(&self, arguments: &[&str], input: &str) -> Ended {
        let peer = std::env::var_os("DRYSTONE_PEER_PULUMI")
            .expect("DRYSTONE_PEER_PULUMI names the stock CLI: run `cargo xtask test`");
        self.run(Path::new(&peer), arguments, input)
    }

    /// Runs the stock Pulumi CLI, which must succeed, and gives what it printed as data.
    pub(crate) fn stock_ok(&self, arguments: &[&str]) -> String {
        let ended = self.stock(arguments);
        assert_eq!(ended.code, 0, "pulumi {arguments:?}: {ended:#?}");
        ended.stdout
    }

    fn run(&self, program: &Path, arguments: &[&str], input: &str) -> Ended {
        let mut child = self
            .command(program, arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the CLI starts");
        // A command that does not read its input may be gone before it is written.
        let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
        let output = child.wait_with_output().expect("the CLI ends");
        Ended {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// A command in the project's folder, with only the sandbox's own surroundings.
    pub(crate) fn command(&self, program: &Path, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.project()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.folder.path().join("home"));
        command.env("PULUMI_HOME", self.folder.path().join("home/.pulumi"));
        command.env("PULUMI_BACKEND_URL", format!("file://{}", self.state().display()));
        command.env("PULUMI_CONFIG_PASSPHRASE", "correct horse");
        command.env("PULUMI_SKIP_UPDATE_CHECK", "true");
        command.env("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "true");
        command.env("USER", "ana");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// A deployment with the root, a provider, and components and custom resources that refer to each other.
pub(crate) fn deployment() -> String {
    let provider =
        "urn:pulumi:dev::shop::pulumi:providers:random::default::0a1b2c3d-0000-4000-8000-000000000001";
    serde_json::json!({
        "version": 3,
        "deployment": {
            "manifest": { "time": "2026-01-02T03:04:05.678Z", "magic": "", "version": "" },
            "resources": [
                { "urn": "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev", "custom": false,
                  "type": "pulumi:pulumi:Stack", "outputs": { "url": "https://shop.example" } },
                { "urn": "urn:pulumi:dev::shop::pulumi:providers:random::default", "custom": true,
                  "id": "0a1b2c3d-0000-4000-8000-000000000001", "type": "pulumi:providers:random" },
                { "urn": "urn:pulumi:dev::shop::random:index:Pet::a", "custom": true, "id": "red-fox",
                  "type": "random:index:Pet", "inputs": { "length": 2 }, "outputs": { "length": 2, "id": "red-fox" },
                  "parent": "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev", "provider": provider },
                { "urn": "urn:pulumi:dev::shop::random:index:Pet::b", "custom": true, "id": "blue-owl",
                  "type": "random:index:Pet", "inputs": { "prefix": "red-fox" }, "outputs": { "prefix": "red-fox" },
                  "parent": "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev", "provider": provider,
                  "dependencies": ["urn:pulumi:dev::shop::random:index:Pet::a"],
                  "propertyDependencies": { "prefix": ["urn:pulumi:dev::shop::random:index:Pet::a"] } }
            ],
            "metadata": {}
        }
    })
    .to_string()
}

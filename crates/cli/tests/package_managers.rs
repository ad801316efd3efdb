//! The example programs, installed by every package manager that is supported, and run from where it puts things.
//!
//! The SDK itself comes from where it is installed already, so that nothing large is downloaded.

#![allow(clippy::unwrap_used)]

mod harness;

use harness::Sandbox;
use std::path::{Path, PathBuf};

/// Where a peer stands.
fn peer(name: &str) -> PathBuf {
    let variable = format!("DRYSTONE_PEER_{name}");
    PathBuf::from(std::env::var(&variable).unwrap_or_else(|_| panic!("{variable}: run `cargo xtask test`")))
}

/// A copy of an example whose runtime has these options, with programs found in a folder first.
fn example(name: &str, options: &str, programs: &Path) -> Sandbox {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let mut sandbox = Sandbox::new();
    for file in
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).filter(|file| file.is_file())
    {
        std::fs::copy(&file, sandbox.project().join(file.file_name().unwrap())).unwrap();
    }
    let project = sandbox.read("Pulumi.yaml");
    let runtime = project.lines().position(|line| line.starts_with("runtime")).unwrap();
    let rest: Vec<&str> =
        project.lines().skip(runtime + 1).skip_while(|line| line.starts_with(' ')).collect();
    let language = if name == "node" { "nodejs" } else { "python" };
    let head = format!("name: example\nruntime: {{ name: {language}, options: {options} }}\n");
    sandbox.write("Pulumi.yaml", &format!("{head}{}\n", rest.join("\n")));
    let path = std::env::var("PATH").unwrap_or_default();
    sandbox.set("PATH", &format!("{}:{path}", programs.display()));
    sandbox
}

fn installs(sandbox: &Sandbox) {
    let install = sandbox.drystone(&["install"]);
    assert_eq!(install.code, 0, "{install:#?}");
}

/// Brings it up, sees that nothing is left to do, and destroys it.
fn lives(sandbox: &Sandbox) {
    sandbox.ok(&["stack", "init", "dev"]);
    for command in [
        &["up", "--yes", "--skip-preview"][..],
        &["up", "--yes", "--skip-preview", "--expect-no-changes"],
        &["destroy", "--yes", "--skip-preview"],
    ] {
        let ended = sandbox.drystone(command);
        assert_eq!(ended.code, 0, "{command:?}: {ended:#?}");
    }
}

fn node(manager: &str, lock: &str) {
    let programs = peer("NODE_MANAGERS").join("node_modules").join(".bin");
    let sdk = peer("NODE_SDK").join("node_modules/@pulumi/pulumi");
    let protocol = if manager == "npm" { "file" } else { "link" };
    let sandbox = example("node", &format!("{{ packagemanager: {manager} }}"), &programs);
    let needs = format!("{{ \"@pulumi/pulumi\": \"{protocol}:{}\" }}", sdk.display());
    sandbox.write("package.json", &format!("{{ \"private\": true, \"dependencies\": {needs} }}\n"));
    sandbox.write(".yarnrc", "--install.ignore-engines true\n");
    installs(&sandbox);
    assert!(sandbox.project().join(lock).exists(), "{manager} wrote no {lock}");
    lives(&sandbox);
}

fn python(options: &str, needs: &str, environment: &str) {
    let programs = peer("PYTHON_MANAGERS").join("bin");
    let mut sandbox = example("python", options, &programs);
    sandbox.set("POETRY_VIRTUALENVS_IN_PROJECT", "true");
    sandbox.write(needs, if needs == "requirements.txt" { "" } else { PYPROJECT });
    if needs != "requirements.txt" {
        std::fs::remove_file(sandbox.project().join("requirements.txt")).unwrap();
    }
    installs(&sandbox);
    let inside = sandbox.project().join(environment);
    std::fs::write(packages(&inside).join("sdk.pth"), packages(&peer("PYTHON")).display().to_string())
        .unwrap();
    lives(&sandbox);
}

const PYPROJECT: &str = "[project]
name = \"example\"
version = \"1.0.0\"
requires-python = \">=3.10\"
dependencies = []
[tool.poetry]
package-mode = false
[tool.uv]
package = false
";

/// Where the packages of a virtual environment stand.
fn packages(environment: &Path) -> PathBuf {
    let library = environment.join("lib");
    let version =
        std::fs::read_dir(&library).unwrap_or_else(|error| panic!("{}: {error}", library.display()));
    version.map(|entry| entry.unwrap().path()).next().unwrap().join("site-packages")
}

#[test]
#[ignore = "needs the Node.js SDK and package managers: run by cargo xtask test"]
fn npm_installs_a_program_that_then_runs() {
    node("npm", "package-lock.json");
}

#[test]
#[ignore = "needs the Node.js SDK and package managers: run by cargo xtask test"]
fn pnpm_installs_a_program_that_then_runs() {
    node("pnpm", "pnpm-lock.yaml");
}

#[test]
#[ignore = "needs the Node.js SDK and package managers: run by cargo xtask test"]
fn yarn_installs_a_program_that_then_runs() {
    node("yarn", "yarn.lock");
}

#[test]
#[ignore = "needs the PyPI SDK and package managers: run by cargo xtask test"]
fn pip_installs_a_program_that_then_runs() {
    python("{ toolchain: pip, virtualenv: venv }", "requirements.txt", "venv");
}

#[test]
#[ignore = "needs the PyPI SDK and package managers: run by cargo xtask test"]
fn uv_installs_a_program_that_then_runs() {
    python("{ toolchain: uv }", "pyproject.toml", ".venv");
}

#[test]
#[ignore = "needs the PyPI SDK and package managers: run by cargo xtask test"]
fn poetry_installs_a_program_that_then_runs() {
    python("{ toolchain: poetry }", "pyproject.toml", ".venv");
}

//! The Automation API of the npm and PyPI SDKs drives our binary under the name `pulumi`.
//!
//! Each test runs one script of `automation/`; what the script tests is named in it and in its output.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]
#![allow(clippy::print_stdout, reason = "what the scripts say is part of the test's output")]

mod harness;
mod programs;

use programs::peer;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");

/// Runs a script in a folder of its own, where `pulumi` is our binary, `ledger` the only provider and `bench` the
/// only converter.
fn run(language: &Path, script: &str) {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    for name in ["bin", "work", "home", "state", "temporary"] {
        fs::create_dir(place(name)).unwrap();
    }
    symlink(env!("CARGO_BIN_EXE_drystone"), place("bin/pulumi")).unwrap();
    symlink(peer("DRYSTONE_PEER_GO_PROVIDER"), place("bin/pulumi-resource-ledger")).unwrap();
    let converter = "pulumi-converter-bench";
    symlink(peer("DRYSTONE_TESTBED").join(converter), place("bin").join(converter)).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(language);
    command.arg(format!("{TESTS}/automation/{script}")).current_dir(place("work")).env_clear();
    command.stdin(Stdio::null());
    command.env("PATH", format!("{}:{path}", place("bin").display()));
    command.env("HOME", place("home")).env("PULUMI_HOME", place("home/.pulumi"));
    command.env("TMPDIR", place("temporary"));
    command.env("USER", "ana");
    command.env("PULUMI_BACKEND_URL", format!("file://{}", place("state").display()));
    command.env("PULUMI_CONFIG_PASSPHRASE", "correct horse");
    command.env("PULUMI_SKIP_UPDATE_CHECK", "true");
    command.env("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "true");
    command.env("NODE_PATH", peer("DRYSTONE_PEER_NODE_SDK").join("node_modules"));
    command.env("DRYSTONE_PEER_PYTHON", peer("DRYSTONE_PEER_PYTHON"));
    for policy_sdk in ["DRYSTONE_PEER_NODE_POLICY", "DRYSTONE_PEER_PYTHON_POLICY"] {
        command.env(policy_sdk, peer(policy_sdk));
    }
    command.env("PYTHONPATH", format!("{TESTS}/sdks")).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = command.output().unwrap();
    let printed =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{script}\n{printed}");
    println!("{printed}");
}

fn node(script: &str) {
    run(OsStr::new("node").as_ref(), &format!("node/{script}"));
}

fn python(script: &str) {
    run(&peer("DRYSTONE_PEER_PYTHON").join("bin/python"), &format!("python/{script}"));
}

macro_rules! scripts {
    ($($name:ident: $run:expr;)*) => {$(
        #[test]
        #[ignore = "needs the SDKs of Node.js and Python: run by cargo xtask test"]
        fn $name() {
            $run;
        }
    )*};
}

scripts! {
    node_operations: node("operations.js");
    node_policies: node("policies.js");
    node_programs: node("programs.js");
    node_stacks: node("stacks.js");
    node_workspace: node("workspace.js");
    node_errors: node("errors.js");
    python_operations: python("operations.py");
    python_policies: python("policies.py");
    python_programs: python("programs.py");
    python_stacks: python("stacks.py");
    python_workspace: python("workspace.py");
    python_errors: python("errors.py");
}

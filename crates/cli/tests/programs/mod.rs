//! Programs for Node.js and Python in a sandbox, and ways to interrupt what runs them.

#![allow(dead_code, reason = "each test uses a part of it")]

use crate::harness::{Ended, Sandbox};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// The Node.js program of most tests: things that a provider within it makes, by what the configuration says.
const NODE: &str = r#"
const pulumi = require("@pulumi/pulumi");
const fs = require("fs");
const things = {
    async create(inputs) {
        const fs = require("fs");
        fs.appendFileSync("made.txt", `begin ${inputs.name}\n`);
        if (inputs.fails) throw new Error(`cannot make ${inputs.name}`);
        await new Promise(resolve => setTimeout(resolve, inputs.takes || 0));
        fs.appendFileSync("made.txt", `end ${inputs.name}\n`);
        return { id: `id-${inputs.name}`, outs: inputs };
    },
    async read(id, props) {
        return { id, props };
    },
    async delete(id) {
        require("fs").appendFileSync("made.txt", `delete ${id}\n`);
    },
};
class Thing extends pulumi.dynamic.Resource {
    constructor(name, inputs, options) {
        super(things, name, { name, ...inputs }, options);
    }
}
const program = JSON.parse(fs.readFileSync("program.json", "utf8"));
const made = {};
for (const { name, needs, protect, ...inputs } of program.things) {
    made[name] = new Thing(name, inputs, { protect, dependsOn: (needs || []).map(other => made[other]) });
}
if (program.reads) {
    const other = new pulumi.StackReference(program.reads);
    exports.read = other.getOutput("open");
    exports.readSecret = other.getOutput("hidden");
}
exports.open = "plain";
exports.hidden = pulumi.secret("hush-hush");
"#;

/// The folder or file that a variable names. Without it the test fails: it is not to be passed over.
pub(crate) fn peer(variable: &str) -> PathBuf {
    std::env::var_os(variable)
        .unwrap_or_else(|| panic!("{variable} is not set: run `cargo xtask test`"))
        .into()
}

/// A sandbox with a Node.js program and a stack `dev` that is selected.
pub(crate) fn node(program: &Value) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
    sandbox.write("package.json", "{\"name\": \"shop\", \"main\": \"index.js\"}\n");
    sandbox.write("index.js", NODE);
    link_node_sdk(&sandbox.project());
    set_program(&sandbox, program);
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox
}

/// Makes the Node.js SDK one of a folder's packages.
pub(crate) fn link_node_sdk(folder: &Path) {
    let modules = peer("DRYSTONE_PEER_NODE_SDK").join("node_modules");
    std::os::unix::fs::symlink(modules, folder.join("node_modules")).expect("a link");
}

/// Changes what the program registers.
pub(crate) fn set_program(sandbox: &Sandbox, program: &Value) {
    sandbox.write("program.json", &program.to_string());
}

/// What the provider really did, a line each.
pub(crate) fn deeds(sandbox: &Sandbox) -> Vec<String> {
    let text = std::fs::read_to_string(sandbox.project().join("made.txt")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The names of the resources that the provider within the program made, in the order of the state.
pub(crate) fn things(sandbox: &Sandbox) -> Vec<String> {
    let export: Value = serde_json::from_str(&sandbox.ok(&["stack", "export"])).expect("JSON");
    let resources = export["deployment"]["resources"].as_array().cloned().unwrap_or_default();
    let mut names: Vec<String> = resources
        .iter()
        .filter(|resource| resource["type"] == "pulumi-nodejs:dynamic:Resource")
        .filter_map(|resource| Some(resource["urn"].as_str()?.rsplit("::").next()?.to_owned()))
        .collect();
    names.sort();
    names
}

/// How many revisions the stack has.
pub(crate) fn revisions(sandbox: &Sandbox) -> usize {
    let list: Vec<Value> =
        serde_json::from_str(&sandbox.ok(&["stack", "revisions", "--json"])).expect("JSON");
    list.len()
}

/// The records of past updates, newest first.
pub(crate) fn history(sandbox: &Sandbox) -> Vec<Value> {
    serde_json::from_str(&sandbox.ok(&["stack", "history", "--json", "--page-size", "0"])).expect("JSON")
}

/// Our CLI, running.
pub(crate) struct Running {
    child: Child,
}

impl Running {
    pub(crate) fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let child = sandbox
            .command(Path::new(env!("CARGO_BIN_EXE_drystone")), arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the CLI starts");
        Self { child }
    }

    /// Sends a signal, by its name.
    pub(crate) fn signal(&self, name: &str) {
        let sent = std::process::Command::new("kill")
            .args([&format!("-{name}"), &self.child.id().to_string()])
            .status()
            .expect("kill");
        assert!(sent.success());
    }

    pub(crate) fn end(self) -> Ended {
        let output = self.child.wait_with_output().expect("the CLI ends");
        Ended {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Waits until something holds.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(60), "waited a minute for {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

//! `--attach-debugger`: a program or a plugin waits for a debugger, and says how it is attached.

#![cfg(unix)]

mod harness;
mod programs;

use harness::Sandbox;
use programs::{link_node_sdk, peer};
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/debuggers");

/// The event that says how to attach, once it is told.
fn told(events: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(events).unwrap_or_default();
    let mut lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.find_map(|event| event.get("startDebuggingEvent").map(|event| event["config"].clone()))
}

/// A run that ends with the test.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the program of a sandbox with a debugger for what the option names, which `attach` is once the port is told.
fn debugged(sandbox: &Sandbox, option: &str, attach: impl FnOnce(&Value) -> Command) -> (Value, String) {
    // Two runs at once could find the same port free.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    sandbox.ok(&["stack", "init", "dev"]);
    let events = sandbox.project().join("events");
    let words = ["up", "--yes", "--skip-preview", option, "--event-log", events.to_str().expect("a path")];
    let mut up = sandbox.command(Path::new(env!("CARGO_BIN_EXE_drystone")), &words);
    let printed = sandbox.project().join("printed");
    let file = std::fs::File::create(&printed).expect("a file");
    let up = up.stdin(Stdio::null()).stdout(file).stderr(Stdio::null()).spawn().expect("it runs");
    let mut up = Ends(up);
    let deadline = Instant::now() + Duration::from_secs(60);
    let config = loop {
        if let Some(config) = told(&events) {
            break config;
        }
        let is_running = up.0.try_wait().expect("a child").is_none();
        let said = || std::fs::read_to_string(&printed).unwrap_or_default();
        assert!(is_running && Instant::now() < deadline, "nothing waits for a debugger: {}", said());
        std::thread::sleep(Duration::from_millis(20));
    };
    // Without a debugger nothing goes on.
    std::thread::sleep(Duration::from_millis(500));
    assert!(up.0.try_wait().expect("a child").is_none(), "it does not wait");
    let attached = attach(&config).output().expect("the debugger runs");
    assert!(attached.status.success(), "{attached:?}");
    let ended = up.0.wait().expect("it ends");
    let printed = std::fs::read_to_string(printed).expect("text");
    assert!(ended.success(), "{printed}");
    (config, printed)
}

fn attach_to_node(config: &Value) -> Command {
    let port = config["port"].as_u64().unwrap_or(9229).to_string();
    let mut attach = Command::new("node");
    attach.args(["--experimental-websocket", "--no-warnings", &format!("{TESTS}/attach.js"), &port]);
    attach
}

fn attach_to_python(config: &Value) -> Command {
    let port = config["connect"]["port"].as_u64().expect("a port").to_string();
    let mut attach = Command::new(peer("DRYSTONE_PEER_PYTHON").join("bin/python"));
    attach.args([&format!("{TESTS}/attach.py"), &port]);
    attach
}

#[test]
#[ignore = "needs the SDK of Node.js: run by cargo xtask test"]
fn a_node_program_waits_for_a_debugger() {
    let sandbox = Sandbox::new();
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
    sandbox.write("index.js", "exports.done = 1;\n");
    symlink(peer("DRYSTONE_PEER_NODE_SDK").join("node_modules"), sandbox.project().join("node_modules"))
        .expect("a link");
    let (config, printed) = debugged(&sandbox, "--attach-debugger", attach_to_node);
    assert_eq!((config["type"].as_str(), config["request"].as_str()), (Some("node"), Some("attach")));
    assert!(config["processId"].is_u64(), "{config}");
    assert!(printed.contains("Waiting for a debugger to attach (on process id"), "{printed}");
}

#[test]
#[ignore = "needs the SDK of Python: run by cargo xtask test"]
fn a_python_program_waits_for_a_debugger() {
    let sandbox = Sandbox::new();
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: {name: python, options: {virtualenv: venv}}\n");
    sandbox.write("__main__.py", "import pulumi\npulumi.export('done', 1)\n");
    symlink(peer("DRYSTONE_PEER_PYTHON"), sandbox.project().join("venv")).expect("a link");
    let (config, printed) = debugged(&sandbox, "--attach-debugger", attach_to_python);
    assert_eq!((config["type"].as_str(), config["request"].as_str()), (Some("python"), Some("attach")));
    assert!(printed.contains("Waiting for a debugger to attach (on port"), "{printed}");
    assert_eq!(sandbox.ok(&["stack", "output", "done"]).trim(), "1");
}

/// A Node.js program with one resource, whose provider is source code in the folder `ledger`.
fn with_a_plugin() -> Sandbox {
    let mut sandbox = Sandbox::new();
    let modules = peer("DRYSTONE_PEER_NODE_SDK").join("node_modules");
    sandbox.set("NODE_PATH", modules.to_str().expect("a path"));
    let world = sandbox.project().join("world");
    std::fs::create_dir_all(&world).expect("a folder");
    sandbox.set("LEDGER_WORLD", world.to_str().expect("a path"));
    sandbox.set("PYTHONDONTWRITEBYTECODE", "1");
    sandbox.write(
        "Pulumi.yaml",
        "name: shop\nruntime: nodejs\nplugins: {providers: [{name: ledger, path: ./ledger}]}\n",
    );
    sandbox.write(
        "index.js",
        "const pulumi = require('@pulumi/pulumi');\n\
         const a = new pulumi.CustomResource('ledger:index:Item', 'a', { size: 1, serial: undefined });\n\
         exports.serial = a.serial;\n",
    );
    link_node_sdk(&sandbox.project());
    sandbox
}

/// Where the providers of these tests are.
const PROVIDERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/providers");

#[test]
#[ignore = "needs the SDK of Node.js: run by cargo xtask test"]
fn a_node_plugin_waits_for_a_debugger() {
    let sandbox = with_a_plugin();
    sandbox.write("ledger/PulumiPlugin.yaml", "runtime: nodejs\n");
    sandbox.write(
        "ledger/package.json",
        "{\"name\": \"ledger\", \"version\": \"1.0.0\", \"main\": \"index.js\"}",
    );
    sandbox.write("ledger/index.js", &format!("require('{PROVIDERS}/node/ledger.js');\n"));
    link_node_sdk(&sandbox.project().join("ledger"));
    let (config, printed) = debugged(&sandbox, "--attach-debugger=plugin:ledger", attach_to_node);
    assert_eq!(config["name"], "Pulumi: Plugin (ledger)");
    assert!(config["processId"].is_u64(), "{config}");
    assert!(printed.contains("Waiting for a debugger to attach (on process id"), "{printed}");
    assert_eq!(sandbox.ok(&["stack", "output", "serial"]).trim(), "1");
}

#[test]
#[ignore = "needs the SDKs of Node.js and Python: run by cargo xtask test"]
fn a_python_plugin_waits_for_a_debugger() {
    let sandbox = with_a_plugin();
    sandbox.write("ledger/PulumiPlugin.yaml", "runtime: {name: python, options: {virtualenv: venv}}\n");
    let main = format!(
        "import runpy, sys\nsys.path.insert(0, '{PROVIDERS}/python')\n\
         runpy.run_path('{PROVIDERS}/python/ledger.py', run_name='__main__')\n"
    );
    sandbox.write("ledger/__main__.py", &main);
    symlink(peer("DRYSTONE_PEER_PYTHON"), sandbox.project().join("ledger/venv")).expect("a link");
    let (config, printed) = debugged(&sandbox, "--attach-debugger=plugins", attach_to_python);
    assert_eq!(config["name"], "Pulumi: Plugin (ledger)");
    assert!(printed.contains("Waiting for a debugger to attach (on port"), "{printed}");
    assert_eq!(sandbox.ok(&["stack", "output", "serial"]).trim(), "1");
}

#[test]
fn what_cannot_be_debugged_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: yaml\n");
    sandbox.ok(&["stack", "init", "dev"]);
    let ended = sandbox.drystone(&["preview", "--attach-debugger=x"]);
    assert!(
        ended.code == 2 && ended.stderr.contains("makes no sense") && ended.stderr.contains("hint:"),
        "{ended:#?}"
    );
}

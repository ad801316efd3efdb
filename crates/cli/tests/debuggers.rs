//! `--attach-debugger`: a program waits for a debugger, and says how it is attached.

#![cfg(unix)]

mod harness;
mod programs;

use harness::Sandbox;
use programs::peer;
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
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

/// Runs the program of a sandbox under a debugger, which `attach` is once the port is told.
fn debugged(sandbox: &Sandbox, attach: impl FnOnce(&Value) -> Command) -> (Value, String) {
    sandbox.ok(&["stack", "init", "dev"]);
    let events = sandbox.project().join("events");
    let words = [
        "up",
        "--yes",
        "--skip-preview",
        "--attach-debugger",
        "--event-log",
        events.to_str().expect("a path"),
    ];
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
        assert!(is_running && Instant::now() < deadline, "nothing waits for a debugger");
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

#[test]
#[ignore = "needs the SDK of Node.js: run by cargo xtask test"]
fn a_node_program_waits_for_a_debugger() {
    let sandbox = Sandbox::new();
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
    sandbox.write("index.js", "exports.done = 1;\n");
    symlink(peer("DRYSTONE_PEER_NODE_SDK").join("node_modules"), sandbox.project().join("node_modules"))
        .expect("a link");
    let (config, printed) = debugged(&sandbox, |config| {
        let port = config["port"].as_u64().unwrap_or(9229).to_string();
        let mut attach = Command::new("node");
        attach.args(["--experimental-websocket", "--no-warnings", &format!("{TESTS}/attach.js"), &port]);
        attach
    });
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
    let (config, printed) = debugged(&sandbox, |config| {
        let port = config["connect"]["port"].as_u64().expect("a port").to_string();
        let mut attach = Command::new(peer("DRYSTONE_PEER_PYTHON").join("bin/python"));
        attach.args([&format!("{TESTS}/attach.py"), &port]);
        attach
    });
    assert_eq!((config["type"].as_str(), config["request"].as_str()), (Some("python"), Some("attach")));
    assert!(printed.contains("Waiting for a debugger to attach (on port"), "{printed}");
    assert_eq!(sandbox.ok(&["stack", "output", "done"]).trim(), "1");
}

#[test]
fn what_cannot_be_debugged_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: yaml\n");
    sandbox.ok(&["stack", "init", "dev"]);
    for (what, text) in
        [("plugins", "plugins cannot wait"), ("plugin:aws", "plugins cannot wait"), ("x", "makes no sense")]
    {
        let ended = sandbox.drystone(&["preview", &format!("--attach-debugger={what}")]);
        assert!(
            ended.code == 2 && ended.stderr.contains(text) && ended.stderr.contains("hint:"),
            "{ended:#?}"
        );
    }
}

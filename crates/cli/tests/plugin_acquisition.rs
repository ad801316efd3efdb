//! Plugins that an operation lacks are installed: from the server that the package names, several at once, and only once.

mod harness;
#[path = "../../plugins/src/fetch/server.rs"]
#[allow(dead_code, reason = "each test uses a part of it")]
mod server;

use harness::{Ended, Sandbox};
use serde_json::Value;
use server::{Answer, Server};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

const OFF: &str = "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION";

/// The bench provider as a server has it.
fn archive() -> Vec<u8> {
    let plugins = std::env::var("DRYSTONE_TESTBED").expect("DRYSTONE_TESTBED: run `cargo xtask test`");
    let packed = Command::new("tar")
        .args(["-cz", "-C", &plugins, "pulumi-resource-bench"])
        .output()
        .expect("tar is there");
    assert!(packed.status.success(), "{packed:?}");
    packed.stdout
}

fn bench() -> Server {
    let content = archive();
    Server::start(move |asked, _| match asked.path.starts_with("/pulumi-resource-bench-v1.0.0-") {
        true => Answer::part(asked, &content, "\"1\""),
        false => Answer::missing(),
    })
}

/// A stack of the bench language, whose provider only the server has. What the language says that it needs is given.
fn project_needing(server: &Server, packages: &[&str]) -> Sandbox {
    let plugins = std::env::var("DRYSTONE_TESTBED").expect("DRYSTONE_TESTBED: run `cargo xtask test`");
    let mut sandbox = Sandbox::new();
    for folder in ["world", "bin"] {
        std::fs::create_dir(sandbox.project().join(folder)).expect("a folder");
    }
    let bin = sandbox.project().join("bin");
    let language = "pulumi-language-bench";
    std::fs::copy(Path::new(&plugins).join(language), bin.join(language)).expect("the language");
    sandbox.set("PATH", &format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default()));
    sandbox.set("BENCH_WORLD", sandbox.project().join("world").to_str().expect("a path"));
    sandbox.set(OFF, "false");
    let at = server.at("");
    let needed = packages.iter().map(|name| format!("{{name: {name}, version: 1.0.0, server: \"{at}\"}}"));
    let needed = needed.collect::<Vec<_>>().join(", ");
    sandbox.write(
        "Pulumi.yaml",
        &format!(
            "name: shop\nruntime:\n  name: bench\n  options: {{packages: [{needed}], steps: [{{register: {{name: a, \
             version: 1.0.0, pluginDownloadURL: \"{at}\", properties: {{x: 1}}}}}}]}}\n"
        ),
    );
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox
}

fn project(server: &Server) -> Sandbox {
    project_needing(server, &[])
}

fn home(sandbox: &Sandbox) -> std::path::PathBuf {
    sandbox.folder().join("home/.pulumi/plugins")
}

fn up(sandbox: &Sandbox, words: &[&str]) -> Ended {
    sandbox.drystone(&[&["up", "--yes", "--skip-preview"], words].concat())
}

/// The events of a log that tell how far something is.
fn progress(log: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(log).expect("a log");
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    events.filter_map(|event| event.get("progressEvent").cloned()).collect()
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_plugin_that_is_missing_is_installed_once_and_told_of() {
    let server = bench();
    let sandbox = project(&server);
    let log = sandbox.project().join("events.json");
    let ended = up(&sandbox, &["--event-log", log.to_str().expect("a path")]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stdout.contains("Downloading plugin bench-1.0.0"), "{ended:#?}");
    assert!(ended.stdout.contains("Installing plugin bench-1.0.0"), "{ended:#?}");
    assert!(home(&sandbox).join("resource-bench-v1.0.0/pulumi-resource-bench").exists());
    let told = progress(&log);
    let kinds = |done: bool| -> Vec<&str> {
        told.iter().filter(|event| event["done"] == done).filter_map(|event| event["type"].as_str()).collect()
    };
    assert!(
        kinds(false).contains(&"plugin-download") && kinds(false).contains(&"plugin-install"),
        "{told:#?}"
    );
    assert!(kinds(true).contains(&"plugin-download") && kinds(true).contains(&"plugin-install"), "{told:#?}");
    assert_eq!(server.all().len(), 1);
    let again = up(&sandbox, &["--expect-no-changes"]);
    assert_eq!((again.code, server.all().len()), (0, 1), "{again:#?}");
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_plugin_that_only_the_state_knows_of_is_installed() {
    let server = bench();
    let sandbox = project(&server);
    assert_eq!(up(&sandbox, &[]).code, 0);
    std::fs::remove_dir_all(home(&sandbox)).expect("it was installed");
    let destroy = sandbox.drystone(&["destroy", "--yes", "--skip-preview"]);
    assert_eq!((destroy.code, server.all().len()), (0, 2), "{destroy:#?}");
    assert!(std::fs::read_dir(sandbox.project().join("world")).expect("a folder").next().is_none());
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn nothing_is_installed_where_that_is_turned_off() {
    let server = bench();
    let mut sandbox = project(&server);
    sandbox.set(OFF, "true");
    let ended = up(&sandbox, &[]);
    assert_ne!(ended.code, 0);
    let said = ended.stdout + &ended.stderr;
    assert!(said.contains("no resource plugin 'pulumi-resource-bench' found in the workspace"), "{said}");
    assert!(server.all().is_empty() && !home(&sandbox).exists());
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_plugin_that_cannot_be_installed_is_told_with_its_cause() {
    let broken = Server::start(|_, _| Answer::missing());
    let sandbox = project(&broken);
    let ended = up(&sandbox, &[]);
    assert_ne!(ended.code, 0);
    let said = ended.stdout + &ended.stderr;
    assert!(said.contains("resource plugin bench-1.0.0 could not be downloaded"), "{said}");
    assert!(said.contains("the server answered 404 Not Found"), "{said}");
    let garbage = Server::start(|_, _| Answer::ok("<html>log in</html>"));
    let sandbox = project(&garbage);
    let ended = up(&sandbox, &[]);
    let said = ended.stdout + &ended.stderr;
    assert!(said.contains("resource plugin bench-1.0.0 cannot be unpacked"), "{said}");
    assert!(!home(&sandbox).join("resource-bench-v1.0.0").exists());
}

/// A server that answers nobody before two have asked, or it takes too long, and counts those that met.
fn meeting() -> (Server, Arc<AtomicUsize>) {
    let (asked, met) = (Arc::new((Mutex::new(0), Condvar::new())), Arc::new(AtomicUsize::new(0)));
    let both = Arc::clone(&met);
    let server = Server::start(move |_, _| {
        let (count, changed) = &*asked;
        let mut count = count.lock().expect("nobody panics");
        *count += 1;
        changed.notify_all();
        let waited = changed.wait_timeout_while(count, Duration::from_secs(20), |count| *count < 2);
        if waited.is_ok_and(|(_, waited)| !waited.timed_out()) {
            both.fetch_add(1, Ordering::SeqCst);
        }
        Answer::missing()
    });
    (server, met)
}

#[test]
fn several_plugins_are_installed_at_once() {
    let (server, met) = meeting();
    let sandbox = Sandbox::new();
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
    sandbox.write("package.json", "{\"name\": \"shop\"}");
    for name in ["one", "two"] {
        let server = server.at("");
        let note = format!("{{\"resource\": true, \"name\": \"{name}\", \"server\": \"{server}\"}}");
        let text = format!("{{\"name\": \"{name}\", \"version\": \"1.2.3\", \"pulumi\": {note}}}");
        sandbox.write(&format!("node_modules/{name}/package.json"), &text);
    }
    let ended = sandbox.drystone(&["plugin", "install"]);
    assert_eq!(ended.code, 12, "{ended:#?}");
    assert_eq!((server.all().len(), met.load(Ordering::SeqCst)), (2, 2));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn what_a_program_needs_is_fetched_at_once_and_matters_only_when_it_is_used() {
    let (server, met) = meeting();
    let sandbox = project_needing(&server, &["one", "two"]);
    sandbox.write("Pulumi.yaml", &{
        let text = std::fs::read_to_string(sandbox.project().join("Pulumi.yaml")).expect("a project");
        text.split(", steps:").next().expect("a text").to_owned() + ", steps: []}\n"
    });
    let ended = up(&sandbox, &[]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert_eq!((server.all().len(), met.load(Ordering::SeqCst)), (2, 2));
}

#[test]
#[cfg(unix)]
fn a_plugin_is_run_as_a_program() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    let tool = "home/.pulumi/plugins/tool-lint-v1.0.0/pulumi-tool-lint";
    let path = sandbox.folder().join(tool);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(&path, "#!/bin/sh\necho \"$@\"; echo \"${PULUMI_RPC_TARGET%:*}\" >&2; exit 7\n")
        .expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    for plugin in ["lint", "lint@1.0.0", path.to_str().expect("a path")] {
        let ended = sandbox.drystone(&["plugin", "run", plugin, "--", "--fix", "a b"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (7, "--fix a b\n"), "{plugin}: {ended:#?}");
        assert_eq!(ended.stderr, "127.0.0.1\n", "{plugin}");
    }
    let missing = sandbox.drystone(&["plugin", "run", "other"]);
    assert!(missing.stderr.contains("no tool plugin 'pulumi-tool-other' found"), "{missing:#?}");
}

//! `watch`: an update whenever the program changes, one for each change and none for what is nobody's program.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod harness;
mod programs;
mod talking;

use harness::Sandbox;
use std::path::PathBuf;
use std::time::Duration;
use talking::Talking;

const WAITING: &str = "  Waiting for changes\n";
const CHANGED: &str = "  Changed: ";

fn program(prefix: &str) -> String {
    format!(
        "name: shop
runtime: yaml
config:
  ending: {{ type: string, default: x }}
resources:
  pet: {{ type: drystone:random:Pet, properties: {{ prefix: {prefix} }} }}
outputs:
  name: ${{pet.id}}
  note: {prefix} ${{ending}}
"
    )
}

/// A program whose command runs until the file `go` is there, beside the project.
fn gated(text: &str) -> String {
    format!(
        "name: shop
runtime: yaml
resources:
  slow:
    type: drystone:command:Command
    properties: {{ create: 'touch ../begun; while [ ! -e ../go ]; do sleep 0.02; done; echo {text}' }}
outputs:
  said: ${{slow.stdout}}
"
    )
}

fn sandbox(program: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("Pulumi.yaml", program);
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox
}

/// A file beside the project.
fn beside(sandbox: &Sandbox, name: &str) -> PathBuf {
    sandbox.project().parent().unwrap().join(name)
}

fn note(sandbox: &Sandbox) -> String {
    sandbox.ok(&["stack", "output", "note"]).trim().to_owned()
}

fn until_begun(sandbox: &Sandbox, watch: &mut Talking) {
    for _ in 0..6000 {
        if beside(sandbox, "begun").exists() {
            return;
        }
        assert!(watch.runs(), "{}", watch.said());
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it never began: {}", watch.said());
}

fn updates(sandbox: &Sandbox) -> usize {
    programs::history(sandbox).len()
}

#[test]
fn each_change_is_an_update_and_a_failure_does_not_end_it() {
    let sandbox = sandbox(&program("red"));
    let mut watch = Talking::start(&sandbox, &["watch"]);
    watch.wait_for(WAITING);
    assert_eq!(note(&sandbox), "red x");
    assert!(sandbox.ok(&["stack", "output", "name"]).starts_with("red-"));

    sandbox.write("Pulumi.yaml", &program("blue"));
    watch.wait_for_times(WAITING, 2);
    assert_eq!(note(&sandbox), "blue x");
    assert!(sandbox.ok(&["stack", "output", "name"]).starts_with("blue-"));

    sandbox.write("Pulumi.yaml", &program("blue").replace("${pet.id}", "${pot.id}"));
    watch.wait_for_times(WAITING, 3);
    assert!(watch.said().contains("did you mean `pet`?"), "{}", watch.said());
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: [\n");
    watch.wait_for_times(WAITING, 4);

    sandbox.write("Pulumi.yaml", &program("green"));
    watch.wait_for_times(WAITING, 5);
    assert_eq!(note(&sandbox), "green x");
    sandbox.ok(&["config", "set", "ending", "y"]);
    watch.wait_for_times(WAITING, 6);
    assert_eq!(note(&sandbox), "green y");
    assert!(watch.said().contains("  Changed: Pulumi.dev.yaml\n"), "{}", watch.said());

    watch.signal("INT");
    let ended = watch.end();
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.ends_with("  ^C received; no longer watching\n"), "{ended:#?}");
    for line in ended.stdout.lines().filter(|line| !line.is_empty()) {
        let time = line.get(..12).unwrap_or_default();
        assert!(
            time.chars().all(|it| it.is_ascii_digit() || matches!(it, ':' | '.')),
            "{line:?}: {ended:#?}"
        );
    }
    assert!(ended.stdout.contains("  +-  drystone:random:Pet pet  replaced"), "{ended:#?}");
}

#[test]
fn what_is_nobodys_program_starts_no_update() {
    let mut sandbox = sandbox(&program("red"));
    // The state is kept in the project, too.
    let state = sandbox.project().join("kept");
    std::fs::create_dir(&state).unwrap();
    sandbox.set("PULUMI_BACKEND_URL", &format!("file://{}", state.display()));
    sandbox.ok(&["stack", "init", "dev"]);
    for name in ["node_modules/a/index.js", "venv/lib/a.py", "src/a.txt", "other-env/pyvenv.cfg"] {
        sandbox.write(name, "before");
    }
    let mut watch = Talking::start(&sandbox, &["watch"]);
    watch.wait_for(WAITING);
    for name in [
        "node_modules/a/index.js",
        ".git/HEAD",
        "venv/lib/a.py",
        "src/__pycache__/a.pyc",
        "other-env/lib/x.py",
        "Pulumi.yaml~",
        ".Pulumi.yaml.swp",
        "src/.#a.txt",
    ] {
        sandbox.write(name, "after");
    }
    sandbox.ok(&["stack", "tag", "set", "owner", "ana"]);
    sandbox.write("src/a.txt", "after");
    watch.wait_for_times(WAITING, 2);
    let said = watch.said();
    assert_eq!(watch.count(CHANGED), 1, "{said}");
    assert!(said.contains("  Changed: src/a.txt\n"), "{said}");
    assert_eq!(updates(&sandbox), 2);
    watch.signal("TERM");
    assert_eq!(watch.end().code, 0);
}

#[test]
fn changes_during_a_run_cause_one_more() {
    let sandbox = sandbox(&gated("one"));
    let mut watch = Talking::start(&sandbox, &["watch"]);
    until_begun(&sandbox, &mut watch);
    for text in ["two", "three", "four"] {
        sandbox.write("Pulumi.yaml", &gated(text));
        sandbox.write(&format!("{text}.txt"), text);
        std::thread::sleep(Duration::from_millis(150));
    }
    std::fs::write(beside(&sandbox, "go"), "").unwrap();
    watch.wait_for_times(WAITING, 2);
    assert_eq!(sandbox.ok(&["stack", "output", "said"]).trim(), "four");
    sandbox.write("Pulumi.yaml", &gated("five"));
    watch.wait_for_times(WAITING, 3);
    assert_eq!(sandbox.ok(&["stack", "output", "said"]).trim(), "five");
    assert_eq!((watch.count(CHANGED), updates(&sandbox)), (2, 3), "{}", watch.said());
    assert!(
        watch.said().contains("  Changed: Pulumi.yaml, four.txt, three.txt and 1 more\n"),
        "{}",
        watch.said()
    );
}

#[test]
fn a_run_under_way_is_cancelled_as_up_would_be() {
    let sandbox = sandbox(&gated("one"));
    let mut watch = Talking::start(&sandbox, &["watch"]);
    until_begun(&sandbox, &mut watch);
    watch.signal("INT");
    watch.wait_for("^C received; cancelling.");
    std::fs::write(beside(&sandbox, "go"), "").unwrap();
    let ended = watch.end();
    assert_eq!(ended.code, 8, "{ended:#?}");
    assert!(ended.stderr.contains("update cancelled") && !ended.stderr.contains(WAITING), "{ended:#?}");
    sandbox.ok(&["state", "verify"]);
    assert_eq!(sandbox.drystone(&["stack", "tag", "set", "free", "yes"]).code, 0);
}

#[test]
fn only_the_paths_that_are_named_are_watched() {
    let sandbox = sandbox(&program("red"));
    for name in ["src/a.txt", "one.txt", "node_modules/named/x.js"] {
        sandbox.write(name, "before");
    }
    let outside = beside(&sandbox, "outside");
    std::fs::create_dir(&outside).unwrap();
    let arguments = [
        "watch",
        "--path",
        "src",
        "--path",
        "one.txt",
        "--path",
        "node_modules/named",
        "--path",
        outside.to_str().unwrap(),
    ];
    let mut watch = Talking::start(&sandbox, &arguments);
    watch.wait_for(WAITING);
    sandbox.write("Pulumi.yaml", &program("blue"));
    sandbox.write("two.txt", "after");
    for (times, name) in [(2, "src/a.txt"), (3, "one.txt"), (4, "node_modules/named/x.js")] {
        sandbox.write(name, "after");
        watch.wait_for_times(WAITING, times);
        assert!(watch.said().contains(&format!("{CHANGED}{name}\n")), "{}", watch.said());
    }
    assert_eq!(note(&sandbox), "blue x", "the whole program runs, whatever changed");
    std::fs::write(outside.join("b.txt"), "").unwrap();
    watch.wait_for_times(WAITING, 5);
    assert_eq!((watch.count(CHANGED), updates(&sandbox)), (4, 5), "{}", watch.said());
    let missing = sandbox.drystone(&["watch", "--path", "nowhere"]);
    assert!(missing.code == 2 && missing.stderr.contains("nowhere cannot be watched"), "{missing:#?}");
}

#[test]
fn a_configuration_value_is_set_once_and_is_no_change() {
    let sandbox = sandbox(&program("red"));
    let mut watch = Talking::start(&sandbox, &["watch", "-c", "ending=z", "--json"]);
    watch.wait_for(WAITING);
    assert_eq!(note(&sandbox), "red z");
    sandbox.ok(&["config", "set", "ending", "later"]);
    watch.wait_for_times(WAITING, 2);
    assert_eq!(note(&sandbox), "red later");
    assert_eq!(watch.count(CHANGED), 1, "{}", watch.said());
    watch.signal("INT");
    let ended = watch.end();
    for line in ended.stdout.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
}

#[test]
fn what_cannot_work_at_all_ends_at_once() {
    let sandbox = Sandbox::new();
    sandbox.write("Pulumi.yaml", &program("red"));
    let unknown = sandbox.drystone(&["watch", "-s", "nowhere"]);
    assert!(unknown.code == 6 && unknown.stderr.contains("no stack named"), "{unknown:#?}");
    let unselected = sandbox.drystone(&["watch"]);
    assert!(unselected.code == 2 && unselected.stderr.contains("no stack is selected"), "{unselected:#?}");
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn a_program_for_node_is_run_again() {
    let sandbox = Sandbox::new();
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
    sandbox.write("package.json", "{\"name\": \"shop\", \"main\": \"index.js\"}\n");
    sandbox.write("index.js", "exports.text = require('./text');\n");
    sandbox.write("text.js", "module.exports = 'one';\n");
    programs::link_node_sdk(&sandbox.project());
    sandbox.ok(&["stack", "init", "dev"]);
    let mut watch = Talking::start(&sandbox, &["watch"]);
    watch.wait_for(WAITING);
    assert_eq!(sandbox.ok(&["stack", "output", "text"]).trim(), "one");
    sandbox.write("text.js", "module.exports = 'two';\n");
    watch.wait_for_times(WAITING, 2);
    assert_eq!(sandbox.ok(&["stack", "output", "text"]).trim(), "two");
    sandbox.write("text.js", "module.exports = (;\n");
    watch.wait_for_times(WAITING, 3);
    assert!(watch.said().contains("SyntaxError"), "{}", watch.said());
    sandbox.write("text.js", "module.exports = 'three';\n");
    watch.wait_for_times(WAITING, 4);
    assert_eq!(sandbox.ok(&["stack", "output", "text"]).trim(), "three");
    assert_eq!(watch.count(CHANGED), 3, "{}", watch.said());
    watch.signal("INT");
    assert_eq!(watch.end().code, 0);
}

//! `stack watch` (S8): an update is followed from another process, without a lock and without a trace.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod harness;
mod talking;

use drystone_model::Json;
use drystone_stores::conformance::make::{begin, snapshot, success};
use drystone_stores::local::{LocalOptions, LocalStore};
use drystone_stores::{Claim, Commit, HeldLease, Keep, Leases, Relocation, StackId};
use harness::{Ended, Sandbox};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use talking::Talking;

/// A program whose second resource is made only when the file `go` is there.
const PROGRAM: &str = "name: shop
runtime: yaml
resources:
  first: { type: drystone:command:Command, properties: { create: echo one } }
  password: { type: drystone:random:RandomPassword, properties: { length: 24 } }
  slow:
    type: drystone:command:Command
    properties: { create: 'touch begun; while [ ! -e go ]; do sleep 0.02; done; echo two' }
    options: { dependsOn: ['${first}', '${password}'] }
  last:
    type: drystone:command:Command
    properties: { create: 'echo ${slow.stdout}' }
outputs:
  said: ${last.stdout}
  hidden: ${password.result}
";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("Pulumi.yaml", PROGRAM);
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox
}

fn up(sandbox: &Sandbox) -> Talking {
    Talking::start(sandbox, &["up", "--yes", "--skip-preview"])
}

/// Waits until the second resource is being made.
fn until_slow(sandbox: &Sandbox, up: &mut Talking) {
    let begun = sandbox.project().join("begun");
    for _ in 0..6000 {
        if begun.exists() {
            return;
        }
        assert!(up.runs(), "{}", up.said());
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it never began: {}", up.said());
}

fn go(sandbox: &Sandbox) {
    sandbox.write("go", "");
}

fn watch(sandbox: &Sandbox, more: &[&str]) -> Talking {
    Talking::start(sandbox, &[&["stack", "watch"], more].concat())
}

fn password(sandbox: &Sandbox) -> String {
    let outputs = sandbox.ok(&["stack", "output", "--json", "--show-secrets"]);
    let outputs: Value = serde_json::from_str(&outputs).unwrap();
    outputs["hidden"].as_str().unwrap().to_owned()
}

#[test]
fn s08_several_follow_a_running_update_to_its_end() {
    let sandbox = sandbox();
    let mut update = up(&sandbox);
    until_slow(&sandbox, &mut update);
    let mut one = watch(&sandbox, &[]);
    let mut other = watch(&sandbox, &["--urns", "--diff"]);
    let mut script = watch(&sandbox, &["--json"]);
    one.wait_for("drystone:command:Command slow  creating");
    other.wait_for("urn:pulumi:dev::shop::drystone:command:Command::slow  creating");
    script.wait_for("\"resourcePreEvent\"");
    assert!(one.said().contains("drystone:command:Command first  created"), "{}", one.said());
    assert!(!one.said().contains("Command last"), "{}", one.said());
    assert!(one.said().starts_with("Updating shop/dev  (lease "), "{}", one.said());
    assert!(one.said().contains("by ana@") && one.said().contains(" since "), "{}", one.said());
    assert!(update.runs() && one.runs());
    go(&sandbox);
    assert_eq!(update.end().code, 0);
    let hidden = password(&sandbox);
    let (one, other, script) = (one.end(), other.end(), script.end());
    for ended in [&one, &other, &script] {
        assert_eq!(ended.code, 0, "{ended:#?}");
        assert!(!ended.stdout.contains(&hidden) && !ended.stderr.contains(&hidden), "{ended:#?}");
    }
    assert!(one.stdout.contains("drystone:command:Command slow  created  "), "{one:#?}");
    assert!(one.stdout.contains("drystone:command:Command last  created"), "{one:#?}");
    assert!(one.stdout.contains("Outputs:\n    hidden: [secret]\n    said:   \"two\"\n"), "{one:#?}");
    assert!(one.stdout.contains("5 changed (+ 5 created) in "), "{one:#?}");
    assert!(one.stdout.trim_end().ends_with("revision 1 → 2"), "{one:#?}");
    assert!(other.stdout.contains("+ create:                 \"echo two\"\n"), "{other:#?}");
    let events: Vec<Value> = script.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let summary = events.iter().find_map(|event| event.get("summaryEvent")).unwrap();
    assert_eq!(
        (summary["result"].as_str(), summary["resourceChanges"]["create"].as_i64()),
        (Some("succeeded"), Some(5))
    );
    let ended = |event: &&Value| {
        event["resOutputsEvent"]["metadata"]["urn"].as_str().is_some_and(|urn| urn.ends_with("::last"))
    };
    assert!(events.iter().any(|event| ended(&event)), "{}", script.stdout);
}

#[test]
fn s08_leaving_does_not_touch_the_update() {
    let sandbox = sandbox();
    let mut update = up(&sandbox);
    until_slow(&sandbox, &mut update);
    // A shell has what it starts in the background ignore the signal.
    let background =
        ["-c", "trap '' INT; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_drystone"), "stack", "watch"];
    for mut follower in
        [watch(&sandbox, &[]), Talking::start_program(&sandbox, Path::new("/bin/sh"), &background)]
    {
        follower.wait_for("slow  creating");
        follower.signal("INT");
        let ended = follower.end();
        assert!(ended.stderr.contains("no longer following; whatever runs goes on"), "{ended:#?}");
    }
    let mut killed = watch(&sandbox, &[]);
    killed.wait_for("slow  creating");
    killed.signal("KILL");
    killed.end();
    assert!(update.runs());
    go(&sandbox);
    let ended = update.end();
    assert!(ended.code == 0 && ended.stdout.contains("5 changed (+ 5 created)"), "{ended:#?}");
}

#[test]
fn a_run_that_is_killed_is_told_of_and_the_next_can_be_waited_for() {
    let sandbox = sandbox();
    let mut update = up(&sandbox);
    until_slow(&sandbox, &mut update);
    let mut follower = watch(&sandbox, &[]);
    follower.wait_for("slow  creating");
    update.signal("KILL");
    update.end();
    let ended = follower.end();
    assert_eq!(ended.code, 1, "{ended:#?}");
    assert!(ended.stderr.contains("the update of shop/dev died: process "), "{ended:#?}");
    assert!(ended.stderr.contains("  under way: create of drystone:command:Command slow\n"), "{ended:#?}");
    assert!(ended.stderr.contains("`drystone cancel` does at once"), "{ended:#?}");

    let late = watch(&sandbox, &[]).end();
    assert!(late.code == 1 && late.stdout.contains("first  created"), "{late:#?}");
    assert!(late.stderr.contains("died: process "), "{late:#?}");

    let mut waiting = watch(&sandbox, &["--wait"]);
    waiting.wait_for("Waiting for an update of shop/dev");
    go(&sandbox);
    let next = sandbox.drystone(&["up", "--yes", "--skip-preview"]);
    assert_eq!(next.code, 0, "{next:#?}");
    let ended = waiting.end();
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stdout.contains("succeeded in ") || ended.stdout.contains("changed (+ "), "{ended:#?}");
}

#[test]
fn an_update_that_fails_ends_with_its_failure() {
    let sandbox = sandbox();
    sandbox.write("Pulumi.yaml", &PROGRAM.replace("echo two'", "echo two; exit 3'"));
    let mut update = up(&sandbox);
    until_slow(&sandbox, &mut update);
    let mut follower = watch(&sandbox, &[]);
    follower.wait_for("slow  creating");
    go(&sandbox);
    assert_eq!(update.end().code, 4);
    let ended = follower.end();
    assert_eq!(ended.code, 4, "{ended:#?}");
    assert!(ended.stdout.contains("drystone:command:Command slow  failed"), "{ended:#?}");
    assert!(
        ended.stdout.contains("1 failed") && ended.stderr.contains("the update of shop/dev failed"),
        "{ended:#?}"
    );
}

#[test]
fn when_nothing_runs_the_last_update_is_told_and_nothing_is_written() {
    let sandbox = sandbox();
    let files = files_below(&sandbox.state());
    let never = sandbox.drystone(&["stack", "watch"]);
    assert_eq!((never.code, never.stderr.as_str()), (0, ""), "{never:#?}");
    assert_eq!(never.stdout, "No update of shop/dev is running, and there was none yet\n");
    assert_eq!(sandbox.ok(&["stack", "watch", "--json"]), "{\"running\":false,\"lastUpdate\":null}\n");
    let late = sandbox.drystone(&["stack", "watch", "--wait=1s"]);
    assert!(late.code == 9 && late.stderr.contains("no update of shop/dev began in time"), "{late:#?}");
    assert_eq!(files_below(&sandbox.state()), files);

    go(&sandbox);
    sandbox.ok(&["up", "--yes", "--skip-preview"]);
    let files = files_below(&sandbox.state());
    let last = sandbox.ok(&["stack", "watch"]);
    assert!(last.starts_with("No update of shop/dev is running. The last: update "), "{last}");
    assert!(last.contains(", succeeded in ") && last.ends_with("s (+ 5 created)\n"), "{last}");
    let last: Value = serde_json::from_str(&sandbox.ok(&["stack", "watch", "--json"])).unwrap();
    assert_eq!(
        (&last["running"], &last["lastUpdate"]["result"]),
        (&Value::from(false), &Value::from("succeeded"))
    );
    assert_eq!(files_below(&sandbox.state()), files);

    let unknown = sandbox.drystone(&["stack", "watch", "-s", "nowhere"]);
    assert!(unknown.code == 6 && unknown.stderr.contains("no stack named"), "{unknown:#?}");
}

/// A stack whose lease this process holds, with a store that writes checkpoints all the time.
struct Held {
    sandbox: Sandbox,
    store: LocalStore,
    stack: StackId,
    runtime: tokio::runtime::Runtime,
}

impl Held {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        sandbox.ok(&["stack", "init", "prod"]);
        let options = LocalOptions { checkpoint_interval: Some(Duration::ZERO), ..LocalOptions::default() };
        let store = LocalStore::open(sandbox.state(), options).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self { sandbox, store, stack: StackId::new("shop", "prod").unwrap(), runtime }
    }

    fn acquire(&self, purpose: &str) -> Box<dyn HeldLease> {
        self.runtime.block_on(self.store.acquire(&self.stack, Claim::new(purpose))).unwrap()
    }

    fn make(&self, lease: &dyn HeldLease, operation: i64, name: &str) {
        self.begin(lease, operation, name);
        let ended = success(operation * 2, operation, name);
        self.runtime.block_on(lease.append(vec![ended])).unwrap();
    }

    fn begin(&self, lease: &dyn HeldLease, operation: i64, name: &str) {
        self.runtime.block_on(lease.append(vec![begin(operation * 2 - 1, operation, name)])).unwrap();
    }

    fn end(&self, lease: Box<dyn HeldLease>, created: usize) {
        let now = jiff::Timestamp::now().as_second();
        let record = format!(
            r#"{{"kind":"update","startTime":{now},"message":"","environment":{{}},"config":{{}},"version":0,
                "result":"succeeded","endTime":{now},"resourceChanges":{{"create":{created}}}}}"#
        );
        let commit = Commit {
            title: "up".to_owned(),
            update: Some(Json::parse(record).unwrap()),
            ..Commit::default()
        };
        self.runtime.block_on(lease.commit(commit)).unwrap();
        self.runtime.block_on(lease.release()).unwrap();
    }

    fn watch(&self) -> Talking {
        watch(&self.sandbox, &["-s", "prod"])
    }
}

#[test]
fn s03_checkpoints_and_pruning_beneath_do_not_disturb() {
    let held = Held::new();
    for names in [&["a"][..], &["a", "b"], &["a", "b", "c"]] {
        let lease = held.acquire("stack import");
        let commit = Commit { snapshot: Some(snapshot(names)), ..Commit::default() };
        held.runtime.block_on(lease.commit(commit)).unwrap();
        held.runtime.block_on(lease.release()).unwrap();
    }
    let lease = held.acquire("up");
    held.make(&*lease, 1, "one");
    let mut follower = held.watch();
    follower.wait_for("my:mod:Thing one  created");
    let pruned = held.runtime.block_on(lease.prune(Keep { newest: 0 })).unwrap();
    assert!(!pruned.is_empty());
    for operation in 2..30 {
        held.make(&*lease, operation, &format!("n{operation}"));
    }
    follower.wait_for("my:mod:Thing n29  created");
    held.begin(&*lease, 30, "open");
    follower.wait_for("my:mod:Thing open  creating");
    let ended = success(60, 30, "open");
    held.runtime.block_on(lease.append(vec![ended])).unwrap();
    held.end(lease, 30);
    let ended = follower.end();
    assert_eq!(ended.code, 0, "{ended:#?}");
    for name in ["one", "n2", "n17", "n29", "open"] {
        let line = format!("+   my:mod:Thing {name}  created");
        assert_eq!(ended.stdout.matches(&line).count(), 1, "{name}: {ended:#?}");
    }
    assert!(ended.stdout.contains("30 changed (+ 30 created)"), "{ended:#?}");
}

#[test]
fn a_stack_that_is_removed_beneath_is_told_of() {
    let held = Held::new();
    let lease = held.acquire("up");
    held.make(&*lease, 1, "one");
    let mut follower = held.watch();
    follower.wait_for("my:mod:Thing one  created");
    held.runtime.block_on(lease.relocate(Relocation::Nowhere)).unwrap();
    held.runtime.block_on(lease.release()).unwrap();
    let ended = follower.end();
    assert_eq!(ended.code, 6, "{ended:#?}");
    assert!(ended.stderr.contains("shop/prod was removed or renamed while it was followed"), "{ended:#?}");
}

#[test]
fn s12_whoever_takes_over_is_followed_on() {
    let held = Held::new();
    let lease = held.acquire("up");
    held.make(&*lease, 1, "one");
    let mut follower = held.watch();
    follower.wait_for("my:mod:Thing one  created");
    // Its lock is gone with it; that this process still runs hides that from who only reads.
    drop(lease);
    let next = held.acquire("up");
    follower.wait_for("The lease was taken over by");
    held.make(&*next, 1, "two");
    follower.wait_for("my:mod:Thing two  created");
    held.end(next, 1);
    let ended = follower.end();
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert_eq!(ended.stdout.matches("Updating shop/prod").count(), 2, "{ended:#?}");
}

#[test]
fn an_update_that_is_cancelled_ends_without_a_result() {
    let held = Held::new();
    let lease = held.acquire("up");
    held.make(&*lease, 1, "one");
    held.begin(&*lease, 2, "two");
    let mut follower = held.watch();
    follower.wait_for("my:mod:Thing two  creating");
    held.sandbox.ok(&["cancel", "--yes", "-s", "prod"]);
    let ended = follower.end();
    assert_eq!(ended.code, 1, "{ended:#?}");
    assert!(ended.stderr.contains("ended without a result"), "{ended:#?}");
    assert!(ended.stderr.contains("what it had done is recorded as revision "), "{ended:#?}");
}

#[test]
fn whoever_cancels_an_update_is_not_taken_for_its_successor() {
    let held = Held::new();
    let lease = held.acquire("up");
    held.make(&*lease, 1, "one");
    let mut follower = held.watch();
    follower.wait_for("my:mod:Thing one  created");
    drop(lease);
    let cancel = held.acquire("cancel");
    follower.wait_for("cancelled: 1 changed");
    held.runtime.block_on(cancel.release()).unwrap();
    let ended = follower.end();
    assert_eq!(ended.code, 1, "{ended:#?}");
    assert!(ended.stderr.contains("what it had done is recorded as revision "), "{ended:#?}");
}

#[test]
fn a_holder_that_is_no_update_is_waited_for() {
    let held = Held::new();
    let lease = held.acquire("state edit");
    let mut follower = held.watch();
    follower.wait_for("(`state edit`, since ");
    held.runtime.block_on(lease.release()).unwrap();
    let ended = follower.end();
    assert!(ended.code == 0 && ended.stderr.ends_with("shop/prod is free again\n"), "{ended:#?}");
}

#[test]
fn s13_a_holder_that_gives_no_sign_of_life_is_told_of() {
    let held = Held::new();
    let lease = held.acquire("up");
    held.make(&*lease, 1, "one");
    let file = held.sandbox.state().join(".pulumi/drystone/leases/projects/shop/prod/lease.json");
    let mut info: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    // As a store writes it whose holders have to say that they live.
    info["user"] = Value::from("ana");
    info["host"] = Value::from("elsewhere");
    info["heartbeat"] = Value::from("2026-01-01T00:00:00Z");
    std::fs::write(&file, info.to_string()).unwrap();
    let mut follower = held.watch();
    follower.wait_for("no sign of life from ana@elsewhere since 2026-01-01 ");
    info["heartbeat"] = Value::from(jiff::Timestamp::now().to_string());
    std::fs::write(&file, info.to_string()).unwrap();
    follower.wait_for("ana@elsewhere gives signs of life again");
    held.end(lease, 1);
    let ended = follower.end();
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert_eq!(ended.stdout.matches("no sign of life").count(), 1, "{ended:#?}");
}

/// Every file below a folder, with its content.
fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let content = std::fs::read(&path).unwrap();
                found.insert(path, content);
            }
        }
    }
    found
}

#[test]
fn what_another_tool_does_is_waited_for_and_its_record_told() {
    let held = Held::new();
    let locks = held.sandbox.state().join(".pulumi/locks/organization/shop/prod");
    std::fs::create_dir_all(&locks).unwrap();
    let lock = locks.join("0a1b.json");
    let now = jiff::Timestamp::now();
    let content = format!(r#"{{"pid":1,"username":"ben","hostname":"elsewhere","timestamp":"{now}"}}"#);
    std::fs::write(&lock, content).unwrap();
    let mut follower = held.watch();
    follower.wait_for("which leaves no journal to follow");
    let history = held.sandbox.state().join(".pulumi/history/shop/prod");
    std::fs::create_dir_all(&history).unwrap();
    let second = now.as_second();
    let record = format!(
        r#"{{"kind":"update","startTime":{second},"message":"","environment":{{}},"config":{{}},"version":0,
            "result":"failed","endTime":{second},"resourceChanges":{{"same":1}}}}"#
    );
    std::fs::write(history.join("prod-1.history.json"), record).unwrap();
    std::fs::remove_file(&lock).unwrap();
    let ended: Ended = follower.end();
    assert_eq!(ended.code, 4, "{ended:#?}");
    assert!(ended.stdout.contains("The update of shop/prod is over: update "), "{ended:#?}");
}

#[test]
#[ignore = "needs the stock CLI and the plugins of the testbed: run by cargo xtask test"]
fn s14_an_update_of_the_stock_cli_is_waited_for_and_its_record_told() {
    let plugins = std::env::var("DRYSTONE_TESTBED").expect("DRYSTONE_TESTBED: run `cargo xtask test`");
    let stock = std::env::var("DRYSTONE_PEER_PULUMI").expect("DRYSTONE_PEER_PULUMI: run `cargo xtask test`");
    let mut sandbox = Sandbox::new();
    let [world, calls] = ["world", "calls"].map(|name| sandbox.project().join(name));
    std::fs::create_dir(&world).unwrap();
    sandbox.set("PATH", &format!("{plugins}:{}", std::env::var("PATH").unwrap_or_default()));
    sandbox.set("BENCH_WORLD", world.to_str().unwrap());
    sandbox.set("BENCH_CALLS", calls.to_str().unwrap());
    sandbox.set("BENCH_DELAY_MS", "2000");
    let options = "{resources: 1, text: one}";
    sandbox.write("Pulumi.yaml", &format!("name: shop\nruntime:\n  name: bench\n  options: {options}\n"));
    sandbox.ok(&["stack", "init", "dev"]);
    let arguments = ["up", "--yes", "--skip-preview", "--non-interactive", "--stack", "dev"];
    let mut update = Talking::start_program(&sandbox, Path::new(&stock), &arguments);
    while std::fs::read_to_string(&calls).unwrap_or_default().is_empty() {
        assert!(update.runs(), "{}", update.said());
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut follower = watch(&sandbox, &[]);
    follower.wait_for("(another tool, since ");
    let (update, ended) = (update.end(), follower.end());
    assert_eq!((update.code, ended.code), (0, 0), "{update:#?} {ended:#?}");
    assert!(ended.stdout.starts_with("The update of shop/dev is over: update "), "{ended:#?}");
    assert!(ended.stdout.contains(", succeeded in ") && ended.stdout.contains("(+ 2 created)"), "{ended:#?}");
}

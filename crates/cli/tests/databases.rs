//! Whole commands on PostgreSQL, taking turns with the stock CLI, and stacks that go from one backend to the next.

mod backends;
mod harness;
mod talking;

use backends::{Place, UP, count, is_held, json, program, resources, take_turns};
use harness::Sandbox;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use talking::Talking;

#[test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
fn a_stack_lives_in_a_database() {
    let sandbox = Place::postgres().sandbox();
    sandbox.ok(&["login"]);
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.ok(&UP);
    sandbox.write("Pulumi.yaml", &program("two"));
    sandbox.ok(&UP);
    assert_eq!(sandbox.ok(&["stack", "output", "said", "-s", "dev"]).trim(), "two");
    assert!(count(&sandbox.ok(&["stack", "revisions", "--json", "-s", "dev"])) >= 2);
    sandbox.ok(&["stack", "undo", "--yes", "-s", "dev"]);
    sandbox.ok(&["state", "verify", "-s", "dev"]);
    sandbox.ok(&["destroy", "--yes", "--skip-preview", "--stack", "dev"]);
    sandbox.ok(&["stack", "rm", "--yes", "dev"]);
    assert_eq!(count(&sandbox.ok(&["stack", "ls", "--json"])), 0);
}

#[test]
#[ignore = "needs PostgreSQL and the stock Pulumi CLI: run by cargo xtask test"]
fn s14_the_stock_cli_and_ours_take_turns_on_a_database() {
    take_turns(&Place::postgres());
}

/// A program that takes its time.
const SLOW: &str = "name: shop\nruntime: yaml\nresources:\n  pause:\n    type: drystone:time:Sleep\n    properties: {createDuration: 60s}\n";

fn locks_are_honoured_both_ways(place: &Place) {
    let sandbox = place.sandbox();
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.ok(&UP);
    sandbox.write("Pulumi.yaml", SLOW);
    let ours = Talking::start(&sandbox, &UP);
    wait_until(|| is_held(&sandbox));
    let refused = sandbox.stock(&["destroy", "--yes", "--skip-preview", "--stack", "dev"]);
    let said = refused.stdout + &refused.stderr;
    assert!(refused.code != 0 && said.contains("currently locked by 1 lock"), "{said}");
    ours.signal("INT");
    ours.signal("INT");
    ours.end();
    assert!(!is_held(&sandbox));

    // The stock CLI's program reads what nobody writes.
    let pipe = sandbox.project().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: yaml\noutputs:\n  said: {'fn::readFile': ./pipe}\n");
    let peer = std::env::var_os("DRYSTONE_PEER_PULUMI").expect("DRYSTONE_PEER_PULUMI names the stock CLI");
    let theirs = Talking::start_program(&sandbox, Path::new(&peer), &UP);
    wait_until(|| is_held(&sandbox));
    let shown = json(&sandbox.ok(&["state", "lock", "show", "--json", "-s", "dev"]));
    assert_eq!(shown["holders"][0]["foreign"], true, "{shown}");
    let refused = sandbox.drystone(&UP);
    assert_eq!(refused.code, 10, "{refused:#?}");
    theirs.signal("KILL");
    // Its program is let go of before it is waited for.
    let let_go =
        Command::new("timeout").args(["5", "sh", "-c", "echo >pipe"]).current_dir(sandbox.project()).status();
    let_go.expect("a shell");
    theirs.end();
    sandbox.ok(&["cancel", "--yes", "dev"]);
    assert!(!is_held(&sandbox));
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(30), "it did not come about");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
#[ignore = "needs PostgreSQL and the stock Pulumi CLI: run by cargo xtask test"]
fn s14_locks_are_honoured_both_ways_on_a_database() {
    locks_are_honoured_both_ways(&Place::postgres());
}

#[test]
#[ignore = "needs MinIO and the stock Pulumi CLI: run by cargo xtask test"]
fn s14_locks_are_honoured_both_ways_on_a_bucket() {
    locks_are_honoured_both_ways(&Place::minio());
}

/// What has to be the same wherever a stack is.
fn what_is_kept(sandbox: &Sandbox) -> [Value; 3] {
    let mut revisions = json(&sandbox.ok(&["stack", "revisions", "--json", "-s", "dev"]));
    for revision in revisions.as_array_mut().expect("a list") {
        let revision = revision.as_object_mut().expect("an object");
        revision.retain(|key, _| ["command", "time", "by", "message", "resources"].contains(&key.as_str()));
    }
    let history = json(&sandbox.ok(&["stack", "history", "--json", "-s", "dev"]));
    let exported = json(&sandbox.ok(&["stack", "export", "-s", "dev"]));
    [revisions, history, exported["deployment"]["resources"].clone()]
}

#[test]
#[ignore = "needs PostgreSQL and MinIO: run by cargo xtask test"]
fn a_stack_goes_round_all_backends_with_its_history() {
    let (database, bucket) = (Place::postgres(), Place::minio());
    let mut sandbox = bucket.sandbox();
    let here = format!("file://{}", sandbox.state().display());
    let back = sandbox.folder().join("back");
    std::fs::create_dir(&back).expect("a folder");
    let back = format!("file://{}", back.display());
    sandbox.set("PULUMI_BACKEND_URL", &here);
    sandbox.ok(&["stack", "init", "dev"]);
    for value in ["one", "two", "three"] {
        sandbox.write("Pulumi.yaml", &program(value));
        sandbox.ok(&UP);
    }
    sandbox.ok(&["stack", "tag", "set", "team", "walls", "-s", "dev"]);
    let kept = what_is_kept(&sandbox);
    assert_eq!(kept[1].as_array().map(Vec::len), Some(3));
    for url in [&database.url, &bucket.url, &back] {
        sandbox.ok(&["stack", "migrate", "dev", url, "--remove", "--yes"]);
        assert_eq!(
            sandbox.drystone(&["stack", "export", "-s", "dev"]).code,
            6,
            "it is gone from before {url}"
        );
        sandbox.set("PULUMI_BACKEND_URL", url);
        assert_eq!(what_is_kept(&sandbox), kept, "{url}");
        assert_eq!(sandbox.ok(&["stack", "tag", "get", "team", "-s", "dev"]).trim(), "walls");
    }
    sandbox.ok(&["up", "--yes", "--skip-preview", "--expect-no-changes", "-s", "dev"]);
}

/// Stacks as CLIs from before projects left them: made by the stock CLI, which still can.
fn upgraded(place: &Place) {
    let mut sandbox = place.sandbox();
    sandbox.set("PULUMI_DIY_BACKEND_LEGACY_LAYOUT", "true");
    sandbox.set("PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR", "true");
    sandbox.stock_ok(&["stack", "init", "dev"]);
    sandbox.stock_ok(&UP);
    sandbox.unset("PULUMI_DIY_BACKEND_LEGACY_LAYOUT");
    assert_eq!(resources(&sandbox.ok(&["stack", "export", "-s", "dev"])), 3);
    let refused = sandbox.drystone(&["state", "upgrade"]);
    assert_eq!(refused.code, 2, "{refused:#?}");
    let ended = sandbox.drystone(&["state", "upgrade", "--yes"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains("dev is organization/shop/dev now"), "{ended:#?}");
    assert_eq!(resources(&sandbox.stock_ok(&["stack", "export", "-s", "organization/shop/dev"])), 3);
    assert_eq!(count(&sandbox.stock_ok(&["stack", "history", "--json", "-s", "dev"])), 1);
    sandbox.write("Pulumi.yaml", &program("two"));
    sandbox.ok(&UP);
    assert_eq!(sandbox.stock_ok(&["stack", "output", "said", "-s", "dev"]).trim(), "two");
    let again = sandbox.drystone(&["state", "upgrade", "--yes"]);
    assert!(again.code == 0 && again.stderr.contains("nothing to do"), "{again:#?}");
}

#[test]
#[ignore = "needs PostgreSQL and the stock Pulumi CLI: run by cargo xtask test"]
fn stacks_from_before_projects_get_theirs_in_a_database() {
    upgraded(&Place::postgres());
}

#[test]
#[ignore = "needs MinIO and the stock Pulumi CLI: run by cargo xtask test"]
fn stacks_from_before_projects_get_theirs_in_a_bucket() {
    upgraded(&Place::minio());
}

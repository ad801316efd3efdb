//! Operations that do not come to their end: interrupted, cancelled by somebody else, killed.

mod harness;
mod programs;

use harness::Sandbox;
use programs::{Running, deeds, node, set_program, things, wait_until};
use serde_json::json;

const SLOW: &str = "urn:pulumi:dev::shop::pulumi-nodejs:dynamic:Resource::slow";

/// A run that is in the middle of making `slow`, which takes a while.
fn under_way(milliseconds: u64) -> (Sandbox, Running) {
    let sandbox =
        node(&json!({ "things": [{ "name": "a" }, { "name": "slow", "needs": ["a"], "takes": milliseconds },
        { "name": "never", "needs": ["slow"] }] }));
    let running = Running::start(&sandbox, &["up", "-f"]);
    wait_until("the creation of slow", || deeds(&sandbox).contains(&"begin slow".to_owned()));
    (sandbox, running)
}

fn pending(sandbox: &Sandbox) -> Vec<String> {
    let list: Vec<serde_json::Value> =
        serde_json::from_str(&sandbox.ok(&["state", "ops", "list", "--json"])).expect("JSON");
    list.iter().map(|operation| operation["urn"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn the_first_signal_lets_what_runs_end_and_records_it() {
    for (signal, says) in [
        ("INT", "^C received; cancelling."),
        ("TERM", "SIGTERM received; cancelling."),
        ("HUP", "SIGHUP received; cancelling."),
    ] {
        let (sandbox, running) = under_way(2000);
        running.signal(signal);
        let ended = running.end();
        assert_eq!(ended.code, 8, "{ended:#?}");
        assert!(ended.stdout.contains(says), "{ended:#?}");
        assert!(
            ended.stderr.contains("update cancelled") && ended.stderr.contains("revision 2"),
            "{ended:#?}"
        );
        assert_eq!(things(&sandbox), ["a", "slow"]);
        assert_eq!(pending(&sandbox), [] as [&str; 0]);
        assert!(!deeds(&sandbox).contains(&"begin never".to_owned()));
    }
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn the_second_signal_ends_it_at_once_and_what_ran_is_pending() {
    let (sandbox, running) = under_way(60_000);
    running.signal("INT");
    std::thread::sleep(std::time::Duration::from_millis(500));
    running.signal("INT");
    let ended = running.end();
    assert_eq!(ended.code, 8, "{ended:#?}");
    assert!(ended.stdout.contains("terminating"), "{ended:#?}");
    assert_eq!(things(&sandbox), ["a"]);
    assert_eq!(pending(&sandbox), [SLOW]);

    // The next run tells of it.
    set_program(&sandbox, &json!({ "things": [{ "name": "a" }] }));
    let up = sandbox.drystone(&["up", "-f"]);
    assert_eq!(up.code, 0, "{up:#?}");
    for says in [
        "with 1 pending operations from previous deployment",
        SLOW,
        "interrupted while creating",
        "state ops resolve",
    ] {
        assert!(up.stdout.contains(says), "{says}: {up:#?}");
    }
    assert_eq!(pending(&sandbox), [SLOW]);
    let unknown = sandbox.drystone(&[
        "refresh",
        "-f",
        "--import-pending-creates",
        "urn:x",
        "--import-pending-creates",
        "1",
    ]);
    assert!(
        unknown.code == 0 && unknown.stderr.contains("\"urn:x\" did not correspond to a pending create"),
        "{unknown:#?}"
    );
    let imported = sandbox.drystone(&[
        "refresh",
        "-f",
        "--import-pending-creates",
        SLOW,
        "--import-pending-creates",
        "id-slow",
    ]);
    assert_eq!(imported.code, 0, "{imported:#?}");
    assert_eq!(things(&sandbox), ["a", "slow"]);
    assert_eq!(pending(&sandbox), [] as [&str; 0]);
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn s5_a_killed_run_is_recovered_by_the_next() {
    let (sandbox, running) = under_way(60_000);
    running.signal("KILL");
    running.end();
    for read in [&["stack", "export"][..], &["stack", "output"]] {
        let read = sandbox.drystone(read);
        assert!(read.code == 0 && read.stderr.contains("what it did is not shown here"), "{read:#?}");
    }
    let preview = sandbox.drystone(&["preview"]);
    assert_eq!(preview.code, 0, "{preview:#?}");
    let refresh = sandbox.drystone(&["refresh", "-f", "--clear-pending-creates"]);
    assert_eq!(refresh.code, 0, "{refresh:#?}");
    let told: Vec<&str> = refresh.stderr.lines().take(3).collect();
    assert!(told[0].starts_with("Recovered the update of ana@"), "{refresh:#?}");
    assert!(told[0].contains(" on shop/dev, last heard of ") && told[0].contains(" second"), "{refresh:#?}");
    assert!(told[0].contains(": 3 steps replayed into revision 2, nothing lost."), "{refresh:#?}");
    assert_eq!(told[1], "1 operation was under way and is now pending:", "{refresh:#?}");
    assert_eq!(told[2], "  creating  pulumi-nodejs:dynamic:Resource slow", "{refresh:#?}");
    assert_eq!(things(&sandbox), ["a"]);
    assert_eq!(pending(&sandbox), [] as [&str; 0]);
    sandbox.ok(&["state", "verify"]);
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn s4_a_run_that_lost_its_lease_begins_nothing_more() {
    let (sandbox, running) = under_way(3000);
    let held = sandbox.drystone(&["up", "-f"]);
    assert!(held.code == 10 && held.stderr.contains("the stack is currently locked by"), "{held:#?}");
    sandbox.ok(&["cancel", "--yes"]);
    let ended = running.end();
    assert_eq!(ended.code, 10, "{ended:#?}");
    assert!(ended.stderr.contains("was taken over by"), "{ended:#?}");
    assert!(!deeds(&sandbox).contains(&"begin never".to_owned()));
    assert_eq!(things(&sandbox), ["a"]);
    assert_eq!(pending(&sandbox), [SLOW]);
}

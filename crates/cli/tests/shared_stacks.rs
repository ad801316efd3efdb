//! Stacks that several share (S5, S12, S13): waiting, looking who holds one, ending a run, and going on after one that
//! died, on every kind of server.

mod backends;
mod harness;
mod talking;

use backends::{Place, UP, is_held, json};
use harness::Sandbox;
use std::time::Duration;
use talking::Talking;

/// A value, and a pause before the one after it.
fn program(pause: &str) -> String {
    format!(
        "name: shop\nruntime: yaml\nresources:\n  first:\n    type: pulumi:index:Stash\n    properties: {{input: 1}}\n  \
         pause:\n    type: drystone:time:Sleep\n    properties: {{createDuration: {pause}}}\n    options: {{dependsOn: ['${{first}}']}}\n  \
         last:\n    type: pulumi:index:Stash\n    properties: {{input: 2}}\n    options: {{dependsOn: ['${{pause}}']}}\n"
    )
}

/// A project whose stack is being updated; silent holders are given up soon.
fn updating(place: &Place, pause: &str) -> (Sandbox, Talking) {
    let mut sandbox = place.sandbox();
    sandbox.set("DRYSTONE_LEASE_TTL", "2s");
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.write("Pulumi.yaml", &program(pause));
    let mut running = Talking::start(&sandbox, &UP);
    // What it says that it has made is in its journal; then the pause begins.
    running.wait_for("first");
    std::thread::sleep(Duration::from_millis(300));
    (sandbox, running)
}

fn names(sandbox: &Sandbox) -> Vec<String> {
    let exported = json(&sandbox.ok(&["stack", "export", "-s", "dev"]));
    let resources = exported["deployment"]["resources"].as_array().cloned().unwrap_or_default();
    let name = |urn: &str| urn.rsplit("::").next().map(str::to_owned);
    resources.iter().filter_map(|resource| name(resource["urn"].as_str()?)).collect()
}

fn who_waits_gets_the_stack(place: &Place) {
    let (sandbox, running) = updating(place, "5s");
    let refused = sandbox.drystone(&["stack", "tag", "set", "a", "b", "-s", "dev"]);
    assert_eq!(refused.code, 10, "{refused:#?}");
    assert!(refused.stderr.contains("(`up`, since"), "{refused:#?}");
    let late = sandbox.drystone(&["stack", "tag", "set", "a", "b", "-s", "dev", "--wait=1s"]);
    assert_eq!(late.code, 9, "{late:#?}");
    let waited = sandbox.drystone(&["stack", "tag", "set", "a", "b", "-s", "dev", "--wait"]);
    assert_eq!(waited.code, 0, "{waited:#?}");
    assert!(waited.stderr.contains("Waiting for shop/dev: held by"), "{waited:#?}");
    assert_eq!(running.end().code, 0);
    assert_eq!(sandbox.ok(&["stack", "tag", "get", "a", "-s", "dev"]).trim(), "b");
}

fn a_run_is_shown_and_ended(place: &Place) {
    let (sandbox, running) = updating(place, "60s");
    let shown = json(&sandbox.ok(&["state", "lock", "show", "--json", "-s", "dev"]));
    assert_eq!(
        (&shown["holders"][0]["purpose"], &shown["holders"][0]["dead"]),
        (&"up".into(), &false.into())
    );
    assert!(sandbox.ok(&["state", "lock", "show", "-s", "dev"]).contains("is held by ana@"));
    let cancelled = sandbox.drystone(&["cancel", "--yes", "dev"]);
    assert_eq!(cancelled.code, 0, "{cancelled:#?}");
    assert!(!is_held(&sandbox));
    assert!(names(&sandbox).contains(&"first".to_owned()), "what it did is recorded");
    running.signal("INT");
    running.signal("INT");
    assert_ne!(running.end().code, 0, "it cannot go on");
    sandbox.write("Pulumi.yaml", &program("10ms"));
    sandbox.ok(&UP);
    assert!(names(&sandbox).contains(&"last".to_owned()));
}

fn a_killed_run_is_gone_on_with(place: &Place) {
    let (sandbox, running) = updating(place, "60s");
    running.signal("KILL");
    running.end();
    sandbox.write("Pulumi.yaml", &program("10ms"));
    // A holder on another machine may still live until its time is up.
    std::thread::sleep(Duration::from_millis(4_500));
    let next = sandbox.drystone(&UP);
    assert_eq!(next.code, 0, "{next:#?}");
    assert!(next.stderr.contains("Recovered the update of ana@"), "{next:#?}");
    assert!(next.stderr.contains("nothing lost"), "{next:#?}");
    let names = names(&sandbox);
    for name in ["first", "pause", "last"] {
        assert_eq!(names.iter().filter(|own| *own == name).count(), 1, "{name}: {names:?}");
    }
    let shown = json(&sandbox.ok(&["state", "lock", "show", "--json", "-s", "dev"]));
    assert_eq!((&shown["holders"], &shown["unrecoveredJournal"]), (&serde_json::json!([]), &false.into()));
}

macro_rules! on_every_server {
    ($($server:ident $needs:literal),+) => {$(
        mod $server {
            use super::Place;

            #[test]
            #[ignore = $needs]
            fn s13_who_waits_gets_the_stack() {
                super::who_waits_gets_the_stack(&Place::$server());
            }

            #[test]
            #[ignore = $needs]
            fn s13_a_run_is_shown_and_ended() {
                super::a_run_is_shown_and_ended(&Place::$server());
            }

            #[test]
            #[ignore = $needs]
            fn s05_s12_a_killed_run_is_gone_on_with() {
                super::a_killed_run_is_gone_on_with(&Place::$server());
            }
        }
    )+};
}

on_every_server! {
    minio "needs MinIO: run by cargo xtask test",
    postgres "needs PostgreSQL: run by cargo xtask test",
    fake_gcs "needs fake-gcs-server: run by cargo xtask test",
    azurite "needs Azurite: run by cargo xtask test"
}

#[test]
fn a_time_to_live_that_cannot_be_kept_is_refused() {
    let mut sandbox = Sandbox::new();
    sandbox.set("PULUMI_BACKEND_URL", "postgres://127.0.0.1:1/none");
    for (ttl, message) in [("1s", "is too short"), ("soon", "90s, 10m or 1h")] {
        sandbox.set("DRYSTONE_LEASE_TTL", ttl);
        let refused = sandbox.drystone(&["stack", "ls"]);
        assert!(refused.code == 2 && refused.stderr.contains(message), "{refused:#?}");
        assert!(refused.stderr.contains("DRYSTONE_LEASE_TTL"), "{refused:#?}");
    }
}

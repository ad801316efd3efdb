//! Whole commands on a bucket, taking turns with the stock CLI.

mod backends;
mod harness;

use backends::{Place, UP, count, json, program, take_turns};

#[test]
#[ignore = "needs MinIO: run by cargo xtask test"]
fn a_stack_lives_in_a_bucket() {
    let sandbox = Place::minio().sandbox();
    sandbox.ok(&["login"]);
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.ok(&UP);
    assert_eq!(sandbox.ok(&["stack", "output", "said", "-s", "dev"]).trim(), "one");
    sandbox.write("Pulumi.yaml", &program("two"));
    sandbox.ok(&UP);
    assert_eq!(sandbox.ok(&["stack", "ls", "--json"]).matches("\"name\"").count(), 1);
    let revisions = sandbox.ok(&["stack", "revisions", "--json", "-s", "dev"]);
    assert!(count(&revisions) >= 2, "{revisions}");
    sandbox.ok(&["stack", "undo", "--yes", "-s", "dev"]);
    sandbox.ok(&["state", "verify", "-s", "dev"]);
    sandbox.ok(&["destroy", "--yes", "--skip-preview", "--stack", "dev"]);
    sandbox.ok(&["stack", "rm", "--yes", "dev"]);
}

#[test]
#[ignore = "needs MinIO and the stock Pulumi CLI: run by cargo xtask test"]
fn s14_the_stock_cli_and_ours_take_turns_on_a_bucket() {
    take_turns(&Place::minio());
}

#[test]
#[ignore = "needs MinIO: run by cargo xtask test"]
fn a_stack_moves_from_a_directory_to_a_bucket() {
    let place = Place::minio();
    let mut sandbox = place.sandbox();
    sandbox.set("PULUMI_BACKEND_URL", &format!("file://{}", sandbox.state().display()));
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.ok(&UP);
    let before = json(&sandbox.ok(&["stack", "export", "-s", "dev"]));
    sandbox.ok(&["stack", "migrate", "dev", &place.url]);
    sandbox.set("PULUMI_BACKEND_URL", &place.url);
    let there = json(&sandbox.ok(&["stack", "export", "-s", "dev"]));
    assert_eq!(there["deployment"]["resources"], before["deployment"]["resources"]);
    sandbox.ok(&["up", "--yes", "--skip-preview", "--expect-no-changes", "-s", "dev"]);
}

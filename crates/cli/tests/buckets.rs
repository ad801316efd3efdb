//! Whole commands on a bucket, taking turns with the stock CLI.

mod harness;

use drystone_servers::{Cloud, minio};
use harness::Sandbox;
use serde_json::Value;

const PROGRAM: &str = "name: shop\nruntime: yaml\nresources:\n  a:\n    type: pulumi:index:Stash\n    properties: {input: VALUE}\noutputs:\n  said: ${a.output}\n";

fn program(value: &str) -> String {
    PROGRAM.replace("VALUE", value)
}

/// A project whose backend is a part of a bucket that nobody else has.
fn sandbox(cloud: &Cloud) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.write("Pulumi.yaml", &program("one"));
    sandbox.set("PULUMI_BACKEND_URL", &format!("{}&region=us-east-1", cloud.url()));
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
        sandbox.set(name, &cloud.variable(name).expect("a key"));
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let yaml = std::env::var_os("DRYSTONE_PEER_YAML").map(std::path::PathBuf::from);
    if let Some(folder) = yaml.as_deref().and_then(std::path::Path::parent) {
        sandbox.set("PATH", &format!("{}:{path}", folder.display()));
    }
    sandbox
}

fn resources(exported: &str) -> usize {
    let exported: Value = serde_json::from_str(exported).expect("JSON");
    exported["deployment"]["resources"].as_array().map_or(0, Vec::len)
}

const UP: [&str; 5] = ["up", "--yes", "--skip-preview", "--stack", "dev"];

#[test]
#[ignore = "needs MinIO: run by cargo xtask test"]
fn a_stack_lives_in_a_bucket() {
    let sandbox = sandbox(minio());
    sandbox.ok(&["login"]);
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.ok(&UP);
    assert_eq!(sandbox.ok(&["stack", "output", "said", "-s", "dev"]).trim(), "one");
    sandbox.write("Pulumi.yaml", &program("two"));
    sandbox.ok(&UP);
    assert_eq!(sandbox.ok(&["stack", "ls", "--json"]).matches("\"name\"").count(), 1);
    let revisions = sandbox.ok(&["stack", "revisions", "--json", "-s", "dev"]);
    assert!(serde_json::from_str::<Vec<Value>>(&revisions).expect("JSON").len() >= 2, "{revisions}");
    sandbox.ok(&["stack", "undo", "--yes", "-s", "dev"]);
    sandbox.ok(&["state", "verify", "-s", "dev"]);
    sandbox.ok(&["destroy", "--yes", "--skip-preview", "--stack", "dev"]);
    sandbox.ok(&["stack", "rm", "--yes", "dev"]);
}

#[test]
#[ignore = "needs MinIO and the stock Pulumi CLI: run by cargo xtask test"]
fn s14_the_stock_cli_and_ours_take_turns_on_a_bucket() {
    let sandbox = sandbox(minio());
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.ok(&UP);
    // The root, the provider that is built in, and the value.
    assert_eq!(resources(&sandbox.stock_ok(&["stack", "export", "-s", "dev"])), 3);
    sandbox.write("Pulumi.yaml", &program("two"));
    sandbox.stock_ok(&UP);
    assert_eq!(resources(&sandbox.ok(&["stack", "export", "-s", "dev"])), 3);
    sandbox.ok(&UP);
    let history = sandbox.stock_ok(&["stack", "history", "--json", "-s", "dev"]);
    assert_eq!(serde_json::from_str::<Vec<Value>>(&history).expect("JSON").len(), 3);
    sandbox.stock_ok(&["destroy", "--yes", "--skip-preview", "--stack", "dev"]);
    assert_eq!(resources(&sandbox.ok(&["stack", "export", "-s", "dev"])), 0);
}

#[test]
#[ignore = "needs MinIO: run by cargo xtask test"]
fn a_stack_moves_from_a_directory_to_a_bucket() {
    let mut sandbox = sandbox(minio());
    let bucket = format!("{}&region=us-east-1", minio().url());
    sandbox.set("PULUMI_BACKEND_URL", &format!("file://{}", sandbox.state().display()));
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.ok(&UP);
    let before = sandbox.ok(&["stack", "export", "-s", "dev"]);
    sandbox.ok(&["stack", "migrate", "dev", &bucket]);
    sandbox.set("PULUMI_BACKEND_URL", &bucket);
    let there: Value = serde_json::from_str(&sandbox.ok(&["stack", "export", "-s", "dev"])).expect("JSON");
    let before: Value = serde_json::from_str(&before).expect("JSON");
    assert_eq!(there["deployment"]["resources"], before["deployment"]["resources"]);
    sandbox.ok(&["up", "--yes", "--skip-preview", "--expect-no-changes", "-s", "dev"]);
}

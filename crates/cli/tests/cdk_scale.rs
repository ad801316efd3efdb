//! A thousand stacks of cdkd in one bucket.

mod cdk_site;
mod harness;

use cdk_site::surround;
use drystone_servers::{BUCKET, Cloud, minio};
use drystone_stores::object::{AccountOptions, S3Account};
use futures::{StreamExt, TryStreamExt};
use harness::Sandbox;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use std::time::{Duration, Instant};

const STACKS: usize = 1000;
/// Every so many stacks have one nested in them.
const NESTED: usize = 5;
const LIMIT: Duration = Duration::from_secs(2);

/// A state such as the tool writes, of a size that is usual.
fn state(stack: &str, parent: Option<&str>) -> String {
    let resources: serde_json::Map<String, serde_json::Value> = (0..10)
        .map(|number| {
            let name = format!("Queue{number}");
            let resource = serde_json::json!({
                "physicalId": format!("https://sqs.us-east-1.amazonaws.com/123456789012/{stack}-{name}"),
                "resourceType": "AWS::SQS::Queue",
                "properties": { "VisibilityTimeout": 30, "QueueName": format!("{stack}-{name}") },
                "attributes": { "Arn": format!("arn:aws:sqs:us-east-1:123456789012:{stack}-{name}") },
                "dependencies": [],
                "provisionedBy": "sdk",
                "observedProperties": { "VisibilityTimeout": 30, "DelaySeconds": 0, "Tags": [] },
            });
            (name, resource)
        })
        .collect();
    let mut state = serde_json::json!({
        "version": 8, "region": "us-east-1", "stackName": stack, "resources": resources,
        "outputs": {}, "lastModified": 1_794_767_498_943_i64,
    });
    if let Some(parent) = parent {
        state["parentStack"] = parent.into();
        state["parentLogicalId"] = "Child".into();
        state["parentRegion"] = "us-east-1".into();
    }
    serde_json::to_string_pretty(&state).expect("JSON")
}

async fn fill(cloud: &'static Cloud, prefix: &str) {
    let port = cloud.port();
    let variables = move |name: &str| match name {
        "AWS_ENDPOINT_URL" => Some(format!("http://127.0.0.1:{port}")),
        _ => cloud.variable(name),
    };
    let account = S3Account::open(AccountOptions::default(), variables).await.expect("an account");
    let objects = account.objects(BUCKET).await.expect("a bucket");
    let writes = (0..STACKS).map(|number| {
        let (name, parent) = match number % NESTED {
            0 => {
                let parent = format!("Stack{:04}", number + 1);
                (format!("{parent}~Child"), Some(parent))
            }
            _ => (format!("Stack{number:04}"), None),
        };
        let path = Path::parse(format!("{prefix}/{name}/us-east-1/state.json")).expect("a path");
        let objects = &objects;
        async move { objects.put(&path, state(&name, parent.as_deref()).into()).await }
    });
    futures::stream::iter(writes).buffer_unordered(32).try_collect::<Vec<_>>().await.expect("writes");
}

#[test]
#[ignore = "needs MinIO: run by cargo xtask test"]
fn a_thousand_stacks_are_listed_in_two_seconds() {
    let cloud = minio();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(fill(cloud, "thousand"));
    let mut sandbox = Sandbox::new();
    surround(&mut sandbox, cloud, cloud.port());
    for (flag, lines) in [("--long", STACKS * 6 - 1), ("--tree", STACKS)] {
        let words = ["cdk", "state", "list", flag, "--state-bucket", BUCKET, "--state-prefix", "thousand"];
        // What it takes when the machine is busy with other suites says nothing; one good run does.
        let mut times: Vec<Duration> = Vec::new();
        while times.len() < 3 || times.len() < 10 && times.iter().all(|time| *time >= LIMIT) {
            let began = Instant::now();
            let listed = sandbox.ok(&words);
            assert_eq!(listed.lines().count(), lines, "{flag}");
            times.push(began.elapsed());
        }
        println!("cdk state list {flag}: {STACKS} stacks in {times:?}");
        let fastest = times.iter().min().expect("a time");
        assert!(*fastest < LIMIT, "{flag}: {times:?}");
    }
}

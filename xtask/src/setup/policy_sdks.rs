//! Pulumi's SDKs for policy packs, from npm and from PyPI, each with the SDK of its language beside it.

use super::{Peer, node_sdk, python_sdk};
use crate::cache::Cache;
use crate::process;
use std::path::PathBuf;

const VERSION: &str = "1.21.0";

/// The SDK for Node.js, as a folder that has its `node_modules`.
pub(crate) const NODE_POLICY: Peer = Peer {
    name: "@pulumi/policy",
    version: VERSION,
    purpose: "the tests that run policy packs in Node.js",
    variable: Some("DRYSTONE_PEER_NODE_POLICY"),
    find: find_node,
    install: |cache| node_sdk::modules(cache, "node-policy", VERSION, PACKAGE_JSON),
};

/// The SDK for Python, as a virtual environment.
pub(crate) const PYTHON_POLICY: Peer = Peer {
    name: "pulumi-policy for Python",
    version: VERSION,
    purpose: "the tests that run policy packs in Python",
    variable: Some("DRYSTONE_PEER_PYTHON_POLICY"),
    find: find_python,
    install: |cache| python_sdk::environment(&cache.peer("python-policy", VERSION), PACKAGES),
};

const PACKAGE_JSON: &str = r#"{
  "private": true,
  "dependencies": {
    "@pulumi/policy": "1.21.0",
    "@pulumi/pulumi": "3.260.0",
    "@types/node": "22.19.1",
    "ts-node": "10.9.2",
    "typescript": "5.9.3"
  }
}
"#;

/// The SDK and what it depends on. It asks for an older protobuf than the newest that the language's SDK takes.
const PACKAGES: &[&str] = &[
    "debugpy==1.8.22",
    "dill==0.4.1",
    "googleapis-common-protos==1.75.0",
    "grpcio==1.85.1",
    "opentelemetry-api==1.45.2",
    "opentelemetry-exporter-otlp-common==0.66b1",
    "opentelemetry-exporter-otlp-proto-common==1.45.1",
    "opentelemetry-exporter-otlp-proto-grpc==1.45.1",
    "opentelemetry-instrumentation==0.66b2",
    "opentelemetry-instrumentation-grpc==0.66b2",
    "opentelemetry-proto==1.45.1",
    "opentelemetry-sdk==1.45.2",
    "opentelemetry-semantic-conventions==0.66b2",
    "packaging==26.3",
    "protobuf==5.29.6",
    "pulumi==3.260.0",
    "pulumi-policy==1.21.0",
    "PyYAML==6.0.3",
    "semver==3.1.1",
    "setuptools==65.5.0",
    "typing_extensions==4.16.0",
    "wrapt==2.5.2",
];

fn find_node(cache: &Cache) -> Option<PathBuf> {
    let place = cache.peer("node-policy", VERSION);
    if !place.is_dir() {
        return None;
    }
    let mut asked = process::command("node", ["-p", "require('@pulumi/policy/package.json').version"]);
    let answer = process::output_of(asked.current_dir(&place))?;
    (answer.trim().trim_start_matches('v') == VERSION).then_some(place)
}

fn find_python(cache: &Cache) -> Option<PathBuf> {
    let place = cache.peer("python-policy", VERSION);
    let question = "from importlib.metadata import version; print(version('pulumi_policy'))";
    let mut asked = process::command(place.join("bin").join("python"), ["-c", question]);
    let answer = process::output_of(&mut asked)?;
    (answer.trim() == VERSION && place.join(python_sdk::WHOLE).exists()).then_some(place)
}

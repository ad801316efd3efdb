//! Stacks whose state file is written directly, so that it may break any rule.

#![allow(dead_code, reason = "each test uses a part of it")]

use crate::harness::{Ended, Sandbox};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The salt of the passphrase `correct horse`.
pub(crate) const SALT: &str = "v1:IYfipUdIeoo=:v1:tW1C2b8bBVyEWAlR:/ECf2Pp6QMq6dhIqv2Wc3bFcrCXsWg==";
/// Another salt of the same passphrase.
pub(crate) const OTHER_SALT: &str = "v1:BaNUi0QUTN8=:v1:J4qbt45Eg7AjebTg:7wENJS6jBOpWEmEe4Y76AEhXPrlODg==";

/// The URN of a pet of the stack `dev`.
pub(crate) fn pet(name: &str) -> String {
    format!("urn:pulumi:dev::shop::random:index:Pet::{name}")
}

pub(crate) const ROOT: &str = "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev";
pub(crate) const PROVIDER: &str = "urn:pulumi:dev::shop::pulumi:providers:random::default";
pub(crate) const PROVIDER_ID: &str = "0a1b2c3d-0000-4000-8000-000000000001";

/// The resource of a pet that depends on others.
pub(crate) fn pet_resource(name: &str, dependencies: &[&str]) -> Value {
    let mut resource = json!({
        "urn": pet(name), "custom": true, "id": format!("{name}-id"), "type": "random:index:Pet",
        "inputs": { "length": 9007199254740993_u64 }, "outputs": { "name": name }, "parent": ROOT,
        "provider": format!("{PROVIDER}::{PROVIDER_ID}"),
    });
    if !dependencies.is_empty() {
        let urns: Vec<String> = dependencies.iter().map(|name| pet(name)).collect();
        resource["propertyDependencies"] = json!({ "prefix": urns });
        resource["dependencies"] = json!(urns);
    }
    resource
}

/// The root, a provider, and pets: `b` depends on `a`, `c` on `b`, `d` on nothing.
pub(crate) fn resources() -> Vec<Value> {
    vec![
        json!({ "urn": ROOT, "custom": false, "type": "pulumi:pulumi:Stack" }),
        json!({ "urn": PROVIDER, "custom": true, "id": PROVIDER_ID, "type": "pulumi:providers:random" }),
        pet_resource("a", &[]),
        pet_resource("b", &["a"]),
        pet_resource("c", &["b"]),
        pet_resource("d", &[]),
    ]
}

/// A deployment with these resources.
pub(crate) fn deployment(resources: &[Value]) -> Value {
    json!({
        "manifest": { "time": "2026-01-02T03:04:05.678Z", "magic": "", "version": "" },
        "secrets_providers": { "type": "passphrase", "state": { "salt": SALT } },
        "resources": resources, "metadata": {},
    })
}

/// The state file of a stack.
pub(crate) fn state_file(sandbox: &Sandbox, project: &str, stack: &str) -> PathBuf {
    sandbox.state().join(format!(".pulumi/stacks/{project}/{stack}.json"))
}

/// Writes the state of a stack as it is, sound or not.
pub(crate) fn write_state(sandbox: &Sandbox, project: &str, stack: &str, deployment: Option<&Value>) {
    let path = state_file(sandbox, project, stack);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(sandbox.state().join(".pulumi/meta.yaml"), "version: 1\n").expect("a file");
    let mut checkpoint = json!({ "stack": format!("organization/{project}/{stack}") });
    if let Some(deployment) = deployment {
        checkpoint["latest"] = deployment.clone();
    }
    std::fs::write(path, json!({ "version": 3, "checkpoint": checkpoint }).to_string()).expect("a file");
}

/// A project with a selected stack `dev` that has these resources.
pub(crate) fn stack_with(resources: &[Value]) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.write("Pulumi.dev.yaml", &format!("encryptionsalt: {SALT}\n"));
    write_state(&sandbox, "shop", "dev", Some(&deployment(resources)));
    sandbox.set("PULUMI_STACK", "dev");
    sandbox
}

/// The deployment of a stack.
pub(crate) fn state_of(sandbox: &Sandbox, project: &str, stack: &str) -> Value {
    let text = std::fs::read_to_string(state_file(sandbox, project, stack)).expect("a file");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    document["checkpoint"]["latest"].clone()
}

/// The resource with a URN in a deployment.
pub(crate) fn resource<'a>(deployment: &'a Value, urn: &str) -> Option<&'a Value> {
    deployment["resources"].as_array()?.iter().find(|resource| resource["urn"] == urn)
}

/// The names of the resources of the stack `dev`, in order.
pub(crate) fn names(sandbox: &Sandbox) -> Vec<String> {
    names_in(&state_of(sandbox, "shop", "dev"))
}

/// The names of the resources of a deployment, in order.
pub(crate) fn names_in(deployment: &Value) -> Vec<String> {
    let resources = deployment["resources"].as_array().cloned().unwrap_or_default();
    let urns = resources.iter().filter_map(|resource| resource["urn"].as_str());
    urns.map(|urn| urn.rsplit("::").next().unwrap_or_default().to_owned()).collect()
}

/// Runs a command that must fail with this code and change nothing.
pub(crate) fn refused(sandbox: &Sandbox, arguments: &[&str], code: i32) -> Ended {
    let before = std::fs::read(state_file(sandbox, "shop", "dev")).ok();
    let ended = sandbox.drystone(arguments);
    assert_eq!(ended.code, code, "drystone {arguments:?}: {ended:#?}");
    assert_eq!(
        std::fs::read(state_file(sandbox, "shop", "dev")).ok(),
        before,
        "{arguments:?} changed the state"
    );
    let errors = ended.stderr.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!(errors, 1, "{ended:#?}");
    assert!(ended.stderr.contains("hint: "), "{ended:#?}");
    ended
}

/// `"hush"`, sealed with the passphrase and [`SALT`].
pub(crate) const SEALED: &str = "v1:MqHZ1OipV52qoH8I:gbWrwdRNb72QoxocJoF10wj1WdCrwA==";

/// A secret with that ciphertext, as the state holds it.
pub(crate) fn secret(ciphertext: &str) -> Value {
    json!({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": ciphertext })
}

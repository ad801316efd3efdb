//! A sandbox with a stack `dev` in it, as `stack init` leaves one, and documents to import.

#![allow(dead_code, reason = "each test uses a part of it")]

use crate::harness::{Ended, Sandbox, deployment};
use serde_json::{Value, json};

/// The salt of the stack's passphrase, `correct horse`.
pub(crate) const SALT: &str = "v1:IYfipUdIeoo=:v1:tW1C2b8bBVyEWAlR:/ECf2Pp6QMq6dhIqv2Wc3bFcrCXsWg==";

/// A project with a stack `dev` that was never updated, whose settings hold the secret `shop:tok`, `abc`.
pub(crate) fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let folder = sandbox.state().join(".pulumi/stacks/shop");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(sandbox.state().join(".pulumi/meta.yaml"), "version: 1\n").expect("a file");
    let checkpoint = r#"{"version":3,"checkpoint":{"stack":"organization/shop/dev"}}"#;
    std::fs::write(folder.join("dev.json"), checkpoint).expect("a file");
    sandbox.write(
        "Pulumi.dev.yaml",
        &format!(
            "encryptionsalt: {SALT}\nconfig:\n  # The token.\n  shop:tok:\n    secure: v1:LdwPhlDsR2XCQTvB:SOCXStCV37cSHmU3JBqkb6qSjQ==\n"
        ),
    );
    sandbox
}

/// The state file of the stack.
pub(crate) fn state_file(sandbox: &Sandbox) -> std::path::PathBuf {
    sandbox.state().join(".pulumi/stacks/shop/dev.json")
}

/// Imports a document, which must succeed.
pub(crate) fn import(sandbox: &Sandbox, document: &str) -> Ended {
    let ended = sandbox.drystone_with(&["stack", "import", "-s", "dev"], document);
    assert_eq!(ended.code, 0, "{ended:#?}");
    ended
}

/// The sample deployment with a change made to it.
pub(crate) fn changed(change: impl FnOnce(&mut Value)) -> String {
    let mut document: Value = serde_json::from_str(&deployment()).expect("JSON");
    change(&mut document["deployment"]);
    document.to_string()
}

/// The sample deployment with one more pet.
pub(crate) fn with_pet(name: &str) -> String {
    changed(|deployment| {
        let pet = json!({ "urn": format!("urn:pulumi:dev::shop::random:index:Pet::{name}"), "custom": true, "id": name,
            "type": "random:index:Pet", "parent": "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev",
            "provider": "urn:pulumi:dev::shop::pulumi:providers:random::default::0a1b2c3d-0000-4000-8000-000000000001" });
        deployment["resources"].as_array_mut().expect("a list").push(pet);
    })
}

/// The sample deployment with a secret in clear.
pub(crate) fn with_open_secret(plaintext: &str) -> String {
    changed(|deployment| {
        deployment["resources"][2]["inputs"]["password"] = json!({
            "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
            "plaintext": serde_json::to_string(plaintext).expect("JSON"),
        });
    })
}

/// What `stack export` prints.
pub(crate) fn exported(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.ok(&["stack", "export", "-s", "dev"])).expect("JSON")
}

/// Everything in the backend's folder, by path.
pub(crate) fn everything(sandbox: &Sandbox) -> std::collections::BTreeMap<String, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    let mut folders = vec![sandbox.state()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.display().to_string(), std::fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

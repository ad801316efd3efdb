//! `state move`.

mod harness;
mod state_fixture;

use harness::Sandbox;
use serde_json::{Value, json};
use state_fixture::{
    OTHER_SALT, PROVIDER, PROVIDER_ID, ROOT, SALT, SEALED, deployment, names, names_in, pet, pet_resource,
    refused, resource, resources, secret, stack_with, state_file, state_of, write_state,
};

const DEST: &str = "organization/store/prod";

fn moved(name: &str) -> String {
    format!("urn:pulumi:prod::store::random:index:Pet::{name}")
}

/// A stack `shop/dev` with the sample and a stack `store/prod` with nothing, whose secrets have a key of their own.
fn two_stacks(resources: &[Value]) -> Sandbox {
    let sandbox = stack_with(resources);
    let mut destination = deployment(&[]);
    destination["secrets_providers"]["state"]["salt"] = json!(OTHER_SALT);
    write_state(&sandbox, "store", "prod", Some(&destination));
    sandbox
}

fn destination(sandbox: &Sandbox) -> Value {
    state_of(sandbox, "store", "prod")
}

fn sound(sandbox: &Sandbox) {
    sandbox.ok(&["state", "verify"]);
    sandbox.ok(&["state", "verify", "-s", DEST]);
}

#[test]
fn a_resource_moves_with_a_copy_of_its_provider() {
    let sandbox = two_stacks(&resources());
    let ended = sandbox.drystone(&["state", "move", &pet("d"), "--dest", DEST, "--yes"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert_eq!(names(&sandbox), ["shop-dev", "default", "a", "b", "c"]);
    let there = destination(&sandbox);
    assert_eq!(names_in(&there), ["store-prod", "default", "d"]);
    let provider = "urn:pulumi:prod::store::pulumi:providers:random::default";
    let d = resource(&there, &moved("d")).unwrap();
    assert_eq!(d["provider"], json!(format!("{provider}::{PROVIDER_ID}")));
    assert_eq!(d["parent"], json!("urn:pulumi:prod::store::pulumi:pulumi:Stack::store-prod"));
    assert_eq!(d["inputs"], json!({ "length": 9007199254740993_u64 }), "S10: the number is exact");
    sound(&sandbox);
    // Both halves can be undone.
    sandbox.ok(&["stack", "undo", "--yes"]);
    sandbox.ok(&["stack", "undo", "--yes", "-s", DEST]);
    assert_eq!(names(&sandbox).len(), 6);
    assert!(names_in(&destination(&sandbox)).is_empty());
}

#[test]
fn references_across_are_cut_and_named() {
    let sandbox = two_stacks(&resources());
    let ended = sandbox.drystone(&["state", "move", &pet("b"), "--dest", DEST, "--yes"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(
        ended.stderr.contains(&format!("{} depends on {} (property `prefix`)", pet("b"), pet("a"))),
        "{ended:#?}"
    );
    assert!(ended.stderr.contains(&format!("{} depends on {}", pet("c"), pet("b"))), "{ended:#?}");
    let there = destination(&sandbox);
    let b = resource(&there, &moved("b")).unwrap();
    assert_eq!((b.get("dependencies"), b.get("propertyDependencies")), (None, None));
    let here = state_of(&sandbox, "shop", "dev");
    assert_eq!(resource(&here, &pet("c")).unwrap().get("dependencies"), None);
    sound(&sandbox);
}

#[test]
fn references_among_what_moves_follow() {
    let sandbox = two_stacks(&resources());
    sandbox.ok(&["state", "mv", &pet("c"), &pet("a"), &pet("b"), "--source", "dev", "--dest", DEST, "-y"]);
    let there = destination(&sandbox);
    assert_eq!(names_in(&there), ["store-prod", "default", "a", "b", "c"]);
    assert_eq!(resource(&there, &moved("c")).unwrap()["dependencies"], json!([moved("b")]));
    assert_eq!(names(&sandbox), ["shop-dev", "default", "d"]);
    sound(&sandbox);
}

/// A component with a pet, a provider of its own and a pet of that below it.
fn with_component() -> Vec<Value> {
    let component = "urn:pulumi:dev::shop::my:mod:Zoo::zoo";
    let provider = "urn:pulumi:dev::shop::my:mod:Zoo$pulumi:providers:random::own";
    let mut all = resources();
    all.push(json!({ "urn": component, "custom": false, "type": "my:mod:Zoo", "parent": ROOT }));
    all.push(json!({ "urn": provider, "custom": true, "id": "own-id", "type": "pulumi:providers:random", "parent": component }));
    let mut child = pet_resource("x", &[]);
    child["urn"] = json!("urn:pulumi:dev::shop::my:mod:Zoo$random:index:Pet::x");
    child["parent"] = json!(component);
    child["provider"] = json!(format!("{provider}::own-id"));
    let mut user = pet_resource("y", &[]);
    user["provider"] = json!(format!("{provider}::own-id"));
    all.extend([child, user]);
    all
}

#[test]
fn children_move_along_and_providers_below_stay_usable() {
    let sandbox = two_stacks(&with_component());
    sandbox.ok(&["state", "move", "urn:pulumi:dev::shop::my:mod:Zoo::zoo", "--dest", DEST, "-y"]);
    let there = destination(&sandbox);
    assert_eq!(names_in(&there), ["store-prod", "zoo", "own", "x"]);
    let child = resource(&there, "urn:pulumi:prod::store::my:mod:Zoo$random:index:Pet::x").unwrap();
    assert_eq!(child["parent"], json!("urn:pulumi:prod::store::my:mod:Zoo::zoo"));
    assert_eq!(
        child["provider"],
        json!("urn:pulumi:prod::store::my:mod:Zoo$pulumi:providers:random::own::own-id")
    );
    // The provider stays for `y`, under the stack itself now that its parent is gone.
    let here = state_of(&sandbox, "shop", "dev");
    let reference = "urn:pulumi:dev::shop::pulumi:providers:random::own::own-id";
    assert_eq!(resource(&here, &pet("y")).unwrap()["provider"], json!(reference));
    sound(&sandbox);
}

#[test]
fn parents_move_along_when_asked_to() {
    let child = "urn:pulumi:dev::shop::my:mod:Zoo$random:index:Pet::x";
    let alone = two_stacks(&with_component());
    alone.ok(&["state", "move", child, "--dest", DEST, "-y"]);
    assert_eq!(names_in(&destination(&alone)), ["store-prod", "own", "x"]);
    assert!(resource(&destination(&alone), &moved("x")).is_some(), "it lost its parent, and its URN says so");
    sound(&alone);
    let together = two_stacks(&with_component());
    together.ok(&["state", "move", child, "--dest", DEST, "-y", "--include-parents"]);
    assert_eq!(names_in(&destination(&together)), ["store-prod", "zoo", "own", "x"]);
    sound(&together);
}

#[test]
fn s17_secrets_are_sealed_for_the_other_stack() {
    let mut all = resources();
    all[5]["inputs"]["password"] = secret(SEALED);
    let sandbox = two_stacks(&all);
    sandbox.ok(&["state", "move", &pet("d"), "--dest", DEST, "-y"]);
    let there = destination(&sandbox);
    let password = &resource(&there, &moved("d")).unwrap()["inputs"]["password"];
    let ciphertext = password["ciphertext"].as_str().unwrap();
    assert!(ciphertext.starts_with("v1:") && ciphertext != SEALED, "{password}");
    assert_eq!(there["secrets_providers"]["state"]["salt"], json!(OTHER_SALT));
    let shown = sandbox.ok(&["state", "get", "d", "--show-secrets", "--json", "-s", DEST]);
    assert!(shown.contains("hush"), "{shown}");
}

#[test]
fn a_destination_without_keys_gets_those_of_its_settings() {
    let mut all = resources();
    all[5]["inputs"]["password"] = secret(SEALED);
    let sandbox = stack_with(&all);
    write_state(&sandbox, "shop", "prod", None);
    sandbox.write("Pulumi.prod.yaml", &format!("encryptionsalt: {OTHER_SALT}\n"));
    sandbox.ok(&["state", "move", &pet("d"), "--dest", "prod", "-y"]);
    let there = state_of(&sandbox, "shop", "prod");
    assert_eq!(there["secrets_providers"]["state"]["salt"], json!(OTHER_SALT));
    assert!(sandbox.ok(&["state", "get", "d", "--show-secrets", "-s", "prod"]).contains("hush"));

    let elsewhere = stack_with(&all);
    write_state(&elsewhere, "store", "prod", None);
    let ended = refused(&elsewhere, &["state", "move", &pet("d"), "--dest", DEST, "-y"], 2);
    assert!(ended.stderr.contains("no secrets provider"), "{ended:#?}");
}

#[test]
fn a_wrong_passphrase_moves_nothing() {
    let mut all = resources();
    all[5]["inputs"]["password"] = secret(SEALED);
    let mut sandbox = two_stacks(&all);
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "wrong");
    refused(&sandbox, &["state", "move", &pet("d"), "--dest", DEST, "-y"], 3);
    assert!(names_in(&destination(&sandbox)).is_empty());
    sandbox.ok(&["state", "move", &pet("a"), "--dest", DEST, "-y"]);
}

#[test]
fn an_equal_provider_in_the_destination_is_used() {
    let sandbox = two_stacks(&resources());
    let mut there = deployment(&[
        json!({ "urn": "urn:pulumi:prod::store::pulumi:providers:random::default", "custom": true, "id": "other",
            "type": "pulumi:providers:random" }),
    ]);
    write_state(&sandbox, "store", "prod", Some(&there));
    sandbox.ok(&["state", "move", &pet("d"), "--dest", DEST, "-y"]);
    let reference = "urn:pulumi:prod::store::pulumi:providers:random::default::other";
    assert_eq!(resource(&destination(&sandbox), &moved("d")).unwrap()["provider"], json!(reference));
    sound(&sandbox);

    there["resources"][0]["inputs"] = json!({ "region": "elsewhere" });
    let other = two_stacks(&resources());
    write_state(&other, "store", "prod", Some(&there));
    let ended = refused(&other, &["state", "move", &pet("d"), "--dest", DEST, "-y"], 1);
    assert!(ended.stderr.contains("with other inputs"), "{ended:#?}");
}

#[test]
fn a_move_cut_short_between_its_commits_is_finished_by_the_next() {
    let mut all = resources();
    all[5]["inputs"]["password"] = secret(SEALED);
    let sandbox = two_stacks(&all);
    let before = std::fs::read(state_file(&sandbox, "shop", "dev")).unwrap();
    sandbox.ok(&["state", "move", &pet("d"), &pet("c"), "--dest", DEST, "-y"]);
    let after = destination(&sandbox);
    // As if the machine had stopped after the first commit: the resources are in both stacks.
    std::fs::write(state_file(&sandbox, "shop", "dev"), before).unwrap();
    let ended = sandbox.drystone(&["state", "move", &pet("d"), &pet("c"), "--dest", DEST, "-y"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains("an earlier move was cut short"), "{ended:#?}");
    assert_eq!(names(&sandbox), ["shop-dev", "default", "a", "b"]);
    assert_eq!(destination(&sandbox), after, "the destination is as the first move left it");
    sound(&sandbox);
}

#[test]
fn what_is_in_the_destination_and_differs_is_not_overwritten() {
    let sandbox = two_stacks(&resources());
    sandbox.ok(&["state", "move", &pet("d"), "--dest", DEST, "-y"]);
    let mut all = resources();
    all[5]["id"] = json!("another");
    write_state(&sandbox, "shop", "dev", Some(&deployment(&all)));
    let ended = refused(&sandbox, &["state", "move", &pet("d"), "--dest", DEST, "-y"], 1);
    assert!(ended.stderr.contains(&format!("{} is already in the destination", moved("d"))), "{ended:#?}");
}

#[test]
fn senseless_moves_are_refused() {
    let sandbox = two_stacks(&resources());
    for (arguments, code, says) in [
        (vec!["state", "move", PROVIDER, "--dest", DEST, "-y"], 1, "providers are not moved"),
        (vec!["state", "move", "urn:x", "--dest", DEST, "-y"], 1, "not the URN"),
        (vec!["state", "move", "urn:x", "-y"], 2, "at least one of"),
        (vec!["state", "move", "urn:x", "--dest", "dev", "-y"], 2, "both source and destination"),
        (vec!["state", "move", "urn:x", "--dest", "organization/store/nobody", "-y"], 6, "no stack named"),
        (vec!["state", "move", ROOT, "--dest", DEST], 2, "without a terminal"),
    ] {
        let ended = refused(&sandbox, &arguments, code);
        assert!(ended.stderr.contains(says), "{ended:#?}");
    }
    let mut broken = deployment(&resources());
    broken["resources"][2]["parent"] = json!("urn:pulumi:dev::shop::x:y:Z::z");
    write_state(&sandbox, "store", "prod", Some(&broken));
    let ended = refused(&sandbox, &["state", "move", &pet("d"), "--dest", DEST, "-y"], 11);
    assert!(ended.stderr.contains("store/prod"), "{ended:#?}");
}

#[test]
fn what_is_not_found_among_several_is_said() {
    let sandbox = two_stacks(&resources());
    let ended = sandbox.drystone(&["state", "move", &pet("d"), &pet("nobody"), "--dest", DEST, "-y"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains(&format!("{} is not in shop/dev", pet("nobody"))), "{ended:#?}");
    assert!(!ended.stderr.contains(SALT), "{ended:#?}");
}

#[test]
fn the_root_means_everything_below_it() {
    let sandbox = two_stacks(&resources());
    sandbox.ok(&["state", "move", ROOT, "--dest", DEST, "-y"]);
    assert_eq!(names(&sandbox), ["shop-dev", "default"]);
    assert_eq!(names_in(&destination(&sandbox)), ["store-prod", "default", "a", "b", "c", "d"]);
    sound(&sandbox);
}

//! `state delete`, `rename`, `protect`, `unprotect`, `taint`, `untaint`, `edit`, `ls` and `get`.

mod harness;
mod state_fixture;

use serde_json::{Value, json};
use state_fixture::{
    PROVIDER, PROVIDER_ID, ROOT, SEALED, names, pet, pet_resource, refused, resource, resources, secret,
    stack_with, state_of, write_state,
};

#[test]
fn deleting_is_one_revision_that_can_be_undone() {
    let sandbox = stack_with(&resources());
    let ended = sandbox.drystone(&["state", "delete", &pet("d"), "--yes"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains("Deleted 1 resource from the state of shop/dev"), "{ended:#?}");
    assert!(ended.stderr.contains("undo: drystone stack undo"), "{ended:#?}");
    assert_eq!(names(&sandbox), ["shop-dev", "default", "a", "b", "c"]);
    sandbox.ok(&["stack", "undo", "--yes"]);
    assert_eq!(names(&sandbox), ["shop-dev", "default", "a", "b", "c", "d"]);
}

#[test]
fn s10_what_stays_is_not_touched() {
    let sandbox = stack_with(&resources());
    sandbox.ok(&["state", "rm", &pet("d")]);
    let after = state_of(&sandbox, "shop", "dev");
    assert_eq!(after["resources"], json!(resources()[..5]));
}

#[test]
fn a_resource_with_dependents_is_kept_and_each_is_named() {
    let sandbox = stack_with(&resources());
    let ended = refused(&sandbox, &["state", "delete", &pet("a")], 1);
    assert!(ended.stderr.contains("2 resources depend on it"), "{ended:#?}");
    for name in ["b", "c"] {
        assert!(ended.stderr.contains(&format!("random:index:Pet {name}  ({})", pet(name))), "{ended:#?}");
    }
    assert!(ended.stderr.contains("--target-dependents"), "{ended:#?}");
    refused(&sandbox, &["state", "delete", ROOT], 1);
    let ended = refused(&sandbox, &["state", "delete", PROVIDER], 1);
    assert!(ended.stderr.contains("4 resources depend on it"), "{ended:#?}");

    sandbox.ok(&["state", "delete", &pet("a"), "--target-dependents"]);
    assert_eq!(names(&sandbox), ["shop-dev", "default", "d"]);
}

#[test]
fn several_resources_are_deleted_at_once_in_any_order() {
    let sandbox = stack_with(&resources());
    refused(&sandbox, &["state", "delete", &pet("a"), &pet("b")], 1);
    sandbox.ok(&["state", "delete", &pet("a"), &pet("c"), &pet("b")]);
    assert_eq!(names(&sandbox), ["shop-dev", "default", "d"]);
}

#[test]
fn protected_resources_are_only_deleted_by_force() {
    let mut all = resources();
    all[4]["protect"] = json!(true);
    let sandbox = stack_with(&all);
    let ended = refused(&sandbox, &["state", "delete", &pet("c")], 1);
    assert!(ended.stderr.contains("is protected") && ended.stderr.contains("--force"), "{ended:#?}");
    refused(&sandbox, &["state", "delete", &pet("a"), "--target-dependents"], 1);
    refused(&sandbox, &["state", "delete", "--all"], 1);
    let ended = sandbox.drystone(&["state", "delete", &pet("c"), "--force"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains("which is protected"), "{ended:#?}");
    sandbox.ok(&["state", "delete", "--all", "--yes"]);
    assert!(names(&sandbox).is_empty());
}

#[test]
fn two_with_one_urn_are_told_apart_by_their_ids() {
    let mut all = resources();
    let mut old = pet_resource("a", &[]);
    old["delete"] = json!(true);
    old["id"] = json!("old-id");
    all.push(old);
    let sandbox = stack_with(&all);
    let ended = refused(&sandbox, &["state", "delete", &pet("a")], 1);
    assert!(ended.stderr.contains("2 resources have the URN"), "{ended:#?}");
    assert!(
        ended.stderr.contains("\"a-id\"") && ended.stderr.contains("\"old-id\", pending deletion"),
        "{ended:#?}"
    );
}

#[test]
fn an_unknown_resource_is_refused_with_those_that_are_near() {
    let sandbox = stack_with(&resources());
    let ended = refused(&sandbox, &["state", "delete", "d"], 1);
    assert!(ended.stderr.contains("`d` is not the URN") && ended.stderr.contains(&pet("d")), "{ended:#?}");
    let ended = refused(&sandbox, &["state", "protect", &pet("x")], 1);
    assert!(ended.stderr.contains("no such resource") && ended.stderr.contains(&pet("a")), "{ended:#?}");
    refused(&sandbox, &["state", "taint", &pet("x"), &pet("y"), &pet("a")], 1);
    let ended = refused(&sandbox, &["state", "delete"], 2);
    assert!(ended.stderr.contains("which resource?"), "{ended:#?}");
    refused(&sandbox, &["state", "rename", &pet("a")], 2);
    let ended = sandbox.drystone(&["state", "delete", &pet("a"), "--all"]);
    assert_eq!(ended.code, 2, "{ended:#?}");
}

#[test]
fn what_blocks_a_repair_can_be_deleted_from_an_unsound_state() {
    let mut all = resources();
    all[5]["provider"] = json!(format!("{PROVIDER}::gone"));
    let sandbox = stack_with(&all);
    refused(&sandbox, &["state", "repair", "--yes"], 11);
    refused(&sandbox, &["state", "protect", "--all"], 11);
    refused(&sandbox, &["state", "delete", PROVIDER], 1);
    sandbox.ok(&["state", "delete", &pet("d")]);
    sandbox.ok(&["state", "verify"]);
}

#[test]
fn renaming_takes_every_reference_along() {
    let mut all = resources();
    all[5]["deletedWith"] = json!(pet("a"));
    all[5]["replaceWith"] = json!([pet("a"), pet("b")]);
    let sandbox = stack_with(&all);
    sandbox.ok(&["state", "rename", &pet("a"), "first", "--yes"]);
    let after = state_of(&sandbox, "shop", "dev");
    assert_eq!(names(&sandbox), ["shop-dev", "default", "first", "b", "c", "d"]);
    let b = resource(&after, &pet("b")).unwrap();
    assert_eq!(b["dependencies"], json!([pet("first")]));
    assert_eq!(b["propertyDependencies"], json!({ "prefix": [pet("first")] }));
    let d = resource(&after, &pet("d")).unwrap();
    assert_eq!(
        (&d["deletedWith"], &d["replaceWith"]),
        (&json!(pet("first")), &json!([pet("first"), pet("b")]))
    );
    sandbox.ok(&["state", "verify"]);
}

#[test]
fn renaming_a_provider_keeps_its_id_in_references() {
    let sandbox = stack_with(&resources());
    sandbox.ok(&["state", "rename", PROVIDER, "mine"]);
    let after = state_of(&sandbox, "shop", "dev");
    let reference = format!("urn:pulumi:dev::shop::pulumi:providers:random::mine::{PROVIDER_ID}");
    assert_eq!(resource(&after, &pet("a")).unwrap()["provider"], json!(reference));
    sandbox.ok(&["state", "verify"]);
}

#[test]
fn a_name_that_is_taken_or_empty_is_refused() {
    let sandbox = stack_with(&resources());
    let ended = refused(&sandbox, &["state", "rename", &pet("a"), "b"], 1);
    assert!(ended.stderr.contains(&pet("b")), "{ended:#?}");
    let ended = sandbox.drystone(&["state", "rename", &pet("a"), ""]);
    assert_eq!(ended.code, 2, "{ended:#?}");
    refused(&sandbox, &["state", "rename", &pet("x"), "y"], 1);
}

#[test]
fn marks_are_set_and_cleared() {
    let mut all = resources();
    let mut old = pet_resource("d", &[]);
    old["delete"] = json!(true);
    all.push(old);
    let sandbox = stack_with(&all);
    let marked = |mark: &str| -> Vec<Value> {
        let after = state_of(&sandbox, "shop", "dev");
        let all = after["resources"].as_array().unwrap();
        all.iter().filter(|it| it[mark] == true).map(|it| it["urn"].clone()).collect()
    };
    sandbox.ok(&["state", "protect", &pet("a"), &pet("d"), &pet("a"), "-y"]);
    assert_eq!(marked("protect"), [pet("a"), pet("d")]);
    sandbox.ok(&["state", "unprotect", &pet("a")]);
    assert_eq!(marked("protect"), [pet("d")]);
    sandbox.ok(&["state", "protect", "--all"]);
    assert_eq!(marked("protect").len(), 6, "what waits to be deleted is left alone");
    sandbox.ok(&["state", "unprotect", "--all"]);
    assert!(marked("protect").is_empty());
    sandbox.ok(&["state", "taint", &pet("b"), &pet("c")]);
    assert_eq!(marked("taint"), [pet("b"), pet("c")]);
    sandbox.ok(&["state", "untaint", &pet("b")]);
    sandbox.ok(&["state", "untaint", "--all"]);
    assert!(marked("taint").is_empty());
    refused(&sandbox, &["state", "taint", &pet("b"), &pet("nobody")], 1);
}

#[test]
fn editing_needs_a_terminal() {
    let sandbox = stack_with(&resources());
    let ended = refused(&sandbox, &["state", "edit"], 2);
    assert!(ended.stderr.contains("needs a terminal"), "{ended:#?}");
}

#[test]
fn a_stack_that_is_not_there_is_not_made() {
    let sandbox = stack_with(&resources());
    for command in [
        &["state", "delete", "urn:x", "-s", "nobody"][..],
        &["state", "protect", "--all", "-s", "nobody"],
        &["state", "repair", "--yes", "-s", "nobody"],
        &["state", "verify", "-s", "nobody"],
        &["state", "doctor", "--yes", "-s", "nobody"],
        &["state", "lock", "show", "-s", "nobody"],
        &["state", "ls", "-s", "nobody"],
    ] {
        let ended = refused(&sandbox, command, 6);
        assert!(ended.stderr.contains("no stack named"), "{ended:#?}");
    }
    for name in ["..", "a/b/c/d", "a\tb", &"x".repeat(300)] {
        refused(&sandbox, &["state", "verify", "-s", name], 2);
    }
}

#[test]
fn a_stack_that_was_never_updated_has_nothing_to_edit() {
    let sandbox = stack_with(&resources());
    write_state(&sandbox, "shop", "dev", None);
    sandbox.ok(&["state", "verify"]);
    sandbox.ok(&["state", "repair", "--yes"]);
    assert_eq!(sandbox.ok(&["state", "ls"]), "");
    refused(&sandbox, &["state", "delete", &pet("a")], 1);
}

#[test]
fn resources_are_listed_and_shown() {
    let mut all = resources();
    all[2]["protect"] = json!(true);
    let sandbox = stack_with(&all);
    let listed = sandbox.ok(&["state", "ls"]);
    assert!(listed.contains(&format!("{}  (protected)\n", pet("a"))), "{listed}");
    let listed: Value = serde_json::from_str(&sandbox.ok(&["state", "ls", "--json"])).unwrap();
    assert_eq!((&listed[2]["urn"], &listed[2]["protect"]), (&json!(pet("a")), &json!(true)));
    let shown = sandbox.ok(&["state", "get", "a"]);
    assert!(shown.contains("ID:   a-id\n") && shown.contains("9007199254740993"), "{shown}");
    assert_eq!(sandbox.ok(&["state", "get", &pet("a")]), shown);
    refused(&sandbox, &["state", "get", "nobody"], 1);
}

#[test]
fn s17_secrets_are_masked_unless_asked_for() {
    let mut all = resources();
    all[2]["inputs"]["password"] = secret(SEALED);
    let mut sandbox = stack_with(&all);
    let masked: Value = serde_json::from_str(&sandbox.ok(&["state", "get", "a", "--json"])).unwrap();
    assert_eq!(masked["inputs"]["password"], json!("[secret]"));
    let shown: Value =
        serde_json::from_str(&sandbox.ok(&["state", "get", "a", "--json", "--show-secrets"])).unwrap();
    assert_eq!(shown["inputs"]["password"], json!("hush"));
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "wrong");
    sandbox.ok(&["state", "get", "a"]);
    let ended = refused(&sandbox, &["state", "get", "a", "--show-secrets"], 3);
    assert!(!ended.stdout.contains("hush"), "{ended:#?}");
}

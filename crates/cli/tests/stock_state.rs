//! Ours and the stock CLI take turns on one directory with the `state` commands.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod harness;
mod state_fixture;

use harness::Sandbox;
use serde_json::{Value, json};
use state_fixture::{
    OTHER_SALT, PROVIDER, ROOT, SEALED, deployment, names, names_in, pet, resource, resources, secret,
    stack_with, state_file, state_of, write_state,
};

/// What a stack holds, without the manifest, which says who wrote it and when.
fn content(sandbox: &Sandbox, project: &str, stack: &str) -> Value {
    let mut state = state_of(sandbox, project, stack);
    state.as_object_mut().map(|members| members.remove("manifest"));
    state
}

/// The sample with numbers that the stock CLI can hold, and a protected pet.
fn sample() -> Vec<Value> {
    let mut all = resources();
    for resource in &mut all[2..] {
        resource["inputs"] = json!({ "length": 2 });
    }
    all[5]["protect"] = json!(true);
    all
}

/// Runs a command with ours and the stock CLI on equal stacks. Both end alike and leave the same state.
fn alike(resources: &[Value], arguments: &[&str]) -> (Sandbox, Sandbox) {
    let (ours, theirs) = (stack_with(resources), stack_with(resources));
    let (our_end, their_end) = (ours.drystone(arguments), theirs.stock(arguments));
    assert_eq!(our_end.code == 0, their_end.code == 0, "{arguments:?}\n{our_end:#?}\n{their_end:#?}");
    assert_eq!(content(&ours, "shop", "dev"), content(&theirs, "shop", "dev"), "{arguments:?}");
    (ours, theirs)
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_edits_leave_the_same_state_and_each_goes_on_with_it() {
    for arguments in [
        &["state", "delete", &pet("c")][..],
        &["state", "delete", &pet("a"), "--yes", "--target-dependents"],
        &["state", "rm", &pet("c"), &pet("b"), "--yes"],
        &["state", "delete", PROVIDER, "--yes", "--force", "--target-dependents"],
        &["state", "remove", "--all", "--yes", "--force"],
        &["state", "rename", &pet("a"), "first", "--yes"],
        &["state", "rename", PROVIDER, "mine", "--yes"],
        &["state", "protect", &pet("a"), &pet("b"), "--yes"],
        &["state", "unprotect", "--all", "--yes"],
        &["state", "taint", &pet("a"), "--yes"],
    ] {
        let (ours, theirs) = alike(&sample(), arguments);
        for sandbox in [&ours, &theirs] {
            sandbox.ok(&["state", "untaint", "--all"]);
            sandbox.stock_ok(&["state", "protect", "--all", "--yes"]);
            sandbox.ok(&["state", "verify"]);
        }
    }
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn both_refuse_the_same_edits() {
    for arguments in [
        &["state", "delete", &pet("a"), "--yes"][..],
        &["state", "delete", &pet("d"), "--yes"],
        &["state", "delete", ROOT, "--yes"],
        &["state", "delete", PROVIDER, "--yes"],
        &["state", "delete", "--all", "--yes"],
        &["state", "delete", &pet("nobody"), "--yes"],
        &["state", "delete", "nonsense", "--yes"],
        &["state", "delete", "--yes"],
        &["state", "rename", &pet("a"), "b", "--yes"],
        &["state", "taint", &pet("nobody"), "--yes"],
    ] {
        let (ours, _) = alike(&sample(), arguments);
        assert_eq!(state_of(&ours, "shop", "dev"), deployment(&sample()), "{arguments:?}");
    }
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_both_repair_a_shuffled_state_to_a_sound_one() {
    let mut all = resources();
    all.swap(2, 4);
    all.swap(0, 5);
    all[3]["dependencies"] = json!([pet("a"), pet("nobody")]);
    let (ours, theirs) = (stack_with(&all), stack_with(&all));
    ours.ok(&["state", "repair", "--yes"]);
    theirs.stock_ok(&["state", "repair", "--yes"]);
    // Each finds what the other repaired sound.
    let ended = ours.stock(&["state", "repair", "--yes"]);
    assert!(format!("{}{}", ended.stdout, ended.stderr).contains("already valid"), "{ended:#?}");
    theirs.ok(&["state", "verify"]);
    let sorted = |sandbox: &Sandbox| {
        let mut names = names(sandbox);
        names.sort();
        names
    };
    assert_eq!(sorted(&ours), sorted(&theirs));
    let mut circular = resources();
    circular[2]["dependencies"] = json!([pet("b")]);
    let (ours, theirs) = (stack_with(&circular), stack_with(&circular));
    assert_ne!(ours.drystone(&["state", "repair", "--yes"]).code, 0);
    assert_ne!(theirs.stock(&["state", "repair", "--yes"]).code, 0);
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_moves_leave_the_same_state() {
    let destination = "organization/store/prod";
    let mut all = sample();
    all[5]["inputs"]["password"] = secret(SEALED);
    all.push(json!({ "urn": "urn:pulumi:dev::shop::my:mod:Zoo::zoo", "custom": false, "type": "my:mod:Zoo", "parent": ROOT }));
    let mut child = state_fixture::pet_resource("x", &["d"]);
    child["urn"] = json!("urn:pulumi:dev::shop::my:mod:Zoo$random:index:Pet::x");
    child["parent"] = json!("urn:pulumi:dev::shop::my:mod:Zoo::zoo");
    all.push(child);
    let two_stacks = || {
        let sandbox = stack_with(&all);
        let mut empty = deployment(&[]);
        empty["secrets_providers"]["state"]["salt"] = json!(OTHER_SALT);
        write_state(&sandbox, "store", "prod", Some(&empty));
        sandbox
    };
    for arguments in [
        &[&*pet("b"), &pet("d")][..],
        &["urn:pulumi:dev::shop::my:mod:Zoo$random:index:Pet::x"],
        &["urn:pulumi:dev::shop::my:mod:Zoo$random:index:Pet::x", "--include-parents"],
        &[ROOT],
        &[PROVIDER],
    ] {
        let (ours, theirs) = (two_stacks(), two_stacks());
        let mut command = vec!["state", "move", "--source", "dev", "--dest", destination, "--yes"];
        command.extend(arguments);
        let (our_end, their_end) = (ours.drystone(&command), theirs.stock(&command));
        assert_eq!(our_end.code == 0, their_end.code == 0, "{arguments:?}\n{our_end:#?}\n{their_end:#?}");
        assert_eq!(opened(&ours, "dev"), opened(&theirs, "dev"), "{arguments:?}");
        assert_eq!(opened(&ours, destination), opened(&theirs, destination), "{arguments:?}");
    }
}

/// The resources of a stack as the stock CLI shows them, secrets in clear, without moments.
fn opened(sandbox: &Sandbox, stack: &str) -> Vec<Value> {
    let text = sandbox.stock_ok(&["stack", "export", "--show-secrets", "-s", stack]);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let mut resources = document["deployment"]["resources"].as_array().cloned().unwrap_or_default();
    for resource in resources.iter_mut().filter_map(Value::as_object_mut) {
        resource.remove("created");
        resource.remove("modified");
    }
    resources
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_each_goes_on_with_what_the_other_moved() {
    let sandbox = stack_with(&resources());
    write_state(&sandbox, "shop", "prod", Some(&deployment(&[])));
    sandbox.ok(&["state", "move", &pet("d"), "--dest", "prod", "--yes"]);
    let back = pet("d").replace(":dev:", ":prod:");
    sandbox.stock_ok(&["state", "move", &back, "--source", "prod", "--dest", "dev", "--yes"]);
    assert!(resource(&state_of(&sandbox, "shop", "dev"), &pet("d")).is_some());
    sandbox.ok(&["state", "move", &pet("d"), "--dest", "prod", "--yes"]);
    assert_eq!(names_in(&state_of(&sandbox, "shop", "prod")), ["shop-prod", "default", "d"]);
    sandbox.stock_ok(&["state", "protect", &back, "--yes", "-s", "prod"]);
    sandbox.ok(&["state", "verify", "-s", "prod"]);
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_state_get_prints_the_same_json() {
    let mut all = resources();
    all[2]["inputs"] = json!({ "length": 2, "password": secret(SEALED) });
    let sandbox = stack_with(&all);
    for extra in [&[][..], &["--show-secrets"]] {
        let mut command = vec!["state", "get", "a", "--output", "json"];
        command.extend(extra);
        assert_eq!(sandbox.ok(&command), sandbox.stock_ok(&command));
    }
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_both_upgrade_a_directory_without_projects() {
    let legacy = || {
        let mut sandbox = stack_with(&sample());
        sandbox.set("PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR", "1");
        let folder = sandbox.state().join(".pulumi/stacks");
        std::fs::remove_file(sandbox.state().join(".pulumi/meta.yaml")).unwrap();
        let text = std::fs::read_to_string(state_file(&sandbox, "shop", "dev")).unwrap();
        std::fs::remove_dir_all(folder.join("shop")).unwrap();
        std::fs::write(folder.join("dev.json"), text.replace("organization/shop/dev", "dev")).unwrap();
        sandbox
    };
    let (ours, theirs) = (legacy(), legacy());
    ours.ok(&["state", "upgrade", "--yes"]);
    theirs.stock_ok(&["state", "upgrade", "--yes"]);
    for sandbox in [&ours, &theirs] {
        assert!(!sandbox.state().join(".pulumi/stacks/dev.json").exists());
        assert_eq!(names(sandbox).len(), 6);
        sandbox.stock_ok(&["state", "protect", "--all", "--yes"]);
        sandbox.ok(&["state", "unprotect", "--all"]);
        sandbox.ok(&["state", "upgrade", "--yes"]);
        sandbox.stock_ok(&["state", "upgrade", "--yes"]);
    }
    assert_eq!(content(&ours, "shop", "dev"), content(&theirs, "shop", "dev"));
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_the_stock_cli_sees_our_lease() {
    use drystone_stores::local::{LocalOptions, LocalStore};
    use drystone_stores::{Claim, Leases, StackId};
    let sandbox = stack_with(&resources());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let store = LocalStore::open(sandbox.state(), LocalOptions::default()).unwrap();
    let stack = StackId::new("shop", "dev").unwrap();
    let lease = runtime.block_on(store.acquire(&stack, Claim::new("state move"))).unwrap();
    let ended = sandbox.stock(&["state", "protect", "--all", "--yes"]);
    assert!(ended.code != 0 && ended.stderr.contains("locked by 1 lock(s)"), "{ended:#?}");
    runtime.block_on(lease.release()).unwrap();
    sandbox.stock_ok(&["state", "protect", "--all", "--yes"]);
}

//! `state verify`, `repair`, `doctor`, `lock show` and `upgrade`.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod harness;
mod state_fixture;

use drystone_journal::{Entry, Kind};
use drystone_model::{Operation, OperationKind, Resource};
use drystone_stores::local::{LocalOptions, LocalStore};
use drystone_stores::{Claim, Leases, StackId};
use harness::Sandbox;
use serde_json::{Value, json};
use state_fixture::{
    PROVIDER, ROOT, deployment, names, pet, pet_resource, refused, resource, resources, stack_with,
    state_file, state_of, write_state,
};

/// Resources in the wrong order, one with a dependency that is not there.
fn broken() -> Vec<Value> {
    let mut all = resources();
    all.swap(2, 4);
    all[5]["dependencies"] = json!([pet("nobody")]);
    all
}

/// A resource whose provider is not there, which no repair decides about.
fn undecidable() -> Vec<Value> {
    let mut all = broken();
    all[5]["provider"] = json!(format!("{PROVIDER}::gone"));
    all
}

/// Two pets that depend on each other.
fn circular() -> Vec<Value> {
    let mut all = resources();
    all[2]["dependencies"] = json!([pet("b")]);
    all
}

fn export(resources: &[Value]) -> String {
    json!({ "version": 3, "deployment": deployment(resources) }).to_string()
}

#[test]
fn a_sound_state_verifies() {
    let sandbox = stack_with(&resources());
    let ended = sandbox.drystone(&["state", "verify"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{ended:#?}");
    assert!(ended.stderr.contains("shop/dev is sound: 6 resources"), "{ended:#?}");
    let report: Value = serde_json::from_str(&sandbox.ok(&["state", "verify", "--json"])).unwrap();
    assert_eq!(report, json!({ "resources": 6, "sound": true, "violations": [] }));
}

#[test]
fn every_violation_is_listed() {
    let sandbox = stack_with(&broken());
    let ended = refused(&sandbox, &["state", "verify"], 11);
    assert_eq!(ended.stdout.lines().count(), 5, "{ended:#?}");
    assert!(ended.stdout.contains("#2 random:index:Pet c  comes before its dependency #3"), "{ended:#?}");
    let ended = sandbox.drystone(&["state", "verify", "--json"]);
    assert_eq!(ended.code, 11);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let missing =
        report["violations"].as_array().unwrap().iter().find(|it| it["rule"] == "missing-dependency");
    assert_eq!(
        missing.unwrap(),
        &json!({ "rule": "missing-dependency", "severity": "error", "list": "resources", "index": 5,
            "urn": pet("d"), "message": "refers to missing dependency random:index:Pet nobody", "refersTo": pet("nobody") })
    );
}

#[test]
fn files_of_either_form_verify() {
    let sandbox = stack_with(&broken());
    sandbox.write("export.json", &export(&resources()));
    sandbox.ok(&["state", "verify", "--file", "export.json"]);
    let checkpoint = state_file(&sandbox, "shop", "dev");
    refused(&sandbox, &["state", "verify", "--file", checkpoint.to_str().unwrap()], 11);
}

#[test]
fn files_that_are_no_state_are_refused() {
    let sandbox = stack_with(&resources());
    let whole = export(&resources());
    let flipped = whole.replace("\"custom\":true", "\"custom\":tr\u{fffd}e");
    for (text, code, says) in [
        ("", 11, "empty"),
        (&whole[..whole.len() / 2], 11, "cut off"),
        (&flipped, 11, "line 1"),
        ("{\"hello\": 1}", 11, "not a Pulumi document"),
        ("{\"version\": 99, \"deployment\": {}}", 2, "newer"),
        ("{\"version\": 4, \"features\": [\"magic\"], \"deployment\": {}}", 2, "magic"),
    ] {
        sandbox.write("bad.json", text);
        for command in ["verify", "repair"] {
            let ended = refused(&sandbox, &["state", command, "--file", "bad.json"], code);
            assert!(ended.stderr.contains("bad.json") && ended.stderr.contains(says), "{text}: {ended:#?}");
            assert_eq!(ended.stdout, "");
        }
        refused(&sandbox, &["state", "repair", "--in-place", "--file", "bad.json"], code);
        assert_eq!(sandbox.read("bad.json"), text);
    }
    refused(&sandbox, &["state", "verify", "--file", "nothing-there.json"], 12);
}

#[test]
fn a_damaged_state_file_is_refused_and_left_alone() {
    let sandbox = stack_with(&resources());
    let path = state_file(&sandbox, "shop", "dev");
    let whole = std::fs::read(&path).unwrap();
    for damage in [&b""[..], &whole[..whole.len() / 3], b"PNG\x89"] {
        std::fs::write(&path, damage).unwrap();
        for command in [
            &["state", "verify"][..],
            &["state", "repair", "-y"],
            &["state", "doctor", "-y"],
            &["state", "delete", &pet("d")],
            &["state", "protect", "--all"],
        ] {
            let ended = refused(&sandbox, command, 11);
            assert!(ended.stderr.contains("dev.json"), "{ended:#?}");
        }
    }
}

#[test]
fn a_repair_says_each_change_and_is_one_revision() {
    let sandbox = stack_with(&broken());
    let ended = sandbox.drystone(&["state", "repair", "--yes"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains("moved #3 random:index:Pet b before #2 random:index:Pet c"), "{ended:#?}");
    assert!(ended.stderr.contains("dropped the dependency random:index:Pet nobody"), "{ended:#?}");
    assert_eq!(names(&sandbox), ["shop-dev", "default", "a", "b", "c", "d"]);
    sandbox.ok(&["state", "verify"]);
    let revisions: Value = serde_json::from_str(&sandbox.ok(&["stack", "revisions", "--json"])).unwrap();
    assert_eq!(
        revisions.as_array().unwrap().len(),
        2,
        "the state that was found, and its repair: {revisions:#}"
    );
    let ended = sandbox.drystone(&["state", "repair", "--yes"]);
    assert!(ended.stderr.contains("nothing to repair"), "{ended:#?}");
    sandbox.ok(&["stack", "undo", "--disable-integrity-checking"]);
    assert_eq!(names(&sandbox)[2], "c");
}

#[test]
fn a_repair_is_not_made_without_a_yes() {
    let sandbox = stack_with(&broken());
    let ended = refused(&sandbox, &["state", "repair"], 2);
    assert!(ended.stderr.contains("moved #3") && ended.stderr.contains("--yes"), "{ended:#?}");
}

#[test]
fn what_needs_a_decision_is_left_as_it_is() {
    let sandbox = stack_with(&undecidable());
    let ended = refused(&sandbox, &["state", "repair", "--yes"], 11);
    assert!(
        ended.stderr.contains("refers to unknown provider") && ended.stderr.contains("or delete"),
        "{ended:#?}"
    );
    let sandbox = stack_with(&circular());
    let ended = refused(&sandbox, &["state", "repair", "--yes"], 11);
    assert!(ended.stderr.contains("#2 random:index:Pet a → #3 random:index:Pet b → #2"), "{ended:#?}");
}

#[test]
fn a_repaired_file_is_printed_or_written_back() {
    let sandbox = stack_with(&resources());
    sandbox.write("export.json", &export(&broken()));
    let printed = sandbox.drystone(&["state", "repair", "--file", "export.json"]);
    assert_eq!(printed.code, 0, "{printed:#?}");
    assert_eq!(sandbox.read("export.json"), export(&broken()), "printing changes nothing");
    assert_eq!(
        printed,
        sandbox.drystone(&["state", "repair", "--file", "export.json"]),
        "repairs are deterministic"
    );
    let ended = sandbox.drystone(&["state", "repair", "--file", "export.json", "--in-place"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{ended:#?}");
    assert_eq!(sandbox.read("export.json"), printed.stdout);
    sandbox.ok(&["state", "verify", "--file", "export.json"]);
    assert_eq!(
        sandbox.ok(&["state", "repair", "--file", "export.json"]),
        printed.stdout,
        "a sound one stays"
    );

    sandbox.write("hard.json", &export(&undecidable()));
    refused(&sandbox, &["state", "repair", "--file", "hard.json", "--in-place"], 11);
    assert_eq!(sandbox.read("hard.json"), export(&undecidable()));
    let ended = sandbox.drystone(&["state", "repair", "--file", "hard.json"]);
    assert_eq!(ended.code, 11, "{ended:#?}");
    sandbox.write("half.json", &ended.stdout);
    let ended = sandbox.drystone(&["state", "verify", "--file", "half.json"]);
    assert_eq!(ended.stdout.lines().count(), 1, "what could be repaired is: {ended:#?}");
}

#[test]
fn the_doctor_explains_and_applies_one_revision_that_can_be_undone() {
    let sandbox = stack_with(&broken());
    let ended = refused(&sandbox, &["state", "doctor"], 11);
    for says in [
        "dependency-after (error)",
        "Here the order is not kept.",
        "moved #3 random:index:Pet b before #2 random:index:Pet c",
        "As a diff of the snapshot:",
    ] {
        assert!(ended.stdout.contains(says), "{says}: {}", ended.stdout);
    }
    assert!(ended.stderr.contains("state doctor --yes"), "{ended:#?}");
    let ended = sandbox.drystone(&["state", "doctor", "--yes"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains("undo: drystone stack undo --disable-integrity-checking"), "{ended:#?}");
    sandbox.ok(&["state", "verify"]);
    assert!(sandbox.ok(&["state", "doctor"]).contains("it breaks no rule"));
    sandbox.ok(&["stack", "undo", "--disable-integrity-checking"]);
    refused(&sandbox, &["state", "verify"], 11);
}

#[test]
fn the_doctor_says_what_to_do_for_what_is_not_repairable() {
    let sandbox = stack_with(&undecidable());
    let ended = refused(&sandbox, &["state", "doctor", "--yes"], 11);
    assert!(ended.stdout.contains("Not repairable without a decision of yours:"), "{}", ended.stdout);
    assert!(ended.stdout.contains("or delete the resource from the state"), "{}", ended.stdout);
    let ended = sandbox.drystone(&["state", "doctor", "--json"]);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (ended.code, &report["sound"], &report["repair"]["complete"]),
        (11, &json!(false), &json!(false))
    );
    assert_eq!(report["repair"]["remaining"][0]["rule"], "unknown-provider");
    let ended = refused(&stack_with(&circular()), &["state", "doctor"], 11);
    assert!(ended.stdout.contains("in a circle"), "{}", ended.stdout);
}

#[test]
fn the_doctor_lists_pending_operations() {
    let sandbox = stack_with(&resources());
    let mut state = deployment(&resources());
    state["pending_operations"] = json!([{ "resource": pet_resource("new", &[]), "type": "creating" }]);
    write_state(&sandbox, "shop", "dev", Some(&state));
    let words = sandbox.ok(&["state", "doctor"]);
    assert!(words.contains("creating  random:index:Pet new"), "{words}");
    let report: Value = serde_json::from_str(&sandbox.ok(&["state", "doctor", "--json"])).unwrap();
    assert_eq!(report["pendingOperations"], json!([{ "urn": pet("new"), "type": "creating" }]));
}

/// Lets an update of the stack die after it made `made` and began `begun`, and another tool replace the state then.
fn orphaned_update(sandbox: &Sandbox, made: &[Value], begun: &Value, state_then: &Value) {
    let typed =
        |resource: &Value| -> Resource { serde_json::from_value(resource.clone()).expect("it works") };
    let begin = |sequence, operation, resource: &Value| Entry {
        operation: Some(Operation {
            resource: typed(resource),
            kind: OperationKind::Creating,
            ..Operation::default()
        }),
        ..Entry::new(Kind::Begin, sequence, operation)
    };
    let mut entries = Vec::new();
    for (operation, resource) in (1..).zip(made) {
        entries.push(begin(operation * 2, operation, resource));
        let state = Some(typed(resource));
        entries.push(Entry { state, ..Entry::new(Kind::Success, operation * 2 + 1, operation) });
    }
    entries.push(begin(1000, 1000, begun));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("it works");
    runtime.block_on(async {
        let store = LocalStore::open(sandbox.state(), LocalOptions::default()).expect("it works");
        let stack = StackId::new("shop", "dev").expect("it works");
        let lease = store.acquire(&stack, Claim::new("up")).await.expect("it works");
        lease.append(entries).await.expect("it works");
        // Dropped without being released: this is dying.
        drop(lease);
    });
    std::fs::remove_dir_all(sandbox.state().join(".pulumi/locks")).expect("it works");
    write_state(sandbox, "shop", "dev", Some(state_then));
    let ended = sandbox.drystone(&["state", "unprotect", "--all"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains("another tool has changed the stack since"), "{ended:#?}");
}

#[test]
fn s20_the_doctor_merges_what_only_an_orphan_knows() {
    let sandbox = stack_with(&resources());
    let made = [pet_resource("e", &["d"]), pet_resource("f", &["e"]), pet_resource("twice", &[])];
    let mut other = pet_resource("twice", &[]);
    other["id"] = json!("made-by-the-other-tool");
    let mut then = resources();
    then.remove(5);
    then.push(other);
    orphaned_update(&sandbox, &made, &pet_resource("g", &[]), &deployment(&then));

    let words = sandbox.ok(&["state", "doctor"]);
    for says in [
        "It made these, which the state does not have",
        "random:index:Pet e  e-id",
        "creating  random:index:Pet g",
        "random:index:Pet twice  twice-id and made-by-the-other-tool",
    ] {
        assert!(words.contains(says), "{says}: {words}");
    }
    assert_eq!(names(&sandbox).len(), 6, "nothing is merged unasked");
    let shown = sandbox.ok(&["state", "lock", "show"]);
    assert!(shown.contains("was kept because another tool has changed the stack since"), "{shown}");
    let ended = sandbox.drystone(&["state", "doctor", "--yes"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    let after = state_of(&sandbox, "shop", "dev");
    // `d` comes back because `e` needs it.
    assert_eq!(names(&sandbox), ["shop-dev", "default", "a", "b", "c", "twice", "d", "e", "f"]);
    assert_eq!(resource(&after, &pet("f")).unwrap()["dependencies"], json!([pet("e")]));
    assert_eq!(after["pending_operations"][0]["resource"]["urn"], json!(pet("g")));
    sandbox.ok(&["state", "verify"]);

    let words = sandbox.ok(&["state", "doctor"]);
    assert!(!words.contains("The journal"), "a merged journal is settled: {words}");
    assert_eq!(sandbox.ok(&["state", "lock", "show"]), "shop/dev is free\n");
    sandbox.ok(&["stack", "undo", "--yes"]);
    assert_eq!(names(&sandbox).len(), 6);
}

#[test]
fn s20_a_journal_with_nothing_to_merge_is_settled_when_asked() {
    let sandbox = stack_with(&resources());
    let mut then = resources();
    then.push(pet_resource("twice", &[]));
    let mut other = pet_resource("twice", &[]);
    other["id"] = json!("made-by-the-update");
    orphaned_update(&sandbox, &[other], &pet_resource("d", &[]), &deployment(&then));
    let before = sandbox.ok(&["stack", "export"]);
    sandbox.ok(&["state", "doctor"]);
    assert!(sandbox.ok(&["state", "doctor"]).contains("The journal"), "it stays until somebody says yes");
    let ended = sandbox.drystone(&["state", "doctor", "--yes"]);
    assert!(ended.code == 0 && ended.stderr.contains("is settled"), "{ended:#?}");
    assert!(!sandbox.ok(&["state", "doctor"]).contains("The journal"));
    let after = sandbox.ok(&["stack", "export"]);
    assert_eq!(before.matches("made-by-the-update").count(), after.matches("made-by-the-update").count());
}

#[test]
fn s13_the_lease_is_shown() {
    let sandbox = stack_with(&resources());
    assert_eq!(sandbox.ok(&["state", "lock", "show"]), "shop/dev is free\n");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let store = LocalStore::open(sandbox.state(), LocalOptions::default()).unwrap();
    let stack = StackId::new("shop", "dev").unwrap();
    let lease = runtime.block_on(store.acquire(&stack, Claim::new("up"))).unwrap();
    let shown = sandbox.ok(&["state", "lock", "show"]);
    assert!(shown.contains("shop/dev is held by") && shown.contains("(`up`, since"), "{shown}");
    let report: Value = serde_json::from_str(&sandbox.ok(&["state", "lock", "show", "--json"])).unwrap();
    assert_eq!(
        (&report["held"], report["holders"][0]["pid"].as_u64()),
        (&json!(true), Some(u64::from(std::process::id())))
    );
    for command in [
        &["state", "delete", &pet("d")][..],
        &["state", "protect", "--all"],
        &["state", "rename", &pet("d"), "e"],
    ] {
        let ended = refused(&sandbox, command, 10);
        assert!(ended.stderr.contains("the stack is currently locked by 1 lock(s)"), "{ended:#?}");
    }
    // Reading does not wait (S8).
    sandbox.ok(&["state", "verify"]);
    sandbox.ok(&["state", "doctor"]);
    runtime.block_on(lease.release()).unwrap();
    sandbox.ok(&["state", "delete", &pet("d")]);
}

#[test]
fn lock_files_of_other_tools_are_shown_and_honoured() {
    let sandbox = stack_with(&resources());
    let folder = sandbox.state().join(".pulumi/locks/organization/shop/dev");
    std::fs::create_dir_all(&folder).unwrap();
    let lock =
        json!({ "pid": 1, "username": "ben", "hostname": "elsewhere", "timestamp": "2026-01-02T03:04:05Z" });
    std::fs::write(folder.join("0c5b.json"), lock.to_string()).unwrap();
    let shown = sandbox.ok(&["state", "lock", "show"]);
    assert!(shown.contains("ben@elsewhere (another tool, since 2026-01-02T03:04:05Z"), "{shown}");
    let words = sandbox.ok(&["state", "doctor"]);
    assert!(words.contains("Held by ben@elsewhere") && words.contains("drystone cancel"), "{words}");
    refused(&sandbox, &["state", "delete", &pet("d")], 10);
}

#[test]
fn stacks_without_projects_are_upgraded() {
    let sandbox = stack_with(&resources());
    let folder = sandbox.state().join(".pulumi/stacks");
    std::fs::remove_file(sandbox.state().join(".pulumi/meta.yaml")).unwrap();
    let mut named =
        serde_json::from_slice::<Value>(&std::fs::read(folder.join("shop/dev.json")).unwrap()).unwrap();
    named["checkpoint"]["stack"] = json!("dev");
    std::fs::remove_dir_all(folder.join("shop")).unwrap();
    std::fs::write(folder.join("dev.json"), named.to_string()).unwrap();
    let empty = json!({ "version": 3, "checkpoint": { "stack": "empty" } });
    std::fs::write(folder.join("empty.json"), empty.to_string()).unwrap();

    let ended = sandbox.drystone(&["state", "upgrade"]);
    assert_eq!(ended.code, 2, "{ended:#?}");
    assert!(folder.join("dev.json").exists());
    let ended = sandbox.drystone(&["state", "upgrade", "--yes"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains("dev is organization/shop/dev now"), "{ended:#?}");
    assert!(ended.stderr.contains("empty was left where it is: no project name found"), "{ended:#?}");
    assert_eq!(names(&sandbox).len(), 6);
    assert_eq!(state_of(&sandbox, "shop", "dev")["resources"][0]["urn"], json!(ROOT));
    assert!(folder.join("empty.json").exists());
    sandbox.ok(&["state", "verify"]);
}

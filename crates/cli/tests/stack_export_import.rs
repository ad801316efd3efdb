//! Printing the state and bringing it back.

mod harness;
mod made_stack;

use harness::deployment;
use made_stack::{changed, everything, exported, import, sandbox, state_file, with_open_secret, with_pet};
use serde_json::{Value, json};

#[test]
fn what_is_imported_is_exported_in_the_stock_form() {
    let sandbox = sandbox();
    let ended = import(&sandbox, &deployment());
    assert_eq!(ended.stdout, "Import complete.\n");
    assert!(ended.stderr.contains("undo: drystone stack undo"), "{ended:#?}");
    let text = sandbox.ok(&["stack", "export", "-s", "dev"]);
    assert!(
        text.starts_with("{\n    \"version\": 3,\n    \"deployment\": {\n        \"manifest\": {"),
        "{text}"
    );
    assert!(text.ends_with("\n}\n"));
    let (printed, given): (Value, Value) =
        (serde_json::from_str(&text).unwrap(), serde_json::from_str(&deployment()).unwrap());
    assert_eq!(printed, given);
}

#[test]
fn a_file_is_written_and_read() {
    let sandbox = sandbox();
    import(&sandbox, &deployment());
    let printed = sandbox.ok(&["stack", "export", "-s", "dev"]);
    assert_eq!(sandbox.ok(&["stack", "export", "-s", "dev", "--file", "state.json"]), "");
    assert_eq!(sandbox.read("state.json"), printed);
    sandbox.ok(&["stack", "import", "-s", "dev", "--file", "state.json"]);
    assert_eq!(sandbox.ok(&["stack", "export", "-s", "dev"]), printed);
}

#[test]
fn a_stack_that_was_never_updated_has_a_null_deployment() {
    let sandbox = sandbox();
    assert_eq!(
        sandbox.ok(&["stack", "export", "-s", "dev"]),
        "{\n    \"version\": 3,\n    \"deployment\": null\n}\n"
    );
}

#[test]
fn s17_secrets_in_clear_are_sealed_before_anything_is_written() {
    let sandbox = sandbox();
    import(&sandbox, &with_open_secret("hush-hush"));
    for (path, content) in everything(&sandbox) {
        let content = String::from_utf8_lossy(&content).into_owned();
        assert!(!content.contains("hush-hush"), "{path}");
    }
    let sealed = &exported(&sandbox)["deployment"];
    assert_eq!(sealed["secrets_providers"]["state"]["salt"], made_stack::SALT);
    let ciphertext = &sealed["resources"][2]["inputs"]["password"]["ciphertext"];
    assert!(ciphertext.as_str().unwrap().starts_with("v1:"), "{ciphertext}");
    let shown: Value =
        serde_json::from_str(&sandbox.ok(&["stack", "export", "-s", "dev", "--show-secrets"])).unwrap();
    let password = &shown["deployment"]["resources"][2]["inputs"]["password"];
    assert_eq!(password["plaintext"], "\"hush-hush\"");
}

#[test]
fn s10_big_integers_and_unknown_members_survive() {
    let sandbox = sandbox();
    let document = deployment().replace("\"length\":2", "\"length\":123456789012345678901,\"new\":1.10");
    import(&sandbox, &document);
    let text = sandbox.ok(&["stack", "export", "-s", "dev"]);
    assert!(text.contains("\"length\": 123456789012345678901"), "{text}");
    assert!(text.contains("\"new\": 1.10"), "{text}");
}

#[test]
fn another_stack_or_project_is_refused_without_force() {
    let sandbox = sandbox();
    import(&sandbox, &deployment());
    let before = everything(&sandbox);
    for (from, to, word) in [
        ("pulumi:dev::", "pulumi:prod::", "stack (prod != dev)"),
        ("::shop::", "::office::", "project (office != shop)"),
    ] {
        let foreign = deployment().replace(from, to);
        let ended = sandbox.drystone_with(&["stack", "import", "-s", "dev"], &foreign);
        assert_eq!(ended.code, 1, "{ended:#?}");
        assert!(ended.stderr.contains(word), "{ended:#?}");
        assert!(ended.stderr.contains("hint: nothing was changed; `--force`"), "{ended:#?}");
        assert_eq!(everything(&sandbox), before);
    }
    let foreign = deployment().replace("pulumi:dev::", "pulumi:prod::");
    let forced = sandbox.drystone_with(&["stack", "import", "-s", "dev", "--force"], &foreign);
    assert_eq!(forced.code, 0, "{forced:#?}");
    assert!(forced.stderr.contains("warning: 4 of 4 resources are not of shop/dev"), "{forced:#?}");
}

#[test]
fn s07_an_unsound_document_is_refused_and_with_force_recorded_with_its_error() {
    let sandbox = sandbox();
    import(&sandbox, &deployment());
    let before = everything(&sandbox);
    let unsound = changed(|deployment| {
        deployment["resources"][3]["parent"] = json!("urn:pulumi:dev::shop::random:index:Pet::gone");
    });
    let refused = sandbox.drystone_with(&["stack", "import", "-s", "dev"], &unsound);
    assert_eq!(refused.code, 11, "{refused:#?}");
    assert!(refused.stderr.contains("error: the document breaks 1 rule(s)"), "{refused:#?}");
    assert_eq!(everything(&sandbox), before);
    let forced = sandbox.drystone_with(&["stack", "import", "-s", "dev", "-f"], &unsound);
    assert_eq!(forced.code, 0, "{forced:#?}");
    let error = &exported(&sandbox)["deployment"]["metadata"]["integrity_error"];
    assert_eq!(error["command"], "stack import", "{error}");
    let revisions = sandbox.ok(&["stack", "revisions", "-s", "dev"]);
    assert!(revisions.contains("unsound: breaks 1 rule(s)"), "{revisions}");
}

#[test]
fn pending_operations_are_dropped_with_a_word() {
    let sandbox = sandbox();
    let document = changed(|deployment| {
        let resource = json!({ "urn": "urn:pulumi:dev::shop::random:index:Pet::c", "custom": true, "type": "random:index:Pet" });
        deployment["pending_operations"] = json!([{ "resource": resource, "type": "creating" }]);
    });
    let ended = import(&sandbox, &document);
    assert!(
        ended
            .stderr
            .contains("removing pending operation 'creating' on 'urn:pulumi:dev::shop::random:index:Pet::c'"),
        "{ended:#?}"
    );
    assert_eq!(exported(&sandbox)["deployment"].get("pending_operations"), None);
}

#[test]
fn a_state_file_can_be_imported_too() {
    let sandbox = sandbox();
    import(&sandbox, &with_pet("c"));
    let file = std::fs::read_to_string(state_file(&sandbox)).unwrap();
    let printed = sandbox.ok(&["stack", "export", "-s", "dev"]);
    import(&sandbox, &deployment());
    import(&sandbox, &file);
    assert_eq!(sandbox.ok(&["stack", "export", "-s", "dev"]), printed);
}

#[test]
fn secrets_of_another_passphrase_are_refused_and_nothing_changes() {
    let mut sandbox = sandbox();
    import(&sandbox, &with_open_secret("hush-hush"));
    let document = sandbox.ok(&["stack", "export", "-s", "dev"]);
    let before = everything(&sandbox);
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "wrong");
    let refused = sandbox.drystone_with(&["stack", "import", "-s", "dev"], &document);
    assert_eq!(refused.code, 3, "{refused:#?}");
    assert!(refused.stderr.contains("incorrect passphrase"), "{refused:#?}");
    assert_eq!(everything(&sandbox), before);
    let shown = sandbox.drystone(&["stack", "export", "-s", "dev", "--show-secrets"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (3, ""), "{shown:#?}");
    assert_eq!(sandbox.ok(&["stack", "export", "-s", "dev"]), document);
}

#[test]
fn bad_documents_are_refused_with_one_error_and_a_hint() {
    let sandbox = sandbox();
    import(&sandbox, &deployment());
    let before = everything(&sandbox);
    let truncated = &deployment()[..400];
    let newer = deployment().replacen("\"version\":3", "\"version\":99", 1);
    let cases: [(&str, &str); 7] = [
        ("", "standard input: it is empty"),
        ("{\"a\":1}", "standard input: it is not a Pulumi document: it has the members a"),
        ("x", "standard input: line 1, column 1"),
        ("[]", "standard input: it is not a Pulumi document"),
        ("{\"version\":3,\"deployment\":null}", "standard input: the document holds no state"),
        (truncated, "standard input: it is cut off after 400 bytes"),
        (&newer, "standard input: its version 99 is newer"),
    ];
    for (document, message) in cases {
        let ended = sandbox.drystone_with(&["stack", "import", "-s", "dev", "--force"], document);
        assert_eq!(ended.code, 1, "{ended:#?}");
        assert!(ended.stderr.starts_with(&format!("error: {message}")), "{message}: {ended:#?}");
        assert!(ended.stderr.contains("\nhint: "), "{ended:#?}");
        assert_eq!(ended.stderr.matches("error:").count(), 1, "{ended:#?}");
        assert_eq!(everything(&sandbox), before);
    }
    let missing = sandbox.drystone(&["stack", "import", "-s", "dev", "--file", "nowhere.json"]);
    assert_eq!(missing.code, 1, "{missing:#?}");
    assert!(missing.stderr.contains("could not open nowhere.json"), "{missing:#?}");
}

#[test]
fn a_stack_that_is_not_there_has_the_sdks_words_and_code() {
    let sandbox = sandbox();
    for arguments in [
        &["stack", "export", "-s", "nope"][..],
        &["stack", "import", "-s", "nope"],
        &["stack", "history", "-s", "nope"],
        &["stack", "revisions", "-s", "nope"],
        &["stack", "graph", "x", "-s", "nope"],
        &["stack", "undo", "-s", "nope"],
        &["stack", "prune", "--keep", "1", "-s", "nope"],
    ] {
        let ended = sandbox.drystone_with(arguments, &deployment());
        assert_eq!(ended.code, 6, "{arguments:?} {ended:#?}");
        assert!(ended.stderr.contains("no stack named 'shop/nope' found"), "{ended:#?}");
    }
}

#[test]
fn a_damaged_state_is_named_and_can_be_gone_back_from() {
    let sandbox = sandbox();
    import(&sandbox, &deployment());
    let printed = sandbox.ok(&["stack", "export", "-s", "dev"]);
    std::fs::write(state_file(&sandbox), "{\"version\":3,\"checkpoint\":{\"stack\":\"organiz").unwrap();
    let broken = sandbox.drystone(&["stack", "export", "-s", "dev"]);
    assert_eq!((broken.code, broken.stdout.as_str()), (11, ""), "{broken:#?}");
    assert!(broken.stderr.contains("dev.json: it is cut off after"), "{broken:#?}");
    assert!(broken.stderr.contains("hint: "), "{broken:#?}");
    let number = {
        let revisions: Value =
            serde_json::from_str(&sandbox.ok(&["stack", "revisions", "-s", "dev", "--json"])).unwrap();
        revisions[0]["number"].to_string()
    };
    assert_eq!(sandbox.ok(&["stack", "export", "-s", "dev", "--version", &number]), printed);
    sandbox.ok(&["stack", "rollback", &number, "-s", "dev", "--yes"]);
    let again = exported(&sandbox);
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(again["deployment"]["resources"], printed["deployment"]["resources"]);
}

#[test]
fn s13_a_stack_that_another_tool_holds_is_left_alone_and_its_holder_named() {
    let sandbox = sandbox();
    import(&sandbox, &deployment());
    let locks = sandbox.state().join(".pulumi/locks/organization/shop/dev");
    std::fs::create_dir_all(&locks).unwrap();
    let lock = r#"{"pid":1,"username":"bo","hostname":"elsewhere","timestamp":"2026-01-02T03:04:05Z"}"#;
    std::fs::write(locks.join("11111111-2222-4333-8444-555555555555.json"), lock).unwrap();
    let state = std::fs::read(state_file(&sandbox)).unwrap();
    let settings = sandbox.read("Pulumi.dev.yaml");
    let commands: [&[&str]; 4] = [
        &["stack", "import", "-s", "dev"],
        &["stack", "undo", "-s", "dev"],
        &["stack", "prune", "--keep", "0", "--yes", "-s", "dev"],
        &["stack", "change-secrets-provider", "passphrase", "-s", "dev"],
    ];
    for command in commands {
        let ended = sandbox.drystone_with(command, &with_pet("c"));
        assert_eq!(ended.code, 10, "{command:?} {ended:#?}");
        assert!(ended.stderr.contains("bo@elsewhere"), "{ended:#?}");
        assert!(ended.stderr.contains("the stack is currently locked by"), "{ended:#?}");
        assert_eq!(std::fs::read(state_file(&sandbox)).unwrap(), state);
        assert_eq!(sandbox.read("Pulumi.dev.yaml"), settings);
    }
    sandbox.ok(&["stack", "export", "-s", "dev"]);
}

//! The stock CLI and ours take turns on the stacks of one directory (S14).

mod harness;

use harness::Sandbox;
use serde_json::{Value, json};

/// A deployment for `stack import` of the stock CLI, with a secret output and references of every kind.
fn import(sandbox: &Sandbox, stack: &str) {
    let mut document: Value = serde_json::from_str(&harness::deployment()).expect("JSON");
    let text = sandbox.read(&format!("Pulumi.{stack}.yaml"));
    let salt = text.lines().find_map(|line| line.strip_prefix("encryptionsalt: ")).expect("a salt");
    let deployment = &mut document["deployment"];
    deployment["secrets_providers"] = json!({ "type": "passphrase", "state": { "salt": salt } });
    deployment["resources"][0]["outputs"] = json!({
        "url": "https://shop.example",
        "count": 3,
        "friend": {
            "4dabf18193072939515e22adb298388d": "5cf8f73096256a8f31e491e813e4eb8e",
            "urn": "urn:pulumi:dev::shop::random:index:Pet::a", "id": "red-fox", "packageVersion": "",
        },
        "password": { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": "\"hush\"" },
        "deep": { "in": [{ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": "{\"k\":1}" }] },
        "quote": "it's $HOME \"q\"", "lines": "a\nb", "empty": "", "nothing": null, "less": "x<y",
    });
    deployment["resources"][2]["aliases"] =
        json!(["urn:pulumi:dev::shop::random:index:Pet::old", "urn:pulumi:qa::shop::random:index:Pet::old"]);
    let text = document.to_string().replace("urn:pulumi:dev::", &format!("urn:pulumi:{stack}::"));
    let ended = sandbox.stock_with(&["stack", "import", "--stack", stack], &text);
    assert_eq!(ended.code, 0, "{ended:#?}");
}

/// Both CLIs print the same for the same arguments.
fn same(sandbox: &Sandbox, arguments: &[&str]) {
    let (ours, stock) = (sandbox.drystone(arguments), sandbox.stock(arguments));
    assert_eq!((ours.code, &ours.stdout), (stock.code, &stock.stdout), "{arguments:?}");
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_a_stack_of_ours_is_used_and_removed_by_the_stock_cli() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["stack", "init", "dev"]);
    assert_eq!(sandbox.stock_ok(&["stack", "--show-name"]), "dev\n", "the selection is shared");
    sandbox.stock_ok(&["config", "set", "--secret", "password", "hunter2"]);
    sandbox.stock_ok(&["config", "set", "color", "blue"]);
    import(&sandbox, "dev");
    same(&sandbox, &["stack", "ls", "--json"]);
    same(&sandbox, &["stack", "--output", "json"]);

    sandbox.ok(&["stack", "init", "qa", "--copy-config-from", "dev"]);
    assert_eq!(sandbox.stock_ok(&["config", "get", "password"]), "hunter2\n", "sealed for the new stack");
    assert_eq!(sandbox.stock_ok(&["config", "get", "color"]), "blue\n");
    sandbox.stock_ok(&["stack", "select", "dev"]);
    assert_eq!(sandbox.ok(&["stack", "--show-name"]), "dev\n");
    sandbox.ok(&["stack", "unselect"]);
    assert_ne!(sandbox.stock(&["stack"]).code, 0);
    let ended = sandbox.stock(&["stack", "init", "qa"]);
    assert!(ended.stderr.contains("already exists"), "{ended:#?}");
    sandbox.stock_ok(&["stack", "rm", "dev", "--yes", "--force"]);
    sandbox.stock_ok(&["stack", "rm", "qa", "--yes"]);
    assert_eq!(sandbox.ok(&["stack", "ls", "--all", "--json"]), "[]\n");
    sandbox.ok(&["stack", "init", "dev"]);
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_a_stack_of_the_stock_cli_is_used_and_removed_by_ours() {
    let sandbox = Sandbox::new();
    sandbox.stock_ok(&["stack", "init", "dev"]);
    import(&sandbox, "dev");
    for arguments in [
        &["stack", "output", "--json"][..],
        &["stack", "output", "--json", "--show-secrets"],
        &["stack", "output", "--shell"],
        &["stack", "output", "--shell", "--show-secrets"],
        &["stack", "output", "password"],
        &["stack", "output", "password", "--show-secrets"],
        &["stack", "output", "deep", "--show-secrets"],
        &["stack", "output", "friend", "--json"],
        &["stack", "output", "lines"],
        &["stack", "output", "nope"],
        &["stack", "ls", "--json"],
        &["stack", "ls", "--all", "--json", "-t", "team"],
        &["stack", "--show-name"],
        &["stack", "--show-name", "-Q"],
        &["stack", "select", "nope"],
        &["stack", "select"],
        &["stack", "tag", "ls", "--json"],
        &["stack", "tag", "get", "nope"],
        &["stack", "rm", "--yes"],
        &["stack", "rm", "nope", "--yes"],
        &["stack", "init", "dev"],
        &["stack", "unselect"],
        &["stack", "unselect"],
    ] {
        same(&sandbox, arguments);
    }
    sandbox.ok(&["stack", "select", "dev"]);
    sandbox.ok(&["stack", "rm", "--yes", "--force"]);
    assert_eq!(sandbox.stock_ok(&["stack", "ls", "--json"]), "[]\n");
    sandbox.stock_ok(&["stack", "init", "dev"]);
    assert_eq!(sandbox.drystone(&["stack", "restore", "dev"]).code, 1, "the stock CLI took the name");
    sandbox.stock_ok(&["stack", "rm", "--yes"]);
    sandbox.ok(&["stack", "restore", "dev"]);
    let outputs = sandbox.stock_ok(&["stack", "output", "--json", "--show-secrets", "--stack", "dev"]);
    let outputs: Value = serde_json::from_str(&outputs).expect("JSON");
    assert_eq!(outputs["password"], "hush");
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_both_rename_alike() {
    let exported = |sandbox: &Sandbox| sandbox.stock_ok(&["stack", "export", "--show-secrets"]);
    let renamed = |by_ours: bool| {
        let sandbox = Sandbox::new();
        sandbox.stock_ok(&["stack", "init", "dev"]);
        import(&sandbox, "dev");
        sandbox.stock_ok(&["stack", "tag", "set", "team", "blue"]);
        let run = |name: &str| {
            let arguments = ["stack", "rename", name];
            if by_ours { sandbox.ok(&arguments) } else { sandbox.stock_ok(&arguments) }
        };
        let mut seen = vec![run("prod"), exported(&sandbox)];
        seen.extend([run("organization/store/live"), exported(&sandbox)]);
        seen.push(sandbox.stock_ok(&["stack", "ls", "--all", "--json"]));
        if by_ours {
            assert_eq!(sandbox.stock_ok(&["stack", "tag", "get", "team"]), "blue\n", "tags go with it");
        }
        seen
    };
    let without_salt = |text: &String| -> String {
        text.lines().filter(|line| !line.contains("\"salt\"")).collect::<Vec<_>>().join("\n")
    };
    let (ours, stock) = (renamed(true), renamed(false));
    let strip = |texts: Vec<String>| texts.iter().map(without_salt).collect::<Vec<_>>();
    assert_eq!(strip(ours), strip(stock));
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_tags_are_shared() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.ok(&["stack", "tag", "set", "team", "blue"]);
    sandbox.stock_ok(&["stack", "tag", "set", "tier", "1"]);
    same(&sandbox, &["stack", "tag", "ls"]);
    same(&sandbox, &["stack", "tag", "ls", "--json"]);
    same(&sandbox, &["stack", "tag", "get", "team"]);
    same(&sandbox, &["stack", "ls", "--json", "-t", "tier=1"]);
    sandbox.ok(&["stack", "tag", "rm", "tier"]);
    sandbox.stock_ok(&["stack", "tag", "rm", "team"]);
    same(&sandbox, &["stack", "tag", "ls"]);
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_cancel_frees_what_the_other_holds() {
    let sandbox = Sandbox::new();
    sandbox.stock_ok(&["stack", "init", "dev"]);
    let locks = sandbox.state().join(".pulumi/locks/organization/shop/dev");
    std::fs::create_dir_all(&locks).expect("a folder");
    let lock = json!({ "pid": 1, "username": "bo", "hostname": "ci", "timestamp": "2026-01-02T03:04:05Z" });
    let held = |sandbox: &Sandbox| {
        std::fs::write(locks.join("5f8a7a0e-6a86-4a4e-9d3b-3f0d1c1b2a3c.json"), lock.to_string())
            .expect("a file");
        for ended in [sandbox.drystone(&["stack", "rename", "x"]), sandbox.stock(&["stack", "rename", "x"])] {
            assert_ne!(ended.code, 0);
            assert!(ended.stderr.contains("the stack is currently locked by 1 lock(s)"), "{ended:#?}");
        }
    };
    held(&sandbox);
    assert_eq!(sandbox.drystone(&["cancel", "--yes"]).code, 0);
    sandbox.stock_ok(&["stack", "rename", "qa"]);
    sandbox.ok(&["stack", "rename", "dev"]);
    held(&sandbox);
    assert_eq!(sandbox.stock(&["cancel", "--yes"]).code, 0);
    sandbox.ok(&["stack", "rename", "qa"]);
    // With nothing to cancel, both succeed.
    assert_eq!((sandbox.stock(&["cancel"]).code, sandbox.drystone(&["cancel"]).code), (0, 0));
    same(&sandbox, &["stack", "ls", "--json"]);
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_a_directory_without_projects_is_shared_too() {
    let mut sandbox = Sandbox::new();
    sandbox.set("PULUMI_DIY_BACKEND_LEGACY_LAYOUT", "true");
    sandbox.set("PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR", "true");
    sandbox.ok(&["stack", "init", "dev"]);
    import(&sandbox, "dev");
    sandbox.stock_ok(&["stack", "init", "qa"]);
    same(&sandbox, &["stack", "ls", "--json"]);
    same(&sandbox, &["stack", "ls", "--all", "--json"]);
    sandbox.ok(&["stack", "select", "dev"]);
    sandbox.ok(&["stack", "rename", "prod"]);
    let exported = sandbox.stock_ok(&["stack", "export"]);
    assert!(exported.contains("urn:pulumi:prod::shop::pulumi:pulumi:Stack::shop-prod"), "{exported}");
    sandbox.stock_ok(&["stack", "rename", "dev"]);
    same(&sandbox, &["stack", "output", "--json", "--show-secrets"]);
    sandbox.ok(&["stack", "rm", "qa", "--yes"]);
    sandbox.stock_ok(&["stack", "rm", "dev", "--yes", "--force"]);
    assert_eq!(sandbox.ok(&["stack", "ls", "--json"]), "[]\n");
    sandbox.ok(&["stack", "restore", "qa"]);
    same(&sandbox, &["stack", "ls", "--json"]);
}

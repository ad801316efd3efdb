//! Ours and the stock CLI take turns on one directory: export, import, history, graph, secrets provider.

mod harness;
mod made_stack;

use harness::{Sandbox, deployment};
use made_stack::{with_open_secret, with_pet};
use serde_json::Value;

/// A stack that the stock CLI made, with the sample imported and configuration with secrets.
fn stock_stack(document: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.stock_ok(&["stack", "init", "dev"]);
    let salt = sandbox.read("Pulumi.dev.yaml").trim_start_matches("encryptionsalt: ").trim().to_owned();
    let mut document: Value = serde_json::from_str(document).expect("JSON");
    let provider = serde_json::json!({ "type": "passphrase", "state": { "salt": salt } });
    document["deployment"]["secrets_providers"] = provider;
    let ended = sandbox.stock_with(&["stack", "import"], &document.to_string());
    assert_eq!(ended.code, 0, "{ended:#?}");
    sandbox.stock_ok(&["config", "set", "--secret", "token", "abc"]);
    sandbox.stock_ok(&["config", "set", "plain", "5"]);
    sandbox.stock_ok(&["config", "set", "--path", "map.list[0]", "1"]);
    sandbox.stock_ok(&["config", "set", "--path", "--secret", "map.hidden", "def"]);
    sandbox
}

/// Both print the same.
fn same(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let (ours, stock) = (sandbox.drystone(arguments), sandbox.stock(arguments));
    assert_eq!(
        (ours.code, &ours.stdout),
        (stock.code, &stock.stdout),
        "{arguments:?}\n{ours:#?}\n{stock:#?}"
    );
    ours.stdout
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_exports_are_equal_to_the_byte() {
    let empty = Sandbox::new();
    empty.stock_ok(&["stack", "init", "dev"]);
    same(&empty, &["stack", "export"]);
    same(&empty, &["stack", "export", "--show-secrets"]);
    let sandbox = stock_stack(&with_open_secret("a <b> & \"c\" é \u{2028} 💧"));
    same(&sandbox, &["stack", "export"]);
    let shown = same(&sandbox, &["stack", "export", "--show-secrets"]);
    assert!(shown.contains("plaintext"), "{shown}");
    sandbox.ok(&["stack", "export", "--file", "ours.json"]);
    sandbox.stock_ok(&["stack", "export", "--file", "stock.json"]);
    assert_eq!(sandbox.read("ours.json"), sandbox.read("stock.json"));
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_each_imports_what_the_other_exported() {
    let sandbox = stock_stack(&with_open_secret("hush"));
    let first = same(&sandbox, &["stack", "export"]);
    let ended = sandbox.drystone_with(&["stack", "import"], &first);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "Import complete.\n"), "{ended:#?}");
    assert_eq!(same(&sandbox, &["stack", "export"]), first);
    let ended = sandbox.stock_with(&["stack", "import"], &first);
    assert_eq!(ended.code, 0, "{ended:#?}");
    same(&sandbox, &["stack", "export"]);
    let ended = sandbox.drystone_with(&["stack", "import"], &with_open_secret("ours"));
    assert_eq!(ended.code, 0, "{ended:#?}");
    let shown = same(&sandbox, &["stack", "export", "--show-secrets"]);
    assert!(shown.contains(r#""plaintext": "\"ours\"""#), "{shown}");
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn both_refuse_the_same_documents() {
    let sandbox = stock_stack(&deployment());
    let foreign = deployment().replace("pulumi:dev::", "pulumi:prod::");
    let unsound = deployment().replace("\"id\":\"0a1b2c3d", "\"id\":\"1a1b2c3d");
    for document in [foreign.as_str(), &unsound, "", "x", "{\"version\":99,\"deployment\":{}}"] {
        let (ours, stock) = (
            sandbox.drystone_with(&["stack", "import"], document),
            sandbox.stock_with(&["stack", "import"], document),
        );
        assert!(ours.code != 0 && stock.code != 0, "{ours:#?}\n{stock:#?}");
    }
    let (ours, stock) = (
        sandbox.drystone_with(&["stack", "import"], &foreign),
        sandbox.stock_with(&["stack", "import"], &foreign),
    );
    assert_eq!(ours.code, stock.code);
    let forced = sandbox.drystone_with(&["stack", "import", "--force"], &foreign);
    assert_eq!(forced.code, 0, "{forced:#?}");
    same(&sandbox, &["stack", "export"]);
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_history_is_equal_to_the_byte() {
    let sandbox = stock_stack(&deployment());
    same(&sandbox, &["stack", "history", "--json"]);
    // An update that needs no program or provider: a destroy of nothing.
    let empty = deployment();
    let mut empty: Value = serde_json::from_str(&empty).unwrap();
    empty["deployment"]["resources"] = Value::Array(Vec::new());
    assert_eq!(sandbox.drystone_with(&["stack", "import"], &empty.to_string()).code, 0);
    sandbox.stock_ok(&["destroy", "--yes", "--message", "a <first> \"one\""]);
    sandbox.stock_ok(&["destroy", "--yes"]);
    same(&sandbox, &["stack", "history", "--json"]);
    let shown = same(&sandbox, &["stack", "history", "--json", "--show-secrets"]);
    assert!(shown.contains("\"value\": \"abc\""), "{shown}");
    for page in ["1", "2", "3"] {
        same(&sandbox, &["stack", "history", "--json", "--page-size", "1", "--page", page]);
    }
    same(&sandbox, &["stack", "history", "--page", "3"]);
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_graphs_are_equal_to_the_byte() {
    let sandbox = stock_stack(&with_pet("c"));
    let variants: [&[&str]; 4] = [
        &[],
        &["--short-node-name", "--dot-fragment", "rankdir=LR"],
        &["--ignore-parent-edges", "--dependency-edge-color", "red"],
        &["--ignore-dependency-edges", "--parent-edge-color", "#123456"],
    ];
    for variant in variants {
        let arguments = |file| [&["stack", "graph", file][..], variant].concat();
        sandbox.ok(&arguments("ours.dot"));
        sandbox.stock_ok(&arguments("stock.dot"));
        assert_eq!(sandbox.read("ours.dot"), sandbox.read("stock.dot"), "{variant:?}");
    }
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_each_goes_on_after_the_other_changed_the_passphrase() {
    let mut sandbox = stock_stack(&with_open_secret("hush"));
    let change = ["stack", "change-secrets-provider", "passphrase"];
    let ours = sandbox.drystone_with(&change, "battery staple\n");
    assert_eq!(ours.code, 0, "{ours:#?}");
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "battery staple");
    assert!(same(&sandbox, &["stack", "export", "--show-secrets"]).contains("hush"));
    assert_eq!(sandbox.stock_ok(&["config", "get", "token"]), "abc\n");
    let stock = sandbox.stock_with(&change, "third\n");
    assert_eq!((stock.code, &stock.stdout), (0, &ours.stdout), "{stock:#?}");
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "third");
    assert!(same(&sandbox, &["stack", "export", "--show-secrets"]).contains("hush"));
    let again = sandbox.drystone_with(&change, "fourth\n");
    assert_eq!(again.code, 0, "{again:#?}");
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "fourth");
    assert_eq!(sandbox.stock_ok(&["config", "get", "token"]), "abc\n");
    assert!(sandbox.stock_ok(&["config", "--show-secrets", "--json"]).contains("def"));
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn s14_the_stock_cli_goes_on_after_undo_and_rollback() {
    let sandbox = stock_stack(&deployment());
    assert_eq!(sandbox.drystone_with(&["stack", "import"], &with_pet("c")).code, 0);
    let stock = sandbox.stock_with(&["stack", "import"], &with_pet("d"));
    assert_eq!(stock.code, 0, "{stock:#?}");
    sandbox.ok(&["stack", "undo"]);
    let text = sandbox.stock_ok(&["stack", "export"]);
    assert!(text.contains("Pet::c") && !text.contains("Pet::d"), "{text}");
    sandbox.ok(&["stack", "undo"]);
    let text = same(&sandbox, &["stack", "export"]);
    assert!(!text.contains("Pet::c"), "{text}");
    sandbox.stock_ok(&["state", "delete", "urn:pulumi:dev::shop::random:index:Pet::b", "--yes"]);
    sandbox.ok(&["stack", "undo"]);
    assert!(same(&sandbox, &["stack", "export"]).contains("Pet::b"));
}

//! Operations that were under way when a run died: listed and settled without a terminal, as one revision.

mod harness;
mod made_stack;

use harness::Sandbox;
use made_stack::{changed, everything, exported, sandbox};
use serde_json::{Value, json};

const STACK: &str = "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev";
const PROVIDER: &str =
    "urn:pulumi:dev::shop::pulumi:providers:random::default::0a1b2c3d-0000-4000-8000-000000000001";

fn urn(name: &str) -> String {
    format!("urn:pulumi:dev::shop::random:index:Pet::{name}")
}

fn pet(name: &str, id: &str) -> Value {
    json!({ "urn": urn(name), "custom": true, "id": id, "type": "random:index:Pet", "inputs": { "length": 3 },
            "parent": STACK, "provider": PROVIDER })
}

/// A stack whose last run died while it created `c`, replaced `a` and deleted `b`.
fn interrupted() -> Sandbox {
    let sandbox = sandbox();
    let document = changed(|deployment| {
        deployment["pending_operations"] = json!([
            { "resource": pet("c", ""), "type": "creating" },
            { "resource": pet("a", ""), "type": "creating" },
            { "resource": pet("b", "blue-owl"), "type": "deleting" },
        ]);
    });
    // Importing drops what is pending, so the state is written as a run would have left it.
    let deployment: Value = serde_json::from_str::<Value>(&document).expect("JSON")["deployment"].clone();
    let checkpoint =
        json!({ "version": 3, "checkpoint": { "stack": "organization/shop/dev", "latest": deployment } });
    std::fs::write(made_stack::state_file(&sandbox), checkpoint.to_string()).expect("a file");
    sandbox
}

fn pending(sandbox: &Sandbox) -> Vec<(String, String)> {
    let list: Vec<Value> =
        serde_json::from_str(&sandbox.ok(&["state", "ops", "list", "--json", "-s", "dev"])).expect("JSON");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    list.iter().map(|operation| (text(&operation["operation"]), text(&operation["urn"]))).collect()
}

fn resolve(sandbox: &Sandbox, options: &[&str]) -> harness::Ended {
    sandbox.drystone(&[&["state", "ops", "resolve", "-s", "dev"], options].concat())
}

#[test]
fn what_is_pending_is_listed_for_people_and_scripts() {
    let sandbox = interrupted();
    let told = sandbox.ok(&["state", "ops", "list", "-s", "dev"]);
    assert!(told.contains(&format!("creating  {}", urn("c"))), "{told}");
    assert!(told.contains(&format!("deleting  {}  blue-owl", urn("b"))), "{told}");
    let expected = [("creating", "c"), ("creating", "a"), ("deleting", "b")];
    assert_eq!(pending(&sandbox), expected.map(|(kind, name)| (kind.to_owned(), urn(name))));
}

#[test]
fn nothing_pending_is_said_and_is_an_empty_list() {
    let sandbox = sandbox();
    let ended = sandbox.drystone(&["state", "ops", "ls", "-s", "dev"]);
    assert!(ended.code == 0 && ended.stdout.is_empty(), "{ended:#?}");
    assert!(ended.stderr.contains("No operation is pending on shop/dev"), "{ended:#?}");
    assert_eq!(pending(&sandbox), []);
    let before = everything(&sandbox);
    let ended = resolve(&sandbox, &["--all-clear"]);
    assert!(ended.code == 0 && ended.stderr.contains("nothing was changed"), "{ended:#?}");
    assert_eq!(everything(&sandbox), before);
}

#[test]
fn a_creation_that_made_something_becomes_a_resource() {
    let sandbox = interrupted();
    let ended = resolve(&sandbox, &["--import", &format!("{}=red=cat", urn("c"))]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(
        ended.stderr.contains("1 resource taken over") && ended.stderr.contains("drystone stack undo"),
        "{ended:#?}"
    );
    let state = exported(&sandbox);
    let resources = state["deployment"]["resources"].as_array().expect("a list");
    let made = resources.iter().find(|resource| resource["urn"] == urn("c").as_str()).expect("the resource");
    assert_eq!((&made["id"], &made["inputs"]), (&json!("red=cat"), &json!({ "length": 3 })));
    assert_eq!(pending(&sandbox).len(), 2);
    sandbox.ok(&["state", "verify", "-s", "dev"]);
}

#[test]
fn what_a_replacement_was_to_replace_waits_to_be_deleted() {
    let sandbox = interrupted();
    assert_eq!(resolve(&sandbox, &["--import", &format!("{}=red-cat", urn("a"))]).code, 0);
    let state = exported(&sandbox);
    let resources = state["deployment"]["resources"].as_array().expect("a list");
    let both: Vec<(&Value, bool)> = resources
        .iter()
        .filter(|resource| resource["urn"] == urn("a").as_str())
        .map(|resource| (&resource["id"], resource["delete"] == json!(true)))
        .collect();
    assert_eq!(both, [(&json!("red-fox"), true), (&json!("red-cat"), false)]);
    sandbox.ok(&["state", "verify", "-s", "dev"]);
}

#[test]
fn several_are_settled_as_one_revision_that_can_be_undone() {
    let sandbox = interrupted();
    let count = |sandbox: &Sandbox| {
        sandbox.ok(&["stack", "revisions", "-s", "dev", "--json"]).matches("\"number\"").count()
    };
    let ended = resolve(&sandbox, &["--import", &format!("{}=red-cat", urn("c")), "--all-clear"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains("2 operations cleared"), "{ended:#?}");
    assert_eq!(pending(&sandbox), []);
    let after = count(&sandbox);
    sandbox.ok(&["stack", "undo", "--yes", "-s", "dev"]);
    assert_eq!(pending(&sandbox).len(), 3);
    assert_eq!(count(&sandbox), after + 1);
}

#[test]
fn what_cannot_be_settled_changes_nothing() {
    let sandbox = interrupted();
    let before = everything(&sandbox);
    for (options, code, says) in [
        (vec![], 2, "what became of which operation?"),
        (vec!["--clear".to_owned(), urn("nope")], 1, "no operation is pending on"),
        (vec!["--import".to_owned(), urn("c")], 2, "is not of the form URN=ID"),
        (vec!["--import".to_owned(), format!("{}=", urn("c"))], 2, "is not of the form URN=ID"),
        (vec!["--import".to_owned(), format!("{}=x", urn("b"))], 1, "was deleting, not creating"),
        (
            vec!["--import".to_owned(), format!("{}=x", urn("c")), "--clear".to_owned(), urn("c")],
            2,
            "both to be imported and cleared",
        ),
    ] {
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let ended = resolve(&sandbox, &options);
        assert!(ended.code == code && ended.stderr.contains(says), "{options:?}: {ended:#?}");
        let unsettled: Vec<_> = before.iter().filter(|(path, _)| path.ends_with("dev.json")).collect();
        let now = everything(&sandbox);
        assert!(unsettled.iter().all(|(path, bytes)| now.get(*path) == Some(bytes)), "{options:?}");
    }
    assert_eq!(pending(&sandbox).len(), 3);
}

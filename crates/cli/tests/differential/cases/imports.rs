//! What exists is taken over without a program.

use crate::case::{Case, item, of_items, yaml};
use serde_json::{Value, json};

const NOTHING: &str = "resources: {}\n";
const ITEM: &str = "ledger:index:Item";

/// A secret as converters send it.
fn secret(value: impl Into<Value>) -> Value {
    json!({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": value.into() })
}

/// A case in which three objects exist, and a program that has nothing.
fn existing() -> Case {
    let three = ["one", "two", "three"].into_iter();
    three.fold(yaml(NOTHING), |case, id| case.appear(id, json!({ "value": id, "size": 3 })))
}

impl Case {
    fn import(self, words: &[&str]) -> Self {
        self.run(&[&["import", "--generate-code=false"], words].concat())
    }

    fn import_fails(self, words: &[&str]) -> Self {
        self.fails(&[&["import", "--generate-code=false"], words].concat())
    }

    fn import_list(self, list: &Value) -> Self {
        self.file("list.json", list).import(&["--file", "list.json"])
    }

    /// What another tool made, as its converter finds it in a file.
    fn convert(self, state: &Value) -> Self {
        self.file("state.json", state).import(&CONVERT)
    }

    fn convert_fails(self, state: &Value) -> Self {
        self.file("state.json", state).import_fails(&CONVERT)
    }

    fn import_list_fails(self, list: &Value) -> Self {
        self.file("list.json", list).import_fails(&["--file", "list.json"])
    }
}

const CONVERT: [&str; 5] = ["--from", "bench", "--generate-resources", "list.json", "state.json"];

const OWNED: &[&str] = &["a | name: one, value: one, size: 3 | protect: true"];

cases! {
    one_is_taken_over_and_then_owned: existing().import(&[ITEM, "a", "one"]).items(OWNED).preview().up()
        .destroy_fails();
    one_is_taken_over_without_protection: existing().import(&[ITEM, "a", "one", "--protect=false"])
        .items(&["a | name: one, value: w, size: 3"]).preview().up().destroy();
    one_that_the_program_lacks_is_deleted: existing().import(&[ITEM, "a", "one", "--protect=false"]).preview().up();
    one_is_taken_over_twice: existing().import(&[ITEM, "a", "one"]).import(&[ITEM, "a", "one"])
        .import_fails(&[ITEM, "a", "two"]);
    one_that_its_provider_does_not_know: existing().import(&[ITEM, "a", "nobody"]);
    one_beside_what_there_is: existing().items(&["b | value: v", "c | value: '${b.name}'"]).up()
        .import(&[ITEM, "a", "one"]).up_fails();
    one_with_properties: existing().import(&[ITEM, "a", "one", "--properties", "value"]);
    a_list: existing().import_list(&json!({ "resources": [
        { "type": ITEM, "name": "a", "id": "one" }, { "type": ITEM, "name": "b", "id": "two" },
        { "type": ITEM, "name": "c", "id": "three", "logicalName": "z" },
    ]}));
    a_list_with_components: existing().import_list(&json!({ "resources": [
        { "type": ITEM, "name": "a", "id": "one", "parent": "group" },
        { "type": "shop:index:Group", "name": "group", "component": true, "parent": "outer" },
        { "type": "shop:index:Group", "name": "outer", "component": true },
    ]}));
    a_list_with_a_provider: existing().import_list(&json!({ "resources": [
        { "type": ITEM, "name": "a", "id": "one", "provider": "west" },
        { "type": "pulumi:providers:ledger", "name": "west", "inputs": { "region": "west" } },
    ]}));
    a_list_with_a_version: existing().import_list(&json!({ "resources": [
        { "type": ITEM, "name": "a", "id": "one", "version": "1.0.0" },
        { "type": ITEM, "name": "b", "id": "two" },
    ]}));
    a_list_with_inputs_and_outputs: existing().import_list(&json!({ "resources": [
        { "type": ITEM, "name": "a", "id": "one", "inputs": { "value": "mine", "kind": "x" } },
        { "type": ITEM, "name": "b", "id": "elsewhere", "inputs": { "value": "v" }, "outputs": { "value": "v" } },
    ]}));
    a_parent_and_a_provider_that_the_stack_has: existing()
        .program("resources:\n  west: { type: 'pulumi:providers:ledger' }\n  b: { type: ledger:Item, properties: { value: v } }\n")
        .up()
        .import(&[ITEM, "a", "one", "--parent", &format!("b={}", item("b")), "--provider",
            "west=urn:pulumi:dev::shop::pulumi:providers:ledger::west"]);
    a_list_of_a_parent_that_nobody_knows: existing().import_list_fails(&json!({
        "nameTable": { "group": "urn:pulumi:dev::shop::shop:index:Group::group" },
        "resources": [{ "type": ITEM, "name": "a", "id": "one", "parent": "group" }],
    }));
    lists_that_are_wrong: existing()
        .import_list_fails(&json!({ "resources": [{ "type": ITEM, "name": "a" }] }))
        .import_list_fails(&json!({ "resources": [{ "type": ITEM, "id": "one" }] }))
        .import_list_fails(&json!({ "resources": [{ "name": "a", "id": "one" }] }))
        .import_list_fails(&json!({ "resources": [{ "type": ITEM, "name": "a", "id": "one", "parent": "b" }] }))
        .import_list_fails(&json!({ "resources": [{ "type": ITEM, "name": "a", "id": "one", "component": true }] }))
        .import_list_fails(&json!({ "resources": [{ "type": ITEM, "name": "a", "id": "one", "version": "new" }] }))
        .import_list_fails(&json!({ "resources": [
            { "type": ITEM, "name": "a", "id": "one" }, { "type": ITEM, "name": "a", "id": "two" },
        ]}));
    a_refresh_and_an_up_after_an_import: of_items(&["b | value: v"]).appear("one", json!({ "value": "one" })).up()
        .import(&[ITEM, "a", "one"]).tamper("one", "value", json!("w")).refresh()
        .items(&["a | name: one, value: one | protect: true", "b | value: v"]).preview().up();
    what_a_converter_lists: existing().convert(&json!({ "resources": [
        { "type": ITEM, "name": "a", "id": "one", "parent": "group", "provider": "west" },
        { "type": "shop:index:Group", "name": "group", "component": true },
        { "type": "pulumi:providers:ledger", "name": "west", "inputs": { "region": "west" } },
        { "type": ITEM, "name": "b", "id": "two", "logicalName": "z", "version": "1.0.0", "properties": ["value"] },
    ], "diagnostics": [{ "severity": "warning", "summary": "odd", "detail": "but well", "line": 3 }] }))
        .refresh();
    what_a_converter_lists_with_secrets: existing().convert(&json!({ "resources": [
        { "type": ITEM, "name": "a", "id": "one", "inputs": { "kind": secret("k") } },
        { "type": ITEM, "name": "b", "id": "elsewhere", "inputs": { "value": secret("v") },
            "outputs": { "value": secret("v"), "list": [1, { "deep": secret(true) }] } },
    ]})).import(&["--file", "list.json"]).refresh();
    what_a_converter_finds_by_mappings: existing().appear("o", json!({})).appear("l", json!({})).appear("bench", json!({}))
        .convert(&json!({ "mapping": "outer", "resources": [{ "type": ITEM, "name": "a", "id": "{mapping}" }] }))
        .convert(&json!({ "mapping": "outer", "hint": "bench",
            "resources": [{ "type": ITEM, "name": "b", "id": "{mapping}" }] }))
        .convert(&json!({ "mapping": "only", "ecosystem": "lone",
            "resources": [{ "type": ITEM, "name": "c", "id": "{mapping}" }] }))
        .convert(&json!({ "schema": "bench", "resources": [{ "type": ITEM, "name": "d", "id": "{schema}" }] }))
        .convert(&json!({ "mapping": "stranger" }))
        .convert(&json!({ "mapping": "stranger", "resources": [{ "type": ITEM, "name": "e", "id": "one{mapping}" }] }));
    a_converter_that_does_not_succeed: existing()
        .convert_fails(&json!({ "resources": [{ "type": ITEM, "name": "a", "id": "one" }],
            "diagnostics": [{ "severity": "error", "summary": "no" }, { "severity": "warning", "summary": "odd" }] }))
        .convert_fails(&json!({ "ends": "goodbye" }))
        .convert_fails(&json!({ "resources": [{ "type": ITEM, "name": "a" }] }))
        .convert_fails(&json!({ "schema": "stranger" }))
        .import_fails(&["--from", "bench"]).import_fails(&["--from", "bench", "nowhere.json"])
        .import_fails(&["--from", "stranger", "state.json"]);
    a_program_is_written_as_a_list: yaml("
resources:
  west: { type: 'pulumi:providers:ledger' }
  a: { type: ledger:Item, properties: { value: v }, options: { provider: '${west}' } }
  b: { type: ledger:Item, properties: { value: v }, options: { parent: '${a}' } }
  c: { type: ledger:Item, name: a, properties: { value: v }, options: { parent: '${b}' } }
").run(&["preview", "--import-file", "list.json"]);
    a_part_of_a_program_is_written_as_a_list: of_items(&["a | value: v"]).up()
        .program("
resources:
  a: { type: ledger:Item, properties: { value: v } }
  b: { type: ledger:Item, properties: { value: v }, options: { parent: '${a}', version: 1.0.0 } }
").run(&["preview", "--import-file", "list.json"]).up().run(&["preview", "--import-file", "list.json"]);
    a_preview_that_fails_writes_no_list: of_items(&["a | size: -1 | import: nobody"]).fails(&["preview", "--import-file", "list.json", "--expect-no-changes"]);
}

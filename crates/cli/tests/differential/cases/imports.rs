//! What exists is taken over without a program.

use crate::case::{Case, item, of_items, yaml};
use serde_json::{Value, json};

const NOTHING: &str = "resources: {}\n";
const ITEM: &str = "ledger:index:Item";

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

    fn import_list_fails(self, list: &Value) -> Self {
        self.file("list.json", list).import_fails(&["--file", "list.json"])
    }
}

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

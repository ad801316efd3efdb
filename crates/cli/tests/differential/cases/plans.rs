//! Updates held to plans: what the stock CLI lets through and stops, ours does.

use crate::case::{PLAN, item, items, of_items, yaml};
use serde_json::json;

const TWO: &[&str] = &["a | size: 1, secret: hush", "b | value: '${a.token}', tags: { of: '${a.name}' }"];
const CHAIN: &[&str] = &["a | kind: x", "b | kind: '${a.name}'", "c | value: '${b.name}'"];
const DELETED_FIRST: &[&str] =
    &["a | name: one, kind: x | deleteBeforeReplace: true", "b | name: two, kind: '${a.name}'"];
const ALONG: &[&str] = &["a", "b | size: 1 | dependsOn: ['${a}']"];
const EXPLICIT: &str = "
resources:
  p: { type: 'pulumi:providers:ledger', properties: { zone: north } }
  a: { type: ledger:Item, properties: { size: 1 }, options: { provider: '${p}' } }
";

cases! {
    a_plan_for_a_new_stack: of_items(TWO).plan().up_planned().plan().up_planned();
    a_sealed_plan: of_items(TWO).run(&["preview", "--save-plan", PLAN]).run(&["up", "--plan", PLAN]);
    a_plan_with_outputs: yaml(&(items(TWO) + "outputs: { token: '${a.token}', size: '${a.size}' }\n"))
        .plan().up_planned().plan().up_planned();
    an_update_is_planned: of_items(TWO).up().items(&["a | size: 2, secret: hush", TWO[1]]).plan().up_planned();
    another_value_than_planned: of_items(&["a | size: 1"]).up().items(&["a | size: 2"]).plan()
        .items(&["a | size: 3"]).up_stopped().items(&["a | size: 2"]).up_planned();
    another_secret_than_planned: of_items(&["a | secret: hush"]).plan()
        .items(&["a | secret: hash"]).up_stopped().items(&["a | secret: hush"]).up_planned();
    an_input_more_than_planned: of_items(&["a | size: 1"]).plan()
        .items(&["a | size: 1, value: 2"]).up_stopped();
    an_input_less_than_planned: of_items(&["a | size: 1, value: 2"]).plan().items(&["a | size: 1"]).up_stopped();
    a_resource_more_than_planned: of_items(&["a | size: 1"]).plan()
        .items(&["a | size: 1", "b | size: 1 | dependsOn: ['${a}']"]).up_stopped();
    a_resource_less_than_planned: of_items(&["a | size: 1", "b | size: 1"]).plan()
        .items(&["a | size: 1"]).up_stopped();
    a_deletion_is_planned: of_items(TWO).up().items(&[TWO[0]]).plan().up_planned();
    a_deletion_that_was_not_planned: of_items(&["a", "b", "c"]).up().items(&["a", "b"]).plan()
        .items(&["a"]).up_stopped();
    what_was_to_be_deleted_comes_back: of_items(ALONG).up().items(&["a"]).plan().items(ALONG).up_stopped();
    a_replacement_is_planned: of_items(CHAIN).up().items(&["a | kind: y", CHAIN[1], CHAIN[2]]).plan().up_planned();
    a_replacement_that_deletes_first_is_planned: of_items(DELETED_FIRST).up()
        .items(&["a | name: one, kind: y | deleteBeforeReplace: true", DELETED_FIRST[1]]).plan().up_planned();
    a_replacement_where_an_update_was_planned: of_items(&["a | size: 1, kind: x"]).up()
        .items(&["a | size: 2, kind: x"]).plan().items(&["a | size: 2, kind: y"]).up_stopped();
    what_is_done_already: of_items(TWO).plan().up().up_planned();
    what_is_deleted_already: of_items(TWO).up().items(&[TWO[0]]).plan().up().up_planned();
    the_state_moved_on: of_items(&["a | size: 1, value: 1"]).up().items(&["a | size: 2, value: 1"]).plan()
        .items(&["a | size: 1, value: 9"]).up().items(&["a | size: 2, value: 1"]).up_stopped();
    others_added_something: of_items(&["a | size: 1"]).plan().items(&["b | size: 1"]).up()
        .items(&["a | size: 1", "b | size: 1"]).up_planned();
    protection_is_planned: of_items(&["a | size: 1"]).plan().items(&["a | size: 1 | protect: true"]).up_stopped();
    ignored_changes_are_planned: of_items(&["a | size: 1"]).up().items(&["a | size: 2 | ignoreChanges: [size]"])
        .plan().up_planned().plan().items(&["a | size: 2 | ignoreChanges: [value]"]).up_stopped();
    dependencies_are_planned: of_items(&[ALONG[0], ALONG[1], "c | size: 1 | dependsOn: ['${a}', '${b}']"]).plan()
        .items(&[ALONG[0], ALONG[1], "c | size: 1 | dependsOn: ['${b}']"]).up_stopped();
    parents_are_planned: of_items(&["a", "b | size: 1 | parent: '${a}'"]).plan().up_planned().plan().up_planned();
    time_limits_are_planned: of_items(&["a | size: 1 | customTimeouts: { create: 5m }"]).plan()
        .items(&["a | size: 1 | customTimeouts: { create: 6m }"]).up_stopped();
    a_new_name_is_planned: of_items(&["a | size: 1"]).up().items(&["z | size: 2 | aliases: [{ name: a }]"])
        .plan().up_planned();
    an_alias_that_was_not_planned: of_items(&["z | size: 1"]).plan()
        .items(&["z | size: 1 | aliases: [{ name: a }]"]).up_stopped();
    an_explicit_provider_is_planned: yaml(EXPLICIT).plan().up_planned().plan()
        .program(&EXPLICIT.replace("north", "south")).up_stopped();
    an_import_is_planned: of_items(&["a | size: 1 | import: there"]).appear("there", json!({ "size": 1 }))
        .plan().up_planned();
    // `b` comes after `a`, so that what is asked of `a` does not depend on when `b` stops the update.
    targets_are_planned: of_items(&["a | size: 1", "b | value: '${a.name}'"]).plan_with(&["--target", &item("a")])
        .up_planned_with(&["--target", &item("a")]).up_stopped();
    a_refresh_is_planned: of_items(&["a | size: 1"]).up().tamper("a", "size", json!(5)).plan_with(&["--refresh"])
        .up_planned_with(&["--refresh"]);
    names_are_made_up_once: of_items(&["a | size: 1", "b | value: '${a.name}'"]).plan().up_planned();
}

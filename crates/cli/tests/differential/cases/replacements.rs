//! Replacements, either order, and what goes along with them.

use crate::case::{item, of_items};

const CHAIN: &[&str] = &["a | kind: x", "b | kind: '${a.name}'", "c | value: '${b.name}'"];

cases! {
    create_before_delete: of_items(&["a | kind: x"]).up().items(&["a | kind: y"]).preview().up().up();
    delete_before_replace_by_the_provider: of_items(&["a | kind: x, deleteBeforeReplace: true"]).up()
        .items(&["a | kind: y, deleteBeforeReplace: true"]).preview().up();
    delete_before_replace_by_the_option: of_items(&["a | kind: x | deleteBeforeReplace: true"]).up()
        .items(&["a | kind: y | deleteBeforeReplace: true"]).preview().up();
    a_replacement_replaces_its_dependents: of_items(CHAIN).up()
        .items(&["a | kind: y", CHAIN[1], CHAIN[2]]).preview().up();
    delete_before_replace_takes_dependents_along: of_items(&[
        "a | kind: x | deleteBeforeReplace: true", CHAIN[1], CHAIN[2],
    ]).up().items(&["a | kind: y | deleteBeforeReplace: true", CHAIN[1], CHAIN[2]]).preview().up();
    a_dependent_that_is_only_updated: of_items(&["a | kind: x | deleteBeforeReplace: true", "b | value: '${a.serial}'"])
        .up().items(&["a | kind: y | deleteBeforeReplace: true", "b | value: '${a.serial}'"]).preview().up();
    the_same_name_cannot_be_made_first: of_items(&["a | name: one, kind: x"]).up()
        .items(&["a | name: one, kind: y"]).up_fails()
        .items(&["a | name: one, kind: y | deleteBeforeReplace: true"]).up();
    replace_on_changes: of_items(&["a | size: 1, tags: { x: y } | replaceOnChanges: [size]"]).up()
        .items(&["a | size: 1, tags: { x: z } | replaceOnChanges: [size]"]).preview().up()
        .items(&["a | size: 2, tags: { x: z } | replaceOnChanges: [size]"]).preview().up();
    replace_on_changes_of_a_nested_path: of_items(&["a | tags: { x: y, z: w } | replaceOnChanges: ['tags.x']"]).up()
        .items(&["a | tags: { x: y, z: v } | replaceOnChanges: ['tags.x']"]).up()
        .items(&["a | tags: { x: q, z: v } | replaceOnChanges: ['tags.x']"]).up();
    replace_with: of_items(&["a | kind: x", "b | size: 1 | replaceWith: ['${a}']"]).up()
        .items(&["a | kind: y", "b | size: 1 | replaceWith: ['${a}']"]).preview().up();
    replacement_trigger: of_items(&["a | size: 1 | replacementTrigger: one"]).up()
        .items(&["a | size: 1 | replacementTrigger: one"]).up()
        .items(&["a | size: 1 | replacementTrigger: two"]).preview().up();
    replaced_on_demand: of_items(CHAIN).up().run(&["up", "--replace", &item("a")]);
    one_replaced_and_the_rest_left: of_items(CHAIN).up()
        .items(&["a | kind: x", CHAIN[1], "c | value: 'x-${b.name}'"]).run(&["up", "--target-replace", &item("b")]);
    tainted: of_items(&["a | kind: x", "b | value: 1"]).up()
        .run(&["state", "taint", &item("a"), "--yes", "--stack", "dev"]).preview().up().up();
    the_delete_of_a_replaced_one_fails: of_items(&["a | kind: x, failOn: delete"]).up()
        .items(&["a | kind: y"]).up_fails().up_fails().fails(&["destroy", "--continue-on-error"]);
    the_create_of_a_replacement_fails: of_items(&["a | kind: x", "b | value: '${a.name}'"]).up()
        .items(&["a | kind: y, failOn: create", "b | value: '${a.name}'"]).up_fails()
        .items(&["a | kind: y", "b | value: '${a.name}'"]).up();
    the_create_after_a_delete_fails: of_items(&["a | kind: x | deleteBeforeReplace: true"]).up()
        .items(&["a | kind: y, failOn: create | deleteBeforeReplace: true"]).up_fails().preview()
        .items(&["a | kind: y | deleteBeforeReplace: true"]).up();
    what_was_to_be_made_again_leaves_the_program: of_items(&["a | kind: x | deleteBeforeReplace: true", "b"]).up()
        .items(&["a | kind: y, failOn: create | deleteBeforeReplace: true, dependsOn: ['${b}']", "b"]).up_fails()
        .items(&["b"]).preview().up();
}

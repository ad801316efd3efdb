//! Commands for a part of the stack.

use crate::case::{item, of_items};
use serde_json::json;

const THREE: &[&str] = &["a | size: 1", "b | value: '${a.name}', size: 1", "c | size: 1"];
const CHANGED: &[&str] = &["a | size: 2", "b | value: '${a.name}', size: 2", "c | size: 2"];

cases! {
    an_update_of_one: of_items(THREE).up().items(CHANGED).run(&["preview", "--target", &item("a")])
        .run(&["up", "--target", &item("a")]).up();
    an_update_of_one_and_what_depends_on_it: of_items(THREE).up().items(CHANGED)
        .run(&["preview", "--target", &item("a"), "--target-dependents"])
        .run(&["up", "--target", &item("a"), "--target-dependents"]);
    an_update_by_pattern: of_items(THREE).up().items(CHANGED).run(&["up", "--target", "**::c"]);
    an_update_of_nobody: of_items(THREE).up().items(CHANGED).fails(&["up", "--target", &item("nobody")]);
    only_one_is_created: of_items(THREE).run(&["up", "--target", &item("c")]).up();
    one_that_needs_another_is_created: of_items(&THREE[..2]).fails(&["preview", "--target", &item("b")])
        .fails(&["up", "--target", &item("b")]);
    one_is_left_out: of_items(THREE).up().items(CHANGED).run(&["preview", "--exclude", &item("a")])
        .run(&["up", "--exclude", &item("a")]);
    one_is_left_out_with_what_depends_on_it: of_items(THREE).up().items(CHANGED)
        .run(&["up", "--exclude", &item("a"), "--exclude-dependents"]);
    a_removed_one_outside_the_target_stays: of_items(THREE).up().items(&["a | size: 2"])
        .fails(&["up", "--target", &item("a")]).run(&["up", "--target", &item("c")]).up();
    a_removed_target_with_dependents: of_items(THREE).up().items(&["c | size: 2"])
        .fails(&["up", "--target", &item("a")])
        .run(&["up", "--target", &item("a"), "--target-dependents"]);
    a_destroy_of_one: of_items(THREE).up().run(&["destroy", "--target", &item("c")])
        .fails(&["destroy", "--target", &item("a")])
        .run(&["destroy", "--target", &item("a"), "--target-dependents"]).destroy();
    a_destroy_of_all_but_one: of_items(THREE).up().run(&["destroy", "--exclude", &item("c")]);
    a_destroy_of_all_but_what_is_needed: of_items(THREE).up().run(&["destroy", "--exclude", &item("b")]);
    a_refresh_of_one: of_items(THREE).up().tamper("a", "size", json!(8)).vanish("c")
        .run(&["refresh", "--target", &item("a")]).refresh();
    a_refresh_of_one_and_what_depends_on_it: of_items(THREE).up().tamper("b", "size", json!(8)).vanish("c")
        .run(&["refresh", "--target", &item("a"), "--target-dependents"]);
    a_refresh_of_all_but_one: of_items(THREE).up().tamper("a", "size", json!(8)).tamper("c", "size", json!(9))
        .run(&["refresh", "--exclude", &item("a")]);
    a_destroy_by_pattern: of_items(THREE).up().run(&["destroy", "--target", "**Item::c"])
        .run(&["destroy", "--target", "**::a", "--target-dependents"]);
    a_target_is_replaced_with_what_it_needs: of_items(&["a | kind: x", "b | kind: '${a.name}'", "c"]).up()
        .items(&["a | kind: y", "b | kind: '${a.name}'", "c | size: 3"])
        .run(&["up", "--target", &item("a"), "--target", &item("b")]);
}

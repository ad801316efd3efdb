//! The world changes behind the engine's back.

use crate::case::{of_items, yaml};
use serde_json::json;

const THREE: &[&str] = &["a | size: 1, secret: hush", "b | value: '${a.name}'", "c | value: '${b.name}'"];

cases! {
    outputs_alone_are_compared_when_asked_for: of_items(&["a | size: 1", "b"]).up().tamper("a", "size", json!(2))
        .variable("PULUMI_ENABLE_LEGACY_REFRESH_DIFF", "true").refresh().preview().up();
    nothing_changed: of_items(THREE).up().refresh().run(&["refresh", "--expect-no-changes"]);
    an_object_changed: of_items(THREE).up().tamper("a", "size", json!(5)).tamper("b", "tags", json!({ "new": "tag" }))
        .refresh().preview().up();
    an_object_vanished: of_items(THREE).up().vanish("c").refresh().preview().up();
    an_object_that_others_need_vanished: of_items(THREE).up().vanish("b").refresh().preview().up();
    a_parent_vanished: of_items(&["a", "b | size: 1 | parent: '${a}'"]).up().vanish("a").refresh().up();
    a_refresh_before_the_update: of_items(THREE).up().tamper("a", "size", json!(5)).vanish("c")
        .run(&["preview", "--refresh"]).run(&["up", "--refresh"]);
    a_refresh_before_the_destroy: of_items(THREE).up().vanish("c").run(&["destroy", "--refresh"]);
    a_read_fails: of_items(&["a | failOn: read", "b"]).up().tamper("b", "size", json!(3)).fails(&["refresh"]);
    a_refresh_of_what_was_half_done: of_items(&["a | initError: true"]).up_fails().refresh().items(&["a"]).up();
    a_refresh_by_the_program: of_items(THREE).up().tamper("a", "size", json!(5)).items(&[THREE[0], THREE[1]])
        .run(&["refresh", "--run-program"]).up();
    a_destroy_by_the_program: yaml("
resources:
  p: { type: 'pulumi:providers:ledger', properties: { zone: north } }
  a: { type: ledger:Item, options: { provider: '${p}' } }
").up().program("
resources:
  p: { type: 'pulumi:providers:ledger', properties: { zone: north, note: new } }
  a: { type: ledger:Item, options: { provider: '${p}' } }
").run(&["destroy", "--run-program"]);
    a_replacement_after_a_change_outside: of_items(THREE).up().tamper("a", "kind", json!("z"))
        .run(&["up", "--refresh"]);
}

//! Operations that fail, are half done, or whose provider dies.

use crate::case::{of_items, yaml};
use serde_json::json;

cases! {
    a_create_fails: of_items(&["a", "b | failOn: create, value: '${a.name}'", "c | value: '${b.name}'"]).up_fails()
        .items(&["a", "b | value: '${a.name}'", "c | value: '${b.name}'"]).up();
    an_update_fails: of_items(&["a | size: 1"]).up().items(&["a | size: 2, failOn: update"]).up_fails()
        .items(&["a | size: 2"]).up();
    a_delete_fails: of_items(&["a | failOn: delete", "b | value: '${a.name}'"]).up()
        .program("resources: {}\n").up_fails().destroy_fails()
        .items(&["a | size: 1"]).up().destroy();
    a_check_fails: of_items(&["a | failOn: check", "b | value: '${a.name}'"]).preview_fails().up_fails();
    a_check_of_an_existing_one_fails: of_items(&["a | size: 1"]).up().items(&["a | size: -1"]).up_fails().up_fails();
    a_diff_fails: of_items(&["a | size: 1"]).up().items(&["a | size: 2, failOn: diff"]).preview_fails().up_fails();
    a_create_is_half_done: of_items(&["a | initError: true, size: 1"]).up_fails().up_fails()
        .items(&["a | size: 1"]).preview().up();
    an_update_is_half_done: of_items(&["a | size: 1"]).up().items(&["a | size: 2, initError: true"]).up_fails()
        .items(&["a | size: 2"]).up().up();
    the_rest_goes_on: of_items(&["a | failOn: create", "b | value: '${a.name}'", "c", "d | value: '${c.name}'"])
        .fails(&["up", "--continue-on-error"])
        .items(&["a", "b | value: '${a.name}'", "c", "d | value: '${c.name}'"]).up();
    a_destroy_goes_on: of_items(&["a | failOn: delete", "b | value: '${a.name}'", "c", "d | value: '${c.name}'"]).up()
        .fails(&["destroy", "--continue-on-error"]);
    stack_outputs_after_a_failure: yaml("
resources:
  a: { type: ledger:Item, properties: { size: 1 } }
outputs: { first: '${a.name}', second: 2 }
").up().program("
resources:
  a: { type: ledger:Item, properties: { size: 2, failOn: update } }
outputs: { first: '${a.serial}', third: 3 }
").up_fails();
    nothing_may_change: of_items(&["a | size: 1"]).fails(&["up", "--expect-no-changes"])
        .run(&["up", "--expect-no-changes"]).run(&["preview", "--expect-no-changes"])
        .items(&["a | size: 2"]).fails(&["preview", "--expect-no-changes"]);
    the_provider_dies_before_it_creates: of_items(&["a"]).variable("LEDGER_KILL_AT", "create:1").up_fails().up();
    the_provider_dies_after_it_created: of_items(&["a", "b | value: '${a.name}'"])
        .variable("LEDGER_KILL_AT", "create:1:after").up_fails();
    a_lost_creation_is_forgotten: of_items(&["a"]).appear("a", json!({})).lost_creation()
        .run(&["refresh", "--clear-pending-creates"]).up();
    the_provider_dies_while_it_updates: of_items(&["a | size: 1"]).up()
        .items(&["a | size: 2"]).variable("LEDGER_KILL_AT", "update:1:after").up_fails().up();
    the_provider_dies_while_it_deletes: of_items(&["a | size: 1", "b"]).up()
        .items(&["b"]).variable("LEDGER_KILL_AT", "delete:1:after").up_fails().up();
    a_program_that_cannot_be_read: of_items(&["a"]).up().program("resources:\n  a: { type: nowhere:Thing }\n")
        .preview_fails().up_fails();
}

//! Reading, importing, calling functions.

use crate::case::{of_items, yaml};
use serde_json::json;

const READ: &str = "
resources:
  a: { type: ledger:Item, get: { id: there } }
  b: { type: ledger:Item, properties: { value: '${a.value}', secret: '${a.token}' } }
outputs: { serial: '${a.serial}' }
";

const LOOKUP: &str = "
resources:
  a: { type: ledger:Item, properties: { value: v } }
variables:
  found: { 'fn::invoke': { function: 'ledger:index:lookup', arguments: { id: '${a.name}' } } }
  none: { 'fn::invoke': { function: 'ledger:index:lookup', arguments: { id: nobody } } }
outputs: { found: '${found}', value: '${found.value}', token: '${found.token}', none: '${none.found}' }
";

cases! {
    a_resource_is_read: yaml(READ).appear("there", json!({ "value": "v" })).preview().up().up()
        .tamper("there", "value", json!("w")).up().destroy();
    another_one_is_read: yaml(READ).appear("there", json!({ "value": "v" })).appear("here", json!({ "value": "h" }))
        .up().program(&READ.replace("id: there", "id: here")).preview().up();
    what_is_read_vanishes: yaml(READ).appear("there", json!({ "value": "v" })).up().vanish("there").up();
    what_is_read_is_not_there: yaml(READ).preview().up();
    a_read_one_becomes_owned: yaml(READ).appear("there", json!({ "value": "v" })).up()
        .items(&["a | value: own", "b | value: v"]).preview().up();
    an_owned_one_becomes_read: of_items(&["a | name: mine, value: v"]).up()
        .program("resources:\n  a: { type: ledger:Item, get: { id: mine } }\n").preview().up().destroy();
    an_owned_one_becomes_read_while_all_is_destroyed: of_items(&["a | name: mine, value: v"]).up()
        .program("resources:\n  a: { type: ledger:Item, get: { id: mine } }\n").run(&["destroy", "--run-program"]);
    a_resource_is_imported: of_items(&["a | name: there, value: v | import: there"])
        .appear("there", json!({ "value": "v" })).preview().up()
        .items(&["a | name: there, value: v"]).up().items(&["a | name: there, value: w"]).up().destroy();
    an_import_that_differs: of_items(&["a | name: there, value: w | import: there"])
        .appear("there", json!({ "value": "v" })).preview().up();
    an_import_that_must_be_replaced: of_items(&["a | kind: y | import: there"])
        .appear("there", json!({ "kind": "x" })).preview().up_fails();
    an_import_of_nothing: of_items(&["a | value: w | import: there"]).up_fails();
    functions: yaml(LOOKUP).preview().up().preview().up();
    a_function_that_fails: yaml("
variables:
  found: { 'fn::invoke': { function: 'ledger:index:lookup', arguments: { id: x, fail: true } } }
resources:
  a: { type: ledger:Item, properties: { value: '${found.value}' } }
").up_fails();
    unknown_values_in_a_preview: yaml("
resources:
  a: { type: ledger:Item, properties: { size: 1 } }
  b: { type: ledger:Item, properties: { value: { s: '${a.serial}', list: ['${a.token}', 1] }, kind: '${a.serial}' } }
  c: { type: ledger:Item, properties: { name: 'x-${b.serial}' } }
outputs: { serial: '${c.serial}' }
").preview().up().preview();
}

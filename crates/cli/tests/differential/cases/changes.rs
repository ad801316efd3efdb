//! Creates, updates, nothing to do, removals.

use crate::case::yaml;

const TWO: &str = "
resources:
  a:
    type: ledger:Item
    properties: { size: 1, value: { x: [1, true, s] }, secret: hush }
  b:
    type: ledger:Item
    properties: { value: '${a.token}', tags: { of: '${a.name}' } }
outputs:
  token: ${a.token}
  serial: ${b.serial}
";

cases! {
    creates_and_nothing_to_do: yaml(TWO).preview().up().preview().up().destroy();
    updates_in_place: yaml(TWO).up().program(&TWO.replace("size: 1", "size: 2")).preview().up();
    a_removed_resource_is_deleted: yaml(TWO).up().program("
resources:
  a:
    type: ledger:Item
    properties: { size: 1, value: { x: [1, true, s] }, secret: hush }
").preview().up();
    an_empty_program_deletes_everything: yaml(TWO).up().program("resources: {}\n").up();
}

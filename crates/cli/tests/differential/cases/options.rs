//! Resource options that no other topic has.

use crate::case::{of_items, yaml};

cases! {
    ignore_changes: of_items(&["a | size: 1, tags: { x: y, z: w } | ignoreChanges: [size, 'tags.x']"]).up()
        .items(&["a | size: 2, tags: { x: q, z: w } | ignoreChanges: [size, 'tags.x']"]).preview().up()
        .items(&["a | size: 2, tags: { x: q, z: v } | ignoreChanges: [size, 'tags.x']"]).up()
        .items(&["a | size: 2, tags: { x: q, z: v }"]).up();
    ignore_changes_of_what_is_new: of_items(&["a | size: 1"]).up()
        .items(&["a | size: 1, value: 3 | ignoreChanges: [value]"]).up();
    ignore_all_changes: of_items(&["a | size: 1, kind: x"]).up()
        .items(&["a | size: 2, kind: y, value: 3 | ignoreChanges: ['*']"]).preview().up();
    protect: of_items(&["a | size: 1 | protect: true", "b"]).up()
        .items(&["b"]).preview_fails().up_fails()
        .items(&["a | kind: x | protect: true, dependsOn: ['${b}']", "b"]).up_fails()
        .destroy_fails()
        .items(&["a | size: 1", "b"]).up().destroy();
    protect_of_a_parent_is_inherited: of_items(&["a | size: 1 | protect: true", "b | size: 1 | parent: '${a}'"]).up()
        .destroy_fails().run(&["destroy", "--exclude-protected"]);
    unprotected_ones_are_destroyed: of_items(&["a | size: 1 | protect: true", "b", "c | value: '${b.name}'"]).up()
        .run(&["destroy", "--exclude-protected"]);
    retain_on_delete: of_items(&["a | size: 1 | retainOnDelete: true", "b"]).up().items(&["b"]).preview().up();
    a_retained_one_is_replaced: of_items(&["a | kind: x | retainOnDelete: true"]).up()
        .items(&["a | kind: y | retainOnDelete: true"]).up().destroy();
    deleted_with: of_items(&["a", "b | size: 1 | deletedWith: '${a}'"]).up().destroy();
    deleted_with_one_that_is_replaced: of_items(&["a | kind: x", "b | size: 1 | deletedWith: '${a}'"]).up()
        .items(&["a | kind: y", "b | size: 1 | deletedWith: '${a}'"]).preview().up().up();
    deleted_with_one_that_stays: of_items(&["a", "b | size: 1 | deletedWith: '${a}'"]).up().items(&["a"]).up();
    retained_ones_survive_a_destroy: of_items(&["a | size: 1 | retainOnDelete: true", "b | value: '${a.name}'"]).up()
        .destroy();
    additional_secret_outputs: yaml("
resources:
  a:
    type: ledger:Item
    properties: { value: open, tags: { k: v } }
    options: { additionalSecretOutputs: [value, serial] }
  b: { type: ledger:Item, properties: { value: '${a.value}' } }
outputs: { value: '${a.value}', serial: '${a.serial}', tags: '${a.tags}' }
").up().up();
    secrets_in_and_out: yaml("
variables:
  s: { 'fn::secret': { deep: hush, list: [1] } }
resources:
  a: { type: ledger:Item, properties: { value: '${s}', tags: { k: { 'fn::secret': tag } } } }
  b: { type: ledger:Item, properties: { value: '${a.value.deep}', secret: '${a.token}' } }
outputs: { all: '${a.value}', deep: '${a.value.deep}', tags: '${a.tags}' }
").preview().up().up();
    a_value_becomes_secret: of_items(&["a | value: x"]).up()
        .items(&["a | value: { 'fn::secret': x }"]).preview().up().items(&["a | value: x"]).up();
    custom_timeouts: of_items(&["a | kind: x | customTimeouts: { create: 5m, update: 90s, delete: 1h }"]).up()
        .items(&["a | kind: x, size: 2 | customTimeouts: { create: 5m, update: 90s, delete: 1h }"]).up()
        .items(&["a | kind: y, size: 2 | customTimeouts: { create: 6m, update: 90s, delete: 1h }"]).up().destroy();
    hidden_diffs: of_items(&["a | size: 1 | hideDiffs: [size]"]).up()
        .items(&["a | size: 2 | hideDiffs: [size]"]).preview().up();
}

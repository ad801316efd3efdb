//! Creates, updates, nothing to do, removals, names that change.

use crate::case::{item, items, of_items, yaml};

const TWO: &[&str] = &[
    "a | size: 1, value: { x: [1, true, s] }, secret: hush",
    "b | value: '${a.token}', tags: { of: '${a.name}' }",
];

const OUTPUTS: &str =
    "outputs:\n  token: ${a.token}\n  serial: ${b.serial}\n  nested: { list: [1, '${a.name}'] }\n";

cases! {
    creates_and_nothing_to_do: yaml(&(items(TWO) + OUTPUTS)).preview().up().preview().up().destroy();
    updates_in_place: of_items(TWO).up()
        .items(&["a | size: 2, value: { x: [1, false] }, secret: hush", TWO[1]]).preview().up();
    a_property_is_added_and_another_removed: of_items(&["a | size: 1, tags: { x: y }"]).up()
        .items(&["a | tags: { x: y, z: w }, value: 7"]).preview().up();
    a_removed_resource_is_deleted: of_items(TWO).up().items(&[TWO[0]]).preview().up();
    an_empty_program_deletes_everything: of_items(TWO).up().program("resources: {}\n").up();
    a_renamed_resource_is_made_anew: of_items(&["a | size: 1"]).up().items(&["z | size: 1"]).up();
    an_alias_keeps_a_renamed_resource: of_items(&["a | size: 1", "b | value: '${a.name}'"]).up()
        .items(&["z | size: 1 | aliases: [{ name: a }]", "b | value: '${z.name}'"]).preview().up()
        .items(&["z | size: 1", "b | value: '${z.name}'"]).up();
    an_alias_by_urn_takes_another_type: of_items(&["a | size: 1"]).up().program(&format!(
        "resources:\n  n:\n    type: ledger:Note\n    properties: {{ size: 2 }}\n    options: {{ aliases: ['{}'] }}\n",
        item("a"),
    )).preview().up();
    a_program_grows_and_shrinks: of_items(&["a | size: 1"]).up()
        .items(&["a | size: 1", "b | value: '${a.serial}'", "c | value: '${b.serial}'"]).up()
        .items(&["a | size: 2", "c | value: '${a.serial}'"]).up()
        .items(&["c | value: 1"]).up();
    many_at_a_time: of_items(&["a", "b", "c", "d | value: '${a.token}'", "e | value: ['${b.name}', '${c.name}']"])
        .run(&["up", "-p", "8"]).run(&["destroy", "-p", "8"]);
    a_chain_is_destroyed_from_its_end: of_items(&["a", "b | value: '${a.serial}'", "c | value: '${b.serial}'"])
        .up().destroy();
    depends_on_orders_without_a_property: of_items(&["a", "b | size: 1 | dependsOn: ['${a}']"]).up()
        .items(&["a", "b | size: 1"]).up().destroy();
    parents: of_items(&["a", "b | size: 1 | parent: '${a}'", "c | size: 2 | parent: '${b}'"]).up()
        .items(&["a", "b | size: 1 | parent: '${a}'", "c | size: 2 | parent: '${a}'"]).preview().up().destroy();
    values_of_every_kind: of_items(&[
        "a | value: { n: null, empty: {}, list: [], deep: [[1, 2.5], { k: 'ü✓' }], big: 123456789012 }, tags: { '': e }",
        "b | value: { 'fn::toJSON': '${a.value}' }",
        "c | value: { 'fn::stringAsset': text }",
    ]).up().up();
}

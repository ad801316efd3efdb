//! Components of a provider, with the resources in them.

use crate::case::{Case, Ledger, yaml};

const GROUP: &str = "
resources:
  g: { type: ledger:Group, properties: { count: 2, kind: x, value: { k: v }, secret: hush } }
  a: { type: ledger:Item, properties: { value: '${g.names}', secret: '${g.token}' } }
outputs: { names: '${g.names}', token: '${g.token}' }
";

const WITH_PROVIDER: &str = "
resources:
  p: { type: 'pulumi:providers:ledger', properties: { zone: north } }
  g: { type: ledger:Group, properties: { count: 1 }, options: { providers: ['${p}'] } }
";

/// A life of a component and a resource, with changes in between.
fn life(ledger: Ledger) -> Case {
    yaml(GROUP)
        .ledger(ledger)
        .preview()
        .up()
        .up()
        .program(&GROUP.replace("count: 2", "count: 3").replace("k: v", "k: w"))
        .preview()
        .up()
        .program(&GROUP.replace("kind: x", "kind: y"))
        .up()
        .refresh()
        .destroy()
}

/// A component that fails when its only item is made, and is then mended.
fn fails(ledger: Ledger) -> Case {
    yaml(&GROUP.replace("count: 2", "count: 1, fail: true")).ledger(ledger).up_fails().program(GROUP).up()
}

cases! {
    a_component_lives: life(Ledger::Go);
    a_component_lives_in_node: life(Ledger::Node);
    a_component_lives_in_python: life(Ledger::Python);
    a_component_leaves: yaml(GROUP).up().program("resources: {}\n").up();
    a_component_fails: fails(Ledger::Go);
    a_component_fails_in_node: fails(Ledger::Node);
    a_component_fails_in_python: fails(Ledger::Python);
    a_component_has_a_provider: yaml(WITH_PROVIDER).preview().up()
        .program(&WITH_PROVIDER.replace("north", "south")).up().destroy();
    an_item_of_a_component_fails: yaml("
resources:
  g: { type: ledger:Group, properties: { count: 2, kind: x } }
").up().program("
resources:
  a: { type: ledger:Item }
  g: { type: ledger:Group, properties: { count: 3, kind: '${a.name}' }, options: { protect: true } }
").up().destroy_fails();
    a_component_is_renamed: yaml("resources:\n  g: { type: ledger:Group, properties: { count: 1 } }\n").up()
        .program("resources:\n  h: { type: ledger:Group, properties: { count: 1 }, options: { aliases: [{ name: g }] } }\n")
        .preview().up();
    a_component_depends_on_another: yaml("
resources:
  g: { type: ledger:Group, properties: { count: 1 } }
  h: { type: ledger:Group, properties: { count: 1, value: '${g.names[0]}' }, options: { dependsOn: ['${g}'] } }
  i: { type: ledger:Item, properties: { size: 1 }, options: { dependsOn: ['${h}'], parent: '${g}' } }
").up().destroy();
}

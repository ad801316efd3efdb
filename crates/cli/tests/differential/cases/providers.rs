//! Default and explicit providers, and their configuration.

use crate::case::{items, of_items, yaml};

const EXPLICIT: &str = "
resources:
  p: { type: 'pulumi:providers:ledger', properties: { zone: north, note: one, key: hush } }
  a: { type: ledger:Item, properties: { size: 1 }, options: { provider: '${p}' } }
  b: { type: ledger:Item, properties: { value: '${a.zone}' }, options: { parent: '${a}' } }
";

cases! {
    the_default_provider_is_configured: of_items(&["a | size: 1"]).config("ledger:zone", "north")
        .secret_config("ledger:key", "hush").preview().up().up();
    the_default_providers_configuration_changes: of_items(&["a | size: 1"]).config("ledger:note", "one").up()
        .config("ledger:note", "two").preview().up();
    the_default_provider_is_replaced: of_items(&["a | size: 1", "b | value: '${a.zone}'"])
        .config("ledger:zone", "north").up().config("ledger:zone", "south").preview().up();
    an_explicit_provider: yaml(EXPLICIT).preview().up().up().destroy();
    an_explicit_provider_is_updated: yaml(EXPLICIT).up().program(&EXPLICIT.replace("note: one", "note: two"))
        .preview().up();
    an_explicit_provider_is_replaced: yaml(EXPLICIT).up().program(&EXPLICIT.replace("north", "south")).preview().up();
    a_resource_moves_to_another_provider: yaml(EXPLICIT).up()
        .program(&(EXPLICIT.replace("'${p}'", "'${q}'") +
            "  q: { type: 'pulumi:providers:ledger', properties: { zone: north, note: two } }\n")).preview().up();
    a_resource_moves_to_a_provider_elsewhere: yaml(EXPLICIT).up()
        .program(&(EXPLICIT.replace("'${p}'", "'${q}'") +
            "  q: { type: 'pulumi:providers:ledger', properties: { zone: south } }\n")).preview().up();
    a_provider_whose_configuration_is_not_known_yet: yaml("
resources:
  a: { type: ledger:Item, properties: { size: 1 } }
  p: { type: 'pulumi:providers:ledger', properties: { note: '${a.token}' } }
  b: { type: ledger:Item, properties: { size: 1 }, options: { provider: '${p}' } }
  c: { type: ledger:Item, properties: { value: '${b.serial}' } }
").preview().up().preview();
    a_version_is_asked_for: of_items(&["a | size: 1 | version: 1.0.0"]).up()
        .items(&["a | size: 1 | version: 1.1.0"]).preview().up()
        .items(&["a | size: 2"]).up();
    one_of_two_asks_for_a_version: yaml("
resources:
  p: { type: 'pulumi:providers:ledger', properties: { zone: north } }
  a: { type: ledger:Item, properties: { size: 1 }, options: { version: 1.0.0 } }
  b: { type: ledger:Item, properties: { size: 1 } }
  c: { type: ledger:Item, properties: { size: 1 }, options: { provider: '${p}' } }
").preview().up().items(&["a | size: 2", "b | size: 2"]).preview().up();
    default_providers_are_switched_off: of_items(&["a | size: 1"])
        .config("pulumi:disable-default-providers", "[\"ledger\"]").up_fails();
    an_explicit_provider_leaves_with_its_resources: yaml(EXPLICIT).up().program(&items(&["z"])).up();
}

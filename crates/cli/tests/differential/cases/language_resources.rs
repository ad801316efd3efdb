//! Resources of the YAML language and their options.

use crate::case::{item, of_items, yaml};
use serde_json::json;

cases! {
    short_and_odd_types: yaml("resources:
  a: { type: ledger:Item }
  b: { type: 'ledger:index:Item' }
  c: { type: 'ledger:index/item:Item' }
").up_fails();
    types_in_another_case: yaml("resources:
  a: { type: ledger:item }
  b: { type: 'LEDGER:index:note' }
").up_fails();
    a_type_in_another_case: yaml("resources: { a: { type: 'ledger:index:item', name: other } }\n").up();
    names_of_fields_in_another_case: yaml("resources: { a: { Type: ledger:Item, Properties: { size: 1 }, options: { Protect: false } } }\n").up();
    properties_from_a_variable: yaml("variables: { p: { size: 3, value: '${b.name}' } }
resources: { a: { type: ledger:Item, properties: '${p}' }, b: { type: ledger:Item } }
").preview().up_fails();
    plain_properties_from_a_variable: yaml("variables: { p: { size: 3, value: [1], secret: s } }
resources: { a: { type: ledger:Item, properties: '${p}' } }
").preview().up();
    properties_from_a_call: yaml("variables: { p: { 'fn::invoke': { function: ledger:lookup, arguments: { id: there } } } }
resources: { a: { type: ledger:Item, properties: { value: '${p}' } } }
").appear("there", json!({ "value": "v" })).up();
    a_reference_to_a_resource: of_items(&["a", "b | value: '${a}'", "c | value: ['${b}', { k: '${a}' }]"]).preview().up();
    every_list_of_an_option: of_items(&[
        "a | size: 1, value: { x: 1 } | additionalSecretOutputs: [size], ignoreChanges: [value.x], replaceOnChanges: [tags], hideDiffs: [size]",
    ]).up().items(&[
        "a | size: 2, value: { x: 2 } | additionalSecretOutputs: [size], ignoreChanges: [value.x], replaceOnChanges: [tags], hideDiffs: [size]",
    ]).preview().up();
    timeouts_from_config: yaml("config: { t: { type: string, default: 5m } }
resources: { a: { type: ledger:Item, options: { customTimeouts: { create: '${t}', update: 1h30m, delete: 90s } } } }
").up();
    protection_from_config: yaml("config: { p: { type: boolean, default: true } }
resources: { a: { type: ledger:Item, options: { protect: '${p}' } }, b: { type: ledger:Item, options: { parent: '${a}' } } }
").up();
    deleted_with_and_replace_with: yaml("resources:
  a: { type: ledger:Item, properties: { kind: x } }
  b: { type: ledger:Item, options: { deletedWith: '${a}', dependsOn: ['${a}'], replaceWith: ['${a}'] } }
").up().program("resources:
  a: { type: ledger:Item, properties: { kind: y } }
  b: { type: ledger:Item, options: { deletedWith: '${a}', dependsOn: ['${a}'], replaceWith: ['${a}'] } }
").preview().up().destroy();
    a_replacement_trigger: of_items(&["a | size: 1 | replacementTrigger: { v: [1, x] }"]).up()
        .items(&["a | size: 1 | replacementTrigger: { v: [2, x] }"]).preview().up();
    a_trigger_from_a_resource: yaml("resources:
  a: { type: ledger:Item }
  b: { type: ledger:Item, options: { replacementTrigger: '${a.serial}' } }
").preview().up();
    retained_when_deleted: of_items(&["a | size: 1 | retainOnDelete: true"]).up().program("resources: {}\n").up();
    aliases_of_every_kind: of_items(&["a", "b", "c | size: 1 | parent: '${b}'"]).up().program(&format!(
        "resources:
  b: {{ type: ledger:Item }}
  x: {{ type: ledger:Item, options: {{ aliases: ['{}'] }} }}
  y: {{ type: ledger:Item, properties: {{ size: 1 }}, options: {{ aliases: [{{ name: c, parent: '${{b}}' }}] }} }}
", item("a"))).preview().up();
    an_alias_without_a_parent: of_items(&["a", "b"]).up()
        .items(&["b", "a | size: 1 | parent: '${b}', aliases: [{ noParent: true }]"]).preview().up();
    an_alias_from_config: yaml("resources: { a: { type: ledger:Item } }\n").up()
        .program("config: { old: { type: string, default: a } }
resources: { z: { type: ledger:Item, options: { aliases: [{ name: '${old}' }] } } }
").preview().up();
    a_default_provider: yaml("resources:
  a: { type: ledger:Item }
  p: { type: 'pulumi:providers:ledger', defaultProvider: true, properties: { zone: z } }
  b: { type: ledger:Note, options: { parent: '${a}' } }
variables: { found: { 'fn::invoke': { function: ledger:lookup, arguments: { id: x } } } }
outputs: { found: '${found.found}' }
").preview().up().destroy();
    a_provider_for_children: yaml("resources:
  p: { type: 'pulumi:providers:ledger', properties: { zone: z, key: hush } }
  a: { type: ledger:Item, options: { provider: '${p}' } }
  b: { type: ledger:Item, options: { parent: '${a}' } }
  c: { type: ledger:Item, options: { parent: '${b}', providers: ['${p}'] } }
  d: { type: ledger:Item, options: { parent: '${c}' } }
").preview().up();
    a_component_with_outputs_of_others: yaml("resources:
  a: { type: ledger:Item }
  g: { type: ledger:Group, properties: { count: 2, value: '${a.name}', secret: '${a.token}' } }
  b: { type: ledger:Item, properties: { value: '${g.names[1]}', tags: { t: '${g.urn}' } } }
outputs: { names: '${g.names}', token: '${g.token}' }
").preview().up().destroy();
    a_component_is_a_value: yaml("resources:
  g: { type: ledger:Group, properties: { count: 1 } }
  b: { type: ledger:Item, options: { dependsOn: ['${g}'] } }
").up();
    a_read_with_an_id_of_another: yaml("resources:
  a: { type: ledger:Item, properties: { name: there, value: v } }
  r: { type: ledger:Item, get: { id: '${a.id}' } }
  b: { type: ledger:Item, properties: { value: '${r.value}' } }
").up();
    a_read_with_state: yaml("resources:
  r: { type: ledger:Item, get: { id: there, state: { kind: k } } }
outputs: { value: '${r.value}', token: '${r.token}' }
").appear("there", json!({ "value": "v" })).up();
    a_version_of_a_plugin: of_items(&["a | size: 1 | version: 1.0.0", "b"]).up();
    a_stack_of_another_project: yaml("resources:
  organization/other/prod: { type: 'pulumi:pulumi:StackReference' }
  a: { type: ledger:Item, properties: { value: '${[\"organization/other/prod\"].outputs[\"x\"]}' } }
").other_stack("prod", "resources: {}\noutputs: { x: [1, { y: z }] }\n").preview().up();
    the_old_way_to_another_stack: yaml("resources:
  a: { type: ledger:Item, properties: { value: { 'fn::stackReference': [organization/other/prod, x] } } }
outputs: { hidden: { 'fn::stackReference': [organization/other/prod, h] } }
").other_stack("prod", "resources: {}\noutputs: { x: [1], h: { 'fn::secret': s } }\n").up();
    stash_of_a_secret: yaml("resources: { s: { type: 'pulumi:index:Stash', properties: { input: { a: { 'fn::secret': x }, b: [1] } } } }
outputs: { b: '${s.output.b}' }
").preview().up();
    a_main_file: yaml("").file("Main.yaml", &"resources: { a: { type: ledger:Item } }\noutputs: { n: '${a.name}' }\n").up();
    a_json_file: yaml("").file("Main.json", &"{\n\t\"resources\": {\"a\": {\"type\": \"ledger:Item\", \"properties\": {\"size\": 1e0}}}\n}\n").up();
    a_place_of_a_plugin: of_items(&["a | size: 1 | pluginDownloadURL: 'https://plugins.example'", "b"]).preview().up();
    a_place_of_a_plugin_for_all: yaml("resources:
  a: { type: ledger:Item, options: { pluginDownloadURL: 'https://plugins.example', version: 1.0.0 } }
  b: { type: ledger:Item, options: { version: 1.0.0 } }
  c: { type: ledger:Item, options: { pluginDownloadURL: 'https://plugins.example/other' } }
  p: { type: 'pulumi:providers:ledger' }
  q: { type: 'pulumi:providers:ledger', options: { version: 1.0.0 } }
  d: { type: ledger:Item, get: { id: there } }
variables:
  v: { 'fn::invoke': { function: ledger:lookup, arguments: { id: there } } }
outputs: { v: '${v.value}' }
").appear("there", json!({ "value": "v" })).up();
    variables_of_a_provider: yaml("resources:
  p: { type: 'pulumi:providers:ledger', properties: { zone: z }, options: { envVarMappings: { LEDGER_OTHER: LEDGER_ZONE } } }
  a: { type: ledger:Item, options: { provider: '${p}' } }
").preview().up().up();
    variables_of_no_provider: of_items(&["a | size: 1 | envVarMappings: { A: B }"]).up_fails();
    deleted_before_it_is_replaced: of_items(&["a | kind: x | deleteBeforeReplace: true", "b | value: '${a.name}'"]).up()
        .items(&["a | kind: y | deleteBeforeReplace: true", "b | value: '${a.name}'"]).preview().up();
    imported_by_an_option: of_items(&["a | size: 4 | import: there"]).appear("there", json!({ "size": 4 })).preview().up()
        .items(&["a | size: 4"]).up();
}

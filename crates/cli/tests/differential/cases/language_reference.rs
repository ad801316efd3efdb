//! What the published reference of the YAML language shows, example by example in its order, on the package `ledger`.

use crate::case::{Case, yaml};
use serde_json::json;

/// A program of variables, each of them an output.
fn variables(lines: &[&str]) -> Case {
    let names = lines.iter().map(|line| line.split(':').next().unwrap_or_default());
    let outputs: String = names.map(|name| format!("  {name}: ${{{name}}}\n")).collect();
    let variables: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    yaml(&format!("variables:\n{variables}resources: {{}}\noutputs:\n{outputs}"))
        .file("file.txt", &"some text\n")
        .file("folder/inside.txt", &"inside\n")
}

/// The values that paths lead into.
const ROOTS: &str = "
  root:
    foo: { items: [{ bar: [x, y] }] }
    bar: { quux: deep }
    'key with \"escaped\" quotes': escaped
    'key with a .': dotted
  list: [{ foo: zero }, { foo: one }]
  lists: [[{ foo: a }, { foo: b }]]
  'root key with \"escaped\" quotes': { foo: odd }
  'root key with a .': [first, second]";

/// A program that looks into variables by a path.
fn access(path: &str) -> Case {
    yaml(&format!(
        "variables:{ROOTS}
resources: {{}}
outputs:
  it: '${{{path}}}'
  text: 'a text with ${{{path}}}'
"
    ))
}

/// A program that looks into an output, whose type nobody knows, by a path that begins there.
fn into_an_output(path: &str) -> Case {
    let roots = ROOTS.replace("\n", "\n      ");
    yaml(&format!(
        "resources:
  a:
    type: ledger:Item
    properties:
      value:{roots}
outputs:
  it: '${{a.value{path}}}'
"
    ))
}

cases! {
    reference_config: yaml("config:
  salute: good morning
  place: { type: string }
  copies: { type: integer, default: 4 }
  loud: { type: boolean, default: false }
  pin: { type: string, secret: true }
  zones:
    type: array
    items: { type: string }
    default: [north, south]
  service:
    type: object
    default: { host: shop.example, port: 8443 }
resources:
  sign:
    type: ledger:Item
    properties: { tags: { Place: '${place}' }, size: '${copies}', value: ['${salute}', '${loud}', '${zones}'], secret: '${pin}' }
outputs:
  host: ${service.host}
  second: ${zones[1]}
").config("place", "attic").secret_config("pin", "1234").preview().up();
    reference_config_without_a_required_value: yaml("config:
  place: { type: string }
resources:
  sign: { type: ledger:Item, properties: { value: '${place}' } }
").up_fails();
    reference_config_by_paths: yaml("config:
  service:
    type: object
    default: { host: shop.example, port: 8443 }
resources: {}
outputs:
  host: ${service.host}
").run(&["config", "set", "--stack", "dev", "--path", "service.host", "other.example"]).up();
    reference_options: yaml("resources:
  west: { type: 'pulumi:providers:ledger', properties: { zone: west } }
  east: { type: 'pulumi:providers:ledger', properties: { zone: east } }
  before: { type: ledger:Item }
  above: { type: ledger:Item }
  one:
    type: ledger:Item
    options:
      provider: ${west}
      dependsOn:
        - ${before}
      parent: ${above}
  many:
    type: ledger:Item
    options:
      providers:
        - ${east}
").up().destroy();
    reference_providers_by_name: yaml("resources:
  east: { type: 'pulumi:providers:ledger', properties: { zone: east } }
  many: { type: ledger:Item, options: { providers: { ledger: '${east}' } } }
").up_fails();
    reference_every_plain_option: yaml("resources:
  one:
    type: ledger:Item
    properties: { size: 1, value: { x: 1 } }
    options:
      additionalSecretOutputs: [value]
      aliases: ['urn:pulumi:dev::shop::ledger:index:Item::former']
      customTimeouts: { create: 5m, delete: 20s, update: 1h }
      deleteBeforeReplace: true
      ignoreChanges: [value.x]
      protect: false
      version: 1.0.0
      replaceOnChanges: [size]
      retainOnDelete: true
").up();
    reference_import: yaml("resources:
  one: { type: ledger:Item, properties: { value: v }, options: { import: there } }
").appear("there", json!({ "value": "v" })).up();
    reference_getter: yaml("resources:
  one:
    type: ledger:Item
    get: { id: there, state: { value: v } }
outputs:
  value: ${one.value}
").appear("there", json!({ "value": "v" })).up();
    reference_default_provider: yaml("resources:
  usual:
    type: pulumi:providers:ledger
    defaultProvider: true
    options: { version: 1.0.0 }
  one: { type: ledger:Item }
").up();
    reference_two_default_providers: yaml("resources:
  usual: { type: 'pulumi:providers:ledger', defaultProvider: true }
  other: { type: 'pulumi:providers:ledger', defaultProvider: true }
  one: { type: ledger:Item }
").up();
    reference_explicit_provider: yaml("resources:
  special: { type: 'pulumi:providers:ledger', options: { version: 1.0.0 } }
").up();
    reference_explicit_provider_that_is_used: yaml("resources:
  special: { type: 'pulumi:providers:ledger', options: { version: 1.0.0 } }
  one: { type: ledger:Item, properties: { size: 2 }, options: { provider: '${special}' } }
").up();
    reference_explicit_provider_beside_a_default_one: yaml("resources:
  usual: { type: 'pulumi:providers:ledger', defaultProvider: true, properties: { zone: usual } }
  special: { type: 'pulumi:providers:ledger', properties: { zone: special } }
  one: { type: ledger:Item, options: { provider: '${special}' } }
  two: { type: ledger:Item }
").up();
    reference_version_of_a_resource: yaml("resources:
  one: { type: ledger:Item, properties: { size: 1 }, options: { version: 1.0.0 } }
").up();
    reference_provider_of_somebody_else: yaml("resources:
  usual:
    type: pulumi:providers:ledger
    defaultProvider: true
    options: { version: 1.0.0, pluginDownloadURL: 'github://api.github.com/acme' }
  one: { type: ledger:Item }
").up();
    reference_outputs: yaml("resources:
  one: { type: ledger:Item }
outputs:
  id: ${one.id}
").preview().up();
    reference_stack_references: yaml("resources:
  other: { type: 'pulumi:pulumi:StackReference', properties: { name: organization/other/prod } }
outputs:
  theirs: ${other.outputs[\"greeting\"]}
").other_stack("prod", "resources: {}\noutputs: { greeting: hello }\n").up();
    reference_versions_of_the_cli: yaml("pulumi:
  requiredVersion: \">=3.0.0 !3.1.2\"
resources:
  one: { type: ledger:Item }
").up();
    reference_dollars: variables(&["plain: $${value}"]).up();
    reference_access_to_a_root: access("root").up();
    reference_access_to_a_member: access("root.foo").up();
    reference_access_to_a_quoted_member: access(r#"root["foo"]"#).up_fails();
    reference_output_accessed_to_a_quoted_member: into_an_output(r#".root["foo"]"#).up();
    reference_access_to_a_member_of_a_member: access("root.bar.quux").up();
    reference_access_to_a_member_of_a_quoted_one: access(r#"root["bar"].quux"#).up_fails();
    reference_output_accessed_to_a_member_of_a_quoted_one: into_an_output(r#".root["bar"].quux"#).up();
    reference_access_to_a_quoted_member_of_one: access(r#"root["bar"]["quux"]"#).up_fails();
    reference_output_accessed_to_a_quoted_member_of_one: into_an_output(r#".root["bar"]["quux"]"#).up();
    reference_access_to_an_element: access("list[0]").up();
    reference_access_to_an_element_that_there_is_not: access("list[100]").up_fails();
    reference_access_to_a_member_of_an_element: access("list[0].foo").up();
    reference_access_to_a_member_of_an_element_of_one: access("lists[0][1].foo").up();
    reference_access_to_everything: access("root.foo.items[0].bar[1]").up();
    reference_access_by_escaped_quotes: access(r#"root["key with \"escaped\" quotes"]"#).up_fails();
    reference_output_accessed_by_escaped_quotes: into_an_output(r#".root["key with \"escaped\" quotes"]"#).up();
    reference_access_by_a_dot: access(r#"root["key with a ."]"#).up_fails();
    reference_output_accessed_by_a_dot: into_an_output(r#".root["key with a ."]"#).up();
    reference_access_to_a_root_with_escaped_quotes: access(r#"["root key with \"escaped\" quotes"].foo"#).up();
    reference_access_to_a_root_with_a_dot: access(r#"["root key with a ."][1]"#).up();
    reference_substitution: yaml("variables:
  door:
    side: left
    width: 90
    height: 210
resources:
  hall: { type: ledger:Item, properties: { value: { plan: { name: Hall }, doors: ['${door}'] } } }
  shed: { type: ledger:Item, properties: { value: { plan: { name: Shed }, doors: ['${door}'] } } }
").up().program("resources:
  hall: { type: ledger:Item, properties: { value: { plan: { name: Hall }, doors: [{ side: left, width: 90, height: 210 }] } } }
  shed: { type: ledger:Item, properties: { value: { plan: { name: Shed }, doors: [{ side: left, width: 90, height: 210 }] } } }
").preview().up();
    reference_to_base64: variables(&["it: { 'fn::toBase64': 'Good morning, wall!' }"]).up();
    reference_from_base64: variables(&["it: { 'fn::fromBase64': R29vZCBtb3JuaW5nLCB3YWxsIQ== }"]).up();
    reference_to_json: variables(&["it: { 'fn::toJSON': { one: a text, two: 456 } }"]).up();
    reference_invoke: variables(&["it: { 'fn::invoke': { function: ledger:lookup, arguments: { id: there }, options: { version: 1.0.0 }, return: found } }"])
        .appear("there", json!({ "value": "v" })).up();
    reference_invoke_as_a_whole: variables(&["id: there", "it: { 'fn::invoke': { function: ledger:lookup, arguments: { id: '${id}' } } }"])
        .appear("there", json!({ "value": "v" })).up();
    reference_invoke_with_options: yaml("resources:
  special: { type: 'pulumi:providers:ledger', properties: { zone: west } }
  above: { type: ledger:Item }
variables:
  it:
    fn::invoke:
      function: ledger:lookup
      arguments: { id: there }
      options:
        provider: ${special}
        parent: ${above}
outputs:
  it: ${it}
").appear("there", json!({ "value": "v" })).up();
    reference_join: variables(&["it: { 'fn::join': [an, [C, m, t] ] }"]).up();
    reference_split: variables(&["it: { 'fn::split': ['; ', 'stone; slate; sand'] }"]).up();
    reference_select: variables(&["it: { 'fn::select': [1, [a1, a2.1, a3.0]] }"]).up();
    reference_assets: yaml("variables:
  file: { 'fn::fileAsset': ./file.txt }
  text: { 'fn::stringAsset': 'Good morning!' }
  folder: { 'fn::fileArchive': ./folder }
  many:
    fn::assetArchive:
      text: { 'fn::stringAsset': 'Good morning!' }
      folder: { 'fn::fileArchive': ./folder }
resources:
  one: { type: ledger:Item, properties: { value: ['${file}', '${text}', '${folder}', '${many}'] } }
").file("file.txt", &"some text\n").file("folder/inside.txt", &"inside\n").up();
    reference_secret: variables(&["it: { 'fn::secret': { 'fn::invoke': { function: ledger:lookup, arguments: { id: there } } } }"])
        .appear("there", json!({ "value": "v" })).up();
    reference_read_file: variables(&["it: { 'fn::readFile': ./file.txt }"]).up();
    reference_read_file_below_the_working_folder: variables(&["it: { 'fn::readFile': '${pulumi.cwd}/folder/inside.txt' }"]).up();
    reference_read_file_at_a_constant_path: variables(&["it: { 'fn::readFile': /etc/hostname }"]).up();
    reference_read_file_outside_of_the_project: variables(&["it: { 'fn::readFile': ../../etc/shadow }"]).up_fails();
    reference_read_file_outside_by_an_expression: variables(&["it: { 'fn::readFile': '${pulumi.cwd}/../../.ssh/id_rsa.pub' }"]).up_fails();
    reference_surroundings: yaml("variables:
  organization: ${pulumi.organization}
  project: ${pulumi.project}
  stack: ${pulumi.stack}
resources: {}
outputs: { all: ['${organization}', '${project}', '${stack}'] }
").up();
}

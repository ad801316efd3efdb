//! Values of the YAML language: scalars, texts with values in them, looking into values, config, secrets.

use crate::case::{Case, yaml};

/// A program whose only output is a value; `a` is an Item, `v` a few values.
fn gives(value: &str) -> Case {
    yaml(&format!(
        "variables:
  v: {{ name: n, list: [x, y], deep: {{ k: [{{ l: 1 }}] }}, 'odd key': o, none: null, big: 1234567, small: 0.00001 }}
resources:
  a: {{ type: ledger:Item, properties: {{ size: 1, value: {{ m: {{ n: [1, two] }} }}, tags: {{ t: u }}, secret: hush }} }}
outputs:
  it: {value}
"
    ))
    .up()
}

/// A program that has a config value, which is given.
fn configured(kind: &str, text: &str) -> Case {
    let program = format!(
        "config: {{ it: {{ type: {kind} }} }}\nresources: {{}}\noutputs: {{ it: '${{it}}', text: 'x ${{it}}' }}\n"
    );
    yaml(&program).config("it", text).up()
}

cases! {
    plain_scalars: gives("[1, -1.5, 0x1F, 0o17, 017, 1_000, 1e3, .5, true, False, yes, on, ~, null, NULL, 2020-01-02, 12:30, '5', \"t\\tb\", !!str 7]");
    numbers_that_are_large_or_small: gives("[123456789012, 1e21, 1e-7, 9007199254740993, 0.1, 1e6]");
    block_texts: gives("|\n    one\n      two\n\n    three\n");
    folded_texts: gives(">-\n    one\n    two\n\n    three\n");
    a_variable: gives("${v}");
    a_member: gives("${v.name}");
    an_element: gives("${v.list[1]}");
    deep_inside: gives("${v.deep.k[0].l}");
    a_member_that_is_nothing: gives("${v.none}");
    a_text_with_values: gives("'<${v.name}|${v.list}|${v.deep}|${v.none}|${v.big}|${v.small}>'");
    a_text_with_outputs: gives("'<${a.name}/${a.serial}/${a.value}/${a.tags}>'");
    a_text_with_a_secret: gives("'<${a.token}>'");
    dollars: gives("'$ $$ $${x} a$b $5'");
    an_output_of_a_resource: gives("${a.value.m.n[1]}");
    a_tag_of_a_resource: gives("'${a.tags[\"t\"]}'");
    an_id_and_a_urn: gives("['${a.id}', '${a.urn}']");
    a_whole_output: gives("${a.value}");
    a_secret_output: gives("${a.secret}");
    a_resource_as_an_output: gives("${a}");
    objects_with_names_that_are_looked_up: gives("{ '${v.name}': 1, 'a-${a.name}': 2 }");
    an_object_with_a_secret_in_it: gives("{ open: 1, hidden: { 'fn::secret': [1, 2] }, list: [{ 'fn::secret': s }] }");
    nothing_in_objects_and_lists: gives("{ none: null, list: [null, 1], deep: { none: null } }");
    the_surroundings: gives("['${pulumi.project}', '${pulumi.stack}', '${pulumi.organization}']");
    empty_things: gives("{ list: [], object: {}, text: '' }");
    a_variable_with_an_output_in_it: yaml("variables:
  v: { plain: p, later: '${a.name}', hidden: '${a.token}' }
resources:
  a: { type: ledger:Item }
  b: { type: ledger:Item, properties: { value: '${v.plain}' } }
  c: { type: ledger:Item, properties: { value: '${v}' } }
outputs: { v: '${v}' }
").preview().up();
    a_string_in_config: configured("string", "hello");
    a_fraction_in_config: configured("string", "1.5");
    a_large_integer_in_config: configured("integer", "12345678");
    a_boolean_in_config: configured("boolean", "true");
    a_code_in_config: configured("string", "0123");
    text_that_looks_like_something_else: configured("string", "[1, 2");
    config_of_another_project: yaml("resources: {}\noutputs: { it: '${ledger:zone}' }\n").config("ledger:zone", "z").up();
    config_by_its_full_name: yaml("config: { it: { type: string } }\nresources: {}\noutputs: { it: '${shop:it}' }\n")
        .config("it", "x").up();
    config_that_is_not_declared: yaml("resources: {}\noutputs: { it: '${free}' }\n").config("free", "x").up();
    config_with_a_default: yaml("config: { it: { type: integer, default: 7 }, list: { type: array, items: { type: string }, default: [a] } }
resources: { a: { type: ledger:Item, properties: { size: '${it}', value: '${list}' } } }
outputs: { it: 'x${it}' }
").up();
    config_that_is_a_structure: yaml("config: { it: { type: object } }
resources: {}
outputs: { it: '${it}', inner: '${it.inner}', first: '${it.list[0]}' }
").run(&["config", "set", "--path", "it.inner", "deep", "--stack", "dev"])
        .run(&["config", "set", "--path", "it.list[0]", "5", "--stack", "dev"]).up();
    secret_config_in_texts_and_properties: yaml("config: { it: { type: string } }
resources: { a: { type: ledger:Item, properties: { value: ['${it}', 'x${it}'], tags: { t: '${it}' } } } }
outputs: { it: { 'fn::toJSON': ['${it}'] } }
").secret_config("it", "hush").up();
    the_folders: gives("[{ 'fn::length': { 'fn::split': ['/', '${pulumi.cwd}'] } }, { 'fn::length': { 'fn::split': ['/', '${pulumi.rootDirectory}'] } }]");
    config_by_its_old_name: yaml("configuration: { it: { type: String, default: d }, many: { type: 'List<Number>', default: [1, 2] } }
resources: {}
outputs: { it: '${it}', many: '${many}' }
").up();
}

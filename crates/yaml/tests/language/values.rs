//! Values: texts, numbers, objects, what is looked up in them, and secrets.

use crate::stack::Stack;
use serde_json::{Value, json};

/// What an expression gives as an output, in a program with a few names.
fn output(expression: &str) -> Value {
    let mut stack = Stack::new(&format!(
        "variables:
  object: {{ name: n, list: [{{ b: [1] }}, {{ b: [1, 2] }}], 'odd key': odd, nothing: null }}
  number: 1000000
  flag: true
  dollar: 'a$$b'
resources:
  a: {{ type: shelf:Thing, properties: {{ value: {{ deep: [x, {{ y: z }}] }}, hidden: hush, tags: {{ k: v }} }} }}
outputs:
  it: {expression}
"
    ));
    stack.up().ok();
    stack.output("it")
}

#[test]
fn values_are_looked_up() {
    for (expression, expected) in [
        ("${object.name}", json!("n")),
        ("${object.list[0]}", json!({ "b": [1] })),
        ("${object.list[1].b[1]}", json!(2)),
        ("${number}", json!(1_000_000)),
        ("${flag}", json!(true)),
        ("${dollar}", json!("a$b")),
        ("${a.value.deep[1].y}", json!("z")),
        ("${a.tags[\"k\"]}", json!("v")),
        ("${object}", json!({ "name": "n", "list": [{ "b": [1] }, { "b": [1, 2] }], "odd key": "odd" })),
        ("${pulumi.project}/${pulumi.stack}/${pulumi.organization}", json!("shop/dev/organization")),
    ] {
        assert_eq!(output(&format!("'{expression}'")), expected, "{expression}");
    }
}

#[test]
fn texts_hold_values() {
    for (expression, expected) in [
        ("x-${object.name}-y", "x-n-y"),
        ("${number} ${flag}", "1e+06 true"),
        ("${object.list}", "[map[b:[1]] map[b:[1 2]]]"),
        ("v: ${object.nothing}.", "v: <nil>."),
        ("${a.token}/${a.id}", "token of a/id-a"),
        ("${a.parts}", "[one two three]"),
        ("$ and $$ and $${x}", "$ and $ and ${x}"),
    ] {
        let got = output(&format!("'{expression}.'"));
        assert_eq!(got, format!("{expected}."), "{expression}");
    }
}

#[test]
fn secrets_stay_secrets() {
    for (expression, expected) in [
        ("{ 'fn::secret': s }", json!({ "secret": "s" })),
        ("{ x: { 'fn::secret': s }, y: 1 }", json!({ "secret": { "x": "s", "y": 1 } })),
        ("{ 'fn::unsecret': { 'fn::secret': s } }", json!("s")),
        ("'${a.hidden}'", json!({ "secret": "hush" })),
        ("'<${a.hidden}>'", json!({ "secret": "<hush>" })),
        ("{ 'fn::toJSON': { h: '${a.hidden}' } }", json!({ "secret": "{\"h\":\"hush\"}" })),
        ("{ 'fn::invoke': { function: shelf:hidden, return: code } }", json!({ "secret": "1234" })),
    ] {
        assert_eq!(output(expression), expected, "{expression}");
    }
}

#[test]
fn a_secret_property_of_the_schema_is_made_secret() {
    let mut stack = Stack::new(
        "resources:
  a: { type: shelf:Thing, properties: { hidden: hush, value: { 'fn::secret': [1] } } }
  p: { type: 'pulumi:providers:shelf', properties: { key: k, zone: z } }
  b: { type: shelf:Thing, options: { provider: '${p}' } }
",
    );
    stack.up().ok();
    assert_eq!(stack.input("a", "hidden"), json!({ "secret": "hush" }));
    assert_eq!(stack.input("a", "value"), json!({ "secret": [1] }));
    assert_eq!(stack.input("p", "key"), json!({ "secret": "k" }));
    assert!(stack.resource("b").provider.contains("::p::"));
}

#[test]
fn names_of_members_may_be_looked_up() {
    assert_eq!(output("{ '${object.name}': 1, 'x-${a.id}': 2 }"), json!({ "n": 1, "x-id-a": 2 }));
}

#[test]
fn a_variable_with_an_output_in_it_is_one() {
    let mut stack = Stack::new(
        "variables:
  v: { plain: p, later: '${a.token}', list: ['${a.id}', 1] }
resources:
  a: { type: shelf:Thing }
  b: { type: shelf:Thing, properties: { text: '${v.plain}', value: '${v}' } }
",
    );
    stack.up().ok();
    assert_eq!(stack.input("b", "text"), "p");
    assert_eq!(
        stack.input("b", "value"),
        json!({ "plain": "p", "later": "token of a", "list": ["id-a", 1] })
    );
    assert_eq!(stack.property_dependencies("b", "text"), ["a"]);
}

#[test]
fn plain_scalars_mean_what_yaml_says() {
    for (scalar, expected) in [
        ("0o17", json!(15)),
        ("0x1F", json!(31)),
        ("1_000", json!(1000)),
        ("1.50", json!(1.5)),
        ("yes", json!("yes")),
        ("'5'", json!("5")),
        ("!!str 5", json!("5")),
        ("2020-01-02", json!("2020-01-02")),
        ("~", Value::Null),
        ("\"a\\tb\"", json!("a\tb")),
    ] {
        assert_eq!(output(scalar), expected, "{scalar}");
    }
}

//! Resources, what they depend on, and what they give.

use crate::stack::Stack;
use serde_json::json;

#[test]
fn a_resource_gets_what_another_gives() {
    let mut stack = Stack::new(
        "resources:
  b: { type: shelf:Thing, properties: { text: '${a.token}', value: { from: '${a.id}', plain: 1 } } }
  a: { type: 'shelf:index:Thing', properties: { text: first } }
outputs:
  token: ${b.token}
  urn: ${a.urn}
  list: ['${a.parts[1]}', '${b.nested[\"deep\"].key}']
",
    );
    stack.up().ok();
    assert_eq!(stack.input("b", "text"), "token of a");
    assert_eq!(stack.input("b", "value"), json!({ "from": "id-a", "plain": 1 }));
    assert_eq!(stack.dependencies("b"), ["a"]);
    assert_eq!(stack.property_dependencies("b", "text"), ["a"]);
    assert_eq!(stack.property_dependencies("b", "value"), ["a"]);
    assert_eq!(stack.dependencies("a"), [""; 0]);
    assert_eq!(stack.output("token"), "token of b");
    assert_eq!(stack.output("urn"), "urn:pulumi:dev::shop::shelf:index:Thing::a");
    assert_eq!(stack.output("list"), json!(["two", "value"]));
    assert_eq!(stack.resource("a").source_position, "project:///Pulumi.yaml#5,3");
}

#[test]
fn types_may_be_short_and_in_any_case() {
    let mut stack = Stack::new(
        "resources:
  a: { type: shelf:thing }
  b: { type: shelf:boxes:Box, properties: { label: x } }
  c: { type: shelf:boxes/box:box, properties: { label: x }, name: another }
  d: { type: plain:Any, properties: { whatever: [1, true] } }
",
    );
    stack.up().ok();
    assert_eq!(stack.resource("a").type_token, "shelf:index:Thing");
    assert_eq!(stack.resource("b").type_token, "shelf:boxes/box:Box");
    assert_eq!(stack.resource("another").type_token, "shelf:boxes/box:Box");
    assert_eq!(stack.resource("d").type_token, "plain:index:Any");
    assert_eq!(stack.input("b", "kind"), "box", "constants of the schema are added");
}

#[test]
fn resources_that_do_not_need_each_other_are_made_side_by_side() {
    let program: String = (0..8)
        .map(|at| format!("  r{at}: {{ type: shelf:Thing, properties: {{ pause: 200 }} }}\n"))
        .collect();
    let mut stack = Stack::new(&format!("resources:\n{program}"));
    stack.up().ok();
    assert!(stack.shelf.most_at_once() >= 4, "at most {} at once", stack.shelf.most_at_once());
}

#[test]
fn a_long_chain_is_made_in_its_order() {
    let mut program = "resources:\n  r0: { type: plain:Any }\n".to_owned();
    for at in 1..300 {
        program += &format!("  r{at}: {{ type: plain:Any, properties: {{ of: '${{r{}.id}}' }} }}\n", at - 1);
    }
    let mut stack = Stack::new(&program);
    stack.up().ok();
    assert_eq!(stack.input("r299", "of"), "id-r298");
}

#[test]
fn what_exists_is_only_looked_at() {
    let mut stack = Stack::new(
        "variables: { which: there }
resources:
  a: { type: shelf:Thing, get: { id: 'is-${which}', state: { text: known } } }
  b: { type: shelf:Thing, properties: { text: '${a.token}' } }
",
    );
    stack.up().ok();
    assert!(stack.shelf.called().contains(&"read a is-there".to_owned()), "{:?}", stack.shelf.called());
    assert_eq!(stack.input("b", "text"), "token of is-there");
    assert!(stack.resource("a").external);
}

#[test]
fn another_stack_is_read() {
    use drystone_model::Value;
    let mut stack = Stack::new(
        "resources:
  other: { type: 'pulumi:pulumi:StackReference', properties: { name: other/prod } }
  a: { type: shelf:Thing, properties: { text: '${other.outputs[\"host\"]}', value: '${other.outputs.key}' } }
variables:
  old: { 'fn::stackReference': [other/prod, host] }
outputs: { old: '${old}' }
",
    )
    .other([("host".to_owned(), "h".into()), ("key".to_owned(), Value::secret("k".into()))].into());
    stack.up().ok();
    assert_eq!(stack.input("a", "text"), "h");
    assert_eq!(stack.input("a", "value"), json!({ "secret": "k" }));
    assert_eq!(stack.output("old"), "h");
}

#[test]
fn a_resource_may_be_a_value() {
    let mut stack = Stack::new(
        "resources:
  a: { type: shelf:Thing }
  b: { type: shelf:Thing, properties: { other: '${a}' } }
variables:
  name: { 'fn::pulumiResourceName': '${a}' }
  type: { 'fn::pulumiResourceType': '${a}' }
outputs: { name: '${name}', type: '${type}', token: '${b.other}' }
",
    );
    // `other` is no output of the schema.
    stack.up().failed_with("other does not exist on b");
    stack.program(
        "resources:
  a: { type: shelf:Thing }
  b: { type: shelf:Thing, properties: { other: '${a}' } }
variables:
  name: { 'fn::pulumiResourceName': '${a}' }
  type: { 'fn::pulumiResourceType': '${a}' }
outputs: { name: '${name}', type: '${type}' }
",
    );
    stack.up().ok();
    assert!(stack.input("b", "other").to_string().contains("shelf:index:Thing::a"));
    assert_eq!(stack.dependencies("b"), ["a"]);
    assert_eq!((stack.output("name"), stack.output("type")), (json!("a"), json!("shelf:index:Thing")));
}

#[test]
fn properties_may_come_from_one_value() {
    let mut stack = Stack::new(
        "variables:
  all: { text: t, value: [1] }
  later: { 'fn::invoke': { function: shelf:echo, arguments: { text: from-echo } } }
resources:
  a: { type: shelf:Thing, properties: '${all}' }
  b: { type: shelf:Thing, properties: '${later}' }
",
    );
    stack.up().ok();
    assert_eq!((stack.input("a", "text"), stack.input("a", "value")), (json!("t"), json!([1])));
    assert_eq!(stack.input("b", "text"), "from-echo");
}

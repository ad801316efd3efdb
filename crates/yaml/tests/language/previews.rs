//! What is not known before an update.

use crate::stack::Stack;

#[test]
fn a_preview_passes_on_what_is_not_known() {
    let program = "resources:
  a: { type: shelf:Thing, properties: { text: t } }
  b: { type: shelf:Thing, properties: { text: '${a.token}', value: { 'fn::toJSON': ['${a.id}', '${a.text}'] } } }
  c: { type: shelf:Thing, get: { id: '${a.id}' } }
  d: { type: shelf:Thing, properties: { list: '${a.parts}', value: '${c.token}' } }
outputs: { token: '${b.token}', select: { 'fn::select': [7, '${a.parts}'] } }
";
    let mut stack = Stack::new(program);
    stack.preview().ok();
    assert!(!stack.shelf.called().iter().any(|call| call.starts_with("create") || call.starts_with("read")));
    stack.up().failed_with("list index 7 out-of-bounds");
    assert_eq!(stack.names(), ["a", "b", "c", "d"], "outputs are looked at last");
    assert_eq!(stack.input("d", "value"), "token of id-a");
}

#[test]
fn a_preview_after_an_update_knows() {
    let mut stack = Stack::new(
        "resources:
  a: { type: shelf:Thing, properties: { text: t } }
outputs: { part: { 'fn::select': [5, '${a.parts}'] } }
",
    );
    stack.up().failed_with("out-of-bounds");
    stack.preview().failed_with("list index 5 out-of-bounds for list of length 3");
}

#[test]
fn a_call_with_what_is_not_known_is_not_made() {
    let mut stack = Stack::new(
        "resources:
  a: { type: shelf:Thing }
  b: { type: shelf:Thing, properties: { value: '${v.text}' } }
variables:
  v: { 'fn::shelf:echo': { text: '${a.id}' } }
",
    );
    stack.preview().ok();
    assert_eq!(stack.shelf.called(), [""; 0]);
    stack.up().ok();
    assert_eq!(stack.input("b", "value"), "id-a");
    assert_eq!(stack.dependencies("b"), ["a"]);
}

//! The functions of the language, and of providers.

use crate::stack::Stack;
use serde_json::{Value, json};

const PROGRAM: &str = "variables:
  list: [a, b, c]
  digits: '3'
resources:
  a: { type: shelf:Thing, properties: { value: [1, 2], text: t } }
outputs:
  it: ";

fn outcome(expression: &str) -> (Stack, crate::stack::Outcome) {
    let mut stack = Stack::new(&format!("{PROGRAM}{expression}\n"));
    stack.file("file.txt", "läuft\n");
    stack.file("data.bin", "\u{1}\u{2}");
    let outcome = stack.up();
    (stack, outcome)
}

fn output(expression: &str) -> Value {
    let (stack, outcome) = outcome(expression);
    outcome.ok();
    stack.output("it")
}

#[test]
fn functions_give_what_they_say() {
    for (expression, expected) in [
        ("{ 'fn::join': ['-', [a, b, '${a.token}']] }", json!("a-b-token of a")),
        ("{ 'fn::join': [null, '${list}'] }", json!("abc")),
        ("{ 'fn::join': ['-', { 'fn::split': ['/', a/b] }] }", json!("a-b")),
        ("{ 'fn::split': [',', 'a,b,,c'] }", json!(["a", "b", "", "c"])),
        ("{ 'fn::split': ['', 'aü'] }", json!(["a", "ü"])),
        ("{ 'fn::split': [' ', '${a.token}'] }", json!(["token", "of", "a"])),
        ("{ 'fn::select': [1, [x, y]] }", json!("y")),
        ("{ 'fn::select': [2, '${a.parts}'] }", json!("three")),
        (
            "{ 'fn::toJSON': { b: [1, null, '<x>'], a: 1.5 } }",
            json!("{\"a\":1.5,\"b\":[1,null,\"\\u003cx\\u003e\"]}"),
        ),
        ("{ 'fn::toJSON': '${a.value}' }", json!("[1,2]")),
        ("{ 'fn::toBase64': 'ü' }", json!("w7w=")),
        ("{ 'fn::fromBase64': 'w7w=' }", json!("ü")),
        ("{ 'fn::fromBase64': \"w7\\nw=\" }", json!("ü")),
        ("{ 'fn::sha1': abc }", json!("a9993e364706816aba3e25717850c26c9cd0d89d")),
        ("{ 'fn::readFile': ./file.txt }", json!("läuft\n")),
        ("{ 'fn::filebase64': file.txt }", json!("bMOkdWZ0Cg==")),
        ("{ 'fn::filebase64sha256': data.bin }", json!("oShx/uIQ+4YZKR6uoZRYHL0lMeSyN1nSJfaAaSP2MiI=")),
        ("{ 'fn::length': '${list}' }", json!(3)),
        ("{ 'fn::length': { x: 1 } }", json!(1)),
        ("{ 'fn::length': 'e\u{301}ü👨‍👩‍👧' }", json!(3)),
        ("{ 'fn::length': '${a.parts}' }", json!(3)),
        ("{ 'fn::singleOrNone': [x] }", json!("x")),
        ("{ 'fn::singleOrNone': [] }", Value::Null),
        ("{ 'fn::invoke': { function: shelf:echo, arguments: { text: hi }, return: text } }", json!("hi")),
        (
            "{ 'fn::invoke': { function: shelf:echo, arguments: { value: '${a.id}' } } }",
            json!({ "value": "id-a" }),
        ),
        ("{ 'fn::shelf:index:echo': { text: short } }", json!({ "text": "short" })),
        ("{ 'fn::shelf:echo': { text: shorter } }", json!({ "text": "shorter" })),
        ("{ 'fn::shelf:number': null }", json!(7)),
        ("{ 'fn::invoke': { function: plain:echo, arguments: { x: 1 } } }", json!({ "x": 1 })),
        ("{ 'FN::TOjson': [] }", json!("[]")),
    ] {
        assert_eq!(output(expression), expected, "{expression}");
    }
}

#[test]
fn functions_refuse_what_makes_no_sense() {
    for (expression, expected) in [
        ("{ 'fn::join': ['-', [1]] }", "list of strings, found a number at index 0"),
        ("{ 'fn::join': ['-', x] }", "must be a list, found a string"),
        ("{ 'fn::join': [a] }", "two-valued list"),
        ("{ 'fn::select': [5, '${list}'] }", "list index 5 out-of-bounds for list of length 3"),
        ("{ 'fn::select': [1.5, '${list}'] }", "positive integral"),
        ("{ 'fn::select': [9, '${a.parts}'] }", "list index 9 out-of-bounds for list of length 3"),
        ("{ 'fn::fromBase64': '*' }", "unable to decode"),
        ("{ 'fn::fromBase64': '/w==' }", "not a valid UTF-8"),
        ("{ 'fn::readFile': nowhere.txt }", "error reading file at path nowhere.txt"),
        ("{ 'fn::toBase64': 5 }", "fn::toBase64 requires a string, got a number"),
        ("{ 'fn::length': true }", "requires a list, map, or string, got a boolean"),
        ("{ 'fn::singleOrNone': [1, 2] }", "expected a list of 0 or 1 elements, got 2"),
        ("{ 'fn::pulumiResourceName': x }", "requires a resource, got a string"),
        ("{ 'fn::assetArchive': { a: text } }", "value must be an asset or an archive, not a string"),
        (
            "{ 'fn::assetArchive': { '${a}': { 'fn::stringAsset': x } } }",
            "keys in fn::assetArchive arguments must be string literals",
        ),
        ("{ 'fn::fileAsset': 5 }", "must be a string, got a number"),
        ("{ 'fn::invoke': { arguments: {} } }", "missing function name"),
        ("{ 'fn::invoke': { function: shelf:ecko } }", "unable to find function \"shelf:ecko\""),
        ("{ 'fn::invoke': { function: shelf:echo, return: txet } }", "did you mean `text`?"),
        ("{ 'fn::invoke': { function: shelf:number, return: x } }", "non-object return value"),
        ("{ 'fn::invoke': { function: shelf:echo, arguments: { fail: true } } }", "asked to fail"),
        ("{ 'fn::stringAsset': x, other: y }", "must have its own object"),
        ("'<${a}>'", "use `${a.id}`"),
    ] {
        let (_, outcome) = outcome(expression);
        let errors = outcome.errors();
        let found = errors.iter().any(|error| error.contains(expected) && error.contains("Pulumi.yaml:"));
        assert!(found, "{expression}: {expected:?} is not in {errors:#?}");
        outcome.failed();
    }
}

#[test]
fn assets_and_archives() {
    let mut stack = Stack::new(
        "resources:
  a:
    type: shelf:Thing
    properties:
      file: { 'fn::stringAsset': hello }
      archive:
        'fn::assetArchive':
          one: { 'fn::fileAsset': ./one.txt }
          folder: { 'fn::fileArchive': ./folder }
          text: { 'fn::stringAsset': '${pulumi.stack}' }
          $${not}: { 'fn::stringAsset': '' }
  b: { type: shelf:Thing, properties: { file: { 'fn::fileAsset': one.txt }, archive: { 'fn::fileArchive': folder } } }
",
    );
    stack.file("one.txt", "1");
    stack.file("folder/two.txt", "2");
    stack.up().ok();
    let file = stack.input("a", "file").to_string();
    assert!(file.contains("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"), "{file}");
    let archive = stack.input("a", "archive").to_string();
    assert!(archive.contains("\"${not}\""), "{archive}");
    assert!(
        archive.contains("one.txt") && archive.contains("folder") && archive.contains("dev"),
        "{archive}"
    );
    stack.program(
        "resources: { a: { type: shelf:Thing, properties: { file: { 'fn::fileAsset': gone.txt } } } }\n",
    );
    stack.up().failed_with("failed to compute the asset hash");
}

#[test]
fn a_failed_call_stops_what_comes_behind_it() {
    let mut stack = Stack::new(
        "variables:
  v: { 'fn::shelf:echo': { fail: true } }
resources:
  a: { type: shelf:Thing }
  b: { type: shelf:Thing, properties: { value: '${v}' } }
  c: { type: shelf:Thing }
",
    );
    stack.up().failed_with("asked to fail");
    assert_eq!(stack.names(), ["a"], "a comes before the call, c behind it");
}

#[test]
fn calls_that_wait_for_no_resource_run_side_by_side_and_once() {
    let mut stack = Stack::new(
        "variables:
  v: { 'fn::shelf:echo': { text: once } }
resources:
  a: { type: shelf:Thing, properties: { value: '${v}' } }
  b: { type: shelf:Thing, properties: { value: '${v.text}' } }
",
    );
    stack.up().ok();
    let calls = stack.shelf.called();
    assert_eq!(calls.iter().filter(|call| call.starts_with("invoke")).count(), 1, "{calls:?}");
}

#[test]
fn a_call_may_depend_on_resources_and_have_a_provider() {
    let mut stack = Stack::new(
        "resources:
  p: { type: 'pulumi:providers:shelf', properties: { zone: z } }
  a: { type: shelf:Thing, properties: { pause: 50 } }
  b: { type: shelf:Thing, properties: { value: '${v}' } }
variables:
  v:
    'fn::invoke':
      function: shelf:echo
      arguments: { text: x }
      options: { dependsOn: ['${a}'], provider: '${p}' }
      return: text
",
    );
    stack.up().ok();
    let calls = stack.shelf.called();
    let at = |call: &str| calls.iter().position(|c| c == call).unwrap_or(usize::MAX);
    assert!(at("create a") < at("invoke shelf:index:echo"), "{calls:?}");
    assert_eq!(stack.dependencies("b"), ["a"]);
    assert_eq!(stack.input("b", "value"), "x");
}

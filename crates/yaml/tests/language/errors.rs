//! What people are told when a program is wrong: where, the line itself, what was meant; all of it, and nothing done.

use crate::stack::Stack;

#[test]
fn an_error_shows_its_place_and_what_was_meant() {
    let mut stack = Stack::new(
        "resources:
  first: { type: shelf:Thing }
  second:
    type: shelf:Thing
    properties:
      txt: hello
      value: ${frist.id}
",
    );
    let outcome = stack.up().failed();
    let errors = outcome.errors();
    assert_eq!(
        errors[0],
        "Pulumi.yaml:9:14: resource, variable, or config value \"frist\" not found\n  \
         9 |       value: ${frist.id}\n    |              ^^^^^^^^^^^\n  did you mean `first`?"
    );
    assert!(
        errors[1].starts_with("Pulumi.yaml:8:7: Property txt does not exist on shelf:index:Thing\n"),
        "{errors:#?}"
    );
    assert!(errors[1].ends_with("did you mean `text`?"), "{errors:#?}");
    assert_eq!(stack.names(), [""; 0], "nothing is done");
}

#[test]
fn programs_are_held_to_schemas() {
    for (properties, expected) in [
        ("text: [a]", "'text' takes string, not List<string>"),
        ("on: 'true'", "'on' takes boolean, not string"),
        ("count: many", "'count' takes integer, not string"),
        ("tags: { a: [b] }", "'tags.a' takes string, not List<string>"),
        ("list: [a, { b: c }]", "'list[1]' takes string, not {b: string}"),
        ("size: { label: x }", "Missing required property 'width' of shelf:index:Size"),
        ("size: { width: 1, lable: x }", "did you mean `label`?"),
        ("size: { width: 1, inner: { width: x } }", "'size.inner.width' takes integer, not string"),
        ("colour: green", "Allowed values are Red (\"red\"), \"blue\""),
        ("file: path.txt", "'file' takes asset, not string"),
        ("either: { a: b }", "'either' takes Union<string, List<string>>"),
        ("other: '${box}'", "'other' takes shelf:index:Thing, not shelf:boxes/box:Box"),
        ("text: '${thing.tokn}'", "did you mean `token`?"),
        ("text: '${thing.parts[\"x\"]}'", "Cannot index via string into 'thing.parts'"),
        ("text: '${thing.token.more}'", "cannot access a property on 'thing.token' (type string)"),
        ("text: '${pulumi.stak}'", "did you mean `stack`?"),
    ] {
        let mut stack = Stack::new(&format!(
            "resources:
  thing: {{ type: shelf:Thing }}
  box: {{ type: shelf:boxes:Box, properties: {{ label: x }} }}
  bad: {{ type: shelf:Thing, properties: {{ {properties} }} }}
"
        ));
        let outcome = stack.up();
        let errors = outcome.errors();
        assert!(
            errors.iter().any(|error| error.contains(expected)),
            "{properties}: {expected:?} not in {errors:#?}"
        );
        assert!(errors.iter().all(|error| error.starts_with("Pulumi.yaml:6:")), "{errors:#?}");
        outcome.failed();
        assert_eq!(stack.names(), [""; 0]);
    }
}

#[test]
fn values_that_fit_are_let_through() {
    let mut stack = Stack::new(
        "config: { secret: { type: string } }
resources:
  thing: { type: shelf:Thing }
  good:
    type: shelf:Thing
    properties:
      text: 5
      count: 2
      tags: { a: 1, b: true }
      list: '${thing.parts}'
      size: { width: 1, inner: { width: 2 } }
      colour: blue
      either: [a]
      other: ${thing}
      on: ${secret}
",
    )
    .secret("shop:secret", "true");
    stack.up().ok();
}

#[test]
fn a_declaration_that_makes_no_sense_is_refused() {
    for (resource, expected) in [
        ("{ properties: {} }", "Required field 'type' is missing on resource \"a\""),
        (
            "{ type: shelf:Tihng }",
            "unable to find resource type \"shelf:Tihng\" in resource provider \"shelf\"",
        ),
        ("{ type: shelf:Tihng }", "did you mean `shelf:index:Thing`?"),
        ("{ type: shelf }", "invalid type token \"shelf\""),
        ("{ type: 'a:b:c:d' }", "invalid type token"),
        ("{ type: nowhere:Thing }", "no plugin nowhere"),
        ("{ type: 5 }", "type must be a string, not a number"),
        ("{ type: shelf:Thing, text: x }", "'text' exists under properties"),
        ("{ type: shelf:Thing, dependson: x }", "did you mean 'dependsOn' under options?"),
        ("{ type: shelf:Thing, propertys: {} }", "did you mean `properties`?"),
        ("{ type: shelf:Thing, properties: { text: x }, get: { id: y } }", "mutually exclusive"),
        ("{ type: shelf:Thing, defaultProvider: true }", "defaultProvider on non-provider resource"),
        ("{ type: shelf:Thing, properties: text }", "is not assignable from string"),
        ("{ type: shelf:boxes:Box, properties: {} }", "Missing required property 'label'"),
        ("[]", "resources.a must be an object, not a list"),
    ] {
        let mut stack = Stack::new(&format!("resources:\n  a: {resource}\n"));
        let outcome = stack.up();
        let errors = outcome.errors();
        assert!(
            errors.iter().any(|error| error.contains(expected)),
            "{resource}: {expected:?} not in {errors:#?}"
        );
        assert!(errors.iter().all(|error| error.contains("Pulumi.yaml:4:")), "{errors:#?}");
        outcome.failed();
    }
}

#[test]
fn cycles_are_told_with_their_path() {
    let mut stack = Stack::new(
        "variables: { v: '${c.id}' }
resources:
  a: { type: shelf:Thing, properties: { text: '${b.id}' } }
  b: { type: shelf:Thing, properties: { text: '${v}' } }
  c: { type: shelf:Thing, options: { dependsOn: ['${a}'] } }
",
    );
    let outcome = stack.up().failed();
    let errors = outcome.errors();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(errors[0].contains("circular dependency of resource 'a' transitively on itself"), "{errors:#?}");
    assert!(errors[0].ends_with("a -> b -> v -> c -> a"), "{errors:#?}");
    stack.program("resources: { a: { type: shelf:Thing, properties: { text: '${a.id}' } } }\n");
    stack.up().failed_with("a -> a");
}

#[test]
fn names_are_given_once() {
    for (program, expected) in [
        (
            "variables: { a: 1 }\nresources: { a: { type: shelf:Thing } }",
            "variable a cannot have the same name as resource a",
        ),
        (
            "config: { a: { default: 1 } }\nvariables: { a: 1 }",
            "variable a cannot have the same name as config a",
        ),
        ("variables: { pulumi: 1 }", "uses the reserved name pulumi"),
        ("variables: { a: 1, a: 2 }", "the key `a` was already given on line 3"),
        ("components: { c: {} }", "components are only supported in plugins, not in programs"),
    ] {
        let mut stack = Stack::new(&format!("{program}\n"));
        stack.up().failed_with(expected);
    }
}

#[test]
fn what_only_looks_wrong_is_a_warning() {
    let mut stack = Stack::new(
        "resources:
  a: { Type: shelf:Thing, properties: { text: 'x ${b.nope}' } }
  b: { type: shelf:Thing }
variables:
  v: { 'fn::shelf:echo': { txt: 1 } }
  w: { 'fn::jion': [1] }
",
    );
    let said = stack.up().ok().said(drystone_engine::Severity::Warning);
    for expected in [
        "'Type' looks like a miscapitalization of 'type'",
        "nope does not exist on b",
        "txt does not exist on Invoke shelf:index:echo",
        "did you mean `fn::join`?",
    ] {
        assert!(said.iter().any(|said| said.contains(expected)), "{expected:?} not in {said:#?}");
    }
    assert_eq!(stack.input("a", "text"), "x <nil>");
}

#[test]
fn a_failed_resource_fails_the_program_and_not_what_is_beside_it() {
    let mut stack = Stack::new(
        "resources:
  a: { type: shelf:Thing, properties: { fail: true, pause: 100 } }
  b: { type: shelf:Thing, properties: { text: '${a.token}' } }
  c: { type: shelf:Thing }
outputs: { token: '${b.token}', c: '${c.token}' }
",
    );
    stack.up().failed_with("asked to fail");
    assert_eq!(stack.names(), ["c"]);
}

#[test]
fn the_program_may_be_in_a_file_of_its_own() {
    let mut stack = Stack::new("");
    stack.file("Main.yaml", "resources: { a: { type: shelf:Thing } }\n");
    stack.up().ok();
    stack.file("Main.json", "{\n\t\"resources\": {\n\t\t\"b\": {\"type\": \"shelf:Thng\"}\n\t}\n}");
    stack.up().failed_with("Main.json:3:");
    assert_eq!(stack.names(), ["a"]);
    for file in ["Main.json", "Main.yaml", "Pulumi.yaml"] {
        std::fs::remove_file(stack.path().join(file)).unwrap();
    }
    stack.up().failed_with("there is no program in");
}

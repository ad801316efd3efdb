//! Options of resources.

use crate::stack::Stack;
use serde_json::json;

#[test]
fn options_reach_the_state() {
    let mut stack = Stack::new(
        "config: { guard: { type: boolean } }
resources:
  parent: { type: shelf:Thing, options: { protect: '${guard}' } }
  child: { type: shelf:Thing, options: { parent: '${parent}' } }
  a:
    type: shelf:Thing
    properties: { text: t }
    options:
      additionalSecretOutputs: [text]
      customTimeouts: { create: 5m, update: '${time}', delete: 1h30m }
      dependsOn: ['${parent}', '${child}']
      ignoreChanges: [text, 'value.deep']
      retainOnDelete: true
      deletedWith: ${parent}
      replaceOnChanges: [count]
      hideDiffs: [value]
      deleteBeforeReplace: false
      replaceWith: ['${parent}']
      replacementTrigger: { v: '${child.id}' }
variables: { time: 90s }
",
    )
    .config("shop:guard", "true");
    stack.up().ok();
    let (parent, child, a) = (stack.resource("parent"), stack.resource("child"), stack.resource("a"));
    assert!(parent.protect && child.protect, "children are protected with their parents");
    assert_eq!(child.urn.as_str(), "urn:pulumi:dev::shop::shelf:index:Thing$shelf:index:Thing::child");
    assert_eq!(a.additional_secret_outputs, ["text", "hidden"], "the schema's secrets are added");
    let timeouts = a.custom_timeouts.as_ref().unwrap();
    assert_eq!(format!("{timeouts:?}").matches("300").count(), 1, "{timeouts:?}");
    assert!(
        format!("{timeouts:?}").contains("5400") && format!("{timeouts:?}").contains("90"),
        "{timeouts:?}"
    );
    assert_eq!(stack.dependencies("a"), ["child", "parent"]);
    assert_eq!(a.ignore_changes, ["text", "value.deep"]);
    assert!(a.retain_on_delete);
    assert_eq!(a.deleted_with.name(), "parent");
    assert_eq!(a.replace_on_changes, ["count"]);
    assert_eq!(format!("{:?}", a.hide_diff), "[\"value\"]");
    assert_eq!(a.replace_with.len(), 1);
    let trigger: serde_json::Value = a.replacement_trigger.as_ref().unwrap().decode().unwrap();
    assert_eq!(trigger, json!({ "v": "id-child" }));
}

#[test]
fn a_default_provider_serves_its_package() {
    let mut stack = Stack::new(
        "resources:
  a: { type: shelf:Thing }
  prov: { type: 'pulumi:providers:shelf', defaultProvider: true, properties: { zone: z } }
  other: { type: 'pulumi:providers:shelf', properties: { zone: y } }
  b: { type: shelf:Thing, options: { provider: '${other}' } }
  c: { type: shelf:Thing, options: { parent: '${b}' } }
",
    );
    stack.up().ok();
    let provider = |name: &str| stack.resource(name).provider.clone();
    assert!(provider("a").contains("::prov::"), "{}", provider("a"));
    assert!(provider("b").contains("::other::"), "{}", provider("b"));
    assert!(provider("c").contains("::prov::"), "{}", provider("c"));
}

#[test]
fn aliases_keep_what_was_renamed() {
    let mut stack = Stack::new(
        "resources: { a: { type: shelf:Thing, properties: { text: t } }, p: { type: shelf:Thing } }\n",
    );
    stack.up().ok();
    stack.program(
        "resources:
  p: { type: shelf:Thing }
  b: { type: shelf:Thing, properties: { text: t }, options: { aliases: [{ name: a }], parent: '${p}' } }
",
    );
    stack.shelf.calls.lock().unwrap().clear();
    // The alias keeps the parent, so that it names nothing.
    stack.up().ok();
    assert!(stack.shelf.called().contains(&"create b".to_owned()));
    stack.program(
        "resources:
  p: { type: shelf:Thing }
  c:
    type: shelf:Thing
    properties: { text: t }
    options: { aliases: [{ name: b, parent: '${p}' }, 'urn:pulumi:dev::shop::shelf:index:Thing::x'] }
",
    );
    stack.shelf.calls.lock().unwrap().clear();
    stack.up().ok();
    assert_eq!(stack.shelf.called(), [""; 0], "c is what b was");
}

#[test]
fn options_that_make_no_sense_are_refused() {
    for (options, expected) in [
        ("{ protct: true }", "did you mean `protect`?"),
        ("{ dependsOn: '${a}' }", "dependsOn value must be a list of resources"),
        ("{ dependsOn: [x] }", "expected resource, got a string"),
        ("{ parent: '${a.id}' }", "resource cannot be an output"),
        ("{ provider: '${a}' }", "was not a provider resource"),
        ("{ protect: '${a.id}' }", "protect must not be an output"),
        ("{ protect: maybe }", "protect must be a boolean value"),
        ("{ customTimeouts: { create: soon } }", "`soon` is not a duration"),
        ("{ customTimeouts: { create: 5 } }", "must be a string, got a number"),
        ("{ ignoreChanges: text }", "ignoreChanges must be a list"),
        ("{ retainOnDelete: 1 }", "retainOnDelete must be a boolean"),
        ("{ version: '${v}' }", "version must be a string"),
        ("{ version: 'x.y' }", "is not a version"),
        ("{ envVarMappings: { A: B } }", "only be used with provider resources"),
        ("{ aliases: [{ nam: x }] }", "nam"),
        ("{ aliases: ['nonsense'] }", "does not start with `urn:pulumi:`"),
    ] {
        let mut stack = Stack::new(&format!(
            "variables: {{ v: 1.0.0 }}
resources:
  a: {{ type: shelf:Thing }}
  b: {{ type: shelf:Thing, options: {options} }}
"
        ));
        let outcome = stack.up();
        let errors = outcome.errors();
        assert!(
            errors.iter().any(|error| error.contains(expected)),
            "{options}: {expected:?} not in {errors:#?}"
        );
        outcome.failed();
    }
}

//! Values of the configuration.

use crate::stack::Stack;
use serde_json::json;

const SHOW: &str = "outputs: { it: '${it}' }\n";

#[test]
fn given_values_are_what_their_texts_mean() {
    for (text, expected) in [
        ("5", json!(5)),
        ("1.5", json!(1.5)),
        ("true", json!(true)),
        ("007", json!("007")),
        ("0.5", json!(0.5)),
        ("hello", json!("hello")),
        ("[1, \"a\"]", json!([1, "a"])),
        ("{\"a\": {\"b\": null}}", json!({ "a": {} })),
        ("\"quoted\"", json!("quoted")),
        ("nan", json!("nan")),
        ("", json!("")),
    ] {
        let mut stack =
            Stack::new(&format!("config: {{ it: {{ type: string }} }}\n{SHOW}")).config("shop:it", text);
        stack.up().ok();
        assert_eq!(stack.output("it"), expected, "{text}");
    }
}

#[test]
fn a_secret_value_is_one_wherever_it_goes() {
    let mut stack = Stack::new(
        "config: { it: { type: string } }
resources: { a: { type: shelf:Thing, properties: { text: 'x${it}' } } }
outputs: { it: '${it}', full: '${shop:it}' }
",
    )
    .secret("shop:it", "hush");
    stack.up().ok();
    assert_eq!(stack.output("it"), json!({ "secret": "hush" }));
    assert_eq!(stack.output("full"), json!({ "secret": "hush" }));
    assert_eq!(stack.input("a", "text"), json!({ "secret": "xhush" }));
}

#[test]
fn defaults_stand_in_for_what_is_not_given() {
    let mut stack = Stack::new(
        "config:
  it: { default: [1, 2] }
  port: { type: integer, default: 8080 }
  hidden: { type: string, default: h, secret: true }
  named: { type: string, name: other }
configuration:
  old: { type: string, default: o }
outputs: { it: '${it}', port: '${port}', hidden: '${hidden}', named: '${named}', old: '${old}', region: '${aws:region}' }
",
    )
    .config("shop:other", "5")
    .config("aws:region", "eu-west-1");
    let outcome = stack.up().ok();
    assert!(
        outcome.said(drystone_engine::Severity::Warning).iter().any(|said| said.contains("`configuration`"))
    );
    assert_eq!(stack.output("it"), json!([1, 2]));
    assert_eq!(stack.output("port"), json!(8080));
    assert_eq!(stack.output("hidden"), json!({ "secret": "h" }));
    assert_eq!(stack.output("named"), json!("5"));
    assert_eq!(stack.output("old"), json!("o"));
    assert_eq!(stack.output("region"), json!("eu-west-1"));
}

#[test]
fn what_is_missing_or_wrong_is_told_with_its_place() {
    for (declared, expected) in [
        ("{ type: string }", "Pulumi.yaml:3:11: missing required configuration variable 'shop:it'"),
        ("{ secret: true }", "either 'default' or 'type' is required"),
        ("{ type: strin }", "unexpected configuration type 'strin'"),
        ("{ type: integer, default: x }", "default value is a string but type integer was specified"),
        ("{ type: List<number>, default: [1, x] }", "type List<number> was specified"),
    ] {
        let mut stack = Stack::new(&format!("config: {{ it: {declared} }}\n{SHOW}"));
        stack.up().failed_with(expected);
    }
}

#[test]
fn a_range_of_versions_is_held() {
    let mut stack =
        Stack::new("pulumi: { requiredVersion: '>=3.100.0' }\nresources: { a: { type: shelf:Thing } }\n");
    stack.up().ok();
    stack.program("pulumi: { requiredVersion: '>=4.0.0' }\nresources: { a: { type: shelf:Thing } }\n");
    stack.up().failed_with("does not satisfy the version range");
}

//! What is wrong with inputs is said at once, by name, with a suggestion.

use crate::harness::{Bench, props, urn};
use drystone_engine::{CheckArguments, Provider};
use drystone_model::Value;
use serde_json::{Value as Json, json};

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let bench = Bench::new();
    assert_eq!(
        bench.failures("local:File", &json!({ "contnet": "x", "file_permission": "0644", "source": ["a"] })),
        [
            "contnet: unknown property `contnet`; did you mean `content`?",
            "file_permission: unknown property `file_permission`; did you mean `filePermission`?",
            "source: `source` must be a string, not a list",
            "filename: missing required property `filename`",
        ]
    );
    assert_eq!(
        bench.failures("random:RandomString", &json!({ "length": 4, "result": "x", "zzzzzz": 1 })),
        ["result: `result` is an output and cannot be set", "zzzzzz: unknown property `zzzzzz`"]
    );
    assert_eq!(
        bench.failures("http:Request", &json!({ "url": "http://a.example", "retry": { "atempts": 1 } })),
        [
            "retry.atempts: unknown property `atempts`; did you mean `attempts`?",
            "retry.attempts: missing required property `attempts`"
        ]
    );
    assert_eq!(
        bench.failures("command:Command", &json!({ "logging": "stdou", "environment": { "A": ["b"] } })),
        [
            "environment[\"A\"]: `environment[\"A\"]` must be a string, not a list",
            "logging: `logging` must be one of `stdout`, `stderr`, `stdoutAndStderr`, `none`; did you mean `stdout`?"
        ]
    );
}

#[test]
fn rules_beyond_types_are_checked() {
    let bench = Bench::new();
    let one_of_each: [(&str, Json, &str); 16] = [
        ("random:RandomId", json!({ "byteLength": 0 }), "1 to 65536"),
        ("random:RandomPet", json!({ "length": 1000 }), "1 to 64"),
        ("random:RandomBytes", json!({ "length": -1 }), "1 to 65536"),
        ("random:RandomInteger", json!({ "min": 2, "max": 1 }), "`max` is less than `min`"),
        ("random:RandomPassword", json!({ "length": 2, "minLower": 3 }), "less than the minimums"),
        ("random:RandomString", json!({ "length": 2, "minUpper": 1, "upper": false }), "forbids"),
        (
            "random:RandomString",
            json!({ "length": 2, "lower": false, "upper": false, "numeric": false, "special": false }),
            "no characters are allowed",
        ),
        ("local:File", json!({ "filename": "a", "content": "", "source": "b" }), "exactly one of"),
        ("local:File", json!({ "filename": "a", "contentBase64": "%" }), "is not base64"),
        ("local:File", json!({ "filename": "a", "content": "", "filePermission": "rw" }), "octal digits"),
        ("time:Static", json!({ "rfc3339": "yesterday" }), "RFC 3339"),
        ("time:Rotating", json!({}), "must be given"),
        ("time:Rotating", json!({ "rotationDays": 0 }), "at least 1"),
        ("time:Sleep", json!({ "createDuration": "-1s" }), "must be a duration"),
        ("http:Request", json!({ "url": "file:///etc/passwd" }), "`http://` or `https://`"),
        (
            "archive:File",
            json!({ "type": "zip", "outputPath": "a.zip", "sources": [{ "filename": "../a", "content": "" }] }),
            "without `..`",
        ),
    ];
    for (kind, inputs, says) in one_of_each {
        let failures = bench.failures(kind, &inputs);
        assert!(failures.len() == 1 && failures[0].contains(says), "{kind} {inputs}: {failures:#?}");
    }
}

#[test]
fn texts_and_numbers_become_each_other() {
    let bench = Bench::new();
    let checked = bench
        .check("random:RandomString", &json!({ "length": "8", "keepers": { "v": 1 }, "upper": "false" }));
    assert!(checked.failures.is_empty(), "{checked:#?}");
    assert_eq!(checked.properties["length"], Value::from(8));
    assert_eq!(checked.properties["upper"], Value::Bool(false));
    assert_eq!(checked.properties["keepers"], Value::object([("v", "1")]));
    assert_eq!(checked.properties["special"], Value::Bool(true));
    assert_eq!(
        bench.failures("random:RandomString", &json!({ "length": 1.5, "minLower": "x", "lower": "yes" })),
        [
            "length: `length` must be a whole number, not this number",
            "lower: `lower` must be true or false, not this string",
            "minLower: `minLower` must be a whole number, not this string",
        ]
    );
}

#[test]
fn what_is_not_known_yet_or_null_is_no_failure() {
    let bench = Bench::new();
    let unknown = json!({ "unknown": true });
    for (kind, inputs) in [
        ("local:File", json!({ "filename": unknown, "content": unknown, "source": null })),
        ("random:RandomPassword", json!({ "length": unknown, "minLower": unknown })),
        ("time:Rotating", json!({ "rotationDays": unknown })),
        ("http:Request", json!({ "url": unknown })),
        ("archive:File", json!({ "type": "zip", "outputPath": unknown, "sources": unknown })),
        ("command:Command", json!({ "create": unknown, "triggers": [unknown] })),
    ] {
        assert_eq!(bench.failures(kind, &inputs), [""; 0], "{kind}");
    }
}

#[test]
fn s17_messages_repeat_no_values() {
    let bench = Bench::new();
    for (kind, inputs) in [
        ("random:RandomString", json!({ "length": { "secret": "hush-hush" } })),
        ("command:Command", json!({ "logging": { "secret": "hush-hush" } })),
        ("http:Request", json!({ "url": { "secret": "hush-hush" } })),
        ("local:File", json!({ "filename": "a", "contentBase64": { "secret": "hush-hush%" } })),
    ] {
        let failures = bench.failures(kind, &inputs);
        assert!(failures.len() == 1 && !failures[0].contains("hush"), "{kind}: {failures:#?}");
    }
}

#[test]
fn an_unknown_resource_or_function_is_named_with_the_nearest() {
    let bench = Bench::new();
    let arguments = CheckArguments { urn: urn("random:Pat", "x"), ..CheckArguments::default() };
    let error = bench.run(bench.provider.check(arguments)).unwrap_err();
    assert_eq!(
        error.message,
        "the package `drystone` has no resource `drystone:random:Pat`; did you mean `drystone:random:Pet`?"
    );
    let error = bench.invoke("drystone:http:getHtp", &json!({})).unwrap_err();
    assert!(error.message.ends_with("did you mean `drystone:http:getHttp`?"), "{error}");
    let invoked = bench.invoke("drystone:http:getHttp", &json!({ "ulr": "x" })).unwrap();
    assert_eq!(invoked.failures.len(), 2, "{invoked:#?}");
}

#[test]
fn a_hostile_name_is_not_repeated_whole() {
    let bench = Bench::new();
    let inputs = json!({ "x".repeat(1 << 20): 1, "length": 1 });
    let failures = bench.failures("random:RandomString", &inputs);
    assert!(failures.len() == 1 && failures[0].len() < 400, "{}", failures[0].len());
}

#[test]
fn the_provider_takes_no_configuration() {
    let bench = Bench::new();
    let config = |inputs: Json| CheckArguments { new_inputs: props(&inputs), ..CheckArguments::default() };
    let checked = bench.run(bench.provider.check_config(config(json!({ "version": "0.1.0" })))).unwrap();
    assert!(checked.failures.is_empty());
    let checked = bench.run(bench.provider.check_config(config(json!({ "region": "eu" })))).unwrap();
    assert_eq!(checked.failures.len(), 1);
}

#[test]
fn s17_what_becomes_the_id_cannot_be_secret() {
    let bench = Bench::new();
    let hidden = json!({ "secret": "2020-02-12T06:36:13Z" });
    for (kind, inputs) in [
        ("local:File", json!({ "filename": hidden, "content": "" })),
        ("local:Directory", json!({ "path": hidden })),
        ("archive:File", json!({ "type": "zip", "outputPath": hidden, "sources": [] })),
        ("random:Pet", json!({ "prefix": hidden })),
        ("time:Static", json!({ "rfc3339": hidden })),
        ("time:Rotating", json!({ "rfc3339": hidden, "rotationDays": 1 })),
        ("time:Offset", json!({ "baseRfc3339": hidden, "offsetDays": 1 })),
    ] {
        let failures = bench.failures(kind, &inputs);
        assert!(failures.len() == 1 && failures[0].ends_with("it cannot be secret"), "{kind}: {failures:#?}");
    }
}

//! Properties whose changes the program ignores.

use crate::harness::{Outcome, Stack, TestProvider, program};
use drystone_engine::{Program, PropertyMap, Severity};
use drystone_model::Value;
use std::sync::Arc;

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::object(members.map(|(key, value)| (key.to_owned(), value)))
}

fn ignoring(paths: &[&str], inputs: Value) -> Arc<dyn Program> {
    let paths: Vec<String> = paths.iter().map(|&path| path.to_owned()).collect();
    program(move |p| {
        let (paths, inputs) = (paths.clone(), inputs.clone());
        async move {
            let mut a = p.resource("pkgA:m:T", "a");
            a.request.properties = inputs.as_object().cloned().unwrap_or_default();
            a.options(|options| options.ignore_changes = paths).register().await?;
            Ok(())
        }
    })
}

/// The steps and the inputs after a change of inputs.
fn change(paths: &[&str], from: Value, to: Value) -> (Outcome, String) {
    let mut stack = Stack::new();
    stack.up(ignoring(paths, from)).ok();
    let outcome = stack.up(ignoring(paths, to)).ok();
    let inputs = stack.resource("a").inputs.text().to_owned();
    (outcome, inputs)
}

#[test]
fn a_changed_value_stays_as_it_was() {
    let (outcome, inputs) = change(&["size"], object([("size", 1.into())]), object([("size", 2.into())]));
    assert!(outcome.steps().is_empty());
    assert_eq!(inputs, r#"{"size":1}"#);
}

#[test]
fn other_changes_are_made() {
    let (outcome, inputs) = change(
        &["size"],
        object([("size", 1.into()), ("kind", "x".into())]),
        object([("size", 2.into()), ("kind", "y".into())]),
    );
    assert_eq!((outcome.steps(), inputs.as_str()), (vec!["update a".to_owned()], r#"{"kind":"y","size":1}"#));
}

#[test]
fn a_property_that_was_added_or_removed_is_ignored_too() {
    let (outcome, inputs) = change(&["size"], object([]), object([("size", 2.into())]));
    assert_eq!((outcome.steps().len(), inputs.as_str()), (0, "{}"));
    let (outcome, inputs) = change(&["size"], object([("size", 2.into())]), object([]));
    assert_eq!((outcome.steps().len(), inputs.as_str()), (0, r#"{"size":2}"#));
}

#[test]
fn paths_lead_into_objects_and_lists() {
    let nested = |x: i64, y: i64| {
        object([("deep", object([("list", Value::Array(vec![object([("x", x.into()), ("y", y.into())])]))]))])
    };
    let (outcome, inputs) = change(&["deep.list[0].x"], nested(1, 1), nested(2, 1));
    assert!(outcome.steps().is_empty());
    assert_eq!(inputs, r#"{"deep":{"list":[{"x":1,"y":1}]}}"#);
    let (outcome, inputs) = change(&["deep.list[0].x"], nested(1, 1), nested(2, 2));
    assert_eq!((outcome.steps().len(), inputs.as_str()), (1, r#"{"deep":{"list":[{"x":1,"y":2}]}}"#));
}

#[test]
fn a_star_names_every_member() {
    let tags = |a: i64, b: i64| object([("tags", object([("a", a.into()), ("b", b.into())]))]);
    assert!(change(&["tags.*"], tags(1, 1), tags(2, 3)).0.steps().is_empty());
    assert!(change(&["*"], tags(1, 1), tags(2, 3)).0.steps().is_empty());
    let list = |a: i64, b: i64| object([("list", Value::Array(vec![a.into(), b.into()]))]);
    assert!(change(&["list[*]"], list(1, 1), list(2, 3)).0.steps().is_empty());
}

#[test]
fn what_cannot_be_ignored_is_said_and_changed() {
    let list =
        |items: Vec<i64>| object([("list", Value::Array(items.into_iter().map(Value::from).collect()))]);
    let (outcome, inputs) = change(&["list[1]"], list(vec![1]), list(vec![1, 2]));
    assert_eq!(
        outcome.diagnostics(Severity::Info).first().map(String::as_str),
        Some("cannot ignore changes in added or removed elements of the path: \"list[1]\"")
    );
    assert_eq!((outcome.steps().len(), inputs.as_str()), (1, r#"{"list":[1,2]}"#));
}

#[test]
fn secrets_are_ignored_as_other_values_are() {
    let key = |text: &str| object([("key", Value::secret(text.into()))]);
    assert!(change(&["key"], key("one"), key("two")).0.steps().is_empty());
    assert_eq!(change(&[], key("one"), key("two")).0.steps(), ["update a"]);
}

#[test]
fn the_provider_is_told_and_never_sees_the_change() {
    let provider = TestProvider {
        diff: Some(Arc::new(|arguments| {
            assert_eq!(arguments.ignore_changes, ["size"]);
            Ok(drystone_engine::Diff::some())
        })),
        update: Some(Arc::new(|arguments| {
            assert_eq!(arguments.ignore_changes, ["size"]);
            assert_eq!(arguments.new_inputs["size"], Value::from(1));
            Ok(drystone_engine::AppliedState { outputs: arguments.new_inputs, ..Default::default() })
        })),
        ..TestProvider::default()
    };
    let mut stack = Stack::with_provider("pkgA", provider);
    stack.up(ignoring(&["size"], object([("size", 1.into())]))).ok();
    assert_eq!(stack.up(ignoring(&["size"], object([("size", 2.into())]))).ok().steps(), ["update a"]);
}

#[test]
fn the_first_value_is_given() {
    let mut stack = Stack::new();
    stack.up(ignoring(&["size"], object([("size", 1.into())]))).ok();
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":1}"#);
    assert_eq!(stack.resource("a").ignore_changes, ["size"]);
}

#[test]
fn a_replacement_gets_what_the_program_says() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]));
    stack.up(ignoring(&["size"], object([("size", 1.into()), ("kind", "x".into())]))).ok();
    stack.up(ignoring(&["size"], object([("size", 2.into()), ("kind", "y".into())]))).ok();
    assert_eq!(stack.resource("a").inputs.text(), r#"{"kind":"y","size":2}"#);
}

#[test]
fn a_refresh_does_not_call_what_is_ignored_a_difference() {
    let mut stack = Stack::new();
    stack.up(ignoring(&["size"], object([("size", 1.into())]))).ok();
    let found = PropertyMap::from([("size".to_owned(), Value::from(9))]);
    stack.providers["pkgA"].cloud.lock().unwrap().insert("a-1".into(), found);
    let outcome = stack.refresh().ok();
    assert_eq!(outcome.count(drystone_engine::Op::Update), 0);
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":9}"#);
    assert!(stack.up(ignoring(&["size"], object([("size", 1.into())]))).ok().steps().is_empty());
}

#[test]
fn a_path_that_is_none_is_passed_over() {
    let (outcome, _) = change(&["size["], object([("size", 1.into())]), object([("size", 2.into())]));
    assert_eq!(outcome.steps(), ["update a"]);
}

//! Properties whose changes replace a resource because the program says so.

use crate::harness::{Outcome, Stack, TestProvider, diff_by_keys, program};
use drystone_engine::{AppliedState, Diff, DiffKind, Program, PropertyDiff};
use drystone_model::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

fn object<const N: usize>(members: [(&str, i64); N]) -> Value {
    Value::object(members.map(|(key, value)| (key.to_owned(), Value::from(value))))
}

fn with(paths: &[&str], value: Value) -> Arc<dyn Program> {
    let paths: Vec<String> = paths.iter().map(|&path| path.to_owned()).collect();
    program(move |p| {
        let (paths, value) = (paths.clone(), value.clone());
        async move {
            let a = p.resource("pkgA:m:T", "a").input("value", value).input("other", 1);
            a.options(|options| options.replace_on_changes = paths).register().await?;
            Ok(())
        }
    })
}

fn change(paths: &[&str], from: Value, to: Value) -> Outcome {
    let mut stack = Stack::new();
    stack.up(with(paths, from)).ok();
    stack.up(with(paths, to)).ok()
}

fn replaces(paths: &[&str], from: Value, to: Value) -> bool {
    change(paths, from, to).steps().contains(&"replace a".to_owned())
}

#[test]
fn a_change_of_a_named_property_replaces() {
    assert!(replaces(&["value"], 1.into(), 2.into()));
    assert!(!replaces(&["other"], 1.into(), 2.into()));
    assert!(!replaces(&[], 1.into(), 2.into()));
}

#[test]
fn a_change_inside_a_named_property_replaces() {
    assert!(replaces(&["value"], object([("x", 1)]), object([("x", 2)])));
    assert!(replaces(&["value.x"], object([("x", 1), ("y", 1)]), object([("x", 2), ("y", 1)])));
    assert!(!replaces(&["value.x"], object([("x", 1), ("y", 1)]), object([("x", 1), ("y", 2)])));
}

#[test]
fn a_star_names_everything() {
    assert!(replaces(&["*"], 1.into(), 2.into()));
    assert!(replaces(&["value.*"], object([("x", 1)]), object([("x", 2)])));
    assert!(replaces(&["value[*]"], Value::Array(vec![1.into()]), Value::Array(vec![2.into()])));
}

#[test]
fn nothing_is_replaced_without_a_change() {
    assert!(change(&["*"], 1.into(), 1.into()).steps().is_empty());
}

#[test]
fn the_event_says_why() {
    let outcome = change(&["value"], 1.into(), 2.into());
    let step = &outcome.steps_of("a")[0];
    assert_eq!(step.replace_keys, ["value"]);
    assert_eq!(step.detailed.as_ref().unwrap()["value"].kind, DiffKind::UpdateReplace);
}

#[test]
fn the_details_that_a_provider_tells_are_compared_with_the_paths() {
    let provider = TestProvider {
        diff: Some(Arc::new(|arguments| {
            let mut diff = diff_by_keys(&arguments, &[], false);
            let change = PropertyDiff { kind: DiffKind::Add, input_diff: false };
            diff.detailed = Some(BTreeMap::from([("deep.inside[2]".to_owned(), change)]));
            Ok(diff)
        })),
        ..TestProvider::default()
    };
    for (path, replaced) in [("deep", true), ("deep.inside[*]", true), ("deep.outside", false)] {
        let mut stack = Stack::with_provider("pkgA", provider.clone());
        stack.up(with(&[path], 1.into())).ok();
        let outcome = stack.up(with(&[path], 2.into())).ok();
        assert_eq!(outcome.steps().contains(&"replace a".to_owned()), replaced, "{path}");
    }
}

#[test]
fn a_provider_that_sees_no_change_is_believed() {
    let provider = TestProvider { diff: Some(Arc::new(|_| Ok(Diff::none()))), ..TestProvider::default() };
    let mut stack = Stack::with_provider("pkgA", provider);
    stack.up(with(&["*"], 1.into())).ok();
    assert!(stack.up(with(&["*"], 2.into())).ok().steps().is_empty());
}

#[test]
fn something_that_was_not_ready_is_replaced_when_everything_replaces() {
    for (paths, step) in [(&["*"][..], "replace a"), (&["value"][..], "update a")] {
        let mut stack = Stack::new();
        stack.providers.get_mut("pkgA").unwrap().create = Some(Arc::new(|arguments| {
            let incomplete = vec!["warming up".to_owned()];
            Ok(AppliedState {
                id: "first".into(),
                outputs: arguments.inputs,
                incomplete,
                ..AppliedState::default()
            })
        }));
        stack.up(with(paths, 1.into())).failed("warming up");
        stack.providers.get_mut("pkgA").unwrap().create = None;
        let outcome = stack.up(with(paths, 1.into())).ok();
        assert!(outcome.steps().contains(&step.to_owned()), "{:?}", outcome.steps());
    }
}

#[test]
fn a_path_that_is_none_is_refused() {
    let mut stack = Stack::new();
    stack.up(with(&["value"], 1.into())).ok();
    let outcome = stack.up(with(&["value["], 2.into()));
    assert_eq!(outcome.report.ending, drystone_engine::Ending::Failed);
    assert_eq!(stack.resource("a").id, "a-1");
}

#[test]
fn a_component_is_told_that_the_option_does_nothing() {
    let mut stack = Stack::new();
    let outcome = stack
        .up(program(|p| async move {
            let c = p.component("m:m:C", "c");
            c.options(|options| options.replace_on_changes = vec!["x".into()]).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(
        outcome.diagnostics(drystone_engine::Severity::Warning),
        ["The option 'replaceOnChanges' has no automatic effect on component resources."]
    );
}

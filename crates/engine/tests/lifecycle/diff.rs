//! What new inputs mean for a resource that exists.

use crate::harness::{Outcome, Stack, TestProvider, diff_by_keys, program};
use drystone_engine::{
    AppliedState, Diff, DiffArguments, DiffKind, Op, Program, PropertyDiff, ProviderError, ProviderErrorKind,
    Severity,
};
use drystone_model::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

fn with(inputs: Value) -> Arc<dyn Program> {
    program(move |p| {
        let inputs = inputs.clone();
        async move {
            let mut a = p.resource("pkgA:m:T", "a");
            a.request.properties = inputs.as_object().cloned().unwrap_or_default();
            a.register().await?;
            Ok(())
        }
    })
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::object(members.map(|(key, value)| (key.to_owned(), value)))
}

fn sized(size: i64) -> Arc<dyn Program> {
    with(object([("size", size.into())]))
}

fn answering(answer: impl Fn(DiffArguments) -> Result<Diff, ProviderError> + Send + Sync + 'static) -> Stack {
    Stack::with_provider("pkgA", TestProvider { diff: Some(Arc::new(answer)), ..TestProvider::default() })
}

fn asked(stack: &Stack) -> usize {
    stack.calls("pkgA").iter().filter(|call| call.method == "diff").count()
}

/// The kinds of changes that the first step of `a` tells.
fn details(outcome: &Outcome) -> Vec<(String, &'static str)> {
    let detailed = outcome.steps_of("a")[0].detailed.clone().unwrap_or_default();
    detailed.into_iter().map(|(path, change)| (path, change.kind.as_str())).collect()
}

#[test]
fn where_the_provider_does_not_say_inputs_are_compared() {
    let mut stack = Stack::new();
    stack.up(sized(1)).ok();
    assert!(stack.up(sized(1)).ok().steps().is_empty());
    assert_eq!(asked(&stack), 1);
    let outcome = stack.up(sized(2)).ok();
    assert_eq!(outcome.steps(), ["update a"]);
    assert_eq!(outcome.steps_of("a")[0].changed_keys, ["size"]);
}

#[test]
fn a_comparison_tells_every_change_by_its_path() {
    let mut stack = Stack::new();
    let list = |items: Vec<i64>| Value::Array(items.into_iter().map(Value::from).collect());
    stack
        .up(with(object([
            ("gone", 1.into()),
            ("same", 1.into()),
            ("deep", object([("x", 1.into()), ("a.b", 1.into())])),
            ("list", list(vec![1, 2, 3])),
        ])))
        .ok();
    let outcome = stack
        .up(with(object([
            ("new", 1.into()),
            ("same", 1.into()),
            ("deep", object([("x", 2.into()), ("a.b", 2.into())])),
            ("list", list(vec![1, 9])),
        ])))
        .ok();
    let expected = [
        ("deep.x", "update"),
        ("deep[\"a.b\"]", "update"),
        ("gone", "delete"),
        ("list[1]", "update"),
        ("list[2]", "delete"),
        ("new", "add"),
    ];
    assert_eq!(details(&outcome), expected.map(|(path, kind)| (path.to_owned(), kind)));
}

#[test]
fn that_something_became_secret_is_no_change() {
    let mut stack = Stack::new();
    stack.up(with(object([("key", "k".into())]))).ok();
    let outcome = stack.up(with(object([("key", Value::secret("k".into()))]))).ok();
    assert!(outcome.steps().is_empty());
    assert!(stack.resource("a").inputs.text().contains("ciphertext"), "but the state keeps the secret");
}

#[test]
fn nothing_and_null_are_the_same() {
    let mut stack = Stack::new();
    stack.up(with(object([("size", 1.into())]))).ok();
    let outcome = stack.up(with(object([("size", 1.into()), ("kind", Value::Null)]))).ok();
    assert!(outcome.steps().is_empty());
}

#[test]
fn the_provider_decides_where_it_says() {
    let mut stack = answering(|_| Ok(Diff::some()));
    stack.up(sized(1)).ok();
    assert_eq!(stack.up(sized(1)).ok().steps(), ["update a"]);
    let mut stack = answering(|_| Ok(Diff::none()));
    stack.up(sized(1)).ok();
    assert!(stack.up(sized(2)).ok().steps().is_empty());
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":2}"#, "the state has what the program says");
}

#[test]
fn the_provider_is_told_what_was_and_what_is_wanted() {
    let mut stack = Stack::new();
    stack.providers.get_mut("pkgA").unwrap().create = Some(Arc::new(|_| {
        let outputs = object([("computed", 9.into())]).as_object().cloned().unwrap_or_default();
        Ok(AppliedState { id: "id".into(), outputs, ..AppliedState::default() })
    }));
    stack.up(sized(1)).ok();
    stack.providers.get_mut("pkgA").unwrap().diff = Some(Arc::new(|arguments| {
        assert_eq!(arguments.id, "id");
        assert_eq!(arguments.old_inputs["size"], Value::from(1));
        assert_eq!(arguments.new_inputs["size"], Value::from(2));
        assert_eq!(arguments.old_outputs["computed"], Value::from(9));
        Ok(Diff::none())
    }));
    stack.up(sized(2)).ok();
    assert_eq!(asked(&stack), 1);
}

#[test]
fn keys_that_replace_replace() {
    let mut stack = answering(|arguments| Ok(diff_by_keys(&arguments, &["size"], false)));
    stack.up(sized(1)).ok();
    let outcome = stack.up(sized(2)).ok();
    assert_eq!(outcome.steps(), ["create-replacement a", "replace a", "delete-replaced a"]);
    assert_eq!(outcome.count(Op::Replace), 1);
    let step = &outcome.steps_of("a")[0];
    assert_eq!(
        (step.replace_keys.as_slice(), step.changed_keys.as_slice()),
        (["size".into()].as_slice(), ["size".into()].as_slice())
    );
}

#[test]
fn details_that_replace_replace() {
    let mut stack = answering(|_| {
        let change = PropertyDiff { kind: DiffKind::UpdateReplace, input_diff: false };
        Ok(Diff { detailed: Some(BTreeMap::from([("size".to_owned(), change)])), ..Diff::some() })
    });
    stack.up(sized(1)).ok();
    let outcome = stack.up(sized(1)).ok();
    assert!(outcome.steps().contains(&"replace a".to_owned()));
    assert_eq!(details(&outcome), [("size".to_owned(), "update-replace")]);
}

#[test]
fn the_program_can_overrule_which_one_goes_first() {
    for (provider, program_says, effects) in [
        (true, None, ["delete a", "create a"]),
        (true, Some(false), ["create a", "delete a"]),
        (false, Some(true), ["delete a", "create a"]),
        (false, None, ["create a", "delete a"]),
    ] {
        let mut stack = answering(move |arguments| Ok(diff_by_keys(&arguments, &["size"], provider)));
        let run = |size: i64| {
            program(move |p| async move {
                let a = p.resource("pkgA:m:T", "a").input("size", size);
                a.options(|options| options.delete_before_replace = program_says).register().await?;
                Ok(())
            })
        };
        stack.up(run(1)).ok();
        stack.calls("pkgA");
        stack.up(run(2)).ok();
        assert_eq!(stack.effects("pkgA"), effects);
    }
}

#[test]
fn a_difference_that_cannot_be_told_is_an_update_with_a_warning() {
    let mut stack = answering(|_| {
        let message = "the provider is not configured yet".to_owned();
        Err(ProviderError { kind: ProviderErrorKind::DiffUnavailable, message })
    });
    stack.up(sized(1)).ok();
    let outcome = stack.preview(sized(1)).ok();
    assert_eq!(outcome.steps(), ["update a"]);
    assert_eq!(outcome.diagnostics(Severity::Warning), ["the provider is not configured yet"]);
}

#[test]
fn a_provider_that_fails_to_compare_fails_the_run() {
    let mut stack = answering(|_| Err(ProviderError::new("confused")));
    stack.up(sized(1)).ok();
    stack.up(sized(1)).failed("confused");
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":1}"#);
}

#[test]
fn the_old_way_of_comparing_does_not_ask_about_inputs_that_are_the_same() {
    let mut stack = answering(|_| Ok(Diff::some()));
    stack.options.legacy_diff = true;
    stack.up(sized(1)).ok();
    assert!(stack.up(sized(1)).ok().steps().is_empty());
    assert_eq!(asked(&stack), 0);
    assert_eq!(stack.up(sized(2)).ok().steps(), ["update a"]);
}

#[test]
fn a_component_changes_with_its_inputs() {
    let mut stack = Stack::new();
    let run = |size: i64| {
        program(move |p| async move {
            p.component("m:m:C", "c").input("size", size).register().await?;
            Ok(())
        })
    };
    stack.up(run(1)).ok();
    assert!(stack.up(run(1)).ok().steps().is_empty());
    assert_eq!(stack.up(run(2)).ok().steps(), ["update c"]);
    assert_eq!(stack.resource("c").inputs.text(), r#"{"size":2}"#);
}

#[test]
fn what_was_not_ready_is_updated_although_nothing_differs() {
    let mut stack = answering(|_| Ok(Diff::none()));
    stack.providers.get_mut("pkgA").unwrap().create = Some(Arc::new(|arguments| {
        let incomplete = vec!["warming up".to_owned()];
        Ok(AppliedState { id: "id".into(), outputs: arguments.inputs, incomplete, ..AppliedState::default() })
    }));
    stack.up(sized(1)).failed("warming up");
    let outcome = stack.up(sized(1)).ok();
    assert_eq!(outcome.steps(), ["update a"]);
    assert!(stack.resource("a").init_errors.is_empty());
}

#[test]
fn an_update_that_leaves_it_not_ready_keeps_the_old_inputs() {
    let mut stack = Stack::new();
    stack.up(sized(1)).ok();
    stack.providers.get_mut("pkgA").unwrap().update = Some(Arc::new(|arguments| {
        let incomplete = vec!["half way".to_owned()];
        Ok(AppliedState { outputs: arguments.new_inputs, incomplete, ..AppliedState::default() })
    }));
    stack.up(sized(2)).failed("half way");
    let a = stack.resource("a");
    assert_eq!((a.inputs.text(), a.outputs.text()), (r#"{"size":1}"#, r#"{"size":2}"#));
    assert_eq!(a.init_errors, ["half way"]);
}

#[test]
fn the_kind_of_a_resource_is_a_difference_of_providers() {
    let mut stack = Stack::new();
    let run = |custom: bool| {
        program(move |p| async move {
            match custom {
                true => p.resource("pkgA:m:T", "a").register().await?,
                false => p.component("pkgA:m:T", "a").register().await?,
            };
            Ok(())
        })
    };
    stack.up(run(false)).ok();
    stack.up(run(true)).ok();
    assert_eq!((stack.resource("a").custom, stack.resource("a").id.as_str()), (true, "a-1"));
    stack.up(run(false)).ok();
    assert!(!stack.resource("a").custom && stack.providers["pkgA"].ids().is_empty());
}

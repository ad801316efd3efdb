//! A value whose change replaces a resource.

use crate::harness::{Stack, program, unknown};
use drystone_engine::Program;
use drystone_model::{Json, Output, Value};
use std::sync::Arc;

fn triggered(trigger: impl Into<Option<Value>>) -> Arc<dyn Program> {
    let trigger = trigger.into();
    program(move |p| {
        let trigger = trigger.clone();
        async move {
            let a = p.resource("pkgA:m:T", "a").input("size", 1);
            a.options(|options| options.replacement_trigger = trigger).register().await?;
            Ok(())
        }
    })
}

/// Whether going from one trigger to the other replaces.
fn replaces(from: impl Into<Option<Value>>, to: impl Into<Option<Value>>) -> bool {
    let mut stack = Stack::new();
    stack.up(triggered(from)).ok();
    let steps = stack.up(triggered(to)).ok().steps();
    assert_eq!(stack.names(), ["shop-dev", "a"]);
    match steps.as_slice() {
        [] => false,
        [create, replace, delete] => {
            assert_eq!([create, replace, delete], ["create-replacement a", "replace a", "delete-replaced a"]);
            true
        }
        other => panic!("{other:?}"),
    }
}

fn output(value: Value) -> Value {
    Value::Output(Box::new(Output { value: Some(value), secret: false, dependencies: Vec::new() }))
}

fn list(value: Value) -> Value {
    Value::Array(vec![value])
}

#[test]
fn another_value_replaces() {
    assert!(replaces(Value::from("one"), Value::from("two")));
    assert!(replaces(Value::from(1), Value::from("1")));
}

#[test]
fn the_same_value_does_not() {
    assert!(!replaces(Value::from("one"), Value::from("one")));
    assert!(!replaces(list(1.into()), list(1.into())));
}

#[test]
fn setting_it_for_the_first_time_and_taking_it_away_do_not() {
    assert!(!replaces(None, Value::from("one")));
    assert!(!replaces(Value::from("one"), None));
}

#[test]
fn what_is_inside_counts() {
    assert!(replaces(list(1.into()), list(2.into())));
}

#[test]
fn secrets_count_by_what_they_hold() {
    assert!(!replaces(Value::from("one"), Value::secret("one".into())));
    assert!(!replaces(Value::secret("one".into()), Value::from("one")));
    assert!(!replaces(list(Value::secret("one".into())), list("one".into())));
    assert!(replaces(Value::secret("one".into()), Value::secret("two".into())));
}

#[test]
fn outputs_count_by_what_they_hold() {
    assert!(!replaces(Value::from("one"), output("one".into())));
    assert!(replaces(output("one".into()), output("two".into())));
}

#[test]
fn the_state_keeps_it_and_keeps_secrets_secret() {
    let mut stack = Stack::new();
    stack.up(triggered(Value::from("one"))).ok();
    assert_eq!(stack.resource("a").replacement_trigger.as_ref().map(Json::text), Some("\"one\""));
    stack.up(triggered(Value::secret("one".into()))).ok();
    let kept = stack.resource("a").replacement_trigger.clone().unwrap();
    assert!(kept.text().contains("ciphertext"));
}

#[test]
fn a_value_that_is_not_known_yet_replaces_in_a_preview() {
    let mut stack = Stack::new();
    stack.up(triggered(Value::from("one"))).ok();
    let outcome = stack.preview(triggered(unknown())).ok();
    assert!(outcome.steps().contains(&"replace a".to_owned()));
}

#[test]
fn a_value_that_is_not_known_is_refused_in_an_update() {
    let mut stack = Stack::new();
    stack.up(triggered(Value::from("one"))).ok();
    stack
        .up(triggered(unknown()))
        .failed("replacement trigger contains unknowns for urn:pulumi:dev::shop::pkgA:m:T::a");
    assert_eq!(stack.resource("a").id, "a-1");
}

#[test]
fn the_provider_is_not_asked_what_the_change_means() {
    let mut stack = Stack::new();
    stack.up(triggered(Value::from("one"))).ok();
    stack.calls("pkgA");
    stack.up(triggered(Value::from("two"))).ok();
    assert!(stack.calls("pkgA").iter().all(|call| call.method != "diff"));
}

#[test]
fn the_old_one_is_deleted_first_where_the_program_says_so() {
    let mut stack = Stack::new();
    let run = |trigger: &'static str| {
        program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a");
            a.options(|options| {
                options.replacement_trigger = Some(trigger.into());
                options.delete_before_replace = Some(true);
            })
            .register()
            .await?;
            Ok(())
        })
    };
    stack.up(run("one")).ok();
    stack.up(run("two")).ok();
    assert_eq!(stack.effects("pkgA"), ["create a", "delete a", "create a"]);
}

//! What a stack gives to the outside.

use crate::harness::{P, Stack, program};
use drystone_engine::{MonitorError, Program, PropertyMap, ProviderError};
use drystone_model::Value;
use std::sync::Arc;

fn map<const N: usize>(members: [(&str, Value); N]) -> PropertyMap {
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// A program that sets outputs and then ends as the closure says.
fn giving<F>(outputs: PropertyMap, then: impl Fn(P) -> F + Send + Sync + Copy + 'static) -> Arc<dyn Program>
where
    F: Future<Output = Result<(), MonitorError>> + Send + 'static,
{
    program(move |p| {
        let outputs = outputs.clone();
        async move {
            p.stack_outputs(outputs).await?;
            then(p).await
        }
    })
}

fn well<const N: usize>(outputs: [(&str, Value); N]) -> Arc<dyn Program> {
    giving(map(outputs), |_| async { Ok(()) })
}

fn outputs(stack: &Stack) -> &str {
    stack.resource("shop-dev").outputs.text()
}

#[test]
fn outputs_stand_in_the_state_of_the_stack() {
    let mut stack = Stack::new();
    stack.up(well([("first", 1.into()), ("second", "two".into())])).ok();
    assert_eq!(outputs(&stack), r#"{"first":1,"second":"two"}"#);
}

#[test]
fn outputs_that_are_not_given_any_more_go() {
    let mut stack = Stack::new();
    stack.up(well([("first", 1.into()), ("second", 2.into())])).ok();
    stack.up(well([("second", 3.into())])).ok();
    assert_eq!(outputs(&stack), r#"{"second":3}"#);
}

#[test]
fn unchanged_outputs_write_nothing() {
    let mut stack = Stack::new();
    stack.up(well([("first", 1.into())])).ok();
    assert_eq!(stack.up(well([("first", 1.into())])).ok().entries, 0);
}

#[test]
fn a_program_that_fails_keeps_the_outputs_that_it_did_not_come_to() {
    let mut stack = Stack::new();
    stack.up(well([("first", 0.into()), ("second", 0.into())])).ok();
    let bang = |_| async { Err(MonitorError::new("bang")) };
    stack.up(giving(map([("first", 1.into())]), bang)).failed("bang");
    assert_eq!(outputs(&stack), r#"{"first":1,"second":0}"#);
    stack.up(giving(PropertyMap::new(), bang)).failed("bang");
    assert_eq!(outputs(&stack), r#"{"first":1,"second":0}"#);
    stack.up(well([("first", 3.into()), ("second", 3.into())])).ok();
    assert_eq!(outputs(&stack), r#"{"first":3,"second":3}"#);
}

#[test]
fn a_resource_that_fails_keeps_the_outputs_of_before() {
    let mut stack = Stack::new();
    stack.up(well([("first", 0.into())])).ok();
    stack.providers.get_mut("pkgA").unwrap().create = Some(Arc::new(|_| Err(ProviderError::new("no room"))));
    let fail = |p: P| async move { p.resource("pkgA:m:T", "a").register().await.map(|_| ()) };
    stack
        .up(program(move |p| async move {
            fail(p.clone()).await?;
            p.stack_outputs(PropertyMap::new()).await
        }))
        .failed("no room");
    assert_eq!(outputs(&stack), r#"{"first":0}"#);
    stack.up(giving(map([("first", 2.into())]), fail)).failed("no room");
    assert_eq!(outputs(&stack), r#"{"first":2}"#);
}

#[test]
fn a_program_that_gives_none_leaves_them_as_they_are() {
    let mut stack = Stack::new();
    stack.up(well([("first", 0.into())])).ok();
    stack.up(program(|_| async { Ok(()) })).ok();
    assert_eq!(outputs(&stack), r#"{"first":0}"#);
}

#[test]
fn a_refresh_leaves_them_as_they_are() {
    let mut stack = Stack::new();
    stack.up(well([("first", 0.into())])).ok();
    stack.refresh().ok();
    assert_eq!(outputs(&stack), r#"{"first":0}"#);
}

#[test]
fn secret_outputs_are_sealed() {
    let mut stack = Stack::new();
    let outcome = stack.up(well([("key", Value::secret("hunter2".into()))])).ok();
    assert!(outputs(&stack).contains("ciphertext") && !outputs(&stack).contains("hunter2"));
    assert!(!outcome.journal.concat().contains("hunter2"));
}

#[test]
fn a_refused_deletion_counts_as_a_failure_for_them_too() {
    let mut stack = Stack::new();
    stack
        .up(giving(map([("first", 0.into()), ("second", 0.into())]), |p| async move {
            let a = p.resource("pkgA:m:T", "a").options(|options| options.protect = Some(true));
            a.register().await.map(|_| ())
        }))
        .ok();
    stack.up(well([("first", 1.into())])).failed("protected");
    assert_eq!(outputs(&stack), r#"{"first":1,"second":0}"#);
}

#[test]
fn another_stack_is_referred_to_by_its_name() {
    let mut stack = Stack::new();
    let given = map([("url", "http://x".into()), ("key", Value::secret("s".into()))]);
    stack.other_stacks.insert("organization/shop/base".to_owned(), given);
    stack
        .up(program(|p| async move {
            let base = p.resource("pulumi:pulumi:StackReference", "base");
            let base = base.input("name", "organization/shop/base").register().await?;
            let outputs = base.properties["outputs"].revealed();
            p.stack_outputs(map([("url", outputs.get("url").cloned().unwrap())])).await
        }))
        .ok();
    assert_eq!(outputs(&stack), r#"{"url":"http://x"}"#);
}

#[test]
fn a_stack_that_does_not_exist_cannot_be_referred_to() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let base = p.resource("pulumi:pulumi:StackReference", "base").input("name", "nowhere");
            base.register().await.map(|_| ())
        }))
        .failed("unknown stack \"nowhere\"");
}

#[test]
fn a_run_that_is_asked_to_stop_keeps_the_outputs_that_it_did_not_come_to() {
    let mut stack = Stack::new();
    stack.up(well([("first", 0.into()), ("second", 0.into())])).ok();
    let cancellation = stack.cancellation.clone();
    let program = program(move |p| {
        let cancellation = cancellation.clone();
        async move {
            p.stack_outputs(map([("first", 1.into())])).await?;
            cancellation.request(drystone_engine::CancelLevel::Graceful);
            Ok(())
        }
    });
    let outcome = stack.up(program);
    assert_eq!(outcome.report.ending, drystone_engine::Ending::Cancelled);
    assert_eq!(outputs(&stack), r#"{"first":1,"second":0}"#);
}

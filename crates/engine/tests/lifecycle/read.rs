//! Resources that exist and are only looked at.

use crate::harness::{Stack, TestProvider, program, unknown};
use drystone_engine::{Op, Program, PropertyMap, ReadRequest, ReadState};
use drystone_model::{Computed, Value};
use std::sync::Arc;

/// A stack where `real` and `other` exist.
fn real() -> Stack {
    let stack = Stack::new();
    for (id, size) in [("real", 1), ("other", 2)] {
        let outputs = PropertyMap::from([("size".to_owned(), Value::from(size))]);
        stack.providers["pkgA"].cloud.lock().unwrap().insert(id.to_owned(), outputs);
    }
    stack
}

fn reading(id: &'static str) -> Arc<dyn Program> {
    program(move |p| async move {
        let a = p.read("pkgA:m:T", "a", id).await?;
        assert!(a.properties.contains_key("size"));
        Ok(())
    })
}

fn owning() -> Arc<dyn Program> {
    program(|p| async move {
        p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
        Ok(())
    })
}

fn none() -> Arc<dyn Program> {
    program(|_| async move { Ok(()) })
}

#[test]
fn what_is_read_is_in_the_state_as_something_external() {
    let mut stack = real();
    let outcome = stack.up(reading("real")).ok();
    assert_eq!((outcome.steps(), outcome.count(Op::Read)), (vec!["read a".to_owned()], 0));
    let a = stack.resource("a");
    assert_eq!((a.external, a.custom, a.id.as_str()), (true, true, "real"));
    assert_eq!((a.inputs.text(), a.outputs.text()), ("{}", r#"{"size":1}"#));
}

#[test]
fn reading_the_same_again_changes_nothing() {
    let mut stack = real();
    stack.up(reading("real")).ok();
    let before = stack.snapshot.clone();
    let outcome = stack.up(reading("real")).ok();
    assert_eq!((outcome.entries, outcome.count(Op::Read)), (0, 0));
    assert_eq!(stack.snapshot, before);
}

#[test]
fn a_read_that_finds_something_else_is_counted() {
    let mut stack = real();
    stack.up(reading("real")).ok();
    let outputs = PropertyMap::from([("size".to_owned(), Value::from(5))]);
    stack.providers["pkgA"].cloud.lock().unwrap().insert("real".to_owned(), outputs);
    assert_eq!(stack.up(reading("real")).ok().count(Op::Read), 1);
    assert_eq!(stack.resource("a").outputs.text(), r#"{"size":5}"#);
}

#[test]
fn another_id_of_something_external_is_read_in_its_place() {
    let mut stack = real();
    stack.up(reading("real")).ok();
    let outcome = stack.up(reading("other")).ok();
    assert_eq!(outcome.steps(), ["read a"]);
    assert_eq!((stack.names().len(), stack.resource("a").id.as_str()), (2, "other"));
}

#[test]
fn what_was_read_is_forgotten_and_not_deleted() {
    let mut stack = real();
    stack.up(reading("real")).ok();
    stack.calls("pkgA");
    let outcome = stack.up(none()).ok();
    assert_eq!(outcome.steps(), ["discard a"]);
    assert!(stack.effects("pkgA").is_empty());
    assert_eq!(stack.names(), ["shop-dev"]);
    stack.up(reading("real")).ok();
    stack.destroy().ok();
    assert!(stack.snapshot.resources.is_empty());
    assert_eq!(stack.providers["pkgA"].ids(), ["other", "real"]);
}

#[test]
fn reading_what_the_stack_owns_lets_it_go() {
    let mut stack = real();
    stack.up(owning()).ok();
    stack.calls("pkgA");
    let outcome = stack.up(reading("a-1")).ok();
    assert_eq!(outcome.steps(), ["read a"]);
    assert_eq!((stack.resource("a").external, stack.effects("pkgA").len()), (true, 1));
    stack.up(none()).ok();
    assert!(stack.providers["pkgA"].ids().contains(&"a-1".to_owned()));
}

#[test]
fn reading_something_else_than_what_the_stack_owns_replaces_it() {
    let mut stack = real();
    stack.up(owning()).ok();
    stack.calls("pkgA");
    let outcome = stack.up(reading("real")).ok();
    assert_eq!(outcome.steps(), ["read-replacement a", "replace a", "delete-replaced a"]);
    assert_eq!(stack.effects("pkgA"), ["read a", "delete a"]);
    assert_eq!((stack.names().len(), stack.resource("a").id.as_str()), (2, "real"));
    assert_eq!(stack.providers["pkgA"].ids(), ["other", "real"]);
}

#[test]
fn what_was_read_and_is_now_registered_is_made_anew() {
    let mut stack = real();
    stack.up(reading("real")).ok();
    stack.calls("pkgA");
    let outcome = stack.up(owning()).ok();
    assert_eq!(outcome.steps(), ["create-replacement a", "replace a", "discard-replaced a"]);
    assert_eq!(stack.effects("pkgA"), ["create a"]);
    assert_eq!((stack.resource("a").external, stack.resource("a").id.as_str()), (false, "a-1"));
    assert_eq!(stack.providers["pkgA"].ids(), ["a-1", "other", "real"]);
}

#[test]
fn an_id_that_is_not_known_yet_is_not_read_in_a_preview() {
    let mut stack = real();
    let outcome = stack
        .preview(program(|p| async move {
            let a = p.read("pkgA:m:T", "a", Computed::String.sentinel()).await?;
            assert!(a.properties.is_empty());
            Ok(())
        }))
        .ok();
    assert_eq!(outcome.steps(), ["read a"]);
    assert!(stack.effects("pkgA").is_empty());
}

#[test]
fn a_preview_reads_what_is_known() {
    let mut stack = real();
    stack.preview(reading("real")).ok();
    assert_eq!(stack.effects("pkgA"), ["read a"]);
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn something_that_does_not_exist_cannot_be_read() {
    let mut stack = real();
    stack.up(reading("nothing")).failed("resource 'nothing' does not exist");
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn an_answer_without_an_id_leaves_the_one_that_was_asked_for() {
    let mut stack = real();
    stack.providers.get_mut("pkgA").unwrap().read = Some(Arc::new(|_| {
        let outputs = PropertyMap::from([("size".to_owned(), Value::from(3))]);
        Ok(ReadState { outputs: Some(outputs), ..ReadState::default() })
    }));
    stack.up(reading("real")).ok();
    assert_eq!(stack.resource("a").id, "real");
}

#[test]
fn an_id_is_needed() {
    let mut stack = real();
    stack.up(reading("")).failed("Expected an ID for urn:pulumi:dev::shop::pkgA:m:T::a");
}

#[test]
fn a_name_can_be_read_or_registered_once() {
    let mut stack = real();
    let outcome = stack.up(program(|p| async move {
        p.resource("pkgA:m:T", "a").register().await?;
        p.read("pkgA:m:T", "a", "real").await?;
        Ok(())
    }));
    outcome.failed("Duplicate resource URN");
}

#[test]
fn what_is_there_but_not_ready_is_recorded_and_fails_the_run() {
    let mut stack = real();
    stack.providers.get_mut("pkgA").unwrap().read = Some(Arc::new(|arguments| {
        let incomplete = vec!["warming up".to_owned()];
        Ok(ReadState {
            id: arguments.id,
            outputs: Some(PropertyMap::new()),
            incomplete,
            ..ReadState::default()
        })
    }));
    stack
        .up(program(|p| async move { p.read("pkgA:m:T", "a", "real").await.map(|_| ()) }))
        .failed("warming up");
    assert_eq!(stack.resource("a").init_errors, ["warming up"]);
}

#[test]
fn the_provider_is_told_what_the_program_knows_and_the_state_keeps_it() {
    let mut stack = real();
    stack
        .up(program(|p| async move {
            let properties = PropertyMap::from([("hint".to_owned(), Value::from("blue"))]);
            let request = ReadRequest {
                type_token: "pkgA:m:T".into(),
                name: "a".into(),
                id: "real".into(),
                properties,
                ..ReadRequest::default()
            };
            p.monitor.read(request).await?;
            Ok(())
        }))
        .ok();
    let calls = stack.calls("pkgA");
    let read = calls.iter().find(|call| call.method == "read").unwrap();
    assert_eq!(read.inputs["hint"], Value::from("blue"));
    assert_eq!(stack.resource("a").inputs.text(), r#"{"hint":"blue"}"#);
}

#[test]
fn others_can_depend_on_what_was_read() {
    let mut stack = real();
    stack
        .up(program(|p| async move {
            let a = p.read("pkgA:m:T", "a", "real").await?;
            p.resource("pkgA:m:T", "b").input_from("size", &a, "size").register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "b"]);
    assert_eq!(stack.resource("b").inputs.text(), r#"{"size":1}"#);
}

#[test]
fn an_explicit_provider_reads() {
    let mut stack = real();
    stack
        .up(program(|p| async move {
            let provider = p.resource("pulumi:providers:pkgA", "explicit").register().await?;
            let request = ReadRequest {
                type_token: "pkgA:m:T".into(),
                name: "a".into(),
                id: "real".into(),
                provider: format!("{}::{}", provider.urn, provider.id),
                ..ReadRequest::default()
            };
            p.monitor.read(request).await?;
            Ok(())
        }))
        .ok();
    assert!(stack.resource("a").provider.contains("::explicit::"));
    assert!(stack.find("default").is_none());
}

#[test]
fn a_destroy_with_the_program_forgets_what_it_reads() {
    let mut stack = real();
    stack.up(reading("real")).ok();
    stack.destroy_with(reading("real")).ok();
    assert!(stack.snapshot.resources.is_empty());
    assert_eq!(stack.providers["pkgA"].ids(), ["other", "real"]);
}

#[test]
fn secrets_of_what_was_read_are_kept_secret() {
    let mut stack = real();
    stack
        .up(program(|p| async move {
            let request = ReadRequest {
                type_token: "pkgA:m:T".into(),
                name: "a".into(),
                id: "real".into(),
                additional_secret_outputs: vec!["size".into()],
                ..ReadRequest::default()
            };
            p.monitor.read(request).await?;
            Ok(())
        }))
        .ok();
    assert!(stack.resource("a").outputs.text().contains("ciphertext"));
}

#[test]
fn unknown_properties_do_not_keep_a_preview_from_reading() {
    let mut stack = Stack::with_provider(
        "pkgA",
        TestProvider {
            read: Some(Arc::new(|arguments| {
                assert!(arguments.inputs["hint"].contains_unknowns());
                Ok(ReadState { id: arguments.id, outputs: Some(PropertyMap::new()), ..ReadState::default() })
            })),
            ..TestProvider::default()
        },
    );
    stack
        .preview(program(|p| async move {
            let request = ReadRequest {
                type_token: "pkgA:m:T".into(),
                name: "a".into(),
                id: "real".into(),
                properties: PropertyMap::from([("hint".to_owned(), unknown())]),
                ..ReadRequest::default()
            };
            p.monitor.read(request).await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.effects("pkgA"), ["read a"]);
}

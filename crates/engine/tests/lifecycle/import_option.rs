//! Taking over something that exists, by the resource option.

use crate::harness::{Stack, TestProvider, diff_by_keys, program};
use drystone_engine::{Op, Operation, Program, PropertyMap, ProviderError, ReadState};
use drystone_model::Value;
use std::sync::Arc;

/// A stack where `real` and `other` exist and a change of `kind` replaces.
fn existing() -> Stack {
    let provider = TestProvider {
        diff: Some(Arc::new(|arguments| Ok(diff_by_keys(&arguments, &["kind"], false)))),
        ..TestProvider::default()
    };
    let stack = Stack::with_provider("pkgA", provider);
    for (id, size) in [("real", 1), ("other", 2)] {
        let found = [("size".to_owned(), Value::from(size)), ("kind".to_owned(), Value::from("x"))];
        stack.providers["pkgA"].cloud.lock().unwrap().insert(id.to_owned(), PropertyMap::from(found));
    }
    stack
}

fn importing(id: &'static str, size: i64, kind: &'static str) -> Arc<dyn Program> {
    program(move |p| async move {
        let a = p.resource("pkgA:m:T", "a").input("size", size).input("kind", kind);
        a.options(|options| options.import_id = id.into()).register().await?;
        Ok(())
    })
}

#[test]
fn something_that_is_as_the_program_wants_it_is_taken_over() {
    let mut stack = existing();
    let outcome = stack.up(importing("real", 1, "x")).ok();
    assert_eq!(outcome.steps(), ["import a"]);
    assert_eq!(outcome.count(Op::Import), 1);
    assert_eq!(stack.effects("pkgA"), ["read a"]);
    let a = stack.resource("a");
    assert_eq!((a.id.as_str(), a.import_id.as_str(), a.external), ("real", "real", false));
    assert!(a.created.is_some() && a.inputs.text().contains(r#""size":1"#));
}

#[test]
fn it_is_taken_over_once() {
    let mut stack = existing();
    stack.up(importing("real", 1, "x")).ok();
    let before = stack.snapshot.clone();
    let outcome = stack.up(importing("real", 1, "x")).ok();
    assert_eq!((outcome.entries, outcome.steps().len()), (0, 0));
    assert_eq!(stack.snapshot, before);
}

#[test]
fn what_differs_is_updated_right_away() {
    let mut stack = existing();
    let outcome = stack.up(importing("real", 7, "x")).ok();
    assert_eq!(outcome.steps(), ["import a", "update a"]);
    assert_eq!(stack.effects("pkgA"), ["read a", "update a"]);
    assert!(stack.resource("a").inputs.text().contains(r#""size":7"#));
    assert_eq!((stack.resource("a").import_id.as_str(), stack.names().len()), ("real", 2));
}

#[test]
fn an_update_that_fails_leaves_what_was_taken_over() {
    let mut stack = existing();
    stack.providers.get_mut("pkgA").unwrap().update = Some(Arc::new(|_| Err(ProviderError::new("denied"))));
    stack.up(importing("real", 7, "x")).failed("denied");
    assert!(stack.resource("a").inputs.text().contains(r#""size":1"#));
    assert_eq!(stack.resource("a").id, "real");
}

#[test]
fn something_that_would_have_to_be_replaced_is_refused() {
    let mut stack = existing();
    stack
        .up(importing("real", 1, "y"))
        .failed("previously-imported resources that still specify an ID may not be replaced");
    assert_eq!(stack.providers["pkgA"].ids(), ["other", "real"]);
}

#[test]
fn a_preview_only_warns_of_that() {
    let mut stack = existing();
    let outcome = stack.preview(importing("real", 1, "y")).ok();
    let warnings = outcome.diagnostics(drystone_engine::Severity::Warning);
    assert!(warnings.iter().any(|text| text.starts_with("previously-imported resources")));
}

#[test]
fn it_can_be_replaced_once_the_option_is_gone() {
    let mut stack = existing();
    stack.up(importing("real", 1, "x")).ok();
    let outcome = stack.up(importing("", 1, "y")).ok();
    assert_eq!(outcome.steps(), ["create-replacement a", "replace a", "delete-replaced a"]);
    assert!(stack.resource("a").import_id.is_empty());
}

#[test]
fn taking_the_option_away_changes_nothing_in_the_world() {
    let mut stack = existing();
    stack.up(importing("real", 1, "x")).ok();
    stack.calls("pkgA");
    assert!(stack.up(importing("", 1, "x")).ok().steps().is_empty());
    assert!(stack.effects("pkgA").is_empty());
}

#[test]
fn another_id_takes_the_place_of_what_the_stack_has() {
    let mut stack = existing();
    stack.up(importing("real", 1, "x")).ok();
    let outcome = stack.up(importing("other", 2, "x")).ok();
    assert_eq!(outcome.steps(), ["import-replacement a", "replace a", "delete-replaced a"]);
    assert_eq!((stack.names().len(), stack.resource("a").id.as_str()), (2, "other"));
    assert_eq!(stack.providers["pkgA"].ids(), ["other"]);
}

#[test]
fn adding_the_id_that_it_has_changes_nothing() {
    let mut stack = existing();
    stack.up(importing("", 1, "x")).ok();
    stack.calls("pkgA");
    stack.up(importing("a-1", 1, "x")).ok();
    assert!(stack.effects("pkgA").is_empty());
    assert_eq!(stack.resource("a").import_id, "a-1");
}

#[test]
fn the_provider_may_know_it_under_another_id() {
    let mut stack = existing();
    stack.providers.get_mut("pkgA").unwrap().read = Some(Arc::new(|_| {
        let found = [("size".to_owned(), Value::from(1)), ("kind".to_owned(), Value::from("x"))];
        let found = Some(PropertyMap::from(found));
        Ok(ReadState { id: "arn:real".into(), inputs: found.clone(), outputs: found, ..ReadState::default() })
    }));
    stack.up(importing("real", 1, "x")).ok();
    let a = stack.resource("a");
    assert_eq!((a.id.as_str(), a.import_id.as_str()), ("arn:real", "real"));
    stack.calls("pkgA");
    stack.up(importing("real", 1, "x")).ok();
    assert!(stack.effects("pkgA").is_empty());
}

#[test]
fn something_that_does_not_exist_cannot_be_taken_over() {
    let mut stack = existing();
    stack.up(importing("nothing", 1, "x")).failed("resource 'nothing' does not exist");
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn a_provider_that_does_not_tell_inputs_cannot_import() {
    let mut stack = existing();
    stack.providers.get_mut("pkgA").unwrap().read = Some(Arc::new(|arguments| {
        Ok(ReadState { id: arguments.id, outputs: Some(PropertyMap::new()), ..ReadState::default() })
    }));
    stack
        .up(importing("real", 1, "x"))
        .failed("provider does not support importing resources; please try updating the 'pkgA' plugin");
}

#[test]
fn a_read_that_fails_fails_it() {
    let mut stack = existing();
    stack.providers.get_mut("pkgA").unwrap().read = Some(Arc::new(|_| Err(ProviderError::new("no access"))));
    stack.up(importing("real", 1, "x")).failed("no access");
    assert!(stack.snapshot.pending_operations.is_empty());
}

#[test]
fn ignored_differences_are_left_as_they_are() {
    let mut stack = existing();
    let outcome = stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("size", 7).input("kind", "x");
            a.options(|options| {
                options.import_id = "real".into();
                options.ignore_changes = vec!["size".into()];
            })
            .register()
            .await?;
            Ok(())
        }))
        .ok();
    assert_eq!(outcome.steps(), ["import a"]);
    assert!(stack.resource("a").inputs.text().contains(r#""size":1"#));
}

#[test]
fn something_that_is_not_ready_is_updated() {
    let mut stack = existing();
    stack.providers.get_mut("pkgA").unwrap().read = Some(Arc::new(|arguments| {
        let found = [("size".to_owned(), Value::from(1)), ("kind".to_owned(), Value::from("x"))];
        let found = Some(PropertyMap::from(found));
        let incomplete = vec!["warming up".to_owned()];
        Ok(ReadState {
            id: arguments.id,
            inputs: found.clone(),
            outputs: found,
            incomplete,
            ..ReadState::default()
        })
    }));
    let outcome = stack.up(importing("real", 1, "x")).ok();
    assert_eq!(outcome.steps(), ["import a", "update a"]);
    assert!(stack.resource("a").init_errors.is_empty());
}

#[test]
fn a_preview_reads_and_writes_nothing() {
    let mut stack = existing();
    let outcome = stack.preview(importing("real", 7, "x")).ok();
    assert_eq!(outcome.steps(), ["import a", "update a"]);
    let calls = stack.calls("pkgA");
    assert!(calls.iter().filter(|call| call.method == "update").all(|call| call.dry_run));
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn what_was_only_read_can_be_taken_over() {
    let mut stack = existing();
    stack
        .up(program(|p| async move {
            p.read("pkgA:m:T", "a", "real").await?;
            Ok(())
        }))
        .ok();
    let outcome = stack.up(importing("real", 1, "x")).ok();
    assert_eq!(outcome.steps(), ["import-replacement a", "replace a", "discard-replaced a"]);
    assert!(!stack.resource("a").external);
    assert_eq!(stack.providers["pkgA"].ids(), ["other", "real"]);
}

#[test]
fn what_was_taken_over_is_deleted_with_the_stack() {
    let mut stack = existing();
    stack.up(importing("real", 1, "x")).ok();
    stack.operate(Operation::Destroy, false, None).ok();
    assert_eq!(stack.providers["pkgA"].ids(), ["other"]);
}

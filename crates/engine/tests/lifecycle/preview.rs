//! Saying what would be done.

use crate::harness::{P, Stack, TestProvider, program, unknown};
use drystone_engine::{
    AppliedState, Diff, Event, Op, Operation, Program, ProviderError, ProviderErrorKind, RefreshMode,
    Severity,
};
use drystone_model::Value;
use std::sync::{Arc, Mutex};

fn one(size: i64) -> Arc<dyn Program> {
    program(move |p: P| async move {
        p.resource("pkgA:m:T", "a").input("size", size).register().await?;
        Ok(())
    })
}

/// What a program saw.
type Seen = Arc<Mutex<Vec<String>>>;

#[test]
fn nothing_is_made_and_nothing_is_written() {
    let mut stack = Stack::new();
    let outcome = stack.preview(one(1)).ok();
    assert_eq!((outcome.steps(), outcome.report.recorded), (vec!["create a".to_owned()], false));
    assert!(stack.snapshot.resources.is_empty() && stack.providers["pkgA"].ids().is_empty());
}

#[test]
fn the_provider_is_told_that_it_is_only_asked() {
    let mut stack = Stack::new();
    stack.preview(one(1)).ok();
    let calls = stack.calls("pkgA");
    let asked: Vec<_> =
        calls.iter().filter(|call| call.urn.name() == "a").map(|c| (c.method, c.dry_run)).collect();
    assert_eq!(asked, [("check", true), ("create", true)]);
}

#[test]
fn an_update_is_only_asked_for_too() {
    let mut stack = Stack::new();
    stack.up(one(1)).ok();
    stack.calls("pkgA");
    stack.preview(one(2)).ok();
    let calls = stack.calls("pkgA");
    let asked: Vec<_> =
        calls.iter().filter(|call| call.urn.name() == "a").map(|c| (c.method, c.dry_run)).collect();
    assert_eq!(asked, [("check", true), ("diff", true), ("update", true)]);
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":1}"#);
}

#[test]
fn deletions_reach_no_provider() {
    let mut stack = Stack::new();
    stack.up(one(1)).ok();
    stack.calls("pkgA");
    let outcome = stack.preview(program(|_| async move { Ok(()) })).ok();
    assert_eq!((outcome.steps(), stack.effects("pkgA").len()), (vec!["delete a".to_owned()], 0));
}

#[test]
fn a_preview_and_the_run_count_the_same_changes() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]));
    let run = |kind: &'static str, names: &'static [&'static str]| {
        program(move |p| async move {
            for name in names {
                p.resource("pkgA:m:T", name).input("kind", kind).register().await?;
            }
            Ok(())
        })
    };
    stack.up(run("x", &["a", "b"])).ok();
    let preview = stack.preview(run("y", &["a", "c"])).ok();
    let real = stack.up(run("y", &["a", "c"])).ok();
    assert_eq!(preview.report.changes, real.report.changes);
    assert_eq!((real.count(Op::Replace), real.count(Op::Create), real.count(Op::Delete)), (1, 1, 1));
}

#[test]
fn what_is_not_made_yet_has_no_id_and_its_unknown_outputs_reach_others_as_unknown() {
    let provider = TestProvider {
        create: Some(Arc::new(|arguments| {
            let mut outputs = arguments.inputs;
            let (id, address) = match arguments.dry_run {
                true => (String::new(), unknown()),
                false => ("i-1".to_owned(), "10.0.0.1".into()),
            };
            outputs.insert("address".to_owned(), address);
            Ok(AppliedState { id, outputs, ..AppliedState::default() })
        })),
        ..TestProvider::default()
    };
    let seen: Seen = Arc::default();
    let told = Arc::clone(&seen);
    let run = program(move |p| {
        let told = Arc::clone(&told);
        async move {
            let a = p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
            let known = !a.properties["address"].contains_unknowns();
            told.lock().unwrap().push(format!("{:?} {} {known}", a.id, a.properties.len()));
            p.resource("pkgB:m:T", "b").input_from("peer", &a, "address").register().await?;
            Ok(())
        }
    });
    let mut stack = Stack::new().and_provider("pkgA", provider);
    stack.preview(Arc::clone(&run)).ok();
    let calls = stack.calls("pkgB");
    let check = calls.iter().find(|call| call.method == "check").unwrap();
    assert!(check.inputs["peer"].contains_unknowns() && check.dry_run);
    stack.up(run).ok();
    assert_eq!(*seen.lock().unwrap(), [r#""" 2 false"#, r#""i-1" 2 true"#]);
    assert_eq!(stack.resource("b").inputs.text(), r#"{"peer":"10.0.0.1"}"#);
}

#[test]
fn an_input_that_becomes_unknown_is_compared_as_such() {
    let mut stack = Stack::new();
    stack.up(one(1)).ok();
    stack.calls("pkgA");
    let outcome = stack
        .preview(program(|p| async move {
            p.resource("pkgA:m:T", "a").input("size", unknown()).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(outcome.steps(), ["update a"]);
}

#[test]
fn a_creation_that_the_provider_refuses_fails_the_preview() {
    let mut stack = Stack::new();
    stack.providers.get_mut("pkgA").unwrap().create = Some(Arc::new(|_| Err(ProviderError::new("no room"))));
    stack.preview(one(1)).failed("no room");
}

#[test]
fn every_step_says_that_it_is_planned() {
    let outcome = Stack::new().preview(one(1)).ok();
    let planned = outcome.steps_of("a").iter().all(|step| step.planning);
    assert!(planned);
    let summary = outcome.events.iter().find_map(|event| match event {
        Event::Summary(summary) => Some(summary.clone()),
        _ => None,
    });
    assert!(summary.unwrap().dry_run);
}

#[test]
fn a_provider_that_cannot_compare_yet_means_an_update_and_a_warning() {
    let mut stack = Stack::new();
    stack.up(one(1)).ok();
    stack.providers.get_mut("pkgA").unwrap().diff = Some(Arc::new(|_| {
        let message = "diff unavailable".to_owned();
        Err(ProviderError { kind: ProviderErrorKind::DiffUnavailable, message })
    }));
    let outcome = stack.preview(one(1)).ok();
    assert_eq!(outcome.steps(), ["update a"]);
    assert_eq!(outcome.diagnostics(Severity::Warning), ["diff unavailable"]);
}

#[test]
fn a_preview_shows_the_stack_outputs() {
    let mut stack = Stack::new();
    let outcome = stack
        .preview(program(|p| async move {
            p.stack_outputs([("url".to_owned(), Value::from("http://x"))].into()).await
        }))
        .ok();
    let shown = outcome.events.iter().any(|event| match event {
        Event::StepDone(step) => {
            step.urn.name() == "shop-dev"
                && step.new.as_ref().is_some_and(|new| new.outputs.contains_key("url"))
        }
        _ => false,
    });
    assert!(shown);
}

#[test]
fn a_preview_with_a_refresh_shows_what_changed_underneath() {
    let mut stack = Stack::new();
    stack.up(one(1)).ok();
    stack.providers["pkgA"].cloud.lock().unwrap().values_mut().for_each(|outputs| {
        outputs.insert("size".to_owned(), 5.into());
    });
    stack.options.refresh = RefreshMode::First;
    let outcome = stack.preview(one(1)).ok();
    assert_eq!(outcome.steps(), ["refresh a", "update a"]);
    assert_eq!(stack.resource("a").outputs.text(), r#"{"size":1}"#);
}

#[test]
fn a_preview_of_a_refresh_writes_nothing() {
    let mut stack = Stack::new();
    stack.up(one(1)).ok();
    stack.providers["pkgA"].cloud.lock().unwrap().clear();
    let outcome = stack.operate(Operation::Refresh, true, None).ok();
    assert_eq!((outcome.count(Op::Delete), stack.names().len()), (1, 2));
}

#[test]
fn a_replacement_is_shown_in_all_its_steps() {
    let provider =
        TestProvider { diff: Some(Arc::new(|_| Ok(Diff::replace("size")))), ..TestProvider::default() };
    let mut stack = Stack::with_provider("pkgA", provider);
    stack.up(one(1)).ok();
    stack.calls("pkgA");
    let outcome = stack.preview(one(2)).ok();
    assert_eq!(outcome.steps(), ["create-replacement a", "replace a", "delete-replaced a"]);
    assert_eq!(stack.providers["pkgA"].ids(), ["a-1"]);
}

#[test]
fn names_that_were_checked_are_the_ones_that_were_previewed() {
    let provider = TestProvider {
        check: Some(Arc::new(|arguments| {
            let mut properties = arguments.new_inputs;
            let random: u32 = arguments.seed.iter().map(|&byte| u32::from(byte)).sum();
            properties.insert("name".to_owned(), format!("a-{random}").into());
            Ok(drystone_engine::Checked { properties, failures: Vec::new() })
        })),
        ..TestProvider::default()
    };
    let mut stack = Stack::with_provider("pkgA", provider);
    let outcome = stack.preview(one(1)).ok();
    assert_eq!(outcome.steps_of("a")[0].new.as_ref().unwrap().inputs["name"], "a-224".into());
}

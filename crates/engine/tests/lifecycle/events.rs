//! What events say of steps beyond what was done.

use crate::harness::{Outcome, P, Stack, TestProvider, program};
use drystone_engine::{Event, Program, ProviderError, ProviderErrorKind, ReadState};
use std::sync::Arc;

fn one(size: i64) -> Arc<dyn Program> {
    program(move |p: P| async move {
        p.resource("pkgA:m:T", "a").input("size", size).register().await?;
        Ok(())
    })
}

/// Whether the state before waits for its deletion, in the events of `a`, as `began create-replacement: false`.
fn condemned(outcome: &Outcome) -> Vec<String> {
    let told = |event: &Event| {
        let (word, step) = match event {
            Event::StepStarted(step) => ("began", step),
            Event::StepDone(step) => ("did", step),
            _ => return None,
        };
        let old = step.old.as_ref().filter(|_| step.urn.name() == "a")?;
        Some(format!("{word} {}: {}", step.op, old.record.delete))
    };
    outcome.events.iter().filter_map(told).collect()
}

#[test]
fn a_state_waits_for_its_deletion_from_when_its_replacement_is_made() {
    for preview in [false, true] {
        let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["size"]));
        stack.up(one(1)).ok();
        let outcome = if preview { stack.preview(one(2)) } else { stack.up(one(2)) }.ok();
        assert_eq!(
            condemned(&outcome),
            [
                "began create-replacement: false",
                "did create-replacement: true",
                "began replace: true",
                "did replace: true",
                "began delete-replaced: true",
                "did delete-replaced: true",
            ],
            "preview: {preview}"
        );
    }
}

#[test]
fn a_state_that_is_deleted_first_never_waits_for_its_deletion() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["size"]));
    stack.up(one(1)).ok();
    let told = condemned(&stack.up(one(2)).ok());
    assert_eq!((told.len(), told.iter().any(|line| line.ends_with("true"))), (6, false), "{told:?}");
}

#[test]
fn a_state_that_an_imported_one_takes_the_place_of_waits_for_its_deletion() {
    let mut stack = Stack::new();
    stack.up(one(1)).ok();
    let cloud = Arc::clone(&stack.providers["pkgA"].cloud);
    let made = cloud.lock().unwrap().values().next().cloned().unwrap();
    cloud.lock().unwrap().insert("found".to_owned(), made);
    let outcome = stack.up(program(|p: P| async move {
        let a = p.resource("pkgA:m:T", "a").input("size", 1);
        a.options(|options| options.import_id = "found".to_owned()).register().await?;
        Ok(())
    }));
    let told = condemned(&outcome.ok());
    assert_eq!(told[..2], ["began import-replacement: false", "did import-replacement: true"]);
}

/// Whether what `a`'s provider did is in doubt: by its step, and by the summary.
fn doubts(outcome: &Outcome) -> (bool, bool) {
    let step = outcome.events.iter().find_map(|event| match event {
        Event::StepFailed(step) if step.urn.name() == "a" => Some(step.doubtful),
        _ => None,
    });
    let whole = outcome.events.iter().find_map(|event| match event {
        Event::Summary(summary) => Some(summary.doubtful),
        _ => None,
    });
    (step.unwrap(), whole.unwrap())
}

fn failing(kind: ProviderErrorKind) -> TestProvider {
    let fail = move || ProviderError { kind, message: "no".to_owned() };
    TestProvider {
        create: Some(Arc::new(move |_| Err(fail()))),
        update: Some(Arc::new(move |_| Err(fail()))),
        read: Some(Arc::new(move |_| Err::<ReadState, _>(fail()))),
        delete: Some(Arc::new(move |_| Err(fail()))),
        ..TestProvider::default()
    }
}

#[test]
fn what_a_provider_did_that_broke_is_in_doubt() {
    use ProviderErrorKind::{Broken, Refused, Unknown};
    for (kind, doubtful) in [(Refused, false), (Broken, true), (Unknown, true)] {
        let mut stack = Stack::with_provider("pkgA", failing(kind));
        assert_eq!(doubts(&stack.up(one(1)).failed("no")), (doubtful, doubtful), "create, {kind:?}");
        stack.snapshot.pending_operations.clear();
        stack.providers.insert("pkgA".to_owned(), TestProvider::default());
        stack.up(one(1)).ok();
        stack.providers.insert("pkgA".to_owned(), failing(kind));
        assert_eq!(doubts(&stack.up(one(2)).failed("no")), (doubtful, doubtful), "update, {kind:?}");
        stack.snapshot.pending_operations.clear();
        assert_eq!(doubts(&stack.refresh().failed("no")), (doubtful, doubtful), "refresh, {kind:?}");
        assert_eq!(doubts(&stack.destroy().failed("no")), (doubtful, doubtful), "delete, {kind:?}");
    }
}

#[test]
fn a_provider_that_broke_and_answered_leaves_no_pending_operation() {
    let mut stack = Stack::with_provider("pkgA", failing(ProviderErrorKind::Broken));
    stack.up(one(1)).failed("no");
    assert_eq!(stack.snapshot.pending_operations.len(), 0);
}

#[test]
fn a_preview_leaves_nothing_in_doubt() {
    let mut stack = Stack::with_provider("pkgA", failing(ProviderErrorKind::Broken));
    assert_eq!(doubts(&stack.preview(one(1)).failed("no")), (true, false));
}

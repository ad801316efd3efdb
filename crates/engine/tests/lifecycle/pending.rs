//! What an interrupted run left: replacements half made, and old halves to be deleted.

use crate::harness::{Act, Stack, TestProvider, program, targets};
use drystone_engine::{AppliedState, Program, ProviderError};
use std::sync::Arc;

fn one(kind: &'static str) -> Arc<dyn Program> {
    program(move |p| async move {
        p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
        Ok(())
    })
}

fn nothing() -> Arc<dyn Program> {
    program(|_| async move { Ok(()) })
}

fn failing<A, R>(message: &'static str) -> Act<A, R> {
    Some(Arc::new(move |_| Err(ProviderError::new(message))))
}

fn provider(stack: &mut Stack) -> &mut TestProvider {
    stack.providers.get_mut("pkgA").unwrap()
}

// Replacements that were interrupted after the deletion.

/// A stack whose `a` was deleted to be replaced, and whose replacement failed.
fn half_replaced() -> Stack {
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["kind"]));
    stack.up(one("x")).ok();
    provider(&mut stack).create = failing("no room");
    stack.up(one("y")).failed("no room");
    provider(&mut stack).create = None;
    stack.calls("pkgA");
    stack
}

#[test]
fn a_resource_that_was_deleted_for_its_replacement_waits_for_it() {
    let stack = half_replaced();
    assert!(stack.resource("a").pending_replacement);
    assert_eq!(stack.resource("a").inputs.text(), r#"{"kind":"x"}"#);
}

#[test]
fn the_next_run_makes_the_replacement_without_deleting_again() {
    let mut stack = half_replaced();
    stack.up(one("y")).ok();
    assert_eq!(stack.effects("pkgA"), ["create a"]);
    assert_eq!((stack.names().len(), stack.resource("a").pending_replacement), (2, false));
}

#[test]
fn it_is_made_even_if_the_program_went_back() {
    let mut stack = half_replaced();
    stack.up(one("x")).ok();
    assert_eq!(stack.effects("pkgA"), ["create a"]);
    assert_eq!(stack.resource("a").inputs.text(), r#"{"kind":"x"}"#);
}

#[test]
fn it_waits_on_when_the_replacement_fails_again() {
    let mut stack = half_replaced();
    provider(&mut stack).create = failing("still no room");
    stack.up(one("y")).failed("still no room");
    assert!(stack.resource("a").pending_replacement);
    provider(&mut stack).create = None;
    stack.up(one("z")).ok();
    assert_eq!(stack.resource("a").inputs.text(), r#"{"kind":"z"}"#);
}

#[test]
fn it_is_forgotten_when_the_program_does_not_want_it_any_more() {
    let mut stack = half_replaced();
    let outcome = stack.up(nothing()).ok();
    assert_eq!(outcome.steps(), ["remove-pending-replace a"]);
    assert_eq!((stack.effects("pkgA").len(), stack.names().len()), (0, 1));
}

#[test]
fn a_destroy_forgets_it_without_asking_the_provider() {
    let mut stack = half_replaced();
    stack.destroy().ok();
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0]);
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_refresh_does_not_read_it() {
    let mut stack = half_replaced();
    stack.refresh().ok();
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0]);
    assert!(stack.resource("a").pending_replacement);
}

#[test]
fn a_deletion_that_failed_leaves_nothing_waiting() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["kind"]));
    stack.up(one("x")).ok();
    provider(&mut stack).delete = failing("in use");
    stack.up(one("y")).failed("in use");
    assert!(!stack.resource("a").pending_replacement);
    provider(&mut stack).delete = None;
    stack.calls("pkgA");
    stack.up(one("y")).ok();
    assert_eq!(stack.effects("pkgA"), ["delete a", "create a"]);
}

#[test]
fn what_depends_on_it_stays_sound_and_is_settled_by_the_next_run() {
    let run = |kind: &'static str| {
        program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
            p.resource("pkgA:m:T", "b").input_from("kind", &a, "kind").register().await?;
            p.resource("pkgA:m:T", "c").depends_on(&a.urn).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["kind"]));
    stack.up(run("x")).ok();
    provider(&mut stack).create = failing("no room");
    stack.up(run("y")).failed("no room");
    let waiting = |name: &str| stack.resource(name).pending_replacement;
    assert_eq!((waiting("a"), waiting("b"), waiting("c")), (true, true, false));
    provider(&mut stack).create = None;
    stack.calls("pkgA");
    stack.up(run("y")).ok();
    assert_eq!(stack.effects("pkgA"), ["create a", "create b"]);
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
}

// Old halves that wait to be deleted.

/// A stack whose `a` was replaced, and whose old `a` could not be deleted.
fn half_deleted() -> Stack {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]));
    stack.up(one("x")).ok();
    provider(&mut stack).delete = failing("in use");
    stack.up(one("y")).failed("in use");
    provider(&mut stack).delete = None;
    stack.calls("pkgA");
    stack
}

#[test]
fn an_old_half_that_could_not_be_deleted_stays_beside_the_new_one() {
    let stack = half_deleted();
    assert_eq!(stack.names(), ["shop-dev", "a", "a!"]);
    assert_eq!(stack.resource("a").id, "a-2");
}

#[test]
fn the_next_run_deletes_the_old_half() {
    let mut stack = half_deleted();
    let outcome = stack.up(one("y")).ok();
    assert_eq!(outcome.steps(), ["delete-replaced a"]);
    let deleted: Vec<_> = stack.calls("pkgA").into_iter().filter(|call| call.method == "delete").collect();
    assert_eq!((deleted.len(), deleted[0].id.as_str()), (1, "a-1"));
    assert_eq!(stack.names(), ["shop-dev", "a"]);
}

#[test]
fn a_resource_that_leaves_takes_its_old_half_along() {
    let mut stack = half_deleted();
    stack.up(nothing()).ok();
    assert_eq!(stack.effects("pkgA"), ["delete a", "delete a"]);
    assert!(stack.providers["pkgA"].ids().is_empty());
}

#[test]
fn many_old_halves_of_one_name_are_all_deleted() {
    let mut stack = half_deleted();
    provider(&mut stack).delete = failing("in use");
    stack.up(one("z")).failed("in use");
    assert_eq!(stack.names(), ["shop-dev", "a", "a!", "a!"]);
    provider(&mut stack).delete = None;
    stack.up(one("z")).ok();
    assert_eq!((stack.names().len(), stack.providers["pkgA"].ids()), (2, vec!["a-3".to_owned()]));
}

#[test]
fn a_destroy_with_targets_leaves_old_halves_of_others() {
    let mut stack = half_deleted();
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "a").input("kind", "y").register().await?;
            p.resource("pkgA:m:T", "b").register().await?;
            Ok(())
        }))
        .ok();
    stack.snapshot.resources.push({
        let mut old = stack.resource("a").clone();
        (old.delete, old.id) = (true, "a-0".to_owned());
        old
    });
    let b = stack.urn("b");
    stack.options.targets = targets([&b]);
    stack.destroy().ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "a!"]);
}

#[test]
fn old_halves_are_deleted_dependents_first() {
    let run = |kind: &'static str| {
        program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
            p.resource("pkgA:m:T", "b").input_from("kind", &a, "kind").register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]));
    stack.up(run("x")).ok();
    stack.calls("pkgA");
    stack.up(run("y")).ok();
    assert_eq!(stack.effects("pkgA"), ["create a", "create b", "delete b", "delete a"]);
}

#[test]
fn an_old_half_goes_with_a_replacement_that_deletes_first() {
    // `a` is deleted before it is replaced, `b` is not; `b` takes its `from` from `a`.
    let provider = TestProvider {
        diff: Some(Arc::new(|arguments| {
            let mut diff = crate::harness::diff_by_keys(&arguments, &["kind", "from", "frob"], false);
            diff.delete_before_replace = arguments.urn.name() == "a";
            Ok(diff)
        })),
        ..TestProvider::default()
    };
    let run = |kind: &'static str, frob: i64| {
        program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
            p.resource("pkgA:m:T", "b").input_from("from", &a, "kind").input("frob", frob).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::with_provider("pkgA", provider);
    stack.up(run("x", 1)).ok();
    stack.providers.get_mut("pkgA").unwrap().delete = failing("in use");
    stack.up(run("x", 2)).failed("in use");
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "b!"]);
    stack.providers.get_mut("pkgA").unwrap().delete = None;
    stack.up(run("y", 2)).ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "b"]);
    assert_eq!(stack.providers["pkgA"].ids().len(), 2);
}

#[test]
fn a_replacement_that_fails_keeps_the_old_half_of_what_it_depends_on() {
    let run = |kind: &'static str| {
        program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
            p.resource("pkgA:m:T", "b").input_from("kind", &a, "kind").register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]));
    stack.up(run("x")).ok();
    let counter = Arc::clone(&stack.providers["pkgA"].counter);
    provider(&mut stack).create = Some(Arc::new(move |arguments| {
        if arguments.urn.name() == "b" {
            return Err(ProviderError::new("no room"));
        }
        *counter.lock().unwrap() += 1;
        let id = format!("a-{}", counter.lock().unwrap());
        Ok(AppliedState { id, outputs: arguments.inputs, ..AppliedState::default() })
    }));
    stack.up(run("y")).failed("no room");
    assert_eq!(stack.names(), ["shop-dev", "a", "a!", "b"]);
    provider(&mut stack).create = None;
    stack.calls("pkgA");
    stack.up(run("y")).ok();
    assert_eq!(stack.effects("pkgA"), ["create b", "delete b", "delete a"]);
}

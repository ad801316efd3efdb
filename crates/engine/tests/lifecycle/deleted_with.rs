//! Resources that go together with another one.

mod waiting;

use crate::harness::{Stack, TestProvider, program};
use drystone_engine::Program;
use std::sync::Arc;

/// `b` goes with `a`; `c` stands alone.
fn three(kind: &'static str) -> Arc<dyn Program> {
    program(move |p| async move {
        let a = p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
        let b = p.resource("pkgB:m:T", "b").options(|options| options.deleted_with = a.urn.clone());
        b.register().await?;
        p.resource("pkgB:m:T", "c").register().await?;
        Ok(())
    })
}

fn stack() -> Stack {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]))
        .and_provider("pkgB", TestProvider::default());
    stack.up(three("x")).ok();
    stack.calls("pkgA");
    stack.calls("pkgB");
    stack
}

#[test]
fn a_resource_that_goes_with_another_is_not_deleted_by_its_provider() {
    let mut stack = stack();
    let outcome = stack.destroy().ok();
    assert_eq!(
        (stack.effects("pkgA"), stack.effects("pkgB")),
        (vec!["delete a".into()], vec!["delete c".into()])
    );
    assert!(outcome.steps().contains(&"delete b".to_owned()));
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_resource_that_leaves_alone_is_deleted_by_its_provider() {
    let mut stack = stack();
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "a").input("kind", "x").register().await?;
            p.resource("pkgB:m:T", "c").register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.effects("pkgB"), ["delete b"]);
}

#[test]
fn a_resource_that_goes_with_another_is_replaced_with_it() {
    let mut stack = stack();
    let outcome = stack.up(three("y")).ok();
    assert_eq!(stack.effects("pkgA"), ["create a", "delete a"]);
    // The old `b` went with the old `a`.
    assert_eq!(stack.effects("pkgB"), ["create b"]);
    let causes: Vec<_> = outcome.steps_of("b").iter().map(|step| step.replace_keys.clone()).collect();
    assert!(causes.contains(&vec!["deletedWith".to_owned()]), "{causes:?}");
}

#[test]
fn deleting_before_replacing_takes_what_goes_with_it_along() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["kind"]))
        .and_provider("pkgB", TestProvider::default());
    stack.up(three("x")).ok();
    stack.calls("pkgA");
    stack.calls("pkgB");
    stack.up(three("y")).ok();
    assert_eq!(stack.effects("pkgA"), ["delete a", "create a"]);
    // `a` comes back, so `b` cannot count on going with it.
    assert_eq!(stack.effects("pkgB"), ["delete b", "create b"]);
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
}

#[test]
fn the_name_is_kept_in_the_state() {
    let stack = stack();
    assert_eq!(stack.resource("b").deleted_with, stack.urn("a"));
}

#[test]
fn naming_it_or_not_changes_nothing_else() {
    let mut stack = stack();
    let outcome = stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "a").input("kind", "x").register().await?;
            p.resource("pkgB:m:T", "b").register().await?;
            p.resource("pkgB:m:T", "c").register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(outcome.steps(), [] as [&str; 0]);
    assert!(stack.resource("b").deleted_with.is_empty());
}

#[test]
fn children_inherit_it() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").register().await?;
            let top = p.component("my:index:Top", "top").options(|options| options.deleted_with = a.urn);
            let top = top.register().await?;
            p.resource("pkgB:m:T", "child").parent(&top.urn).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.resource("child").deleted_with, stack.urn("a"));
}

#[test]
fn it_is_deleted_before_what_it_goes_with() {
    let mut stack = stack();
    let outcome = stack.destroy().ok();
    let steps = outcome.steps();
    let at = |step: &str| steps.iter().position(|found| found == step).unwrap();
    assert!(at("delete b") < at("delete a"), "{steps:?}");
}

#[test]
fn a_chain_of_resources_goes_with_its_first() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").register().await?;
            let b = p.resource("pkgB:m:T", "b").options(|options| options.deleted_with = a.urn);
            let b = b.register().await?;
            let c = p.resource("pkgB:m:T", "c").options(|options| options.deleted_with = b.urn);
            c.register().await?;
            Ok(())
        }))
        .ok();
    stack.calls("pkgB");
    stack.destroy().ok();
    assert_eq!(stack.effects("pkgB"), [] as [&str; 0]);
}

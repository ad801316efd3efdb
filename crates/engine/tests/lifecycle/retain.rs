//! Resources that are left alone when they leave the stack.

use crate::harness::{Stack, TestProvider, program};
use drystone_engine::Program;
use std::sync::Arc;

fn retained(kind: &'static str, retain: Option<bool>) -> Arc<dyn Program> {
    program(move |p| async move {
        let a = p.resource("pkgA:m:T", "a").input("kind", kind);
        a.options(|options| options.retain_on_delete = retain).register().await?;
        Ok(())
    })
}

fn none() -> Arc<dyn Program> {
    program(|_| async move { Ok(()) })
}

fn stack() -> Stack {
    Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]))
}

#[test]
fn it_is_forgotten_and_not_deleted() {
    let mut stack = stack();
    stack.up(retained("x", Some(true))).ok();
    assert!(stack.resource("a").retain_on_delete);
    let outcome = stack.up(none()).ok();
    assert_eq!(outcome.steps(), ["delete a"]);
    assert_eq!(stack.effects("pkgA"), ["create a"]);
    assert_eq!(stack.providers["pkgA"].ids(), ["a-1"]);
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn a_destroy_leaves_it_alone() {
    let mut stack = stack();
    stack.up(retained("x", Some(true))).ok();
    stack.destroy().ok();
    assert_eq!(stack.providers["pkgA"].ids(), ["a-1"]);
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn what_it_was_replaced_by_does_not_delete_it() {
    let mut stack = stack();
    stack.up(retained("x", Some(true))).ok();
    stack.up(retained("y", Some(true))).ok();
    assert_eq!(stack.providers["pkgA"].ids(), ["a-1", "a-2"]);
    assert_eq!((stack.names().len(), stack.resource("a").id.as_str()), (2, "a-2"));
}

#[test]
fn a_replacement_that_deletes_first_leaves_it_alone_too() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["kind"]));
    stack.up(retained("x", Some(true))).ok();
    stack.up(retained("y", Some(true))).ok();
    assert_eq!(stack.effects("pkgA"), ["create a", "create a"]);
    assert_eq!(stack.providers["pkgA"].ids(), ["a-1", "a-2"]);
}

#[test]
fn the_option_counts_as_the_state_has_it() {
    let mut stack = stack();
    stack.up(retained("x", None)).ok();
    stack.up(retained("x", Some(true))).ok();
    stack.up(retained("x", Some(false))).ok();
    assert!(!stack.resource("a").retain_on_delete);
    stack.up(none()).ok();
    assert!(stack.providers["pkgA"].ids().is_empty());
}

#[test]
fn children_inherit_it_unless_they_say_otherwise() {
    let mut stack = stack();
    stack
        .up(program(|p| async move {
            let c = p.component("m:m:C", "c");
            let c = c.options(|options| options.retain_on_delete = Some(true)).register().await?;
            p.resource("pkgA:m:T", "a").parent(&c.urn).register().await?;
            let b = p.resource("pkgA:m:T", "b").parent(&c.urn);
            b.options(|options| options.retain_on_delete = Some(false)).register().await?;
            Ok(())
        }))
        .ok();
    stack.destroy().ok();
    assert_eq!(stack.providers["pkgA"].ids(), ["a-1"]);
}

#[test]
fn what_it_depends_on_is_deleted_all_the_same() {
    let mut stack = stack();
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").register().await?;
            let b = p.resource("pkgA:m:T", "b").depends_on(&a.urn);
            b.options(|options| options.retain_on_delete = Some(true)).register().await?;
            Ok(())
        }))
        .ok();
    stack.destroy().ok();
    assert_eq!(stack.providers["pkgA"].ids(), ["b-2"]);
}

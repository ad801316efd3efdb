//! Resources that must not be deleted.

use crate::harness::{Stack, TestProvider, program};
use drystone_engine::{Op, Options, Program};
use std::sync::Arc;

/// A program with one resource, protected or not.
fn one(kind: &'static str, protect: Option<bool>) -> Arc<dyn Program> {
    program(move |p| async move {
        let a = p.resource("pkgA:m:T", "a").input("kind", kind);
        a.options(|options| options.protect = protect).register().await?;
        Ok(())
    })
}

fn nothing() -> Arc<dyn Program> {
    program(|_| async move { Ok(()) })
}

/// A stack with a protected resource; changing `kind` replaces it.
fn protected() -> Stack {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]));
    stack.up(one("x", Some(true))).ok();
    stack.calls("pkgA");
    stack
}

#[test]
fn protection_is_kept_in_the_state() {
    assert!(protected().resource("a").protect);
}

#[test]
fn a_protected_resource_that_leaves_the_program_stays_and_the_run_fails() {
    let mut stack = protected();
    stack
        .up(nothing())
        .failed("resource \"urn:pulumi:dev::shop::pkgA:m:T::a\" cannot be deleted\nbecause it is protected.");
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0]);
    assert_eq!(stack.names(), ["shop-dev", "a"]);
}

#[test]
fn the_refusal_says_how_to_unprotect_it() {
    let outcome = protected().up(nothing());
    outcome.failed("`pulumi state unprotect 'urn:pulumi:dev::shop::pkgA:m:T::a'`");
}

#[test]
fn a_protected_resource_is_not_replaced() {
    let mut stack = protected();
    stack.up(one("y", Some(true))).failed(
        "unable to replace resource \"urn:pulumi:dev::shop::pkgA:m:T::a\"\nas it is currently marked",
    );
    assert_eq!((stack.effects("pkgA").len(), stack.resource("a").id.as_str()), (0, "a-1"));
}

#[test]
fn a_preview_shows_the_replacement_that_protection_refuses() {
    let mut stack = protected();
    let outcome = stack.preview(one("y", Some(true))).failed("unable to replace resource");
    assert_eq!(outcome.count(Op::Replace), 1);
}

#[test]
fn removing_the_protection_and_replacing_goes_in_one_run() {
    let mut stack = protected();
    stack.up(one("y", Some(false))).ok();
    assert_eq!(stack.effects("pkgA"), ["create a", "delete a"]);
    assert!(!stack.resource("a").protect);
}

#[test]
fn protecting_a_resource_changes_nothing_else() {
    let mut stack = Stack::new();
    stack.up(one("x", None)).ok();
    stack.calls("pkgA");
    stack.up(one("x", Some(true))).ok();
    assert_eq!((stack.effects("pkgA").len(), stack.resource("a").protect), (0, true));
}

#[test]
fn a_state_without_protection_is_replaced_even_if_the_program_protects_it_now() {
    let mut stack = protected();
    stack.snapshot.resources.iter_mut().for_each(|resource| resource.protect = false);
    stack.up(one("y", Some(true))).ok();
    assert_eq!(stack.effects("pkgA"), ["create a", "delete a"]);
}

#[test]
fn updates_of_protected_resources_are_no_deletion() {
    let mut stack = Stack::new();
    stack.up(one("x", Some(true))).ok();
    stack.up(one("y", Some(true))).ok();
    assert_eq!(stack.effects("pkgA"), ["create a", "update a"]);
}

#[test]
fn children_inherit_protection_unless_they_say_otherwise() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let top = p.component("my:index:Top", "top").options(|options| options.protect = Some(true));
            let top = top.register().await?;
            p.resource("pkgA:m:T", "kept").parent(&top.urn).register().await?;
            let free = p.resource("pkgA:m:T", "free").parent(&top.urn);
            free.options(|options| options.protect = Some(false)).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!((stack.resource("kept").protect, stack.resource("free").protect), (true, false));
}

#[test]
fn every_refused_deletion_is_told_and_the_others_are_done() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            for (name, protect) in [("a", true), ("b", true), ("c", false)] {
                let resource = p.resource("pkgA:m:T", name);
                resource.options(|options| options.protect = Some(protect)).register().await?;
            }
            Ok(())
        }))
        .ok();
    stack.calls("pkgA");
    let outcome = stack.up(nothing()).failed("::a\" cannot be deleted").failed("::b\" cannot be deleted");
    assert_eq!(outcome.steps(), ["delete c"]);
    assert_eq!(stack.names(), ["shop-dev", "a", "b"]);
}

#[test]
fn what_a_protected_resource_depends_on_stays_with_it() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
            let b = p.resource("pkgA:m:T", "b").input_from("from", &a, "size");
            b.options(|options| options.protect = Some(true)).register().await?;
            p.resource("pkgA:m:T", "c").register().await?;
            Ok(())
        }))
        .ok();
    stack.calls("pkgA");
    stack.destroy().failed("because it is protected");
    assert_eq!(stack.effects("pkgA"), ["delete c"]);
    assert_eq!(stack.names(), ["a", "b"]);
}

#[test]
fn ignoring_protection_deletes() {
    let mut stack = protected();
    stack.options = Options { ignore_protect: true, ..stack.options.clone() };
    stack.up(nothing()).ok();
    assert_eq!(stack.effects("pkgA"), ["delete a"]);
}

#[test]
fn ignoring_protection_replaces() {
    let mut stack = protected();
    stack.options.ignore_protect = true;
    stack.up(one("y", Some(true))).ok();
    assert_eq!(stack.effects("pkgA"), ["create a", "delete a"]);
}

#[test]
fn ignoring_protection_destroys() {
    let mut stack = protected();
    stack.options.ignore_protect = true;
    stack.destroy().ok();
    assert!(stack.snapshot.resources.is_empty());
}

/// Two resources, the second of which is protected and has to go when the first is replaced.
fn chain(kind: &'static str) -> Arc<dyn Program> {
    program(move |p| async move {
        let a = p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
        let b = p.resource("pkgA:m:T", "b").input_from("kind", &a, "kind");
        b.options(|options| options.protect = Some(true)).register().await?;
        Ok(())
    })
}

#[test]
fn a_protected_dependent_keeps_a_resource_from_being_deleted_before_its_replacement() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["kind"]));
    stack.up(chain("x")).ok();
    stack.calls("pkgA");
    stack.up(chain("y")).failed(
        "unable to replace resource \"urn:pulumi:dev::shop::pkgA:m:T::b\" as part of replacing \"urn:pulumi:dev::shop::pkgA:m:T::a\"",
    );
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0]);
}

#[test]
fn ignoring_protection_takes_protected_dependents_along() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["kind"]));
    stack.up(chain("x")).ok();
    stack.calls("pkgA");
    stack.options.ignore_protect = true;
    stack.up(chain("y")).ok();
    assert_eq!(stack.effects("pkgA"), ["delete b", "delete a", "create a", "create b"]);
}

#[test]
fn protection_does_not_keep_a_replaced_resource_from_being_deleted() {
    let mut stack = protected();
    stack.snapshot.resources.iter_mut().filter(|resource| resource.urn.name() == "a").for_each(|resource| {
        resource.delete = true;
    });
    stack.up(one("x", Some(true))).ok();
    assert_eq!(stack.effects("pkgA"), ["create a", "delete a"]);
}

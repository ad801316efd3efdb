//! Resources that are marked to be replaced.

use crate::harness::{Stack, TestProvider, program};
use drystone_engine::{Program, ProviderError};
use std::sync::Arc;

fn two(size: i64) -> Arc<dyn Program> {
    program(move |p| async move {
        let a = p.resource("pkgA:m:T", "a").input("size", size).register().await?;
        p.resource("pkgA:m:T", "b").input_from("size", &a, "size").register().await?;
        Ok(())
    })
}

/// A stack of two where these are tainted.
fn tainted<const N: usize>(names: [&str; N]) -> Stack {
    let mut stack = Stack::new();
    stack.up(two(1)).ok();
    stack.calls("pkgA");
    for resource in &mut stack.snapshot.resources {
        resource.taint = names.contains(&resource.urn.name());
    }
    stack
}

#[test]
fn it_is_replaced_although_nothing_changed() {
    let mut stack = tainted(["a"]);
    let outcome = stack.up(two(1)).ok();
    assert_eq!(outcome.steps(), ["create-replacement a", "replace a", "delete-replaced a"]);
    assert_eq!(outcome.steps_of("a")[0].replace_keys, ["id"]);
    assert!(!stack.resource("a").taint);
    assert_eq!(stack.resource("a").id, "a-3");
}

#[test]
fn it_is_replaced_once() {
    let mut stack = tainted(["a"]);
    stack.up(two(1)).ok();
    assert!(stack.up(two(1)).ok().steps().is_empty());
}

#[test]
fn several_are_replaced_together() {
    let mut stack = tainted(["a", "b"]);
    stack.up(two(1)).ok();
    assert_eq!(stack.providers["pkgA"].ids(), ["a-3", "b-4"]);
}

#[test]
fn a_preview_shows_it_and_leaves_the_mark() {
    let mut stack = tainted(["b"]);
    let outcome = stack.preview(two(1)).ok();
    assert!(outcome.steps().contains(&"replace b".to_owned()));
    assert!(stack.resource("b").taint);
}

#[test]
fn the_mark_stays_when_the_replacement_cannot_be_made() {
    let mut stack = tainted(["b"]);
    stack.providers.get_mut("pkgA").unwrap().create = Some(Arc::new(|_| Err(ProviderError::new("full"))));
    stack.up(two(1)).failed("full");
    assert!(stack.resource("b").taint);
    stack.providers.get_mut("pkgA").unwrap().create = None;
    stack.up(two(1)).ok();
    assert_eq!(stack.providers["pkgA"].ids(), ["a-1", "b-3"]);
}

#[test]
fn one_that_leaves_the_program_is_only_deleted() {
    let mut stack = tainted(["b"]);
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.effects("pkgA"), ["delete b"]);
}

#[test]
fn a_protected_one_is_not_replaced() {
    let mut stack = tainted(["a"]);
    for resource in &mut stack.snapshot.resources {
        resource.protect = resource.urn.name() == "a";
    }
    let run = program(|p| async move {
        let a = p.resource("pkgA:m:T", "a").input("size", 1);
        a.options(|options| options.protect = Some(true)).register().await?;
        Ok(())
    });
    stack.up(run).failed("unable to replace resource");
    assert!(stack.effects("pkgA").is_empty());
}

#[test]
fn what_waits_to_be_deleted_does_not_get_in_its_way() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["size"]));
    let one = |size: i64| {
        program(move |p| async move {
            p.resource("pkgA:m:T", "a").input("size", size).register().await?;
            Ok(())
        })
    };
    stack.up(one(1)).ok();
    stack.providers.get_mut("pkgA").unwrap().delete = Some(Arc::new(|_| Err(ProviderError::new("stuck"))));
    stack.up(one(2)).failed("stuck");
    stack.providers.get_mut("pkgA").unwrap().delete = None;
    for resource in &mut stack.snapshot.resources {
        resource.taint = resource.urn.name() == "a" && !resource.delete;
    }
    stack.up(one(2)).ok();
    assert_eq!((stack.names().len(), stack.providers["pkgA"].ids()), (2, vec!["a-3".to_owned()]));
}

#[test]
fn a_refresh_leaves_the_mark() {
    let mut stack = tainted(["a"]);
    stack.refresh().ok();
    assert!(stack.resource("a").taint);
    stack.refresh_with(two(1)).ok();
    assert!(stack.resource("a").taint);
}

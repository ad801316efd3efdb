//! Resources that are replaced together with others.

use crate::harness::{Stack, TestProvider, program};
use drystone_engine::Program;
use std::sync::Arc;

/// `b` is replaced with `a`, and `c` with `b`.
fn chain(kind: &'static str, size: i64) -> Arc<dyn Program> {
    program(move |p| async move {
        let a = p.resource("pkgA:m:T", "a").input("kind", kind).input("size", size).register().await?;
        let b = p.resource("pkgA:m:T", "b");
        let b = b.options(|options| options.replace_with = vec![a.urn.clone()]).register().await?;
        let c = p.resource("pkgA:m:T", "c");
        c.options(|options| options.replace_with = vec![b.urn.clone()]).register().await?;
        p.resource("pkgA:m:T", "d").register().await?;
        Ok(())
    })
}

#[test]
fn it_is_replaced_when_the_other_is() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]));
    stack.up(chain("x", 1)).ok();
    let outcome = stack.up(chain("y", 1)).ok();
    assert_eq!(outcome.steps_of("b")[0].replace_keys, ["replaceWith"]);
    assert_eq!(stack.providers["pkgA"].ids(), ["a-5", "b-6", "c-7", "d-4"]);
    assert_eq!(stack.resource("b").replace_with, [stack.urn("a")]);
}

#[test]
fn it_stays_when_the_other_is_only_updated() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]));
    stack.up(chain("x", 1)).ok();
    let outcome = stack.up(chain("x", 2)).ok();
    assert_eq!(outcome.steps(), ["update a"]);
}

#[test]
fn it_is_deleted_first_when_the_other_is() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["kind"]));
    stack.up(chain("x", 1)).ok();
    stack.calls("pkgA");
    stack.up(chain("y", 1)).ok();
    let effects = stack.effects("pkgA");
    assert_eq!(effects[..4], ["delete b", "delete a", "create a", "create b"]);
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c", "d"]);
}

#[test]
fn any_of_several_others_replaces_it() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]));
    let run = |kind: &'static str| {
        program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a").register().await?;
            let b = p.resource("pkgA:m:T", "b").input("kind", kind).register().await?;
            let c = p.resource("pkgA:m:T", "c");
            c.options(|options| options.replace_with = vec![a.urn, b.urn]).register().await?;
            Ok(())
        })
    };
    stack.up(run("x")).ok();
    let outcome = stack.up(run("y")).ok();
    assert!(outcome.steps().contains(&"replace c".to_owned()));
    assert!(!outcome.steps().contains(&"replace a".to_owned()));
}

#[test]
fn a_preview_shows_it() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]));
    stack.up(chain("x", 1)).ok();
    let outcome = stack.preview(chain("y", 1)).ok();
    let replaced: Vec<String> =
        outcome.steps().into_iter().filter(|step| step.starts_with("replace ")).collect();
    assert_eq!(replaced, ["replace a", "replace b", "replace c"]);
}

#[test]
fn adding_the_option_changes_only_the_state() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]));
    let run = |with: bool| {
        program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a").register().await?;
            let b = p.resource("pkgA:m:T", "b");
            b.options(|options| options.replace_with = with.then_some(a.urn).into_iter().collect())
                .register()
                .await?;
            Ok(())
        })
    };
    stack.up(run(false)).ok();
    assert!(stack.up(run(true)).ok().steps().is_empty());
    assert_eq!(stack.resource("b").replace_with.len(), 1);
}

#[test]
fn the_deletion_of_the_other_does_not_delete_it() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]));
    stack.up(chain("x", 1)).ok();
    stack
        .up(program(|p| async move {
            for name in ["b", "c", "d"] {
                p.resource("pkgA:m:T", name).register().await?;
            }
            Ok(())
        }))
        .ok();
    assert_eq!(stack.providers["pkgA"].ids(), ["b-2", "c-3", "d-4"]);
}

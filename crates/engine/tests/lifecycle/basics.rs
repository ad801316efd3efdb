//! Making, keeping, changing and deleting resources.

use crate::harness::{Stack, TestProvider, program};
use drystone_engine::Op;
use std::sync::{Arc, Mutex};

#[test]
fn a_new_resource_is_created_with_its_default_provider() {
    let mut stack = Stack::new();
    let outcome = stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(outcome.steps(), ["create a"]);
    assert_eq!(stack.names(), ["shop-dev", "a"]);
    let a = stack.resource("a");
    assert_eq!((a.id.as_str(), a.inputs.text()), ("a-1", r#"{"size":1}"#));
    assert!(a.provider.starts_with("urn:pulumi:dev::shop::pulumi:providers:pkgA::default::"));
}

#[test]
fn an_unchanged_program_changes_nothing_and_writes_nothing() {
    let mut stack = Stack::new();
    let run = || {
        program(|p| async move { p.resource("pkgA:m:T", "a").input("size", 1).register().await.map(|_| ()) })
    };
    stack.up(run()).ok();
    let before = stack.snapshot.clone();
    let outcome = stack.up(run()).ok();
    assert_eq!((outcome.steps().len(), outcome.entries), (0, 0));
    assert_eq!(stack.snapshot, before);
    assert_eq!(outcome.count(Op::Same), 2);
}

#[test]
fn s3_dependencies_in_another_order_write_nothing() {
    let mut stack = Stack::new();
    let run = |turned: bool| {
        program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a").register().await?;
            let b = p.resource("pkgA:m:T", "b").register().await?;
            let (first, second) = if turned { (&b.urn, &a.urn) } else { (&a.urn, &b.urn) };
            let mut both = p.resource("pkgA:m:T", "c").input("size", 1).depends_on(first).depends_on(second);
            let needs = vec![first.clone(), second.clone()];
            both.request.property_dependencies.insert("size".to_owned(), needs);
            both.register().await.map(|_| ())
        })
    };
    stack.up(run(false)).ok();
    let before = stack.snapshot.clone();
    let outcome = stack.up(run(true)).ok();
    assert_eq!((outcome.steps().len(), outcome.entries), (0, 0));
    assert_eq!(stack.snapshot, before);
}

#[test]
fn a_changed_input_updates_in_place() {
    let mut stack = Stack::new();
    for size in [1, 2] {
        stack
            .up(program(move |p| async move {
                p.resource("pkgA:m:T", "a").input("size", size).register().await?;
                Ok(())
            }))
            .ok();
    }
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":2}"#);
    assert_eq!(stack.effects("pkgA"), ["create a", "update a"]);
}

#[test]
fn what_the_program_no_longer_names_is_deleted_dependents_first() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
            let b = p.resource("pkgA:m:T", "b").input_from("from", &a, "size").register().await?;
            p.resource("pkgA:m:T", "c").input_from("from", &b, "from").register().await?;
            Ok(())
        }))
        .ok();
    stack.calls("pkgA");
    stack.up(program(|_| async move { Ok(()) })).ok();
    assert_eq!(stack.effects("pkgA"), ["delete c", "delete b", "delete a"]);
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn a_replacement_is_made_before_the_old_one_goes() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]));
    for kind in ["x", "y"] {
        stack
            .up(program(move |p| async move {
                p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
                Ok(())
            }))
            .ok();
    }
    assert_eq!(stack.effects("pkgA"), ["create a", "create a", "delete a"]);
    assert_eq!((stack.names().len(), stack.resource("a").id.as_str()), (2, "a-2"));
    assert_eq!(stack.providers["pkgA"].ids(), ["a-2"]);
}

#[test]
fn a_provider_that_wants_it_deletes_first_and_takes_dependents_along() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["kind"]));
    for kind in ["x", "y"] {
        stack
            .up(program(move |p| async move {
                let a = p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
                p.resource("pkgA:m:T", "b").input_from("kind", &a, "kind").register().await?;
                Ok(())
            }))
            .ok();
    }
    assert_eq!(
        stack.effects("pkgA"),
        ["create a", "create b", "delete b", "delete a", "create a", "create b"]
    );
    assert_eq!(stack.providers["pkgA"].ids(), ["a-3", "b-4"]);
}

#[test]
fn destroy_deletes_everything_in_reverse() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
            p.resource("pkgA:m:T", "b").input_from("from", &a, "size").register().await?;
            Ok(())
        }))
        .ok();
    stack.calls("pkgA");
    stack.destroy().ok();
    assert_eq!(stack.effects("pkgA"), ["delete b", "delete a"]);
    assert!(stack.snapshot.resources.is_empty());
}

/// The most calls of a provider that were under way at once, while six resources are made, refreshed and deleted.
fn most_at_once(parallel: usize) -> [usize; 3] {
    let under_way = Arc::new(Mutex::new((0_usize, 0_usize)));
    let counted = Arc::clone(&under_way);
    let mut stack = Stack::new();
    stack.options.parallel = parallel;
    stack.providers.get_mut("pkgA").unwrap().pause = Some(Arc::new(move |_, _| {
        let counted = Arc::clone(&counted);
        Box::pin(async move {
            {
                let mut count = counted.lock().unwrap();
                count.0 += 1;
                count.1 = count.1.max(count.0);
            }
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            counted.lock().unwrap().0 -= 1;
        })
    }));
    let run = program(|p| async move {
        let names = ["a", "b", "c", "d", "e", "f"];
        let made = names.map(|name| p.resource("pkgA:m:T", name).register());
        futures::future::try_join_all(made).await.map(|_| ())
    });
    let most = || std::mem::take(&mut under_way.lock().unwrap().1);
    stack.up(run).ok();
    let made = most();
    stack.refresh().ok();
    let refreshed = most();
    stack.destroy().ok();
    [made, refreshed, most()]
}

#[test]
fn as_many_operations_are_under_way_as_the_user_allows() {
    assert_eq!(most_at_once(1), [1; 3]);
    assert_eq!(most_at_once(2), [2; 3]);
    assert_eq!(most_at_once(6), [6; 3]);
}

/// How many times the journal is written while so many independent resources are made, and while they are deleted.
fn writes_for(resources: usize, parallel: usize) -> [usize; 2] {
    let mut stack = Stack::new();
    stack.options.parallel = parallel;
    let run = program(move |p| async move {
        let made = (0..resources).map(|number| p.resource("pkgA:m:T", &format!("r{number}")).register());
        futures::future::try_join_all(made).await.map(|_| ())
    });
    let made = stack.up(run).ok().writes;
    [made, stack.destroy().ok().writes]
}

#[test]
fn an_operation_ends_with_the_write_that_begins_the_next() {
    // One write for each four that begin, and one for the last to end; then what is nothing in the world is forgotten.
    assert_eq!(writes_for(40, 4), [11, 12]);
    // One at a time, each begins and ends with a write of its own.
    assert_eq!(writes_for(10, 1), [20, 21]);
}

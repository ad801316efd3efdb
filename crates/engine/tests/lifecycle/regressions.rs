//! What random stacks, faults and crashes found, each as the smallest scenario. The journal of a test verifies the
//! snapshot after every write, so that several of these only have to run.

use crate::harness::{P, Stack, TestProvider, program, refresh_first, targets};
use drystone_engine::{Diff, Operation, Options, Program, ProviderError, ReadRequest, Registration, Targets};
use drystone_model::Urn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn urn(text: &str) -> Urn {
    Urn::new(format!("urn:pulumi:dev::shop::{text}"))
}

/// A provider that is another one in another region, and that makes nothing while `refuses` is set.
fn regional(refuses: &Arc<AtomicBool>) -> TestProvider {
    let refuses = Arc::clone(refuses);
    let provider = TestProvider::replacing_on([]);
    let (cloud, counter) = (Arc::clone(&provider.cloud), Arc::clone(&provider.counter));
    TestProvider {
        diff_config: Some(Arc::new(|arguments| {
            let same = arguments.old_inputs.get("region") == arguments.new_inputs.get("region");
            Ok(if same { Diff::none() } else { Diff::replace("region") })
        })),
        create: Some(Arc::new(move |arguments| {
            if refuses.load(Ordering::SeqCst) {
                return Err(ProviderError::new("no room"));
            }
            let mut counter = counter.lock().unwrap();
            *counter += 1;
            let id = format!("{}-{counter}", arguments.urn.name());
            cloud.lock().unwrap().insert(id.clone(), arguments.inputs.clone());
            Ok(drystone_engine::AppliedState { id, outputs: arguments.inputs, ..Default::default() })
        })),
        ..provider
    }
}

/// `a` with an explicit provider in a region.
fn in_region(region: &'static str) -> Arc<dyn Program> {
    program(move |p: P| async move {
        let provider = p.resource("pulumi:providers:pkgA", "p").input("region", region).register().await?;
        p.resource("pkgA:m:T", "a").provider(&provider).register().await?;
        Ok(())
    })
}

#[test]
fn a_resource_of_a_replaced_provider_is_read_and_replaced_by_what_still_stands() {
    let refuses = Arc::new(AtomicBool::new(false));
    let mut stack = Stack::with_provider("pkgA", regional(&refuses));
    stack.up(in_region("east")).ok();
    refuses.store(true, Ordering::SeqCst);
    stack.up(in_region("west")).failed("no room");
    assert_eq!(stack.names(), ["shop-dev", "p", "p!", "a"]);
    refuses.store(false, Ordering::SeqCst);
    stack.refresh().ok();
    stack.up(in_region("west")).ok();
    assert_eq!((stack.names().len(), stack.resource("a").id.as_str()), (3, "a-2"));
    assert_eq!(stack.providers["pkgA"].ids(), ["a-2"]);
}

#[test]
fn what_depends_on_something_excluded_that_does_not_exist_is_refused() {
    let mut stack = Stack::new();
    stack.options.excludes = Targets::new([urn("pkgA:m:T::a").as_str()]);
    let made = || {
        program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").register().await?;
            p.resource("pkgA:m:T", "b").depends_on(&a.urn).register().await?;
            Ok(())
        })
    };
    stack.up(made()).failed("which does not exist and is left out by --exclude");
    assert_eq!(stack.names(), ["shop-dev"]);
    stack.options.exclude_dependents = true;
    stack.up(made()).ok();
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn nothing_is_imported_that_depends_on_something_excluded() {
    let mut stack = Stack::new();
    stack.providers["pkgA"].cloud.lock().unwrap().insert("there".to_owned(), Default::default());
    stack.options.excludes = Targets::new([urn("pkgA:m:T::a").as_str()]);
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").register().await?;
            let b = p.resource("pkgA:m:T", "b").parent(&a.urn);
            b.options(|options| options.import_id = "there".to_owned()).register().await?;
            Ok(())
        }))
        .failed("is left out by --exclude");
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn a_target_that_a_refresh_finds_gone_was_a_target_all_the_same() {
    let mut stack = Stack::new();
    stack.up(program(|p| async move { p.resource("pkgA:m:T", "a").register().await.map(|_| ()) })).ok();
    stack.providers["pkgA"].cloud.lock().unwrap().clear();
    stack.options.targets = targets([&stack.urn("a")]);
    stack.refresh().ok();
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn a_read_below_a_failure_is_skipped() {
    let failing = TestProvider {
        create: Some(Arc::new(|_| Err(ProviderError::new("no room")))),
        ..TestProvider::default()
    };
    let mut stack = Stack::new().and_provider("pkgB", failing);
    stack.providers["pkgA"].cloud.lock().unwrap().insert("there".to_owned(), Default::default());
    stack.options.continue_on_error = true;
    stack
        .up(program(|p| async move {
            let bad = p.resource("pkgB:m:T", "bad").register().await?;
            let read = p.monitor.read(ReadRequest {
                type_token: "pkgA:m:T".to_owned(),
                name: "read".to_owned(),
                id: "there".to_owned(),
                parent: bad.urn,
                ..ReadRequest::default()
            });
            assert_eq!(read.await?.result, Registration::Skipped);
            Ok(())
        }))
        .failed("no room");
    assert_eq!(stack.names(), ["shop-dev"]);
}

fn destroy_with(stack: &mut Stack, options: Options, program: Arc<dyn Program>) -> crate::harness::Outcome {
    stack.options = Options { run_program: true, parallel: 8, ..options };
    stack.operate(Operation::Destroy, false, Some(program))
}

#[test]
fn a_destroy_with_the_program_forgets_what_it_reads_in_the_place_of_something_owned() {
    let mut stack = Stack::new();
    stack.providers["pkgA"].cloud.lock().unwrap().insert("there".to_owned(), Default::default());
    stack.up(program(|p| async move { p.resource("pkgA:m:T", "a").register().await.map(|_| ()) })).ok();
    let reads = program(|p| async move {
        let read = ReadRequest {
            type_token: "pkgA:m:T".to_owned(),
            name: "a".to_owned(),
            id: "there".to_owned(),
            ..ReadRequest::default()
        };
        p.monitor.read(read).await.map(|_| ())
    });
    destroy_with(&mut stack, Options::default(), reads).ok();
    assert!(stack.snapshot.resources.is_empty());
    assert_eq!(stack.providers["pkgA"].ids(), ["there"]);
}

#[test]
fn a_destroy_with_the_program_deletes_what_newly_depends_on_something_that_does_not_exist() {
    let mut stack = Stack::new();
    stack.up(program(|p| async move { p.resource("pkgA:m:T", "a").register().await.map(|_| ()) })).ok();
    let changed = program(|p| async move {
        let fresh = p.resource("pkgA:m:T", "fresh").register().await?;
        p.resource("pkgA:m:T", "a").depends_on(&fresh.urn).register().await?;
        Ok(())
    });
    destroy_with(&mut stack, refresh_first(), changed).ok();
    assert!(stack.snapshot.resources.is_empty() && stack.providers["pkgA"].ids().is_empty());
}

#[test]
fn a_destroy_with_the_program_keeps_what_an_excluded_resource_needs_under_its_new_name() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "base").register().await?;
            let old = p.resource("pkgA:m:T", "old").register().await?;
            p.resource("pkgA:m:T", "kept").depends_on(&old.urn).register().await?;
            p.resource("pkgA:m:T", "gone").register().await?;
            Ok(())
        }))
        .ok();
    let excludes = targets([&stack.urn("kept")]);
    let renamed = program(|p| async move {
        let base = p.resource("pkgA:m:T", "base").register().await?;
        let new = p.resource("pkgA:m:T", "new").depends_on(&base.urn);
        new.alias(urn("pkgA:m:T::old").as_str()).register().await?;
        p.resource("pkgA:m:T", "gone").register().await?;
        Ok(())
    });
    destroy_with(&mut stack, Options { excludes, ..Options::default() }, renamed).ok();
    let mut names = stack.names();
    names.sort();
    assert_eq!(names, ["base", "kept", "new"]);
}

#[test]
fn a_renamed_resource_that_was_deleted_for_another_is_made_again_and_not_deleted_twice() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["kind"]));
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("kind", "x").register().await?;
            p.resource("pkgA:m:T", "b").input_from("kind", &a, "kind").register().await?;
            Ok(())
        }))
        .ok();
    stack.calls("pkgA");
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("kind", "y").register().await?;
            let c = p.resource("pkgA:m:T", "c").input_from("kind", &a, "kind");
            c.alias(urn("pkgA:m:T::b").as_str()).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.effects("pkgA"), ["delete b", "delete a", "create a", "create c"]);
    assert_eq!(stack.names(), ["shop-dev", "a", "c"]);
}

#[test]
fn a_target_that_something_untargeted_still_needs_is_not_deleted() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").register().await?;
            p.resource("pkgA:m:T", "b").depends_on(&a.urn).register().await?;
            Ok(())
        }))
        .ok();
    stack.options.targets = targets([&stack.urn("a")]);
    stack
        .up(program(|p| async move { p.resource("pkgA:m:T", "b").register().await.map(|_| ()) }))
        .failed("still depends on it, and this run is not about that one");
    assert_eq!(stack.names(), ["shop-dev", "a", "b"]);
}

/// `b` depends on `a` no longer and is registered first; `c` needs `b`.
fn turned_round(size: i64) -> Arc<dyn Program> {
    program(move |p: P| async move {
        let b = p.resource("pkgA:m:T", "b").register().await?;
        p.resource("pkgA:m:T", "c").depends_on(&b.urn).input("size", size).register().await?;
        p.resource("pkgA:m:T", "a").input("size", size).register().await?;
        Ok(())
    })
}

fn straight() -> Stack {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
            let b = p.resource("pkgA:m:T", "b").depends_on(&a.urn).register().await?;
            p.resource("pkgA:m:T", "c").depends_on(&b.urn).input("size", 1).register().await?;
            Ok(())
        }))
        .ok();
    stack
}

#[test]
fn an_old_dependency_of_something_untargeted_may_be_registered_later() {
    let mut stack = straight();
    stack.options.targets = targets([&stack.urn("c")]);
    stack.up(turned_round(2)).ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
    assert_eq!(stack.resource("c").inputs.text(), r#"{"size":2}"#);
}

#[test]
fn what_was_moved_before_others_is_changed_where_it_stands() {
    let mut stack = straight();
    stack.options.targets = targets([&stack.urn("c"), &stack.urn("a")]);
    stack.up(turned_round(2)).ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":2}"#);
}

#[test]
fn what_was_moved_before_others_is_not_replaced_in_the_same_run() {
    let mut stack = straight();
    stack.options.targets = targets([&stack.urn("c"), &stack.urn("a")]);
    stack.options.replace = targets([&stack.urn("a")]);
    stack.up(turned_round(2)).failed("cannot be changed in this run");
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
}

#[test]
fn an_excluded_resource_keeps_its_provider_when_that_is_replaced() {
    let refuses = Arc::new(AtomicBool::new(false));
    let mut stack = Stack::with_provider("pkgA", regional(&refuses));
    stack.up(in_region("east")).ok();
    stack.options.excludes = targets([&stack.urn("a")]);
    stack.up(in_region("west"));
    let provider = stack.resource("a").provider.clone();
    let stands =
        |resource: &drystone_model::Resource| format!("{}::{}", resource.urn, resource.id) == provider;
    assert!(stack.snapshot.resources.iter().any(stands));
}

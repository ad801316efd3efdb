//! The order of resources in the snapshot: whatever happens, what others refer to stands before them. The journal of
//! these tests verifies the snapshot after every entry.

use crate::harness::{P, ProgramResult, Stack, TestProvider, program};
use drystone_engine::{Alias, Program, ProviderError};
use drystone_model::Urn;
use std::sync::Arc;

fn urn(name: &str) -> Urn {
    Urn::build("dev", "shop", "", "pkgA:m:T", name)
}

/// Registers resources in this order, each with what it depends on.
fn graph(edges: &'static [(&'static str, &'static [&'static str])]) -> Arc<dyn Program> {
    program(move |p| async move {
        for (name, needs) in edges {
            let mut resource = p.resource("pkgA:m:T", name);
            for need in *needs {
                resource = resource.depends_on(&urn(need));
            }
            resource.register().await?;
        }
        Ok(())
    })
}

#[test]
fn resources_stand_in_the_order_that_they_are_done() {
    let mut stack = Stack::new();
    stack.up(graph(&[("a", &[]), ("b", &["a"]), ("c", &["a", "b"])])).ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
}

#[test]
fn a_program_in_another_order_changes_the_order() {
    let mut stack = Stack::new();
    stack.up(graph(&[("a", &[]), ("b", &[]), ("c", &[])])).ok();
    stack.up(graph(&[("c", &[]), ("a", &["c"]), ("b", &[])])).ok();
    assert_eq!(stack.names(), ["shop-dev", "c", "a", "b"]);
}

#[test]
fn s03_what_a_change_writes_does_not_grow_with_the_stack() {
    let many = |size: i64| {
        program(move |p| async move {
            for number in 0..300 {
                let resource = p.resource("pkgA:m:T", &format!("r{number:03}"));
                let changed = if number == 150 { size } else { 1 };
                resource.input("size", changed).register().await?;
            }
            Ok(())
        })
    };
    let mut stack = Stack::new();
    stack.up(many(1)).ok();
    let before = stack.names();
    let outcome = stack.up(many(2)).ok();
    let written: usize = outcome.journal.iter().map(String::len).sum();
    assert!(written < 8_000, "{written} bytes");
    assert_eq!(stack.names(), before);
}

#[test]
fn a_dependency_can_be_turned_around() {
    let mut stack = Stack::new();
    stack.up(graph(&[("a", &[]), ("b", &["a"])])).ok();
    stack.up(graph(&[("b", &[]), ("a", &["b"])])).ok();
    assert_eq!(stack.names(), ["shop-dev", "b", "a"]);
    assert_eq!(stack.resource("a").dependencies, [urn("b")]);
    assert!(stack.resource("b").dependencies.is_empty());
}

#[test]
fn a_run_that_stops_half_way_leaves_the_rest_behind_what_was_done() {
    let mut stack = Stack::new();
    stack.up(graph(&[("a", &[]), ("b", &["a"]), ("c", &["b"])])).ok();
    let stops = program(|p| async move {
        p.resource("pkgA:m:T", "a").input("size", 2).register().await?;
        Err(drystone_engine::MonitorError::new("stop"))
    });
    stack.up(stops).failed("stop");
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
}

#[test]
fn a_run_that_fails_in_the_middle_keeps_dependents_behind_what_they_depend_on() {
    let mut stack = Stack::new();
    stack.up(graph(&[("a", &[]), ("b", &["a"]), ("c", &["b"]), ("d", &[])])).ok();
    stack.providers.get_mut("pkgA").unwrap().update = Some(Arc::new(|_| Err(ProviderError::new("denied"))));
    let run = program(|p| async move {
        p.resource("pkgA:m:T", "d").register().await?;
        p.resource("pkgA:m:T", "c").register().await?;
        p.resource("pkgA:m:T", "b").input("size", 2).register().await?;
        Ok(())
    });
    stack.up(run).failed("denied");
    assert_eq!(stack.names(), ["shop-dev", "d", "c", "a", "b"]);
}

#[test]
fn what_was_replaced_stands_behind_what_took_its_place() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]));
    let run = |kind: &'static str| {
        program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
            let b = p.resource("pkgA:m:T", "b").input_from("kind", &a, "kind").register().await?;
            p.resource("pkgA:m:T", "c").depends_on(&b.urn).register().await?;
            Ok(())
        })
    };
    stack.up(run("x")).ok();
    stack.providers.get_mut("pkgA").unwrap().delete = Some(Arc::new(|_| Err(ProviderError::new("stuck"))));
    stack.up(run("y")).failed("stuck");
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c", "a!", "b!"]);
    stack.up(run("z")).failed("stuck");
    assert_eq!(stack.names()[..4], ["shop-dev", "a", "b", "c"]);
    stack.providers.get_mut("pkgA").unwrap().delete = None;
    stack.up(run("z")).ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
    assert_eq!(stack.providers["pkgA"].ids().len(), 3);
}

#[test]
fn a_child_that_moves_under_a_new_parent_stands_behind_it() {
    let mut stack = Stack::new();
    stack.up(graph(&[("a", &[]), ("b", &["a"])])).ok();
    let moved = program(|p| async move {
        let c = p.component("m:m:C", "c").register().await?;
        let a = p.resource("pkgA:m:T", "a").parent(&c.urn);
        let a = a.options(|options| options.aliases = vec![Alias::Urn(urn("a"))]).register().await?;
        p.resource("pkgA:m:T", "b").depends_on(&a.urn).register().await?;
        Ok(())
    });
    stack.up(moved).ok();
    assert_eq!(stack.names(), ["shop-dev", "c", "a", "b"]);
    assert_eq!(stack.resource("b").dependencies, [stack.urn("a")]);
}

#[test]
fn a_provider_that_is_replaced_stands_before_what_it_serves() {
    let mut stack = Stack::new();
    stack.providers.get_mut("pkgA").unwrap().diff_config =
        Some(Arc::new(|arguments| Ok(crate::harness::diff_by_keys(&arguments, &["region"], false))));
    let run = |region: &'static str| {
        program(move |p| async move {
            let provider =
                p.resource("pulumi:providers:pkgA", "explicit").input("region", region).register().await?;
            let a = p.resource("pkgA:m:T", "a").provider(&provider).register().await?;
            p.resource("pkgA:m:T", "b").provider(&provider).depends_on(&a.urn).register().await?;
            Ok(())
        })
    };
    stack.up(run("north")).ok();
    stack.up(run("south")).ok();
    assert_eq!(stack.names(), ["shop-dev", "explicit", "a", "b"]);
    assert_eq!(stack.providers["pkgA"].ids(), ["a-3", "b-4"]);
}

async fn at_once(p: P, size: i64) -> ProgramResult {
    let one = |index: usize| {
        let p = p.clone();
        async move {
            let mut resource = p.resource("pkgA:m:T", &format!("r{index:02}"));
            if index.is_multiple_of(3) {
                resource = resource.input("size", size);
            }
            let first = resource.register().await?;
            let child = p.resource("pkgA:m:T", &format!("c{index:02}")).parent(&first.urn);
            child.input("size", size).register().await?;
            Ok(())
        }
    };
    futures::future::try_join_all((0..30).map(one)).await.map(|_| ())
}

#[test]
fn many_at_once_are_in_order() {
    let mut stack = Stack::new();
    for size in [1, 2] {
        stack.up(program(move |p| at_once(p, size))).ok();
        assert_eq!(stack.names().len(), 61);
    }
    stack.destroy().ok();
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn what_was_imported_and_updated_stands_once() {
    let mut stack = Stack::new();
    stack.providers["pkgA"].cloud.lock().unwrap().insert("real".into(), drystone_engine::PropertyMap::new());
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("size", 1);
            let a = a.options(|options| options.import_id = "real".into()).register().await?;
            p.resource("pkgA:m:T", "b").depends_on(&a.urn).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "b"]);
}

#[test]
fn the_outputs_of_a_component_do_not_move_it() {
    let mut stack = Stack::new();
    let run = |size: i64| {
        program(move |p| async move {
            let c = p.component("m:m:C", "c").register().await?;
            p.resource("pkgA:m:T", "a").parent(&c.urn).register().await?;
            let outputs = drystone_engine::PropertyMap::from([("size".to_owned(), size.into())]);
            p.monitor.register_outputs(&c.urn, outputs).await
        })
    };
    stack.up(run(1)).ok();
    stack.up(run(2)).ok();
    assert_eq!(stack.names(), ["shop-dev", "c", "a"]);
    assert_eq!(stack.resource("c").outputs.text(), r#"{"size":2}"#);
}

//! Deleting a stack, with and without its program.

use crate::harness::{Outcome, P, Stack, TestProvider, program, refresh_first, targets};
use drystone_engine::{Diff, MonitorError, Op, Operation, Options, Program, ProviderError, ReadRequest};
use drystone_model::Urn;
use std::sync::{Arc, Mutex};

/// Destroys with the program running.
fn destroy_with(stack: &mut Stack, program: Arc<dyn Program>) -> Outcome {
    stack.options.run_program = true;
    let outcome = stack.operate(Operation::Destroy, false, Some(program));
    stack.options.run_program = false;
    outcome
}

/// `a`, and `b` that takes something from it, under a component.
fn two(size: i64) -> Arc<dyn Program> {
    program(move |p: P| async move {
        let top = p.component("my:index:Top", "top").register().await?;
        let a = p.resource("pkgA:m:T", "a").input("size", size).parent(&top.urn).register().await?;
        p.resource("pkgA:m:T", "b").input_from("from", &a, "size").register().await?;
        Ok(())
    })
}

fn stack() -> Stack {
    let mut stack = Stack::new();
    stack.up(two(1)).ok();
    stack.calls("pkgA");
    stack
}

#[test]
fn everything_goes_and_each_deletion_is_counted() {
    let mut stack = stack();
    let outcome = stack.destroy().ok();
    assert_eq!(stack.effects("pkgA"), ["delete b", "delete a"]);
    // The stack, the component and two resources; default providers are the engine's own business.
    assert_eq!(outcome.count(Op::Delete), 4);
    assert!(stack.snapshot.resources.is_empty() && stack.providers["pkgA"].ids().is_empty());
}

#[test]
fn an_empty_stack_is_destroyed_without_a_word() {
    let outcome = Stack::new().destroy().ok();
    assert_eq!((outcome.entries, outcome.report.changes.len()), (0, 0));
}

#[test]
fn a_preview_of_a_destroy_deletes_nothing() {
    let mut stack = stack();
    let outcome = stack.operate(Operation::Destroy, true, None).ok();
    assert_eq!(outcome.count(Op::Delete), 4);
    assert_eq!((stack.effects("pkgA").len(), stack.names().len()), (0, 4));
}

#[test]
fn deletions_get_what_the_state_has() {
    let mut stack = stack();
    stack.destroy().ok();
    let calls = stack.calls("pkgA");
    let delete = calls.iter().find(|call| call.method == "delete" && call.urn.name() == "a").unwrap();
    assert_eq!((delete.id.as_str(), delete.inputs["size"].clone()), ("a-1", 1.into()));
}

#[test]
fn a_failed_deletion_stops_what_has_not_begun() {
    let mut stack = stack();
    stack.providers.get_mut("pkgA").unwrap().delete = Some(Arc::new(|_| Err(ProviderError::new("in use"))));
    stack.destroy().failed("in use");
    assert_eq!(stack.effects("pkgA"), ["delete b"]);
    assert_eq!(stack.names(), ["shop-dev", "top", "a", "b"]);
}

#[test]
fn the_provider_of_the_state_deletes_although_its_configuration_changed() {
    let mut stack = Stack::new();
    let set = |stack: &mut Stack, region: &str| {
        let value = drystone_engine::ConfigValue { text: region.to_owned(), object: false, secret: false };
        stack.config.insert("pkgA:region".to_owned(), value);
    };
    set(&mut stack, "eu");
    stack.up(two(1)).ok();
    set(&mut stack, "us");
    stack.calls("pkgA");
    stack.destroy().ok();
    let configured: Vec<_> =
        stack.calls("pkgA").into_iter().filter(|call| call.method == "configure").collect();
    assert_eq!((configured.len(), configured[0].inputs["region"].clone()), (1, "eu".into()));
}

#[test]
fn the_program_runs_and_hears_of_the_outputs_that_there_are() {
    let mut stack = stack();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = Arc::clone(&seen);
    destroy_with(
        &mut stack,
        program(move |p| {
            let told = Arc::clone(&told);
            async move {
                let top = p.component("my:index:Top", "top").register().await?;
                // Other inputs than the resource has: they reach no provider.
                let a = p.resource("pkgA:m:T", "a").input("size", 2).parent(&top.urn).register().await?;
                told.lock().unwrap().push(format!("{} {:?}", a.id, a.properties["size"]));
                Ok(())
            }
        }),
    )
    .ok();
    assert_eq!(*seen.lock().unwrap(), ["a-1 Number(Integer(1))"]);
    let calls = stack.calls("pkgA");
    let methods: Vec<&str> = calls.iter().map(|call| call.method).collect();
    assert!(!methods.contains(&"create") && !methods.contains(&"update"), "{methods:?}");
    assert!(stack.snapshot.resources.is_empty() && stack.providers["pkgA"].ids().is_empty());
}

#[test]
fn what_the_program_does_not_name_goes_too() {
    let mut stack = stack();
    destroy_with(&mut stack, program(|_| async move { Ok(()) })).ok();
    assert_eq!(stack.effects("pkgA"), ["delete b", "delete a"]);
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn what_only_the_program_names_is_not_made() {
    let mut stack = stack();
    destroy_with(
        &mut stack,
        program(|p| async move {
            let fresh = p.resource("pkgA:m:T", "fresh").register().await?;
            assert!(fresh.unknown);
            let comp = p.component("my:index:Comp", "comp").depends_on(&fresh.urn).register().await?;
            let a = p.resource("pkgA:m:T", "late").depends_on(&comp.urn).register().await?;
            assert!(a.unknown);
            Ok(())
        }),
    )
    .ok();
    assert_eq!(stack.effects("pkgA"), ["delete b", "delete a"]);
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_component_that_only_the_program_names_leaves_no_trace() {
    let mut stack = stack();
    destroy_with(
        &mut stack,
        program(|p| async move {
            p.component("my:index:New", "new").register().await?;
            Ok(())
        }),
    )
    .ok();
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_resource_that_now_depends_on_something_new_goes_all_the_same() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
            Ok(())
        }))
        .ok();
    stack.calls("pkgA");
    destroy_with(
        &mut stack,
        program(|p| async move {
            let fresh = p.resource("pkgA:m:T", "fresh").register().await?;
            let comp = p.component("my:index:Comp", "comp").depends_on(&fresh.urn).register().await?;
            let a = p.resource("pkgA:m:T", "a").input("size", 1).depends_on(&comp.urn).register().await?;
            assert_eq!(a.properties["size"], 1.into());
            Ok(())
        }),
    )
    .ok();
    assert_eq!(stack.effects("pkgA"), ["delete a"]);
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_renamed_resource_goes_under_its_new_name() {
    let mut stack = stack();
    destroy_with(
        &mut stack,
        program(|p| async move {
            let top = p.component("my:index:Top", "top").register().await?;
            let old = "urn:pulumi:dev::shop::my:index:Top$pkgA:m:T::a";
            p.resource("pkgA:m:T", "new").input("size", 1).parent(&top.urn).alias(old).register().await?;
            Ok(())
        }),
    )
    .ok();
    assert_eq!(stack.effects("pkgA"), ["delete b", "delete new"]);
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_program_with_a_newer_provider_deletes_through_it() {
    let run = |version: &'static str| {
        program(move |p| async move {
            p.resource("pkgA:m:T", "a").version(version).register().await?;
            if version == "1.0.0" {
                p.resource("pkgA:m:T", "b").version(version).register().await?;
            }
            Ok(())
        })
    };
    let mut stack = Stack::new();
    stack.up(run("1.0.0")).ok();
    stack.calls("pkgA");
    destroy_with(&mut stack, run("2.0.0")).ok();
    let mut effects = stack.effects("pkgA");
    effects.sort();
    assert_eq!(effects, ["delete a", "delete b"]);
    let loaded: Vec<String> = stack.providers["pkgA"]
        .loaded
        .lock()
        .unwrap()
        .iter()
        .map(|package| package.version.clone())
        .collect();
    assert!(loaded.contains(&"2.0.0".to_owned()), "{loaded:?}");
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn an_explicit_provider_is_updated_before_it_deletes() {
    let run = |token: &'static str| {
        program(move |p| async move {
            let own = p.resource("pulumi:providers:pkgA", "own").input("token", token).register().await?;
            p.resource("pkgA:m:T", "a").provider(&own).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::new();
    stack.up(run("old")).ok();
    stack.calls("pkgA");
    destroy_with(&mut stack, run("fresh")).ok();
    let configured: Vec<_> =
        stack.calls("pkgA").into_iter().filter(|call| call.method == "configure").collect();
    assert_eq!(configured.last().unwrap().inputs["token"], "fresh".into());
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn what_the_program_reads_is_read_and_forgotten() {
    let read = || ReadRequest {
        type_token: "pkgA:m:T".to_owned(),
        name: "seen".to_owned(),
        id: "elsewhere".to_owned(),
        ..ReadRequest::default()
    };
    let run = move || {
        program(move |p| async move {
            let seen = p.monitor.read(read()).await?;
            p.resource("pkgA:m:T", "a").depends_on(&seen.urn).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::new();
    stack.providers["pkgA"].cloud.lock().unwrap().insert("elsewhere".to_owned(), Default::default());
    stack.up(run()).ok();
    stack.calls("pkgA");
    destroy_with(&mut stack, run()).ok();
    assert_eq!(stack.effects("pkgA"), ["read seen", "delete a"]);
    assert!(stack.snapshot.resources.is_empty());
    assert_eq!(stack.providers["pkgA"].ids(), ["elsewhere"]);
}

#[test]
fn a_program_that_fails_deletes_nothing() {
    let mut stack = stack();
    destroy_with(&mut stack, program(|_| async move { Err(MonitorError::new("bang")) })).failed("bang");
    assert_eq!(stack.names(), ["shop-dev", "top", "a", "b"]);
}

#[test]
fn protected_resources_and_their_providers_stay() {
    let mut stack = Stack::new();
    let run = || {
        program(|p| async move {
            let own = p.resource("pulumi:providers:pkgA", "own").register().await?;
            let a = p.resource("pkgA:m:T", "a").provider(&own);
            a.options(|options| options.protect = Some(true)).register().await?;
            p.resource("pkgA:m:T", "b").provider(&own).register().await?;
            Ok(())
        })
    };
    stack.up(run()).ok();
    stack.calls("pkgA");
    destroy_with(&mut stack, run()).failed("because it is protected");
    assert_eq!(stack.effects("pkgA"), ["delete b"]);
    assert_eq!(stack.names(), ["own", "a"]);
}

#[test]
fn a_target_goes_and_the_rest_stays() {
    let mut stack = stack();
    let b = stack.urn("b");
    stack.options = Options { targets: targets([&b]), ..stack.options.clone() };
    stack.destroy().ok();
    assert_eq!(stack.effects("pkgA"), ["delete b"]);
    assert_eq!(stack.names(), ["shop-dev", "top", "a"]);
}

#[test]
fn a_target_goes_with_the_program_running() {
    let mut stack = stack();
    let b = stack.urn("b");
    stack.options.targets = targets([&b]);
    destroy_with(&mut stack, two(1)).ok();
    assert_eq!(stack.effects("pkgA"), ["delete b"]);
    assert_eq!(stack.names(), ["shop-dev", "top", "a"]);
}

#[test]
fn a_target_that_others_depend_on_is_refused() {
    let mut stack = stack();
    let a = stack.urn("a");
    stack.options.targets = targets([&a]);
    stack.destroy().failed("::b' will be destroyed but was not specified in --target list.");
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0]);
}

#[test]
fn a_target_that_is_not_there_is_refused() {
    let mut stack = stack();
    let missing = Urn::new("urn:pulumi:dev::shop::pkgA:m:T::missing");
    stack.options.targets = targets([&missing]);
    stack.destroy().failed("could not be found in the stack");
    assert_eq!(stack.names().len(), 4);
}

#[test]
fn a_refresh_first_forgets_what_is_gone_already() {
    let mut stack = stack();
    stack.providers["pkgA"].cloud.lock().unwrap().clear();
    stack.options.refresh = drystone_engine::RefreshMode::First;
    stack.destroy().ok();
    assert!(!stack.effects("pkgA").iter().any(|effect| effect.starts_with("delete")));
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn the_replaced_half_of_an_interrupted_run_goes_too() {
    let replacing = TestProvider {
        diff: Some(Arc::new(|_| Ok(Diff::replace("size")))),
        delete: Some(Arc::new(|_| Err(ProviderError::new("busy")))),
        ..TestProvider::default()
    };
    let mut stack = Stack::with_provider("pkgA", replacing);
    let run = |size: i64| {
        program(move |p| async move {
            p.resource("pkgA:m:T", "a").input("size", size).register().await?;
            Ok(())
        })
    };
    stack.up(run(1)).ok();
    stack.up(run(2)).failed("busy");
    assert_eq!(stack.names(), ["shop-dev", "a", "a!"]);
    stack.providers.get_mut("pkgA").unwrap().delete = None;
    stack.destroy().ok();
    assert!(stack.snapshot.resources.is_empty() && stack.providers["pkgA"].ids().is_empty());
}

// Programs that moved things since: integrity is verified after every entry.

#[test]
fn a_resource_whose_new_parent_is_not_made_goes_under_its_old_name() {
    let mut stack = Stack::new();
    stack
        .up(program(
            |p| async move { p.resource("pkgA:m:T", "a").input("size", 1).register().await.map(|_| ()) },
        ))
        .ok();
    stack.calls("pkgA");
    destroy_with(
        &mut stack,
        program(|p| async move {
            let fresh = p.resource("pkgA:m:T", "fresh").register().await?;
            let a = p.resource("pkgA:m:T", "a").input("size", 2).parent(&fresh.urn);
            let a = a.alias("urn:pulumi:dev::shop::pkgA:m:T::a").register().await?;
            assert_eq!(a.properties["size"], 1.into());
            Ok(())
        }),
    )
    .ok();
    assert_eq!(stack.effects("pkgA"), ["delete a"]);
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_provider_that_moved_under_a_new_component_goes_with_its_resources() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let own = p.resource("pulumi:providers:pkgA", "own").register().await?;
            p.resource("pkgA:m:T", "a").provider(&own).register().await?;
            Ok(())
        }))
        .ok();
    stack.calls("pkgA");
    destroy_with(
        &mut stack,
        program(|p| async move {
            let top = p.component("my:index:Top", "top").register().await?;
            let own = p.resource("pulumi:providers:pkgA", "own").parent(&top.urn);
            let own = own.alias("urn:pulumi:dev::shop::pulumi:providers:pkgA::own").register().await?;
            p.resource("pkgA:m:T", "a").provider(&own).register().await?;
            Ok(())
        }),
    )
    .ok();
    assert_eq!(stack.effects("pkgA"), ["delete a"]);
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_provider_that_moved_deletes_what_the_program_does_not_name() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let own = p.resource("pulumi:providers:pkgA", "own").register().await?;
            p.resource("pkgA:m:T", "a").provider(&own).register().await?;
            Ok(())
        }))
        .ok();
    stack.calls("pkgA");
    destroy_with(
        &mut stack,
        program(|p| async move {
            let own = p.resource("pulumi:providers:pkgA", "new");
            own.alias("urn:pulumi:dev::shop::pulumi:providers:pkgA::own").register().await?;
            Ok(())
        }),
    )
    .ok();
    assert_eq!(stack.effects("pkgA"), ["delete a"]);
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_child_that_lost_its_parent_goes_as_a_target() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let parent = p.component("my:index:Parent", "parent").register().await?;
            let child = p.component("my:index:Child", "child").parent(&parent.urn).register().await?;
            p.resource("pkgA:m:T", "leaf").parent(&child.urn).register().await?;
            Ok(())
        }))
        .ok();
    stack.calls("pkgA");
    let leaf = stack.urn("leaf");
    stack.options.targets = targets([&leaf]);
    destroy_with(
        &mut stack,
        program(|p| async move {
            let child = p.component("my:index:Child", "child");
            let child = child.alias("urn:pulumi:dev::shop::my:index:Parent$my:index:Child::child");
            let child = child.register().await?;
            p.resource("pkgA:m:T", "leaf").parent(&child.urn).register().await?;
            Ok(())
        }),
    )
    .ok();
    assert_eq!(stack.effects("pkgA"), ["delete leaf"]);
    assert!(stack.find("leaf").is_none() && stack.find("child").is_some());
}

#[test]
fn a_target_that_got_a_child_since_is_refused_without_it() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            p.component("my:index:Top", "parent").register().await?;
            p.resource("pulumi:providers:pkgB", "child").register().await?;
            Ok(())
        }))
        .ok();
    let parent = stack.urn("parent");
    stack.options.targets = targets([&parent]);
    let run = || {
        program(|p| async move {
            let parent = p.component("my:index:Top", "parent").register().await?;
            let child = p.resource("pulumi:providers:pkgB", "child").parent(&parent.urn);
            child.alias("urn:pulumi:dev::shop::pulumi:providers:pkgB::child").register().await?;
            Ok(())
        })
    };
    destroy_with(&mut stack, run()).failed("will be destroyed but was not specified in --target list.");
    assert!(stack.find("parent").is_some() && stack.find("child").is_some());
    stack.options.target_dependents = true;
    destroy_with(&mut stack, run()).ok();
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn a_target_is_found_by_the_name_that_it_had() {
    let mut stack = Stack::new();
    stack.up(program(|p| async move { p.resource("pkgA:m:T", "a").register().await.map(|_| ()) })).ok();
    stack.calls("pkgA");
    let a = stack.urn("a");
    stack.options.targets = targets([&a]);
    destroy_with(
        &mut stack,
        program(|p| async move {
            let new = p.resource("pkgA:m:T", "new").alias("urn:pulumi:dev::shop::pkgA:m:T::a");
            new.register().await.map(|_| ())
        }),
    )
    .ok();
    assert_eq!((stack.effects("pkgA"), stack.names()), (vec!["delete new".into()], vec!["shop-dev".into()]));
}

#[test]
fn old_halves_that_depend_on_each_other_go_in_order() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let own = p.resource("pulumi:providers:pkgA", "own").register().await?;
            let a = p.resource("pkgA:m:T", "a").provider(&own).register().await?;
            p.resource("pkgA:m:T", "b").provider(&own).depends_on(&a.urn).register().await?;
            Ok(())
        }))
        .ok();
    let mut old = stack.resource("a").clone();
    (old.delete, old.id) = (true, "a-0".to_owned());
    let at = stack.snapshot.resources.iter().position(|resource| resource.urn.name() == "b").unwrap();
    stack.snapshot.resources.insert(at, old);
    stack.snapshot.resources.last_mut().unwrap().delete = true;
    stack.calls("pkgA");
    stack.options.refresh = drystone_engine::RefreshMode::First;
    stack.providers["pkgA"].cloud.lock().unwrap().insert("a-0".to_owned(), Default::default());
    destroy_with(
        &mut stack,
        program(|p| async move { p.resource("pulumi:providers:pkgA", "own").register().await.map(|_| ()) }),
    )
    .ok();
    assert!(stack.snapshot.resources.is_empty() && stack.providers["pkgA"].ids().is_empty());
}

#[test]
fn what_a_provider_manages_goes_although_something_that_the_provider_needs_is_gone() {
    let program = || {
        program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("config", "x").register().await?;
            let provider = p.resource("pulumi:providers:pkgB", "own").input_from("config", &a, "config");
            let provider = provider.register().await?;
            p.resource("pkgB:m:T", "b").provider(&provider).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::new();
    stack.up(program()).ok();
    stack.calls("pkgB");
    stack.providers["pkgA"].cloud.lock().unwrap().clear();
    stack.options = refresh_first();
    stack.destroy_with(program()).ok();
    assert!(stack.snapshot.resources.is_empty());
    assert!(stack.effects("pkgB").contains(&"delete b".to_owned()));
}

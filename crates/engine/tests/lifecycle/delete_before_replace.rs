//! Replacements that are made after the old resource is gone.

use crate::harness::{Stack, TestProvider, program};
use drystone_engine::{Diff, Op, Program, ProviderError, Registered, ResourceOptions};
use std::sync::Arc;

type Change = fn(&mut ResourceOptions);

/// `b` takes its `kind` from `a`, `c` from `b`, `d` stands alone; `a` gets the options.
fn chain(kind: &'static str, change: Change) -> Arc<dyn Program> {
    program(move |p| async move {
        let a = p.resource("pkgA:m:T", "a").input("kind", kind).options(change).register().await?;
        let b = p.resource("pkgA:m:T", "b").input_from("kind", &a, "kind").register().await?;
        p.resource("pkgA:m:T", "c").input_from("other", &b, "kind").register().await?;
        p.resource("pkgA:m:T", "d").register().await?;
        Ok(())
    })
}

fn stack(provider: TestProvider) -> Stack {
    let mut stack = Stack::with_provider("pkgA", provider);
    stack.up(chain("x", |_| ())).ok();
    stack.calls("pkgA");
    stack
}

#[test]
fn the_option_deletes_first_where_the_provider_would_not() {
    let mut stack = stack(TestProvider::replacing_on(["kind"]));
    stack.up(chain("y", |options| options.delete_before_replace = Some(true))).ok();
    assert_eq!(stack.effects("pkgA"), ["delete b", "delete a", "create a", "create b", "update c"]);
}

#[test]
fn the_option_keeps_a_provider_from_deleting_first() {
    let mut stack = stack(TestProvider::deleting_before_replacing_on(["kind"]));
    stack.up(chain("y", |options| options.delete_before_replace = Some(false))).ok();
    let effects = stack.effects("pkgA");
    assert_eq!(effects[0], "create a");
    assert!(
        !effects[..effects.iter().position(|effect| effect == "create a").unwrap()]
            .contains(&"delete a".into())
    );
}

#[test]
fn dependents_that_need_no_replacement_stay() {
    let mut stack = stack(TestProvider::deleting_before_replacing_on(["kind"]));
    stack.up(chain("y", |_| ())).ok();
    let effects = stack.effects("pkgA");
    assert_eq!(effects, ["delete b", "delete a", "create a", "create b", "update c"]);
}

#[test]
fn what_is_read_in_the_place_of_a_dependent_that_went_first_leaves_nothing_waiting() {
    let mut stack = stack(TestProvider::deleting_before_replacing_on(["kind"]));
    let outcome = stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "a").input("kind", "y").register().await?;
            p.read("pkgA:m:T", "b", "d-4").await?;
            Ok(())
        }))
        .ok();
    let b = stack.resource("b");
    assert!(b.external && !b.pending_replacement, "{:?}", outcome.steps());
    let of_b = stack.snapshot.resources.iter().filter(|state| state.urn.name() == "b");
    assert_eq!(of_b.count(), 1);
}

#[test]
fn a_dependency_that_no_input_has_does_not_take_a_resource_along() {
    let run = |kind: &'static str| {
        program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
            p.resource("pkgA:m:T", "b").input("kind", "z").depends_on(&a.urn).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["kind"]));
    stack.up(run("x")).ok();
    stack.calls("pkgA");
    stack.up(run("y")).ok();
    assert_eq!(stack.effects("pkgA"), ["delete a", "create a"]);
}

#[test]
fn without_property_dependencies_every_input_depends_on_everything() {
    let run = |kind: &'static str| {
        program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
            let b = p.resource("pkgA:m:T", "b").input("kind", "z");
            b.with(|request| request.dependencies.push(a.urn)).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["kind"]));
    stack.up(run("x")).ok();
    assert_eq!(stack.resource("b").property_dependencies["kind"], Some(vec![stack.urn("a")]));
    stack.calls("pkgA");
    stack.up(run("y")).ok();
    assert_eq!(stack.effects("pkgA"), ["delete b", "delete a", "create a", "create b"]);
}

#[test]
fn a_dependent_that_leaves_the_program_is_deleted_once() {
    let mut stack = stack(TestProvider::deleting_before_replacing_on(["kind"]));
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "a").input("kind", "y").register().await?;
            p.resource("pkgA:m:T", "d").register().await?;
            Ok(())
        }))
        .ok();
    let mut effects = stack.effects("pkgA");
    effects.sort();
    assert_eq!(effects, ["create a", "delete a", "delete b", "delete c"]);
    assert_eq!(stack.names(), ["shop-dev", "a", "d"]);
}

#[test]
fn a_dependent_that_drops_its_dependency_is_replaced_all_the_same() {
    let mut stack = stack(TestProvider::deleting_before_replacing_on(["kind"]));
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "a").input("kind", "y").register().await?;
            let b = p.resource("pkgA:m:T", "b").input("kind", "own").register().await?;
            p.resource("pkgA:m:T", "c").input_from("other", &b, "kind").register().await?;
            p.resource("pkgA:m:T", "d").register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.effects("pkgA"), ["delete b", "delete a", "create a", "create b", "update c"]);
    assert!(stack.resource("b").dependencies.is_empty());
}

#[test]
fn a_resource_that_was_registered_before_is_not_taken_along() {
    let run = |kind: &'static str, first: bool| {
        program(move |p| async move {
            let b = p.resource("pkgA:m:T", "b");
            if first {
                b.input("kind", "own").register().await?;
                p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
            } else {
                let a = p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
                b.input_from("kind", &a, "kind").register().await?;
            }
            Ok(())
        })
    };
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["kind"]));
    stack.up(run("x", false)).ok();
    stack.calls("pkgA");
    stack.up(run("y", true)).ok();
    assert_eq!(
        stack.effects("pkgA"),
        ["delete b", "create b", "delete a", "create a"],
        "b is decided for its own inputs, then a"
    );
}

#[test]
fn the_program_hears_of_the_replacement() {
    let mut stack = stack(TestProvider::deleting_before_replacing_on(["kind"]));
    let seen: Arc<std::sync::Mutex<Option<Registered>>> = Arc::default();
    let told = Arc::clone(&seen);
    stack
        .up(program(move |p| {
            let told = Arc::clone(&told);
            async move {
                let a = p.resource("pkgA:m:T", "a").input("kind", "y").register().await?;
                *told.lock().unwrap() = Some(a);
                Ok(())
            }
        }))
        .ok();
    assert_eq!(seen.lock().unwrap().as_ref().unwrap().id, "a-5");
}

#[test]
fn the_replacement_is_told_as_three_steps() {
    let mut stack = stack(TestProvider::deleting_before_replacing_on(["kind"]));
    let outcome = stack.up(chain("y", |_| ())).ok();
    let ops: Vec<Op> = outcome.steps_of("a").iter().map(|step| step.op).collect();
    assert_eq!(ops, [Op::DeleteReplaced, Op::Replace, Op::CreateReplacement]);
    assert_eq!(outcome.steps_of("a")[2].replace_keys, ["kind"]);
}

#[test]
fn a_preview_deletes_nothing_and_shows_everything() {
    let mut stack = stack(TestProvider::deleting_before_replacing_on(["kind"]));
    let outcome = stack.preview(chain("y", |_| ())).ok();
    let steps = outcome.steps();
    assert!(
        steps.contains(&"delete-replaced b".to_owned()) && steps.contains(&"create-replacement b".to_owned())
    );
    assert!(!stack.effects("pkgA").iter().any(|effect| effect.starts_with("delete")));
}

#[test]
fn replace_on_changes_decides_for_dependents_too() {
    let provider = TestProvider {
        diff: Some(Arc::new(|arguments| {
            let mut diff = crate::harness::diff_by_keys(&arguments, &[], true);
            if arguments.urn.name() == "a" && !diff.changed_keys.is_empty() {
                diff.replace_keys = vec!["kind".to_owned()];
            }
            Ok(diff)
        })),
        ..TestProvider::default()
    };
    let run = |kind: &'static str| {
        program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
            let b = p.resource("pkgA:m:T", "b").input_from("kind", &a, "kind");
            b.options(|options| options.replace_on_changes = vec!["kind".to_owned()]).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::with_provider("pkgA", provider);
    stack.up(run("x")).ok();
    stack.calls("pkgA");
    stack.up(run("y")).ok();
    assert_eq!(stack.effects("pkgA"), ["delete b", "delete a", "create a", "create b"]);
}

#[test]
fn a_replaced_provider_takes_its_resources_along() {
    let provider = TestProvider {
        diff_config: Some(Arc::new(|arguments| {
            let changed = arguments.old_inputs.get("region") != arguments.new_inputs.get("region");
            Ok(if changed {
                Diff { delete_before_replace: true, ..Diff::replace("region") }
            } else {
                Diff::none()
            })
        })),
        ..TestProvider::default()
    };
    let run = |region: &'static str| {
        program(move |p| async move {
            let own = p.resource("pulumi:providers:pkgA", "own").input("region", region).register().await?;
            let a = p.resource("pkgA:m:T", "a").provider(&own).register().await?;
            p.resource("pkgA:m:T", "b").input_from("from", &a, "x").provider(&own).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::with_provider("pkgA", provider);
    stack.up(run("eu")).ok();
    stack.calls("pkgA");
    stack.up(run("us")).ok();
    assert_eq!(stack.effects("pkgA"), ["delete b", "delete a", "create a", "create b"]);
    assert_eq!(stack.names(), ["shop-dev", "own", "a", "b"]);
}

#[test]
fn independent_replacements_go_side_by_side() {
    let run = |kind: &'static str| {
        program(move |p| async move {
            let one = p.resource("pkgA:m:T", "a").input("kind", kind).register();
            let two = p.resource("pkgA:m:T", "b").input("kind", kind).register();
            let (one, two) = futures::join!(one, two);
            let both = p.resource("pkgA:m:T", "c").input_from("kind", &one?, "kind");
            both.input_from("other", &two?, "kind").register().await?;
            Ok(())
        })
    };
    let mut stack =
        Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["kind", "other"]));
    stack.up(run("x")).ok();
    stack.calls("pkgA");
    stack.up(run("y")).ok();
    let mut effects = stack.effects("pkgA");
    assert_eq!((effects[0].as_str(), effects.last().unwrap().as_str()), ("delete c", "create c"));
    effects.sort();
    assert_eq!(effects, ["create a", "create b", "create c", "delete a", "delete b", "delete c"]);
}

/// The old `b` depends on `a`, which is replaced; the new one does not, and is registered while the old one is still
/// being deleted.
fn let_go_of(stack: &mut Stack, fails: bool, read: bool) -> Arc<dyn Program> {
    let provider = stack.providers.get_mut("pkgA").unwrap();
    provider.pause = Some(Arc::new(|method, urn| {
        let slow = method == "delete" && urn.name() == "b";
        Box::pin(async move {
            for _ in 0..if slow { 200 } else { 1 } {
                tokio::task::yield_now().await;
            }
        })
    }));
    if fails {
        provider.delete = Some(Arc::new(|arguments| match arguments.urn.name() {
            "b" => Err(ProviderError::new("busy")),
            _ => Ok(()),
        }));
    }
    program(move |p| async move {
        let a = p.resource("pkgA:m:T", "a").input("kind", "y").register();
        let b = async {
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            if read {
                return p.read("pkgA:m:T", "b", "d-4").await;
            }
            p.resource("pkgA:m:T", "b").input("kind", "z").register().await
        };
        let (a, b) = futures::join!(a, b);
        a.and(b).map(|_| ())
    })
}

#[test]
fn a_dependent_is_made_anew_only_when_the_old_one_is_gone() {
    let mut stack = stack(TestProvider::deleting_before_replacing_on(["kind"]));
    let program = let_go_of(&mut stack, false, false);
    stack.up(program).ok();
    let effects = stack.effects("pkgA");
    let at = |effect: &str| effects.iter().position(|found| found == effect).unwrap();
    assert!(at("delete b") < at("create b"), "{effects:?}");
}

#[test]
fn s05_a_dependent_that_could_not_be_deleted_is_not_forgotten() {
    for (continue_on_error, read) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut stack = stack(TestProvider::deleting_before_replacing_on(["kind"]));
        let id = stack.resource("b").id.clone();
        let program = let_go_of(&mut stack, true, read);
        stack.options.continue_on_error = continue_on_error;
        stack.up(program).failed("busy");
        assert!(!stack.effects("pkgA").contains(&"create b".to_owned()));
        let kept = stack.snapshot.resources.iter().any(|found| found.urn.name() == "b" && found.id == id);
        assert!(kept, "continue on error: {continue_on_error}, read: {read}");
    }
}

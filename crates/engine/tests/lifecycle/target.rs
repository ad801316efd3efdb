//! Operations on a part of the stack.

use crate::harness::{P, ProgramResult, Stack, TestProvider, program, refresh_first, targets};
use drystone_engine::{
    Alias, AliasParent, Ending, Op, Operation, Program, PropertyMap, ProviderError, ReadRequest, Registered,
    Severity, Targets,
};
use drystone_model::{Resource, Urn};
use std::sync::Arc;

/// `a`, `b` that depends on it, and `c` on its own, all of one size.
fn three(size: i64) -> Arc<dyn Program> {
    program(move |p| async move {
        let a = p.resource("pkgA:m:T", "a").input("size", size).register().await?;
        p.resource("pkgA:m:T", "b").input_from("size", &a, "size").register().await?;
        p.resource("pkgA:m:T", "c").input("size", size).register().await?;
        Ok(())
    })
}

fn urn(name: &str) -> Urn {
    Urn::build("dev", "shop", "", "pkgA:m:T", name)
}

/// A stack of three whose next operation is about some of them.
fn three_targeting<const N: usize>(names: [&str; N]) -> Stack {
    let mut stack = Stack::new();
    stack.up(three(1)).ok();
    stack.calls("pkgA");
    stack.options.targets = Targets::new(names.map(|name| urn(name).as_str().to_owned()));
    stack
}

/// What the snapshot holds, by name. Its order is checked with every entry.
fn held(stack: &Stack) -> Vec<String> {
    let mut names = stack.names();
    names.sort();
    names
}

fn sizes(stack: &Stack) -> Vec<String> {
    let own = |resource: &&Resource| resource.urn.type_token() == "pkgA:m:T";
    let shown = |resource: &Resource| format!("{} {}", resource.urn.name(), resource.inputs.text());
    let mut sizes: Vec<String> = stack.snapshot.resources.iter().filter(own).map(shown).collect();
    sizes.sort();
    sizes
}

#[test]
fn only_targets_are_changed() {
    let mut stack = three_targeting(["c"]);
    let outcome = stack.up(three(2)).ok();
    assert_eq!(outcome.steps(), ["update c"]);
    assert_eq!(sizes(&stack), [r#"a {"size":1}"#, r#"b {"size":1}"#, r#"c {"size":2}"#]);
}

#[test]
fn the_provider_is_not_asked_about_what_is_no_target() {
    let mut stack = three_targeting(["c"]);
    stack.up(three(2)).ok();
    let asked = stack.calls("pkgA");
    let asked: Vec<&str> =
        asked.iter().filter(|call| call.method == "check").map(|call| call.urn.name()).collect();
    assert_eq!(asked, ["c"]);
}

#[test]
fn a_pattern_names_targets() {
    let mut stack = three_targeting([]);
    stack.options.targets = Targets::new(["**::c", "urn:pulumi:dev::shop::pkgA:m:*::a"]);
    assert_eq!(stack.up(three(2)).ok().steps(), ["update a", "update c"]);
}

#[test]
fn dependents_are_targets_too_when_asked() {
    let mut stack = three_targeting(["a"]);
    stack.options.target_dependents = true;
    assert_eq!(stack.up(three(2)).ok().steps(), ["update a", "update b"]);
}

#[test]
fn children_are_dependents_and_siblings_are_not() {
    let mut stack = Stack::new();
    stack.options.targets = targets([&urn("x")]);
    let family = || {
        program(|p| async move {
            let x = p.resource("pkgA:m:T", "x").register().await?;
            p.resource("pkgA:m:T", "y").register().await?;
            p.resource("pkgA:m:T", "z").parent(&x.urn).register().await?;
            Ok(())
        })
    };
    stack.up(family()).ok();
    assert_eq!(stack.names(), ["shop-dev", "x"]);
    stack.options.target_dependents = true;
    stack.up(family()).ok();
    assert_eq!(stack.names(), ["shop-dev", "x", "z"]);
}

#[test]
fn what_an_explicit_provider_serves_depends_on_it() {
    let explicit = || {
        program(|p| async move {
            let provider = p.resource("pulumi:providers:pkgA", "explicit").register().await?;
            p.resource("pkgA:m:T", "a").provider(&provider).register().await?;
            Ok(())
        })
    };
    for (dependents, names) in
        [(false, vec!["shop-dev", "explicit"]), (true, vec!["shop-dev", "explicit", "a"])]
    {
        let mut stack = Stack::new();
        stack.options.targets = Targets::new(["**pulumi:providers:pkgA::explicit"]);
        stack.options.target_dependents = dependents;
        stack.up(explicit()).ok();
        assert_eq!(stack.names(), names);
    }
}

#[test]
fn providers_are_made_for_targets_that_need_them() {
    let mut stack = Stack::new();
    stack.options.targets = targets([&urn("a")]);
    stack.up(three(1)).ok();
    assert_eq!(stack.names(), ["shop-dev", "a"]);
    assert_eq!(stack.resource("default").urn.type_token(), "pulumi:providers:pkgA");
}

#[test]
fn the_program_goes_on_with_unknown_outputs_of_what_is_not_made() {
    let mut stack = Stack::new();
    stack.options.targets = targets([&urn("c")]);
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
            assert!(a.unknown && a.id.is_empty());
            p.resource("pkgA:m:T", "c").register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.names(), ["shop-dev", "c"]);
}

#[test]
fn what_is_not_made_may_be_needed_by_what_is_not_made_either() {
    let mut stack = Stack::new();
    stack.options.targets = targets([&urn("c")]);
    assert_eq!(stack.up(three(1)).ok().steps(), ["create c"]);
}

type Needing = fn(&P, &Registered) -> crate::harness::Registering;

/// The ways in which `b` can need `a`.
const NEEDS: [Needing; 5] = [
    |p, a| p.resource("pkgA:m:T", "b").depends_on(&a.urn),
    |p, a| p.resource("pkgA:m:T", "b").input_from("size", a, "size"),
    |p, a| p.resource("pkgA:m:T", "b").parent(&a.urn),
    |p, a| p.resource("pkgA:m:T", "b").options(|options| options.deleted_with = a.urn.clone()),
    |p, a| p.resource("pkgA:m:T", "b").options(|options| options.replace_with = vec![a.urn.clone()]),
];

async fn needing(p: P, need: Needing) -> ProgramResult {
    let a = p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
    need(&p, &a).register().await?;
    Ok(())
}

#[test]
fn a_target_that_needs_something_that_is_not_made_is_refused() {
    for need in NEEDS {
        let mut stack = Stack::new();
        stack.options.targets = Targets::new(["**::b"]);
        stack.up(program(move |p| needing(p, need))).failed("which was was not specified in --target list");
        assert_eq!(stack.names(), ["shop-dev"]);
    }
}

#[test]
fn a_target_that_exists_may_need_something_that_is_no_target() {
    for need in NEEDS {
        let mut stack = Stack::new();
        stack.up(program(move |p| needing(p, need))).ok();
        stack.options.targets = Targets::new(["**::b"]);
        stack.up(program(move |p| needing(p, need))).ok();
        assert_eq!(stack.names(), ["shop-dev", "a", "b"]);
    }
}

#[test]
fn a_preview_tells_everything_that_would_be_refused() {
    let mut stack = Stack::new();
    stack.options.targets = Targets::new(["**::b", "**::d"]);
    let outcome = stack.preview(program(|p| async move {
        let a = p.resource("pkgA:m:T", "a").register().await?;
        p.resource("pkgA:m:T", "b").depends_on(&a.urn).register().await?;
        let c = p.resource("pkgA:m:T", "c").register().await?;
        p.resource("pkgA:m:T", "d").depends_on(&c.urn).register().await?;
        Ok(())
    }));
    let outcome = outcome.failed("which was was not specified in --target list");
    assert_eq!(outcome.diagnostics(Severity::Error).len(), 2);
}

#[test]
fn only_targets_are_deleted() {
    let mut stack = three_targeting(["c"]);
    let outcome = stack.up(program(|_| async move { Ok(()) })).ok();
    assert_eq!(outcome.steps(), ["delete c"]);
    assert_eq!(stack.names(), ["shop-dev", "a", "b"]);
}

#[test]
fn what_left_the_program_and_is_no_target_stays_before_what_depends_on_it() {
    for need in NEEDS {
        let mut stack = Stack::new();
        stack.up(program(move |p| needing(p, need))).ok();
        stack.options.targets = Targets::new(["**::c"]);
        // `b` is under `a` or not; its name says so.
        let b = stack.urn("b");
        let run = program(move |p| {
            let parent = if b.qualified_type().contains('$') { urn("a") } else { Urn::default() };
            async move {
                let b = p.resource("pkgA:m:T", "b");
                let b = b.options(|options| {
                    let (name, type_token, stack, project) = <(String, String, String, String)>::default();
                    let parent =
                        if parent.is_empty() { AliasParent::Unchanged } else { AliasParent::Urn(parent) };
                    options.aliases = vec![Alias::Spec { name, type_token, stack, project, parent }];
                });
                b.register().await?;
                p.resource("pkgA:m:T", "c").register().await?;
                Ok(())
            }
        });
        stack.up(run).ok();
        assert_eq!(held(&stack), ["a", "b", "c", "shop-dev"]);
    }
}

#[test]
fn something_that_was_carried_over_early_may_be_registered_later() {
    let mut stack = Stack::new();
    let run = |early: bool| {
        program(move |p| async move {
            let a = if early {
                None
            } else {
                Some(p.resource("pkgA:m:T", "a").input("size", 1).register().await?)
            };
            let marker = p.resource("pkgA:m:T", "marker");
            match &a {
                Some(a) => marker.depends_on(&a.urn).register().await?,
                None => marker.register().await?,
            };
            if early {
                p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
            }
            p.resource("pkgA:m:T", "target").input("early", early).register().await?;
            Ok(())
        })
    };
    stack.up(run(false)).ok();
    stack.options.targets = Targets::new(["**::target"]);
    let outcome = stack.up(run(true)).ok();
    assert_eq!(outcome.steps(), ["update target"]);
    assert_eq!(held(&stack), ["a", "marker", "shop-dev", "target"]);
}

#[test]
fn deleting_a_target_that_something_depends_on_is_refused() {
    let mut stack = three_targeting(["a"]);
    let refused = "will be destroyed but was not specified in --target list";
    stack.operate(Operation::Destroy, false, None).failed(refused);
    assert_eq!((stack.names().len(), stack.effects("pkgA").len()), (4, 0));
    stack.up(program(|_| async move { Ok(()) })).failed(refused);
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
}

#[test]
fn deleting_a_target_that_has_children_is_refused() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").register().await?;
            p.resource("pkgA:m:T", "child").parent(&a.urn).register().await?;
            Ok(())
        }))
        .ok();
    stack.options.targets = targets([&urn("a")]);
    stack.destroy().failed("will be destroyed but was not specified in --target list");
    stack.options.target_dependents = true;
    stack.destroy().ok();
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn deleting_a_target_with_its_dependents_deletes_those_only() {
    let mut stack = three_targeting(["a"]);
    stack.options.target_dependents = true;
    let outcome = stack.destroy().ok();
    assert_eq!(outcome.steps(), ["delete b", "delete a"]);
    assert_eq!(stack.names(), ["shop-dev", "c"]);
}

#[test]
fn the_preview_of_a_targeted_destroy_tells_all_that_is_in_the_way() {
    let mut stack = three_targeting(["a"]);
    let outcome = stack.operate(Operation::Destroy, true, None);
    assert_eq!(outcome.report.ending, Ending::Failed);
    assert_eq!(outcome.steps(), ["delete b", "delete a"]);
}

#[test]
fn a_targeted_destroy_that_fails_keeps_what_is_left() {
    let mut stack = three_targeting(["a", "b"]);
    stack.providers.get_mut("pkgA").unwrap().delete =
        Some(Arc::new(|arguments| match arguments.urn.name() {
            "b" => Err(ProviderError::new("stuck")),
            _ => Ok(()),
        }));
    stack.destroy().failed("stuck");
    assert_eq!(held(&stack), ["a", "b", "c", "shop-dev"]);
}

#[test]
fn excluded_resources_are_left_alone() {
    let mut stack = three_targeting([]);
    stack.options.excludes = targets([&urn("a")]);
    assert_eq!(stack.up(three(2)).ok().steps(), ["update c"]);
    let mut fresh = Stack::new();
    fresh.options.excludes = targets([&urn("c")]);
    fresh.up(three(1)).ok();
    assert_eq!(fresh.names(), ["shop-dev", "a", "b"]);
}

#[test]
fn dependents_of_excluded_resources_are_excluded_too_when_asked() {
    let mut stack = Stack::new();
    stack.options.excludes = targets([&urn("a")]);
    stack.options.exclude_dependents = true;
    stack.up(three(1)).ok();
    assert_eq!(stack.names(), ["shop-dev", "c"]);
}

#[test]
fn a_destroy_keeps_what_excluded_resources_need() {
    let mut stack = three_targeting([]);
    stack.options.excludes = targets([&urn("b")]);
    let outcome = stack.destroy().ok();
    assert_eq!(outcome.steps(), ["delete c"]);
    assert_eq!(stack.names(), ["a", "b"]);
    assert!(stack.find("default").is_some());
}

#[test]
fn a_destroy_that_excludes_only_the_provider_takes_all_it_serves() {
    let mut stack = three_targeting([]);
    stack.options.excludes = Targets::new(["**pulumi:providers:pkgA::default"]);
    stack.destroy().ok();
    assert_eq!(stack.snapshot.resources.len(), 1);
    assert!(stack.find("default").is_some());
}

#[test]
fn a_destroy_keeps_dependents_of_excluded_resources_when_asked() {
    let mut stack = three_targeting([]);
    stack.options.excludes = targets([&urn("a")]);
    stack.options.exclude_dependents = true;
    stack.destroy().ok();
    assert_eq!(stack.names(), ["a", "b"]);
}

#[test]
fn patterns_name_excluded_resources() {
    let mut stack = three_targeting([]);
    stack.options.excludes = Targets::new(["**pkgA**"]);
    stack.up(program(|_| async move { Ok(()) })).ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
}

#[test]
fn targets_that_name_nothing_are_refused() {
    let mut stack = three_targeting(["nothing"]);
    stack.up(three(2)).failed(
        "Target 'urn:pulumi:dev::shop::pkgA:m:T::nothing' could not be found in the stack. Did you forget to escape $ in your shell?",
    );
    stack.options.targets = Targets::new(["urn:pulumi:dev::shop::m:m:C$pkgA:m:T::x"]);
    let outcome = stack.destroy().failed("could not be found in the stack.");
    assert!(!outcome.diagnostics(Severity::Error)[0].contains("escape"));
}

#[test]
fn a_target_may_be_something_that_the_program_makes() {
    let mut stack = Stack::new();
    stack.options.targets = targets([&urn("a")]);
    stack.up(three(1)).ok();
    assert_eq!(stack.names(), ["shop-dev", "a"]);
}

#[test]
fn resources_can_be_replaced_by_name() {
    let mut stack = three_targeting([]);
    stack.options.replace = targets([&urn("c")]);
    let outcome = stack.up(three(1)).ok();
    assert_eq!(outcome.steps(), ["create-replacement c", "replace c", "delete-replaced c"]);
    assert_eq!(outcome.steps_of("c")[0].replace_keys, ["id"]);
    assert_eq!(stack.resource("c").id, "c-4");
}

#[test]
fn a_replacement_by_name_forgets_what_was_made_up_before() {
    let mut stack = three_targeting([]);
    stack.options.replace = targets([&urn("c")]);
    stack.up(three(1)).ok();
    let calls = stack.calls("pkgA");
    let checks: Vec<_> =
        calls.iter().filter(|call| call.method == "check" && call.urn.name() == "c").collect();
    assert_eq!((checks.len(), checks[0].old_inputs.len()), (1, 0));
}

#[test]
fn replacing_something_that_the_stack_does_not_have_is_refused_before_the_program_runs() {
    let mut stack = three_targeting([]);
    stack.options.replace = targets([&urn("d")]);
    stack.up(program(|_| async move { panic!("must not run") })).failed("could not be found in the stack");
}

#[test]
fn an_untargeted_resource_keeps_its_old_parent_and_dependencies() {
    let mut stack = three_targeting(["c"]);
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "a").input("size", 9).register().await?;
            p.resource("pkgA:m:T", "b").input("size", 9).register().await?;
            p.resource("pkgA:m:T", "c").input("size", 9).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.resource("b").dependencies, [urn("a")]);
    assert_eq!(stack.resource("b").inputs.text(), r#"{"size":1}"#);
}

#[test]
fn another_provider_for_something_untargeted_is_refused() {
    let mut stack = Stack::new();
    let run = |explicit: bool| {
        program(move |p| async move {
            p.resource("pkgA:m:T", "target").input("explicit", explicit).register().await?;
            let other = p.resource("pkgB:m:T", "other");
            match explicit {
                true => {
                    let provider = p.resource("pulumi:providers:pkgB", "explicit").register().await?;
                    other.provider(&provider).register().await?
                }
                false => other.register().await?,
            };
            Ok(())
        })
    };
    stack.up(run(true)).ok();
    stack.options.targets = Targets::new(["**::target"]);
    stack.up(run(false)).failed("this is due to a change of providers mixed with --target");
    assert!(stack.resource("other").provider.contains("::explicit::"));
}

#[test]
fn a_renamed_provider_is_no_other_provider_for_something_untargeted() {
    let mut stack = Stack::new();
    let run = |name: &'static str| {
        program(move |p| async move {
            let provider = p.resource("pulumi:providers:pkgB", name);
            let provider = provider.options(|options| {
                options.aliases =
                    vec![Alias::Urn(Urn::build("dev", "shop", "", "pulumi:providers:pkgB", "before"))];
            });
            let provider = provider.register().await?;
            p.resource("pkgB:m:T", "other").provider(&provider).register().await?;
            p.resource("pkgA:m:T", "target").input("name", name).register().await?;
            Ok(())
        })
    };
    stack.up(run("before")).ok();
    stack.options.targets = Targets::new(["**::target"]);
    stack.up(run("after")).ok();
    assert!(stack.resource("other").provider.contains("::after::"));
}

#[test]
fn a_target_is_found_under_its_old_name_through_an_alias() {
    let mut stack = Stack::new();
    let run = |name: &'static str| {
        program(move |p| async move {
            let renamed = p.resource("pkgA:m:T", name).input("name", name);
            renamed.options(|options| options.aliases = vec![Alias::Urn(urn("before"))]).register().await?;
            Ok(())
        })
    };
    stack.up(run("before")).ok();
    stack.options.targets = targets([&urn("after")]);
    let outcome = stack.up(run("after")).ok();
    assert_eq!(outcome.steps(), ["update after"]);
    assert_eq!(stack.names(), ["shop-dev", "after"]);
}

#[test]
fn targeted_operations_do_not_configure_the_providers_of_others() {
    let mut stack = Stack::new();
    let run = |there: bool| {
        program(move |p| async move {
            if there {
                p.resource("pkgB:m:T", "other").register().await?;
            }
            p.resource("pkgA:m:T", "target").input("there", there).register().await?;
            Ok(())
        })
    };
    stack.up(run(true)).ok();
    stack.calls("pkgB");
    stack.options.targets = Targets::new(["**::target"]);
    stack.up(run(false)).ok();
    assert!(stack.calls("pkgB").is_empty());
    assert!(stack.find("other").is_some());
}

#[test]
fn what_waits_to_be_deleted_is_no_hindrance_for_untargeted_dependents() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["kind"]));
    let run = |kind: &'static str| {
        program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
            p.resource("pkgA:m:T", "b").depends_on(&a.urn).register().await?;
            p.resource("pkgA:m:T", "c").input("other", kind).register().await?;
            Ok(())
        })
    };
    stack.up(run("x")).ok();
    stack.providers.get_mut("pkgA").unwrap().delete = Some(Arc::new(|_| Err(ProviderError::new("stuck"))));
    stack.up(run("y")).failed("stuck");
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c", "a!"]);
    stack.providers.get_mut("pkgA").unwrap().delete = None;
    stack.options.targets = Targets::new(["**::c"]);
    let outcome = stack.up(run("z")).ok();
    assert_eq!(outcome.steps(), ["update c"]);
    assert_eq!(held(&stack), ["a", "a!", "b", "c", "shop-dev"]);
    assert_eq!(outcome.count(Op::Update), 1);
}

#[test]
fn a_targeted_destroy_with_the_program_deletes_targets_only() {
    let mut stack = three_targeting(["c"]);
    stack.destroy_with(three(1)).ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "b"]);
}

/// `a`, and `b` that depends on it; or, turned around, `b`, and `a` that depends on it.
fn pair(turned: bool) -> Arc<dyn Program> {
    program(move |p| async move {
        let (first, second) = if turned { ("b", "a") } else { ("a", "b") };
        let one = p.resource("pkgA:m:T", first).input("size", i64::from(turned)).register().await?;
        p.resource("pkgA:m:T", second).input_from("size", &one, "size").register().await?;
        Ok(())
    })
}

#[test]
fn an_edge_that_would_close_a_circle_with_what_is_left_is_refused_before_anything_is_done() {
    let excluding = |stack: &mut Stack| stack.options.excludes = targets([&urn("b")]);
    let targeting = |stack: &mut Stack| stack.options.targets = targets([&urn("a")]);
    let replacing = |stack: &mut Stack| {
        stack.options.targets = targets([&urn("a")]);
        stack.options.replace = targets([&urn("a")]);
    };
    for constrain in [excluding, targeting, replacing] {
        let mut stack = Stack::new();
        stack.up(pair(false)).ok();
        stack.calls("pkgA");
        constrain(&mut stack);
        let before = stack.snapshot.clone();
        stack.preview(pair(true)).failed("which the run is not about, depends on it in the state");
        stack.up(pair(true)).failed("which the run is not about, depends on it in the state");
        assert_eq!((stack.effects("pkgA"), &stack.snapshot.resources), (Vec::new(), &before.resources));
        stack.options.targets = Targets::default();
        stack.options.excludes = Targets::default();
        stack.options.replace = Targets::default();
        stack.up(pair(true)).ok();
        assert_eq!(stack.resource("a").dependencies, [urn("b")]);
    }
}

/// The same, `a` only read.
fn read_pair(turned: bool) -> Arc<dyn Program> {
    program(move |p| async move {
        let read = |dependencies: Vec<Urn>| {
            p.monitor.read(ReadRequest {
                type_token: "pkgA:m:T".to_owned(),
                name: "a".to_owned(),
                id: "there".to_owned(),
                dependencies,
                ..ReadRequest::default()
            })
        };
        if turned {
            let b = p.resource("pkgA:m:T", "b").register().await?;
            read(vec![b.urn]).await?;
        } else {
            let a = read(Vec::new()).await?;
            p.resource("pkgA:m:T", "b").depends_on(&a.urn).register().await?;
        }
        Ok(())
    })
}

#[test]
fn a_read_that_would_close_a_circle_with_what_is_left_is_refused() {
    let mut stack = Stack::new();
    stack.providers["pkgA"].cloud.lock().unwrap().insert("there".to_owned(), PropertyMap::new());
    stack.up(read_pair(false)).ok();
    stack.options.excludes = targets([&urn("b")]);
    stack.preview(read_pair(true)).failed("which the run is not about, depends on it in the state");
    stack.up(read_pair(true)).failed("which the run is not about, depends on it in the state");
    assert_eq!(stack.resource("b").dependencies, [urn("a")]);
    stack.options.excludes = Targets::default();
    stack.up(read_pair(true)).ok();
    assert_eq!(stack.resource("a").dependencies, [urn("b")]);
}

#[test]
fn a_new_resource_of_an_empty_stack_can_be_a_target_of_a_run_that_refreshes_first() {
    let mut stack = Stack::new();
    stack.options = refresh_first();
    stack.options.targets = targets([&urn("c")]);
    stack.up(program(|p| async move { p.resource("pkgA:m:T", "c").register().await.map(|_| ()) })).ok();
    assert_eq!(held(&stack), ["c", "shop-dev"]);
}

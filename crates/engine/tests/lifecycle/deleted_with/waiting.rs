//! What goes with another is forgotten only when that one is gone.

use super::{stack, three};
use crate::harness::{
    Log, Outcome, P, Registering, Stack, TestProvider, bind, hook, logging_hook, program, targets,
};
use drystone_engine::{
    Ending, Event, Failed, HookMoment, HookRegistration, Program, ProviderError, Registered, Registration,
};
use drystone_model::Urn;
use std::sync::Arc;

/// From now on a package's provider does not delete the resources of these names.
fn refuse<const N: usize>(stack: &mut Stack, package: &str, names: [&'static str; N]) {
    stack.providers.get_mut(package).unwrap().delete = Some(Arc::new(move |arguments| {
        if names.contains(&arguments.urn.name()) { Err(ProviderError::new("busy")) } else { Ok(()) }
    }));
}

fn relent(stack: &mut Stack, package: &str) {
    stack.providers.get_mut(package).unwrap().delete = None;
}

/// A resource of `pkgB` that goes with another.
fn with(p: &P, name: &str, container: &Urn) -> Registering {
    p.resource("pkgB:m:T", name).options(|options| options.deleted_with = container.clone())
}

/// A stack of `pkgA` and `pkgB` that carried a program out.
fn made(program: Arc<dyn Program>) -> Stack {
    let mut stack = Stack::new();
    stack.up(program).ok();
    stack.calls("pkgA");
    stack.calls("pkgB");
    stack
}

/// The resources that are said to stay.
fn said_to_stay(outcome: &Outcome) -> Vec<String> {
    let stays = |event: &Event| match event {
        Event::Diagnostic(said) if said.message.starts_with("it stays: it was to go with ") => {
            Some(said.urn.name().to_owned())
        }
        _ => None,
    };
    outcome.events.iter().filter_map(stays).collect()
}

/// What happened to the steps of some resources, as `start b`, `done b`, `failed b`.
fn course<const N: usize>(outcome: &Outcome, names: [&str; N]) -> Vec<String> {
    let told = |event: &Event| {
        let (what, step) = match event {
            Event::StepStarted(step) => ("start", step),
            Event::StepDone(step) => ("done", step),
            Event::StepFailed(step) => ("failed", step),
            _ => return None,
        };
        let name = step.urn.name();
        names.contains(&name).then(|| format!("{what} {name}"))
    };
    outcome.events.iter().filter_map(told).collect()
}

#[test]
fn s05_a_failed_deletion_keeps_what_was_to_go_with_it() {
    let mut stack = stack();
    refuse(&mut stack, "pkgA", ["a"]);
    let outcome = stack.destroy().failed("busy");
    assert_eq!(stack.names(), ["shop-dev", "a", "b"]);
    assert_eq!(said_to_stay(&outcome), ["b"]);
    assert_eq!(course(&outcome, ["a", "b"]), ["start b", "start a", "failed a", "failed b"]);
}

#[test]
fn the_next_run_deletes_both_and_does_not_ask_the_provider_of_what_goes_along() {
    let mut stack = stack();
    refuse(&mut stack, "pkgA", ["a"]);
    stack.destroy().failed("busy");
    relent(&mut stack, "pkgA");
    stack.destroy().ok();
    assert!(stack.snapshot.resources.is_empty());
    assert_eq!(stack.effects("pkgB"), ["delete c"]);
}

#[test]
fn a_whole_chain_waits_for_its_first() {
    let mut stack = made(program(|p| async move {
        let a = p.resource("pkgA:m:T", "a").register().await?;
        let b = with(&p, "b", &a.urn).register().await?;
        with(&p, "c", &b.urn).register().await?;
        Ok(())
    }));
    refuse(&mut stack, "pkgA", ["a"]);
    let outcome = stack.destroy().failed("busy");
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
    assert_eq!(said_to_stay(&outcome), ["c", "b"]);
    relent(&mut stack, "pkgA");
    let outcome = stack.destroy().ok();
    assert_eq!(
        course(&outcome, ["a", "b", "c"]),
        ["start c", "start b", "start a", "done c", "done b", "done a"]
    );
    assert_eq!(stack.effects("pkgB"), [] as [&str; 0]);
}

/// A cluster, the provider that is made from it, and what that provider makes in it.
fn cluster() -> Arc<dyn Program> {
    program(|p| async move {
        let cluster = p.resource("pkgA:m:T", "cluster").input("config", "x").register().await?;
        let provider = p.resource("pulumi:providers:pkgB", "inside").input_from("config", &cluster, "config");
        let provider = provider.register().await?;
        let group = p.component("my:index:Group", "group").depends_on(&cluster.urn).register().await?;
        let chart = with(&p, "chart", &cluster.urn).provider(&provider).parent(&group.urn);
        let chart = chart.register().await?;
        with(&p, "pod", &cluster.urn).provider(&provider).depends_on(&chart.urn).register().await?;
        Ok(())
    })
}

#[test]
fn the_provider_that_is_made_from_the_container_waits_too() {
    let mut stack = made(cluster());
    refuse(&mut stack, "pkgA", ["cluster"]);
    let outcome = stack.destroy().failed("busy");
    assert_eq!(stack.names(), ["shop-dev", "cluster", "inside", "group", "chart", "pod"]);
    let mut stays = said_to_stay(&outcome);
    stays.sort();
    assert_eq!(stays, ["chart", "group", "inside", "pod"]);
    relent(&mut stack, "pkgA");
    stack.destroy().ok();
    assert!(stack.snapshot.resources.is_empty());
    assert_eq!(stack.effects("pkgB"), [] as [&str; 0]);
}

#[test]
fn one_step_at_a_time_is_enough() {
    let mut stack = made(cluster());
    stack.options.parallel = 1;
    stack.destroy().ok();
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_preview_tells_the_same_steps() {
    let mut stack = made(cluster());
    let names = ["cluster", "inside", "group", "chart", "pod"];
    let planned = stack.operate(drystone_engine::Operation::Destroy, true, None).ok();
    let done = stack.destroy().ok();
    assert_eq!(course(&planned, names), course(&done, names));
    assert_eq!(planned.report.changes, done.report.changes);
}

#[test]
fn what_it_refers_to_goes_after_the_container() {
    let mut stack = made(program(|p| async move {
        let a = p.resource("pkgA:m:T", "a").register().await?;
        let base = p.resource("pkgA:m:T", "base").register().await?;
        with(&p, "b", &a.urn).depends_on(&base.urn).register().await?;
        Ok(())
    }));
    refuse(&mut stack, "pkgA", ["a"]);
    stack.options.continue_on_error = true;
    stack.destroy().failed("busy");
    assert_eq!(stack.names(), ["a", "base", "b"]);
    relent(&mut stack, "pkgA");
    stack.destroy().ok();
    assert_eq!(stack.effects("pkgA"), ["delete a", "delete a", "delete base"]);
}

/// `b` and `c` go with `a`, and `d` with `b`; `x`, between `b` and `a`, has to be deleted before `a` is.
fn interposed() -> Arc<dyn Program> {
    program(|p| async move {
        let a = p.resource("pkgA:m:T", "a").register().await?;
        let x = p.resource("pkgA:m:T", "x").depends_on(&a.urn).register().await?;
        let b = with(&p, "b", &a.urn).depends_on(&x.urn).register().await?;
        with(&p, "d", &b.urn).register().await?;
        with(&p, "c", &a.urn).register().await?;
        Ok(())
    })
}

#[test]
fn what_depends_on_something_that_is_deleted_first_cannot_wait() {
    let mut stack = made(interposed());
    refuse(&mut stack, "pkgA", ["a"]);
    let outcome = stack.destroy().failed("busy");
    // The state cannot hold `b` without `x`.
    assert_eq!(stack.names(), ["shop-dev", "a", "c"]);
    assert_eq!(said_to_stay(&outcome), ["c"]);
    assert_eq!(stack.effects("pkgA"), ["delete x", "delete a"]);
    relent(&mut stack, "pkgA");
    stack.destroy().ok();
    assert_eq!(stack.effects("pkgB"), [] as [&str; 0]);
}

#[test]
fn a_group_waits_for_another_that_needs_it() {
    let mut stack = made(program(|p| async move {
        let one = p.resource("pkgA:m:T", "one").register().await?;
        let two = p.resource("pkgA:m:T", "two").register().await?;
        let in_two = with(&p, "in-two", &two.urn).register().await?;
        with(&p, "in-one", &one.urn).depends_on(&in_two.urn).register().await?;
        Ok(())
    }));
    stack.options.continue_on_error = true;
    refuse(&mut stack, "pkgA", ["one"]);
    let outcome = stack.destroy().failed("busy");
    assert_eq!(stack.names(), ["one", "two", "in-two", "in-one"]);
    assert_eq!(said_to_stay(&outcome), ["in-one", "in-two"]);
    relent(&mut stack, "pkgA");
    stack.destroy().ok();
    assert_eq!(stack.effects("pkgA"), ["delete one", "delete one", "delete two"]);
}

#[test]
fn groups_that_need_each_other_go_all_the_same() {
    let mut stack = made(program(|p| async move {
        let one = p.resource("pkgA:m:T", "one").register().await?;
        let two = p.resource("pkgA:m:T", "two").register().await?;
        let in_two = with(&p, "in-two", &two.urn).register().await?;
        let in_one = with(&p, "in-one", &one.urn).depends_on(&in_two.urn).register().await?;
        with(&p, "also-in-two", &two.urn).depends_on(&in_one.urn).register().await?;
        Ok(())
    }));
    stack.options.parallel = 1;
    stack.destroy().ok();
    assert!(stack.snapshot.resources.is_empty());
    assert_eq!(stack.effects("pkgB"), [] as [&str; 0]);
}

#[test]
fn other_groups_go_on_after_a_failure() {
    let two = || {
        made(program(|p| async move {
            let one = p.resource("pkgA:m:T", "one").register().await?;
            let two = p.resource("pkgA:m:T", "two").register().await?;
            with(&p, "in-one", &one.urn).register().await?;
            with(&p, "in-two", &two.urn).register().await?;
            p.resource("pkgA:m:T", "behind-two").depends_on(&two.urn).register().await?;
            Ok(())
        }))
    };
    let mut stack = two();
    stack.options.continue_on_error = true;
    refuse(&mut stack, "pkgA", ["one"]);
    let outcome = stack.destroy().failed("busy");
    assert_eq!((stack.names(), said_to_stay(&outcome)), (names(["one", "in-one"]), names(["in-one"])));
    // Where nothing goes on, what waits for something else ends without a word.
    let mut stack = two();
    refuse(&mut stack, "pkgA", ["behind-two"]);
    let outcome = stack.destroy().failed("busy");
    assert_eq!(said_to_stay(&outcome), [] as [&str; 0]);
    assert_eq!(course(&outcome, ["in-two"]), ["start in-two", "failed in-two"]);
    assert!(stack.find("in-two").is_some());
}

fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(ToOwned::to_owned).to_vec()
}

/// `b` goes with `a`, both with a hook around their deletions; or neither.
fn hooked(hook: HookRegistration, there: bool) -> Arc<dyn Program> {
    program(move |p| {
        let hook = hook.clone();
        async move {
            p.monitor.add_hook("h".into(), hook)?;
            if there {
                let bound = |registering: Registering| {
                    registering.options(|options| {
                        bind(options, HookMoment::BeforeDelete, "h");
                        bind(options, HookMoment::AfterDelete, "h");
                    })
                };
                let a = bound(p.resource("pkgA:m:T", "a")).register().await?;
                bound(with(&p, "b", &a.urn)).register().await?;
            }
            p.monitor.finish().await;
            Ok(())
        }
    })
}

#[test]
fn its_hooks_run_once_the_last_when_it_is_gone() {
    let log = Log::default();
    let mut stack = made(hooked(logging_hook(&log), true));
    let deletions = log.clone();
    stack.providers.get_mut("pkgA").unwrap().delete = Some(Arc::new(move |_| {
        deletions.say("a is deleted");
        Ok(())
    }));
    stack.up(hooked(logging_hook(&log), false)).ok();
    assert_eq!(
        log.take(),
        ["BeforeDelete b", "BeforeDelete a", "a is deleted", "AfterDelete b", "AfterDelete a"]
    );
}

#[test]
fn a_hook_that_fails_before_keeps_both() {
    let refusing = hook(|call| match (call.moment, call.name.as_str()) {
        (HookMoment::BeforeDelete, "b") => Err(Failed("no".into())),
        _ => Ok(()),
    });
    for continue_on_error in [false, true] {
        let mut stack = made(hooked(refusing.clone(), true));
        stack.options.continue_on_error = continue_on_error;
        stack.up(hooked(refusing.clone(), false)).failed("before hook \"h\" failed: no");
        assert_eq!((stack.names(), stack.effects("pkgA").len()), (names(["shop-dev", "a", "b"]), 0));
    }
}

#[test]
fn a_hook_that_fails_after_fails_the_run_but_not_the_state() {
    let refusing = hook(|call| match (call.moment, call.name.as_str()) {
        (HookMoment::AfterDelete, "b") => Err(Failed("no".into())),
        _ => Ok(()),
    });
    let mut stack = made(hooked(refusing.clone(), true));
    stack.up(hooked(refusing, false)).failed("after hook \"h\" failed: no");
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn a_protected_resource_keeps_what_it_was_to_go_with() {
    let mut stack = made(program(|p| async move {
        let a = p.resource("pkgA:m:T", "a").register().await?;
        with(&p, "b", &a.urn).options(|options| options.protect = Some(true)).register().await?;
        with(&p, "c", &a.urn).register().await?;
        Ok(())
    }));
    let outcome = stack.destroy().failed("because it is protected");
    assert_eq!((stack.names(), stack.effects("pkgA").len()), (names(["a", "b", "c"]), 0));
    assert_eq!(said_to_stay(&outcome), ["c"]);
}

#[test]
fn s05_a_run_that_dies_anywhere_forgets_nothing_that_exists() {
    let mut losses = 0;
    for at in 0.. {
        let mut stack = made(cluster());
        stack.journal_fails_at = Some(at);
        let outcome = stack.destroy();
        stack.journal_fails_at = None;
        if outcome.report.ending == Ending::Succeeded {
            break;
        }
        losses += 1;
        assert!(matches!(outcome.report.ending, Ending::Unrecorded(_)), "at {at}");
        if !stack.providers["pkgA"].ids().is_empty() {
            let known = ["cluster", "inside", "group", "chart", "pod"].map(|name| stack.find(name).is_some());
            assert_eq!(known, [true; 5], "at {at}");
        }
        if stack.find("cluster").is_none() {
            assert!(stack.find("pod").is_none() && stack.find("inside").is_none(), "at {at}");
        }
        stack.destroy().ok();
        assert!(stack.snapshot.resources.is_empty(), "at {at}");
    }
    assert!(losses > 5, "only {losses} entries");
}

#[test]
fn old_ones_of_both_wait_for_each_other() {
    let mut stack = stack();
    refuse(&mut stack, "pkgA", ["a"]);
    stack.up(three("y")).failed("busy");
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c", "a!", "b!"]);
    relent(&mut stack, "pkgA");
    stack.up(three("y")).ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
    assert_eq!(stack.effects("pkgB"), ["create b"]);
}

#[test]
fn it_does_not_go_with_an_old_one_when_the_new_one_stays() {
    let mut stack = stack();
    refuse(&mut stack, "pkgA", ["a"]);
    stack.up(three("y")).failed("busy");
    relent(&mut stack, "pkgA");
    stack.calls("pkgB");
    // The old `b` goes with the old `a`, the new one is in the `a` that stays.
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "a").input("kind", "y").register().await?;
            p.resource("pkgB:m:T", "c").register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.effects("pkgB"), ["delete b"]);
    assert_eq!(stack.names(), ["shop-dev", "a", "c"]);
}

#[test]
fn a_destroy_that_runs_the_program_waits_too() {
    let mut stack = stack();
    refuse(&mut stack, "pkgA", ["a"]);
    stack.destroy_with(three("x")).failed("busy");
    assert!(stack.find("a").is_some() && stack.find("b").is_some());
    relent(&mut stack, "pkgA");
    stack.destroy_with(three("x")).ok();
    assert!(stack.snapshot.resources.is_empty());
    assert_eq!(stack.effects("pkgB"), ["delete c"]);
}

#[test]
fn it_waits_when_targets_are_given() {
    let mut stack = stack();
    let a = stack.urn("a");
    stack.options.targets = targets([&a]);
    stack.options.target_dependents = true;
    refuse(&mut stack, "pkgA", ["a"]);
    stack.destroy().failed("busy");
    assert_eq!(stack.names(), ["shop-dev", "c", "a", "b"]);
    relent(&mut stack, "pkgA");
    stack.destroy().ok();
    assert_eq!((stack.names(), stack.effects("pkgB").len()), (names(["shop-dev", "c"]), 0));
}

/// `a` is deleted before it is replaced, and `p` with it; `b` goes with `p`.
fn replaced_first(kind: &'static str) -> Arc<dyn Program> {
    program(move |p| async move {
        let a = p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
        let dependent = p.resource("pkgA:m:T", "p").input_from("kind", &a, "kind").register().await?;
        skipped_or_done(&a, &dependent);
        let b = with(&p, "b", &dependent.urn).register().await?;
        skipped_or_done(&a, &b);
        Ok(())
    })
}

/// What depends on a failure is left alone.
fn skipped_or_done(first: &Registered, second: &Registered) {
    let expected =
        if first.result == Registration::Failed { Registration::Skipped } else { Registration::Done };
    assert_eq!(second.result, expected);
}

fn replacing_first() -> Stack {
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["kind"]))
        .and_provider("pkgB", TestProvider::default());
    stack.up(replaced_first("x")).ok();
    stack.calls("pkgA");
    stack.calls("pkgB");
    stack
}

#[test]
fn before_a_replacement_it_waits_for_what_is_deleted_along() {
    for continue_on_error in [false, true] {
        let mut stack = replacing_first();
        stack.options.continue_on_error = continue_on_error;
        refuse(&mut stack, "pkgA", ["p"]);
        let outcome = stack.up(replaced_first("y")).failed("busy");
        assert_eq!(said_to_stay(&outcome), ["b"]);
        assert_eq!(course(&outcome, ["b", "p"])[..4], ["start b", "start p", "failed p", "failed b"]);
        assert!(stack.snapshot.resources.iter().all(|resource| !resource.pending_replacement));
        assert_eq!(stack.names(), ["shop-dev", "a", "p", "b"]);
        relent(&mut stack, "pkgA");
        stack.up(replaced_first("y")).ok();
        assert_eq!(stack.effects("pkgB"), ["create b"]);
        assert_eq!(stack.effects("pkgA"), ["delete p", "delete p", "delete a", "create a", "create p"],);
        assert_eq!(stack.names(), ["shop-dev", "a", "p", "b"]);
    }
}

#[test]
fn what_is_not_deleted_before_a_replacement_is_not_made_again() {
    let mut stack = replacing_first();
    stack.options.continue_on_error = true;
    refuse(&mut stack, "pkgA", ["p"]);
    // Neither depends on `a` any more.
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "a").input("kind", "y").register().await?;
            let dependent = p.resource("pkgA:m:T", "p").input("kind", "x").register().await?;
            with(&p, "b", &dependent.urn).register().await?;
            Ok(())
        }))
        .failed("busy");
    assert_eq!(stack.providers["pkgA"].ids(), ["a-1", "p-2"]);
    assert_eq!(stack.effects("pkgB"), [] as [&str; 0]);
    assert_eq!((stack.resource("p").id.as_str(), stack.names().len()), ("p-2", 4));
}

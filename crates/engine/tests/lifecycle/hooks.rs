//! Callbacks of the program before and after operations.

use crate::harness::{
    Log, P, ProgramResult, Stack, TestProvider, bind, hook, logging_hook, program, transform,
};
use drystone_engine::{
    Failed, HookCall, HookMoment, HookRegistration, MonitorError, Program, PropertyMap, ProviderError,
};
use drystone_model::Number;
use std::sync::{Arc, Mutex};

const ALL: [HookMoment; 6] = [
    HookMoment::BeforeCreate,
    HookMoment::AfterCreate,
    HookMoment::BeforeUpdate,
    HookMoment::AfterUpdate,
    HookMoment::BeforeDelete,
    HookMoment::AfterDelete,
];

/// A resource `a` with the hook at every moment.
fn hooked(hook: HookRegistration, size: i64) -> Arc<dyn Program> {
    program(move |p| {
        let hook = hook.clone();
        async move {
            p.monitor.add_hook("h".into(), hook)?;
            if size > 0 {
                register(&p, size).await?;
            }
            finish(&p).await
        }
    })
}

async fn register(p: &P, size: i64) -> ProgramResult {
    let a = p.resource("pkgA:m:T", "a").input("size", size);
    a.options(|options| ALL.into_iter().for_each(|moment| bind(options, moment, "h"))).register().await?;
    Ok(())
}

/// Stays alive for the hooks of deletions.
async fn finish(p: &P) -> ProgramResult {
    p.monitor.finish().await;
    Ok(())
}

fn failing(on: HookMoment) -> HookRegistration {
    hook(move |call| if call.moment == on { Err(Failed("no".into())) } else { Ok(()) })
}

#[test]
fn hooks_run_around_every_operation() {
    let (mut stack, log) = (Stack::new(), Log::default());
    stack.up(hooked(logging_hook(&log), 1)).ok();
    assert_eq!(log.take(), ["BeforeCreate a", "AfterCreate a"]);
    stack.up(hooked(logging_hook(&log), 2)).ok();
    assert_eq!(log.take(), ["BeforeUpdate a", "AfterUpdate a"]);
    stack.up(hooked(logging_hook(&log), 0)).ok();
    assert_eq!(log.take(), ["BeforeDelete a", "AfterDelete a"]);
}

#[test]
fn nothing_runs_for_what_stays_the_same() {
    let (mut stack, log) = (Stack::new(), Log::default());
    stack.up(hooked(logging_hook(&log), 1)).ok();
    log.take();
    stack.up(hooked(logging_hook(&log), 1)).ok();
    assert!(log.take().is_empty());
}

#[test]
fn the_names_of_hooks_are_kept_in_the_state() {
    let mut stack = Stack::new();
    stack.up(hooked(logging_hook(&Log::default()), 1)).ok();
    assert_eq!(stack.resource("a").resource_hooks["AfterDelete"], ["h"]);
}

#[test]
fn a_hook_is_told_inputs_and_outputs_as_far_as_they_are_there() {
    let calls: Arc<Mutex<Vec<HookCall>>> = Arc::default();
    let seen = Arc::clone(&calls);
    let remember = hook(move |call| {
        seen.lock().unwrap().push(call);
        Ok(())
    });
    let mut stack = Stack::new();
    for size in [1, 2, 0] {
        stack.up(hooked(remember.clone(), size)).ok();
    }
    let calls = calls.lock().unwrap();
    let size = |map: &Option<PropertyMap>| {
        map.as_ref().map_or(0, |map| map["size"].as_number().and_then(Number::as_i64).unwrap())
    };
    let told: Vec<_> = calls
        .iter()
        .map(|call| {
            let sides = [&call.old_inputs, &call.new_inputs, &call.old_outputs, &call.new_outputs];
            (call.moment, call.id.as_str(), sides.map(size))
        })
        .collect();
    assert_eq!(
        told,
        [
            (HookMoment::BeforeCreate, "", [0, 1, 0, 0]),
            (HookMoment::AfterCreate, "a-1", [0, 1, 0, 1]),
            (HookMoment::BeforeUpdate, "a-1", [1, 2, 1, 0]),
            (HookMoment::AfterUpdate, "a-1", [1, 2, 1, 2]),
            (HookMoment::BeforeDelete, "a-1", [2, 0, 2, 0]),
            (HookMoment::AfterDelete, "a-1", [2, 0, 2, 0]),
        ]
    );
}

#[test]
fn a_preview_runs_only_the_hooks_that_ask_for_it() {
    let (mut stack, log) = (Stack::new(), Log::default());
    stack.preview(hooked(logging_hook(&log), 1)).ok();
    assert!(log.take().is_empty());
    let on_dry_run = HookRegistration { on_dry_run: true, ..logging_hook(&log) };
    stack.preview(hooked(on_dry_run, 1)).ok();
    assert_eq!(log.take(), ["BeforeCreate a", "AfterCreate a"]);
}

#[test]
fn a_before_hook_that_fails_keeps_the_operation_from_happening() {
    let mut stack = Stack::new();
    stack.up(hooked(failing(HookMoment::BeforeCreate), 1)).failed("before hook \"h\" failed: no");
    assert!(stack.effects("pkgA").is_empty() && stack.find("a").is_none());
    stack.up(hooked(hook(|_| Ok(())), 1)).ok();
    stack.calls("pkgA");
    stack.up(hooked(failing(HookMoment::BeforeUpdate), 2)).failed("before hook \"h\" failed: no");
    stack.up(hooked(failing(HookMoment::BeforeDelete), 0)).failed("before hook \"h\" failed: no");
    assert!(stack.effects("pkgA").is_empty());
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":1}"#);
}

#[test]
fn an_after_hook_that_fails_fails_the_run_but_not_the_state() {
    let mut stack = Stack::new();
    stack.up(hooked(failing(HookMoment::AfterCreate), 1)).failed("after hook \"h\" failed: no");
    assert_eq!(stack.resource("a").id, "a-1");
    stack.up(hooked(failing(HookMoment::AfterUpdate), 2)).failed("after hook \"h\" failed: no");
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":2}"#);
    stack.up(hooked(failing(HookMoment::AfterDelete), 0)).failed("after hook \"h\" failed: no");
    assert!(stack.find("a").is_none());
    assert!(stack.snapshot.pending_operations.is_empty());
}

#[test]
fn nothing_more_begins_after_an_after_hook_failed() {
    let mut stack = Stack::new();
    let outcome = stack.up(program(|p| async move {
        p.monitor.add_hook("h".into(), failing(HookMoment::AfterCreate))?;
        register(&p, 1).await?;
        p.resource("pkgA:m:T", "b").register().await?;
        Ok(())
    }));
    outcome.failed("after hook");
    assert!(stack.find("b").is_none());
}

#[test]
fn what_does_not_depend_on_it_goes_on_when_errors_do_not_stop() {
    let mut stack = Stack::new();
    stack.options.continue_on_error = true;
    let outcome = stack.up(program(|p| async move {
        p.monitor.add_hook("h".into(), failing(HookMoment::AfterCreate))?;
        register(&p, 1).await?;
        p.resource("pkgA:m:T", "b").register().await?;
        Ok(())
    }));
    outcome.failed("after hook");
    assert_eq!(stack.names(), ["shop-dev", "a", "b"]);
}

#[test]
fn ignored_failures_are_warnings() {
    let mut stack = Stack::new();
    for moment in [HookMoment::BeforeCreate, HookMoment::AfterCreate] {
        let ignored = HookRegistration { ignore_errors: true, ..failing(moment) };
        let outcome = stack.up(hooked(ignored, 1)).ok();
        let warnings = outcome.diagnostics(drystone_engine::Severity::Warning);
        assert_eq!(warnings, [format!("{} hook \"h\" failed: no", moment.as_str())]);
        stack.destroy_with(hooked(hook(|_| Ok(())), 1)).ok();
    }
}

#[test]
fn a_hook_that_nobody_registered_fails_the_step() {
    let mut stack = Stack::new();
    let outcome = stack.up(program(|p| async move { register(&p, 1).await }));
    outcome.failed("hook \"h\" was not registered");
    assert!(stack.find("a").is_none());
}

#[test]
fn a_hook_of_a_deletion_may_become_known_when_the_program_waits_for_the_end() {
    let (mut stack, log) = (Stack::new(), Log::default());
    stack.up(hooked(logging_hook(&log), 1)).ok();
    log.take();
    let hook = logging_hook(&log);
    let late = program(move |p| {
        let hook = hook.clone();
        async move {
            let monitor = p.monitor.clone();
            let later = tokio::spawn(async move {
                for _ in 0..100 {
                    tokio::task::yield_now().await;
                }
                monitor.add_hook("h".into(), hook)
            });
            p.monitor.finish().await;
            later.await.unwrap()
        }
    });
    stack.up(late).ok();
    assert_eq!(log.take(), ["BeforeDelete a", "AfterDelete a"]);
    assert!(stack.find("a").is_none());
}

#[test]
fn a_hook_of_a_deletion_that_never_becomes_known_fails_it() {
    let mut stack = Stack::new();
    stack.up(hooked(hook(|_| Ok(())), 1)).ok();
    stack.up(program(|p| async move { finish(&p).await })).failed("hook \"h\" was not registered");
    assert!(stack.find("a").is_some());
}

#[test]
fn a_destroy_without_the_program_refuses_what_has_delete_hooks() {
    let mut stack = Stack::new();
    stack.up(hooked(hook(|_| Ok(())), 1)).ok();
    stack.destroy().failed("hook \"h\" was not registered");
    assert!(stack.find("a").is_some());
}

#[test]
fn a_destroy_with_the_program_runs_delete_hooks() {
    let (mut stack, log) = (Stack::new(), Log::default());
    stack.up(hooked(logging_hook(&log), 1)).ok();
    log.take();
    stack.destroy_with(hooked(logging_hook(&log), 1)).ok();
    assert_eq!(log.take(), ["BeforeDelete a", "AfterDelete a"]);
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_name_can_be_registered_once() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            p.monitor.add_hook("h".into(), hook(|_| Ok(())))?;
            match p.monitor.add_hook("h".into(), hook(|_| Ok(()))) {
                Err(MonitorError { message, .. }) => {
                    assert_eq!(message, "resource hook already registered for name \"h\"");
                }
                Ok(()) => panic!("registered twice"),
            }
            Ok(())
        }))
        .ok();
}

#[test]
fn the_after_hooks_of_a_component_run_when_its_outputs_are_registered() {
    let (mut stack, log) = (Stack::new(), Log::default());
    let run = |log: &Log, size: i64| {
        let log = log.clone();
        program(move |p| {
            let log = log.clone();
            async move {
                p.monitor.add_hook("h".into(), logging_hook(&log))?;
                let c = p.component("m:m:C", "c").input("size", size);
                let c =
                    c.options(|o| ALL.into_iter().for_each(|moment| bind(o, moment, "h"))).register().await?;
                log.say("inside");
                p.monitor.register_outputs(&c.urn, PropertyMap::new()).await
            }
        })
    };
    stack.up(run(&log, 1)).ok();
    assert_eq!(log.take(), ["BeforeCreate c", "inside", "AfterCreate c"]);
    stack.up(run(&log, 2)).ok();
    assert_eq!(log.take(), ["BeforeUpdate c", "inside", "AfterUpdate c"]);
}

#[test]
fn the_delete_hooks_of_a_component_run_with_its_deletion() {
    let (mut stack, log) = (Stack::new(), Log::default());
    let run = |log: &Log, there: bool| {
        let log = log.clone();
        program(move |p| {
            let log = log.clone();
            async move {
                p.monitor.add_hook("h".into(), logging_hook(&log))?;
                if there {
                    let c = p.component("m:m:C", "c");
                    c.options(|options| {
                        bind(options, HookMoment::BeforeDelete, "h");
                        bind(options, HookMoment::AfterDelete, "h");
                    })
                    .register()
                    .await?;
                }
                finish(&p).await
            }
        })
    };
    stack.up(run(&log, true)).ok();
    assert!(log.take().is_empty());
    stack.up(run(&log, false)).ok();
    assert_eq!(log.take(), ["BeforeDelete c", "AfterDelete c"]);
}

#[test]
fn a_component_without_outputs_has_no_after_hooks() {
    let (mut stack, log) = (Stack::new(), Log::default());
    let said = log.clone();
    stack
        .up(program(move |p| {
            let log = said.clone();
            async move {
                p.monitor.add_hook("h".into(), logging_hook(&log))?;
                let c = p.component("m:m:C", "c");
                c.options(|options| bind(options, HookMoment::AfterCreate, "h")).register().await?;
                Ok(())
            }
        }))
        .ok();
    assert!(log.take().is_empty());
}

#[test]
fn a_replacement_runs_create_and_delete_hooks() {
    let (mut stack, log) =
        (Stack::with_provider("pkgA", TestProvider::replacing_on(["size"])), Log::default());
    stack.up(hooked(logging_hook(&log), 1)).ok();
    log.take();
    stack.up(hooked(logging_hook(&log), 2)).ok();
    assert_eq!(log.take(), ["BeforeCreate a", "AfterCreate a", "BeforeDelete a", "AfterDelete a"]);
}

#[test]
fn after_hooks_do_not_run_for_an_operation_that_failed() {
    let provider = TestProvider {
        create: Some(Arc::new(|_| Err(ProviderError::new("broken")))),
        ..TestProvider::default()
    };
    let (mut stack, log) = (Stack::with_provider("pkgA", provider), Log::default());
    stack.up(hooked(logging_hook(&log), 1)).failed("broken");
    assert_eq!(log.take(), ["BeforeCreate a"]);
}

#[test]
fn a_transform_can_bind_hooks() {
    let (mut stack, log) = (Stack::new(), Log::default());
    let said = log.clone();
    stack
        .up(program(move |p| {
            let log = said.clone();
            async move {
                p.monitor.add_hook("h".into(), logging_hook(&log))?;
                p.monitor.add_stack_transform(transform(|request| {
                    bind(&mut request.options, HookMoment::AfterCreate, "h");
                    Ok(())
                }))?;
                p.resource("pkgA:m:T", "a").register().await?;
                Ok(())
            }
        }))
        .ok();
    assert_eq!(log.take(), ["AfterCreate a"]);
}

#[test]
fn several_hooks_run_in_the_order_they_are_bound() {
    let (mut stack, log) = (Stack::new(), Log::default());
    let said = log.clone();
    stack
        .up(program(move |p| {
            let log = said.clone();
            async move {
                for name in ["one", "two"] {
                    let log = log.clone();
                    let says = hook(move |_| {
                        log.say(name);
                        Ok(())
                    });
                    p.monitor.add_hook(name.into(), says)?;
                }
                let a = p.resource("pkgA:m:T", "a");
                a.options(|options| {
                    bind(options, HookMoment::BeforeCreate, "two");
                    bind(options, HookMoment::BeforeCreate, "one");
                })
                .register()
                .await?;
                Ok(())
            }
        }))
        .ok();
    assert_eq!(log.take(), ["two", "one"]);
}

//! Callbacks of the program that decide whether a failed operation is tried again.

use crate::harness::{Log, Outcome, P, ProgramResult, Stack, TestProvider, bind, error_hook, program};
use drystone_engine::{
    AppliedState, ErrorHook, Failed, HookCall, HookMoment, Program, ProviderError, Severity,
};
use std::sync::{Arc, Mutex};

/// A provider that fails the first so many calls of each kind.
fn failing(times: usize) -> TestProvider {
    let left = Arc::new(Mutex::new(times));
    let attempt = move || {
        let mut left = left.lock().unwrap();
        if *left == 0 {
            return Ok(());
        }
        *left -= 1;
        Err(ProviderError::new(format!("failure {left}")))
    };
    let (create, update, delete) = (attempt.clone(), attempt.clone(), attempt);
    TestProvider {
        create: Some(Arc::new(move |arguments| {
            create()?;
            Ok(AppliedState { id: "id".into(), outputs: arguments.inputs, ..AppliedState::default() })
        })),
        update: Some(Arc::new(move |arguments| {
            update()?;
            Ok(AppliedState { outputs: arguments.new_inputs, ..AppliedState::default() })
        })),
        delete: Some(Arc::new(move |_| delete())),
        ..TestProvider::default()
    }
}

/// Makes a stack that has `a` and whose provider fails from then on.
fn stack_failing(times: usize) -> Stack {
    let mut stack = Stack::new();
    stack.up(with_hooks(&[], 1)).ok();
    stack.providers.insert("pkgA".into(), failing(times));
    stack
}

/// The resource `a` with error hooks; none for a size of 0.
fn with_hooks(hooks: &[Arc<dyn ErrorHook>], size: i64) -> Arc<dyn Program> {
    let hooks = hooks.to_vec();
    program(move |p| {
        let hooks = hooks.clone();
        async move {
            for (index, hook) in hooks.iter().enumerate() {
                p.monitor.add_error_hook(format!("h{index}"), Arc::clone(hook))?;
            }
            if size > 0 {
                register(&p, hooks.len(), size).await?;
            }
            p.monitor.finish().await;
            Ok(())
        }
    })
}

async fn register(p: &P, hooks: usize, size: i64) -> ProgramResult {
    let a = p.resource("pkgA:m:T", "a").input("size", size);
    a.options(|options| {
        (0..hooks).for_each(|index| bind(options, HookMoment::OnError, &format!("h{index}")));
    })
    .register()
    .await?;
    Ok(())
}

fn retrying(log: &Log) -> Arc<dyn ErrorHook> {
    answering(log, true)
}

fn answering(log: &Log, retry: bool) -> Arc<dyn ErrorHook> {
    let log = log.clone();
    error_hook(move |call: HookCall| {
        log.say(format!("{} {}", call.operation, call.errors.join(",")));
        Ok(retry)
    })
}

fn warnings(outcome: &Outcome) -> Vec<String> {
    outcome.diagnostics(Severity::Warning).into_iter().filter(|text| text.contains("retr")).collect()
}

#[test]
fn a_failed_creation_is_tried_again_when_the_hook_asks() {
    let (mut stack, log) = (Stack::with_provider("pkgA", failing(2)), Log::default());
    let outcome = stack.up(with_hooks(&[retrying(&log)], 1)).ok();
    assert_eq!(log.take(), ["create failure 1", "create failure 0,failure 1"]);
    assert_eq!(
        warnings(&outcome),
        [
            "retrying create due to on-error hook request (1/100)",
            "retrying create due to on-error hook request (2/100)"
        ]
    );
    assert_eq!((stack.effects("pkgA").len(), stack.resource("a").id.as_str()), (3, "id"));
}

#[test]
fn a_failed_update_is_tried_again_when_the_hook_asks() {
    let (mut stack, log) = (stack_failing(1), Log::default());
    stack.up(with_hooks(&[retrying(&log)], 2)).ok();
    assert_eq!(log.take(), ["update failure 0"]);
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":2}"#);
}

#[test]
fn a_failed_deletion_is_tried_again_when_the_hook_asks() {
    let (mut stack, log) = (Stack::new(), Log::default());
    stack.up(with_hooks(&[retrying(&log)], 1)).ok();
    stack.providers.insert("pkgA".into(), failing(1));
    stack.up(with_hooks(&[retrying(&log)], 0)).ok();
    assert_eq!(log.take(), ["delete failure 0"]);
    assert!(stack.find("a").is_none());
}

#[test]
fn it_is_tried_again_when_any_of_several_hooks_asks_and_all_are_asked() {
    let (mut stack, log) = (Stack::with_provider("pkgA", failing(1)), Log::default());
    stack.up(with_hooks(&[answering(&log, false), answering(&log, true), answering(&log, false)], 1)).ok();
    assert_eq!(log.take().len(), 3);
}

#[test]
fn it_fails_when_no_hook_asks_for_another_try() {
    for size in [2, 0] {
        let log = Log::default();
        let mut stack = Stack::new();
        let hooks = [answering(&log, false)];
        stack.up(with_hooks(&hooks, 1)).ok();
        stack.providers.insert("pkgA".into(), failing(1));
        stack.up(with_hooks(&hooks, size)).failed("failure 0");
        assert_eq!((log.take().len(), stack.resource("a").inputs.text()), (1, r#"{"size":1}"#));
    }
}

#[test]
fn it_fails_at_once_without_hooks() {
    let mut stack = Stack::with_provider("pkgA", failing(1));
    stack.up(with_hooks(&[], 1)).failed("failure 0");
    assert_eq!(stack.effects("pkgA"), ["create a"]);
}

#[test]
fn hooks_are_not_asked_when_it_works() {
    let (mut stack, log) = (Stack::new(), Log::default());
    for size in [1, 2, 0] {
        stack.up(with_hooks(&[retrying(&log)], size)).ok();
    }
    assert!(log.take().is_empty());
}

#[test]
fn a_hook_can_change_its_mind() {
    let mut stack = Stack::with_provider("pkgA", failing(5));
    let twice = error_hook(|call: HookCall| Ok(call.errors.len() < 3));
    stack.up(with_hooks(&[twice], 1)).failed("failure 2");
    assert_eq!(stack.effects("pkgA").len(), 3);
}

#[test]
fn it_is_tried_a_hundred_times_at_most() {
    let (mut stack, log) = (Stack::with_provider("pkgA", failing(1000)), Log::default());
    let outcome =
        stack.up(with_hooks(&[retrying(&log)], 1)).failed("maximum number of error hook retries reached");
    assert_eq!((stack.effects("pkgA").len(), log.take().len()), (100, 99));
    assert!(warnings(&outcome).contains(&"maximum number of error hook retries (100) reached".to_owned()));
    assert!(stack.find("a").is_none() && stack.snapshot.pending_operations.is_empty());
}

#[test]
fn a_hook_that_fails_fails_the_step() {
    let mut stack = Stack::with_provider("pkgA", failing(1));
    let broken = error_hook(|_| Err(Failed("confused".into())));
    stack
        .up(with_hooks(&[broken], 1))
        .failed("error hooks execution failed: error hook \"h0\" failed: confused");
    assert!(stack.find("a").is_none());
}

#[test]
fn a_hook_that_nobody_registered_fails_the_step() {
    let mut stack = Stack::with_provider("pkgA", failing(1));
    stack
        .up(program(|p| async move { register(&p, 1, 1).await }))
        .failed("error hook \"h0\" was not registered");
}

#[test]
fn what_is_there_but_not_ready_is_tried_again_too() {
    let ready = Arc::new(Mutex::new(false));
    let provider = TestProvider {
        create: Some(Arc::new(move |arguments| {
            let mut ready = ready.lock().unwrap();
            let incomplete = if *ready { vec![] } else { vec!["warming up".to_owned()] };
            *ready = true;
            Ok(AppliedState {
                id: "id".into(),
                outputs: arguments.inputs,
                incomplete,
                ..AppliedState::default()
            })
        })),
        ..TestProvider::default()
    };
    let (mut stack, log) = (Stack::with_provider("pkgA", provider), Log::default());
    stack.up(with_hooks(&[retrying(&log)], 1)).ok();
    assert_eq!(log.take().len(), 1);
    assert!(stack.resource("a").init_errors.is_empty());
}

#[test]
fn what_is_there_but_not_ready_is_kept_when_its_hook_fails() {
    let provider = TestProvider {
        create: Some(Arc::new(|arguments| {
            let incomplete = vec!["warming up".to_owned()];
            Ok(AppliedState {
                id: "id".into(),
                outputs: arguments.inputs,
                incomplete,
                ..AppliedState::default()
            })
        })),
        ..TestProvider::default()
    };
    let mut stack = Stack::with_provider("pkgA", provider);
    let broken = error_hook(|_| Err(Failed("confused".into())));
    stack.up(with_hooks(&[broken], 1)).failed("confused");
    assert_eq!((stack.resource("a").id.as_str(), stack.resource("a").init_errors.len()), ("id", 1));
}

/// A provider that makes something each time, and says what comes of it.
fn making(
    answer: impl Fn(usize) -> Result<Vec<String>, ProviderError> + Send + Sync + 'static,
) -> TestProvider {
    let count = Mutex::new(0);
    TestProvider {
        create: Some(Arc::new(move |arguments| {
            let mut count = count.lock().unwrap();
            *count += 1;
            let id = format!("id-{count}");
            let outputs = arguments.inputs;
            answer(*count).map(|incomplete| AppliedState {
                id,
                outputs,
                incomplete,
                ..AppliedState::default()
            })
        })),
        ..TestProvider::default()
    }
}

#[test]
fn a_try_of_unknown_effect_stays_pending_when_another_one_succeeds() {
    let provider = making(|count| if count < 3 { Err(ProviderError::unknown("lost")) } else { Ok(vec![]) });
    let (mut stack, log) = (Stack::with_provider("pkgA", provider), Log::default());
    stack.up(with_hooks(&[retrying(&log)], 1)).ok();
    assert_eq!(stack.resource("a").id, "id-3");
    assert_eq!(stack.snapshot.pending_operations.len(), 2);
}

#[test]
fn what_a_try_made_is_deleted_when_another_one_makes_something_else() {
    let provider = making(|count| Ok(if count == 1 { vec!["warming up".to_owned()] } else { Vec::new() }));
    let (mut stack, log) = (Stack::with_provider("pkgA", provider), Log::default());
    let outcome = stack.up(with_hooks(&[retrying(&log)], 1)).ok();
    assert_eq!(outcome.steps(), ["create a", "delete-replaced a"]);
    let deleted: Vec<_> = stack.calls("pkgA").into_iter().filter(|call| call.method == "delete").collect();
    assert_eq!((deleted.len(), deleted[0].id.as_str()), (1, "id-1"));
    assert_eq!(
        (stack.names(), stack.resource("a").id.as_str()),
        (vec!["shop-dev".into(), "a".into()], "id-2")
    );
}

#[test]
fn what_a_try_made_is_kept_when_no_other_one_succeeds() {
    let provider = making(|count| match count {
        1 => Ok(vec!["warming up".to_owned()]),
        _ => Err(ProviderError::new("exists already")),
    });
    let asked = Arc::new(Mutex::new(0));
    let once = error_hook(move |_| {
        *asked.lock().unwrap() += 1;
        Ok(*asked.lock().unwrap() == 1)
    });
    let mut stack = Stack::with_provider("pkgA", provider);
    stack.up(with_hooks(&[once], 1)).failed("exists already");
    let a = stack.resource("a");
    assert_eq!((a.id.as_str(), a.init_errors.len(), stack.snapshot.pending_operations.len()), ("id-1", 1, 0));
}

#[test]
fn each_resource_has_its_own_hooks() {
    let provider = TestProvider {
        create: Some(Arc::new(|arguments| match arguments.urn.name() {
            "b" => Err(ProviderError::new("b is broken")),
            name => Ok(AppliedState { id: name.into(), ..AppliedState::default() }),
        })),
        ..TestProvider::default()
    };
    let (mut stack, log) = (Stack::with_provider("pkgA", provider), Log::default());
    let asked = answering(&log, false);
    let outcome = stack.up(program(move |p| {
        let asked = Arc::clone(&asked);
        async move {
            p.monitor.add_error_hook("h".into(), asked)?;
            let a = p.resource("pkgA:m:T", "a");
            a.options(|options| bind(options, HookMoment::OnError, "h")).register().await?;
            p.resource("pkgA:m:T", "b").register().await?;
            Ok(())
        }
    }));
    outcome.failed("b is broken");
    assert!(log.take().is_empty());
}

//! Functions of providers.

use crate::harness::{Log, Stack, TestProvider, invoke_transform, program, unknown};
use drystone_engine::{
    CheckFailure, ConstructArguments, Constructed, Failed, InvokeRequest, Invoked, Monitor, Program,
    PropertyMap, ProviderError, RegisterRequest, Targets,
};
use drystone_model::{Output, Urn, Value};
use futures::FutureExt;
use std::sync::{Arc, Mutex};

fn arguments<const N: usize>(members: [(&str, Value); N]) -> PropertyMap {
    members.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
}

fn asking(arguments: PropertyMap) -> InvokeRequest {
    InvokeRequest { token: "pkgA:m:f".into(), arguments, ..InvokeRequest::default() }
}

/// The invokes that the provider got.
fn invokes(stack: &Stack) -> Vec<PropertyMap> {
    let calls = stack.calls("pkgA").into_iter().filter(|call| call.method == "invoke");
    calls.map(|call| call.inputs).collect()
}

#[test]
fn a_function_is_answered_by_the_default_provider() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let answer = p.monitor.invoke(asking(arguments([("x", 1.into())]))).await?;
            assert_eq!(answer.properties, arguments([("x", 1.into())]));
            Ok(())
        }))
        .ok();
    assert_eq!(invokes(&stack), [arguments([("x", 1.into())])]);
    assert!(stack.find("default").is_some());
}

#[test]
fn functions_run_in_previews_too() {
    let mut stack = Stack::new();
    stack
        .preview(program(|p| async move { p.monitor.invoke(asking(PropertyMap::new())).await.map(|_| ()) }))
        .ok();
    let calls = stack.calls("pkgA");
    assert!(calls.iter().any(|call| call.method == "invoke" && call.dry_run));
}

#[test]
fn an_explicit_provider_answers() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let provider = p.resource("pulumi:providers:pkgA", "explicit").register().await?;
            let provider = format!("{}::{}", provider.urn, provider.id);
            p.monitor.invoke(InvokeRequest { provider, ..asking(PropertyMap::new()) }).await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.names(), ["shop-dev", "explicit"]);
    assert!(stack.find("default").is_none());
}

#[test]
fn the_providers_of_the_parent_answer() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let provider = p.resource("pulumi:providers:pkgA", "explicit").register().await?;
            let mut component = p.component("m:m:C", "c");
            component.request.providers.insert("pkgA".into(), format!("{}::{}", provider.urn, provider.id));
            let parent = component.register().await?.urn;
            p.monitor.invoke(InvokeRequest { parent, ..asking(PropertyMap::new()) }).await?;
            Ok(())
        }))
        .ok();
    assert!(stack.find("default").is_none());
}

#[test]
fn wrong_arguments_are_told_to_the_program() {
    let mut stack = Stack::new();
    stack.providers.get_mut("pkgA").unwrap().invoke = Some(Arc::new(|_| {
        let failures = vec![CheckFailure { property: "x".into(), reason: "too small".into() }];
        Ok(Invoked { failures, ..Invoked::default() })
    }));
    stack
        .up(program(|p| async move {
            let answer = p.monitor.invoke(asking(PropertyMap::new())).await?;
            assert_eq!(answer.failures[0].reason, "too small");
            Ok(())
        }))
        .ok();
}

#[test]
fn a_function_that_fails_is_an_error_of_the_program() {
    let mut stack = Stack::new();
    stack.providers.get_mut("pkgA").unwrap().invoke =
        Some(Arc::new(|_| Err(ProviderError::new("no access"))));
    stack
        .up(program(|p| async move { p.monitor.invoke(asking(PropertyMap::new())).await.map(|_| ()) }))
        .failed("invocation of pkgA:m:f returned an error: no access");
}

#[test]
fn a_program_may_go_on_after_a_function_failed() {
    let mut stack = Stack::new();
    stack.providers.get_mut("pkgA").unwrap().invoke =
        Some(Arc::new(|_| Err(ProviderError::new("no access"))));
    stack
        .up(program(|p| async move {
            assert!(p.monitor.invoke(asking(PropertyMap::new())).await.is_err());
            p.resource("pkgA:m:T", "a").register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.names(), ["shop-dev", "a"]);
}

#[test]
fn a_package_without_a_plugin_has_no_functions() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let request = InvokeRequest { token: "nothing:m:f".into(), ..InvokeRequest::default() };
            p.monitor.invoke(request).await.map(|_| ())
        }))
        .failed("no plugin nothing");
}

#[test]
fn unknown_arguments_reach_the_provider_in_a_preview() {
    let mut stack = Stack::new();
    stack
        .preview(program(|p| async move {
            p.monitor.invoke(asking(arguments([("x", unknown())]))).await?;
            Ok(())
        }))
        .ok();
    assert!(invokes(&stack)[0]["x"].contains_unknowns());
}

#[test]
fn outputs_among_the_arguments_are_plain_for_the_provider() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let output = Output { value: Some(1.into()), secret: true, dependencies: vec![Urn::new("x")] };
            p.monitor.invoke(asking(arguments([("x", Value::Output(Box::new(output)))]))).await?;
            Ok(())
        }))
        .ok();
    assert_eq!(invokes(&stack), [arguments([("x", Value::secret(1.into()))])]);
}

#[test]
fn stack_transforms_change_arguments_in_their_order() {
    let (mut stack, log) = (Stack::new(), Log::default());
    let said = log.clone();
    stack
        .up(program(move |p| {
            let log = said.clone();
            async move {
                for name in ["one", "two"] {
                    let log = log.clone();
                    p.monitor.add_stack_invoke_transform(invoke_transform(move |invoke| {
                        log.say(name);
                        invoke.arguments.insert(name.to_owned(), true.into());
                        Ok(())
                    }))?;
                }
                p.monitor.invoke(asking(PropertyMap::new())).await?;
                Ok(())
            }
        }))
        .ok();
    assert_eq!(log.take(), ["one", "two"]);
    assert_eq!(invokes(&stack), [arguments([("one", true.into()), ("two", true.into())])]);
}

#[test]
fn a_transform_can_choose_the_provider() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let provider = p.resource("pulumi:providers:pkgA", "explicit").register().await?;
            let reference = format!("{}::{}", provider.urn, provider.id);
            p.monitor.add_stack_invoke_transform(invoke_transform(move |invoke| {
                invoke.provider.clone_from(&reference);
                Ok(())
            }))?;
            p.monitor.invoke(asking(PropertyMap::new())).await?;
            Ok(())
        }))
        .ok();
    assert!(stack.find("default").is_none());
}

#[test]
fn a_transform_that_fails_fails_the_function() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            p.monitor.add_stack_invoke_transform(invoke_transform(|_| Err(Failed("confused".into()))))?;
            p.monitor.invoke(asking(PropertyMap::new())).await.map(|_| ())
        }))
        .failed("confused");
    assert!(invokes(&stack).is_empty());
}

/// A program that makes `a` and asks something that depends on it; says whether the answer is unknown.
fn depending(log: &Log) -> Arc<dyn Program> {
    let log = log.clone();
    program(move |p| {
        let log = log.clone();
        async move {
            let a = p.resource("pkgA:m:T", "a").register().await?;
            let request = InvokeRequest { dependencies: vec![a.urn], ..asking(PropertyMap::new()) };
            log.say(format!("unknown: {}", p.monitor.invoke(request).await?.unknown));
            Ok(())
        }
    })
}

#[test]
fn a_function_does_not_run_before_what_it_depends_on_is_there() {
    let (mut stack, log) = (Stack::new(), Log::default());
    stack.preview(depending(&log)).ok();
    assert_eq!((log.take(), invokes(&stack).len()), (vec!["unknown: true".into()], 0));
    stack.up(depending(&log)).ok();
    assert_eq!((log.take(), invokes(&stack).len()), (vec!["unknown: false".into()], 1));
    stack.preview(depending(&log)).ok();
    assert_eq!((log.take(), invokes(&stack).len()), (vec!["unknown: false".into()], 1));
}

#[test]
fn a_function_does_not_run_when_what_it_depends_on_is_no_target() {
    let (mut stack, log) = (Stack::new(), Log::default());
    stack.options.targets = Targets::new(["**::keep"]);
    stack.up(depending(&log)).ok();
    assert_eq!((log.take(), invokes(&stack).len()), (vec!["unknown: true".into()], 0));
}

#[test]
fn a_destroy_with_the_program_does_not_ask_about_what_is_not_there() {
    let (mut stack, log) = (Stack::new(), Log::default());
    stack.destroy_with(depending(&log)).ok();
    assert_eq!((log.take(), invokes(&stack).len()), (vec!["unknown: true".into()], 0));
}

/// A program with a component, and beneath it `child`; asks something that depends on the component.
fn component(custom_parent: bool, log: &Log) -> Arc<dyn Program> {
    let log = log.clone();
    program(move |p| {
        let log = log.clone();
        async move {
            let parent = match custom_parent {
                true => p.resource("pkgA:m:T", "parent").register().await?,
                false => p.component("m:m:C", "parent").register().await?,
            };
            p.resource("pkgA:m:T", "child").parent(&parent.urn).register().await?;
            let request = InvokeRequest { dependencies: vec![parent.urn], ..asking(PropertyMap::new()) };
            log.say(format!("unknown: {}", p.monitor.invoke(request).await?.unknown));
            Ok(())
        }
    })
}

#[test]
fn a_component_stands_for_what_is_beneath_it() {
    let (mut stack, log) = (Stack::new(), Log::default());
    stack.preview(component(false, &log)).ok();
    assert_eq!(log.take(), ["unknown: true"]);
    stack.up(component(false, &log)).ok();
    assert_eq!(log.take(), ["unknown: false"]);
}

#[test]
fn a_custom_resource_stands_for_itself() {
    let (mut stack, log) = (Stack::new(), Log::default());
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "parent").register().await?;
            Ok(())
        }))
        .ok();
    stack.preview(component(true, &log)).ok();
    assert_eq!(log.take(), ["unknown: false"], "the child is missing, but its parent is there");
}

#[test]
fn a_component_of_a_provider_stands_for_what_it_registers() {
    let slot: Arc<Mutex<Option<Monitor>>> = Arc::default();
    let inside = Arc::clone(&slot);
    let provider = TestProvider {
        construct: Some(Arc::new(move |arguments: ConstructArguments| {
            let monitor = inside.lock().unwrap().clone().unwrap();
            async move {
                let fail = |error: drystone_engine::MonitorError| ProviderError::new(error.message);
                let request = RegisterRequest {
                    type_token: arguments.type_token,
                    name: arguments.name,
                    ..RegisterRequest::default()
                };
                let own = monitor.register(request).await.map_err(fail)?;
                let child = RegisterRequest {
                    type_token: "pkgA:m:T".into(),
                    name: "child".into(),
                    custom: true,
                    parent: own.urn.clone(),
                    ..RegisterRequest::default()
                };
                monitor.register(child).await.map_err(fail)?;
                Ok(Constructed { urn: own.urn, ..Constructed::default() })
            }
            .boxed()
        })),
        ..TestProvider::default()
    };
    let (mut stack, log) = (Stack::with_provider("pkgA", provider), Log::default());
    let said = log.clone();
    let run = || {
        let (log, slot) = (said.clone(), Arc::clone(&slot));
        program(move |p| {
            let (log, slot) = (log.clone(), Arc::clone(&slot));
            async move {
                *slot.lock().unwrap() = Some(Arc::clone(&p.monitor));
                let mut component = p.component("pkgA:m:C", "c");
                component.request.remote = true;
                let c = component.register().await?;
                *slot.lock().unwrap() = None;
                let request = InvokeRequest { dependencies: vec![c.urn], ..asking(PropertyMap::new()) };
                log.say(format!("unknown: {}", p.monitor.invoke(request).await?.unknown));
                Ok(())
            }
        })
    };
    stack.preview(run()).ok();
    assert_eq!(log.take(), ["unknown: true"]);
    stack.up(run()).ok();
    assert_eq!(log.take(), ["unknown: false"]);
}

//! What programs change in requests before the engine sees them.

use crate::harness::{Log, P, ProgramResult, Stack, TestProvider, program, transform};
use drystone_engine::{
    ConstructArguments, Constructed, Failed, Monitor, ProviderError, RegisterRequest, Transform,
};
use drystone_model::{Output, Value};
use futures::FutureExt;
use std::sync::{Arc, Mutex};

/// A transform that writes the resource and its own name into a log.
fn naming(log: &Log, name: &'static str) -> Arc<dyn Transform> {
    let log = log.clone();
    transform(move |request| {
        log.say(format!("{} by {name}", request.name));
        Ok(())
    })
}

fn run<F>(body: impl Fn(P, Log) -> F + Send + Sync + 'static) -> (Stack, Vec<String>)
where
    F: Future<Output = ProgramResult> + Send + 'static,
{
    let (mut stack, log) = (Stack::new(), Log::default());
    let said = log.clone();
    stack.up(program(move |p| body(p, said.clone()))).ok();
    (stack, log.take())
}

#[test]
fn a_transform_changes_the_inputs_of_its_resource() {
    let (stack, _) = run(|p, _| async move {
        let mut a = p.resource("pkgA:m:T", "a").input("size", 1);
        a.request.transforms.push(transform(|request| {
            request.properties.insert("size".into(), 2.into());
            Ok(())
        }));
        let a = a.register().await?;
        assert_eq!(a.properties["size"], Value::from(2));
        p.resource("pkgA:m:T", "b").input("size", 1).register().await?;
        Ok(())
    });
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":2}"#);
    assert_eq!(stack.resource("b").inputs.text(), r#"{"size":1}"#);
}

#[test]
fn its_own_come_first_then_those_of_its_parents_outwards_then_the_stacks() {
    let (_, said) = run(|p, log| async move {
        p.monitor.add_stack_transform(naming(&log, "stack one"))?;
        p.monitor.add_stack_transform(naming(&log, "stack two"))?;
        let mut outer = p.component("m:m:C", "outer");
        outer.request.transforms.push(naming(&log, "outer"));
        let outer = outer.register().await?;
        let mut inner = p.component("m:m:C", "inner").parent(&outer.urn);
        inner.request.transforms.push(naming(&log, "inner"));
        let inner = inner.register().await?;
        let mut a = p.resource("pkgA:m:T", "a").parent(&inner.urn);
        a.request.transforms.push(naming(&log, "own one"));
        a.request.transforms.push(naming(&log, "own two"));
        a.register().await?;
        Ok(())
    });
    let own: Vec<&str> = said.iter().filter_map(|text| text.strip_prefix("a by ")).collect();
    assert_eq!(own, ["own one", "own two", "inner", "outer", "stack one", "stack two"]);
    let inner: Vec<&str> = said.iter().filter_map(|text| text.strip_prefix("inner by ")).collect();
    assert_eq!(inner, ["inner", "outer", "stack one", "stack two"]);
}

#[test]
fn each_sees_what_the_one_before_made() {
    let (stack, _) = run(|p, _| async move {
        let double = || {
            transform(|request: &mut RegisterRequest| {
                let size = request.properties["size"].as_number().unwrap().as_i64().unwrap();
                request.properties.insert("size".into(), (size * 2).into());
                Ok(())
            })
        };
        p.monitor.add_stack_transform(transform(|request| {
            if request.custom {
                let size = request.properties["size"].as_number().unwrap().as_i64().unwrap();
                request.properties.insert("size".into(), (size + 1).into());
            }
            Ok(())
        }))?;
        let mut a = p.resource("pkgA:m:T", "a").input("size", 5);
        a.request.transforms.push(double());
        a.register().await?;
        Ok(())
    });
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":11}"#);
}

#[test]
fn options_can_be_changed() {
    let (stack, _) = run(|p, _| async move {
        let mut a = p.resource("pkgA:m:T", "a").input("size", 1);
        a.request.transforms.push(transform(|request| {
            let options = &mut request.options;
            options.protect = Some(true);
            options.retain_on_delete = Some(true);
            options.ignore_changes = vec!["size".into()];
            options.replace_on_changes = vec!["kind".into()];
            options.additional_secret_outputs = vec!["size".into()];
            options.timeouts.create = 60.0;
            options.delete_before_replace = Some(true);
            Ok(())
        }));
        a.register().await?;
        Ok(())
    });
    let a = stack.resource("a");
    assert!(a.protect && a.retain_on_delete);
    assert_eq!(
        (a.ignore_changes.as_slice(), a.replace_on_changes.as_slice()),
        (["size".into()].as_slice(), ["kind".into()].as_slice())
    );
    assert!(a.outputs.text().contains("ciphertext"));
    assert!(a.custom_timeouts.is_some());
}

#[test]
fn the_provider_can_be_changed() {
    let (stack, _) = run(|p, _| async move {
        let provider = p.resource("pulumi:providers:pkgA", "explicit").register().await?;
        let reference = format!("{}::{}", provider.urn, provider.id);
        let mut a = p.resource("pkgA:m:T", "a");
        a.request.transforms.push(transform(move |request| {
            request.provider.clone_from(&reference);
            Ok(())
        }));
        a.register().await?;
        Ok(())
    });
    assert!(stack.resource("a").provider.contains("::explicit::"));
    assert!(stack.find("default").is_none());
}

#[test]
fn what_a_resource_is_cannot_be_changed() {
    let (stack, _) = run(|p, _| async move {
        let mut a = p.resource("pkgA:m:T", "a");
        a.request.transforms.push(transform(|request| {
            request.name = "other".into();
            request.type_token = "pkgB:m:T".into();
            request.custom = false;
            Ok(())
        }));
        a.register().await?;
        Ok(())
    });
    assert_eq!(stack.resource("a").urn.type_token(), "pkgA:m:T");
}

#[test]
fn inputs_carry_their_dependencies_into_a_transform_and_out_of_it() {
    let (stack, _) = run(|p, _| async move {
        let a = p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
        let mut b = p.resource("pkgA:m:T", "b").input_from("first", &a, "size").input("second", 2);
        b.request.transforms.push(transform(|request| {
            let Value::Output(output) = &request.properties["first"] else { panic!("no output") };
            assert_eq!(output.dependencies.len(), 1);
            assert_eq!(request.properties["second"], Value::from(2));
            let moved = request.properties.remove("first").unwrap();
            request.properties.insert("third".into(), moved);
            Ok(())
        }));
        b.register().await?;
        Ok(())
    });
    let b = stack.resource("b");
    let a = stack.urn("a");
    assert_eq!(b.property_dependencies["third"], Some(vec![a.clone()]));
    assert_eq!(b.property_dependencies["second"], Some(vec![]));
    assert_eq!((b.dependencies.as_slice(), b.inputs.text()), ([a].as_slice(), r#"{"second":2,"third":1}"#));
}

#[test]
fn a_transform_can_add_dependencies_with_a_value() {
    let (stack, _) = run(|p, _| async move {
        let a = p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
        let mut b = p.resource("pkgA:m:T", "b");
        b.request.transforms.push(transform(move |request| {
            let output = Output { value: Some(3.into()), secret: false, dependencies: vec![a.urn.clone()] };
            request.properties.insert("size".into(), Value::Output(Box::new(output)));
            Ok(())
        }));
        b.register().await?;
        Ok(())
    });
    assert_eq!(stack.resource("b").dependencies, [stack.urn("a")]);
}

#[test]
fn secrets_stay_secret_through_a_transform() {
    let (stack, _) = run(|p, _| async move {
        let mut a = p.resource("pkgA:m:T", "a").input("key", Value::secret("hunter2".into()));
        a.request.transforms.push(transform(|_| Ok(())));
        a.register().await?;
        Ok(())
    });
    assert!(stack.resource("a").inputs.text().contains("ciphertext"));
}

#[test]
fn a_transform_that_fails_fails_the_registration() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let mut a = p.resource("pkgA:m:T", "a");
            a.request.transforms.push(transform(|_| Err(Failed("confused".into()))));
            a.register().await?;
            Ok(())
        }))
        .failed("confused");
    assert!(stack.find("a").is_none());
}

#[test]
fn a_stack_transform_is_not_applied_to_what_came_before_it() {
    let (_, said) = run(|p, log| async move {
        p.resource("pkgA:m:T", "early").register().await?;
        p.monitor.add_stack_transform(naming(&log, "stack"))?;
        p.resource("pkgA:m:T", "late").register().await?;
        Ok(())
    });
    assert_eq!(said, ["late by stack"]);
}

#[test]
fn default_providers_are_not_transformed() {
    let (_, said) = run(|p, log| async move {
        p.monitor.add_stack_transform(naming(&log, "stack"))?;
        p.resource("pkgA:m:T", "a").register().await?;
        p.resource("pulumi:providers:pkgA", "explicit").register().await?;
        Ok(())
    });
    assert_eq!(said, ["a by stack", "explicit by stack"]);
}

/// A provider that constructs a component with one child.
fn constructing(slot: &Arc<Mutex<Option<Monitor>>>) -> TestProvider {
    let slot = Arc::clone(slot);
    TestProvider {
        construct: Some(Arc::new(move |arguments: ConstructArguments| {
            let monitor = slot.lock().unwrap().clone().unwrap();
            async move {
                let fail = |error: drystone_engine::MonitorError| ProviderError::new(error.message);
                let request = RegisterRequest {
                    type_token: arguments.type_token,
                    name: arguments.name,
                    properties: arguments.inputs,
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
    }
}

#[test]
fn the_transforms_of_a_component_that_a_provider_constructs_apply_to_it_and_to_what_is_inside() {
    let slot: Arc<Mutex<Option<Monitor>>> = Arc::default();
    let (mut stack, log) = (Stack::with_provider("pkgA", constructing(&slot)), Log::default());
    let said = log.clone();
    stack
        .up(program(move |p| {
            let (log, slot) = (said.clone(), Arc::clone(&slot));
            async move {
                *slot.lock().unwrap() = Some(Arc::clone(&p.monitor));
                let mut component = p.component("pkgA:m:C", "c").input("size", 1);
                component.request.remote = true;
                component.request.transforms.push(naming(&log, "own"));
                component.request.transforms.push(transform(|request| {
                    if request.name == "c" {
                        request.properties.insert("size".into(), 2.into());
                    }
                    Ok(())
                }));
                component.register().await?;
                *slot.lock().unwrap() = None;
                Ok(())
            }
        }))
        .ok();
    assert_eq!(log.take(), ["c by own", "c by own", "child by own"]);
    assert_eq!(stack.resource("c").inputs.text(), r#"{"size":2}"#);
}

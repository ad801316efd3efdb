//! Components: local ones, those that a provider constructs, and their methods.

use crate::harness::{P, Stack, TestProvider, program, unknown};
use drystone_engine::{
    CallAnswer, CallArguments, CallRequest, ConstructArguments, Constructed, Monitor, MonitorError, Op,
    Program, PropertyMap, ProviderError, ReadRequest, RegisterRequest, Registered,
};
use drystone_model::{Output, ResourceReference, StackFrame, Urn, Value};
use futures::future::BoxFuture;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The monitor that a program hands to the provider that constructs its components.
type Handle = Arc<Mutex<Option<Monitor>>>;

fn map<const N: usize>(members: [(&str, Value); N]) -> PropertyMap {
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn refused(error: MonitorError) -> ProviderError {
    ProviderError::new(error.message)
}

/// A stack whose package `pkgB` constructs components as the closure says, and what it was asked for.
fn constructing<F>(
    construct: impl Fn(P, ConstructArguments) -> F + Send + Sync + 'static,
) -> (Stack, Handle, Arc<Mutex<Vec<ConstructArguments>>>)
where
    F: Future<Output = Result<Constructed, MonitorError>> + Send + 'static,
{
    let (handle, asked): (Handle, Arc<Mutex<Vec<ConstructArguments>>>) = Default::default();
    let (held, noted) = (Arc::clone(&handle), Arc::clone(&asked));
    let provider = TestProvider {
        construct: Some(Arc::new(move |arguments: ConstructArguments| {
            noted.lock().unwrap().push(arguments.clone());
            let monitor = held.lock().unwrap().clone().unwrap();
            let constructed = construct(P { monitor }, arguments);
            Box::pin(async move { constructed.await.map_err(refused) }) as BoxFuture<'static, _>
        })),
        ..TestProvider::default()
    };
    (Stack::new().and_provider("pkgB", provider), handle, asked)
}

/// The component with one resource in it.
async fn with_child(p: P, arguments: ConstructArguments) -> Result<Constructed, MonitorError> {
    let component = p.component(&arguments.type_token, &arguments.name).parent(&arguments.parent);
    let component =
        component.with(|request| request.dependencies = arguments.dependencies).register().await?;
    let child = p.resource("pkgA:m:T", "child").parent(&component.urn).input("size", 1).register().await?;
    let outputs = map([("size", child.properties["size"].clone())]);
    p.monitor.register_outputs(&component.urn, outputs.clone()).await?;
    let output_dependencies = BTreeMap::from([("size".to_owned(), vec![child.urn])]);
    Ok(Constructed { urn: component.urn, outputs, output_dependencies })
}

/// A program that registers one remote component and shows the answer.
fn remote(
    handle: &Handle,
    change: impl Fn(&mut RegisterRequest) + Send + Sync + Clone + 'static,
) -> (Arc<dyn Program>, Arc<Mutex<Option<Registered>>>) {
    let (handle, seen): (Handle, Arc<Mutex<Option<Registered>>>) = (Arc::clone(handle), Arc::default());
    let told = Arc::clone(&seen);
    let program = program(move |p| {
        *handle.lock().unwrap() = Some(p.monitor.clone());
        let (told, change) = (Arc::clone(&told), change.clone());
        async move {
            let component = p.component("pkgB:m:Comp", "comp").with(|request| request.remote = true);
            let answer = component.with(change).register().await?;
            *told.lock().unwrap() = Some(answer);
            Ok(())
        }
    });
    (program, seen)
}

#[test]
fn a_local_component_is_a_state_without_a_provider() {
    let mut stack = Stack::new();
    let outcome = stack
        .up(program(|p| async move {
            let top = p.component("my:index:Top", "top").input("size", 1).register().await?;
            assert_eq!((top.id.as_str(), top.properties.len()), ("", 0));
            Ok(())
        }))
        .ok();
    assert_eq!(outcome.steps(), ["create top"]);
    let top = stack.resource("top");
    assert_eq!((top.custom, top.provider.as_str(), top.id.as_str()), (false, "", ""));
    assert_eq!(top.inputs.text(), r#"{"size":1}"#);
}

#[test]
fn a_child_has_its_parent_in_its_name() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let top = p.component("my:index:Top", "top").register().await?;
            let mid = p.component("my:index:Mid", "mid").parent(&top.urn).register().await?;
            p.resource("pkgA:m:T", "a").parent(&mid.urn).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.urn("a").as_str(), "urn:pulumi:dev::shop::my:index:Top$my:index:Mid$pkgA:m:T::a");
    assert_eq!(stack.resource("a").parent, stack.urn("mid"));
}

#[test]
fn a_child_of_the_stack_does_not() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let root = p.monitor.root();
            p.resource("pkgA:m:T", "a").parent(&root).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.urn("a").as_str(), "urn:pulumi:dev::shop::pkgA:m:T::a");
    assert_eq!(stack.resource("a").parent, stack.urn("shop-dev"));
}

#[test]
fn a_parent_that_nobody_registered_is_refused() {
    let mut stack = Stack::new();
    let outcome = stack.up(program(|p| async move {
        let missing = Urn::new("urn:pulumi:dev::shop::my:index:Top::top");
        p.resource("pkgA:m:T", "a").parent(&missing).register().await?;
        Ok(())
    }));
    outcome.failed("could not find parent resource urn:pulumi:dev::shop::my:index:Top::top");
}

#[test]
fn the_outputs_of_a_component_are_what_it_registers() {
    let run = |outputs: PropertyMap| {
        program(move |p| {
            let outputs = outputs.clone();
            async move {
                let top = p.component("my:index:Top", "top").register().await?;
                p.monitor.register_outputs(&top.urn, outputs).await
            }
        })
    };
    let mut stack = Stack::new();
    stack.up(run(map([("a", 1.into()), ("b", 2.into())]))).ok();
    assert_eq!(stack.resource("top").outputs.text(), r#"{"a":1,"b":2}"#);
    stack.up(run(map([("b", 3.into())]))).ok();
    assert_eq!(stack.resource("top").outputs.text(), r#"{"b":3}"#);
}

#[test]
fn outputs_of_nothing_are_refused() {
    let mut stack = Stack::new();
    let outcome = stack.up(program(|p| async move {
        let nothing = Urn::new("urn:pulumi:dev::shop::my:index:Top::top");
        p.monitor.register_outputs(&nothing, PropertyMap::new()).await
    }));
    outcome.failed("cannot complete a resource 'urn:pulumi:dev::shop::my:index:Top::top'");
}

#[test]
fn changed_inputs_update_a_component_without_asking_anybody() {
    let run = |size: i64| {
        program(move |p| async move {
            p.component("my:index:Top", "top").input("size", size).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::new();
    stack.up(run(1)).ok();
    let outcome = stack.up(run(2)).ok();
    assert_eq!(outcome.steps(), ["update top"]);
    assert_eq!(stack.resource("top").inputs.text(), r#"{"size":2}"#);
}

#[test]
fn a_component_that_leaves_goes_after_its_children() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let top = p.component("my:index:Top", "top").register().await?;
            p.resource("pkgA:m:T", "a").parent(&top.urn).register().await?;
            Ok(())
        }))
        .ok();
    let outcome = stack.up(program(|_| async move { Ok(()) })).ok();
    assert_eq!(outcome.steps(), ["delete a", "delete top"]);
}

#[test]
fn options_without_effect_on_components_are_told() {
    let mut stack = Stack::new();
    let outcome = stack
        .up(program(|p| async move {
            let top = p.component("my:index:Top", "top");
            top.options(|options| options.ignore_changes.push("size".to_owned())).register().await?;
            Ok(())
        }))
        .ok();
    let warnings = outcome.diagnostics(drystone_engine::Severity::Warning);
    assert_eq!(warnings, ["The option 'ignoreChanges' has no automatic effect on component resources."]);
}

#[test]
fn a_provider_constructs_a_component_with_what_is_in_it() {
    let (mut stack, handle, asked) = constructing(with_child);
    let (program, seen) = remote(&handle, |request| {
        request.properties.insert("wanted".to_owned(), 7.into());
    });
    stack.up(program).ok();
    let asked = asked.lock().unwrap().remove(0);
    assert_eq!((asked.type_token.as_str(), asked.name.as_str()), ("pkgB:m:Comp", "comp"));
    assert_eq!(asked.inputs, map([("wanted", 7.into())]));
    let seen = seen.lock().unwrap().take().unwrap();
    assert_eq!((seen.urn, seen.properties), (stack.urn("comp"), map([("size", 1.into())])));
    assert_eq!(seen.property_dependencies["size"], [stack.urn("child")]);
    assert_eq!(stack.names(), ["shop-dev", "comp", "child"]);
    assert_eq!(stack.resource("comp").outputs.text(), r#"{"size":1}"#);
    assert_eq!(stack.urn("child").qualified_type(), "pkgB:m:Comp$pkgA:m:T");
}

#[test]
fn the_code_of_a_component_is_told_which_run_it_is_part_of() {
    let (mut stack, handle, asked) = constructing(with_child);
    let value =
        |text: &str, secret| drystone_engine::ConfigValue { text: text.to_owned(), object: false, secret };
    stack.config.insert("pkgB:plain".to_owned(), value("1", false));
    stack.config.insert("pkgB:hidden".to_owned(), value("2", true));
    stack.preview(remote(&handle, |_| ()).0).ok();
    let info = asked.lock().unwrap().remove(0).info;
    assert_eq!(
        (info.project.as_str(), info.stack.as_str(), info.organization.as_str()),
        ("shop", "dev", "organization")
    );
    assert_eq!((info.dry_run, info.config["pkgB:hidden"].as_str()), (true, "2"));
    assert_eq!(info.secret_keys, ["pkgB:hidden"]);
}

#[test]
fn secrets_and_unknowns_reach_a_component_as_they_are() {
    let (mut stack, handle, asked) = constructing(with_child);
    let (program, _) = remote(&handle, |request| {
        request.properties.insert("hidden".to_owned(), Value::secret("s".into()));
        request.properties.insert("later".to_owned(), unknown());
    });
    stack.preview(program).ok();
    let inputs = asked.lock().unwrap().remove(0).inputs;
    assert!(inputs["hidden"].contains_secrets() && inputs["later"].contains_unknowns());
}

#[test]
fn a_component_hears_what_its_inputs_depend_on() {
    let (mut stack, handle, asked) = constructing(with_child);
    stack
        .up(program(move |p| {
            let handle = Arc::clone(&handle);
            async move {
                *handle.lock().unwrap() = Some(p.monitor.clone());
                let a = p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
                let b = p.resource("pkgA:m:T", "b").register().await?;
                let output =
                    Output { value: Some(1.into()), secret: false, dependencies: vec![a.urn.clone()] };
                let comp = p.component("pkgB:m:Comp", "comp").with(|request| request.remote = true);
                let comp = comp.with(|request| {
                    request.properties.insert("from".to_owned(), Value::Output(Box::new(output)));
                    request.dependencies = vec![b.urn];
                });
                comp.register().await?;
                Ok(())
            }
        }))
        .ok();
    let asked = asked.lock().unwrap().remove(0);
    assert_eq!(asked.input_dependencies["from"], [stack.urn("a")]);
    assert_eq!(asked.dependencies, [stack.urn("b")]);
}

#[test]
fn a_constructed_component_gets_the_options_of_its_registration() {
    let (mut stack, handle, asked) = constructing(with_child);
    let (program, _) = remote(&handle, |request| {
        request.options.protect = Some(true);
        request.options.ignore_changes = vec!["size".to_owned()];
    });
    stack.up(program).ok();
    let options = asked.lock().unwrap().remove(0).options;
    assert_eq!((options.protect, options.ignore_changes), (Some(true), vec!["size".to_owned()]));
}

#[test]
fn a_constructed_component_is_deleted_with_what_is_in_it() {
    let (mut stack, handle, _) = constructing(with_child);
    stack.up(remote(&handle, |_| ()).0).ok();
    stack.calls("pkgA");
    let outcome = stack.destroy().ok();
    let gone = outcome.steps();
    assert!(
        gone.iter().position(|step| step == "delete child")
            < gone.iter().position(|step| step == "delete comp")
    );
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn an_unchanged_constructed_component_writes_nothing() {
    let (mut stack, handle, _) = constructing(with_child);
    stack.up(remote(&handle, |_| ()).0).ok();
    let outcome = stack.up(remote(&handle, |_| ()).0).ok();
    assert_eq!((outcome.steps().len(), outcome.entries), (0, 0));
}

#[test]
fn a_component_that_cannot_be_constructed_fails_the_run() {
    let (mut stack, handle, _) = constructing(|_, _| async { Err(MonitorError::new("out of bricks")) });
    stack.up(remote(&handle, |_| ()).0).failed("pkgB:m:Comp resource 'comp' has a problem: out of bricks");
}

#[test]
fn a_component_whose_child_fails_does_not_hang() {
    let (mut stack, handle, _) = constructing(|p, arguments| async move {
        let comp = p.component(&arguments.type_token, &arguments.name).register().await?;
        let child = p.resource("pkgA:m:T", "child").parent(&comp.urn).register().await;
        // A component that waits for an answer that never comes.
        if child.is_err() {
            std::future::pending::<()>().await;
        }
        Ok(Constructed { urn: comp.urn, ..Constructed::default() })
    });
    stack.providers.get_mut("pkgA").unwrap().create = Some(Arc::new(|_| Err(ProviderError::new("no room"))));
    stack.up(remote(&handle, |_| ()).0).failed("no room");
    assert_eq!(stack.names(), ["shop-dev", "comp"]);
}

#[test]
fn the_deletion_of_components_follows_their_dependencies() {
    let (mut stack, handle, _) = constructing(|p, arguments| async move {
        let comp = p.component(&arguments.type_token, &arguments.name);
        let comp = comp.with(|request| request.dependencies = arguments.dependencies).register().await?;
        let child = p.resource("pkgA:m:T", &format!("{}-child", arguments.name)).parent(&comp.urn);
        let needs = arguments.input_dependencies.get("from").cloned().unwrap_or_default();
        child.with(|request| request.dependencies = needs).register().await?;
        p.monitor.register_outputs(&comp.urn, PropertyMap::new()).await?;
        Ok(Constructed { urn: comp.urn, ..Constructed::default() })
    });
    stack
        .up(program(move |p| {
            let handle = Arc::clone(&handle);
            async move {
                *handle.lock().unwrap() = Some(p.monitor.clone());
                let remote = |request: &mut RegisterRequest| request.remote = true;
                let first = p.component("pkgB:m:Comp", "first").with(remote).register().await?;
                let child = Urn::new("urn:pulumi:dev::shop::pkgB:m:Comp$pkgA:m:T::first-child");
                let second = p.component("pkgB:m:Comp", "second").with(remote).with(|request| {
                    request.properties.insert("from".to_owned(), 1.into());
                    request.property_dependencies.insert("from".to_owned(), vec![child]);
                    request.dependencies = vec![first.urn];
                });
                second.register().await?;
                Ok(())
            }
        }))
        .ok();
    let steps = stack.destroy().ok().steps();
    let at = |name: &str| steps.iter().position(|step| step == &format!("delete {name}")).unwrap();
    assert!(at("second-child") < at("second") && at("second-child") < at("first-child"), "{steps:?}");
    assert!(at("second") < at("first") && at("first-child") < at("first"), "{steps:?}");
}

#[test]
fn a_method_gets_its_arguments_and_answers_with_its_dependencies() {
    let asked: Arc<Mutex<Option<CallArguments>>> = Arc::default();
    let noted = Arc::clone(&asked);
    let provider = TestProvider {
        call: Some(Arc::new(move |arguments: CallArguments| {
            *noted.lock().unwrap() = Some(arguments);
            Box::pin(async {
                let from = vec![Urn::new("urn:pulumi:dev::shop::pkgA:m:T::a")];
                let output = Output { value: Some(5.into()), secret: false, dependencies: from };
                Ok(CallAnswer {
                    properties: map([("sum", Value::Output(Box::new(output)))]),
                    ..CallAnswer::default()
                })
            }) as BoxFuture<'static, _>
        })),
        ..TestProvider::default()
    };
    let mut stack = Stack::new().and_provider("pkgB", provider);
    stack
        .up(program(|p| async move {
            let call = CallRequest {
                token: "pkgB:m:Comp/add".to_owned(),
                arguments: map([("by", 2.into())]),
                argument_dependencies: BTreeMap::from([("by".to_owned(), vec![p.monitor.root()])]),
                ..CallRequest::default()
            };
            let answer = p.monitor.call(call).await?;
            assert_eq!(answer.dependencies["sum"][0].name(), "a");
            Ok(())
        }))
        .ok();
    let asked = asked.lock().unwrap().take().unwrap();
    assert_eq!(asked.arguments, map([("by", 2.into())]));
    assert_eq!(asked.argument_dependencies["by"], [stack.urn("shop-dev")]);
}

fn frames<const N: usize>(places: [&str; N]) -> Vec<StackFrame> {
    let frame =
        |place: &str| StackFrame { source_position: format!("project:///{place}"), ..StackFrame::default() };
    places.into_iter().map(frame).collect()
}

/// The component with one resource in it, told how the program came to it, and by itself from `inside.py`.
async fn with_traces(p: P, arguments: ConstructArguments) -> Result<Constructed, MonitorError> {
    let traced = |request: &mut RegisterRequest| {
        request.stack_trace = frames(["inside.py#1"]);
        request.led_by.clone_from(&arguments.trace);
    };
    let component = p.component(&arguments.type_token, &arguments.name).with(traced).register().await?;
    let child = p.resource("pkgA:m:T", "child").parent(&component.urn).with(traced).register().await?;
    let read = ReadRequest {
        type_token: "pkgA:m:T".to_owned(),
        name: "read".to_owned(),
        id: child.id,
        stack_trace: frames(["inside.py#2"]),
        led_by: arguments.trace,
        ..ReadRequest::default()
    };
    p.monitor.read(read).await?;
    Ok(Constructed { urn: component.urn, ..Constructed::default() })
}

#[test]
fn what_a_constructed_component_registers_has_the_trace_that_led_to_it() {
    let (mut stack, handle, asked) = constructing(with_traces);
    let (program, _) = remote(&handle, |request| request.stack_trace = frames(["index.ts#7", "lib.ts#3"]));
    stack.up(program).ok();
    assert!(!asked.lock().unwrap()[0].trace.is_empty());
    for name in ["comp", "child"] {
        let trace = &stack.resource(name).stack_trace;
        assert_eq!(*trace, frames(["index.ts#7", "lib.ts#3", "inside.py#1"]), "{name}");
    }
    assert_eq!(stack.resource("read").stack_trace, frames(["index.ts#7", "lib.ts#3", "inside.py#2"]));
}

#[test]
fn a_component_that_the_program_gives_no_trace_for_is_told_of_none() {
    let (mut stack, handle, asked) = constructing(with_traces);
    let (program, _) = remote(&handle, |_| {});
    stack.up(program).ok();
    assert_eq!(asked.lock().unwrap()[0].trace, "");
    assert_eq!(stack.resource("child").stack_trace, frames(["inside.py#1"]));
}

#[test]
fn a_trace_ends_with_the_construction_that_it_led_to() {
    let (mut stack, handle, asked) = constructing(with_traces);
    let later = program(move |p| {
        *handle.lock().unwrap() = Some(p.monitor.clone());
        let asked = Arc::clone(&asked);
        async move {
            let component = p.component("pkgB:m:Comp", "comp").with(|request| request.remote = true);
            component.with(|request| request.stack_trace = frames(["index.ts#7"])).register().await?;
            let word = asked.lock().unwrap()[0].trace.clone();
            let after = p.resource("pkgA:m:T", "after");
            after.with(|request| request.led_by = word).register().await?;
            Ok(())
        }
    });
    stack.up(later).ok();
    assert_eq!(stack.resource("after").stack_trace, []);
}

#[test]
fn a_method_is_told_of_the_trace_that_led_to_it() {
    let (handle, asked): (Handle, Arc<Mutex<Vec<String>>>) = Default::default();
    let (held, noted) = (Arc::clone(&handle), Arc::clone(&asked));
    let provider = TestProvider {
        call: Some(Arc::new(move |arguments: CallArguments| {
            noted.lock().unwrap().push(arguments.trace.clone());
            let p = P { monitor: held.lock().unwrap().clone().unwrap() };
            Box::pin(async move {
                let made = p.resource("pkgA:m:T", "made").with(|request| request.led_by = arguments.trace);
                made.register().await.map_err(refused)?;
                Ok(CallAnswer::default())
            }) as BoxFuture<'static, _>
        })),
        ..TestProvider::default()
    };
    let mut stack = Stack::new().and_provider("pkgB", provider);
    stack
        .up(program(move |p| {
            *handle.lock().unwrap() = Some(p.monitor.clone());
            async move {
                let call = CallRequest {
                    token: "pkgB:m:Comp/add".to_owned(),
                    stack_trace: frames(["index.ts#9"]),
                    ..CallRequest::default()
                };
                p.monitor.call(call).await?;
                Ok(())
            }
        }))
        .ok();
    assert_eq!(asked.lock().unwrap().len(), 1);
    assert_eq!(stack.resource("made").stack_trace, frames(["index.ts#9"]));
}

#[test]
fn a_method_runs_in_the_provider_of_its_resource() {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&asked);
    let provider = TestProvider {
        call: Some(Arc::new(move |arguments: CallArguments| {
            noted.lock().unwrap().push(arguments.token);
            Box::pin(async { Ok(CallAnswer::default()) }) as BoxFuture<'static, _>
        })),
        ..TestProvider::default()
    };
    let mut stack = Stack::with_provider("pkgA", provider);
    stack
        .up(program(|p| async move {
            let explicit = p.resource("pulumi:providers:pkgA", "explicit").register().await?;
            let owner = p.resource("pkgA:m:T", "owner").provider(&explicit).register().await?;
            for (token, receiver) in [("pkgB:m:T/add", &owner), ("pulumi:providers:pkgA/whoami", &explicit)] {
                let receiver = ResourceReference {
                    urn: receiver.urn.clone(),
                    id: Some(receiver.id.clone()),
                    package_version: String::new(),
                };
                let call = CallRequest {
                    token: token.to_owned(),
                    arguments: map([("__self__", Value::ResourceReference(receiver))]),
                    ..CallRequest::default()
                };
                p.monitor.call(call).await?;
            }
            Ok(())
        }))
        .ok();
    assert_eq!(*asked.lock().unwrap(), ["pkgB:m:T/add", "pulumi:providers:pkgA/whoami"]);
    assert!(!stack.names().iter().any(|name| name == "default"), "{:?}", stack.names());
}

#[test]
fn a_method_that_fails_is_told_to_the_program() {
    let mut stack = Stack::new();
    let outcome = stack.up(program(|p| async move {
        let call = CallRequest { token: "pkgA:m:Comp/add".to_owned(), ..CallRequest::default() };
        p.monitor.call(call).await.map(|_| ())
    }));
    outcome.failed("call to function 'pkgA:m:Comp/add' failed");
}

#[test]
fn a_component_can_hold_what_it_only_reads() {
    let (mut stack, handle, _) = constructing(|p, arguments| async move {
        let comp = p.component(&arguments.type_token, &arguments.name).register().await?;
        let read = ReadRequest {
            type_token: "pkgA:m:T".to_owned(),
            name: "seen".to_owned(),
            id: "elsewhere".to_owned(),
            parent: comp.urn.clone(),
            ..ReadRequest::default()
        };
        let seen = p.monitor.read(read).await?;
        let outputs = seen.properties;
        p.monitor.register_outputs(&comp.urn, outputs.clone()).await?;
        Ok(Constructed { urn: comp.urn, outputs, ..Constructed::default() })
    });
    let cloud = Arc::clone(&stack.providers["pkgA"].cloud);
    cloud.lock().unwrap().insert("elsewhere".to_owned(), map([("size", 3.into())]));
    stack.up(remote(&handle, |_| ()).0).ok();
    assert!(stack.resource("seen").external);
    assert_eq!(stack.resource("comp").outputs.text(), r#"{"size":3}"#);
    stack.calls("pkgA");
    stack.destroy().ok();
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0]);
    assert_eq!(stack.providers["pkgA"].ids(), ["elsewhere"]);
}

#[test]
fn a_preview_constructs_too() {
    let (mut stack, handle, _) = constructing(with_child);
    let outcome = stack.preview(remote(&handle, |_| ()).0).ok();
    assert_eq!(outcome.count(Op::Create), 3);
    assert!(stack.providers["pkgA"].ids().is_empty());
}

/// A provider whose methods answer with how it is configured.
fn answering() -> Stack {
    let mut stack = Stack::new();
    stack.providers.get_mut("pkgA").unwrap().call_with_config =
        Some(Arc::new(|config| CallAnswer { properties: config, ..CallAnswer::default() }));
    stack
}

/// Calls a method of a resource.
async fn call(p: &P, token: &str, on: &Registered) -> Result<PropertyMap, MonitorError> {
    let id = Some(on.id.clone());
    let reference = ResourceReference { urn: on.urn.clone(), id, package_version: String::new() };
    let call = CallRequest {
        token: token.to_owned(),
        arguments: map([("__self__", Value::ResourceReference(reference))]),
        ..CallRequest::default()
    };
    Ok(p.monitor.call(call).await?.properties)
}

#[test]
fn a_method_of_a_resource_runs_in_the_provider_that_the_resource_has() {
    answering()
        .up(program(|p| async move {
            let own = p.resource("pulumi:providers:pkgA", "own").input("region", "eu").register().await?;
            let a = p.resource("pkgA:m:T", "a").provider(&own).register().await?;
            assert_eq!(call(&p, "pkgA:m:T/method", &a).await?, map([("region", "eu".into())]));
            let b = p.resource("pkgA:m:T", "b").register().await?;
            assert_eq!(call(&p, "pkgA:m:T/method", &b).await?, PropertyMap::new());
            Ok(())
        }))
        .ok();
}

#[test]
fn a_method_of_a_provider_runs_in_itself() {
    answering()
        .up(program(|p| async move {
            let own = p.resource("pulumi:providers:pkgA", "own").input("region", "eu").register().await?;
            assert_eq!(call(&p, "pulumi:providers:pkgA/method", &own).await?, map([("region", "eu".into())]));
            Ok(())
        }))
        .ok();
}

#[test]
fn a_method_of_something_that_nobody_registered_is_refused() {
    answering()
        .up(program(|p| async move {
            let urn = Urn::new("urn:pulumi:dev::shop::pkgA:m:T::nobody");
            let nobody = Registered { urn, ..Registered::default() };
            call(&p, "pkgA:m:T/method", &nobody).await.map(|_| ())
        }))
        .failed("unknown resource urn:pulumi:dev::shop::pkgA:m:T::nobody");
}

#[test]
fn a_component_that_changes_has_the_outputs_that_the_program_gives_it_now() {
    let mut stack = Stack::new();
    let run = |number: i64| {
        program(move |p| async move {
            let c = p.component("my:m:C", "c").input("number", number).register().await?;
            if number == 1 {
                let outputs = PropertyMap::from([("y".to_owned(), 1.into())]);
                p.monitor.register_outputs(&c.urn, outputs).await?;
            }
            Ok(())
        })
    };
    stack.up(run(1)).ok();
    let modified = stack.resource("c").modified.clone();
    assert_eq!(stack.resource("c").outputs.text(), r#"{"y":1}"#);
    stack.up(run(2)).ok();
    assert!(stack.resource("c").outputs.json().is_none());
    assert_eq!(stack.resource("c").modified, modified);
}

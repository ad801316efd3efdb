//! What the engine provides itself: references to other stacks, stashes, and questions about resources.

use crate::harness::{Stack, program, targets};
use drystone_engine::{InvokeRequest, Op, Program, PropertyMap, Severity};
use drystone_model::{Urn, Value};
use std::sync::Arc;

fn map<const N: usize>(members: [(&str, Value); N]) -> PropertyMap {
    members.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
}

/// A stack beside which `network` and `other` exist.
fn stack() -> Stack {
    let mut stack = Stack::new();
    let outputs = map([("vpc", "vpc-1".into()), ("key", Value::secret("hunter2".into()))]);
    stack.other_stacks.insert("network".into(), outputs);
    stack.other_stacks.insert("other".into(), map([("vpc", "vpc-2".into())]));
    stack
}

fn referring(name: &'static str) -> Arc<dyn Program> {
    program(move |p| async move {
        p.resource("pulumi:pulumi:StackReference", "ref").input("name", name).register().await?;
        Ok(())
    })
}

fn stashing(value: Value) -> Arc<dyn Program> {
    program(move |p| {
        let value = value.clone();
        async move {
            p.resource("pulumi:index:Stash", "stash").input("input", value).register().await?;
            Ok(())
        }
    })
}

fn ask(token: &str, arguments: PropertyMap) -> InvokeRequest {
    InvokeRequest { token: token.into(), arguments, ..InvokeRequest::default() }
}

#[test]
fn a_stack_reference_has_the_outputs_of_another_stack() {
    let mut stack = stack();
    let outcome = stack
        .up(program(|p| async move {
            let reference =
                p.resource("pulumi:pulumi:StackReference", "ref").input("name", "network").register().await?;
            let outputs = reference.properties["outputs"].as_object().unwrap();
            assert_eq!(outputs["vpc"], Value::from("vpc-1"));
            assert_eq!(reference.properties["secretOutputNames"], Value::Array(vec!["key".into()]));
            Ok(())
        }))
        .ok();
    assert_eq!(outcome.steps(), ["create ref"]);
    assert!(outcome.diagnostics(Severity::Warning)[0].contains("resource type is deprecated"));
    assert!(stack.resource("ref").outputs.text().contains("ciphertext"));
    assert!(stack.resource("ref").provider.contains("pulumi:providers:pulumi::default::"));
}

#[test]
fn a_reference_to_another_name_is_another_reference() {
    let mut stack = stack();
    stack.up(referring("network")).ok();
    let outcome = stack.up(referring("other")).ok();
    assert_eq!(outcome.count(Op::Replace), 1);
    assert!(stack.resource("ref").outputs.text().contains("vpc-2"));
}

#[test]
fn a_refresh_reads_the_other_stack_again() {
    let mut stack = stack();
    stack.up(referring("other")).ok();
    stack.other_stacks.insert("other".into(), map([("vpc", "vpc-9".into())]));
    assert!(stack.up(referring("other")).ok().steps().is_empty());
    stack.refresh().ok();
    assert!(stack.resource("ref").outputs.text().contains("vpc-9"));
}

#[test]
fn a_stack_that_is_not_there_cannot_be_referred_to() {
    let mut stack = stack();
    stack.up(referring("nothing")).failed("unknown stack \"nothing\"");
}

#[test]
fn a_reference_needs_a_name_and_nothing_else() {
    let mut stack = stack();
    stack
        .up(program(|p| async move {
            p.resource("pulumi:pulumi:StackReference", "ref").register().await.map(|_| ())
        }))
        .failed("missing required property \"name\"");
    stack
        .up(program(|p| async move {
            let reference = p.resource("pulumi:pulumi:StackReference", "ref").input("name", "network");
            reference.input("extra", 1).register().await.map(|_| ())
        }))
        .failed("unknown property \"extra\"");
    stack
        .up(program(|p| async move {
            p.resource("pulumi:pulumi:StackReference", "ref").input("name", 7).register().await.map(|_| ())
        }))
        .failed("property \"name\" must be a string");
}

#[test]
fn a_reference_can_be_read() {
    let mut stack = stack();
    stack
        .up(program(|p| async move {
            let request = drystone_engine::ReadRequest {
                type_token: "pulumi:pulumi:StackReference".into(),
                name: "ref".into(),
                id: "other".into(),
                properties: map([("name", "other".into())]),
                ..Default::default()
            };
            let read = p.monitor.read(request).await?;
            assert_eq!(read.properties["outputs"].as_object().unwrap()["vpc"], Value::from("vpc-2"));
            Ok(())
        }))
        .ok();
    assert!(stack.resource("ref").external);
}

#[test]
fn a_reference_cannot_be_imported() {
    let mut stack = stack();
    stack
        .up(program(|p| async move {
            let reference = p.resource("pulumi:pulumi:StackReference", "ref").input("name", "other");
            reference.options(|options| options.import_id = "other".into()).register().await.map(|_| ())
        }))
        .failed("stack reference can not be imported");
}

#[test]
fn a_stash_keeps_what_it_was_first_given() {
    let mut stack = stack();
    stack.up(stashing("one".into())).ok();
    assert_eq!(stack.resource("stash").outputs.text(), r#"{"input":"one","output":"one"}"#);
    let outcome = stack.up(stashing("two".into())).ok();
    assert_eq!(
        (outcome.steps(), outcome.steps_of("stash")[0].changed_keys.clone()),
        (vec!["update stash".into()], vec!["input".into()])
    );
    assert_eq!(stack.resource("stash").outputs.text(), r#"{"input":"two","output":"one"}"#);
}

#[test]
fn a_replaced_stash_keeps_what_it_is_given_then() {
    let mut stack = stack();
    stack.up(stashing("one".into())).ok();
    stack.options.replace = targets([&stack.urn("stash")]);
    stack.up(stashing("two".into())).ok();
    assert_eq!(stack.resource("stash").outputs.text(), r#"{"input":"two","output":"two"}"#);
}

#[test]
fn a_stash_keeps_secrets_secret() {
    let mut stack = stack();
    stack.up(stashing(Value::secret("hunter2".into()))).ok();
    let outputs = stack.resource("stash").outputs.text();
    assert!(outputs.contains("ciphertext") && !outputs.contains("hunter2"));
}

#[test]
fn a_stash_that_is_refreshed_stays_as_it_is() {
    let mut stack = stack();
    stack.up(stashing("one".into())).ok();
    let outcome = stack.refresh().ok();
    assert_eq!((outcome.entries, outcome.count(Op::Update)), (0, 0));
    stack.destroy().ok();
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_stash_takes_one_input_and_cannot_be_imported() {
    let mut stack = stack();
    stack
        .up(program(
            |p| async move { p.resource("pulumi:index:Stash", "stash").register().await.map(|_| ()) },
        ))
        .failed("missing required property \"input\"");
    stack
        .up(program(|p| async move {
            let stash = p.resource("pulumi:index:Stash", "stash").input("input", 1).input("extra", 1);
            stash.register().await.map(|_| ())
        }))
        .failed("unknown property \"extra\"");
    stack
        .up(program(|p| async move {
            let stash = p.resource("pulumi:index:Stash", "stash").input("input", 1);
            stash.options(|options| options.import_id = "x".into()).register().await.map(|_| ())
        }))
        .failed("stash can not be imported");
}

#[test]
fn the_engine_has_no_other_resources_and_functions() {
    let mut stack = stack();
    stack
        .up(program(|p| async move { p.resource("pulumi:index:Other", "x").register().await.map(|_| ()) }))
        .failed("unrecognized resource type 'pulumi:index:Other'");
    stack
        .up(program(|p| async move {
            p.monitor.invoke(ask("pulumi:pulumi:other", PropertyMap::new())).await.map(|_| ())
        }))
        .failed("unrecognized function name: 'pulumi:pulumi:other'");
}

#[test]
fn a_program_can_ask_for_the_outputs_of_another_stack() {
    let mut stack = stack();
    stack
        .up(program(|p| async move {
            let answer = p
                .monitor
                .invoke(ask("pulumi:pulumi:readStackOutputs", map([("name", "network".into())])))
                .await?;
            assert_eq!(answer.properties["name"], Value::from("network"));
            assert_eq!(answer.properties["outputs"].as_object().unwrap()["vpc"], Value::from("vpc-1"));
            assert_eq!(answer.properties["secretOutputNames"], Value::Array(vec!["key".into()]));
            Ok(())
        }))
        .ok();
}

#[test]
fn a_program_can_ask_for_the_resources_of_another_stack() {
    let mut stack = stack();
    stack
        .up(program(|p| async move {
            let arguments = map([("stackName", "other".into())]);
            let answer = p.monitor.invoke(ask("pulumi:pulumi:readStackResourceOutputs", arguments)).await?;
            assert_eq!(answer.properties["name"], Value::from("other"));
            assert!(answer.properties["outputs"].as_object().is_some());
            Ok(())
        }))
        .ok();
}

#[test]
fn a_program_can_ask_for_a_resource_of_its_own() {
    let mut stack = stack();
    stack.providers["pkgA"].cloud.lock().unwrap().insert("real".into(), map([("size", 7.into())]));
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
            let answer = p
                .monitor
                .invoke(ask("pulumi:pulumi:getResource", map([("urn", a.urn.as_str().into())])))
                .await?;
            assert_eq!(answer.properties["urn"], Value::from(a.urn.as_str()));
            assert_eq!(answer.properties["id"], Value::from("a-1"));
            assert_eq!(answer.properties["state"], Value::Object(map([("size", 1.into())])));
            assert!(
                answer.properties["provider"].as_str().unwrap().contains("pulumi:providers:pkgA::default::")
            );
            let read = p.read("pkgA:m:T", "r", "real").await?;
            let answer = p
                .monitor
                .invoke(ask("pulumi:pulumi:getResource", map([("urn", read.urn.as_str().into())])))
                .await?;
            assert_eq!(answer.properties["state"], Value::Object(map([("size", 7.into())])));
            Ok(())
        }))
        .ok();
}

#[test]
fn a_resource_that_was_not_registered_cannot_be_asked_for() {
    let mut stack = stack();
    let urn = Urn::build("dev", "shop", "", "pkgA:m:T", "a");
    let arguments = map([("urn", urn.as_str().into())]);
    stack
        .up(program(move |p| {
            let arguments = arguments.clone();
            async move { p.monitor.invoke(ask("pulumi:pulumi:getResource", arguments)).await.map(|_| ()) }
        }))
        .failed(&format!("unknown resource {urn}"));
}

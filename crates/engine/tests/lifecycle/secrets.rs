//! Values that must never be seen: not in the state, not in the journal, not in messages.

use crate::harness::{P, Stack, TestProvider, program};
use drystone_engine::{AppliedState, Program, PropertyMap, ProviderError, ReadState, Severity};
use drystone_model::{Output, Value};
use std::sync::{Arc, Mutex};

const SECRET: &str = "hunter2";

fn hidden() -> Value {
    Value::secret(SECRET.into())
}

/// A program with one resource that has a secret input.
fn one() -> Arc<dyn Program> {
    program(|p: P| async move {
        p.resource("pkgA:m:T", "a").input("key", hidden()).input("open", "plain").register().await?;
        Ok(())
    })
}

fn text(stack: &Stack) -> String {
    serde_json::to_string(&stack.snapshot).unwrap()
}

#[test]
fn a_secret_input_is_sealed_in_the_state() {
    let mut stack = Stack::new();
    stack.up(one()).ok();
    assert!(!text(&stack).contains(SECRET));
    let inputs = stack.resource("a").inputs.text();
    assert!(inputs.contains("ciphertext") && inputs.contains(r#""open":"plain""#), "{inputs}");
}

#[test]
fn a_secret_is_sealed_in_every_entry_of_the_journal() {
    let mut stack = Stack::new();
    let outcome = stack.up(one()).ok();
    assert!(outcome.journal.iter().any(|entry| entry.contains("ciphertext")));
    assert!(!outcome.journal.concat().contains(SECRET));
}

#[test]
fn the_provider_gets_the_secret_as_one() {
    let mut stack = Stack::new();
    stack.up(one()).ok();
    let calls = stack.calls("pkgA");
    let create = calls.iter().find(|call| call.method == "create").unwrap();
    assert_eq!(create.inputs["key"], hidden());
}

#[test]
fn an_output_that_repeats_a_secret_input_is_secret() {
    let provider = TestProvider {
        create: Some(Arc::new(|arguments| {
            // A provider that knows nothing of secrets.
            let outputs = arguments.inputs.into_iter().map(|(key, value)| (key, value.revealed())).collect();
            Ok(AppliedState { id: "i-1".to_owned(), outputs, ..AppliedState::default() })
        })),
        ..TestProvider::default()
    };
    let seen: Arc<Mutex<Option<PropertyMap>>> = Arc::default();
    let told = Arc::clone(&seen);
    let mut stack = Stack::with_provider("pkgA", provider);
    let outcome = stack
        .up(program(move |p| {
            let told = Arc::clone(&told);
            async move {
                let a =
                    p.resource("pkgA:m:T", "a").input("key", hidden()).input("open", "x").register().await?;
                *told.lock().unwrap() = Some(a.properties);
                Ok(())
            }
        }))
        .ok();
    let seen = seen.lock().unwrap().take().unwrap();
    assert_eq!((seen["key"].is_secret(), seen["open"].is_secret()), (true, false));
    assert!(!outcome.journal.concat().contains(SECRET) && !text(&stack).contains(SECRET));
}

#[test]
fn an_output_that_the_program_names_is_secret() {
    let mut stack = Stack::new();
    let outcome = stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("key", SECRET).input("open", "x");
            let a =
                a.options(|options| options.additional_secret_outputs = vec!["open".to_owned()]).register();
            assert!(a.await?.properties["open"].is_secret());
            Ok(())
        }))
        .ok();
    let a = stack.resource("a");
    assert!(a.outputs.text().contains("ciphertext") && !a.inputs.text().contains("ciphertext"));
    assert_eq!(a.additional_secret_outputs, ["open"]);
    assert!(outcome.diagnostics(Severity::Warning).is_empty());
}

#[test]
fn an_id_cannot_be_made_secret() {
    let mut stack = Stack::new();
    let outcome = stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a");
            a.options(|options| options.additional_secret_outputs = vec!["id".to_owned()]).register().await?;
            Ok(())
        }))
        .ok();
    assert!(
        outcome.diagnostics(Severity::Warning)[0].starts_with("The 'id' property cannot be made secret.")
    );
}

#[test]
fn naming_a_secret_output_later_seals_it() {
    let mut stack = Stack::new();
    let run = |named: bool| {
        program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a").input("key", SECRET);
            let a = a.options(|options| {
                if named {
                    options.additional_secret_outputs = vec!["key".to_owned()];
                }
            });
            a.register().await?;
            Ok(())
        })
    };
    stack.up(run(false)).ok();
    assert!(stack.resource("a").outputs.text().contains(SECRET));
    stack.up(run(true)).ok();
    assert!(!stack.resource("a").outputs.text().contains(SECRET));
}

#[test]
fn an_unchanged_secret_writes_nothing() {
    let mut stack = Stack::new();
    stack.up(one()).ok();
    let before = text(&stack);
    let outcome = stack.up(one()).ok();
    assert_eq!((outcome.steps().len(), outcome.entries), (0, 0));
    assert_eq!(text(&stack), before);
}

#[test]
fn a_changed_secret_is_a_change() {
    let mut stack = Stack::new();
    stack.up(one()).ok();
    let outcome = stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("open", "plain");
            a.input("key", Value::secret("other".into())).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(outcome.steps(), ["update a"]);
}

#[test]
fn making_a_value_secret_seals_it_everywhere() {
    let mut stack = Stack::new();
    let run = |value: Value| {
        program(move |p| {
            let value = value.clone();
            async move { p.resource("pkgA:m:T", "a").input("key", value).register().await.map(|_| ()) }
        })
    };
    stack.up(run(SECRET.into())).ok();
    assert!(text(&stack).contains(SECRET));
    stack.up(run(hidden())).ok();
    assert!(!text(&stack).contains(SECRET));
}

#[test]
fn a_secret_inside_an_object_is_sealed_alone() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let settings = Value::object([("user", Value::from("admin")), ("password", hidden())]);
            p.resource("pkgA:m:T", "a").input("settings", settings).register().await?;
            Ok(())
        }))
        .ok();
    let inputs = stack.resource("a").inputs.text();
    assert!(
        inputs.contains("admin") && inputs.contains("ciphertext") && !inputs.contains(SECRET),
        "{inputs}"
    );
}

#[test]
fn an_output_value_that_is_secret_is_sealed() {
    let mut stack = Stack::new();
    let outcome = stack
        .up(program(|p| async move {
            let output = Output { value: Some(SECRET.into()), secret: true, dependencies: Vec::new() };
            p.resource("pkgA:m:T", "a").input("key", Value::Output(Box::new(output))).register().await?;
            Ok(())
        }))
        .ok();
    assert!(!outcome.journal.concat().contains(SECRET));
    assert!(stack.resource("a").inputs.text().contains("ciphertext"));
}

#[test]
fn a_secret_travels_from_one_resource_to_the_next() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("key", hidden()).register().await?;
            p.resource("pkgB:m:T", "b").input_from("key", &a, "key").register().await?;
            Ok(())
        }))
        .ok();
    assert!(stack.resource("b").inputs.text().contains("ciphertext"));
    assert!(!text(&stack).contains(SECRET));
}

#[test]
fn secret_configuration_reaches_the_default_provider_sealed() {
    let mut stack = Stack::new();
    let value = drystone_engine::ConfigValue { text: SECRET.to_owned(), object: false, secret: true };
    stack.config.insert("pkgA:token".to_owned(), value);
    let outcome = stack.up(one()).ok();
    let calls = stack.calls("pkgA");
    let configure = calls.iter().find(|call| call.method == "configure").unwrap();
    assert_eq!(configure.inputs["token"].revealed(), SECRET.into());
    assert!(!outcome.journal.concat().contains(SECRET) && !text(&stack).contains(SECRET));
}

#[test]
fn a_secret_of_a_component_is_sealed() {
    let mut stack = Stack::new();
    let outcome = stack
        .up(program(|p| async move {
            let top = p.component("my:index:Top", "top").input("key", hidden()).register().await?;
            p.monitor.register_outputs(&top.urn, [("out".to_owned(), hidden())].into()).await
        }))
        .ok();
    assert!(!outcome.journal.concat().contains(SECRET));
    assert!(stack.resource("top").outputs.text().contains("ciphertext"));
}

#[test]
fn an_interrupted_operation_keeps_its_secrets_sealed() {
    let mut stack = Stack::new();
    stack.providers.get_mut("pkgA").unwrap().create = Some(Arc::new(|_| Err(ProviderError::unknown("gone"))));
    let outcome = stack.up(one()).failed("gone");
    assert_eq!(stack.snapshot.pending_operations.len(), 1);
    assert!(!text(&stack).contains(SECRET) && !outcome.journal.concat().contains(SECRET));
}

#[test]
fn a_deletion_gets_its_secrets_back() {
    let mut stack = Stack::new();
    stack.up(one()).ok();
    stack.calls("pkgA");
    let outcome = stack.destroy().ok();
    let calls = stack.calls("pkgA");
    assert_eq!(calls.iter().find(|call| call.method == "delete").unwrap().inputs["key"], hidden());
    assert!(!outcome.journal.concat().contains(SECRET));
}

#[test]
fn a_refresh_keeps_what_is_sealed_sealed() {
    let mut stack = Stack::new();
    stack.up(one()).ok();
    let outcome = stack.refresh().ok();
    assert_eq!(outcome.entries, 0);
    assert!(!text(&stack).contains(SECRET));
}

#[test]
fn a_replacement_trigger_can_be_secret() {
    let mut stack = Stack::new();
    let outcome = stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a");
            a.options(|options| options.replacement_trigger = Some(hidden())).register().await?;
            Ok(())
        }))
        .ok();
    assert!(!outcome.journal.concat().contains(SECRET) && !text(&stack).contains(SECRET));
    assert!(stack.resource("a").replacement_trigger.is_some());
}

#[test]
fn a_thousand_secrets_are_sealed_each_and_opened_again() {
    let run = || {
        program(|p| async move {
            for index in 0..10 {
                let mut resource = p.resource("pkgA:m:T", &format!("r{index}"));
                for key in 0..100 {
                    let value = Value::secret(format!("{SECRET}-{index}-{key}").into());
                    resource = resource.input(&format!("key{key}"), value);
                }
                resource.register().await?;
            }
            Ok(())
        })
    };
    let mut stack = Stack::new();
    let outcome = stack.up(run()).ok();
    assert!(!outcome.journal.concat().contains(SECRET) && !text(&stack).contains(SECRET));
    assert_eq!(text(&stack).matches("\"ciphertext\"").count(), 2_000);
    let outcome = stack.up(run()).ok();
    assert_eq!(outcome.entries, 0);
    stack.calls("pkgA");
    stack.destroy().ok();
    let calls = stack.calls("pkgA");
    let delete = calls.iter().find(|call| call.method == "delete" && call.urn.name() == "r7").unwrap();
    assert_eq!(delete.inputs["key42"].revealed(), format!("{SECRET}-7-42").into());
}

/// A provider that knows nothing of secrets when it is asked what there is.
fn reads_in_clear() -> TestProvider {
    TestProvider {
        read: Some(Arc::new(|arguments| {
            let clear =
                PropertyMap::from([("key".to_owned(), SECRET.into()), ("open".to_owned(), "plain".into())]);
            Ok(ReadState {
                id: arguments.id,
                inputs: Some(clear.clone()),
                outputs: Some(clear),
                ..ReadState::default()
            })
        })),
        ..TestProvider::default()
    }
}

#[test]
fn s17_a_refresh_hides_what_its_provider_gives_in_clear() {
    let mut stack = Stack::with_provider("pkgA", reads_in_clear());
    stack.up(one()).ok();
    let outcome = stack.refresh().ok();
    assert!(!outcome.journal.concat().contains(SECRET) && !text(&stack).contains(SECRET));
    assert_eq!(outcome.entries, 0, "nothing changed");
    stack.up(one()).ok();
    assert!(!text(&stack).contains(SECRET));
}

#[test]
fn s17_an_import_hides_what_the_program_calls_secret() {
    let mut stack = Stack::with_provider("pkgA", reads_in_clear());
    let outcome = stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("key", hidden()).input("open", "plain");
            a.options(|options| options.import_id = "real".into()).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(outcome.steps(), ["import a"]);
    assert!(!outcome.journal.concat().contains(SECRET) && !text(&stack).contains(SECRET));
}

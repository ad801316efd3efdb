//! What is asked for besides a resource's inputs: changes to ignore, changes that replace, time limits, triggers.

use crate::harness::{P, Stack, TestProvider, diff_by_keys, program, unknown};
use drystone_engine::{
    AppliedState, Diff, DiffKind, Program, PropertyDiff, ResourceOptions, Severity, Timeouts,
};
use drystone_model::Value;
use std::sync::{Arc, Mutex};

type Inputs = Vec<(&'static str, Value)>;

/// A program with one resource.
fn one(inputs: Inputs, change: fn(&mut ResourceOptions)) -> Arc<dyn Program> {
    program(move |p: P| {
        let inputs = inputs.clone();
        async move {
            let mut resource = p.resource("pkgA:m:T", "a").options(change);
            for (key, value) in inputs {
                resource = resource.input(key, value);
            }
            resource.register().await?;
            Ok(())
        }
    })
}

fn stack(inputs: Inputs) -> Stack {
    let mut stack = Stack::new();
    stack.up(one(inputs, |_| ())).ok();
    stack.calls("pkgA");
    stack
}

// Changes that are ignored.

#[test]
fn an_ignored_property_stays_what_it_was() {
    let mut stack = stack(vec![("a", 1.into()), ("b", 1.into())]);
    let outcome = stack
        .up(one(vec![("a", 2.into()), ("b", 2.into())], |options| {
            options.ignore_changes = vec!["a".to_owned()];
        }))
        .ok();
    assert_eq!(outcome.steps(), ["update a"]);
    assert_eq!(stack.resource("a").inputs.text(), r#"{"a":1,"b":2}"#);
}

#[test]
fn nothing_happens_when_every_change_is_ignored() {
    let mut stack = stack(vec![("a", 1.into())]);
    let outcome =
        stack.up(one(vec![("a", 2.into())], |options| options.ignore_changes = vec!["a".to_owned()])).ok();
    assert_eq!(outcome.steps(), [] as [&str; 0]);
    assert_eq!(stack.resource("a").ignore_changes, ["a"]);
}

#[test]
fn a_path_inside_an_object_is_ignored_alone() {
    let nested = |inner: i64, other: i64| {
        vec![("tags", Value::object([("inner", Value::from(inner)), ("other", Value::from(other))]))]
    };
    let mut stack = stack(nested(1, 1));
    stack.up(one(nested(2, 2), |options| options.ignore_changes = vec!["tags.inner".to_owned()])).ok();
    assert_eq!(stack.resource("a").inputs.text(), r#"{"tags":{"inner":1,"other":2}}"#);
}

#[test]
fn a_new_resource_has_nothing_to_ignore() {
    let mut stack = Stack::new();
    stack.up(one(vec![("a", 1.into())], |options| options.ignore_changes = vec!["a".to_owned()])).ok();
    assert_eq!(stack.resource("a").inputs.text(), r#"{"a":1}"#);
}

#[test]
fn a_path_that_cannot_be_ignored_is_told() {
    let list = |items: &[i64]| vec![("list", Value::array(items.iter().copied()))];
    let mut stack = stack(list(&[1]));
    let outcome =
        stack.up(one(list(&[1, 2]), |options| options.ignore_changes = vec!["list[1]".to_owned()])).ok();
    let told = outcome.diagnostics(Severity::Info).concat();
    assert!(told.contains("cannot ignore changes in added or removed elements of the path"), "{told}");
}

#[test]
fn the_provider_hears_what_is_ignored() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let mut stack = stack(vec![("a", 1.into()), ("b", 1.into())]);
    stack.providers.get_mut("pkgA").unwrap().diff = Some(Arc::new(move |arguments| {
        noted.lock().unwrap().extend(arguments.ignore_changes.clone());
        Ok(diff_by_keys(&arguments, &[], false))
    }));
    stack.up(one(vec![("a", 2.into())], |options| options.ignore_changes = vec!["a".to_owned()])).ok();
    assert_eq!(*seen.lock().unwrap(), ["a"]);
}

// Changes that replace.

#[test]
fn a_change_that_the_program_wants_to_replace_does() {
    let mut stack = stack(vec![("a", 1.into()), ("b", 1.into())]);
    let replace = |options: &mut ResourceOptions| options.replace_on_changes = vec!["a".to_owned()];
    stack.up(one(vec![("a", 1.into()), ("b", 2.into())], replace)).ok();
    assert_eq!(stack.effects("pkgA"), ["update a"]);
    let outcome = stack.up(one(vec![("a", 2.into()), ("b", 2.into())], replace)).ok();
    assert_eq!(stack.effects("pkgA"), ["create a", "delete a"]);
    assert_eq!(outcome.steps_of("a")[0].replace_keys, ["a"]);
}

#[test]
fn a_change_inside_a_named_property_replaces() {
    let nested = |inner: i64| vec![("tags", Value::object([("inner", Value::from(inner))]))];
    let mut stack = stack(nested(1));
    stack.up(one(nested(2), |options| options.replace_on_changes = vec!["tags.inner".to_owned()])).ok();
    assert_eq!(stack.effects("pkgA"), ["create a", "delete a"]);
}

#[test]
fn every_change_replaces_under_a_star() {
    let mut stack = stack(vec![("a", 1.into())]);
    stack.up(one(vec![("a", 2.into())], |options| options.replace_on_changes = vec!["*".to_owned()])).ok();
    assert_eq!(stack.effects("pkgA"), ["create a", "delete a"]);
}

#[test]
fn an_ignored_change_does_not_replace() {
    let mut stack = stack(vec![("a", 1.into())]);
    let outcome = stack
        .up(one(vec![("a", 2.into())], |options| {
            options.ignore_changes = vec!["a".to_owned()];
            options.replace_on_changes = vec!["a".to_owned()];
        }))
        .ok();
    assert_eq!(outcome.steps(), [] as [&str; 0]);
}

#[test]
fn a_provider_may_ask_for_a_replacement_in_the_details_alone() {
    let provider = TestProvider {
        diff: Some(Arc::new(|_| {
            let change = PropertyDiff { kind: DiffKind::UpdateReplace, input_diff: false };
            Ok(Diff { detailed: Some([("a".to_owned(), change)].into()), ..Diff::some() })
        })),
        ..TestProvider::default()
    };
    let mut stack = Stack::with_provider("pkgA", provider);
    stack.up(one(vec![("a", 1.into())], |_| ())).ok();
    stack.calls("pkgA");
    stack.up(one(vec![("a", 2.into())], |_| ())).ok();
    assert_eq!(stack.effects("pkgA"), ["create a", "delete a"]);
}

#[test]
fn a_change_that_the_provider_calls_none_is_kept_in_the_state() {
    let provider = TestProvider { diff: Some(Arc::new(|_| Ok(Diff::none()))), ..TestProvider::default() };
    let mut stack = Stack::with_provider("pkgA", provider);
    stack.up(one(vec![("a", 1.into())], |_| ())).ok();
    let outcome = stack.up(one(vec![("a", 2.into())], |_| ())).ok();
    assert_eq!(outcome.steps(), [] as [&str; 0]);
    assert_eq!(stack.resource("a").inputs.text(), r#"{"a":2}"#);
    assert_eq!(stack.resource("a").outputs.text(), r#"{"a":1}"#);
}

// Triggers.

#[test]
fn a_trigger_that_changes_replaces() {
    let mut stack = stack(vec![]);
    stack.up(one(vec![], |options| options.replacement_trigger = Some("one".into()))).ok();
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0], "a first trigger is no change");
    stack.up(one(vec![], |options| options.replacement_trigger = Some("one".into()))).ok();
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0]);
    stack.up(one(vec![], |options| options.replacement_trigger = Some("two".into()))).ok();
    assert_eq!(stack.effects("pkgA"), ["create a", "delete a"]);
}

#[test]
fn a_trigger_that_becomes_secret_is_the_same() {
    let mut stack = stack(vec![]);
    stack.up(one(vec![], |options| options.replacement_trigger = Some("one".into()))).ok();
    stack.up(one(vec![], |options| options.replacement_trigger = Some(Value::secret("one".into())))).ok();
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0]);
}

#[test]
fn a_trigger_that_is_not_known_yet_replaces_in_a_preview_and_is_refused_in_a_run() {
    let mut stack = stack(vec![]);
    stack.up(one(vec![], |options| options.replacement_trigger = Some("one".into()))).ok();
    let later = one(vec![], |options| options.replacement_trigger = Some(unknown()));
    let outcome = stack.preview(Arc::clone(&later)).ok();
    assert!(outcome.steps().contains(&"replace a".to_owned()));
    stack.up(later).failed("replacement trigger contains unknowns");
}

// Time limits and what is only kept.

#[test]
fn time_limits_reach_the_provider_and_the_state() {
    let seen: Arc<Mutex<Vec<f64>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let provider = TestProvider {
        create: Some(Arc::new(move |arguments| {
            noted.lock().unwrap().push(arguments.timeout);
            Ok(AppliedState { id: "i-1".to_owned(), ..AppliedState::default() })
        })),
        ..TestProvider::default()
    };
    let mut stack = Stack::with_provider("pkgA", provider);
    stack
        .up(one(vec![], |options| {
            options.timeouts = Timeouts { create: 300.0, update: 0.5, ..Timeouts::default() };
        }))
        .ok();
    assert_eq!(*seen.lock().unwrap(), [300.0]);
    let kept = serde_json::to_string(&stack.resource("a").custom_timeouts).unwrap();
    assert_eq!(kept, r#"{"create":300,"update":0.5}"#);
}

#[test]
fn the_time_limit_of_the_state_holds_for_its_deletion() {
    let seen: Arc<Mutex<Vec<f64>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let mut stack = Stack::new();
    stack.up(one(vec![], |options| options.timeouts = Timeouts { delete: 60.0, ..Timeouts::default() })).ok();
    stack.providers.get_mut("pkgA").unwrap().delete = Some(Arc::new(move |arguments| {
        noted.lock().unwrap().push(arguments.timeout);
        Ok(())
    }));
    stack.destroy().ok();
    assert_eq!(*seen.lock().unwrap(), [60.0]);
}

#[test]
fn where_a_resource_is_registered_is_kept() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a");
            let a = a.with(|request| request.source_position = "project:///index.ts#3,7".to_owned());
            a.register().await.map(|_| ())
        }))
        .ok();
    assert_eq!(stack.resource("a").source_position, "project:///index.ts#3,7");
}

#[test]
fn paths_that_diffs_leave_out_are_kept_and_must_be_paths() {
    let mut stack = Stack::new();
    stack.up(one(vec![], |options| options.hide_diffs = vec!["tags.inner".to_owned()])).ok();
    assert_eq!(stack.resource("a").hide_diff.len(), 1);
    let outcome = stack.up(one(vec![], |options| options.hide_diffs = vec!["tags[".to_owned()]));
    assert_ne!(outcome.report.ending, drystone_engine::Ending::Succeeded);
}

#[test]
fn names_may_be_anything() {
    for name in ["", "-dash", "with space", "a::b", "ünïcode", "a/b$c"] {
        let mut stack = Stack::new();
        let run = || {
            let name = name.to_owned();
            program(move |p| {
                let name = name.clone();
                async move { p.resource("pkgA:m:T", &name).register().await.map(|_| ()) }
            })
        };
        stack.up(run()).ok();
        assert_eq!(stack.resource(name).urn.as_str(), format!("urn:pulumi:dev::shop::pkgA:m:T::{name}"));
        assert_eq!(stack.up(run()).ok().entries, 0, "{name:?}");
        stack.destroy().ok();
    }
}

// Times.

#[test]
fn the_state_keeps_when_a_resource_was_made_and_last_changed() {
    let times = |stack: &Stack| {
        let a = stack.resource("a");
        (a.created.clone().unwrap(), a.modified.clone().unwrap())
    };
    let mut stack = stack(vec![("a", 1.into())]);
    let made = times(&stack);
    assert_eq!(made.0, made.1);
    stack.up(one(vec![("a", 1.into())], |_| ())).ok();
    assert_eq!(times(&stack), made);
    stack.up(one(vec![("a", 2.into())], |_| ())).ok();
    let changed = times(&stack);
    assert!(changed.0 == made.0 && changed.1 > made.1);
    stack.up(one(vec![("a", 3.into())], |options| options.replace_on_changes = vec!["*".to_owned()])).ok();
    let replaced = times(&stack);
    assert!(replaced.0 > changed.1 && replaced.0 == replaced.1);
}

// What providers are given to check.

#[test]
fn a_check_gets_the_checked_inputs_of_before() {
    let provider = TestProvider {
        check: Some(Arc::new(|arguments| {
            let mut properties = arguments.new_inputs;
            let default = arguments.old_inputs.get("name").cloned().unwrap_or_else(|| "made-up".into());
            properties.insert("name".to_owned(), default);
            Ok(drystone_engine::Checked { properties, failures: Vec::new() })
        })),
        ..TestProvider::default()
    };
    let mut stack = Stack::with_provider("pkgA", provider);
    stack.up(one(vec![("a", 1.into())], |_| ())).ok();
    stack.calls("pkgA");
    stack.up(one(vec![("a", 2.into())], |_| ())).ok();
    let check = stack.calls("pkgA").into_iter().find(|call| call.method == "check").unwrap();
    assert_eq!(check.old_inputs["name"], "made-up".into());
    assert_eq!(check.inputs.get("name"), None);
}

#[test]
fn a_replacement_is_checked_anew() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["a"]));
    stack.up(one(vec![("a", 1.into())], |_| ())).ok();
    stack.calls("pkgA");
    stack.up(one(vec![("a", 2.into())], |_| ())).ok();
    let calls = stack.calls("pkgA");
    let checks: Vec<bool> =
        calls.iter().filter(|call| call.method == "check").map(|call| call.old_inputs.is_empty()).collect();
    assert_eq!(checks, [false, true]);
}

#[test]
fn the_legacy_comparison_asks_only_about_changed_inputs() {
    let mut stack = stack(vec![("a", 1.into())]);
    stack.options.legacy_diff = true;
    stack.up(one(vec![("a", 1.into())], |_| ())).ok();
    assert!(!stack.calls("pkgA").iter().any(|call| call.method == "diff"));
    stack.up(one(vec![("a", 2.into())], |_| ())).ok();
    assert_eq!(stack.effects("pkgA"), ["update a"]);
}

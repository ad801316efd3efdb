//! Operations whose end nobody saw.

use crate::harness::{Act, Outcome, Stack, TestProvider, program};
use drystone_engine::{
    AppliedState, Ending, Op, Operation as Doing, Program, ProviderError, ReadState, Severity,
};
use drystone_model::{Operation, OperationKind, Value};
use std::sync::Arc;

fn one(kind: &'static str) -> Arc<dyn Program> {
    program(move |p| async move {
        p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
        Ok(())
    })
}

fn failing<A, R>(message: &'static str) -> Act<A, R> {
    Some(Arc::new(move |_| Err(ProviderError::new(message))))
}

fn provider(stack: &mut Stack) -> &mut TestProvider {
    stack.providers.get_mut("pkgA").unwrap()
}

/// A provider whose ids are the names that resources are given, so that it can be asked for them.
fn by_name() -> TestProvider {
    TestProvider {
        create: Some(Arc::new(|arguments| {
            let id = match arguments.inputs.get("name").map(Value::revealed) {
                Some(Value::String(name)) => name,
                _ => arguments.urn.name().to_owned(),
            };
            Ok(AppliedState { id, outputs: arguments.inputs, ..AppliedState::default() })
        })),
        ..TestProvider::default()
    }
}

/// A stack whose run died after `a` was made and before that was written down.
fn died(program: Arc<dyn Program>) -> Stack {
    let mut stack = Stack::with_provider("pkgA", by_name());
    stack.journal_fails_at = Some(5);
    let outcome = stack.up(program);
    assert!(matches!(outcome.report.ending, Ending::Unrecorded(_)));
    stack.journal_fails_at = None;
    assert_eq!(pending(&stack), ["creating a"]);
    stack.calls("pkgA");
    stack
}

fn pending(stack: &Stack) -> Vec<String> {
    let operations = stack.snapshot.pending_operations.iter();
    operations.map(|found| format!("{} {}", found.kind.as_str(), found.resource.urn.name())).collect()
}

/// Marks an operation on a resource of the stack as pending.
fn interrupt(stack: &mut Stack, kind: OperationKind, name: &str) {
    let resource = stack.resource(name).clone();
    stack.snapshot.pending_operations.push(Operation { resource, kind, ..Operation::default() });
}

fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(ToOwned::to_owned).to_vec()
}

fn info(outcome: &Outcome) -> String {
    outcome.diagnostics(Severity::Info).join("\n")
}

#[test]
fn a_creation_that_was_not_written_down_is_read_back_and_taken_over() {
    let mut stack = died(one("x"));
    let outcome = stack.up(one("x")).ok();
    assert_eq!(stack.effects("pkgA"), ["read a"]);
    assert!(info(&outcome).contains("read back from the provider: it exists (id a), imported"));
    assert_eq!((stack.names(), pending(&stack).len()), (vec!["shop-dev".to_owned(), "a".to_owned()], 0));
    let a = stack.resource("a");
    assert_eq!((a.id.as_str(), a.inputs.text(), a.created.is_some()), ("a", r#"{"kind":"x"}"#, true));
}

#[test]
fn what_was_found_is_the_first_thing_that_is_written_down() {
    let mut stack = died(one("x"));
    let outcome = stack.up(one("x")).ok();
    assert!(outcome.journal[0].contains(r#""kind":5"#), "{}", outcome.journal[0]);
    assert_eq!(outcome.journal.iter().filter(|entry| entry.contains(r#""kind":5"#)).count(), 1);
}

#[test]
fn it_is_looked_for_by_the_name_that_it_was_to_have() {
    let run = || {
        program(|p| async move {
            p.resource("pkgA:m:T", "a").input("name", "bucket-7").register().await?;
            Ok(())
        })
    };
    let mut stack = died(run());
    stack.up(run()).ok();
    let read: Vec<_> = stack.calls("pkgA").into_iter().filter(|call| call.method == "read").collect();
    assert_eq!(
        (read.len(), read[0].id.as_str(), stack.resource("a").id.as_str()),
        (1, "bucket-7", "bucket-7")
    );
}

#[test]
fn a_program_that_wants_something_else_by_now_updates_it() {
    let mut stack = died(one("x"));
    stack.up(one("y")).ok();
    assert_eq!(stack.effects("pkgA"), ["read a", "update a"]);
}

#[test]
fn a_destroy_deletes_what_was_found() {
    let mut stack = died(one("x"));
    stack.destroy().ok();
    assert_eq!(stack.effects("pkgA"), ["read a", "delete a"]);
    assert!(stack.snapshot.resources.is_empty() && stack.providers["pkgA"].ids().is_empty());
}

#[test]
fn a_refresh_takes_it_over_too() {
    let mut stack = died(one("x"));
    stack.refresh().ok();
    assert_eq!((stack.names().len(), pending(&stack).len()), (2, 0));
}

#[test]
fn a_preview_says_so_and_writes_nothing() {
    let mut stack = died(one("x"));
    let outcome = stack.preview(one("x")).ok();
    assert!(info(&outcome).contains("it exists (id a), imported"));
    assert_eq!(outcome.steps(), [] as [&str; 0]);
    assert_eq!(pending(&stack), ["creating a"]);
}

/// A stack whose run died before anything was made.
fn died_before(program: Arc<dyn Program>) -> Stack {
    let stack = died(program);
    stack.providers["pkgA"].cloud.lock().unwrap().clear();
    stack
}

/// A provider whose ids have nothing to do with names.
fn by_number(stack: &mut Stack) {
    let counter = Arc::clone(&stack.providers["pkgA"].counter);
    provider(stack).create = Some(Arc::new(move |arguments| {
        *counter.lock().unwrap() += 1;
        let id = format!("i-{}", counter.lock().unwrap());
        Ok(AppliedState { id, outputs: arguments.inputs, ..AppliedState::default() })
    }));
}

#[test]
fn a_creation_that_never_happened_is_settled_by_the_run_that_makes_the_thing() {
    let mut stack = died_before(one("x"));
    let outcome = stack.up(one("x")).ok();
    let warnings = outcome.diagnostics(Severity::Warning).join("\n");
    assert!(warnings.contains(
        "Attempting to deploy or update resources with 1 pending operations from previous deployment.\n  * urn:pulumi:dev::shop::pkgA:m:T::a, interrupted while creating"
    ));
    assert!(info(&outcome).contains("interrupted while creating: the stack has it by now (id a)"));
    assert_eq!(stack.effects("pkgA"), ["read a", "create a"]);
    assert_eq!((stack.names().len(), pending(&stack).len()), (2, 0));
}

#[test]
fn of_several_tries_with_other_inputs_the_one_that_made_the_thing_settles_all() {
    let mut stack = died(one("x"));
    let mut earlier = stack.snapshot.pending_operations[0].clone();
    let inputs = earlier.resource.inputs.text().replace("\"x\"", "\"y\"");
    assert_ne!(inputs, earlier.resource.inputs.text());
    earlier.resource.inputs = drystone_model::Properties::new(serde_json::from_str(&inputs).unwrap());
    stack.snapshot.pending_operations.insert(0, earlier);
    assert_eq!(pending(&stack), ["creating a", "creating a"]);
    // Not only a run that ends well settles them.
    provider(&mut stack).update = failing("no");
    let outcome = stack.up(one("z")).failed("no");
    assert!(info(&outcome).contains("it exists (id a), imported"), "{}", info(&outcome));
    assert_eq!((stack.resource("a").id.as_str(), pending(&stack)), ("a", vec![]), "{}", info(&outcome));
}

#[test]
fn s5_a_provider_that_can_be_asked_about_a_creation_outlives_a_destroy() {
    let mut stack = died_before(one("x"));
    stack.destroy().ok();
    // Nothing tells how ids are made, so it may exist under another; who could be asked stays.
    assert_eq!(pending(&stack), ["creating a"]);
    assert!(stack.snapshot.resources.iter().all(|state| state.type_token.starts_with("pulumi:providers:")));
    assert_eq!(stack.snapshot.resources.len(), 1);
    let outcome = stack.up(one("x")).ok();
    assert!(info(&outcome).contains("interrupted while creating: the stack has it by now (id a)"));
    assert_eq!((stack.names().len(), pending(&stack).len()), (2, 0));
    stack.destroy().ok();
    assert_eq!(stack.snapshot.resources, []);
}

#[test]
fn a_provider_that_was_kept_to_be_asked_goes_when_the_answer_is_there() {
    let mut stack = died_before(one("x"));
    // A resource of the same kind that shows that ids are names.
    stack.up(one("x")).ok();
    let mut lost = stack.resource("a").clone();
    lost.urn = drystone_model::Urn::new(lost.urn.as_str().replace("::a", "::b"));
    lost.id = String::new();
    stack.snapshot.pending_operations.push(Operation {
        resource: lost,
        kind: OperationKind::Creating,
        ..Operation::default()
    });
    let outcome = stack.destroy().ok();
    assert_eq!((stack.snapshot.resources.len(), pending(&stack).len()), (0, 0), "{}", info(&outcome));
}

#[test]
fn settling_it_last_keeps_everything_that_the_run_did() {
    let run = |kind: &'static str| {
        program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
            p.resource("pkgA:m:T", "b").input_from("kind", &a, "kind").register().await?;
            let late = p.resource("pkgA:m:T", "late").input("kind", kind).register().await?;
            p.stack_outputs([("kind".to_owned(), late.properties["kind"].clone())].into()).await
        })
    };
    let mut stack = whole();
    interrupt(&mut stack, OperationKind::Creating, "a");
    let operation = &mut stack.snapshot.pending_operations[0].resource;
    operation.urn = drystone_model::Urn::new("urn:pulumi:dev::shop::pkgA:m:T::late");
    (operation.id, operation.created) = (String::new(), None);
    stack.up(run("y")).ok();
    assert_eq!((stack.names(), pending(&stack).len()), (names(["shop-dev", "a", "b", "late"]), 0));
    let quiet = stack.up(run("y")).ok();
    assert_eq!((quiet.steps().len(), quiet.entries), (0, 0));
}

#[test]
fn a_program_that_wants_something_else_by_now_settles_it_too() {
    let mut stack = died_before(one("x"));
    stack.up(one("y")).ok();
    assert_eq!(pending(&stack).len(), 0);
}

#[test]
fn a_run_that_failed_leaves_it_to_the_next() {
    let failing = || {
        program(|p| async move {
            p.resource("pkgA:m:T", "a").input("kind", "y").register().await?;
            p.resource("pkgA:m:T", "b").input("kind", "refused").register().await?;
            Ok(())
        })
    };
    let mut stack = died_before(one("x"));
    let create = by_name().create.unwrap();
    provider(&mut stack).create = Some(Arc::new(move |arguments| match arguments.urn.name() {
        "b" => Err(ProviderError::new("no more")),
        _ => create(arguments),
    }));
    stack.up(failing()).failed("no more");
    assert_eq!((stack.names().len(), pending(&stack).len()), (2, 1));
    stack.calls("pkgA");
    let outcome = stack.up(one("y")).ok();
    assert!(info(&outcome).contains("interrupted while creating: the stack has it by now (id a)"));
    assert_eq!((stack.effects("pkgA").len(), pending(&stack).len()), (0, 0), "nothing has to be asked");
}

#[test]
fn a_creation_that_cannot_be_found_stays_pending_where_ids_cannot_be_guessed() {
    let mut stack = died_before(one("x"));
    by_number(&mut stack);
    for _ in 0..2 {
        let outcome = stack.up(one("x")).ok();
        let warnings = outcome.diagnostics(Severity::Warning).join("\n");
        assert!(warnings.contains("a, interrupted while creating\n    (resource 'a' does not exist)"));
        assert_eq!((stack.names().len(), pending(&stack)), (2, vec!["creating a".to_owned()]));
    }
}

#[test]
fn a_destroy_settles_it_where_ids_are_names() {
    let mut stack = whole();
    interrupt(&mut stack, OperationKind::Creating, "a");
    let operation = &mut stack.snapshot.pending_operations[0].resource;
    operation.urn = drystone_model::Urn::new("urn:pulumi:dev::shop::pkgA:m:T::late");
    (operation.id, operation.created) = (String::new(), None);
    let outcome = stack.destroy().ok();
    assert!(info(&outcome).contains("interrupted while creating: there is no 'late', nothing was made"));
    assert_eq!(stack.effects("pkgA"), ["read late", "delete b", "delete a", "read late"]);
    assert!(stack.snapshot.resources.is_empty() && stack.snapshot.pending_operations.is_empty());
}

#[test]
fn a_destroy_keeps_it_where_nobody_knows_how_ids_are_made() {
    let mut stack = died_before(one("x"));
    stack.destroy().ok();
    assert_eq!(pending(&stack), ["creating a"]);
}

#[test]
fn what_turns_up_at_the_last_moment_stays_pending() {
    let mut stack = whole();
    interrupt(&mut stack, OperationKind::Creating, "a");
    let operation = &mut stack.snapshot.pending_operations[0].resource;
    operation.urn = drystone_model::Urn::new("urn:pulumi:dev::shop::pkgA:m:T::late");
    (operation.id, operation.created) = (String::new(), None);
    let cloud = Arc::clone(&stack.providers["pkgA"].cloud);
    provider(&mut stack).delete = Some(Arc::new(move |arguments| {
        cloud.lock().unwrap().remove(&arguments.id);
        cloud.lock().unwrap().insert("late".to_owned(), [("kind".to_owned(), "x".into())].into());
        Ok(())
    }));
    stack.destroy().ok();
    assert_eq!(pending(&stack), ["creating late"]);
}

#[test]
fn what_the_stack_has_under_another_name_is_not_taken_over_again() {
    let named = |name: &'static str| {
        program(move |p| async move {
            p.resource("pkgA:m:T", name).input("name", "bucket-7").register().await?;
            Ok(())
        })
    };
    let mut stack = died_before(named("a"));
    stack.up(named("b")).ok();
    assert_eq!((stack.names(), pending(&stack).len()), (names(["shop-dev", "b"]), 0));
    interrupt(&mut stack, OperationKind::Creating, "b");
    let operation = &mut stack.snapshot.pending_operations[0].resource;
    operation.urn = drystone_model::Urn::new("urn:pulumi:dev::shop::pkgA:m:T::a");
    operation.id = String::new();
    stack.refresh().ok();
    assert_eq!((stack.names(), pending(&stack).len()), (names(["shop-dev", "b"]), 0));
}

#[test]
fn a_replacement_of_the_same_id_takes_the_place_of_what_was_deleted_for_it() {
    let mut stack = whole();
    interrupt(&mut stack, OperationKind::Creating, "b");
    stack.snapshot.pending_operations[0].resource.id = String::new();
    for resource in stack.snapshot.resources.iter_mut().filter(|resource| resource.urn.name() == "b") {
        resource.pending_replacement = true;
    }
    stack.up(pair()).ok();
    assert_eq!(stack.effects("pkgA"), ["read b"]);
    assert_eq!((stack.resource("b").pending_replacement, stack.names().len()), (false, 3));
}

#[test]
fn a_replacement_of_the_same_id_at_another_provider_may_be_another_thing() {
    let run = || {
        program(|p| async move {
            let old = p.resource("pulumi:providers:pkgA", "old").register().await?;
            p.resource("pulumi:providers:pkgA", "new").register().await?;
            p.resource("pkgA:m:T", "a").input("kind", "x").provider(&old).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::with_provider("pkgA", by_name());
    stack.up(run()).ok();
    interrupt(&mut stack, OperationKind::Creating, "a");
    let new = stack.resource("new");
    let reference = format!("{}::{}", new.urn, new.id);
    let operation = &mut stack.snapshot.pending_operations[0].resource;
    (operation.id, operation.provider) = (String::new(), reference.clone());
    let outcome = stack.refresh().ok();
    assert!(info(&outcome).contains("'a' exists, and the stack has a 'a' at another provider"));
    assert_eq!((stack.names(), pending(&stack).len()), (names(["shop-dev", "old", "new", "a"]), 1));
    stack.options.import_pending_creates = [(stack.urn("a").to_string(), "a".to_owned())].into();
    stack.refresh().ok();
    assert_eq!((stack.names(), pending(&stack).len()), (names(["shop-dev", "old", "new", "a!", "a"]), 0));
    assert_eq!(stack.resource("a").provider, reference);
}

#[test]
fn an_id_that_is_told_is_that_of_one_operation() {
    let mut stack = died(one("x"));
    let mut other = stack.snapshot.pending_operations[0].clone();
    other.resource.import_id = "second".to_owned();
    stack.snapshot.pending_operations.push(other);
    let cloud = Arc::clone(&stack.providers["pkgA"].cloud);
    cloud.lock().unwrap().insert("second".to_owned(), [("kind".to_owned(), "x".into())].into());
    stack.options.import_pending_creates =
        [(stack.snapshot.pending_operations[0].resource.urn.to_string(), "second".to_owned())].into();
    stack.refresh().ok();
    // Whichever is taken over, the other one is not forgotten.
    assert_eq!((stack.names().len(), pending(&stack).len()), (2, 1));
}

#[test]
fn a_replacement_under_a_new_name_takes_the_place_of_the_old_one() {
    let mut stack = whole();
    interrupt(&mut stack, OperationKind::Creating, "a");
    let operation = &mut stack.snapshot.pending_operations[0].resource;
    let former = operation.urn.clone();
    operation.urn = drystone_model::Urn::new("urn:pulumi:dev::shop::pkgA:m:T::renamed");
    (operation.id, operation.aliases) = (String::new(), vec![former.clone()]);
    let cloud = Arc::clone(&stack.providers["pkgA"].cloud);
    cloud.lock().unwrap().insert("renamed".to_owned(), [("kind".to_owned(), "x".into())].into());
    let outcome = stack
        .up(program(move |p| {
            let former = former.clone();
            async move {
                let a = p
                    .resource("pkgA:m:T", "renamed")
                    .input("kind", "x")
                    .alias(former.as_str())
                    .register()
                    .await?;
                p.resource("pkgA:m:T", "b").input_from("kind", &a, "kind").register().await?;
                Ok(())
            }
        }))
        .ok();
    assert_eq!(outcome.steps(), ["delete-replaced renamed"]);
    assert_eq!((stack.names(), pending(&stack).len()), (names(["shop-dev", "renamed", "b"]), 0));
    assert_eq!(stack.providers["pkgA"].ids(), ["b", "renamed"]);
}

#[test]
fn something_else_of_that_name_is_not_taken_over() {
    let mut stack = died(one("x"));
    let other = [("kind".to_owned(), Value::from("somebody else's"))].into();
    stack.providers["pkgA"].cloud.lock().unwrap().insert("a".to_owned(), other);
    let outcome = stack.preview(one("x"));
    assert!(info(&outcome).contains("exists, but is not what was being made"));
}

#[test]
fn a_provider_that_cannot_read_leaves_it_pending() {
    let mut stack = died(one("x"));
    provider(&mut stack).read = failing("reading is not for me");
    let outcome = stack.refresh().ok();
    assert!(info(&outcome).contains("reading is not for me"));
    assert_eq!((outcome.entries, pending(&stack).len()), (0, 1));
}

#[test]
fn a_user_can_clear_pending_operations_unseen() {
    let mut stack = died(one("x"));
    stack.options.clear_pending_creates = true;
    stack.refresh().ok();
    assert_eq!((stack.effects("pkgA").len(), pending(&stack).len()), (0, 0));
}

#[test]
fn a_user_can_tell_the_id() {
    let mut stack = died(one("x"));
    stack.providers["pkgA"].cloud.lock().unwrap().insert("i-7".to_owned(), Default::default());
    stack.options.import_pending_creates =
        [(stack.snapshot.pending_operations[0].resource.urn.to_string(), "i-7".to_owned())].into();
    stack.refresh().ok();
    assert_eq!((stack.resource("a").id.as_str(), pending(&stack).len()), ("i-7", 0));
}

#[test]
fn an_id_that_does_not_exist_is_refused_before_anything_begins() {
    let mut stack = died(one("x"));
    stack.options.import_pending_creates =
        [(stack.snapshot.pending_operations[0].resource.urn.to_string(), "i-8".to_owned())].into();
    let outcome = stack.up(one("x")).failed("resource 'i-8' does not exist");
    assert_eq!((outcome.entries, pending(&stack).len(), stack.effects("pkgA").len()), (0, 1, 1));
}

#[test]
fn an_id_for_nothing_that_is_pending_is_told() {
    let mut stack = Stack::new();
    stack.options.import_pending_creates = [("urn:x".to_owned(), "i-8".to_owned())].into();
    let outcome = stack.up(one("x")).ok();
    assert!(info(&outcome).contains("did not correspond to a pending create:\n- \"urn:x\""));
}

#[test]
fn a_crash_right_after_it_was_written_down_loses_nothing() {
    let mut stack = died(one("x"));
    stack.journal_fails_at = Some(1);
    stack.up(one("y"));
    assert_eq!(stack.effects("pkgA"), ["read a"], "nothing begins once the journal is lost");
    assert_eq!((stack.names().len(), pending(&stack).len()), (2, 0));
    stack.journal_fails_at = None;
    stack.up(one("y")).ok();
    assert_eq!(stack.effects("pkgA"), ["update a"]);
}

#[test]
fn a_crash_before_it_was_written_down_changes_nothing() {
    let mut stack = died(one("x"));
    let before = stack.snapshot.clone();
    stack.journal_fails_at = Some(0);
    let outcome = stack.up(one("y"));
    assert!(matches!(outcome.report.ending, Ending::Unrecorded(_)));
    assert_eq!((stack.snapshot, stack.providers["pkgA"].ids()), (before, vec!["a".to_owned()]));
}

/// A stack with `a`, and `b` that depends on it, in full.
fn whole() -> Stack {
    let mut stack = Stack::with_provider("pkgA", by_name());
    stack.up(pair()).ok();
    stack.calls("pkgA");
    stack
}

fn pair() -> Arc<dyn Program> {
    program(|p| async move {
        let a = p.resource("pkgA:m:T", "a").input("kind", "x").register().await?;
        p.resource("pkgA:m:T", "b").input_from("kind", &a, "kind").register().await?;
        Ok(())
    })
}

#[test]
fn an_update_that_was_interrupted_is_read_back() {
    let mut stack = whole();
    interrupt(&mut stack, OperationKind::Updating, "a");
    let changed = [("kind".to_owned(), Value::from("half changed"))].into();
    stack.providers["pkgA"].cloud.lock().unwrap().insert("a".to_owned(), changed);
    let outcome = stack.up(pair()).ok();
    assert_eq!(outcome.steps(), ["update a"]);
    assert_eq!(stack.effects("pkgA"), ["read a", "update a"]);
    assert_eq!((stack.resource("a").inputs.text(), pending(&stack).len()), (r#"{"kind":"x"}"#, 0));
}

#[test]
fn a_deletion_that_took_effect_is_taken_note_of() {
    let mut stack = whole();
    interrupt(&mut stack, OperationKind::Deleting, "b");
    stack.providers["pkgA"].cloud.lock().unwrap().remove("b");
    stack.refresh().ok();
    assert_eq!((stack.names(), pending(&stack).len()), (vec!["shop-dev".to_owned(), "a".to_owned()], 0));
}

#[test]
fn references_to_what_was_deleted_are_dropped() {
    let mut stack = whole();
    interrupt(&mut stack, OperationKind::Deleting, "a");
    stack.providers["pkgA"].cloud.lock().unwrap().remove("a");
    stack.refresh().ok();
    let b = stack.resource("b");
    assert_eq!((b.dependencies.len(), b.property_dependencies.len(), stack.names().len()), (0, 0, 2));
}

#[test]
fn a_deletion_that_did_not_is_done_by_the_next_run() {
    let mut stack = whole();
    interrupt(&mut stack, OperationKind::Deleting, "b");
    stack.destroy().ok();
    assert_eq!(stack.effects("pkgA"), ["read b", "delete b", "delete a"]);
}

#[test]
fn readings_and_imports_that_left_nothing_are_forgotten() {
    let mut stack = whole();
    for kind in [OperationKind::Reading, OperationKind::Importing] {
        interrupt(&mut stack, kind, "a");
        stack.snapshot.pending_operations.last_mut().unwrap().resource.urn =
            drystone_model::Urn::new("urn:pulumi:dev::shop::pkgA:m:T::seen");
    }
    stack.snapshot.pending_operations[1].resource.id = String::new();
    stack.refresh().ok();
    assert_eq!((pending(&stack).len(), stack.names().len()), (0, 3));
}

#[test]
fn a_replacement_that_was_made_takes_over_and_the_old_one_goes() {
    let mut stack = whole();
    interrupt(&mut stack, OperationKind::Creating, "a");
    let operation = &mut stack.snapshot.pending_operations[0].resource;
    operation.id = "second".to_owned();
    stack.providers["pkgA"]
        .cloud
        .lock()
        .unwrap()
        .insert("second".to_owned(), [("kind".to_owned(), "x".into())].into());
    stack.up(pair()).ok();
    assert_eq!(stack.effects("pkgA"), ["read a", "delete a"]);
    assert_eq!((stack.resource("a").id.as_str(), stack.names().len()), ("second", 3));
}

#[test]
fn what_turns_up_beside_one_that_was_made_since_takes_nothing_over() {
    let mut stack = died(one("x"));
    let late = stack.providers["pkgA"].cloud.lock().unwrap().remove("a").unwrap();
    provider(&mut stack).create = Some(Arc::new(|arguments| {
        Ok(AppliedState { id: "second".to_owned(), outputs: arguments.inputs, ..AppliedState::default() })
    }));
    stack.up(one("x")).ok();
    // Only now can the first one be seen.
    stack.providers["pkgA"].cloud.lock().unwrap().insert("a".to_owned(), late);
    let outcome = stack.up(one("x")).ok();
    assert!(info(&outcome).contains("it exists (id a) beside the one that the stack has (id second)"));
    assert_eq!((stack.resource("a").id.as_str(), pending(&stack).len()), ("second", 1));
    assert_eq!(stack.providers["pkgA"].ids(), ["a", "second"]);
}

#[test]
fn a_replacement_that_was_made_after_the_deletion_takes_its_place() {
    let mut stack = whole();
    interrupt(&mut stack, OperationKind::Creating, "a");
    stack.snapshot.pending_operations[0].resource.id = "second".to_owned();
    for resource in stack.snapshot.resources.iter_mut().filter(|resource| resource.urn.name() == "a") {
        resource.pending_replacement = true;
    }
    let cloud = Arc::clone(&stack.providers["pkgA"].cloud);
    cloud.lock().unwrap().remove("a");
    cloud.lock().unwrap().insert("second".to_owned(), [("kind".to_owned(), "x".into())].into());
    stack.up(pair()).ok();
    assert_eq!(stack.effects("pkgA"), ["read a"]);
    assert_eq!((stack.resource("a").id.as_str(), stack.names().len()), ("second", 3));
}

#[test]
fn what_a_creation_refers_to_must_be_there() {
    let mut stack = died(one("x"));
    stack.snapshot.pending_operations[0].resource.parent =
        drystone_model::Urn::new("urn:pulumi:dev::shop::my:index:Top::gone");
    let outcome = stack.refresh().ok();
    assert!(info(&outcome).contains("the stack lacks what it refers to"));
    assert_eq!(pending(&stack), ["creating a"]);
}

#[test]
fn secrets_of_what_was_found_stay_sealed() {
    let run = || {
        program(|p| async move {
            p.resource("pkgA:m:T", "a").input("key", Value::secret("hunter2".into())).register().await?;
            Ok(())
        })
    };
    let mut stack = died(run());
    // A provider that knows nothing of secrets.
    stack.providers["pkgA"]
        .cloud
        .lock()
        .unwrap()
        .insert("a".to_owned(), [("key".to_owned(), "hunter2".into())].into());
    let outcome = stack.up(run()).ok();
    assert!(!outcome.journal.concat().contains("hunter2"));
    assert!(stack.resource("a").outputs.text().contains("ciphertext"));
    assert_eq!(outcome.steps(), [] as [&str; 0]);
}

#[test]
fn several_pending_operations_are_settled_at_once() {
    let run = || {
        program(|p| async move {
            let make = |name| p.resource("pkgA:m:T", name).input("kind", "x").register();
            let (a, b) = futures::join!(make("a"), make("b"));
            a.and(b).map(|_| ())
        })
    };
    let mut stack = Stack::with_provider("pkgA", by_name());
    stack.journal_fails_at = Some(6);
    stack.up(run());
    stack.journal_fails_at = None;
    assert_eq!(pending(&stack), ["creating a", "creating b"]);
    stack.calls("pkgA");
    let outcome = stack.up(run()).ok();
    assert_eq!(
        (stack.effects("pkgA"), pending(&stack).len()),
        (vec!["read a".to_owned(), "read b".to_owned()], 0)
    );
    assert_eq!(outcome.steps(), [] as [&str; 0]);
}

#[test]
fn a_read_that_says_the_thing_is_gone_by_an_empty_id_counts() {
    let mut stack = whole();
    interrupt(&mut stack, OperationKind::Deleting, "b");
    provider(&mut stack).read =
        Some(Arc::new(|_| Ok(ReadState { outputs: Some(Default::default()), ..ReadState::default() })));
    stack.operate(Doing::Update, false, Some(one("x"))).ok();
    assert_eq!(stack.names(), ["shop-dev", "a"]);
}

#[test]
fn a_stack_without_pending_operations_is_not_rewritten() {
    let mut stack = whole();
    let outcome = stack.up(pair()).ok();
    assert_eq!((outcome.entries, outcome.count(Op::Same)), (0, 3));
}

// The journal is lost at every entry in turn.

/// Three resources in a row; another `kind` replaces the first two, the old ones going first.
fn row(kind: &'static str) -> Arc<dyn Program> {
    program(move |p| async move {
        let a = p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
        let b = p.resource("pkgA:m:T", "b").input_from("kind", &a, "kind").register().await?;
        p.resource("pkgA:m:T", "c").input_from("other", &b, "kind").register().await?;
        Ok(())
    })
}

/// Loses the journal of a run at every entry; afterwards clean runs must end where an undisturbed one does.
fn lose_everywhere(before: Option<&'static str>, disturbed: impl Fn(&mut Stack) -> Outcome, ids: &[&str]) {
    let diff = TestProvider::deleting_before_replacing_on(["kind"]).diff;
    let mut losses = 0;
    for at in 0.. {
        let mut stack = Stack::with_provider("pkgA", TestProvider { diff: diff.clone(), ..by_name() });
        if let Some(kind) = before {
            stack.up(row(kind)).ok();
        }
        stack.journal_fails_at = Some(at);
        let outcome = disturbed(&mut stack);
        stack.journal_fails_at = None;
        if outcome.report.ending == Ending::Succeeded {
            break;
        }
        losses += 1;
        assert!(matches!(outcome.report.ending, Ending::Unrecorded(_)), "at {at}");
        disturbed(&mut stack).ok();
        let settled = disturbed(&mut stack).ok();
        assert_eq!(settled.steps(), [] as [&str; 0], "at {at}");
        assert_eq!(
            (stack.providers["pkgA"].ids(), pending(&stack).len()),
            (ids.iter().map(|id| (*id).to_owned()).collect(), 0),
            "at {at}"
        );
        let known = stack.snapshot.resources.iter().filter(|found| found.type_token == "pkgA:m:T").count();
        assert_eq!(known, ids.len(), "at {at}");
    }
    assert!(losses > 5, "only {losses} entries");
}

#[test]
fn a_creation_that_loses_its_journal_anywhere_is_finished_by_the_next_run() {
    lose_everywhere(None, |stack| stack.up(row("x")), &["a", "b", "c"]);
}

#[test]
fn a_replacement_that_loses_its_journal_anywhere_is_finished_by_the_next_run() {
    lose_everywhere(Some("x"), |stack| stack.up(row("y")), &["a", "b", "c"]);
}

#[test]
fn a_destroy_that_loses_its_journal_anywhere_is_finished_by_the_next_run() {
    lose_everywhere(Some("x"), Stack::destroy, &[]);
}

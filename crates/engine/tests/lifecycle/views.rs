//! Resources that a provider shows as parts of one of its own.

use crate::harness::{
    Outcome, Stack, TestProvider, ViewDesk, diff_by_keys, program, refresh_first, view, view_step,
};
use drystone_engine::{
    Alias, AppliedState, Op, Operation, Program, PropertyMap, ProviderError, ReadState, Severity, State,
    ViewState, ViewStep,
};
use drystone_model::Value;
use std::sync::Arc;

/// What was published of a view that an operation got.
fn published(state: &State) -> ViewState {
    ViewState {
        type_token: state.record.type_token.clone(),
        name: state.record.urn.name().to_owned(),
        inputs: state.inputs.clone(),
        outputs: state.outputs.clone(),
        ..ViewState::default()
    }
}

fn size(inputs: &PropertyMap) -> Value {
    inputs.get("size").cloned().unwrap_or_default()
}

/// A provider whose resources have one view, `<name>-child`, that follows them.
fn viewing() -> (TestProvider, ViewDesk) {
    let desk = ViewDesk::default();
    let (create, update, delete) = (desk.clone(), desk.clone(), desk.clone());
    let provider = TestProvider {
        views: desk.clone(),
        diff: Some(Arc::new(|arguments| Ok(diff_by_keys(&arguments, &["kind"], false)))),
        create: Some(Arc::new(move |arguments| {
            let child = view(&format!("{}-child", arguments.urn.name()), size(&arguments.inputs));
            create.publish(&arguments.status_token, vec![view_step(Op::Create, None, Some(child))]);
            Ok(AppliedState { id: "id".into(), outputs: arguments.inputs, ..AppliedState::default() })
        })),
        update: Some(Arc::new(move |arguments| {
            let old = published(&arguments.old_views[0]);
            let new = view(&old.name, size(&arguments.new_inputs));
            update.publish(&arguments.status_token, vec![view_step(Op::Update, Some(old), Some(new))]);
            Ok(AppliedState { outputs: arguments.new_inputs, ..AppliedState::default() })
        })),
        delete: Some(Arc::new(move |arguments| {
            let steps =
                arguments.old_views.iter().map(|old| view_step(Op::Delete, Some(published(old)), None));
            delete.publish(&arguments.status_token, steps.collect());
            Ok(())
        })),
        ..TestProvider::default()
    };
    (provider, desk)
}

fn viewing_stack() -> (Stack, ViewDesk) {
    let (provider, desk) = viewing();
    (Stack::with_provider("pkgA", provider), desk)
}

fn one(size: i64) -> Arc<dyn Program> {
    program(move |p| async move {
        p.resource("pkgA:m:T", "a").input("size", size).register().await?;
        Ok(())
    })
}

fn none() -> Arc<dyn Program> {
    program(|_| async move { Ok(()) })
}

fn replaced(kind: &'static str) -> Arc<dyn Program> {
    program(move |p| async move {
        p.resource("pkgA:m:T", "a").input("kind", kind).input("size", 1).register().await?;
        Ok(())
    })
}

/// Makes updates publish these steps of the first view instead.
fn publishing_on_update(
    stack: &mut Stack,
    desk: &ViewDesk,
    steps: impl Fn(ViewState, ViewState) -> Vec<ViewStep> + Send + Sync + 'static,
) {
    let desk = desk.clone();
    stack.providers.get_mut("pkgA").unwrap().update = Some(Arc::new(move |arguments| {
        let old = published(&arguments.old_views[0]);
        let new = view(&old.name, size(&arguments.new_inputs));
        desk.publish(&arguments.status_token, steps(old, new));
        Ok(AppliedState { outputs: arguments.new_inputs, ..AppliedState::default() })
    }));
}

/// Makes reads publish these steps of the first view, and find the resource as it was.
fn publishing_on_read(
    stack: &mut Stack,
    desk: &ViewDesk,
    steps: impl Fn(ViewState) -> Vec<ViewStep> + Send + Sync + 'static,
) {
    let desk = desk.clone();
    stack.providers.get_mut("pkgA").unwrap().read = Some(Arc::new(move |arguments| {
        let old = published(&arguments.old_views[0]);
        desk.publish(&arguments.status_token, steps(old));
        let (inputs, outputs) = (Some(arguments.inputs), Some(arguments.outputs));
        Ok(ReadState { id: arguments.id, inputs, outputs, ..ReadState::default() })
    }));
}

fn changes(outcome: &Outcome) -> Vec<(Op, usize)> {
    outcome.report.changes.iter().map(|(op, count)| (*op, *count)).collect()
}

#[test]
fn a_view_is_recorded_after_its_owner() {
    let (mut stack, _) = viewing_stack();
    let outcome = stack.up(one(1)).ok();
    assert_eq!(outcome.steps(), ["create a", "create a-child"]);
    assert_eq!(stack.names(), ["shop-dev", "a", "a-child"]);
    let child = stack.resource("a-child");
    let owner = stack.urn("a");
    assert_eq!((&child.view_of, &child.parent, child.custom), (&owner, &owner, false));
    assert_eq!(child.urn.qualified_type(), "pkgA:m:T$pkgA:m:View");
    assert_eq!((child.inputs.text(), child.outputs.text()), (r#"{"input":1}"#, r#"{"result":1}"#));
}

#[test]
fn the_views_of_what_stays_stay() {
    let (mut stack, _) = viewing_stack();
    stack.up(one(1)).ok();
    let before = stack.snapshot.clone();
    let outcome = stack.up(one(1)).ok();
    assert_eq!(changes(&outcome), [(Op::Same, 3)]);
    assert_eq!((stack.snapshot, outcome.entries), (before, 0));
}

#[test]
fn an_update_changes_a_view_and_is_told_how_it_was() {
    let (mut stack, _) = viewing_stack();
    stack.up(one(1)).ok();
    let outcome = stack.up(one(2)).ok();
    assert_eq!(outcome.steps(), ["update a", "update a-child"]);
    assert_eq!(stack.names(), ["shop-dev", "a", "a-child"]);
    assert_eq!(stack.resource("a-child").outputs.text(), r#"{"result":2}"#);
}

#[test]
fn an_update_can_delete_a_view() {
    let (mut stack, desk) = viewing_stack();
    stack.up(one(1)).ok();
    publishing_on_update(&mut stack, &desk, |old, _| vec![view_step(Op::Delete, Some(old), None)]);
    let outcome = stack.up(one(2)).ok();
    assert_eq!(outcome.steps(), ["update a", "delete a-child"]);
    assert_eq!(stack.names(), ["shop-dev", "a"]);
}

#[test]
fn an_update_can_add_a_view() {
    let (mut stack, desk) = viewing_stack();
    stack.up(one(1)).ok();
    publishing_on_update(&mut stack, &desk, |_, _| {
        vec![view_step(Op::Create, None, Some(view("second", 7)))]
    });
    stack.up(one(2)).ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "second", "a-child"]);
}

#[test]
fn views_are_deleted_before_their_owner() {
    let (mut stack, _) = viewing_stack();
    stack.up(one(1)).ok();
    let outcome = stack.up(none()).ok();
    assert_eq!(outcome.steps(), ["delete a-child", "delete a"]);
    assert_eq!(changes(&outcome), [(Op::Same, 1), (Op::Delete, 2)]);
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn views_that_the_provider_does_not_speak_of_go_with_their_owner() {
    let (mut stack, _) = viewing_stack();
    stack.up(one(1)).ok();
    stack.providers.get_mut("pkgA").unwrap().delete = None;
    stack.destroy().ok();
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_retained_resource_takes_its_views_out_of_the_state() {
    let (mut stack, _) = viewing_stack();
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("size", 1);
            a.options(|options| options.retain_on_delete = Some(true)).register().await?;
            Ok(())
        }))
        .ok();
    stack.calls("pkgA");
    stack.destroy().ok();
    assert!(stack.snapshot.resources.is_empty() && stack.effects("pkgA").is_empty());
}

#[test]
fn the_preview_of_a_deletion_shows_that_views_go() {
    let (mut stack, _) = viewing_stack();
    stack.up(one(1)).ok();
    let outcome = stack.operate(Operation::Destroy, true, None).ok();
    assert_eq!(outcome.steps(), ["delete a-child", "delete a"]);
    assert_eq!(outcome.count(Op::Delete), 3);
}

#[test]
fn the_preview_of_a_creation_shows_what_the_provider_says() {
    let (mut stack, _) = viewing_stack();
    let outcome = stack.preview(one(1)).ok();
    assert_eq!(outcome.steps(), ["create a", "create a-child"]);
}

#[test]
fn a_view_step_that_failed_fails_the_registration_but_keeps_what_its_owner_became() {
    let (mut stack, desk) = viewing_stack();
    stack.up(one(1)).ok();
    publishing_on_update(&mut stack, &desk, |old, new| {
        vec![ViewStep { error: "something went wrong".into(), ..view_step(Op::Update, Some(old), Some(new)) }]
    });
    let outcome = stack.up(one(2)).failed("something went wrong");
    assert_eq!(outcome.diagnostics(Severity::Error).len(), 1);
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":2}"#);
    assert_eq!(stack.resource("a-child").outputs.text(), r#"{"result":1}"#);
}

#[test]
fn a_view_that_is_there_although_its_step_failed_is_recorded() {
    let (mut stack, desk) = viewing_stack();
    stack.up(one(1)).ok();
    publishing_on_update(&mut stack, &desk, |old, new| {
        let step = view_step(Op::Update, Some(old), Some(new));
        vec![ViewStep { error: "half of it".into(), partial: true, ..step }]
    });
    stack.up(one(2)).failed("half of it");
    assert_eq!(stack.resource("a-child").outputs.text(), r#"{"result":2}"#);
}

#[test]
fn an_owner_stays_when_a_view_could_not_be_deleted() {
    let (mut stack, desk) = viewing_stack();
    stack.up(one(1)).ok();
    stack.providers.get_mut("pkgA").unwrap().delete = Some(Arc::new(move |arguments| {
        let step = view_step(Op::Delete, Some(published(&arguments.old_views[0])), None);
        desk.publish(&arguments.status_token, vec![ViewStep { error: "in use".into(), ..step }]);
        Ok(())
    }));
    stack.destroy().failed("in use");
    assert_eq!(stack.names(), ["shop-dev", "a", "a-child"]);
    assert!(stack.snapshot.pending_operations.is_empty());
}

#[test]
fn an_update_that_failed_still_records_what_became_of_views() {
    let (mut stack, desk) = viewing_stack();
    stack.up(one(1)).ok();
    stack.providers.get_mut("pkgA").unwrap().update = Some(Arc::new(move |arguments| {
        let old = published(&arguments.old_views[0]);
        let new = view(&old.name, 9);
        desk.publish(&arguments.status_token, vec![view_step(Op::Update, Some(old), Some(new))]);
        Err(ProviderError::new("the rest failed"))
    }));
    stack.up(one(2)).failed("the rest failed");
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":1}"#);
    assert_eq!(stack.resource("a-child").outputs.text(), r#"{"result":9}"#);
}

#[test]
fn the_views_of_something_that_could_not_be_made_are_nothing() {
    let (mut stack, desk) = viewing_stack();
    stack.providers.get_mut("pkgA").unwrap().create = Some(Arc::new(move |arguments| {
        desk.publish(&arguments.status_token, vec![view_step(Op::Create, None, Some(view("v", 1)))]);
        Err(ProviderError::new("no room"))
    }));
    stack.up(one(1)).failed("no room");
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn a_view_can_be_replaced_deleting_it_first() {
    let (mut stack, desk) = viewing_stack();
    stack.up(one(1)).ok();
    publishing_on_update(&mut stack, &desk, |old, new| {
        vec![
            view_step(Op::DeleteReplaced, Some(old.clone()), None),
            view_step(Op::Replace, Some(old), Some(new.clone())),
            view_step(Op::CreateReplacement, None, Some(new)),
        ]
    });
    let outcome = stack.up(one(2)).ok();
    assert_eq!(changes(&outcome), [(Op::Same, 1), (Op::Update, 1), (Op::Replace, 1)]);
    assert_eq!(stack.names(), ["shop-dev", "a", "a-child"]);
    assert_eq!(stack.resource("a-child").outputs.text(), r#"{"result":2}"#);
}

#[test]
fn a_view_can_be_replaced_making_the_new_one_first() {
    let (mut stack, desk) = viewing_stack();
    stack.up(one(1)).ok();
    publishing_on_update(&mut stack, &desk, |old, new| {
        vec![
            view_step(Op::CreateReplacement, Some(old.clone()), Some(new.clone())),
            view_step(Op::Replace, Some(old.clone()), Some(new)),
            view_step(Op::DeleteReplaced, Some(old), None),
        ]
    });
    let outcome = stack.up(one(2)).ok();
    assert_eq!(changes(&outcome), [(Op::Same, 1), (Op::Update, 1), (Op::Replace, 1)]);
    assert_eq!(stack.names(), ["shop-dev", "a", "a-child"]);
    assert_eq!(stack.resource("a-child").outputs.text(), r#"{"result":2}"#);
}

#[test]
fn a_replacement_has_views_of_its_own_while_the_old_ones_wait() {
    let (mut stack, _) = viewing_stack();
    stack.up(replaced("x")).ok();
    let outcome = stack.up(replaced("y")).ok();
    assert_eq!(
        outcome.steps(),
        ["create-replacement a", "create a-child", "replace a", "delete a-child", "delete-replaced a"]
    );
    assert_eq!(stack.names(), ["shop-dev", "a", "a-child"]);
}

#[test]
fn the_views_of_something_replaced_wait_with_it_when_its_deletion_fails() {
    let (mut stack, _) = viewing_stack();
    stack.up(replaced("x")).ok();
    let (good, _) = viewing();
    stack.providers.get_mut("pkgA").unwrap().delete = Some(Arc::new(|_| Err(ProviderError::new("stuck"))));
    stack.up(replaced("y")).failed("stuck");
    assert_eq!(stack.names(), ["shop-dev", "a", "a-child", "a!", "a-child!"]);
    stack.providers.insert("pkgA".into(), good);
    stack.up(replaced("y")).ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "a-child"]);
}

#[test]
fn a_refresh_leaves_views_that_are_the_same() {
    let (mut stack, desk) = viewing_stack();
    stack.up(one(1)).ok();
    let before = stack.snapshot.clone();
    publishing_on_read(&mut stack, &desk, |old| vec![view_step(Op::Same, Some(old.clone()), Some(old))]);
    let outcome = stack.refresh().ok();
    assert_eq!(outcome.steps(), ["refresh a", "refresh a-child"]);
    assert_eq!(outcome.count(Op::Same), 3);
    assert_eq!((stack.snapshot, outcome.entries), (before, 0));
}

#[test]
fn a_refresh_takes_changes_of_views_over() {
    let (mut stack, desk) = viewing_stack();
    stack.up(one(1)).ok();
    publishing_on_read(&mut stack, &desk, |old| {
        let new = view(&old.name, 5);
        vec![view_step(Op::Update, Some(old), Some(new))]
    });
    let outcome = stack.refresh().ok();
    assert_eq!(outcome.count(Op::Update), 1);
    assert_eq!(stack.names(), ["shop-dev", "a", "a-child"]);
    assert_eq!(stack.resource("a-child").outputs.text(), r#"{"result":5}"#);
}

#[test]
fn a_refresh_forgets_views_that_are_gone() {
    let (mut stack, desk) = viewing_stack();
    stack.up(one(1)).ok();
    publishing_on_read(&mut stack, &desk, |old| vec![view_step(Op::Delete, Some(old), None)]);
    let outcome = stack.refresh().ok();
    assert_eq!((outcome.count(Op::Delete), stack.names()), (1, vec!["shop-dev".into(), "a".to_owned()]));
}

#[test]
fn the_views_of_something_that_vanished_vanish() {
    let (mut stack, _) = viewing_stack();
    stack.up(one(1)).ok();
    stack.providers.get_mut("pkgA").unwrap().read = Some(Arc::new(|_| Ok(ReadState::default())));
    stack.refresh().ok();
    assert_eq!(stack.names(), ["shop-dev"]);
}

/// A view that vanished is deleted by the read and made again by the update.
fn drifting() -> Stack {
    let (mut stack, desk) = viewing_stack();
    stack.up(one(1)).ok();
    publishing_on_read(&mut stack, &desk, |old| vec![view_step(Op::Delete, Some(old), None)]);
    let provider = stack.providers.get_mut("pkgA").unwrap();
    provider.update = Some(Arc::new(move |arguments| {
        assert!(arguments.old_views.is_empty());
        let again = view_step(Op::Create, None, Some(view("a-child", 3)));
        desk.publish(&arguments.status_token, vec![again]);
        Ok(AppliedState { outputs: arguments.new_inputs, ..AppliedState::default() })
    }));
    stack
}

#[test]
fn an_update_after_a_refresh_makes_a_vanished_view_again() {
    let mut stack = drifting();
    stack.options = refresh_first();
    stack.up(one(2)).ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "a-child"]);
    assert_eq!(stack.resource("a-child").outputs.text(), r#"{"result":3}"#);
}

#[test]
fn an_update_that_refreshes_with_the_program_makes_a_vanished_view_again() {
    let mut stack = drifting();
    stack.options = drystone_engine::Options { run_program: true, ..refresh_first() };
    stack.up(one(2)).ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "a-child"]);
    assert_eq!(stack.resource("a-child").outputs.text(), r#"{"result":3}"#);
}

#[test]
fn views_can_be_published_only_while_the_operation_runs() {
    let (mut stack, desk) = viewing_stack();
    let token: Arc<std::sync::Mutex<String>> = Arc::default();
    let seen = Arc::clone(&token);
    stack.providers.get_mut("pkgA").unwrap().create = Some(Arc::new(move |arguments| {
        *seen.lock().unwrap() = arguments.status_token;
        Ok(AppliedState { id: "id".into(), ..AppliedState::default() })
    }));
    stack
        .up(program(move |p| {
            let token = Arc::clone(&token);
            async move {
                p.resource("pkgA:m:T", "a").register().await?;
                let token = token.lock().unwrap().clone();
                let late = p.monitor.publish_views(&token, Vec::new()).await;
                assert_eq!(late.unwrap_err().message, format!("token {token} not found"));
                Ok(())
            }
        }))
        .ok();
    drop(desk);
}

#[test]
fn an_imported_resource_brings_its_views() {
    let (mut stack, desk) = viewing_stack();
    stack.providers.get_mut("pkgA").unwrap().read = Some(Arc::new(move |arguments| {
        desk.publish(&arguments.status_token, vec![view_step(Op::Import, None, Some(view("v", 1)))]);
        let found = PropertyMap::from([("size".to_owned(), Value::from(1))]);
        let (inputs, outputs) = (Some(found.clone()), Some(found));
        Ok(ReadState { id: arguments.id, inputs, outputs, ..ReadState::default() })
    }));
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("size", 1);
            a.options(|options| options.import_id = "real".into()).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "v"]);
}

#[test]
fn views_follow_an_owner_that_got_another_name() {
    let (mut stack, _) = viewing_stack();
    stack.up(one(1)).ok();
    let before = stack.urn("a");
    let renamed = |size: i64| {
        let before = before.clone();
        program(move |p| {
            let before = before.clone();
            async move {
                let c = p.component("m:m:C", "c").register().await?;
                let renamed = p.resource("pkgA:m:T", "renamed").parent(&c.urn).input("size", size);
                renamed.options(|options| options.aliases = vec![Alias::Urn(before)]).register().await?;
                Ok(())
            }
        })
    };
    stack.up(renamed(1)).ok();
    let owner = stack.urn("renamed");
    assert_eq!((&stack.resource("a-child").view_of, &stack.resource("a-child").parent), (&owner, &owner));
    assert_eq!(stack.resource("a-child").urn.qualified_type(), "m:m:C$pkgA:m:T$pkgA:m:View");
    stack.up(renamed(2)).ok();
    assert_eq!(stack.names(), ["shop-dev", "c", "renamed", "a-child"]);
}

#[test]
fn an_owner_that_is_renamed_and_updated_at_once_keeps_one_of_each_view() {
    let (mut stack, _) = viewing_stack();
    stack.up(one(1)).ok();
    let before = stack.urn("a");
    stack
        .up(program(move |p| {
            let before = before.clone();
            async move {
                let renamed = p.resource("pkgA:m:T", "renamed").input("size", 2);
                renamed.options(|options| options.aliases = vec![Alias::Urn(before)]).register().await?;
                Ok(())
            }
        }))
        .ok();
    assert_eq!(stack.names(), ["shop-dev", "renamed", "a-child"]);
    assert_eq!(stack.resource("a-child").outputs.text(), r#"{"result":2}"#);
    stack.destroy().ok();
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn the_views_of_something_untargeted_stay() {
    let (mut stack, _) = viewing_stack();
    let two = |size: i64| {
        program(move |p| async move {
            p.resource("pkgA:m:T", "a").input("size", size).register().await?;
            p.resource("pkgA:m:T", "b").input("size", size).register().await?;
            Ok(())
        })
    };
    stack.up(two(1)).ok();
    stack.options.targets = drystone_engine::Targets::new(["**::b"]);
    let outcome = stack.up(two(2)).ok();
    assert_eq!(outcome.steps(), ["update b", "update b-child"]);
    assert_eq!(stack.resource("a-child").outputs.text(), r#"{"result":1}"#);
    stack.options.targets = drystone_engine::Targets::new(["**::a"]);
    stack.options.target_dependents = true;
    stack.destroy().ok();
    let mut names = stack.names();
    names.sort();
    assert_eq!(names, ["b", "b-child", "shop-dev"]);
}

#[test]
fn a_replacement_that_deletes_first_takes_the_views_along() {
    let (mut stack, _) = viewing_stack();
    stack.providers.get_mut("pkgA").unwrap().diff =
        Some(Arc::new(|arguments| Ok(diff_by_keys(&arguments, &["kind"], true))));
    stack.up(replaced("x")).ok();
    let outcome = stack.up(replaced("y")).ok();
    assert_eq!(
        outcome.steps(),
        ["delete a-child", "delete-replaced a", "replace a", "create-replacement a", "create a-child"]
    );
    assert_eq!(stack.names(), ["shop-dev", "a", "a-child"]);
}

#[test]
fn a_destroy_with_the_program_deletes_views() {
    let (mut stack, _) = viewing_stack();
    stack.up(one(1)).ok();
    let outcome = stack.destroy_with(one(1)).ok();
    assert!(outcome.steps().contains(&"delete a-child".to_owned()));
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_refresh_with_the_program_moves_views_behind_their_owner() {
    let (mut stack, desk) = viewing_stack();
    stack.up(one(1)).ok();
    publishing_on_read(&mut stack, &desk, |old| {
        let new = view(&old.name, 5);
        vec![view_step(Op::Update, Some(old), Some(new)), view_step(Op::Create, None, Some(view("found", 6)))]
    });
    let outcome = stack.refresh_with(one(1)).ok();
    assert_eq!((outcome.count(Op::Update), outcome.count(Op::Create)), (1, 1));
    assert_eq!(stack.resource("a-child").outputs.text(), r#"{"result":5}"#);
    assert_eq!(stack.resource("found").view_of, stack.urn("a"));
}

#[test]
fn secrets_in_views_are_sealed() {
    let (mut stack, _) = viewing_stack();
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "a").input("size", Value::secret(1.into())).register().await?;
            Ok(())
        }))
        .ok();
    let child = stack.resource("a-child");
    assert!(child.inputs.text().contains("ciphertext") && child.outputs.text().contains("ciphertext"));
}

//! Bringing the state up to what there is.

use crate::harness::{
    Outcome, P, ProgramResult, Stack, TestProvider, diff_by_keys, program, refresh_first, targets,
};
use drystone_engine::{
    Alias, AppliedState, Diff, DiffKind, Op, Operation, Options, Program, PropertyDiff, PropertyMap,
    ProviderError, ReadState, Severity, Targets,
};
use drystone_model::{Urn, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// `a`, `b` that takes its size from it, and `c` beneath `a`.
fn three(size: i64) -> Arc<dyn Program> {
    program(move |p| async move {
        let a = p.resource("pkgA:m:T", "a").input("size", size).register().await?;
        p.resource("pkgA:m:T", "b").input_from("size", &a, "size").register().await?;
        p.resource("pkgA:m:T", "c").parent(&a.urn).register().await?;
        Ok(())
    })
}

fn one(size: i64) -> Arc<dyn Program> {
    program(move |p| async move {
        p.resource("pkgA:m:T", "a").input("size", size).register().await?;
        Ok(())
    })
}

fn urn(name: &str) -> Urn {
    Urn::build("dev", "shop", "", "pkgA:m:T", name)
}

fn sized(size: i64) -> PropertyMap {
    PropertyMap::from([("size".to_owned(), Value::from(size))])
}

impl Stack {
    /// Changes or removes what really exists.
    fn drift(&self, id: &str, to: Option<PropertyMap>) {
        let mut cloud = self.providers["pkgA"].cloud.lock().unwrap();
        match to {
            Some(outputs) => cloud.insert(id.to_owned(), outputs),
            None => cloud.remove(id),
        };
    }

    fn reads(&self) -> Vec<String> {
        let calls = self.calls("pkgA").into_iter().filter(|call| call.method == "read");
        calls.map(|call| call.urn.name().to_owned()).collect()
    }
}

fn made(program: Arc<dyn Program>) -> Stack {
    let mut stack = Stack::new();
    stack.up(program).ok();
    stack.calls("pkgA");
    stack
}

fn changes(outcome: &Outcome) -> Vec<(Op, usize)> {
    outcome.report.changes.iter().map(|(op, count)| (*op, *count)).collect()
}

#[test]
fn a_refresh_that_finds_nothing_new_writes_nothing() {
    let mut stack = made(three(1));
    let before = stack.snapshot.clone();
    let outcome = stack.refresh().ok();
    assert_eq!((outcome.entries, outcome.count(Op::Update)), (0, 0));
    assert_eq!(stack.snapshot, before);
}

#[test]
fn what_changed_is_taken_over() {
    let mut stack = made(one(1));
    stack.drift("a-1", Some(sized(5)));
    let before = stack.resource("a").modified.clone();
    let outcome = stack.refresh().ok();
    assert_eq!(changes(&outcome), [(Op::Same, 1), (Op::Update, 1)]);
    let a = stack.resource("a");
    assert_eq!((a.inputs.text(), a.outputs.text()), (r#"{"size":5}"#, r#"{"size":5}"#));
    assert_ne!(a.modified, before);
}

#[test]
fn a_change_that_the_provider_calls_none_is_kept_but_not_counted() {
    let mut stack = made(one(1));
    stack.providers.get_mut("pkgA").unwrap().diff = Some(Arc::new(|_| Ok(Diff::none())));
    stack.drift("a-1", Some(sized(5)));
    let outcome = stack.refresh().ok();
    assert_eq!(outcome.count(Op::Update), 0);
    assert_eq!(stack.resource("a").outputs.text(), r#"{"size":5}"#);
}

#[test]
fn what_is_gone_goes() {
    let mut stack = made(one(1));
    stack.drift("a-1", None);
    let outcome = stack.refresh().ok();
    assert_eq!(changes(&outcome), [(Op::Same, 1), (Op::Delete, 1)]);
    assert_eq!(stack.names(), ["shop-dev"]);
    assert_eq!(stack.effects("pkgA"), ["read a"]);
}

#[test]
fn references_to_what_is_gone_are_dropped() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
            let b = p.resource("pkgA:m:T", "b").input_from("size", &a, "size");
            b.options(|options| {
                options.deleted_with = a.urn.clone();
                options.replace_with = vec![a.urn.clone()];
            })
            .register()
            .await?;
            Ok(())
        }))
        .ok();
    stack.drift("a-1", None);
    stack.refresh().ok();
    let b = stack.resource("b");
    assert!(b.dependencies.is_empty() && b.property_dependencies.is_empty());
    assert!(b.deleted_with.is_empty() && b.replace_with.is_empty());
}

#[test]
fn the_children_of_what_is_gone_stay_without_a_parent() {
    let mut stack = made(three(1));
    stack.drift("a-1", None);
    stack.refresh().ok();
    assert_eq!(stack.names(), ["shop-dev", "b", "c"]);
    assert!(stack.resource("c").parent.is_empty());
}

#[test]
fn something_unhealthy_is_a_warning_and_is_updated_next_time() {
    let mut stack = made(one(1));
    stack.providers.get_mut("pkgA").unwrap().read = Some(Arc::new(|arguments| {
        let (inputs, outputs) = (Some(arguments.inputs), Some(arguments.outputs));
        let incomplete = vec!["the disk is full".to_owned(), "the fan is off".to_owned()];
        Ok(ReadState { id: arguments.id, inputs, outputs, incomplete, ..ReadState::default() })
    }));
    let outcome = stack.refresh().ok();
    assert_eq!(
        outcome.diagnostics(Severity::Warning),
        ["Refreshed resource is in an unhealthy state:\n* the disk is full\n* the fan is off"]
    );
    assert_eq!(stack.resource("a").init_errors.len(), 2);
    assert_eq!(stack.up(one(1)).ok().steps(), ["update a"]);
    assert!(stack.resource("a").init_errors.is_empty());
}

#[test]
fn one_that_cannot_be_read_fails_the_refresh_and_the_others_are_refreshed_all_the_same() {
    let mut stack = made(three(1));
    stack.options.parallel = 1;
    stack.providers.get_mut("pkgA").unwrap().read = Some(Arc::new(|arguments| match arguments.urn.name() {
        "a" => Err(ProviderError::new("no connection")),
        _ => Ok(ReadState { id: arguments.id, outputs: Some(sized(7)), ..ReadState::default() }),
    }));
    stack.refresh().failed("no connection");
    assert_eq!(stack.resource("a").outputs.text(), r#"{"size":1}"#);
    assert_eq!(stack.resource("b").outputs.text(), r#"{"size":7}"#);
    assert_eq!(stack.resource("c").outputs.text(), r#"{"size":7}"#);
}

#[test]
fn inputs_stay_where_the_provider_does_not_tell_them() {
    let mut stack = made(one(1));
    stack.providers.get_mut("pkgA").unwrap().read = Some(Arc::new(|arguments| {
        Ok(ReadState { id: arguments.id, outputs: Some(sized(7)), ..ReadState::default() })
    }));
    stack.refresh().ok();
    let a = stack.resource("a");
    assert_eq!((a.inputs.text(), a.outputs.text()), (r#"{"size":1}"#, r#"{"size":7}"#));
}

#[test]
fn another_id_is_taken_over() {
    let mut stack = made(one(1));
    stack.providers.get_mut("pkgA").unwrap().read = Some(Arc::new(|arguments| {
        let (inputs, outputs) = (Some(arguments.inputs), Some(arguments.outputs));
        Ok(ReadState { id: "moved".into(), inputs, outputs, ..ReadState::default() })
    }));
    stack.refresh().ok();
    assert_eq!(stack.resource("a").id, "moved");
}

#[test]
fn components_and_providers_are_not_read() {
    let mut stack = made(program(|p| async move {
        p.component("m:m:C", "c").register().await?;
        p.resource("pulumi:providers:pkgA", "explicit").register().await?;
        Ok(())
    }));
    stack.refresh().ok();
    assert!(stack.reads().is_empty());
    assert_eq!(stack.names(), ["shop-dev", "c", "explicit"]);
}

#[test]
fn what_was_deleted_for_a_replacement_is_not_read() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["size"]));
    stack.up(one(1)).ok();
    stack.providers.get_mut("pkgA").unwrap().create = Some(Arc::new(|_| Err(ProviderError::new("full"))));
    stack.up(one(2)).failed("full");
    assert!(stack.resource("a").pending_replacement);
    stack.calls("pkgA");
    stack.refresh().ok();
    assert!(stack.reads().is_empty() && stack.resource("a").pending_replacement);
}

#[test]
fn what_waits_to_be_deleted_is_read_too() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["size"]));
    stack.up(one(1)).ok();
    stack.providers.get_mut("pkgA").unwrap().delete = Some(Arc::new(|_| Err(ProviderError::new("stuck"))));
    stack.up(one(2)).failed("stuck");
    assert_eq!(stack.names(), ["shop-dev", "a", "a!"]);
    stack.drift("a-1", None);
    stack.refresh().ok();
    assert_eq!(stack.names(), ["shop-dev", "a"]);
}

#[test]
fn the_difference_is_told_from_the_point_of_view_of_the_state() {
    let mut stack = made(one(1));
    stack.providers.get_mut("pkgA").unwrap().diff = Some(Arc::new(|arguments| {
        assert_eq!(arguments.old_inputs, sized(5), "what was found is the old");
        assert_eq!(arguments.new_inputs, sized(1), "what the state says is the new");
        let add = PropertyDiff { kind: DiffKind::Add, input_diff: true };
        Ok(Diff { detailed: Some(BTreeMap::from([("size".to_owned(), add)])), ..Diff::some() })
    }));
    stack.drift("a-1", Some(sized(5)));
    let outcome = stack.refresh().ok();
    let done = outcome.events.iter().find_map(|event| match event {
        drystone_engine::Event::StepDone(step) if step.urn.name() == "a" => Some(step.clone()),
        _ => None,
    });
    assert_eq!(done.unwrap().detailed.unwrap()["size"].kind, DiffKind::Delete);
}

#[test]
fn something_external_counts_by_its_outputs_and_is_not_compared_by_the_provider() {
    let mut stack = Stack::new();
    stack.drift("real", Some(sized(1)));
    let read = || {
        program(|p| async move {
            p.read("pkgA:m:T", "a", "real").await?;
            Ok(())
        })
    };
    stack.up(read()).ok();
    stack.calls("pkgA");
    stack.drift("real", Some(sized(2)));
    let outcome = stack.refresh().ok();
    assert_eq!(outcome.count(Op::Update), 1);
    assert!(stack.calls("pkgA").iter().all(|call| call.method != "diff"));
    assert_eq!((stack.resource("a").external, stack.resource("a").outputs.text()), (true, r#"{"size":2}"#));
}

#[test]
fn secret_outputs_stay_secret() {
    let mut stack = made(program(|p| async move {
        let a = p.resource("pkgA:m:T", "a").input("size", 1);
        a.options(|options| options.additional_secret_outputs = vec!["size".into()]).register().await?;
        Ok(())
    }));
    stack.drift("a-1", Some(sized(2)));
    stack.refresh().ok();
    assert!(stack.resource("a").outputs.text().contains("ciphertext"));
}

#[test]
fn a_preview_of_a_refresh_tells_and_writes_nothing() {
    let mut stack = made(one(1));
    stack.drift("a-1", Some(sized(5)));
    let outcome = stack.operate(Operation::Refresh, true, None).ok();
    assert_eq!(outcome.count(Op::Update), 1);
    assert_eq!(stack.resource("a").outputs.text(), r#"{"size":1}"#);
}

#[test]
fn only_targets_are_refreshed() {
    let mut stack = made(three(1));
    stack.options.targets = targets([&urn("a")]);
    stack.refresh().ok();
    assert_eq!(stack.reads(), ["a"]);
    stack.options.target_dependents = true;
    stack.refresh().ok();
    assert_eq!(stack.reads(), ["a", "b", "c"]);
}

#[test]
fn excluded_resources_are_not_refreshed() {
    let mut stack = made(three(1));
    stack.options.excludes = targets([&urn("a")]);
    stack.refresh().ok();
    assert_eq!(stack.reads(), ["b", "c"]);
    stack.options.exclude_dependents = true;
    stack.refresh().ok();
    assert!(stack.reads().is_empty());
}

#[test]
fn a_target_that_names_nothing_is_refused_before_anything_is_read() {
    let mut stack = made(one(1));
    stack.options.targets = targets([&urn("a"), &urn("z")]);
    stack.refresh().failed("could not be found in the stack");
    stack.options.targets = Targets::default();
    stack.options.excludes = targets([&urn("z")]);
    stack.refresh().failed("could not be found in the stack");
    assert!(stack.reads().is_empty());
}

#[test]
fn an_update_can_refresh_first_and_then_mend_what_drifted() {
    let mut stack = made(one(1));
    stack.options = refresh_first();
    stack.drift("a-1", Some(sized(5)));
    let outcome = stack.up(one(1)).ok();
    assert_eq!(outcome.steps(), ["refresh a", "update a"]);
    assert_eq!(outcome.count(Op::Update), 1, "the refresh itself is not counted");
    assert_eq!(stack.providers["pkgA"].cloud.lock().unwrap()["a-1"], sized(1));
}

#[test]
fn an_update_that_refreshes_first_makes_what_is_gone_again() {
    let mut stack = made(three(1));
    stack.options = refresh_first();
    stack.drift("a-1", None);
    let outcome = stack.up(three(1)).ok();
    assert!(outcome.steps().contains(&"create a".to_owned()));
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
    assert_eq!((stack.resource("a").id.as_str(), &stack.resource("c").parent), ("a-4", &urn("a")));
}

#[test]
fn an_update_does_not_begin_when_its_refresh_fails() {
    let mut stack = made(one(1));
    stack.options = refresh_first();
    stack.providers.get_mut("pkgA").unwrap().read =
        Some(Arc::new(|_| Err(ProviderError::new("no connection"))));
    stack.up(program(|_| async move { panic!("must not run") })).failed("no connection");
}

#[test]
fn a_destroy_that_refreshes_first_deletes_what_is_left() {
    let mut stack = made(three(1));
    stack.options = refresh_first();
    stack.drift("a-1", None);
    stack.destroy().ok();
    let deletes: Vec<String> =
        stack.effects("pkgA").into_iter().filter(|text| text.starts_with("delete")).collect();
    assert_eq!(deletes.len(), 2);
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_refresh_with_the_program_makes_nothing_and_deletes_nothing() {
    let mut stack = made(three(1));
    let outcome = stack
        .refresh_with(program(|p| async move {
            p.resource("pkgA:m:T", "a").input("size", 9).register().await?;
            let new = p.resource("pkgA:m:T", "new").input("size", 1).register().await?;
            assert!(new.unknown);
            Ok(())
        }))
        .ok();
    assert_eq!(stack.effects("pkgA"), ["read a", "read b", "read c"]);
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
    assert_eq!(stack.resource("a").inputs.text(), r#"{"size":1}"#);
    assert_eq!(outcome.count(Op::Create), 0);
}

#[test]
fn a_refresh_with_the_program_tells_it_what_was_found() {
    let mut stack = made(one(1));
    stack.drift("a-1", Some(sized(5)));
    stack
        .refresh_with(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
            assert_eq!(a.properties, sized(5));
            Ok(())
        }))
        .ok();
    assert_eq!(stack.resource("a").outputs.text(), r#"{"size":5}"#);
}

#[test]
fn a_refresh_with_the_program_takes_over_what_it_says_besides_values() {
    let mut stack = Stack::new();
    let run = |after: bool| {
        program(move |p| async move {
            let a = p.resource("pkgA:m:T", "a").register().await?;
            let b = p.resource("pkgA:m:T", "b");
            let b = if after { b.depends_on(&a.urn) } else { b };
            b.options(|options| options.protect = Some(after)).register().await?;
            Ok(())
        })
    };
    stack.up(run(false)).ok();
    stack.refresh_with(run(true)).ok();
    let b = stack.resource("b");
    assert_eq!((b.dependencies.as_slice(), b.protect), ([urn("a")].as_slice(), true));
}

#[test]
fn a_refresh_with_the_program_puts_parents_and_dependencies_first() {
    let mut stack = made(program(|p| async move {
        p.resource("pkgA:m:T", "child").register().await?;
        p.resource("pkgA:m:T", "a").register().await?;
        Ok(())
    }));
    stack
        .refresh_with(program(|p| async move {
            let c = p.component("m:m:C", "c").register().await?;
            let a = p.resource("pkgA:m:T", "a").register().await?;
            let child = p.resource("pkgA:m:T", "child").parent(&c.urn);
            let child = child.options(|options| {
                options.deleted_with = a.urn.clone();
                options.aliases = vec![Alias::Urn(urn("child"))];
            });
            child.register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.names(), ["shop-dev", "c", "a", "child"]);
    assert_eq!(stack.resource("child").urn.qualified_type(), "m:m:C$pkgA:m:T");
}

#[test]
fn a_refresh_with_the_program_forgets_what_is_gone() {
    let mut stack = made(three(1));
    stack.drift("a-1", None);
    let outcome = stack.refresh_with(three(1)).ok();
    assert_eq!(outcome.count(Op::Delete), 1);
    assert!(stack.find("a").is_none());
}

#[test]
fn a_refresh_with_the_program_uses_the_configuration_that_it_gives() {
    let mut stack = Stack::new();
    let run = |region: &'static str| {
        program(move |p| async move {
            let provider =
                p.resource("pulumi:providers:pkgA", "explicit").input("region", region).register().await?;
            p.resource("pkgA:m:T", "a").provider(&provider).register().await?;
            Ok(())
        })
    };
    stack.up(run("north")).ok();
    stack.calls("pkgA");
    stack.refresh_with(run("south")).ok();
    let configured = stack.calls("pkgA").into_iter().filter(|call| call.method == "configure");
    let regions: Vec<_> = configured.map(|call| call.inputs["region"].clone()).collect();
    assert_eq!(regions, [Value::from("south")]);
    assert_eq!(stack.resource("explicit").inputs.text(), r#"{"region":"south"}"#);
}

#[test]
fn a_refresh_with_the_program_is_about_targets_only() {
    let mut stack = made(three(1));
    stack.options.targets = targets([&urn("b")]);
    stack.refresh_with(three(1)).ok();
    assert_eq!(stack.reads(), ["b"]);
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
}

#[test]
fn a_target_that_drifted_stays_behind_what_it_depends_on() {
    let mut stack = made(three(1));
    stack.options.targets = targets([&urn("b")]);
    stack.drift("b-2", Some(sized(5)));
    stack.refresh_with(three(1)).ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
    let b = stack.resource("b");
    assert_eq!((b.dependencies.as_slice(), b.outputs.text()), ([urn("a")].as_slice(), r#"{"size":5}"#));
}

#[test]
fn a_refresh_with_the_program_leaves_excluded_resources_alone() {
    let mut stack = made(three(1));
    stack.options.excludes = targets([&urn("a")]);
    stack.drift("a-1", Some(sized(5)));
    stack.drift("b-2", Some(sized(6)));
    stack.refresh_with(three(1)).ok();
    assert_eq!(stack.reads(), ["b", "c"]);
    assert_eq!(stack.resource("a").outputs.text(), r#"{"size":1}"#);
    assert_eq!(stack.resource("b").outputs.text(), r#"{"size":6}"#);
    assert_eq!(stack.resource("b").dependencies, [urn("a")]);
}

#[test]
fn a_refresh_with_the_program_stops_when_a_read_fails() {
    let mut stack = made(one(1));
    stack.providers.get_mut("pkgA").unwrap().read =
        Some(Arc::new(|_| Err(ProviderError::new("no connection"))));
    stack.refresh_with(one(1)).failed("no connection");
    assert!(stack.find("a").is_some());
}

/// Updates that refresh as the program registers.
fn with_program() -> Options {
    Options { run_program: true, ..refresh_first() }
}

#[test]
fn an_update_that_refreshes_with_the_program_mends_what_drifted() {
    let mut stack = made(three(1));
    stack.options = with_program();
    stack.drift("a-1", Some(sized(5)));
    stack.drift("b-2", None);
    stack.up(three(1)).ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
    assert_eq!(stack.resource("a").outputs.text(), r#"{"size":1}"#);
    assert_eq!(stack.resource("b").id, "b-4");
}

#[test]
fn an_update_that_refreshes_with_the_program_deletes_what_left_it() {
    let mut stack = made(three(1));
    stack.options = with_program();
    stack.up(one(1)).ok();
    assert_eq!(stack.names(), ["shop-dev", "a"]);
}

#[test]
fn an_update_that_refreshes_with_the_program_can_replace() {
    for (provider, effects) in [
        (TestProvider::replacing_on(["size"]), ["read a", "create a", "delete a"]),
        (TestProvider::deleting_before_replacing_on(["size"]), ["read a", "delete a", "create a"]),
    ] {
        let mut stack = Stack::with_provider("pkgA", provider);
        stack.up(one(1)).ok();
        stack.calls("pkgA");
        stack.options = with_program();
        stack.up(one(2)).ok();
        assert_eq!(stack.effects("pkgA"), effects);
        assert_eq!(
            (stack.names(), stack.resource("a").id.as_str()),
            (vec!["shop-dev".into(), "a".into()], "a-2")
        );
    }
}

#[test]
fn an_update_that_refreshes_with_the_program_deletes_dependents_first_where_it_must() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["size"]));
    stack.up(three(1)).ok();
    stack.calls("pkgA");
    stack.options = with_program();
    stack.up(three(2)).ok();
    let effects: Vec<String> =
        stack.effects("pkgA").into_iter().filter(|text| !text.starts_with("read")).collect();
    assert_eq!(effects, ["delete b", "delete a", "create a", "create b"]);
    assert_eq!(stack.names(), ["shop-dev", "a", "b", "c"]);
}

#[test]
fn an_update_that_refreshes_with_the_program_follows_aliases() {
    let mut stack = made(one(1));
    stack.options = with_program();
    stack.drift("a-1", Some(sized(5)));
    let outcome = stack
        .up(program(|p| async move {
            let renamed = p.resource("pkgA:m:T", "renamed").input("size", 5);
            renamed.options(|options| options.aliases = vec![Alias::Urn(urn("a"))]).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(outcome.count(Op::Same), 2);
    assert_eq!(stack.names(), ["shop-dev", "renamed"]);
    assert_eq!(stack.resource("renamed").outputs.text(), r#"{"size":5}"#);
}

/// A provider whose resources ask to be refreshed before every update.
fn asking() -> TestProvider {
    TestProvider {
        create: Some(Arc::new(|arguments| {
            let refresh_before_update = arguments.urn.name() == "a";
            let id = format!("{}-1", arguments.urn.name());
            Ok(AppliedState {
                id,
                outputs: arguments.inputs,
                refresh_before_update,
                ..AppliedState::default()
            })
        })),
        diff: Some(Arc::new(|arguments| Ok(diff_by_keys(&arguments, &[], false)))),
        ..TestProvider::default()
    }
}

#[test]
fn an_update_refreshes_what_asks_for_it_and_nothing_else() {
    let mut stack = Stack::with_provider("pkgA", asking());
    stack.up(three(1)).ok();
    assert!(stack.resource("a").refresh_before_update && !stack.resource("b").refresh_before_update);
    stack.calls("pkgA");
    stack.drift("a-1", Some(sized(5)));
    let outcome = stack.up(three(1)).ok();
    assert_eq!(stack.effects("pkgA"), ["read a", "update a"]);
    assert_eq!(outcome.count(Op::Update), 1);
}

#[test]
fn what_asks_for_a_refresh_and_is_gone_is_made_again() {
    let mut stack = Stack::with_provider("pkgA", asking());
    stack.up(one(1)).ok();
    stack.calls("pkgA");
    stack.drift("a-1", None);
    stack.up(one(1)).ok();
    assert_eq!(stack.effects("pkgA"), ["read a", "create a"]);
}

#[test]
fn a_destroy_refreshes_what_asks_for_it() {
    let mut stack = Stack::with_provider("pkgA", asking());
    stack.up(one(1)).ok();
    stack.calls("pkgA");
    stack.drift("a-1", None);
    stack.destroy().ok();
    assert_eq!(stack.effects("pkgA"), ["read a"]);
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_read_says_whether_it_is_to_be_refreshed_from_now_on() {
    let mut stack = made(one(1));
    stack.providers.get_mut("pkgA").unwrap().read = Some(Arc::new(|arguments| {
        let (inputs, outputs) = (Some(arguments.inputs), Some(arguments.outputs));
        Ok(ReadState {
            id: arguments.id,
            inputs,
            outputs,
            refresh_before_update: true,
            ..ReadState::default()
        })
    }));
    stack.refresh().ok();
    assert!(stack.resource("a").refresh_before_update);
}

async fn unused(_: P) -> ProgramResult {
    Ok(())
}

#[test]
fn an_empty_stack_can_be_refreshed() {
    let mut stack = Stack::new();
    stack.refresh().ok();
    stack.refresh_with(program(unused)).ok();
    assert!(stack.find("a").is_none());
}

#[test]
fn a_refresh_that_runs_the_program_counts_components_and_providers_once() {
    let run = || {
        program(|p| async move {
            let west = p.resource("pulumi:providers:pkgA", "west").register().await?;
            let c = p.component("my:m:C", "c").register().await?;
            p.resource("pkgA:m:T", "a").parent(&c.urn).provider(&west).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::new();
    stack.up(run()).ok();
    let outcome = stack.refresh_with(run()).ok();
    assert_eq!(outcome.count(Op::Same), 4, "the stack, its provider, the component and its child");
}

#[test]
fn a_refresh_can_be_told_to_compare_outputs_alone() {
    for (alone, changed) in [(false, 0), (true, 1)] {
        let mut stack = Stack::new();
        // A provider that calls no change one.
        let provider = stack.providers.get_mut("pkgA").unwrap();
        provider.diff = Some(Arc::new(|_| {
            Ok(drystone_engine::Diff { changes: drystone_engine::DiffChanges::None, ..Default::default() })
        }));
        stack
            .up(program(
                |p| async move { p.resource("pkgA:m:T", "a").input("n", 1).register().await.map(|_| ()) },
            ))
            .ok();
        let cloud = Arc::clone(&stack.providers["pkgA"].cloud);
        cloud.lock().unwrap().values_mut().for_each(|found| _ = found.insert("n".to_owned(), 2.into()));
        stack.calls("pkgA");
        stack.options.legacy_refresh_diff = alone;
        let outcome = stack.refresh().ok();
        assert_eq!(outcome.count(Op::Update), changed);
        assert_eq!(stack.calls("pkgA").iter().any(|call| call.method == "diff"), !alone);
    }
}

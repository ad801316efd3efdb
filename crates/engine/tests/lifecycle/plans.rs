//! Updates that are held to what a preview found.

mod goals;

use crate::harness::{
    Outcome, ProgramResult, Stack, TestProvider, diff_by_keys, logging_hook, program, targets, unknown,
};
use drystone_dialects::pulumi::plan::{PlanDocument, ResourcePlanV1};
use drystone_dialects::pulumi::properties::SecretForm;
use drystone_engine::{
    Alias, Checked, Ending, Op, Options, Plan, Program, PropertyMap, RefreshMode, Registered,
    ResourceOptions, Severity,
};
use drystone_model::{Computed, Json, Manifest, ResourceReference, Urn, Value};
use drystone_secrets::{Base64, Manager, Reuse, Sealer};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::{Arc, Mutex};

fn urn(name: &str) -> Urn {
    Urn::build("dev", "shop", "", "pkgA:m:T", name)
}

/// Writes a plan to a file and reads it back.
fn stored(plan: &Plan) -> Plan {
    let manager = Manager::new(drystone_model::SecretsProvider::default(), Arc::new(Base64));
    let sealer = Arc::new(Sealer::new(&manager, Reuse::On).unwrap());
    let document = PlanDocument {
        manifest: Manifest::new("2026-01-01T00:00:00Z", "test"),
        resource_plans: plan.store(&sealer, SecretForm::Sealed).unwrap(),
        ..PlanDocument::default()
    };
    let bytes = document.to_vec().unwrap();
    let read = PlanDocument::read(&bytes).unwrap();
    assert_eq!(read.sealed_text().unwrap(), document.sealed_text().unwrap());
    let restored = Plan::restore(&read.resource_plans, &sealer).unwrap();
    assert_eq!(&restored, plan);
    restored
}

trait Planning {
    /// The plan that a preview makes, as it comes back from a file.
    fn plan(&mut self, program: Arc<dyn Program>) -> Plan;
    fn up_held(&mut self, plan: &Plan, program: Arc<dyn Program>) -> Outcome;
    fn preview_held(&mut self, plan: &Plan, program: Arc<dyn Program>) -> Outcome;
}

impl Planning for Stack {
    fn plan(&mut self, program: Arc<dyn Program>) -> Plan {
        self.options.make_plan = true;
        let outcome = self.preview(program).ok();
        self.options.make_plan = false;
        stored(&outcome.report.plan.unwrap())
    }

    fn up_held(&mut self, plan: &Plan, program: Arc<dyn Program>) -> Outcome {
        self.options.plan = Some(Arc::new(plan.clone()));
        let outcome = self.up(program);
        self.options.plan = None;
        outcome
    }

    fn preview_held(&mut self, plan: &Plan, program: Arc<dyn Program>) -> Outcome {
        self.options.plan = Some(Arc::new(plan.clone()));
        let outcome = self.preview(program);
        self.options.plan = None;
        outcome
    }
}

type Inputs = Vec<(&'static str, Value)>;

/// A program with these resources of `pkgA`, each with its inputs.
fn with(resources: Vec<(&'static str, Inputs)>) -> Arc<dyn Program> {
    program(move |p| {
        let resources = resources.clone();
        async move {
            for (name, inputs) in resources {
                let mut resource = p.resource("pkgA:m:T", name);
                for (key, value) in inputs {
                    resource = resource.input(key, value);
                }
                resource.register().await?;
            }
            Ok(())
        }
    })
}

fn one(inputs: Inputs) -> Arc<dyn Program> {
    with(vec![("a", inputs)])
}

fn text(key: &'static str, value: &str) -> (&'static str, Value) {
    (key, Value::from(value))
}

/// A program whose one resource has these options.
fn optioned(change: impl Fn(&mut ResourceOptions) + Send + Sync + Clone + 'static) -> Arc<dyn Program> {
    program(move |p| {
        let change = change.clone();
        async move {
            p.resource("pkgA:m:T", "a").input("x", 1).options(change).register().await?;
            Ok(())
        }
    })
}

fn ops(plan: &Plan, name: &str) -> Vec<Op> {
    plan.resources
        .iter()
        .find(|(urn, _)| urn.name() == name)
        .map(|(_, plan)| plan.ops.clone())
        .unwrap_or_default()
}

fn some(value: &str) -> Inputs {
    vec![text("foo", value), text("zed", "24")]
}

/// Inputs of which some are not known before the update.
fn partly_unknown() -> Inputs {
    vec![
        text("foo", "bar"),
        ("baz", Value::object([("a", Value::from(42)), ("b", unknown())])),
        ("qux", Value::array([unknown(), Value::from(24)])),
        ("zed", unknown()),
    ]
}

fn all_known() -> Inputs {
    vec![
        text("foo", "bar"),
        ("baz", Value::object([("a", Value::from(42)), ("b", "alpha".into())])),
        ("qux", Value::array([Value::from("beta"), Value::from(24)])),
        text("zed", "grr"),
    ]
}

/// What was unknown turned out to be nothing.
fn known_part() -> Inputs {
    vec![
        text("foo", "bar"),
        ("baz", Value::object([("a", Value::from(42))])),
        ("qux", Value::array([Value::Null, Value::from(24)])),
    ]
}

#[test]
fn the_same_program_does_what_was_planned() {
    let mut stack = Stack::new();
    let plan = stack.plan(one(some("bar")));
    assert_eq!((ops(&plan, "a"), ops(&plan, "default")), (vec![Op::Create], vec![Op::Create]));
    let outcome = stack.up_held(&plan, one(some("bar"))).ok();
    assert_eq!(outcome.steps(), ["create a"]);
    let plan = stack.plan(one(some("bar")));
    assert_eq!(ops(&plan, "a"), [Op::Same]);
    assert!(stack.up_held(&plan, one(some("bar"))).ok().steps().is_empty());
}

#[test]
fn an_operation_that_makes_no_plan_reports_none() {
    let mut stack = Stack::new();
    assert!(stack.preview(one(some("bar"))).ok().report.plan.is_none());
    stack.options.make_plan = true;
    let failing = program(|p| async move { p.read("pkgA:m:T", "a", "gone").await.map(drop) });
    assert!(stack.preview(failing).failed("does not exist").report.plan.is_none());
}

#[test]
fn what_was_unknown_may_become_anything_or_nothing() {
    for later in [all_known(), known_part(), partly_unknown()] {
        let mut stack = Stack::new();
        let plan = stack.plan(one(partly_unknown()));
        stack.preview_held(&plan, one(later.clone())).ok();
        if !later.iter().any(|(_, value)| value.contains_unknowns()) {
            stack.up_held(&plan, one(later)).ok();
        }
    }
}

#[test]
fn an_update_to_what_was_unknown_may_remove_it() {
    let mut stack = Stack::new();
    stack.up(one(all_known())).ok();
    let plan = stack.plan(one(partly_unknown()));
    stack.up_held(&plan, one(known_part())).ok();
    assert!(!stack.resource("a").inputs.text().contains("zed"));
}

#[test]
fn inputs_that_are_no_longer_set_stop_it() {
    let mut stack = Stack::new();
    let plan = stack.plan(one(partly_unknown()));
    stack.calls("pkgA");
    let changed = vec![("qux", Value::array([Value::from("alpha"), Value::from(24)]))];
    for run in [Stack::preview_held, Stack::up_held] {
        let expected = format!(
            "resource {} violates plan: properties changed: +-baz[{{map[a:{{42}} b:output<string>{{}}]}}], +-foo[{{bar}}]",
            urn("a")
        );
        run(&mut stack, &plan, one(changed.clone())).failed(&expected);
    }
    assert!(stack.effects("pkgA").is_empty(), "nothing of it was made");
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn another_value_stops_it_and_both_are_shown() {
    let mut stack = Stack::new();
    stack.up(one(some("bar"))).ok();
    let plan = stack.plan(one(some("newBazzer")));
    assert_eq!(ops(&plan, "a"), [Op::Update]);
    stack.calls("pkgA");
    stack
        .up_held(&plan, one(some("different")))
        .failed("violates plan: properties changed: ~~foo[{newBazzer}!={different}]");
    assert!(stack.effects("pkgA").is_empty());
    assert_eq!(stack.up_held(&plan, one(some("newBazzer"))).ok().steps(), ["update a"]);
}

#[test]
fn an_input_that_is_added_removed_or_changed_unplanned_is_named_with_its_signs() {
    let base = || vec![text("keep", "1"), text("goes", "1")];
    let mut stack = Stack::new();
    stack.up(one(base())).ok();
    let plan = stack.plan(one(vec![text("keep", "1"), text("comes", "1")]));
    let stays = vec![text("keep", "1"), text("goes", "1"), text("comes", "1")];
    stack.up_held(&plan, one(stays)).failed("properties changed: -=goes[{1}]");
    let more = vec![text("keep", "1"), text("comes", "1"), text("more", "2")];
    stack.up_held(&plan, one(more)).failed("properties changed: =+more[{2}]");
    stack.up_held(&plan, one(vec![text("comes", "1")])).failed("properties changed: =-keep");
    stack.up_held(&plan, one(base())).failed("properties changed: +-comes[{1}], -=goes[{1}]");
}

#[test]
fn a_planned_removal_that_does_not_come_is_noticed_when_nothing_else_changes() {
    let mut stack = Stack::new();
    stack.up(one(vec![text("goes", "1")])).ok();
    let plan = stack.plan(one(vec![]));
    stack.up_held(&plan, one(vec![text("goes", "1")])).failed("properties changed: -=goes[{1}]");
}

#[test]
fn a_change_of_the_state_meanwhile_is_no_licence_to_undo_it() {
    let mut stack = Stack::new();
    stack.up(one(some("bar"))).ok();
    let plan = stack.plan(one(some("baz")));
    stack.up(one(vec![text("foo", "bar"), text("zed", "26")])).ok();
    stack.up_held(&plan, one(some("baz"))).failed("violates plan: properties changed: =~zed[{24}]");
    assert!(stack.resource("a").inputs.text().contains("26"));
}

#[test]
fn a_resource_that_was_not_planned_is_not_made() {
    let mut stack = Stack::new();
    let plan = stack.plan(with(vec![]));
    // Its provider comes first, and is not planned either.
    stack
        .up_held(&plan, one(vec![]))
        .failed("create is not allowed by the plan: no steps were expected for this resource");
    assert_eq!(stack.names(), ["shop-dev"]);
    assert!(stack.effects("pkgA").is_empty());
}

#[test]
fn a_resource_that_was_planned_and_never_comes_is_missed_before_anything_is_deleted() {
    let mut stack = Stack::new();
    stack.up(with(vec![("a", vec![]), ("gone", vec![])])).ok();
    let plan = stack.plan(with(vec![("a", vec![]), ("b", vec![])]));
    stack.calls("pkgA");
    let expected = format!("expected resource operations for {} but none were seen", urn("b"));
    stack.up_held(&plan, one(vec![])).failed(&expected);
    assert!(stack.effects("pkgA").is_empty(), "the deletion was planned, but the run is not what was");
    assert_eq!(stack.names(), ["shop-dev", "a", "gone"]);
}

#[test]
fn a_deletion_that_was_not_planned_does_not_happen_and_no_planned_one_either() {
    let mut stack = Stack::new();
    stack.up(with(vec![("a", vec![]), ("b", vec![]), ("c", vec![])])).ok();
    let plan = stack.plan(with(vec![("a", vec![]), ("b", vec![])]));
    stack.calls("pkgA");
    stack
        .up_held(&plan, one(vec![]))
        .failed("delete is not allowed by the plan: this resource is constrained to same");
    assert!(stack.effects("pkgA").is_empty());
    assert_eq!(stack.names().len(), 4);
}

#[test]
fn a_resource_that_was_to_be_deleted_may_not_come_back() {
    let mut stack = Stack::new();
    stack.up(with(vec![("a", vec![]), ("b", vec![])])).ok();
    let plan = stack.plan(one(vec![]));
    assert_eq!(ops(&plan, "b"), [Op::Delete]);
    let expected = format!("resource {} violates plan: resource unexpectedly not deleted", urn("b"));
    stack.up_held(&plan, with(vec![("a", vec![]), ("b", vec![])])).failed(&expected);
    assert_eq!(stack.names().len(), 3);
    assert_eq!(stack.up_held(&plan, one(vec![])).ok().steps(), ["delete b"]);
}

#[test]
fn what_was_planned_and_is_done_already_need_not_be_done() {
    let mut stack = Stack::new();
    let plan = stack.plan(one(some("bar")));
    stack.up(one(some("bar"))).ok();
    assert!(stack.up_held(&plan, one(some("bar"))).ok().steps().is_empty());
    let plan = stack.plan(with(vec![]));
    stack.up(with(vec![])).ok();
    stack.up_held(&plan, with(vec![])).ok();
}

#[test]
fn what_others_added_meanwhile_may_stay_as_it_is() {
    let mut stack = Stack::new();
    let plan = stack.plan(one(vec![text("foo", "bar"), ("zed", unknown())]));
    stack.up(with(vec![("b", some("x"))])).ok();
    let both = |b| with(vec![("a", vec![text("foo", "bar"), text("zed", "1")]), ("b", b)]);
    stack.up_held(&plan, both(some("y"))).failed("violates plan: properties changed: =~foo[{y}]");
    // What was made before that stays made.
    assert!(stack.up_held(&plan, both(some("x"))).ok().steps().is_empty());
    assert_eq!(stack.names(), ["shop-dev", "a", "b"]);
}

#[test]
fn a_plan_is_about_inputs_and_not_about_what_providers_answer() {
    let provider = TestProvider {
        create: Some(Arc::new(|arguments| {
            let outputs =
                PropertyMap::from([("made".to_owned(), Value::from(arguments.dry_run.to_string()))]);
            Ok(drystone_engine::AppliedState { id: "1".into(), outputs, ..Default::default() })
        })),
        ..TestProvider::default()
    };
    let mut stack = Stack::with_provider("pkgA", provider);
    let plan = stack.plan(one(some("bar")));
    stack.up_held(&plan, one(some("bar"))).ok();
    assert!(stack.resource("a").outputs.text().contains("false"));
}

#[test]
fn a_replacement_is_planned_step_by_step() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["foo"]));
    stack.up(one(some("bar"))).ok();
    let plan = stack.plan(one(some("baz")));
    assert_eq!(ops(&plan, "a"), [Op::CreateReplacement, Op::Replace, Op::DeleteReplaced]);
    let outcome = stack.up_held(&plan, one(some("baz"))).ok();
    assert_eq!(outcome.steps(), ["create-replacement a", "replace a", "delete-replaced a"]);
}

#[test]
fn a_replacement_where_an_update_was_planned_stops_before_it_begins() {
    let replaces = Arc::new(Mutex::new(false));
    let seen = Arc::clone(&replaces);
    let provider = TestProvider {
        diff: Some(Arc::new(move |arguments| {
            let keys: &[&str] = if *seen.lock().unwrap() { &["foo"] } else { &[] };
            Ok(diff_by_keys(&arguments, keys, true))
        })),
        ..TestProvider::default()
    };
    let mut stack = Stack::with_provider("pkgA", provider);
    stack.up(one(some("bar"))).ok();
    let plan = stack.plan(one(some("baz")));
    *replaces.lock().unwrap() = true;
    stack.calls("pkgA");
    stack
        .up_held(&plan, one(some("baz")))
        .failed("delete-replaced is not allowed by the plan: this resource is constrained to update");
    assert!(stack.effects("pkgA").is_empty());
    // The other way round less is done than was planned, but the steps that were planned do not all come.
    let plan = stack.plan(one(some("baz")));
    *replaces.lock().unwrap() = false;
    let expected = format!("expected resource operations for {} but none were seen", urn("a"));
    stack.up_held(&plan, one(some("baz"))).failed(&expected);
}

/// `a`, and `b` that depends on it and is replaced with it.
fn chained(value: &'static str, b: Inputs) -> Arc<dyn Program> {
    program(move |p| {
        let b = b.clone();
        async move {
            let a = p.resource("pkgA:m:T", "a").input("foo", value).register().await?;
            let mut dependent = p.resource("pkgA:m:T", "b");
            for (key, value) in b {
                dependent = dependent.input(key, value);
            }
            dependent.input_from("foo", &a, "foo").register().await?;
            Ok(())
        }
    })
}

#[test]
fn dependents_that_are_deleted_first_are_in_the_plan_even_when_they_lose_an_input() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["foo"]));
    stack.up(chained("bar", vec![text("size", "1"), text("goes", "1")])).ok();
    let after = || chained("frob", vec![text("size", "1")]);
    let plan = stack.plan(after());
    for name in ["a", "b"] {
        assert_eq!(ops(&plan, name), [Op::DeleteReplaced, Op::Replace, Op::CreateReplacement], "{name}");
    }
    stack.calls("pkgA");
    stack.up_held(&plan, after()).ok();
    assert_eq!(stack.effects("pkgA"), ["delete b", "delete a", "create a", "create b"]);
}

#[test]
fn a_dependent_that_was_not_there_is_not_deleted_along() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::deleting_before_replacing_on(["foo"]));
    stack.up(with(vec![("a", vec![text("foo", "bar")])])).ok();
    let plan = stack.plan(with(vec![("a", vec![text("foo", "frob")])]));
    stack.up(chained("bar", vec![])).ok();
    stack.calls("pkgA");
    stack
        .up_held(&plan, chained("frob", vec![]))
        .failed("delete-replaced is not allowed by the plan: no steps were expected for this resource");
    assert!(stack.effects("pkgA").is_empty());
}

/// A provider that makes up a name from the seed, or by counting when it does not look at the seed.
fn naming(counting: bool) -> TestProvider {
    let count = Mutex::new(0);
    TestProvider {
        check: Some(Arc::new(move |arguments| {
            let mut properties = arguments.new_inputs;
            *count.lock().unwrap() += 1;
            let made = match counting {
                true => format!("n{}", count.lock().unwrap()),
                false => format!("{:?}", &arguments.seed[..4]),
            };
            let old = arguments.old_inputs.get("name").cloned();
            properties.entry("name".to_owned()).or_insert(old.unwrap_or_else(|| made.into()));
            Ok(Checked { properties, failures: Vec::new() })
        })),
        diff: Some(Arc::new(|arguments| Ok(diff_by_keys(&arguments, &["foo"], false)))),
        ..TestProvider::default()
    }
}

#[test]
fn names_are_made_up_from_the_planned_seed() {
    let mut stack = Stack::with_provider("pkgA", naming(false));
    let mut plan = stack.plan(one(some("bar")));
    let planned = plan.resources.get_mut(&urn("a")).unwrap();
    planned.seed = Some([9; 32]);
    planned.goal.as_mut().unwrap().inputs.adds.insert("name".to_owned(), "[9, 9, 9, 9]".into());
    stack.up_held(&plan, one(some("bar"))).ok();
    assert!(stack.resource("a").inputs.text().contains("[9, 9, 9, 9]"));
}

#[test]
fn a_provider_that_ignores_the_seed_stops_it() {
    let mut stack = Stack::with_provider("pkgA", naming(true));
    let plan = stack.plan(one(some("bar")));
    let outcome = stack.up_held(&plan, one(some("bar")));
    let errors = outcome.failed("violates plan: properties changed: ++name[{n").diagnostics(Severity::Error);
    assert!(errors[0].contains("}!={n"), "{errors:?}");
    assert_eq!(stack.names(), ["shop-dev"]);
}

#[test]
fn the_name_that_a_replacement_gets_is_held_too() {
    let mut stack = Stack::with_provider("pkgA", naming(true));
    stack.up(one(some("bar"))).ok();
    let plan = stack.plan(one(some("baz")));
    stack.calls("pkgA");
    stack
        .up_held(&plan, one(some("baz")))
        .failed("violates plan: replacement: properties changed: ++name[{n");
    assert!(stack.effects("pkgA").is_empty());
}

#[test]
fn secrets_are_compared_and_never_shown() {
    let secret = |text: &str| {
        vec![("key", Value::secret(text.into())), ("all", Value::array([Value::secret("x1".into())]))]
    };
    let mut stack = Stack::new();
    let plan = stack.plan(one(secret("hunter2")));
    let outcome = stack.up_held(&plan, one(secret("hunter3")));
    let said =
        outcome.failed("properties changed: ++key[{[secret]}!={[secret]}]").diagnostics(Severity::Debug);
    assert!(!said.iter().any(|line| line.contains("hunter")), "{said:?}");
    let plain = vec![text("key", "hunter2"), ("all", Value::array([Value::from("x1")]))];
    stack.up_held(&plan, one(plain)).failed("++all[{[{[secret]}]}!={[{x1}]}], ++key[{[secret]}!={hunter2}]");
    stack.up_held(&plan, one(secret("hunter2"))).ok();
}

#[test]
fn a_secret_that_was_unknown_may_turn_out_to_be_nothing() {
    let mut stack = Stack::new();
    let plan = stack.plan(one(vec![("key", Value::secret(unknown()))]));
    stack.up_held(&plan, one(vec![])).ok();
}

#[test]
fn a_reference_to_what_is_not_there_yet_gets_its_id_later() {
    let referring = || {
        program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").register().await?;
            let known = !a.id.is_empty() && a.id != Computed::String.sentinel();
            let id = Some(if known { a.id.clone() } else { String::new() });
            let to_a = ResourceReference { urn: a.urn.clone(), id, ..ResourceReference::default() };
            let b = p.resource("pkgA:m:T", "b").input("to", Value::ResourceReference(to_a));
            b.depends_on(&a.urn).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::new();
    let plan = stack.plan(referring());
    stack.up_held(&plan, referring()).ok();
    assert!(stack.resource("b").inputs.text().contains("a-1"), "{}", stack.resource("b").inputs.text());
}

#[test]
fn a_stored_plan_that_says_something_else_is_refused_by_its_resource() {
    type Edit = fn(&mut ResourcePlanV1);
    let manager = Manager::new(drystone_model::SecretsProvider::default(), Arc::new(Base64));
    let sealer = Arc::new(Sealer::new(&manager, Reuse::On).unwrap());
    let good = Stack::new().plan(one(some("bar"))).store(&sealer, SecretForm::Sealed).unwrap();
    let edits: [(Edit, &str); 4] = [
        (|plan| plan.steps = vec!["explode".to_owned()], "`explode` is no step"),
        (|plan| plan.seed = "AAAA".to_owned(), "a seed has 32 bytes, not 3"),
        (|plan| plan.seed = "?".to_owned(), "the seed is not base 64"),
        (|plan| plan.state = Some(Json::parse("[1]").unwrap()), "`state` is no object"),
    ];
    for (edit, says) in edits {
        let mut bad = good.clone();
        edit(bad.get_mut(&urn("a")).unwrap());
        let error = Plan::restore(&bad, &sealer).unwrap_err().to_string();
        assert!(error.starts_with(&format!("the plan of {}: {says}", urn("a"))), "{error}");
    }
}

#[test]
fn inputs_that_the_provider_refuses_are_told_as_ever() {
    let provider = TestProvider {
        check: Some(Arc::new(|arguments| {
            let bad = arguments.new_inputs["foo"].as_str() == Some("bad");
            let failure = drystone_engine::CheckFailure { property: "foo".into(), reason: "Bad foo".into() };
            Ok(Checked {
                properties: arguments.new_inputs,
                failures: bad.then_some(failure).into_iter().collect(),
            })
        })),
        ..TestProvider::default()
    };
    let mut stack = Stack::with_provider("pkgA", provider);
    let plan = stack.plan(one(some("good")));
    let outcome =
        stack.up_held(&plan, one(some("bad"))).failed("property foo value {bad} has a problem: Bad foo");
    assert_eq!(outcome.diagnostics(Severity::Error).len(), 1);
}

/// A component with these outputs.
fn outputting(outputs: &[(&str, Value)]) -> Arc<dyn Program> {
    let outputs: PropertyMap =
        outputs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    program(move |p| {
        let outputs = outputs.clone();
        async move {
            let c = p.component("my:m:C", "c").register().await?;
            p.monitor.register_outputs(&c.urn, outputs).await
        }
    })
}

#[test]
fn outputs_of_components_are_held() {
    let mut stack = Stack::new();
    let plan = stack.plan(outputting(&[text("foo", "bar"), text("frob", "baz"), ("later", unknown())]));
    stack
        .up_held(&plan, outputting(&[text("foo", "bar")]))
        .failed("resource violates plan: properties changed: +-frob[{baz}]");
    let known = [text("foo", "bar"), text("frob", "baz"), text("later", "1")];
    stack.up_held(&plan, outputting(&known)).ok();
}

#[test]
fn outputs_of_the_stack_are_held_before_anything_is_deleted() {
    let with_outputs = |gone: bool, url: &'static str| {
        program(move |p| async move {
            if !gone {
                p.resource("pkgA:m:T", "a").register().await?;
            }
            p.stack_outputs(PropertyMap::from([("url".to_owned(), url.into())])).await
        })
    };
    let mut stack = Stack::new();
    stack.up(with_outputs(false, "one")).ok();
    let plan = stack.plan(with_outputs(true, "two"));
    stack.calls("pkgA");
    stack
        .up_held(&plan, with_outputs(true, "three"))
        .failed("resource violates plan: properties changed: ~~url[{two}!={three}]");
    assert!(stack.effects("pkgA").is_empty());
    assert!(stack.resource("shop-dev").outputs.text().contains("one") || stack.find("a").is_some());
    stack.up_held(&plan, with_outputs(true, "two")).ok();
    assert!(stack.resource("shop-dev").outputs.text().contains("two"));
}

#[test]
fn a_component_that_nobody_planned_may_stay_as_it_is() {
    let mut stack = Stack::new();
    let plan = stack.plan(with(vec![]));
    stack.up(outputting(&[text("foo", "bar")])).ok();
    stack.up_held(&plan, outputting(&[text("foo", "bar")])).ok();
    stack
        .up_held(&plan, outputting(&[text("foo", "new")]))
        .failed("resource violates plan: properties changed: =~foo[{new}]");
}

#[test]
fn a_resource_that_changes_its_name_keeps_its_plan() {
    let named = |name: &'static str, value: &'static str| {
        program(move |p| async move {
            let resource = p.resource("pkgA:m:T", name).input("foo", value);
            let resource = if name == "new" { resource.alias(urn("a").as_str()) } else { resource };
            resource.register().await?;
            Ok(())
        })
    };
    for provider in [
        TestProvider::default(),
        TestProvider::replacing_on(["foo"]),
        TestProvider::deleting_before_replacing_on(["foo"]),
    ] {
        let mut stack = Stack::with_provider("pkgA", provider);
        stack.up(named("a", "bar")).ok();
        let plan = stack.plan(named("new", "baz"));
        stack.up_held(&plan, named("new", "baz")).ok();
        assert_eq!(stack.names(), ["shop-dev", "new"]);
    }
}

/// A program made up from a seed: some of five resources, each with a size, a kind and perhaps what it depends on.
fn made_up(rng: &mut ChaCha8Rng) -> Vec<(&'static str, i64, i64, bool)> {
    let names = ["r1", "r2", "r3", "r4", "r5"];
    let all = names.map(|name| {
        let there = rng.random_range(0..100) < 70;
        (there, (name, rng.random_range(0..2), rng.random_range(0..2), rng.random_range(0..2) == 0))
    });
    all.into_iter().filter(|(there, _)| *there).map(|(_, resource)| resource).collect()
}

fn running(resources: Vec<(&'static str, i64, i64, bool)>) -> Arc<dyn Program> {
    program(move |p| {
        let resources = resources.clone();
        async move {
            let mut before: Option<Registered> = None;
            for (name, size, kind, follows) in resources {
                let mut resource = p.resource("pkgA:m:T", name).input("size", size).input("kind", kind);
                if let Some(before) = before.as_ref().filter(|_| follows) {
                    resource = resource.input_from("of", before, "kind");
                }
                before = Some(resource.register().await?);
            }
            Ok(())
        }
    })
}

#[test]
fn whatever_the_program_became_nothing_is_done_that_was_not_planned() {
    let (mut held, mut stopped) = (0, 0);
    for seed in 0..600 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let provider = match rng.random_range(0..2) {
            0 => TestProvider::replacing_on(["kind", "of"]),
            _ => TestProvider::deleting_before_replacing_on(["kind", "of"]),
        };
        let mut stack = Stack::with_provider("pkgA", provider);
        stack.up(running(made_up(&mut rng))).ok();
        let wanted = made_up(&mut rng);
        let plan = stack.plan(running(wanted.clone()));
        let became = if seed % 4 == 0 { wanted.clone() } else { made_up(&mut rng) };
        stack.calls("pkgA");
        let outcome = stack.up_held(&plan, running(became.clone()));
        if became == wanted {
            outcome.ok();
            held += 1;
        } else {
            stopped += usize::from(outcome.report.ending == Ending::Failed);
        }
        for call in stack.calls("pkgA") {
            let name = call.urn.name();
            let planned = ops(&plan, name);
            let allowed: &[Op] = match call.method {
                "create" => &[Op::Create, Op::CreateReplacement],
                "update" => &[Op::Update, Op::Replace],
                "delete" => &[Op::Delete, Op::DeleteReplaced],
                _ => continue,
            };
            let what = format!("seed {seed}: {} {name} against {planned:?}", call.method);
            assert!(planned.iter().any(|op| allowed.contains(op)), "{what}");
            if call.method != "delete" {
                let (_, size, kind, _) = wanted.iter().find(|(wanted, ..)| *wanted == name).unwrap();
                assert_eq!(
                    (&call.inputs["size"], &call.inputs["kind"]),
                    (&(*size).into(), &(*kind).into()),
                    "{what}"
                );
            }
        }
    }
    assert!(held > 100 && stopped > 300, "{held} held, {stopped} stopped");
}

//! How generated names are formed.

use crate::harness::{Outcome, Stack, TestProvider, diff_by_keys, program};
use drystone_engine::{Autonaming, ConfigValue, Program, Severity};
use serde_json::json;
use std::sync::{Arc, Mutex};

type Told = Arc<Mutex<Vec<(String, Option<Autonaming>)>>>;

/// A provider that remembers what it is told of names.
fn listening() -> (TestProvider, Told) {
    let told = Told::default();
    let seen = Arc::clone(&told);
    let provider = TestProvider {
        check: Some(Arc::new(move |arguments| {
            let name = arguments.urn.name().to_owned();
            seen.lock().unwrap().push((name, arguments.autonaming));
            Ok(drystone_engine::Checked { properties: arguments.new_inputs, ..Default::default() })
        })),
        diff: Some(Arc::new(|arguments| Ok(diff_by_keys(&arguments, &["kind"], false)))),
        supports_autonaming: true,
        ..TestProvider::default()
    };
    (provider, told)
}

fn one() -> Arc<dyn Program> {
    kind("x")
}

fn kind(kind: &'static str) -> Arc<dyn Program> {
    program(move |p| async move {
        p.resource("pkgA:m:T", "a").input("kind", kind).register().await?;
        Ok(())
    })
}

fn stack_with(setting: serde_json::Value) -> (Stack, Told) {
    let (provider, told) = listening();
    let mut stack = Stack::with_provider("pkgA", provider);
    stack.options.autonaming = Some(setting);
    stack.config.insert("shop:team".into(), ConfigValue { text: "blue".into(), ..ConfigValue::default() });
    let object = ConfigValue { text: r#"{"zone":"eu"}"#.into(), object: true, secret: false };
    stack.config.insert("shop:place".into(), object);
    (stack, told)
}

/// What the provider was told of `a`.
fn told_with(setting: serde_json::Value) -> Option<Autonaming> {
    let (mut stack, told) = stack_with(setting);
    stack.up(one()).ok();
    let told = told.lock().unwrap();
    told[0].1.clone()
}

fn refused(setting: serde_json::Value, message: &str) -> Outcome {
    let (mut stack, _) = stack_with(setting);
    let outcome = stack.up(one()).failed(message);
    assert!(stack.snapshot.resources.is_empty(), "nothing begins");
    outcome
}

#[test]
fn without_a_setting_the_provider_is_told_nothing() {
    let (provider, told) = listening();
    let mut stack = Stack::with_provider("pkgA", provider);
    stack.up(one()).ok();
    assert_eq!(*told.lock().unwrap(), [("a".to_owned(), None)]);
}

#[test]
fn the_modes_are_default_verbatim_and_disabled() {
    assert_eq!(told_with(json!({"mode": "default"})), None);
    assert_eq!(told_with(json!({"mode": "verbatim"})), Some(Autonaming::Enforce("a".into())));
    assert_eq!(told_with(json!({"mode": "disabled"})), Some(Autonaming::Disable));
}

#[test]
fn a_pattern_is_proposed_or_enforced() {
    let pattern = "${organization}-${project}-${stack}-${name}";
    let name = "organization-shop-dev-a".to_owned();
    assert_eq!(told_with(json!({"pattern": pattern})), Some(Autonaming::Propose(name.clone())));
    assert_eq!(told_with(json!({"pattern": pattern, "enforce": true})), Some(Autonaming::Enforce(name)));
}

#[test]
fn a_pattern_takes_values_of_the_configuration() {
    let told = told_with(json!({"pattern": "${config.team}-${config.place.zone}-${name}"}));
    assert_eq!(told, Some(Autonaming::Propose("blue-eu-a".into())));
}

#[test]
fn what_is_random_follows_from_the_seed() {
    let name = |told: Option<Autonaming>| match told {
        Some(Autonaming::Propose(name)) => name,
        other => panic!("{other:?}"),
    };
    let pattern = json!({"pattern": "${name}-${hex(6)}"});
    let first = name(told_with(pattern.clone()));
    assert_eq!((first.len(), first.starts_with("a-")), (8, true));
    assert_eq!(name(told_with(pattern)), first, "the seed of the tests is always the same");
}

#[test]
fn a_package_and_a_type_can_have_rules_of_their_own() {
    let told = |resources: serde_json::Value, package: serde_json::Value| {
        let mut provider = package;
        provider["resources"] = resources;
        told_with(json!({"pattern": "root-${name}", "providers": {"pkgA": provider}}))
    };
    assert_eq!(told(json!({}), json!({})), Some(Autonaming::Propose("root-a".into())));
    assert_eq!(told(json!({}), json!({"mode": "verbatim"})), Some(Autonaming::Enforce("a".into())));
    let own = json!({"pkgA:m:T": {"pattern": "own-${name}"}});
    assert_eq!(told(own, json!({"mode": "verbatim"})), Some(Autonaming::Propose("own-a".into())));
    let other = json!({"pkgA:m:Other": {"mode": "disabled"}});
    assert_eq!(told(other, json!({"mode": "verbatim"})), Some(Autonaming::Enforce("a".into())));
    let elsewhere = told_with(json!({"mode": "verbatim", "providers": {"pkgB": {"mode": "disabled"}}}));
    assert_eq!(elsewhere, Some(Autonaming::Enforce("a".into())));
}

#[test]
fn a_name_without_randomness_makes_replacements_delete_first() {
    for (setting, effects) in [
        (json!({"mode": "verbatim"}), ["create a", "delete a", "create a"]),
        (json!({"pattern": "${name}-fixed"}), ["create a", "delete a", "create a"]),
        (json!({"pattern": "${name}-${num(4)}"}), ["create a", "create a", "delete a"]),
        (json!({"mode": "default"}), ["create a", "create a", "delete a"]),
    ] {
        let (mut stack, _) = stack_with(setting);
        stack.up(kind("x")).ok();
        stack.up(kind("y")).ok();
        assert_eq!(stack.effects("pkgA"), effects);
    }
}

#[test]
fn a_provider_that_does_not_listen_is_told_nothing() {
    for (setting, warned) in [
        (json!({"mode": "verbatim"}), false),
        (json!({"pattern": "${name}"}), false),
        (json!({"pattern": "${name}", "enforce": true}), true),
        (json!({"providers": {"pkgA": {"mode": "verbatim"}}}), true),
    ] {
        let (mut stack, told) = stack_with(setting);
        stack.providers.get_mut("pkgA").unwrap().supports_autonaming = false;
        let outcome = stack.up(one()).ok();
        assert_eq!(told.lock().unwrap()[0].1, None);
        let warnings = outcome.diagnostics(Severity::Warning);
        assert_eq!(warnings.iter().any(|text| text.contains("custom autonaming setting")), warned);
    }
}

#[test]
fn a_setting_that_makes_no_sense_is_refused_before_anything_begins() {
    refused(json!({"mode": "odd"}), "invalid naming mode: odd");
    refused(json!({"mode": "verbatim", "pattern": "x"}), "cannot specify both mode and pattern/enforce");
    refused(json!({"enforce": true}), "pattern must be specified when enforce is true");
    refused(json!({"patern": "x"}), "invalid autonaming config structure");
    refused(json!({"pattern": "${config.nothing}"}), "no value found for key \"nothing\"");
    refused(
        json!({"providers": {"pkgA": {"resources": {"pkgA:m:T": {}}}}}),
        "mode or pattern must be specified for resource \"pkgA:m:T\"",
    );
}

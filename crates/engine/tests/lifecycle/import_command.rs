//! Taking over what exists because the user named it, without a program.

use crate::harness::{Outcome, Stack, TestProvider, program};
use drystone_engine::{
    CheckFailure, Checked, Import, Imported, Op, Operation, PackageDescriptor, Parameterization, PropertyMap,
    ProviderError, ReadState, Severity,
};
use drystone_model::{Urn, Value};
use std::sync::Arc;

/// A stack where `real` and `other` exist.
fn existing() -> Stack {
    let stack = Stack::with_provider("pkgA", TestProvider::default());
    for (id, size) in [("real", 1), ("other", 2)] {
        let found = PropertyMap::from([("size".to_owned(), Value::from(size))]);
        stack.providers["pkgA"].cloud.lock().unwrap().insert(id.to_owned(), found);
    }
    stack
}

fn import(name: &str, id: &str) -> Import {
    Import {
        type_token: "pkgA:m:T".to_owned(),
        name: name.to_owned(),
        what: Imported::Resource { id: id.to_owned(), outputs: PropertyMap::new() },
        package: PackageDescriptor { name: "pkgA".to_owned(), ..PackageDescriptor::default() },
        protect: true,
        ..Import::default()
    }
}

fn component(name: &str) -> Import {
    Import { type_token: "pkgA:m:Group".to_owned(), name: name.to_owned(), ..Import::default() }
}

fn provider(name: &str, region: &str) -> Import {
    Import {
        type_token: "pulumi:providers:pkgA".to_owned(),
        name: name.to_owned(),
        what: Imported::Provider,
        package: PackageDescriptor { name: "pkgA".to_owned(), ..PackageDescriptor::default() },
        inputs: PropertyMap::from([("region".to_owned(), Value::from(region))]),
        ..Import::default()
    }
}

fn urn(parents: &str, name: &str) -> Urn {
    Urn::new(format!("urn:pulumi:dev::shop::{parents}::{name}"))
}

impl Stack {
    fn import(&mut self, imports: impl IntoIterator<Item = Import>) -> Outcome {
        self.options.imports = imports.into_iter().collect();
        self.operate(Operation::Import, false, None)
    }
}

#[test]
fn a_resource_is_read_and_recorded_with_its_stack_and_its_provider() {
    let mut stack = existing();
    let outcome = stack.import([import("a", "real")]).ok();
    assert_eq!(outcome.steps(), ["import a"]);
    assert_eq!((outcome.count(Op::Import), outcome.count(Op::Create)), (1, 1));
    assert_eq!(stack.effects("pkgA"), ["read a"]);
    assert_eq!(stack.names(), ["shop-dev", "a"]);
    let a = stack.resource("a");
    assert_eq!((a.id.as_str(), a.import_id.as_str(), a.parent.name()), ("real", "", "shop-dev"));
    assert!(a.protect && a.custom && a.created.is_some() && a.created == a.modified);
    assert!(a.inputs.text().contains(r#""size":1"#) && a.outputs.text().contains(r#""size":1"#));
    assert!(a.provider.contains("::default::"));
}

#[test]
fn protection_is_a_wish() {
    let mut stack = existing();
    stack.import([Import { protect: false, ..import("a", "real") }]).ok();
    assert!(!stack.resource("a").protect);
}

#[test]
fn a_preview_reads_and_records_nothing() {
    let mut stack = existing();
    stack.options.imports = vec![import("a", "real")];
    let outcome = stack.operate(Operation::Import, true, None).ok();
    assert_eq!(outcome.steps(), ["import a"]);
    assert_eq!(stack.effects("pkgA"), ["read a"]);
    assert!(stack.names().is_empty());
}

#[test]
fn the_program_that_names_it_then_changes_nothing() {
    let mut stack = existing();
    stack.import([import("a", "real")]).ok();
    let outcome = stack.up(program(|p| async move {
        let a = p.resource("pkgA:m:T", "a").input("size", 1);
        a.options(|options| options.protect = Some(true)).register().await?;
        Ok(())
    }));
    assert_eq!(outcome.ok().steps().len(), 0);
}

#[test]
fn what_the_stack_has_stays_and_keeps_its_order() {
    let mut stack = existing();
    let program = || {
        program(|p| async move {
            let b = p.resource("pkgA:m:T", "b").input("size", 5).register().await?;
            p.resource("pkgA:m:T", "c").depends_on(&b.urn).register().await?;
            Ok(())
        })
    };
    stack.up(program()).ok();
    let before = stack.snapshot.clone();
    let outcome = stack.import([import("a", "real")]).ok();
    assert_eq!(outcome.count(Op::Same), 3);
    assert_eq!(stack.names(), ["shop-dev", "b", "c", "a"]);
    assert_eq!(stack.snapshot.resources[..before.resources.len()], before.resources[..]);
    assert_eq!(stack.effects("pkgA"), ["create b", "create c", "read a"]);
}

#[test]
fn what_is_there_under_the_same_id_is_left_alone() {
    let mut stack = existing();
    stack.import([import("a", "real")]).ok();
    stack.effects("pkgA");
    let before = stack.snapshot.clone();
    let outcome = stack.import([import("a", "real")]).ok();
    assert_eq!((outcome.steps().len(), outcome.entries), (0, 0));
    assert_eq!(stack.snapshot, before);
    assert!(stack.effects("pkgA").is_empty());
}

#[test]
fn what_is_there_under_another_id_is_an_error() {
    let mut stack = existing();
    stack.import([import("a", "real")]).ok();
    stack.import([import("a", "other")]).failed("already exists");
    assert_eq!(stack.resource("a").id, "real");
}

#[test]
fn two_of_one_name_are_an_error_and_nothing_is_read() {
    let mut stack = existing();
    let outcome = stack.import([import("a", "real"), import("a", "other")]);
    outcome.failed("duplicate import 'a' of type 'pkgA:m:T'");
    assert!(stack.effects("pkgA").is_empty());
}

#[test]
fn what_does_not_exist_is_an_error_and_the_rest_stays_imported() {
    let mut stack = existing();
    stack.options.parallel = 1;
    stack.import([import("a", "real"), import("b", "missing")]).failed("resource 'missing' does not exist");
    assert_eq!(stack.names(), ["shop-dev", "a"]);
    stack.import([import("a", "real"), import("b", "other")]).ok();
    assert_eq!(stack.names(), ["shop-dev", "a", "b"]);
}

#[test]
fn a_provider_that_cannot_read_is_told_of() {
    let mut stack = existing();
    stack.providers.get_mut("pkgA").unwrap().read = Some(Arc::new(|arguments| {
        Ok(ReadState { id: arguments.id, outputs: Some(PropertyMap::new()), ..ReadState::default() })
    }));
    let failure = "provider does not support importing resources; please try updating the 'pkgA' plugin";
    stack.import([import("a", "real")]).failed(failure);
}

#[test]
fn a_provider_that_fails_is_told_of() {
    let mut stack = existing();
    stack.providers.get_mut("pkgA").unwrap().read = Some(Arc::new(|_| Err(ProviderError::new("denied"))));
    stack.import([import("a", "real")]).failed("denied");
    assert!(stack.find("a").is_none());
}

#[test]
fn inputs_that_do_not_pass_their_check_are_taken_over_with_a_warning() {
    let mut stack = existing();
    stack.providers.get_mut("pkgA").unwrap().check = Some(Arc::new(|arguments| {
        let failure = CheckFailure { property: "size".to_owned(), reason: "too small".to_owned() };
        Ok(Checked { properties: arguments.new_inputs, failures: vec![failure] })
    }));
    let outcome = stack.import([import("a", "real")]).ok();
    let warnings = outcome.diagnostics(Severity::Warning);
    assert!(warnings[0].starts_with("One or more imported inputs failed to validate."), "{warnings:?}");
    assert!(warnings[1].contains("property size value {1} has a problem: too small"), "{warnings:?}");
    assert_eq!(stack.resource("a").id, "real");
}

#[test]
fn components_are_taken_over_by_name_and_before_their_children() {
    let mut stack = existing();
    let group = urn("pkgA:m:Group", "group");
    let child = Import { parent: group.clone(), ..import("a", "real") };
    let outcome = stack.import([child, component("group")]).ok();
    assert_eq!(outcome.steps(), ["import group", "import a"]);
    assert_eq!(stack.names(), ["shop-dev", "group", "a"]);
    assert_eq!(stack.resource("a").urn.as_str(), "urn:pulumi:dev::shop::pkgA:m:Group$pkgA:m:T::a");
    let group = stack.resource("group");
    assert!(!group.custom && group.id.is_empty() && group.provider.is_empty());
}

#[test]
fn a_child_joins_a_parent_that_the_stack_has() {
    let mut stack = existing();
    stack.import([component("group")]).ok();
    let group = stack.urn("group");
    stack.import([Import { parent: group.clone(), ..import("a", "real") }]).ok();
    assert_eq!(stack.resource("a").parent, group);
}

#[test]
fn an_unknown_parent_is_an_error() {
    let mut stack = existing();
    let parent = urn("pkgA:m:Group", "nobody");
    stack.import([Import { parent, ..import("a", "real") }]).failed("unknown parent");
}

#[test]
fn parents_that_go_round_in_a_circle_are_an_error() {
    let mut stack = existing();
    let one = urn("pkgA:m:Group$pkgA:m:Group", "one");
    let circle = Import { parent: one.clone(), type_token: "pkgA:m:Group".to_owned(), ..component("one") };
    let outcome = stack.import([circle]);
    outcome.failed("parent");
    assert!(stack.find("one").is_none());
}

#[test]
fn a_remote_component_has_a_provider() {
    let mut stack = existing();
    let remote = Import {
        what: Imported::Component { remote: true },
        package: PackageDescriptor { name: "pkgA".to_owned(), ..PackageDescriptor::default() },
        ..component("group")
    };
    stack.import([remote]).ok();
    assert!(stack.resource("group").provider.contains("pulumi:providers:pkgA::default::"));
    assert!(stack.effects("pkgA").is_empty());
}

#[test]
fn a_provider_that_is_declared_is_made_and_used() {
    let mut stack = existing();
    let of_provider = urn("pulumi:providers:pkgA", "west");
    let a = Import { provider: of_provider, ..import("a", "real") };
    stack.import([a, provider("west", "us-west")]).ok();
    assert_eq!(stack.names(), ["shop-dev", "west", "a"]);
    assert!(stack.resource("west").inputs.text().contains("us-west"));
    let read = stack.calls("pkgA").into_iter().find(|call| call.method == "read").unwrap();
    assert_eq!(read.config.get("region"), Some(&Value::from("us-west")));
}

#[test]
fn a_provider_that_is_only_named_is_made_with_its_own_inputs() {
    let mut stack = existing();
    let of_provider = urn("pulumi:providers:pkgA", "east");
    let inputs = PropertyMap::from([("region".to_owned(), Value::from("us-east"))]);
    stack.import([Import { provider: of_provider, provider_inputs: inputs, ..import("a", "real") }]).ok();
    assert!(stack.resource("east").inputs.text().contains("us-east"));
    assert!(stack.resource("a").provider.contains("::east::"));
}

#[test]
fn a_provider_that_the_stack_has_is_used_as_it_is() {
    let mut stack = existing();
    stack.import([provider("west", "us-west")]).ok();
    let of_provider = stack.urn("west");
    let before = stack.resource("west").clone();
    stack.import([Import { provider: of_provider, ..import("a", "real") }]).ok();
    assert_eq!(*stack.resource("west"), before);
    assert_eq!(stack.resource("a").provider, format!("{}::{}", before.urn, before.id));
}

#[test]
fn what_is_named_as_a_provider_has_to_be_one() {
    let mut stack = existing();
    let not_one = urn("pkgA:m:T", "b");
    let outcome = stack.import([Import { provider: not_one, ..import("a", "real") }]);
    outcome.failed("is not a provider type");
}

#[test]
fn default_providers_have_their_version_and_the_packages_configuration() {
    let mut stack = existing();
    let size = drystone_engine::ConfigValue { text: "7".to_owned(), ..Default::default() };
    stack.config.insert("pkgA:size".to_owned(), size);
    let package = PackageDescriptor {
        name: "pkgA".to_owned(),
        version: "1.2.3".to_owned(),
        ..PackageDescriptor::default()
    };
    stack.import([Import { package, ..import("a", "real") }]).ok();
    assert!(stack.resource("a").provider.contains("::default_1_2_3::"));
    let provider = stack.resource("default_1_2_3");
    assert!(
        provider.inputs.text().contains(r#""version":"1.2.3""#) && provider.inputs.text().contains("\"7\"")
    );
}

#[test]
fn a_package_of_a_parameterised_plugin_is_asked() {
    let mut stack = existing();
    stack.providers.get_mut("pkgA").unwrap().parameterize =
        Some(Arc::new(|_| Ok(("pkgExt".to_owned(), "0.5.0".to_owned()))));
    let parameterization =
        Parameterization { name: "pkgExt".to_owned(), version: "0.5.0".to_owned(), value: b"x".to_vec() };
    let package = PackageDescriptor {
        name: "pkgA".to_owned(),
        version: "1.0.0".to_owned(),
        parameterization: Some(parameterization),
        ..PackageDescriptor::default()
    };
    stack.import([Import { type_token: "pkgExt:m:T".to_owned(), package, ..import("a", "real") }]).ok();
    assert!(stack.resource("a").provider.contains("pulumi:providers:pkgExt::default_0_5_0::"));
}

#[test]
fn s17_inputs_that_the_user_supplies_complete_what_is_read_and_stay_secret() {
    let mut stack = existing();
    let inputs = PropertyMap::from([
        ("password".to_owned(), Value::secret(Value::from("hunter2"))),
        ("size".to_owned(), Value::secret(Value::from(9))),
    ]);
    stack.import([Import { inputs, ..import("a", "real") }]).ok();
    let stored = stack.resource("a").inputs.text();
    assert!(!stored.contains("hunter2") && stored.matches("ciphertext").count() == 2, "{stored}");
    assert!(!stored.contains(r#""size":1"#), "{stored}");
}

#[test]
fn a_whole_state_is_believed_and_the_provider_is_not_asked() {
    let mut stack = existing();
    let outputs = PropertyMap::from([("size".to_owned(), Value::from(42))]);
    let inputs = outputs.clone();
    let what = Imported::Resource { id: "elsewhere".to_owned(), outputs };
    stack.import([Import { what, inputs, ..import("a", "") }]).ok();
    assert!(stack.effects("pkgA").is_empty());
    let a = stack.resource("a");
    assert!(a.id == "elsewhere" && a.outputs.text().contains("42"));
}

#[test]
fn s04_an_import_that_cannot_be_written_down_stops() {
    let mut stack = existing();
    stack.journal_fails_at = Some(0);
    let outcome = stack.import([import("a", "real")]);
    assert!(matches!(outcome.report.ending, drystone_engine::Ending::Unrecorded(_)));
    assert!(stack.names().is_empty());
}

#[test]
fn a_default_provider_that_is_barred_is_not_made() {
    let mut stack = existing();
    stack.options.disable_default_providers = vec!["*".to_owned()];
    stack.import([import("a", "real")]).failed("Default provider for 'pkgA' disabled.");
}

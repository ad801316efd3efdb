//! Which plugin serves a package where the program's requests do not say.

use crate::harness::{P, Stack, program};
use drystone_engine::{MonitorError, PackageDescriptor, Parameterization, Program};
use std::sync::Arc;

fn plugin(name: &str, version: &str) -> PackageDescriptor {
    PackageDescriptor { name: name.to_owned(), version: version.to_owned(), ..PackageDescriptor::default() }
}

fn made_of(name: &str, package: &str, version: &str) -> PackageDescriptor {
    let made =
        Parameterization { name: package.to_owned(), version: version.to_owned(), value: b"v".to_vec() };
    PackageDescriptor { parameterization: Some(made), ..plugin(name, "9.0.0") }
}

/// A program whose language says what it needs, with one resource of `pkgA` that asks for a version.
fn needing(packages: Vec<PackageDescriptor>, version: &'static str) -> Arc<dyn Program> {
    program(move |p: P| {
        let packages = packages.clone();
        async move {
            p.monitor.require_packages(packages)?;
            p.resource("pkgA:m:T", "a").version(version).register().await?;
            Ok(())
        }
    })
}

/// The names of the providers in the state and the version of the plugin that each has.
fn providers(stack: &Stack) -> Vec<String> {
    let records = stack.snapshot.resources.iter();
    let providers = records.filter(|record| record.type_token.starts_with("pulumi:providers:"));
    let version = |text: &str| {
        let inputs: serde_json::Value = serde_json::from_str(text).unwrap();
        inputs["version"].as_str().unwrap_or("any").to_owned()
    };
    providers.map(|found| format!("{} {}", found.urn.name(), version(found.inputs.text()))).collect()
}

#[test]
fn what_the_language_says_is_taken_where_the_program_does_not_say() {
    let mut stack = Stack::new();
    stack.up(needing(vec![plugin("pkgA", "v1.2.3"), plugin("other", "7.0.0")], "")).ok();
    assert_eq!(providers(&stack), ["default_1_2_3 v1.2.3"]);
    assert_eq!(stack.providers["pkgA"].loaded.lock().unwrap()[0].version, "v1.2.3");
}

#[test]
fn the_newest_of_what_the_language_says_is_taken() {
    let mut stack = Stack::new();
    let packages = ["1.9.0", "1.10.0", "", "1.2.0"].map(|version| plugin("pkgA", version));
    stack.up(needing(packages.to_vec(), "")).ok();
    assert_eq!(providers(&stack), ["default_1_10_0 1.10.0"]);
}

#[test]
fn what_the_program_says_goes_before_what_the_language_says() {
    let mut stack = Stack::new();
    stack.up(needing(vec![plugin("pkgA", "1.2.3")], "2.0.0")).ok();
    assert_eq!(providers(&stack), ["default_2_0_0 2.0.0"]);
}

#[test]
fn where_a_plugin_comes_from_is_taken_as_well() {
    let mut stack = Stack::new();
    let package = PackageDescriptor {
        download_url: "https://plugins".to_owned(),
        checksums: [("linux-amd64".to_owned(), vec![1, 2])].into(),
        ..plugin("pkgA", "1.2.3")
    };
    stack.up(needing(vec![package.clone()], "")).ok();
    assert_eq!(stack.providers["pkgA"].loaded.lock().unwrap()[0], package);
    // Another version is another file: the checksums are not those of this one.
    let mut stack = Stack::new();
    stack.up(needing(vec![package], "2.0.0")).ok();
    let loaded = stack.providers["pkgA"].loaded.lock().unwrap()[0].clone();
    assert_eq!((loaded.download_url.as_str(), loaded.checksums.len()), ("https://plugins", 0));
}

#[test]
fn an_explicit_provider_that_says_nothing_is_served_by_the_same_plugin() {
    let mut stack = Stack::new();
    stack
        .up(program(|p: P| async move {
            p.monitor.require_packages(vec![plugin("pkgA", "1.2.3")])?;
            p.resource("pulumi:providers:pkgA", "own").register().await?;
            p.resource("pulumi:providers:pkgA", "newer").version("2.0.0").register().await?;
            p.resource("pulumi:providers:pkgA", "old-style").input("version", "0.1.0").register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(providers(&stack), ["own 1.2.3", "newer 2.0.0", "old-style 0.1.0"]);
}

#[test]
fn where_nobody_says_the_plugin_of_the_state_is_kept() {
    let mut stack = Stack::new();
    stack.up(needing(Vec::new(), "1.2.3")).ok();
    let outcome = stack.up(needing(Vec::new(), "")).ok();
    assert_eq!((outcome.steps(), providers(&stack)), (vec![], vec!["default_1_2_3 1.2.3".to_owned()]));
}

#[test]
fn what_has_no_version_in_the_state_keeps_to_none() {
    let both = program(|p: P| async move {
        p.resource("pkgA:m:T", "a").register().await?;
        p.resource("pkgA:m:T", "b").version("1.2.3").register().await?;
        Ok(())
    });
    let mut stack = Stack::new();
    stack.up(Arc::clone(&both)).ok();
    let outcome = stack.up(both).ok();
    assert_eq!(outcome.steps(), [] as [&str; 0]);
    assert_eq!(providers(&stack), ["default any", "default_1_2_3 1.2.3"]);
}

#[test]
fn what_the_language_says_of_other_packages_leaves_the_state_out() {
    let mut stack = Stack::new();
    stack.up(needing(Vec::new(), "1.2.3")).ok();
    stack.up(needing(vec![plugin("other", "7.0.0")], "")).ok();
    assert_eq!(providers(&stack), ["default any"]);
}

#[test]
fn a_parameterised_package_stands_for_its_name() {
    let mut stack = Stack::new();
    stack.providers.insert("bridge".to_owned(), stack.providers["pkgA"].clone());
    let bridge = stack.providers.get_mut("bridge").unwrap();
    bridge.parameterize = Some(Arc::new(|_| Ok(("pkgA".to_owned(), "3.0.0".to_owned()))));
    stack.up(needing(vec![made_of("bridge", "pkgA", "3.0.0")], "")).ok();
    assert_eq!(providers(&stack), ["default_3_0_0 3.0.0"]);
    let loaded = stack.providers["bridge"].loaded.lock().unwrap()[0].clone();
    assert_eq!((loaded.name.as_str(), loaded.version.as_str()), ("bridge", "9.0.0"));
}

#[test]
fn a_package_of_two_plugins_is_refused() {
    let mut stack = Stack::new();
    let refused = |packages: Vec<PackageDescriptor>| {
        program(move |p: P| {
            let packages = packages.clone();
            async move {
                let error = p.monitor.require_packages(packages).unwrap_err();
                Err::<(), _>(MonitorError::new(error.message))
            }
        })
    };
    let outcome = stack.up(refused(vec![plugin("pkgA", "1.0.0"), made_of("bridge", "pkgA", "3.0.0")]));
    let outcome = outcome.failed("package \"pkgA\" is provided by more than one plugin");
    let text = outcome.diagnostics(drystone_engine::Severity::Error).join("\n");
    assert!(text.contains("plugin \"pkgA\" v1.0.0\n"), "{text}");
    assert!(text.contains("plugin \"bridge\" v9.0.0 parameterized as \"pkgA\" v3.0.0\n"), "{text}");
}

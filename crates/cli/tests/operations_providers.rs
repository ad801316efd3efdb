//! What passes between operations and providers besides the life of resources.

mod harness;
mod programs;
mod rough;

use rough::{Site, known};
use serde_json::Value;

const ONE: &str = "{steps: [{register: {name: a, properties: {x: 1}}}]}";

/// The views in the state: whose they are and their outputs.
fn parts(site: &Site) -> Vec<(String, Value)> {
    let export = site.export();
    let resources = export["deployment"]["resources"].as_array().cloned().unwrap_or_default();
    let parts = resources.iter().filter(|resource| resource["type"] == "bench:index:Part");
    parts
        .map(|part| (part["viewOf"].as_str().unwrap_or_default().to_owned(), part["outputs"].clone()))
        .collect()
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn views_are_kept_by_operations_with_and_without_a_program() {
    let owner = "urn:pulumi:dev::shop::bench:index:Item::a";
    let mut site = Site::new(ONE);
    site.sandbox.set("BENCH_VIEWS", "1");
    let up = site.run("up");
    assert_eq!(up.code, 0, "{up:#?}");
    assert!(up.stdout.contains("bench:index:Part a-part"), "{up:#?}");
    assert_eq!(parts(&site), [(owner.to_owned(), serde_json::json!({"x": 1}))]);

    site.sandbox.write("world/a", "{\"x\": 2}");
    let refresh = site.run("refresh");
    assert_eq!(refresh.code, 0, "{refresh:#?}");
    assert_eq!(parts(&site), [(owner.to_owned(), serde_json::json!({"x": 2}))], "{refresh:#?}");

    let destroy = site.run("destroy");
    assert_eq!(destroy.code, 0, "{destroy:#?}");
    assert!(destroy.stdout.contains("bench:index:Part a-part"), "{destroy:#?}");
    assert_eq!((parts(&site), site.known(), site.things().len()), (vec![], known(&[], &[]), 0));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_provider_finds_variables_under_the_names_that_its_resource_maps_them_to() {
    let program = "{steps: [{register: {type: \"pulumi:providers:bench\", name: elsewhere, \
                   envVarMappings: {OTHER_WORLD: BENCH_WORLD}}}, \
                   {register: {name: a, provider: $elsewhere.provider}}, {register: {name: b}}]}";
    let mut site = Site::new(program);
    let other = site.sandbox.project().join("elsewhere");
    std::fs::create_dir(&other).expect("a folder");
    site.sandbox.set("OTHER_WORLD", other.to_str().expect("a path"));
    let up = site.run("up");
    assert_eq!(up.code, 0, "{up:#?}");
    assert!(other.join("a").exists() && !other.join("b").exists());
    assert_eq!(site.things().into_iter().collect::<Vec<_>>(), ["b"]);

    // The next operation knows it from the state alone.
    let destroy = site.run("destroy");
    assert_eq!(destroy.code, 0, "{destroy:#?}");
    assert!(!other.join("a").exists() && site.things().is_empty());
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_plugin_that_is_older_than_what_was_asked_for_is_told_of() {
    let told = "warning: resource plugin bench is expected to have version >=2.0.0, but has 1.0.0; the wrong version";
    for (version, warns) in [("1.0.0", false), ("0.9.0", false), ("2.0.0", true)] {
        let site = Site::new(&format!("{{steps: [{{register: {{name: a, version: {version}}}}}]}}"));
        let up = site.run("up");
        assert_eq!((up.code, up.stdout.contains(told)), (0, warns), "{version}: {up:#?}");
    }
    let mut site = Site::new("{steps: [{register: {name: a, version: 2.0.0}}]}");
    site.sandbox.set("PULUMI_DEV", "true");
    assert!(!site.run("up").stdout.contains(told));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn plugins_are_told_of_logs_and_traces() {
    use std::os::unix::fs::PermissionsExt;
    let mut site = Site::new(ONE);
    let real = std::env::var("DRYSTONE_TESTBED").expect("DRYSTONE_TESTBED: run `cargo xtask test`");
    let path = site.sandbox.project().join("bin");
    std::fs::create_dir(&path).expect("a folder");
    let wrapper = path.join("pulumi-resource-bench");
    let script = format!("#!/bin/sh\necho \"$@\" >> told\nexec {real}/pulumi-resource-bench \"$@\"\n");
    std::fs::write(&wrapper, script).expect("a program");
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let before = std::env::var("PATH").unwrap_or_default();
    site.sandbox.set("PATH", &format!("{}:{real}:{before}", path.display()));
    let logs = ["--logflow", "--logtostderr", "-v=9", "--tracing", "http://127.0.0.1:9"];
    let up = site.sandbox.drystone(&[&["up", "--yes", "--skip-preview"][..], &logs].concat());
    assert_eq!(up.code, 0, "{up:#?}");
    let told = site.sandbox.read("told");
    assert!(told.starts_with("--logtostderr -v=9 --tracing http://127.0.0.1:9 127.0.0.1:"), "{told}");
}

//! `schema get` and `package add`: what packages say of themselves, and how a program comes to use one.

mod harness;

use harness::Sandbox;
use serde_json::Value;

/// A project in YAML that finds the bench provider on its PATH.
fn project() -> Sandbox {
    let plugins = std::env::var("DRYSTONE_TESTBED").expect("DRYSTONE_TESTBED: run `cargo xtask test`");
    let mut sandbox = Sandbox::new();
    let world = sandbox.project().join("world");
    std::fs::create_dir(&world).expect("a folder");
    sandbox.set("PATH", &format!("{plugins}:{}", std::env::var("PATH").unwrap_or_default()));
    sandbox.set("BENCH_WORLD", world.to_str().expect("a path"));
    sandbox
}

fn schema(sandbox: &Sandbox, words: &[&str]) -> Value {
    let text = sandbox.ok(words);
    serde_json::from_str(&text).expect("JSON")
}

fn read(sandbox: &Sandbox, name: &str) -> String {
    std::fs::read_to_string(sandbox.project().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn the_schema_of_the_built_in_package_is_printed() {
    let sandbox = Sandbox::new();
    let schema = schema(&sandbox, &["schema", "get", "drystone"]);
    assert_eq!(schema["name"], "drystone");
    assert!(schema["resources"].as_object().is_some_and(|types| types.contains_key("drystone:random:Pet")));
}

#[test]
fn the_schema_of_a_file_is_printed_whatever_it_is_written_in() {
    let sandbox = Sandbox::new();
    sandbox.write("one.json", "{\"name\": \"one\", \"version\": \"1.0.0\"}");
    sandbox.write("two.yaml", "name: two\nversion: 2.0.0\n");
    assert_eq!(schema(&sandbox, &["schema", "get", "one.json"])["name"], "one");
    assert_eq!(schema(&sandbox, &["package", "get-schema", "./two.yaml"])["version"], "2.0.0");
    sandbox.write("none.json", "{\"version\": 1}");
    let ended = sandbox.drystone(&["schema", "get", "none.json"]);
    assert!(ended.code == 1 && ended.stderr.contains("it has no `name`"), "{ended:#?}");
    let ended = sandbox.drystone(&["schema", "get", "nowhere.json"]);
    assert!(ended.code == 2 && ended.stderr.contains("nowhere.json` cannot be read"), "{ended:#?}");
    let ended = sandbox.drystone(&["schema", "get", "one.json", "--", "parameter"]);
    assert!(ended.code == 2 && ended.stderr.contains("cannot be parameterised"), "{ended:#?}");
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn the_schema_of_a_plugin_is_printed_parameterised_or_not() {
    let sandbox = project();
    assert_eq!(schema(&sandbox, &["schema", "get", "bench"])["name"], "bench");
    let plugins = std::env::var("DRYSTONE_TESTBED").expect("it was there");
    let path = format!("{plugins}/pulumi-resource-bench");
    assert_eq!(schema(&sandbox, &["schema", "get", &path])["name"], "bench");
    let made = schema(&sandbox, &["schema", "get", "bench", "--", "shelves"]);
    assert_eq!((&made["name"], &made["version"]), (&Value::from("shelves"), &Value::from("2.0.0")));
    let ended = sandbox.drystone(&["schema", "get", "nowhere@1.0.0"]);
    assert!(ended.stderr.contains("no resource plugin 'pulumi-resource-nowhere' found"), "{ended:#?}");
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_parameterised_package_is_added_and_used() {
    let sandbox = project();
    let program = "# ours\nname: shop\nruntime: yaml\nresources:\n  one:\n    type: shelves:Item\n    properties: {x: 1}\n";
    sandbox.write("Pulumi.yaml", program);
    sandbox.ok(&["stack", "init", "dev"]);
    let refused = sandbox.drystone(&["up", "--yes", "--skip-preview"]);
    assert_ne!(refused.code, 0, "nobody knows `shelves`: {refused:#?}");

    let added = sandbox.drystone(&["package", "add", "bench", "--", "shelves"]);
    assert_eq!(added.code, 0, "{added:#?}");
    assert!(added.stderr.contains("Added package shelves"), "{added:#?}");
    let declared = read(&sandbox, "sdks/shelves/shelves-2.0.0.yaml");
    assert!(declared.contains("packageDeclarationVersion: 1") && declared.contains("aGk="), "{declared}");
    let noted = read(&sandbox, "Pulumi.yaml");
    assert!(noted.starts_with(program.trim_end()), "{noted}");
    assert!(noted.contains("source: bench") && noted.contains("parameters"), "{noted}");

    let up = sandbox.drystone(&["up", "--yes", "--skip-preview"]);
    assert_eq!(up.code, 0, "{up:#?}");
    assert!(up.stdout.contains("shelves:index:Item one"), "{up:#?}");
    let again = sandbox.drystone(&["package", "add", "bench", "--", "shelves"]);
    assert_eq!((again.code, read(&sandbox, "Pulumi.yaml")), (0, noted), "{again:#?}");
    let unchanged = sandbox.drystone(&["preview", "--expect-no-changes"]);
    assert_eq!(unchanged.code, 0, "{unchanged:#?}");
}

#[test]
fn a_language_whose_sdks_cannot_be_made_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
    let ended = sandbox.drystone(&["package", "add", "drystone"]);
    assert!(ended.code == 2 && ended.stderr.contains("an SDK for `nodejs`"), "{ended:#?}");
}

//! `schema get` and `package add`: what packages say of themselves, and how a program comes to use one.

mod harness;

use harness::Sandbox;
use serde_json::Value;
use std::path::PathBuf;

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

/// Where a peer stands.
fn peer(name: &str) -> PathBuf {
    let variable = format!("DRYSTONE_PEER_{name}");
    PathBuf::from(std::env::var(&variable).unwrap_or_else(|_| panic!("{variable}: run `cargo xtask test`")))
}

/// Brings up a program that makes `one` of a parameterised package with all that SDKs have, and sees that it stays.
fn lives(sandbox: &mut Sandbox) {
    sandbox.set("SHELVES_OPEN", "true");
    sandbox.set("SHELVES_ROOM", "attic");
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.ok(&["config", "set", "shelves:hours", "8"]);
    let up = sandbox.drystone(&["up", "--yes", "--skip-preview"]);
    assert_eq!(up.code, 0, "{up:#?}");
    assert!(up.stdout.contains("shelves:index:Item one"), "{up:#?}");
    let outputs: Value = serde_json::from_str(&sandbox.ok(&["stack", "output", "--json"])).expect("JSON");
    let expected = serde_json::json!({
        "x": 1, "is": true, "material": "steel", "room": "attic", "width": 5, "label": "A-shelf", "count": 3,
        "found": "oak-wood", "shop": "corner", "open": true, "hours": 8,
    });
    assert_eq!(outputs, expected);
    assert!(sandbox.project().join("world/one").exists());
    let unchanged = sandbox.drystone(&["up", "--yes", "--skip-preview", "--expect-no-changes"]);
    assert_eq!(unchanged.code, 0, "{unchanged:#?}");
    let export = sandbox.ok(&["stack", "export"]);
    assert!(export.contains("pulumi:providers:shelves") && export.contains("aGk="), "{export}");
    let destroy = sandbox.drystone(&["destroy", "--yes", "--skip-preview"]);
    assert_eq!(destroy.code, 0, "{destroy:#?}");
}

#[test]
#[ignore = "needs the testbed plugins and the Node.js SDK: run by cargo xtask test"]
fn a_program_in_javascript_uses_a_package_that_is_added() {
    let mut sandbox = project();
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
    let sdk = peer("NODE_SDK").join("node_modules/@pulumi/pulumi");
    let needs = format!("{{ \"@pulumi/pulumi\": \"file:{}\" }}", sdk.display());
    sandbox.write("package.json", &format!("{{ \"private\": true, \"dependencies\": {needs} }}\n"));
    sandbox.write(
        "index.js",
        "const shelves = require(\"@pulumi/shelves\");
const one = new shelves.Item(\"one\", { x: 1, material: shelves.Material.Steel, size: { shelfWidth: 5 } });
exports.x = one.x;
exports.is = shelves.Item.isInstance(one);
exports.material = one.material;
exports.room = one.room;
exports.width = one.size.shelfWidth;
exports.label = one.label({ letterPrefix: \"A\" }).fullLabel;
exports.count = one.countBooks();
exports.found = shelves.getShelfOutput({ shelfName: \"top\" }).size.material;
exports.shop = shelves.config.shopName;
exports.open = shelves.config.open;
exports.hours = shelves.config.hours;
",
    );
    let added = sandbox.drystone(&["package", "add", "bench", "--", "shelves"]);
    assert_eq!(added.code, 0, "{added:#?}");
    let noted = read(&sandbox, "package.json");
    assert!(noted.replace(' ', "").contains("\"@pulumi/shelves\":\"file:sdks/shelves\""), "{noted}");
    lives(&mut sandbox);
}

#[test]
#[ignore = "needs the testbed plugins and the Python SDK: run by cargo xtask test"]
fn a_program_in_python_uses_a_package_that_is_added() {
    let mut sandbox = project();
    // The package builds itself, and what it depends on is there: nothing is downloaded.
    sandbox.set("PIP_NO_DEPS", "1");
    sandbox.set("PIP_NO_INDEX", "1");
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: { name: python, options: { virtualenv: venv } }\n");
    sandbox.write(
        "__main__.py",
        "import pulumi
import pulumi_shelves as shelves

one = shelves.Item(\"one\", x=1, material=shelves.Material.STEEL, size=shelves.SizeArgs(shelf_width=5))
pulumi.export(\"x\", one.x)
pulumi.export(\"is\", isinstance(one, shelves.Item))
pulumi.export(\"material\", one.material)
pulumi.export(\"room\", one.room)
pulumi.export(\"width\", one.size.shelf_width)
pulumi.export(\"label\", one.label(letter_prefix=\"A\").full_label)
pulumi.export(\"count\", one.count_books())
pulumi.export(\"found\", shelves.get_shelf(shelf_name=\"top\").size.material)
pulumi.export(\"shop\", shelves.config.shop_name)
pulumi.export(\"open\", shelves.config.open)
pulumi.export(\"hours\", shelves.config.hours)
",
    );
    assert_eq!(sandbox.drystone(&["install"]).code, 0);
    let library = sandbox.project().join("venv/lib");
    let python = std::fs::read_dir(library).expect("a folder").next().expect("a version").expect("it").path();
    let peers = peer("PYTHON").join("lib").join(python.file_name().expect("a name")).join("site-packages");
    std::fs::write(python.join("site-packages/sdk.pth"), peers.display().to_string()).expect("a file");
    let added = sandbox.drystone(&["package", "add", "bench", "--", "shelves"]);
    assert_eq!(added.code, 0, "{added:#?}");
    assert_eq!(read(&sandbox, "requirements.txt"), "./sdks/shelves\n");
    lives(&mut sandbox);
}

/// A program in a language that has a plugin of its own, which makes SDKs.
#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn the_plugin_of_a_language_makes_and_links_sdks() {
    let sandbox = project();
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: bench\n");
    sandbox.write("sdks/shelves/older.txt", "");
    let added = sandbox.drystone(&["package", "add", "bench", "--", "shelves"]);
    assert_eq!(added.code, 0, "{added:#?}");
    assert!(added.stderr.contains("say what you need"), "{added:#?}");
    assert!(read(&sandbox, "sdks/shelves/schema.json").contains("\"shelves\""));
    assert!(!sandbox.project().join("sdks/shelves/older.txt").exists());
    // It has asked us for the schema of what the plugin makes of the parameter.
    assert_eq!(read(&sandbox, "depends.txt"), "\"shelves\" \"2.0.0\" from sdks/shelves\n");
    assert!(read(&sandbox, "Pulumi.yaml").contains("source: bench"));

    let refused = sandbox.drystone(&["package", "add", "bench", "--", "refused"]);
    assert!(refused.code == 1 && refused.stderr.contains("too odd"), "{refused:#?}");
    let folders: Vec<_> = std::fs::read_dir(sandbox.project().join("sdks")).expect("a folder").collect();
    assert_eq!(folders.len(), 1, "nothing is half done: {folders:?}");
}

#[test]
fn a_language_whose_plugin_is_not_there_is_told() {
    let mut sandbox = Sandbox::new();
    sandbox.set("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "true");
    sandbox.write("Pulumi.yaml", "name: shop\nruntime: nolang\n");
    let ended = sandbox.drystone(&["package", "add", "drystone"]);
    assert!(ended.code != 0 && ended.stderr.contains("pulumi-language-nolang"), "{ended:#?}");
    assert!(!sandbox.project().join("sdks").exists());
}

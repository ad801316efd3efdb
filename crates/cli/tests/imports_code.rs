//! The code that an import writes: put into the program as it is, nothing changes.
//!
//! The provider is the bench plugin, which says that anything changed that is not exactly as it was; its schema is beside
//! this file, and the SDKs are what `package add` makes of it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod harness;
mod programs;

use drystone_plugins::schema::{Package, SchemaError};
use drystone_sdks::{Files, Origin};
use harness::{Ended, Sandbox};
use programs::peer;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/imports_code");

const ITEM: &str = "bench:index/item:Item";
const SUBNET: &str = "bench:net/subnet:Subnet";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Yaml,
    Node,
    Python,
}

/// A project without resources, and things that exist.
struct Shop {
    sandbox: Sandbox,
    language: Language,
}

impl Shop {
    fn new(language: Language) -> Self {
        let mut sandbox = Sandbox::new();
        let plugins = peer("DRYSTONE_TESTBED").display().to_string();
        let path = std::env::var("PATH").unwrap_or_default();
        sandbox.set("PATH", &format!("{plugins}:{path}"));
        sandbox.set("BENCH_WORLD", sandbox.project().join("world").to_str().unwrap());
        sandbox.set("BENCH_SCHEMA", &format!("{FILES}/schema.json"));
        sandbox.set("PYTHONDONTWRITEBYTECODE", "1");
        fs::create_dir(sandbox.project().join("world")).unwrap();
        let shop = Self { sandbox, language };
        shop.write_project();
        shop.sandbox.ok(&["stack", "init", "dev"]);
        shop
    }

    fn write_project(&self) {
        let (sandbox, project) = (&self.sandbox, self.sandbox.project());
        match self.language {
            Language::Yaml => sandbox.write("Pulumi.yaml", "name: shop\nruntime: yaml\n"),
            Language::Node => {
                sandbox.write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
                sandbox.write("package.json", "{\"name\": \"shop\", \"main\": \"index.ts\"}\n");
                let options = r#"{"strict": true, "target": "es2020", "module": "commonjs",
                    "moduleResolution": "node", "skipLibCheck": true}"#;
                sandbox.write(
                    "tsconfig.json",
                    &format!("{{\"compilerOptions\": {options}, \"files\": [\"index.ts\"]}}\n"),
                );
                let modules = project.join("node_modules");
                fs::create_dir(&modules).unwrap();
                for entry in fs::read_dir(peer("DRYSTONE_PEER_NODE_SDK").join("node_modules")).unwrap() {
                    let entry = entry.unwrap();
                    symlink(entry.path(), modules.join(entry.file_name())).unwrap();
                }
                write(&modules.join("@shop/bench"), drystone_sdks::node);
            }
            Language::Python => {
                let runtime = "name: shop\nruntime: { name: python, options: { virtualenv: venv } }\n";
                sandbox.write("Pulumi.yaml", runtime);
                symlink(peer("DRYSTONE_PEER_PYTHON"), project.join("venv")).unwrap();
                write(&project, drystone_sdks::python);
            }
        }
    }

    /// Something that exists.
    fn exists(&self, id: &str, inputs: &Value) {
        self.sandbox.write(&format!("world/{id}"), &inputs.to_string());
    }

    fn run(&self, words: &[&str]) -> Ended {
        let ended = self.sandbox.drystone(words);
        assert_eq!(ended.code, 0, "{words:?} {ended:#?}");
        ended
    }

    /// Takes over, and gives the code.
    fn import(&self, words: &[&str]) -> String {
        let usual = ["--yes", "--skip-preview", "--show-secrets", "--out", "code.txt"];
        self.run(&[&["import"], words, &usual].concat());
        self.sandbox.read("code.txt")
    }

    /// Takes over what a list names, and gives the code.
    fn import_list(&self, list: &Value) -> String {
        self.sandbox.write("list.json", &list.to_string());
        self.import(&["--file", "list.json"])
    }

    fn program(&self) -> &'static str {
        match self.language {
            Language::Yaml => "Pulumi.yaml",
            Language::Node => "index.ts",
            Language::Python => "__main__.py",
        }
    }

    /// Puts code into the program, as a person does: what every program has once is not there twice.
    fn paste(&self, code: &str) {
        let path = self.sandbox.project().join(self.program());
        let program = fs::read_to_string(&path).unwrap_or_default();
        let is_there = |line: &&str| {
            let once = *line == "resources:" || line.starts_with("import ");
            once && program.lines().any(|known| known == *line)
        };
        let added: String =
            code.lines().filter(|line| !is_there(line)).map(|line| format!("{line}\n")).collect();
        fs::write(&path, program + &added).unwrap();
    }

    /// Nothing is to be done.
    fn is_unchanged(&self) {
        let preview = self.sandbox.drystone(&["preview", "--diff", "--expect-no-changes"]);
        assert_eq!(
            preview.code,
            0,
            "{:?}\n{}\n{preview:#?}",
            self.language,
            self.sandbox.read(self.program())
        );
    }

    fn urn(&self, name: &str) -> String {
        let export: Value = serde_json::from_str(&self.sandbox.ok(&["stack", "export"])).unwrap();
        let resources = export["deployment"]["resources"].as_array().unwrap();
        let mut urns = resources.iter().filter_map(|resource| resource["urn"].as_str());
        urns.find(|urn| urn.rsplit("::").next() == Some(name)).unwrap().to_owned()
    }
}

/// Writes the SDK of the package.
fn write(folder: &Path, make: fn(&Arc<Package>, &Origin) -> Result<Files, SchemaError>) {
    let package = Package::read(&fs::read_to_string(format!("{FILES}/schema.json")).unwrap()).unwrap();
    let origin = Origin { plugin: "bench".to_owned(), version: "1.0.0".to_owned(), ..Origin::default() };
    for (path, text) in make(&package, &origin).unwrap() {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn in_every_language(test: impl Fn(Shop)) {
    for language in [Language::Yaml, Language::Node, Language::Python] {
        test(Shop::new(language));
    }
}

fn secret(value: &Value) -> Value {
    json!({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": value })
}

/// A secret as a list has it.
fn listed_secret(text: &str) -> Value {
    json!({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": json!(text).to_string() })
}

/// A text as a file, as providers are told of it.
fn text_asset() -> Value {
    let hash = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4";
    json!({ "4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", "hash": hash, "text": "hi" })
}

/// Files as providers are told of them.
fn archive(assets: &Value, hash: &str) -> Value {
    json!({ "4dabf18193072939515e22adb298388d": "0def7320c3a5731c473e5ecbe6d01bc7", "hash": hash, "assets": assets })
}

/// An item with something of everything.
fn rich_item() -> Value {
    json!({
        "name": "web",
        "size": 3,
        "ratio": 1e21,
        "enableDNSSupport": false,
        "from": "x\"y\\\n\t${z} $${q} $5 é😀\u{2028}\u{7f}",
        "anything": {
            "camelKey": [1, -0.5, "two", null, [], {}],
            "fn::secret": "not a call",
            "__proto__x": { "snake_key": true, "no": "yes" }
        },
        "resourceTags": { "Cost Centre": "7 ${x}", "camelCase": "kept", "snake_case": "kept", "true": "1" },
        "secretText": secret(&json!("hush ${me}")),
        "bundle": archive(
            &json!({
                "${a}.txt": text_asset(),
                "b": archive(&json!({}), "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"),
            }),
            "13316ee07549fe8b3bb833dd1252c8dc2329331742e6ed352b429f13b1ff22e5",
        ),
        "sourceFile": text_asset(),
        "kind": "plain",
        "trigger": { "kind": "cron", "cronExpression": "0 * * * *" }
    })
}

/// A subnet that says whose it is.
fn subnet() -> Value {
    json!({
        "itemId": "item-1",
        "itemName": "web",
        "mode": "tcp",
        "rules": [
            { "fromPort": 80, "protocol": "tcp", "cidrBlocks": ["10.0.0.0/8"], "extraLabels": { "someKey": "v" },
              "next": { "fromPort": 81, "protocol": "udp" } },
            { "fromPort": 443, "protocol": "tcp" }
        ],
        "rulesByName": { "httpRule": { "fromPort": 80, "protocol": "tcp" } }
    })
}

#[test]
#[ignore = "needs the SDKs of Node.js and Python: run by cargo xtask test"]
fn one_thing_with_something_of_everything() {
    in_every_language(|shop| {
        shop.exists("item-1", &rich_item());
        let code = shop.import(&[ITEM, "my-item", "item-1"]);
        assert!(code.contains("hush") && !code.contains("schema"), "{code}");
        shop.paste(&code);
        shop.is_unchanged();
    });
}

#[test]
#[ignore = "needs the SDKs of Node.js and Python: run by cargo xtask test"]
fn a_list_with_a_provider_and_parents() {
    in_every_language(|shop| {
        shop.exists("item-1", &json!({ "name": "web", "size": 3 }));
        shop.exists("subnet-1", &subnet());
        // The child is listed before its parent, and that before its provider.
        let code = shop.import_list(&json!({ "resources": [
            { "type": SUBNET, "name": "first", "logicalName": "my subnet", "id": "subnet-1", "parent": "class",
              "provider": "west" },
            { "type": ITEM, "name": "class", "id": "item-1", "provider": "west" },
            { "type": "pulumi:providers:bench", "name": "west", "version": "1.0.0",
              "inputs": { "region": "us-west-2", "accessKey": listed_secret("key") } },
        ] }));
        let (id, name) = match shop.language {
            Language::Yaml => ("itemId: ${class.id}", "itemName: ${class.name}"),
            Language::Node => ("itemId: _class.id", "itemName: _class.name"),
            Language::Python => ("item_id=class_.id", "item_name=class_.name"),
        };
        assert!(code.contains(id) && code.contains(name), "{code}");
        shop.paste(&code);
        shop.is_unchanged();

        // More of it, below what is there.
        shop.exists("item-2", &json!({ "from": "item-1", "resourceTags": { "of": "item-1" } }));
        let parent = match shop.language {
            Language::Yaml => "class",
            Language::Node => "_class",
            Language::Python => "class_",
        };
        let parent = format!("{parent}={}", shop.urn("class"));
        let provider = format!("west={}", shop.urn("west"));
        let code = shop.import(&[ITEM, "more", "item-2", "--parent", &parent, "--provider", &provider]);
        assert!(code.contains("`west` is what your program has as urn:"), "{code}");
        shop.paste(&code);
        shop.is_unchanged();
    });
}

#[test]
#[ignore = "needs the SDKs of Node.js and Python: run by cargo xtask test"]
fn a_provider_that_the_import_makes_is_declared() {
    in_every_language(|shop| {
        shop.exists("item-1", &json!({ "size": 3 }));
        let code = shop.import_list(&json!({
            "nameTable": { "west": "urn:pulumi:dev::shop::pulumi:providers:bench::us-west" },
            "resources": [{ "type": ITEM, "name": "first", "id": "item-1", "provider": "west", "version": "1.0.0" }],
            "providerInputs": { "west": { "region": "us-west-2" } }
        }));
        assert!(!code.contains("your program has"), "{code}");
        shop.paste(&code);
        shop.is_unchanged();
    });
}

#[test]
#[ignore = "needs the SDKs of Node.js and Python: run by cargo xtask test"]
fn components_and_what_is_in_them() {
    for language in [Language::Node, Language::Python] {
        let shop = Shop::new(language);
        shop.exists("item-1", &json!({ "size": 3 }));
        let code = shop.import_list(&json!({ "resources": [
            { "type": ITEM, "name": "first", "id": "item-1", "parent": "group" },
            { "type": "shop:index:Group", "name": "group", "component": true },
        ] }));
        shop.paste(&code);
        shop.is_unchanged();
    }
}

#[test]
#[ignore = "needs the SDKs of Node.js and Python: run by cargo xtask test"]
fn what_a_converter_lists() {
    in_every_language(|shop| {
        shop.exists("item-1", &json!({ "name": "web", "anything": { "aKey": 1 } }));
        shop.exists("subnet-1", &json!({ "itemId": "item-1" }));
        let state = json!({ "resources": [
            { "type": ITEM, "name": "web", "id": "item-1" },
            { "type": SUBNET, "name": "web", "id": "subnet-1" },
        ] });
        shop.sandbox.write("state.json", &state.to_string());
        let usual = ["--yes", "--skip-preview", "--out", "code.txt"];
        shop.run(&[&["import", "--from", "bench"], &usual[..], &["--", "state.json"]].concat());
        shop.paste(&shop.sandbox.read("code.txt"));
        shop.is_unchanged();
    });
}

const YAML: &str = "
resources:
  west: { type: pulumi:providers:bench, properties: { region: us-west-2 } }
  first: { type: 'bench:index/item:Item', properties: { name: web }, options: { provider: '${west}' } }
  inner: { type: 'bench:net/subnet:Subnet', properties: { itemId: '${first.id}' }, options: { parent: '${first}' } }
";

const NODE: &str = "
import * as bench from '@shop/bench';
const west = new bench.Provider('west', { region: 'us-west-2' });
const first = new bench.Item('first', { name: 'web' }, { provider: west });
const inner = new bench.network.Subnet('inner', { itemId: first.id }, { parent: first });
";

const PYTHON: &str = "
import pulumi
import shop_bench as bench
west = bench.Provider('west', region='us-west-2')
first = bench.Item('first', name='web', opts=pulumi.ResourceOptions(provider=west))
inner = bench.network.Subnet('inner', item_id=first.id, opts=pulumi.ResourceOptions(parent=first))
";

/// A program that declares what exists: its own list, with the ids filled in, takes it over.
#[test]
#[ignore = "needs the SDKs of Node.js and Python: run by cargo xtask test"]
fn the_list_of_a_preview_takes_over_what_the_program_declares() {
    in_every_language(|shop| {
        shop.exists("item-1", &json!({ "name": "web" }));
        shop.exists("subnet-1", &json!({ "itemId": "item-1" }));
        shop.paste(match shop.language {
            Language::Yaml => YAML,
            Language::Node => NODE,
            Language::Python => PYTHON,
        });
        shop.run(&["preview", "--import-file", "list.json"]);
        let mut list: Value = serde_json::from_str(&shop.sandbox.read("list.json")).unwrap();
        for listed in list["resources"].as_array_mut().unwrap() {
            if listed["id"] == "<PLACEHOLDER>" {
                listed["id"] = json!(if listed["type"] == ITEM { "item-1" } else { "subnet-1" });
            }
        }
        shop.sandbox.write("list.json", &list.to_string());
        shop.run(&["import", "--file", "list.json", "--yes", "--skip-preview", "--protect=false"]);
        shop.is_unchanged();
    });
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_type_that_the_schema_does_not_have_is_said() {
    let mut shop = Shop::new(Language::Yaml);
    shop.sandbox.unset("BENCH_SCHEMA");
    shop.exists("item-1", &rich_item());
    let code = shop.import(&[ITEM, "my-item", "item-1"]);
    let said: Vec<&str> = code.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(said.len(), 1, "{code}");
    assert!(said[0].contains("Written without the schema of `bench`"), "{code}");
}

/// A provider that answers nonsense does not keep the code from being written.
#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn schemas_that_make_no_sense_are_as_if_they_were_not_there() {
    for (schema, said) in [
        ("{\"resources\": 5}", "the schema makes no sense"),
        ("{\"name\": \"bench\", \"resources\": {\"bench:index/item:Item\": 7}}", "makes no sense"),
        ("", "its provider has no schema"),
    ] {
        let mut shop = Shop::new(Language::Yaml);
        shop.sandbox.write("schema.json", schema);
        let path = shop.sandbox.project().join("schema.json").display().to_string();
        shop.sandbox.set("BENCH_SCHEMA", &path);
        shop.exists("item-1", &rich_item());
        let code = shop.import(&[ITEM, "my-item", "item-1"]);
        assert!(code.contains(said) && code.contains("size: 3"), "{code}");
        if schema.is_empty() {
            shop.paste(&code);
            shop.is_unchanged();
        }
    }
}

/// A provider that refuses to say, or ends when it is asked, does not keep the code from being written.
#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn providers_that_fail_to_give_a_schema() {
    for fault in ["schema * refuse", "schema * die"] {
        let mut shop = Shop::new(Language::Yaml);
        shop.sandbox.set("BENCH_FAULT", fault);
        shop.exists("item-1", &json!({ "size": 3 }));
        let code = shop.import(&[ITEM, "my-item", "item-1"]);
        let said: Vec<&str> = code.lines().filter(|line| line.starts_with('#')).collect();
        assert!(
            said.len() == 1 && said[0].contains("Written without the schema of `bench`"),
            "{fault}: {code}"
        );
        assert!(code.contains("size: 3"), "{fault}: {code}");
    }
}

#[test]
#[ignore = "needs the SDKs of Node.js and Python: run by cargo xtask test"]
fn inputs_that_do_not_fit_the_schema_are_told() {
    in_every_language(|shop| {
        shop.exists(
            "item-1",
            &json!({ "size": 3, "surplus": 1, "trigger": { "kind": "cron", "eventName": "x" } }),
        );
        let code = shop.import(&[ITEM, "my-item", "item-1"]);
        assert!(code.contains("does not have it, so it is left out: trigger.eventName, surplus"), "{code}");
        assert!(code.contains("did not return it, so fill it in: trigger.cronExpression"), "{code}");
    });
}

/// The schema does not promise the name of `Odd`, and TypeScript takes nothing for a text that may not be there.
#[test]
#[ignore = "needs the testbed plugins and SDKs: run by cargo xtask test"]
fn what_may_not_be_there_is_not_referred_to() {
    in_every_language(|shop| {
        shop.exists("odd-1", &json!({ "name": "spare" }));
        shop.exists("subnet-1", &json!({ "itemId": "odd-1", "itemName": "spare" }));
        let code = shop.import_list(&json!({ "resources": [
            { "type": "bench:types/odd:Odd", "name": "odd", "id": "odd-1" },
            { "type": SUBNET, "name": "subnet", "id": "subnet-1" },
        ] }));
        assert!(code.contains("odd.id") && code.matches("spare").count() == 2, "{code}");
        shop.paste(&code);
        shop.is_unchanged();
    });
}

/// The stock CLI and its YAML host read the same from the code, and from the state.
#[test]
#[ignore = "needs the stock CLI: run by cargo xtask test"]
fn the_stock_cli_finds_nothing_to_change_either() {
    let mut shop = Shop::new(Language::Yaml);
    let bin = shop.sandbox.state().join("bin");
    fs::create_dir(&bin).unwrap();
    symlink(peer("DRYSTONE_PEER_YAML"), bin.join("pulumi-language-yaml")).unwrap();
    let plugins = peer("DRYSTONE_TESTBED");
    let path = std::env::var("PATH").unwrap_or_default();
    shop.sandbox.set("PATH", &format!("{}:{}:{path}", bin.display(), plugins.display()));
    shop.exists("item-1", &rich_item());
    shop.exists("subnet-1", &subnet());
    let code = shop.import_list(&json!({ "resources": [
        { "type": SUBNET, "name": "first", "logicalName": "my subnet", "id": "subnet-1", "parent": "my-item" },
        { "type": ITEM, "name": "my-item", "id": "item-1" },
    ] }));
    shop.paste(&code);
    let preview = shop.sandbox.stock(&["preview", "--stack", "dev", "--diff", "--expect-no-changes"]);
    assert_eq!(preview.code, 0, "{code}\n{preview:#?}");
}

/// What the other tests show of TypeScript rests on this: code of a wrong type does not run.
#[test]
#[ignore = "needs the SDK of Node.js: run by cargo xtask test"]
fn types_are_checked_in_typescript() {
    let shop = Shop::new(Language::Node);
    shop.paste(&NODE.replace("name: 'web'", "name: 7"));
    let preview = shop.sandbox.drystone(&["preview"]);
    assert_ne!(preview.code, 0, "{preview:#?}");
    let said = preview.stdout + &preview.stderr;
    assert!(said.contains("not assignable to type"), "{said}");
}

/// The types of the SDK itself are looked at, too, which programs usually leave out.
#[test]
#[ignore = "needs the SDK of Node.js: run by cargo xtask test"]
fn the_types_of_a_generated_sdk_have_no_errors() {
    let shop = Shop::new(Language::Node);
    let uses = "
import * as bench from '@shop/bench';
import { input } from '@shop/bench/types';
const rule: input.network.RuleArgs = { fromPort: 80, protocol: bench.network.Protocol.Tcp };
const item = new bench.Item('item', { name: 'x', trigger: { kind: 'cron', cronExpression: '* * * * *' } });
const subnet = new bench.network.Subnet('subnet', { itemId: item.id, rules: [rule], mode: 'udp' });
export const ports = subnet.listPorts({ fromPort: 1 }).ports;
export const count: Promise<number> = subnet.countPorts();
export const odd = new bench.types.Odd('odd');
export const region: string | undefined = bench.config.region;
export const retries: number = bench.config.retries;
export const found = bench.network.getSubnet({ protocol: bench.types.enums.network.Protocol.Udp });
// @ts-expect-error
new bench.network.Subnet('wrong', { itemId: 'a', mode: 'icmp' });
// @ts-expect-error
subnet.listPorts();
";
    shop.sandbox.write("index.ts", uses);
    let compiler = shop.sandbox.project().join("node_modules/typescript/bin/tsc");
    let words = ["--noEmit", "--skipLibCheck", "false", "-p", "."];
    let ended = Command::new(compiler).args(words).current_dir(shop.sandbox.project()).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    // What the SDK of the languages itself declares is not ours to mend.
    let ours: Vec<&str> =
        said.lines().filter(|line| line.contains("@shop/bench") || line.starts_with("index.ts")).collect();
    assert!(ours.is_empty(), "{ours:#?}");
    assert!(ended.stderr.is_empty(), "{ended:?}");
}

/// What needs no plugin, in a program that needs no SDK.
#[test]
fn built_in_resources() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.write("notes/a.txt", "one\ntwo ${three}\n");
    let folder = sandbox.project().join("notes").display().to_string();
    let list = json!({ "resources": [
        { "type": "drystone:local:File", "name": "notes", "id": "notes/a.txt" },
        { "type": "drystone:local:Directory", "name": "folder", "id": folder },
        { "type": "drystone:random:RandomPet", "name": "pet", "id": "gladly-brave-otter" },
        { "type": "drystone:random:RandomId", "name": "id", "id": "web-,p-9hUg" },
        { "type": "drystone:random:RandomInteger", "name": "number", "id": "15390,1,50000" },
        { "type": "drystone:random:RandomPassword", "name": "password", "id": "Correct-Horse-7" },
        { "type": "drystone:random:RandomString", "name": "text", "id": "abc123" },
        { "type": "drystone:random:RandomUuid", "name": "uuid", "id": "aabbccdd-eeff-4011-8233-445566778899" },
        { "type": "drystone:random:RandomShuffle", "name": "order", "id": "[\"b\",\"a\"]" },
        { "type": "drystone:time:Static", "name": "moment", "id": "2026-02-12T06:36:13Z" },
    ] });
    sandbox.write("list.json", &list.to_string());
    sandbox.ok(&[
        "import",
        "--file",
        "list.json",
        "--yes",
        "--skip-preview",
        "--show-secrets",
        "--out",
        "code.txt",
    ]);
    let code = sandbox.read("code.txt");
    assert!(!code.contains('#'), "nothing has to be mended: {code}");
    sandbox.write("Pulumi.yaml", &format!("name: shop\nruntime: yaml\n{code}"));
    let preview = sandbox.drystone(&["preview", "--diff", "--expect-no-changes"]);
    assert_eq!(preview.code, 0, "{code}\n{preview:#?}");
}

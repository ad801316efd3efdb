//! One provider written in Go, in Python and in JavaScript, used by programs in YAML, JavaScript and Python.
//!
//! The plugins are installed as `plugin install` leaves them: a binary, or a folder that a language runs. The programs
//! are those of a folder, and all say the same.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod harness;
mod programs;

use harness::Sandbox;
use programs::{link_node_sdk, peer};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");

const YAML: &str = "
name: shop
runtime: yaml
resources:
  a: { type: ledger:Item, properties: { size: SIZE, kind: KIND, secret: hush, tags: { k: v } } }
  g: { type: ledger:Group, properties: { count: COUNT, value: '${a.name}', secret: hush } }
variables:
  found: { fn::invoke: { function: ledger:lookup, arguments: { id: '${g.names[0]}' } } }
outputs: { serial: '${a.serial}', secret: '${a.secret}', names: '${g.names}', token: '${g.token}', found: '${found.value}' }
";

const NODE: &str = "
const ledger = require('./ledger.js');
const a = new ledger.Item('a', { size: SIZE, kind: 'KIND', secret: 'hush', tags: { k: 'v' } });
const g = new ledger.Group('g', { count: COUNT, value: a.name, secret: 'hush' });
const found = ledger.lookup({ id: g.names.apply((names) => names[0]) });
exports.serial = a.serial;
exports.secret = a.secret;
exports.names = g.names;
exports.token = g.token;
exports.found = found.apply(({ value }) => value);
";

const PYTHON: &str = "
import ledger
import pulumi
a = ledger.Item('a', {'size': SIZE, 'kind': 'KIND', 'secret': 'hush', 'tags': {'k': 'v'}})
g = ledger.Group('g', {'count': COUNT, 'value': a.name, 'secret': 'hush'})
found = ledger.lookup({'id': g.names.apply(lambda names: names[0])})
pulumi.export('serial', a.serial)
pulumi.export('secret', a.secret)
pulumi.export('names', g.names)
pulumi.export('token', g.token)
pulumi.export('found', found.apply(lambda result: result['value']))
";

#[derive(Clone, Copy)]
enum Language {
    Yaml,
    Node,
    Python,
}

#[derive(Clone, Copy)]
enum Plugin {
    Go,
    Node,
    Python,
}

/// A project in a language with the plugin installed.
struct Shop {
    sandbox: Sandbox,
    language: Language,
}

impl Shop {
    fn new(plugin: Plugin, language: Language) -> Self {
        let mut sandbox = Sandbox::new();
        let bin = sandbox.state().join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(peer("DRYSTONE_PEER_YAML"), bin.join("pulumi-language-yaml")).unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        sandbox.set("PATH", &format!("{}:{path}", bin.display()));
        let world = sandbox.state().join("world");
        fs::create_dir_all(world.join("objects")).unwrap();
        sandbox.set("LEDGER_WORLD", &world.display().to_string());
        // The provider in JavaScript is run from where it stands, which is not beside the SDK.
        sandbox.set("NODE_PATH", &peer("DRYSTONE_PEER_NODE_SDK").join("node_modules").display().to_string());
        sandbox.set("PYTHONDONTWRITEBYTECODE", "1");
        install(&sandbox, plugin);
        let shop = Self { sandbox, language };
        shop.write_project();
        shop.sandbox.ok(&["stack", "init", "dev"]);
        shop
    }

    fn write_project(&self) {
        let sandbox = &self.sandbox;
        let copy = |name: &str| {
            fs::copy(format!("{TESTS}/sdks/{name}"), sandbox.project().join(name)).unwrap();
        };
        match self.language {
            Language::Yaml => {}
            Language::Node => {
                sandbox.write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
                link_node_sdk(&sandbox.project());
                copy("ledger.js");
            }
            Language::Python => {
                sandbox.write(
                    "Pulumi.yaml",
                    "name: shop\nruntime: { name: python, options: { virtualenv: venv } }\n",
                );
                symlink(peer("DRYSTONE_PEER_PYTHON"), sandbox.project().join("venv")).unwrap();
                copy("ledger.py");
            }
        }
    }

    fn write_program(&self, size: u32, kind: &str, count: u32) {
        let (file, text) = match self.language {
            Language::Yaml => ("Pulumi.yaml", YAML),
            Language::Node => ("index.js", NODE),
            Language::Python => ("__main__.py", PYTHON),
        };
        let text = text.replace("SIZE", &size.to_string()).replace("KIND", kind);
        self.sandbox.write(file, &text.replace("COUNT", &count.to_string()));
    }

    fn up(&self) -> Value {
        let up = self.sandbox.drystone(&["up", "--yes", "--skip-preview"]);
        assert_eq!(up.code, 0, "{up:#?}");
        assert!(!up.stdout.contains("hush") && !up.stdout.contains("token-of"), "{up:#?}");
        let records = programs::history(&self.sandbox);
        records[0]["resourceChanges"].clone()
    }

    fn outputs(&self, flags: &[&str]) -> Value {
        let arguments = [&["stack", "output", "--json"], flags].concat();
        serde_json::from_str(&self.sandbox.ok(&arguments)).unwrap()
    }

    /// The names of what exists.
    fn world(&self) -> Vec<String> {
        let objects = fs::read_dir(self.sandbox.state().join("world/objects")).unwrap();
        let mut names: Vec<String> = objects
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

/// Installs the plugin where plugins are kept.
fn install(sandbox: &Sandbox, plugin: Plugin) {
    let folder = sandbox.project().parent().unwrap().join("home/.pulumi/plugins/resource-ledger-v1.0.0");
    fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    match plugin {
        Plugin::Go => {
            symlink(peer("DRYSTONE_PEER_GO_PROVIDER"), folder.join("pulumi-resource-ledger")).unwrap();
        }
        Plugin::Node => {
            write("PulumiPlugin.yaml", "runtime: nodejs\n");
            write("package.json", "{\"name\": \"ledger\", \"version\": \"1.0.0\", \"main\": \"index.js\"}\n");
            write("index.js", &format!("require('{TESTS}/providers/node/ledger.js');\n"));
            link_node_sdk(&folder);
        }
        Plugin::Python => {
            write("PulumiPlugin.yaml", "runtime: { name: python, options: { virtualenv: venv } }\n");
            write(
                "__main__.py",
                &format!(
                    "import runpy, sys\nsys.path.insert(0, '{TESTS}/providers/python')\n\
                     runpy.run_path('{TESTS}/providers/python/ledger.py', run_name='__main__')\n"
                ),
            );
            symlink(peer("DRYSTONE_PEER_PYTHON"), folder.join("venv")).unwrap();
        }
    }
}

/// The life of a stack: made, unchanged, changed, replaced, refreshed and destroyed.
fn life(plugin: Plugin, language: Language) {
    let shop = Shop::new(plugin, language);
    shop.write_program(1, "x", 2);
    let preview = shop.sandbox.drystone(&["preview"]);
    assert_eq!(preview.code, 0, "{preview:#?}");
    assert_eq!(shop.world(), [] as [&str; 0]);

    // The stack, its item, the component and two items in it.
    assert_eq!(shop.up(), json!({ "create": 5 }));
    assert_eq!(shop.world(), ["a", "g-0", "g-1"]);
    assert_eq!(
        shop.outputs(&["--show-secrets"]),
        json!({ "serial": 1, "secret": "hush", "names": ["g-0", "g-1"], "token": "token-of-g-0", "found": "a" })
    );
    let masked = shop.outputs(&[]);
    assert_eq!((&masked["secret"], &masked["token"]), (&json!("[secret]"), &json!("[secret]")));
    let state = fs::read_to_string(shop.sandbox.state().join(".pulumi/stacks/shop/dev.json")).unwrap();
    assert!(!state.contains("hush") && !state.contains("token-of"), "{state}");

    assert_eq!(shop.up(), json!({ "same": 5 }));
    shop.write_program(2, "x", 3);
    assert_eq!(shop.up(), json!({ "same": 4, "update": 1, "create": 1 }));
    assert_eq!(shop.world(), ["a", "g-0", "g-1", "g-2"]);
    assert_eq!(shop.outputs(&[])["serial"], 2);
    shop.write_program(2, "y", 1);
    let changes = shop.up();
    assert_eq!((&changes["replace"], &changes["delete"]), (&json!(1), &json!(2)), "{changes}");

    let refresh = shop.sandbox.drystone(&["refresh", "--yes", "--skip-preview", "--expect-no-changes"]);
    assert_eq!(refresh.code, 0, "{refresh:#?}");
    let destroy = shop.sandbox.drystone(&["destroy", "--yes", "--skip-preview", "--remove"]);
    assert_eq!(destroy.code, 0, "{destroy:#?}");
    assert_eq!(shop.world(), [] as [&str; 0]);
}

macro_rules! pairs {
    ($($name:ident: $plugin:ident, $language:ident;)*) => {$(
        #[test]
        #[ignore = "needs the SDKs of Node.js and Python: run by cargo xtask test"]
        fn $name() {
            life(Plugin::$plugin, Language::$language);
        }
    )*};
}

pairs! {
    a_go_plugin_in_yaml: Go, Yaml;
    a_go_plugin_in_node: Go, Node;
    a_go_plugin_in_python: Go, Python;
    a_node_plugin_in_yaml: Node, Yaml;
    a_node_plugin_in_node: Node, Node;
    a_node_plugin_in_python: Node, Python;
    a_python_plugin_in_yaml: Python, Yaml;
    a_python_plugin_in_node: Python, Node;
    a_python_plugin_in_python: Python, Python;
}

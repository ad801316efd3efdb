//! One CLI with a project, a backend, a home and a world of its own.

use crate::case::{Case, Ending, Language, Ledger, PLAN, Pack, Step};
use crate::normal;
use drystone_secrets::stored::reveal;
use drystone_secrets::{Keyring, Passphrase, Passphrases};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex};

/// What one command left behind.
#[derive(Debug, Clone)]
pub(crate) struct Observed {
    /// The command, as a reader would type it.
    pub(crate) command: String,
    /// Its exit code and what it printed, which is shown and not compared.
    pub(crate) code: i32,
    pub(crate) printed: String,
    /// The exported state.
    pub(crate) state: Value,
    /// What a preview printed as JSON.
    pub(crate) preview: Value,
    /// The provider calls that it made, in order.
    pub(crate) calls: Vec<Value>,
    /// What exists in the world.
    pub(crate) world: Value,
    /// The list of resources that it left beside the program, where there is one.
    pub(crate) list: Value,
    /// What it told of policies.
    pub(crate) policies: Value,
}

/// A CLI under test in a folder of its own.
pub(crate) struct Side {
    folder: PathBuf,
    language: Language,
    variables: Vec<(String, String)>,
    calls_seen: usize,
    is_stock: bool,
    /// What is added to previews and updates for policies.
    policy_arguments: Vec<String>,
}

/// Where the stack is stored before ours has changed it, and always by the stock CLI.
const STORED: &str = "state/.pulumi/stacks/shop/dev.json";

const PASSPHRASE: &str = "correct horse";

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");

/// A peer that `cargo xtask test` hands over. Without it the test fails: it is not to be passed over.
pub(crate) fn peer(variable: &str) -> PathBuf {
    std::env::var_os(variable)
        .unwrap_or_else(|| panic!("{variable} is not set: run `cargo xtask test`"))
        .into()
}

/// A state with its secrets in clear. All cases of one CLI have one stack's salt, so that its key is derived once.
fn revealed(text: &str) -> String {
    static KEYRING: LazyLock<Keyring> = LazyLock::new(|| Keyring::new(Passphrases::new(|_| None)));
    let state: Value = serde_json::from_str(text).unwrap();
    let places = ["/checkpoint/latest/secrets_providers", "/deployment/secrets_providers"];
    let provider = places.iter().find_map(|place| state.pointer(place));
    let Some(salt) = provider.and_then(|provider| provider["state"]["salt"].as_str()) else {
        return text.to_owned();
    };
    let crypter = KEYRING.open(salt, &Passphrase::new(PASSPHRASE)).unwrap();
    let clear = reveal(&[text], crypter.as_ref()).unwrap().pop().flatten();
    clear.unwrap_or_else(|| text.to_owned())
}

impl Side {
    /// A side in an empty folder, whose `pulumi` is the binary given.
    pub(crate) fn new(folder: &Path, binary: &Path, case: &Case) -> Self {
        for name in ["project", "state", "home", "world/objects", "bin", "tmp"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        let side = Self {
            folder: folder.to_owned(),
            language: case.language,
            variables: Vec::new(),
            calls_seen: 0,
            policy_arguments: Vec::new(),
            is_stock: binary == peer("DRYSTONE_PEER_PULUMI"),
        };
        symlink(binary, side.bin("pulumi")).unwrap();
        symlink(peer("DRYSTONE_PEER_YAML"), side.bin("pulumi-language-yaml")).unwrap();
        side.install_ledger(case.ledger);
        side.install_converter();
        if case.language != Language::Yaml {
            side.install_dynamic_providers();
        }
        let runtime = match case.language {
            Language::Yaml => "yaml",
            Language::Node => "nodejs",
            Language::Python => "python",
        };
        side.write("project/Pulumi.yaml", &format!("name: shop\nruntime: {runtime}\n"));
        side.init_stack(binary);
        side
    }

    /// Makes the stack, or copies it from the first case with the same CLI: deriving its key takes long.
    fn init_stack(&self, binary: &Path) {
        type Files = Vec<(&'static str, Vec<u8>)>;
        static MADE: Mutex<Vec<(PathBuf, Files)>> = Mutex::new(Vec::new());
        const FILES: [&str; 3] = ["project/Pulumi.dev.yaml", "state/.pulumi/meta.yaml", STORED];
        let mut made = MADE.lock().unwrap();
        if let Some((_, files)) = made.iter().find(|(known, _)| known == binary) {
            for (name, content) in files {
                let path = self.folder.join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, content).unwrap();
            }
        } else {
            self.ok(&["stack", "init", "dev"]);
            let files = FILES.map(|name| (name, fs::read(self.folder.join(name)).unwrap()));
            made.push((binary.to_owned(), files.into()));
        }
    }

    fn bin(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn script(&self, name: &str, text: &str) {
        fs::write(self.bin(name), format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(self.bin(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn install_ledger(&self, ledger: Ledger) {
        let name = "pulumi-resource-ledger";
        let python = peer("DRYSTONE_PEER_PYTHON").join("bin/python");
        match ledger {
            Ledger::Go => symlink(peer("DRYSTONE_PEER_GO_PROVIDER"), self.bin(name)).unwrap(),
            Ledger::Node => self.script(name, &format!("exec node {TESTS}/providers/node/ledger.js \"$@\"")),
            Ledger::Python => self.script(
                name,
                &format!("exec {} -u {TESTS}/providers/python/ledger.py \"$@\"", python.display()),
            ),
        }
    }

    /// A converter, and an installed provider that knows mappings.
    fn install_converter(&self) {
        let plugins = peer("DRYSTONE_TESTBED");
        let converter = "pulumi-converter-bench";
        symlink(plugins.join(converter), self.bin(converter)).unwrap();
        let folder = self.folder.join("home/.pulumi/plugins/resource-bench-v1.0.0");
        fs::create_dir_all(&folder).unwrap();
        symlink(plugins.join("pulumi-resource-bench"), folder.join("pulumi-resource-bench")).unwrap();
    }

    /// The stock CLI finds the hosts of dynamic providers on the PATH.
    fn install_dynamic_providers(&self) {
        let modules = peer("DRYSTONE_PEER_NODE_SDK").join("node_modules");
        symlink(&modules, self.folder.join("project/node_modules")).unwrap();
        let node = modules.join("@pulumi/pulumi/cmd/dynamic-provider/index.js");
        self.script("pulumi-resource-pulumi-nodejs", &format!("exec node {} \"$@\"", node.display()));
        self.script("pulumi-resource-pulumi-python", "exec python3 -u -m pulumi.dynamic \"$@\"");
    }

    /// A pack that writes down what it is asked. The stock CLI has no language hosts here and takes the plugins that
    /// ran policy packs before those did.
    fn install_pack(&self, pack: Pack) {
        fs::create_dir(self.folder.join("project/guard")).unwrap();
        let (source, files, project) = match pack {
            Pack::Node => ("witness_node", &["index.js", "package.json"][..], "runtime: nodejs\n".to_owned()),
            Pack::Python => {
                let virtualenv = peer("DRYSTONE_PEER_PYTHON_POLICY");
                let options = format!("{{ virtualenv: {} }}", virtualenv.display());
                let project = format!("runtime:\n  name: python\n  options: {options}\nversion: 0.3.0\n");
                ("witness_python", &["__main__.py"][..], project)
            }
        };
        for file in files {
            let text = fs::read_to_string(format!("{TESTS}/policy_packs/{source}/{file}")).unwrap();
            self.write(&format!("project/guard/{file}"), &text);
        }
        self.write("project/guard/PulumiPolicy.yaml", &project);
        let modules = peer("DRYSTONE_PEER_NODE_POLICY").join("node_modules");
        symlink(&modules, self.folder.join("project/guard/node_modules")).unwrap();
        let node = modules.join("@pulumi/pulumi/cmd/run-policy-pack/index.js");
        self.script("pulumi-analyzer-policy-nodejs", &format!("exec node {} \"$@\"", node.display()));
        let python = peer("DRYSTONE_PEER_PYTHON_POLICY").join("bin/python");
        self.script(
            "pulumi-analyzer-policy-python",
            &format!("exec {} -u -m pulumi.policy \"$1\" \"$2\"", python.display()),
        );
    }

    /// Carries out a step. A command tells what it left.
    pub(crate) fn carry_out(&mut self, step: &Step) -> Option<Observed> {
        match step {
            Step::Program(text) => self.write_program(text),
            Step::OtherStack { stack, program } => self.bring_up_other(stack, program),
            Step::Config { key, value, secret } => {
                let kind = if *secret { "--secret" } else { "--plaintext" };
                self.ok(&["config", "set", "--stack", "dev", kind, "--", key, value]);
            }
            Step::Tamper { id, key, value } => {
                let path = self.object(id);
                let mut object: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
                object["inputs"][key] = value.clone();
                fs::write(path, object.to_string()).unwrap();
            }
            Step::Vanish { id } => fs::remove_file(self.object(id)).unwrap(),
            Step::Appear { id, inputs } => {
                let mut inputs = inputs.clone();
                inputs["name"] = json!(id);
                let object = json!({ "id": id, "urn": "", "inputs": inputs, "secrets": [], "serial": 7 });
                fs::write(self.object(id), object.to_string()).unwrap();
            }
            Step::Store { resources, pending } => {
                let path = self.folder.join(STORED);
                let mut stored: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
                let state = &mut stored["checkpoint"]["latest"];
                state["resources"] = resources.clone();
                state["pending_operations"] = pending.clone();
                fs::write(path, stored.to_string()).unwrap();
            }
            Step::File { name, text } => self.write(&format!("project/{name}"), text),
            Step::Unseal => self.unseal(),
            Step::PolicyPack(pack) => {
                self.install_pack(*pack);
                let log = self.folder.join("events.jsonl").display().to_string();
                let words = ["--policy-pack", "guard", "--event-log", &log, "--color", "never"];
                self.policy_arguments = words.map(str::to_owned).into();
            }
            Step::PolicySettings(settings) => {
                self.write("project/settings.json", &settings.to_string());
                let words = ["--policy-pack-config".to_owned(), "settings.json".to_owned()];
                if !self.policy_arguments.ends_with(&words) {
                    self.policy_arguments.extend(words);
                }
            }
            Step::Variable { name, value } => self.variables.push((name.clone(), value.clone())),
            Step::Run { arguments, ending } => return Some(self.run(arguments, *ending)),
        }
        None
    }

    /// Takes out of the plan what only ours adds.
    fn unseal(&self) {
        let path = self.folder.join("project").join(PLAN);
        let mut plan: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        plan.as_object_mut().unwrap().remove("drystone");
        for resource in plan["resourcePlans"].as_object_mut().unwrap().values_mut() {
            if let Some(goal) = resource["goal"].as_object_mut() {
                goal.remove("drystone");
            }
        }
        fs::write(path, plan.to_string()).unwrap();
    }

    fn object(&self, id: &str) -> PathBuf {
        self.folder.join("world/objects").join(format!("{id}.json"))
    }

    fn write_program(&self, text: &str) {
        let indented = |by: &str| text.lines().map(|line| format!("{by}{line}\n")).collect::<String>();
        match self.language {
            Language::Yaml => {
                self.write("project/Pulumi.yaml", &format!("name: shop\nruntime: yaml\n{text}"));
            }
            Language::Node => self.write(
                "project/program.js",
                &format!("module.exports = async (pulumi, ledger) => {{\n{}}};\n", indented("  ")),
            ),
            Language::Python => self.write(
                "project/program.py",
                &format!("def program(pulumi, ledger):\n{}    pass\n", indented("    ")),
            ),
        }
    }

    fn bring_up_other(&self, stack: &str, program: &str) {
        let folder = self.folder.join("other");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("Pulumi.yaml"), format!("name: other\nruntime: yaml\n{program}")).unwrap();
        for arguments in [&["stack", "init", stack][..], &["up", "--yes", "--skip-preview", "--stack", stack]]
        {
            let output = self.command("pulumi", arguments).current_dir(&folder).output().unwrap();
            assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }

    /// A command in the project's folder, with only the side's own surroundings.
    fn command(&self, program: &str, arguments: &[impl AsRef<str>]) -> Command {
        let mut command = Command::new(if program == "pulumi" { self.bin(program) } else { program.into() });
        command
            .args(arguments.iter().map(AsRef::as_ref))
            .current_dir(self.folder.join("project"))
            .env_clear();
        command.stdin(Stdio::null());
        let mut path = std::env::var("PATH").unwrap_or_default();
        if self.language == Language::Python {
            // As in a shell with the virtual environment activated: providers within a program run by its `python3`.
            let virtualenv = peer("DRYSTONE_PEER_PYTHON");
            path = format!("{}:{path}", virtualenv.join("bin").display());
            command.env("VIRTUAL_ENV", virtualenv);
        }
        command.env("PATH", format!("{}:{path}", self.folder.join("bin").display()));
        command.env("HOME", self.folder.join("home")).env("TMPDIR", self.folder.join("tmp"));
        command.env("PULUMI_HOME", self.folder.join("home/.pulumi"));
        command.env("PULUMI_BACKEND_URL", format!("file://{}", self.folder.join("state").display()));
        command.env("PULUMI_CONFIG_PASSPHRASE", PASSPHRASE);
        command.env("PULUMI_SKIP_UPDATE_CHECK", "true");
        command.env("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "true");
        command.env("NODE_PATH", peer("DRYSTONE_PEER_NODE_SDK").join("node_modules"));
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("LEDGER_WORLD", self.folder.join("world"));
        command.env("USER", "ana");
        command
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.command("pulumi", arguments).output().unwrap();
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(
            output.status.success(),
            "{}: pulumi {arguments:?}\n{stdout}\n{stderr}",
            self.folder.display()
        );
        stdout.into_owned()
    }

    fn list(&self) -> Value {
        let text = fs::read(self.folder.join("project/list.json"));
        text.ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or(Value::Null)
    }

    fn run(&mut self, arguments: &[String], ending: Ending) -> Observed {
        let mut command = match self.language {
            Language::Yaml => {
                let mut command = self.command("pulumi", &complete(arguments));
                if !self.policy_arguments.is_empty() && matches!(arguments[0].as_str(), "preview" | "up") {
                    let _ = fs::remove_file(self.folder.join("events.jsonl"));
                    command.args(&self.policy_arguments).env("PULUMI_DEBUG_COMMANDS", "true");
                }
                command
            }
            Language::Node => {
                let mut command = self.command("node", &[format!("{TESTS}/differential/inline.js")]);
                command.args(arguments);
                command
            }
            Language::Python => {
                let python = peer("DRYSTONE_PEER_PYTHON").join("bin/python");
                let mut command =
                    self.command(&python.display().to_string(), &[format!("{TESTS}/differential/inline.py")]);
                command.args(arguments);
                command
            }
        };
        command.envs(self.variables.drain(..));
        let output = command.output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let printed = format!("{stdout}{}", String::from_utf8_lossy(&output.stderr));
        let code = output.status.code().unwrap_or(-1);
        let preview = match arguments[0].as_str() {
            "preview" => parse_preview(&stdout),
            _ => Value::Null,
        };
        assert_eq!(
            ending == Ending::Success,
            code == 0,
            "{}: {arguments:?} ended with {code}\n{printed}",
            self.folder.display()
        );
        let (state, preview) = normal::state_and_preview(&self.export(), preview);
        Observed {
            command: arguments.join(" "),
            code,
            printed,
            state,
            preview,
            calls: self.new_calls(),
            world: self.world(),
            list: self.list(),
            policies: normal::policies(&self.events()),
        }
    }

    /// The state with its secrets in clear. The stock CLI's is read as it stored it, which is quicker.
    fn export(&self) -> Value {
        let text = match self.is_stock {
            true => fs::read_to_string(self.folder.join(STORED)).unwrap(),
            false => self.ok(&["stack", "export", "--stack", "dev"]),
        };
        let mut exported: Value = serde_json::from_str(&revealed(&text)).unwrap();
        if self.is_stock {
            exported["deployment"] = exported["checkpoint"]["latest"].take();
        }
        exported
    }

    /// The calls since the last command.
    fn new_calls(&mut self) -> Vec<Value> {
        let text = fs::read_to_string(self.folder.join("world/calls.jsonl")).unwrap_or_default();
        let calls: Vec<Value> =
            text.lines().skip(self.calls_seen).map(|line| serde_json::from_str(line).unwrap()).collect();
        self.calls_seen += calls.len();
        calls
    }

    /// The events of the last preview or update that was held to a policy pack.
    fn events(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.folder.join("events.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn world(&self) -> Value {
        let mut world = serde_json::Map::new();
        for entry in fs::read_dir(self.folder.join("world/objects")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            world.insert(name, serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap());
        }
        world.sort_keys();
        Value::Object(world)
    }
}

/// A command with what a script adds to it. One operation at a time, unless the case says otherwise.
fn complete(arguments: &[String]) -> Vec<String> {
    let mut complete = arguments.to_vec();
    let added: &[&str] = match arguments[0].as_str() {
        "preview" => &["--json", "--non-interactive", "--stack", "dev"],
        "up" | "refresh" | "destroy" | "import" => {
            &["--yes", "--skip-preview", "--non-interactive", "--stack", "dev"]
        }
        _ => &[],
    };
    complete.extend(added.iter().map(|&word| word.to_owned()));
    if !added.is_empty() && !arguments.iter().any(|word| word == "-p") {
        complete.extend(["-p".to_owned(), "1".to_owned()]);
    }
    complete
}

/// The object among what a preview printed, which may have lines before it.
fn parse_preview(stdout: &str) -> Value {
    let start = if stdout.starts_with('{') { Some(0) } else { stdout.find("\n{").map(|at| at + 1) };
    start.and_then(|start| serde_json::from_str(&stdout[start..]).ok()).unwrap_or(Value::Null)
}

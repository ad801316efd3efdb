//! `up`, `preview`, `refresh` and `destroy` with real programs: what they do, record, print and end with.

mod harness;
mod programs;

use harness::Sandbox;
use programs::{deeds, history, link_node_sdk, node, peer, revisions, set_program, things};
use serde_json::{Value, json};

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn a_stack_lives_from_up_to_destroy() {
    let sandbox = node(&json!({ "things": [{ "name": "a" }, { "name": "b", "needs": ["a"] }] }));

    let preview = sandbox.drystone(&["preview"]);
    assert_eq!(preview.code, 0, "{preview:#?}");
    assert!(preview.stdout.contains("Previewing update of shop/dev"), "{preview:#?}");
    assert_eq!((deeds(&sandbox), revisions(&sandbox), history(&sandbox).len()), (vec![], 1, 0));

    let up = sandbox.drystone(&["up", "--yes", "--message", "the first"]);
    assert_eq!(up.code, 0, "{up:#?}");
    for says in ["Updating shop/dev", "revision 1 → 2", "drystone stack undo"] {
        assert!(up.stdout.contains(says), "{says}: {up:#?}");
    }
    assert_eq!(things(&sandbox), ["a", "b"]);
    assert_eq!(deeds(&sandbox), ["begin a", "end a", "begin b", "end b"]);

    // S3: an update that changes nothing makes no revision, but it did happen.
    let again = sandbox.drystone(&["up", "--skip-preview", "--expect-no-changes"]);
    assert_eq!(again.code, 0, "{again:#?}");
    assert_eq!(revisions(&sandbox), 2);
    let records = history(&sandbox);
    let told: Vec<_> = records
        .iter()
        .map(|record| (record["kind"].clone(), record["result"].clone(), record["resourceChanges"].clone()))
        .collect();
    assert_eq!(
        told,
        [
            (json!("update"), json!("succeeded"), json!({ "same": 3 })),
            (json!("update"), json!("succeeded"), json!({ "create": 3 })),
        ]
    );
    assert_eq!(records[1]["message"], "the first");
    assert_eq!(records[1]["environment"]["pulumi.flag.message"], "set");
    assert_eq!(records[1]["environment"]["exec.kind"], "cli");

    let refresh = sandbox.drystone(&["refresh", "--yes", "--skip-preview", "--expect-no-changes"]);
    assert_eq!(refresh.code, 0, "{refresh:#?}");

    set_program(&sandbox, &json!({ "things": [{ "name": "a" }] }));
    let expected = sandbox.drystone(&["preview", "--expect-no-changes"]);
    assert_eq!(expected.code, 7, "{expected:#?}");
    assert!(expected.stderr.contains("no changes were expected for update but changes were proposed"));
    assert_eq!(things(&sandbox), ["a", "b"]);

    let destroy = sandbox.drystone(&["destroy", "--yes", "--remove"]);
    assert_eq!(destroy.code, 0, "{destroy:#?}");
    assert_eq!(deeds(&sandbox)[4..], ["delete id-b", "delete id-a"]);
    assert_eq!(sandbox.drystone(&["stack", "--stack", "dev"]).code, 6);
    assert!(!sandbox.project().join("Pulumi.dev.yaml").exists());
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn s17_secrets_are_sealed_in_the_state_and_masked_everywhere_else() {
    let sandbox = node(&json!({ "things": [{ "name": "a" }] }));
    sandbox.ok(&["config", "set", "token", "sesame-open", "--secret"]);
    let log = sandbox.project().join("events.jsonl");
    let up = sandbox.drystone(&["up", "-f", "--json", "--event-log", log.to_str().expect("a path")]);
    assert_eq!(up.code, 0, "{up:#?}");
    for line in up.stdout.lines() {
        serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    }
    let events = std::fs::read_to_string(log).expect("the event log");
    let last: Value = serde_json::from_str(events.lines().last().expect("an event")).expect("JSON");
    let kinds = ["preludeEvent", "resourcePreEvent", "resOutputsEvent", "summaryEvent"];
    assert!(kinds.iter().all(|kind| events.contains(kind)), "{events}");
    assert!(last.get("summaryEvent").is_some() || last.get("cancelEvent").is_some(), "{last}");
    let state =
        std::fs::read_to_string(sandbox.state().join(".pulumi/stacks/shop/dev.json")).expect("a state");
    for secret in ["hush-hush", "sesame-open"] {
        for (place, text) in
            [("stdout", &up.stdout), ("stderr", &up.stderr), ("events", &events), ("state", &state)]
        {
            assert!(!text.contains(secret), "{secret} stands in {place}: {text}");
        }
    }
    let outputs: Value =
        serde_json::from_str(&sandbox.ok(&["stack", "output", "--json", "--show-secrets"])).expect("JSON");
    assert_eq!(outputs, json!({ "open": "plain", "hidden": "hush-hush" }));
    assert_eq!(history(&sandbox)[0]["config"]["shop:token"]["secret"], json!(true));
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn s5_what_was_done_before_a_failure_is_recorded() {
    let sandbox = node(&json!({ "things": [
        { "name": "a" }, { "name": "bad", "needs": ["a"], "fails": true }, { "name": "after", "needs": ["bad"] },
        { "name": "other", "needs": ["a"], "takes": 100 } ] }));
    let up = sandbox.drystone(&["up", "-f", "--continue-on-error"]);
    assert_eq!(up.code, 4, "{up:#?}");
    assert!(up.stdout.contains("cannot make bad"), "{up:#?}");
    assert!(
        up.stderr.contains("the update of shop/dev failed") && up.stderr.contains("revision 2"),
        "{up:#?}"
    );
    assert_eq!(things(&sandbox), ["a", "other"]);
    assert_eq!(history(&sandbox)[0]["result"], "failed");
    sandbox.ok(&["state", "verify"]);

    set_program(
        &sandbox,
        &json!({ "things": [{ "name": "a" }, { "name": "other", "needs": ["a"], "takes": 100 }] }),
    );
    assert_eq!(sandbox.drystone(&["up", "-f"]).code, 0);
    sandbox.write("index.js", "throw new Error('the program is wrong');\n");
    let thrown = sandbox.drystone(&["up", "--yes"]);
    assert_eq!(thrown.code, 4, "{thrown:#?}");
    for says in ["failed with an unhandled exception:", "the program is wrong"] {
        assert!(thrown.stdout.contains(says), "{says}: {thrown:#?}");
    }
    assert!(thrown.stderr.contains("the preview of shop/dev failed"), "{thrown:#?}");
    assert_eq!(things(&sandbox), ["a", "other"]);
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn programs_read_other_stacks_and_their_secrets_stay_secrets() {
    let sandbox = node(&json!({ "things": [] }));
    assert_eq!(sandbox.drystone(&["up", "-f"]).code, 0);
    sandbox.ok(&["stack", "init", "reader"]);
    for name in ["organization/shop/dev", "dev"] {
        set_program(&sandbox, &json!({ "things": [], "reads": name }));
        let up = sandbox.drystone(&["up", "-f"]);
        assert_eq!(up.code, 0, "{name}: {up:#?}");
        assert!(!up.stdout.contains("hush-hush"), "{up:#?}");
        let masked: Value = serde_json::from_str(&sandbox.ok(&["stack", "output", "--json"])).expect("JSON");
        assert_eq!((&masked["read"], &masked["readSecret"]), (&json!("plain"), &json!("[secret]")), "{name}");
    }
    let open = sandbox.ok(&["stack", "output", "readSecret", "--show-secrets"]);
    assert_eq!(open.trim(), "hush-hush");
    set_program(&sandbox, &json!({ "things": [], "reads": "nope" }));
    let unknown = sandbox.drystone(&["up", "-f"]);
    assert!(unknown.code == 4 && unknown.stdout.contains("unknown stack \"nope\""), "{unknown:#?}");
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn targets_and_excludes_leave_the_rest() {
    let sandbox = node(&json!({ "things": [{ "name": "a" }, { "name": "b" }] }));
    let up = sandbox.drystone(&["up", "-f", "--target", "**::a"]);
    assert_eq!(up.code, 0, "{up:#?}");
    assert_eq!(things(&sandbox), ["a"]);
    let up = sandbox.drystone(&["up", "-f", "--exclude", "**::b"]);
    assert_eq!(up.code, 0, "{up:#?}");
    assert_eq!(things(&sandbox), ["a"]);
    assert_eq!(sandbox.drystone(&["up", "-f"]).code, 0);
    let destroy = sandbox.drystone(&["destroy", "-f", "--target", "**::b"]);
    assert_eq!(destroy.code, 0, "{destroy:#?}");
    assert_eq!(things(&sandbox), ["a"]);
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn what_is_protected_stays_when_the_rest_is_destroyed() {
    let sandbox = node(&json!({ "things": [
        { "name": "base" }, { "name": "kept", "needs": ["base"], "protect": true }, { "name": "gone" } ] }));
    assert_eq!(sandbox.drystone(&["up", "-f"]).code, 0);
    let destroy = sandbox.drystone(&["destroy", "-f", "--exclude-protected"]);
    assert_eq!(destroy.code, 0, "{destroy:#?}");
    assert!(destroy.stderr.contains("All unprotected resources were destroyed."), "{destroy:#?}");
    assert_eq!(things(&sandbox), ["base", "kept"]);
    let nothing = sandbox.drystone(&["destroy", "-f", "--exclude-protected"]);
    assert!(
        nothing.code == 0 && nothing.stderr.contains("There were no unprotected resources"),
        "{nothing:#?}"
    );
    let refused = sandbox.drystone(&["destroy", "-f"]);
    assert!(refused.code == 4 && refused.stdout.contains("protect"), "{refused:#?}");
    assert_eq!(things(&sandbox), ["base", "kept"]);
    let all = sandbox.drystone(&["destroy", "-f", "--ignore-protect"]);
    assert_eq!(all.code, 0, "{all:#?}");
    assert_eq!(things(&sandbox), [] as [&str; 0]);
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn configuration_of_the_command_line_reaches_the_program_and_is_kept() {
    let sandbox = node(&json!({ "things": [] }));
    sandbox.write(
        "index.js",
        "const c = new (require('@pulumi/pulumi').Config)();\nexports.size = c.requireNumber('size');\nexports.list = c.requireObject('list');\n",
    );
    let up = sandbox.drystone(&["up", "-f", "-c", "size=3", "-c", "list[0]=a", "--config-path"]);
    assert_eq!(up.code, 0, "{up:#?}");
    let outputs: Value = serde_json::from_str(&sandbox.ok(&["stack", "output", "--json"])).expect("JSON");
    assert_eq!(outputs, json!({ "size": 3, "list": ["a"] }));
    assert_eq!(sandbox.ok(&["config", "get", "size"]).trim(), "3");
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn a_stack_that_is_named_in_full_is_destroyed_from_anywhere() {
    let sandbox = node(&json!({ "things": [{ "name": "a" }] }));
    assert_eq!(sandbox.drystone(&["up", "-f"]).code, 0);
    // The dynamic provider is part of the program's packages, so those have to be there.
    let elsewhere = sandbox.state().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");
    link_node_sdk(&elsewhere);
    let folder = elsewhere.to_str().expect("a path");
    let destroy = sandbox.drystone(&["destroy", "-f", "-C", folder, "--stack", "organization/shop/dev"]);
    assert_eq!(destroy.code, 0, "{destroy:#?}");
    assert_eq!(things(&sandbox), [] as [&str; 0]);
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn the_node_example_runs_as_it_stands() {
    let sandbox = example("node");
    link_node_sdk(&sandbox.project());
    run_example(&sandbox, "site/index.html", "<h1>Dry stone walls</h1>");
}

#[test]
#[ignore = "needs the Python SDK: run by cargo xtask test"]
fn the_python_example_runs_as_it_stands() {
    let sandbox = example("python");
    std::os::unix::fs::symlink(peer("DRYSTONE_PEER_PYTHON"), sandbox.project().join("venv")).expect("a link");
    run_example(&sandbox, "notes/contents.txt", "Notes of ana");
}

/// A sandbox whose project is an example.
fn example(name: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    for entry in std::fs::read_dir(folder).expect("the example") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            let name = path.file_name().expect("a name").to_owned();
            std::fs::copy(&path, sandbox.project().join(name)).expect("a copy");
        }
    }
    sandbox
}

fn run_example(sandbox: &Sandbox, file: &str, holds: &str) {
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.ok(&["up", "--yes"]);
    assert!(sandbox.read(file).contains(holds), "{}", sandbox.read(file));
    sandbox.ok(&["up", "--yes", "--expect-no-changes"]);
    // What was changed behind its back is found and put right.
    std::fs::remove_file(sandbox.project().join(file)).expect("a file");
    sandbox.ok(&["refresh", "--yes"]);
    sandbox.ok(&["up", "--yes"]);
    assert!(sandbox.read(file).contains(holds));
    sandbox.ok(&["destroy", "--yes", "--remove"]);
    assert!(!sandbox.project().join(file).exists());
}

/// Installs the testbed's provider in these versions, in a home of plugins that the sandbox has to itself.
fn install_bench(sandbox: &mut Sandbox, versions: &[&str]) {
    let home = sandbox.project().join("plugins-home");
    for version in versions {
        let folder = home.join(format!("plugins/resource-bench-v{version}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        let plugin = peer("DRYSTONE_TESTBED").join("pulumi-resource-bench");
        std::os::unix::fs::symlink(plugin, folder.join("pulumi-resource-bench")).expect("a link");
    }
    sandbox.set("PULUMI_HOME", home.to_str().expect("a path"));
}

/// The default providers in the state, with the versions of their plugins.
fn default_providers(sandbox: &Sandbox) -> Vec<(String, Value)> {
    let state: Value =
        serde_json::from_str(&sandbox.ok(&["stack", "export", "--stack", "dev"])).expect("JSON");
    let resources = state["deployment"]["resources"].as_array().expect("resources").clone();
    let providers = resources.into_iter().filter(|found| found["type"] == "pulumi:providers:bench");
    let shown = |found: Value| {
        let urn = found["urn"].as_str().expect("a name").to_owned();
        (urn.rsplit("::").next().expect("a name").to_owned(), found["inputs"]["version"].clone())
    };
    providers.map(shown).collect()
}

#[test]
#[ignore = "needs the Node.js SDK: run by cargo xtask test"]
fn an_installed_npm_package_names_the_plugin_of_what_names_none() {
    let mut sandbox = node(&json!({ "things": [] }));
    install_bench(&mut sandbox, &["1.2.3", "2.0.0"]);
    sandbox.write(
        "index.js",
        "const pulumi = require(\"@pulumi/pulumi\");\nnew pulumi.CustomResource(\"bench:index:Item\", \"a\", {});\n",
    );
    let note = |version: &str| {
        let text = format!(
            "{{\"name\":\"@pulumi/bench\",\"version\":\"{version}\",\"pulumi\":{{\"resource\":true}}}}"
        );
        sandbox.write("lib/node_modules/@pulumi/bench/package.json", &text);
    };
    note("1.2.3");
    sandbox.ok(&["up", "--yes", "--stack", "dev"]);
    assert_eq!(default_providers(&sandbox), [("default_1_2_3".to_owned(), json!("1.2.3"))]);
    let about: Value = serde_json::from_str(&sandbox.ok(&["about", "--json"])).expect("JSON");
    assert_eq!(about["plugins"], json!([{ "name": "bench", "version": "1.2.3", "kind": "resource" }]));
    assert_eq!(about["runtime"]["language"], "nodejs");
    assert!(about["runtime"]["version"].as_str().is_some_and(|version| version.starts_with('v')), "{about}");
    // Where nothing names one any more, the state's is kept rather than the newest taken.
    std::fs::remove_dir_all(sandbox.project().join("lib")).expect("removed");
    sandbox.ok(&["up", "--yes", "--stack", "dev", "--expect-no-changes"]);
    assert_eq!(default_providers(&sandbox), [("default_1_2_3".to_owned(), json!("1.2.3"))]);
    note("2.0.0");
    sandbox.ok(&["up", "--yes", "--stack", "dev"]);
    assert_eq!(default_providers(&sandbox), [("default_2_0_0".to_owned(), json!("2.0.0"))]);
}

#[test]
#[ignore = "needs the Python SDK: run by cargo xtask test"]
fn an_installed_python_package_names_the_plugin_of_what_names_none() {
    let mut sandbox = Sandbox::new();
    install_bench(&mut sandbox, &["1.2.3", "2.0.0"]);
    let python = peer("DRYSTONE_PEER_PYTHON");
    // An environment of its own that has the SDK of the other and one more package.
    let made = std::process::Command::new(python.join("bin/python"))
        .args(["-m", "venv", "--without-pip"])
        .arg(sandbox.project().join("venv"))
        .status();
    assert!(made.expect("python").success());
    let lib = std::fs::read_dir(sandbox.project().join("venv/lib")).expect("a folder").next();
    let version = lib.expect("a version").expect("an entry").file_name();
    let version = version.to_str().expect("a name");
    let packages = format!("venv/lib/{version}/site-packages");
    let sdk = python.join(format!("lib/{version}/site-packages"));
    sandbox.write(&format!("{packages}/sdk.pth"), &format!("{}\n", sdk.display()));
    sandbox.write(
        &format!("{packages}/pulumi_bench-1.2.3.dist-info/METADATA"),
        "Metadata-Version: 2.1\nName: pulumi-bench\nVersion: 1.2.3\n",
    );
    sandbox.write(&format!("{packages}/pulumi_bench/pulumi-plugin.json"), "{\"resource\": true}");
    sandbox.write("Pulumi.yaml", "name: shop\nruntime:\n  name: python\n  options:\n    virtualenv: venv\n");
    sandbox.write("__main__.py", "import pulumi\npulumi.CustomResource(\"bench:index:Item\", \"a\", {})\n");
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.ok(&["up", "--yes", "--stack", "dev"]);
    assert_eq!(default_providers(&sandbox), [("default_1_2_3".to_owned(), json!("1.2.3"))]);
}

//! `new`: projects from templates, which then run as they stand.

#![cfg(unix)]

mod harness;
mod programs;

use harness::Sandbox;
use programs::peer;
use std::os::unix::fs::symlink;

/// Makes a project in the folder `made`, and runs it with the SDK that setup installed.
fn made_and_run(template: &str, dependencies: Option<(&str, std::path::PathBuf)>) {
    let mut sandbox = Sandbox::new();
    let yaml = peer("DRYSTONE_PEER_YAML");
    let folder = yaml.parent().expect("a folder").display();
    let path = std::env::var("PATH").unwrap_or_default();
    sandbox.set("PATH", &format!("{folder}:{path}"));
    let words = ["new", template, "--yes", "--generate-only", "--dir", "made", "--name", "fresh"];
    let new = sandbox.drystone(&words);
    assert_eq!((new.code, new.stdout.as_str()), (0, ""), "{new:#?}");
    assert!(new.stderr.contains("Created project 'fresh'"), "{new:#?}");
    if let Some((name, source)) = dependencies {
        symlink(source, sandbox.project().join("made").join(name)).expect("a link");
    }
    for words in [
        &["-C", "made", "stack", "init", "dev"][..],
        &["-C", "made", "up", "--yes", "--skip-preview"],
        &["-C", "made", "preview", "--expect-no-changes"],
    ] {
        sandbox.ok(words);
    }
    let greeting = sandbox.ok(&["-C", "made", "stack", "output", "greeting"]);
    assert_eq!(greeting.trim(), "Hello from dev", "{template}");
}

#[test]
#[ignore = "needs the SDKs: run by cargo xtask test"]
fn a_javascript_project_runs() {
    made_and_run("javascript", Some(("node_modules", peer("DRYSTONE_PEER_NODE_SDK").join("node_modules"))));
}

#[test]
#[ignore = "needs the SDKs: run by cargo xtask test"]
fn a_typescript_project_runs() {
    made_and_run("typescript", Some(("node_modules", peer("DRYSTONE_PEER_NODE_SDK").join("node_modules"))));
}

#[test]
#[ignore = "needs the SDKs: run by cargo xtask test"]
fn a_python_project_runs() {
    made_and_run("python", Some(("venv", peer("DRYSTONE_PEER_PYTHON"))));
}

#[test]
#[ignore = "needs the YAML language: run by cargo xtask test"]
fn a_yaml_project_runs() {
    made_and_run("yaml", None);
}

#[test]
fn a_folder_is_a_template() {
    let sandbox = Sandbox::new();
    let folder = sandbox.project().join("ours");
    std::fs::create_dir_all(folder.join("inside")).expect("a folder");
    sandbox.write("ours/Pulumi.yaml", "name: ${PROJECT}\nruntime: yaml\ntemplate:\n  description: x\n");
    sandbox.write("ours/inside/note.txt", "${DESCRIPTION} of ${PROJECT}");
    sandbox.ok(&[
        "new",
        "./ours",
        "--yes",
        "--dir",
        "made",
        "--name",
        "fresh",
        "--description",
        "a tale",
        "--stack",
        "one",
    ]);
    assert_eq!(sandbox.read("made/Pulumi.yaml"), "name: fresh\nruntime: yaml\n");
    assert_eq!(sandbox.read("made/inside/note.txt"), "a tale of fresh");
    assert!(sandbox.ok(&["-C", "made", "stack", "ls"]).contains("one"));
}

#[test]
fn what_cannot_be_made_is_refused_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    sandbox.write("full", "taken");
    for (words, text) in [
        (&["new", "cobol", "--yes", "--dir", "made"][..], "template 'cobol' not found"),
        (&["new", "https://example.com/x", "--yes", "--dir", "made"], "not part of this version yet"),
        (&["new", "yaml", "--yes", "--name", "a b", "--dir", "made"], "'a b' is not a valid project name"),
        (&["new", "yaml", "--yes"], "is not empty; rerun in an empty directory"),
        (&["new", "yaml", "--dir", "made"], "--yes must be passed in to proceed"),
        (&["new", "yaml", "--yes", "--dir", "made", "--runtime-options", "x"], "invalid runtime option: x"),
        (&["new", "yaml", "--yes", "--dir", "made", "--secrets-provider", "x"], "unknown secrets provider"),
        (&["new", "yaml", "--yes", "--dir", "made", "--config", "x"], "hint: a value is set with"),
        (&["new", "yaml", "--yes", "--ai", "x", "--dir", "made"], "need Pulumi Cloud"),
    ] {
        let ended = sandbox.drystone(words);
        assert!(ended.code != 0 && ended.stderr.contains(text), "{words:?}: {ended:#?}");
        assert!(!sandbox.project().join("made/Pulumi.yaml").exists(), "{words:?}");
    }
}

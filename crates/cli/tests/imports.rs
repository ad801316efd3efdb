//! `import`: what exists is taken over without a program, and the program's code for it is written.

mod harness;
mod programs;
mod rough;

use harness::Ended;
use rough::{Site, known};

const ITEM: &str = "bench:index:Item";

/// A stack with nothing in it, where `a` exists.
fn existing() -> Site {
    let site = Site::new("{steps: []}");
    site.sandbox.write("world/a", r#"{"size": 3, "text": "${x}"}"#);
    site
}

fn import(site: &Site, words: &[&str]) -> Ended {
    site.sandbox.drystone(&[&["import"], words].concat())
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_preview_takes_nothing_over() {
    let site = existing();
    let ended = import(&site, &[ITEM, "a", "a", "--preview-only"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(
        ended.stdout.contains("Previewing import into shop/dev") && ended.stdout.contains("= "),
        "{ended:#?}"
    );
    assert_eq!(site.known(), known(&[], &[]));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn nobody_is_asked_where_nobody_can_answer() {
    let site = existing();
    let ended = import(&site, &[ITEM, "a", "a"]);
    assert_ne!(ended.code, 0);
    assert!(ended.stderr.contains("--yes or --skip-preview or --preview-only must be passed"), "{ended:#?}");
    assert_eq!(site.known(), known(&[], &[]));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn the_code_goes_to_stdout_and_what_to_do_with_it_to_stderr() {
    let site = existing();
    site.sandbox.write("Pulumi.yaml", "name: shop\nruntime: yaml\n");
    let ended = import(&site, &[ITEM, "a", "a", "--yes", "--suppress-progress"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    let code = "resources:\n  a:\n    type: bench:index:Item\n    properties:\n      size: 3\n      text: \"$${x}\"\n    \
                options:\n      protect: true\n";
    assert!(ended.stdout.ends_with(code), "{}", ended.stdout);
    assert!(ended.stderr.contains("Please copy the following code"), "{ended:#?}");
    assert!(ended.stderr.contains("marked as protected"), "{ended:#?}");
    assert_eq!(site.known(), known(&["a"], &[]));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn the_code_goes_to_a_file_in_the_language_of_the_project() {
    for (runtime, code) in [
        ("nodejs", "const a = new bench.Item(\"a\", {\n    size: 3,"),
        ("python", "a = bench.Item(\"a\",\n    size=3,"),
        ("yaml", "resources:\n  a:\n"),
    ] {
        let site = existing();
        site.sandbox.write("Pulumi.yaml", &format!("name: shop\nruntime: {runtime}\n"));
        let ended =
            import(&site, &[ITEM, "a", "a", "--skip-preview", "--out", "code.txt", "--protect=false"]);
        assert_eq!(ended.code, 0, "{runtime}: {ended:#?}");
        let written = site.sandbox.read("code.txt");
        assert!(written.contains(code) && !written.contains("protect"), "{runtime}: {written}");
        assert!(!ended.stdout.contains(code), "{runtime}: {ended:#?}");
    }
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_runtime_without_code_is_told_of() {
    let site = existing();
    let ended = import(&site, &[ITEM, "a", "a", "--yes", "--skip-preview", "--out", "code.txt"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains("no code to show for programs of the runtime `bench`"), "{ended:#?}");
    assert_eq!((site.sandbox.read("code.txt").as_str(), site.known()), ("", known(&["a"], &[])));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn what_does_not_exist_is_an_error_with_the_code_of_resources() {
    let site = existing();
    let ended = import(&site, &[ITEM, "b", "nobody", "--yes", "--skip-preview"]);
    assert_eq!(ended.code, 4, "{ended:#?}");
    assert!(ended.stdout.contains("resource 'nobody' does not exist"), "{ended:#?}");
    assert!(ended.stderr.contains("error: the import"), "{ended:#?}");
    assert_eq!(site.known(), known(&[], &[]));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn what_was_taken_over_before_a_failure_stays_with_its_code() {
    let site = existing();
    site.sandbox.write("Pulumi.yaml", "name: shop\nruntime: python\n");
    let list = r#"{"resources": [
        {"type": "bench:index:Item", "name": "a", "id": "a"},
        {"type": "bench:index:Item", "name": "b", "id": "nobody", "parent": "a"}]}"#;
    site.sandbox.write("list.json", list);
    let ended = import(&site, &["--file", "list.json", "--yes", "--skip-preview", "--out", "code.txt"]);
    assert_eq!(ended.code, 4, "{ended:#?}");
    assert!(site.sandbox.read("code.txt").contains("a = bench.Item"), "{ended:#?}");
    assert_eq!(site.known(), known(&["a"], &[]));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn it_can_be_undone() {
    let site = existing();
    let ended = import(&site, &[ITEM, "a", "a", "--yes", "--skip-preview", "--generate-code=false"]);
    assert!(ended.stdout.contains("undo: drystone stack undo"), "{ended:#?}");
    site.sandbox.ok(&["stack", "undo", "--yes"]);
    assert_eq!((site.known(), site.things().len()), (known(&[], &[]), 1));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn what_makes_no_sense_is_refused_with_what_would() {
    let site = existing();
    site.sandbox.write("list.json", r#"{"resources": [{"type": "a:b:C", "name": "x", "id": "y"}]}"#);
    site.sandbox.write("broken.json", r#"{"resources": ["#);
    site.sandbox.write("empty.json", "{}");
    for (words, text) in [
        (&[][..], "missing type, name, and id"),
        (&[ITEM], "missing name and id"),
        (&[ITEM, "a"], "missing id"),
        (&[ITEM, "a", "a", "b"], "only expected at most three arguments"),
        (&[ITEM, "a", "a", "--file", "list.json"], "may not be specified in conjunction with an import file"),
        (&[ITEM, "a", "a", "--parent", "x=y"], "invalid parent URN: 'y'"),
        (&[ITEM, "a", "a", "--provider", "y"], "invalid provider URN: 'y'"),
        (&["--file", "missing.json"], "could not read import file"),
        (&["--file", "broken.json"], "could not read import file"),
        (&["--file", "empty.json"], "there is nothing to import"),
        (&[ITEM, "a", "a", "--out", "missing/code.txt"], "could not open output file"),
        (&["--from", "terraform", "state.json"], "no converter plugin 'pulumi-converter-terraform' found"),
        (
            &["--from", "bench", "--file", "list.json"],
            "may not be specified in conjunction with an import file",
        ),
        (
            &["--from", "bench", "nowhere.json"],
            "error: converter \"bench\" failed: nowhere.json: No such file",
        ),
    ] {
        let ended = import(&site, &[words, &["--yes", "--skip-preview"]].concat());
        assert!(ended.code != 0 && ended.stderr.contains(text), "{words:?}: {ended:#?}");
    }
    assert_eq!(site.known(), known(&[], &[]));
}

/// Lets the bench converter read a state.
fn convert(site: &Site, state: &str, words: &[&str]) -> Ended {
    site.sandbox.write("state.json", state);
    import(site, &[&["--from", "bench", "--skip-preview"], words, &["--", "state.json"]].concat())
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn what_a_converter_lists_is_taken_over_with_its_code() {
    let site = existing();
    site.sandbox.write("Pulumi.yaml", "name: shop\nruntime: python\n");
    let state = r#"{"resources": [{"type": "bench:index:Item", "name": "a", "id": "a"}],
        "diagnostics": [{"severity": "warning", "summary": "odd", "detail": "but well", "line": 3}]}"#;
    let ended = convert(&site, state, &[]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains("warning: state.json:3,1-5: odd; but well"), "{ended:#?}");
    assert!(ended.stdout.contains("a = bench.Item(\"a\""), "{ended:#?}");
    assert_eq!(site.known(), known(&["a"], &[]));
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_converter_runs_where_the_user_is() {
    let site = existing();
    std::fs::create_dir(site.sandbox.project().join("inner")).expect("a folder");
    site.sandbox.write(
        "inner/state.json",
        r#"{"resources": [{"type": "bench:index:Item", "name": "a", "id": "a"}]}"#,
    );
    let ended =
        import(&site, &["--cwd", "inner", "--from", "bench", "--yes", "--skip-preview", "state.json"]);
    assert_eq!((ended.code, site.known()), (0, known(&["a"], &[])), "{ended:#?}");
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_conversion_that_fails_takes_nothing_over() {
    let listed = r#""resources": [{"type": "bench:index:Item", "name": "a", "id": "a"}]"#;
    let site = existing();
    for (state, texts) in [
        (
            format!(r#"{{{listed}, "diagnostics": [{{"severity": "error", "summary": "no", "line": 2}}]}}"#),
            &["error: state.json:2,1-5: no", "error: conversion failed", "hint: nothing was taken over"][..],
        ),
        (
            format!(r#"{{{listed}, "ends": "goodbye"}}"#),
            &["converter \"bench\" failed: the converter 'bench' ended with exit code 3", "goodbye"],
        ),
        (
            format!(r#"{{{listed}, "schema": "stranger"}}"#),
            &["no resource plugin 'pulumi-resource-stranger' found"],
        ),
    ] {
        let ended = convert(&site, &state, &["--generate-resources", "list.json"]);
        assert_ne!(ended.code, 0, "{ended:#?}");
        for text in texts {
            assert!(ended.stderr.contains(text), "{text}: {ended:#?}");
        }
        assert!(!site.sandbox.project().join("list.json").exists());
    }
    assert_eq!(site.known(), known(&[], &[]));
    let ended = convert(&site, r#"{"ends": "goodbye"}"#, &["--stack", "stranger"]);
    assert!(ended.code == 6 && !ended.stderr.contains("goodbye"), "{ended:#?}");
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn the_list_of_a_converter_is_kept_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let site = existing();
    let state = r#"{"resources": [{"type": "bench:index:Item", "name": "a", "id": "a", "inputs": {"text":
        {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "hidden"}}}]}"#;
    let ended = convert(&site, state, &["--generate-resources", "list.json"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains("Generated import file written out to"), "{ended:#?}");
    let shown = [ended.stdout, ended.stderr].concat();
    assert!(!shown.contains("hidden"), "{shown}");
    let path = site.sandbox.project().join("list.json");
    assert_eq!(std::fs::metadata(&path).expect("the list").permissions().mode() & 0o777, 0o600);
    assert!(site.sandbox.read("list.json").contains(r#""plaintext": "\"hidden\"""#));
    let state = site.export()["deployment"]["resources"].to_string();
    assert!(!state.contains("hidden"), "{state}");
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn an_import_that_fails_keeps_what_the_converter_listed() {
    let site = existing();
    let state = r#"{"resources": [{"type": "bench:index:Item", "name": "a", "id": "a"},
        {"type": "bench:index:Item", "name": "b", "id": "nobody"}]}"#;
    let ended = convert(&site, state, &["--generate-code=false"]);
    assert_eq!(ended.code, 4, "{ended:#?}");
    let (_, path) = ended.stderr.split_once("edit and rerun import with --file ").expect("the file's name");
    let path = path.lines().next().expect("a line");
    site.sandbox.write("world/nobody", "{}");
    let ended = import(&site, &["--file", path, "--yes", "--skip-preview", "--generate-code=false"]);
    assert_eq!((ended.code, site.known()), (0, known(&["a", "b"], &[])), "{ended:#?}");
}

/// A provider that another ecosystem's names map to is found wherever it is: here on the PATH, as if it were installed.
#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_converter_finds_mappings_in_the_providers_that_are_there() {
    let site = existing();
    site.sandbox.write("world/o", "{}");
    let state = r#"{"mapping": "outer", "hint": "bench",
        "resources": [{"type": "bench:index:Item", "name": "a", "id": "{mapping}"}]}"#;
    let ended = convert(&site, state, &["--generate-code=false"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert_eq!(site.export()["deployment"]["resources"][2]["id"], "o");
}

#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_converter_has_packages_resolved() {
    let plugin = std::path::PathBuf::from(std::env::var("DRYSTONE_TESTBED").expect("the testbed"));
    let path = plugin.join("pulumi-resource-bench").display().to_string();
    for (package, parameters, resolved) in [
        ("bench", "[]", "resource-bench-1.0.0"),
        ("bench", r#"["tower"]"#, "resource-bench-1.0.0+tower-2.0.0-hi"),
        (&path, "[]", "resource-bench-1.0.0"),
    ] {
        let site = existing();
        site.sandbox.write(&format!("world/{resolved}"), "{}");
        let state = format!(
            r#"{{"package": "{package}", "parameters": {parameters},
                "resources": [{{"type": "bench:index:Item", "name": "a", "id": "{{package}}"}}]}}"#
        );
        let ended = convert(&site, &state, &["--generate-code=false"]);
        assert_eq!(ended.code, 0, "{ended:#?}");
        assert_eq!(site.export()["deployment"]["resources"][2]["id"], resolved);
    }
    let site = existing();
    let ended = convert(&site, r#"{"package": "nobody", "resources": []}"#, &[]);
    assert!(ended.code != 0 && ended.stderr.contains("resolving package \"nobody\": "), "{ended:#?}");
}

/// One broken plugin does not keep the others from being asked; it matters only if nobody has the mapping.
#[test]
#[ignore = "needs the testbed plugins: run by cargo xtask test"]
fn a_broken_provider_only_matters_when_no_other_has_the_mapping() {
    use std::os::unix::fs::symlink;
    let mut site = existing();
    let home = site.sandbox.project().join("plugins-home");
    let plugins = home.join("plugins");
    let bench = std::path::PathBuf::from(std::env::var("DRYSTONE_TESTBED").expect("the testbed"));
    for (name, program) in [("a", "/bin/false".into()), ("bench", bench.join("pulumi-resource-bench"))] {
        let folder = plugins.join(format!("resource-{name}-v1.0.0"));
        std::fs::create_dir_all(&folder).expect("a folder");
        symlink(&program, folder.join(format!("pulumi-resource-{name}"))).expect("a link");
    }
    site.sandbox.set("PULUMI_HOME", home.to_str().expect("a path"));
    site.sandbox.write("world/o", "{}");
    let stack = ["--generate-code=false", "--stack", "dev"];
    let listed = r#""resources": [{"type": "bench:index:Item", "name": "a", "id": "{mapping}"}]"#;
    let ended = convert(&site, &format!(r#"{{"mapping": "outer", {listed}}}"#), &stack);
    assert_eq!(ended.code, 0, "{ended:#?}");
    let ended = convert(&site, &format!(r#"{{"mapping": "stranger", {listed}}}"#), &stack);
    assert!(ended.code != 0 && ended.stderr.contains("these could not be asked: a:"), "{ended:#?}");
}

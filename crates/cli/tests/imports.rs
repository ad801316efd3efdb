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
        (&["--from", "terraform", "state.json"], "`--from` is not part of this version yet"),
    ] {
        let ended = import(&site, &[words, &["--yes", "--skip-preview"]].concat());
        assert!(ended.code != 0 && ended.stderr.contains(text), "{words:?}: {ended:#?}");
    }
    assert_eq!(site.known(), known(&[], &[]));
}

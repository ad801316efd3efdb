//! Texts that nobody writes by mistake.

use crate::stack::Stack;
use std::time::{Duration, Instant};

/// Every text is refused with one clear error, soon, and nothing is done.
#[track_caller]
fn refused(text: &str, expected: &str) {
    let mut stack = Stack::new("");
    stack.file("Main.yaml", text);
    let start = Instant::now();
    stack.up().failed_with(expected);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!(stack.names(), [""; 0]);
}

#[test]
fn texts_that_are_no_yaml() {
    for (text, expected) in [
        ("resources: {a: [}", "Main.yaml:1:"),
        ("a: b: c", "not valid YAML"),
        ("resources:\n  a: 'unterminated", "Main.yaml:"),
        ("", "the file is empty"),
        ("# nothing\n", "the file is empty"),
        ("- a\n- b", "must be an object"),
        ("just text", "must be an object"),
        ("? [a]\n: b", "mapping keys must be strings, not a list"),
        ("resources: { 5: {} }", "mapping keys must be strings, not a number"),
        ("resources: []", "resources must be an object, not a list"),
        ("resources:", "resources must be an object, not null"),
        ("variables: { a: '${' }", "unterminated interpolation"),
        ("variables: { a: '${}' }", "cannot be empty"),
        ("variables: { a: '${[0]}' }", "the root property must be"),
        ("variables: { a: '${b[}' }", "missing closing bracket"),
        ("variables: { a: '${b[\"x}' }", "missing closing quote"),
        ("variables: { a: '${b[x]}' }", "invalid list index"),
        ("variables: { a: '${b[99999999999999999999]}' }", "invalid list index"),
    ] {
        refused(text, expected);
    }
}

#[test]
fn aliases_are_refused_so_that_no_bomb_goes_off() {
    let mut bomb = "variables:\n  a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for at in 1..30 {
        let uses = vec![format!("*a{}", at - 1); 9].join(", ");
        bomb += &format!("  a{at}: &a{at} [{uses}]\n");
    }
    refused(&bomb, "Main.yaml:3:12: alias nodes are not supported");
    refused("variables: { a: &a { b: *a } }", "alias nodes are not supported");
}

#[test]
fn depth_is_limited() {
    let deep = |open: &str, close: &str| {
        format!("variables:\n  a: {}{}", open.repeat(100_000), close.repeat(100_000))
    };
    refused(&deep("[", "]"), "recursion limit exceeded");
    refused(&deep("{a: ", "}"), "deeper than 100 levels");
    refused(&format!("variables:\n  a: {}{}", "[".repeat(110), "]".repeat(110)), "deeper than 100 levels");
    refused(
        &format!("variables:\n{}", (1..5000).map(|n| format!("{}- \n", " ".repeat(n))).collect::<String>()),
        "deeper than 100",
    );
    let path: String = ".a".repeat(100_000);
    let mut stack = Stack::new("");
    stack.file("Main.yaml", &format!("variables: {{ v: {{ a: 1 }}, w: '${{v{path}}}' }}\n"));
    stack.up().failed();
}

#[test]
fn length_is_limited() {
    refused(&format!("# {}\n", "x".repeat(65 << 20)), "longer than 64 MiB");
}

#[test]
fn many_names_and_errors_end_soon() {
    let program: String = (0..3000)
        .map(|at| format!("  r{at}: {{ type: shelf:Thing, properties: {{ text: '${{q{at}}}' }} }}\n"))
        .collect();
    let mut stack = Stack::new(&format!("resources:\n{program}"));
    let start = Instant::now();
    let outcome = stack.up().failed_with("and 2900 more errors");
    assert_eq!(outcome.errors().len(), 101);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let mut stack = Stack::new("variables: { a: \"${no.\\u001b[31mpe}\" } # \u{85}\n");
    let outcome = stack.up().failed();
    assert!(outcome.errors().iter().all(|error| !error.contains('\u{1b}')), "{:?}", outcome.errors());
}

#[test]
fn declarations_of_packages_that_make_no_sense_are_refused() {
    for (text, expected) in [
        ("packageDeclarationVersion: 1\n", "package name is required"),
        ("packageDeclarationVersion: 1\nname: x\nversion: one\n", "`one` is not a version"),
        (
            "packageDeclarationVersion: 1\nname: x\nparameterization: { name: y }\n",
            "parameterization version is required",
        ),
        (
            "packageDeclarationVersion: 1\nname: x\nparameterization: { name: y, version: 1.0.0, value: '*' }\n",
            "decoding parameterization value",
        ),
    ] {
        let mut stack = Stack::new("resources: {}\n");
        stack.file("sdks/x.yaml", text);
        stack.up().failed_with(expected);
    }
    let mut stack = Stack::new("resources: { a: { type: shelf:Thing } }\n");
    stack.file("sdks/other.yaml", "packageDeclarationVersion: 2\n");
    stack.file("sdks/broken.yaml", "packageDeclarationVersion: [\n");
    stack.file("sdks/shelf.yaml", "packageDeclarationVersion: 1\nname: shelf\nversion: 1.2.3\n");
    stack.up().ok();
}

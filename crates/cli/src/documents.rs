//! The documents name only commands that there are.

use crate::app::App;
use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The documents of the project.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if path.extension().is_some_and(|extension| extension == "md") => found.push(path),
                _ => {}
            }
        }
    }
    found
}

/// The lines of a document that a shell is given.
fn shell_lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut is_shell = false;
    for line in text.lines() {
        match line.trim_start().strip_prefix("```") {
            Some(language) => is_shell = !is_shell && language == "sh",
            None if is_shell => lines.push(line),
            None => {}
        }
    }
    lines
}

/// The words of a command of ours, without what the shell makes of the rest of the line.
fn words(line: &str) -> Option<Vec<String>> {
    let words = shlex::split(line.split(" # ").next().unwrap_or(line))?;
    let begin = words.iter().position(|word| !word.contains('='))?;
    let ours = words[begin..].iter().take_while(|word| !["<", ">", "|"].contains(&word.as_str()));
    let ours: Vec<String> = ours.cloned().collect();
    (ours.first().map(String::as_str) == Some("drystone")).then_some(ours)
}

#[test]
fn commands_in_the_documents_are_understood() {
    let mut count = 0;
    for path in documents() {
        let text = std::fs::read_to_string(&path).expect("a document");
        for line in shell_lines(&text) {
            let Some(words) = words(line) else { continue };
            let words = crate::words::plain(&App::command(), words.into_iter().map(OsString::from));
            if let Err(error) = App::try_parse_from(words) {
                panic!("{}: `{line}`: {error}", path.display());
            }
            count += 1;
        }
    }
    assert!(count > 50, "only {count} commands were found");
}

//! Finds links in the documents that lead nowhere.
//!
//! A link is checked when it is relative: the file must be there, and so must the heading when it names one.

use crate::failure::Failure;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// A link that leads nowhere.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DeadLink {
    file: PathBuf,
    line: usize,
    target: String,
}

impl fmt::Display for DeadLink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: dead link to {}", self.file.display(), self.line, self.target)
    }
}

/// Every dead link in the documents under a folder, in the order of their paths.
pub(crate) fn dead_links(root: &Path) -> Result<Vec<DeadLink>, Failure> {
    let mut documents = Vec::new();
    find_documents(root, &mut documents)?;
    documents.sort();
    let mut dead = Vec::new();
    for file in documents {
        let text = read(&file)?;
        for (line, target) in links_in(&text) {
            if !leads_somewhere(root, &file, &text, &target)? {
                let file = file.strip_prefix(root).unwrap_or(&file).to_path_buf();
                dead.push(DeadLink { file, line, target });
            }
        }
    }
    Ok(dead)
}

/// Documents are the `.md` files outside build output, dependencies and hidden folders.
fn find_documents(folder: &Path, documents: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |error: &std::io::Error| Failure::at(folder, "list", error);
    for entry in fs::read_dir(folder).map_err(|error| failed(&error))? {
        let entry = entry.map_err(|error| failed(&error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type().map_err(|error| failed(&error))?;
        if kind.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules" {
            find_documents(&entry.path(), documents)?;
        } else if kind.is_file() && name.ends_with(".md") {
            documents.push(entry.path());
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::at(path, "read", &error))
}

fn leads_somewhere(root: &Path, file: &Path, text: &str, target: &str) -> Result<bool, Failure> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(true);
    }
    let (path, heading) = target.split_once('#').map_or((target, None), |(path, name)| (path, Some(name)));
    let destination = match path.strip_prefix('/') {
        Some(from_root) => root.join(from_root),
        None if path.is_empty() => file.to_path_buf(),
        None => file.parent().unwrap_or(root).join(path),
    };
    if !destination.exists() {
        return Ok(false);
    }
    let Some(heading) = heading else { return Ok(true) };
    if destination.extension().is_none_or(|extension| extension != "md") {
        return Ok(true);
    }
    let text = if path.is_empty() { text.to_owned() } else { read(&destination)? };
    Ok(prose(&text).filter_map(|(_, line)| anchor(line)).any(|name| name == heading))
}

/// The targets of `[text](target)` and `[name]: target`, with their line numbers.
fn links_in(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        let line = without_code(line);
        if let Some((name, target)) = line.trim_start().split_once("]: ")
            && name.starts_with('[')
        {
            links.push((number, first_word(target)));
        }
        let mut rest = line.as_str();
        while let Some((_, after)) = rest.split_once("](") {
            rest = after;
            if let Some((target, _)) = after.split_once(')') {
                links.push((number, first_word(target)));
            }
        }
    }
    links
}

fn first_word(target: &str) -> String {
    target.split_whitespace().next().unwrap_or_default().trim_matches(['<', '>']).to_owned()
}

/// The lines of a document outside fenced blocks, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((index + 1, line))
    })
}

/// A line with its code spans taken out.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// The anchor that a heading gives itself: lower case, spaces as dashes, other signs dropped.
fn anchor(line: &str) -> Option<String> {
    let title = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?;
    let name = title.trim().to_lowercase().replace(' ', "-");
    Some(name.chars().filter(|sign| sign.is_alphanumeric() || matches!(sign, '-' | '_')).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead_in(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dead_links(folder.path()).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn live_links_pass() {
        let dead = dead_in(&[
            (
                "README.md",
                "[a](docs/a.md) [b](docs/a.md#the-second-part) [c](https://example.org/x) [d](#here)\n# Here",
            ),
            ("docs/a.md", "## The `second` part\n[up](../README.md) [root](/README.md)\n[ref]: ../README.md"),
        ]);
        assert_eq!(dead, Vec::<String>::new());
    }

    #[test]
    fn dead_links_are_named_with_their_line() {
        let dead = dead_in(&[
            ("README.md", "fine\n[a](gone.md) and [b](docs/a.md#nothing)\n\n[ref]: nowhere.md"),
            ("docs/a.md", "# Something\n[sibling](README.md)"),
        ]);
        assert_eq!(
            dead,
            [
                "README.md:2: dead link to gone.md",
                "README.md:2: dead link to docs/a.md#nothing",
                "README.md:4: dead link to nowhere.md",
                "docs/a.md:2: dead link to README.md",
            ]
        );
    }

    #[test]
    fn code_is_no_link() {
        let dead = dead_in(&[("README.md", "`[a](gone.md)`\n```\n[b](gone.md)\n```\n")]);
        assert_eq!(dead, Vec::<String>::new());
    }

    #[test]
    fn build_output_is_no_document() {
        let dead = dead_in(&[("target/x.md", "[a](gone.md)"), (".hidden/x.md", "[a](gone.md)")]);
        assert_eq!(dead, Vec::<String>::new());
    }
}

//! Reading a project file, with everything that is wrong with it.

mod config;
mod parts;

use super::{PluginProject, Problem, Project};
use crate::Value;
use crate::file::Format;
use crate::yaml::{Entry, Kind, Node};
use std::path::Path;

/// Reads a project from the text of its file.
pub(super) fn project(path: &Path, text: &str, format: Format) -> Result<Project, Vec<Problem>> {
    let document = format.parse(text).map_err(|error| vec![error.into()])?;
    let root = &document.root;
    let mut reader = Reader { located: document.located, problems: Vec::new() };
    if !matches!(root.kind, Kind::Mapping { .. }) {
        reader.wrong(root, "a project file is a mapping with at least a `name`");
        return Err(reader.problems);
    }
    let mut project = Project { path: path.to_owned(), name: reader.name(root), ..Project::default() };
    for entry in root.entries() {
        reader.attribute(&mut project, entry, root);
    }
    if reader.problems.is_empty() { Ok(project) } else { Err(reader.problems) }
}

/// Reads a plugin from the text of its file. It needs a runtime and has no name.
pub(super) fn plugin_project(text: &str, format: Format) -> Result<PluginProject, Vec<Problem>> {
    let document = format.parse(text).map_err(|error| vec![error.into()])?;
    let root = &document.root;
    let mut reader = Reader { located: document.located, problems: Vec::new() };
    let mut plugin = PluginProject::default();
    for entry in root.entries() {
        match entry.key.as_str() {
            "runtime" => plugin.runtime = reader.runtime(&entry.value).unwrap_or_default(),
            "main" => plugin.main = reader.filled_text(entry),
            "version" => plugin.version = scalar(&entry.value.value),
            "requiredPulumiVersion" => plugin.required_pulumi_version = reader.filled_text(entry),
            _ => {}
        }
    }
    if plugin.runtime.name.is_empty() && reader.problems.is_empty() {
        reader.wrong(root, "a plugin has a `runtime`, the language that runs it");
    }
    if reader.problems.is_empty() { Ok(plugin) } else { Err(reader.problems) }
}

/// A text, or a number as it is written.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Integer(_) | Value::Float(_) => Some(value.to_json()),
        _ => None,
    }
}

/// What has been found wrong so far.
struct Reader {
    located: bool,
    problems: Vec<Problem>,
}

impl Reader {
    fn name(&mut self, root: &Node) -> String {
        let Some(entry) = root.get("name") else {
            let close = root.entries().iter().find(|entry| is_close(&entry.key, "name"));
            self.wrong(
                root,
                match close {
                    Some(entry) => format!("the project has no `name`; is `{}` meant to be it?", entry.key),
                    None => "the project has no `name`".to_owned(),
                },
            );
            return String::new();
        };
        match entry.value.value.as_str() {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => {
                self.wrong(&entry.value, "the `name` of a project is a text that is not empty");
                String::new()
            }
        }
    }

    fn attribute(&mut self, project: &mut Project, entry: &Entry, root: &Node) {
        match entry.key.as_str() {
            "name" => {}
            "runtime" => project.runtime = self.runtime(&entry.value),
            "description" => project.description = self.text(entry),
            "author" => project.author = self.text(entry),
            "website" => project.website = self.text(entry),
            "license" => project.license = self.text(entry),
            "main" => project.main = self.filled_text(entry),
            "stackConfigDir" => project.stack_config_dir = self.filled_text(entry),
            "requiredPulumiVersion" => project.required_pulumi_version = self.filled_text(entry),
            "backend" => {
                for entry in self.members(entry, &["url"]) {
                    project.backend_url = self.filled_text(entry);
                }
            }
            "options" => {
                for entry in self.members(entry, &["refresh"]) {
                    project.always_refreshes = entry.value.value.as_str() == Some("always");
                    if !project.always_refreshes {
                        self.wrong(&entry.value, "the only value that `refresh` can have is `always`");
                    }
                }
            }
            "config" => self.config(project, entry, root),
            "packages" => project.packages = self.packages(entry),
            "plugins" => project.plugins = self.plugins(entry),
            _ => {
                project.extra.insert(entry.key.clone(), entry.value.value.clone());
            }
        }
    }

    fn wrong(&mut self, node: &Node, message: impl Into<String>) {
        self.problems
            .push(Problem { location: self.located.then_some(node.location), message: message.into() });
    }

    /// A text, or nothing.
    fn text(&mut self, entry: &Entry) -> Option<String> {
        match &entry.value.value {
            Value::String(text) => return Some(text.clone()),
            Value::Null => {}
            _ => self.wrong(&entry.value, format!("`{}` is a text", entry.key)),
        }
        None
    }

    /// A text that is not empty, or nothing.
    fn filled_text(&mut self, entry: &Entry) -> Option<String> {
        self.text(entry).filter(|text| !text.is_empty())
    }

    /// The entries of a mapping, or none.
    fn mapping<'a>(&mut self, entry: &'a Entry) -> &'a [Entry] {
        match (&entry.value.kind, &entry.value.value) {
            (Kind::Mapping { .. }, _) | (_, Value::Null) => {}
            _ => self.wrong(&entry.value, format!("`{}` is a mapping", entry.key)),
        }
        entry.value.entries()
    }

    /// The entries of a mapping that has only these.
    fn members<'a>(&mut self, entry: &'a Entry, known: &[&str]) -> Vec<&'a Entry> {
        let mut members = Vec::new();
        for member in self.mapping(entry) {
            if known.contains(&member.key.as_str()) {
                members.push(member);
                continue;
            }
            let hint = match known.iter().find(|name| is_close(&member.key, name)) {
                Some(name) => format!("is `{name}` meant?"),
                None => format!("it can have `{}`", known.join("`, `")),
            };
            self.problems.push(Problem {
                location: self.located.then_some(member.key_location),
                message: format!("`{}` has no `{}`; {hint}", entry.key, member.key),
            });
        }
        members
    }
}

/// Whether a name is another one but for its case and at most two letters.
fn is_close(given: &str, name: &str) -> bool {
    let (given, name): (Vec<char>, Vec<char>) =
        (given.to_lowercase().chars().collect(), name.to_lowercase().chars().collect());
    let mut row: Vec<usize> = (0..=name.len()).collect();
    for (index, left) in given.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, right) in name.iter().enumerate() {
            let substituted = diagonal + usize::from(left != right);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[name.len()] <= 2
}

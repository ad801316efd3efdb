//! What a project can start from: templates of this binary, or a folder.

use crate::report::{Failure, Outcome};
use std::path::{Path, PathBuf};

/// The largest file that a template may have, and how many.
const LARGEST: u64 = 16 << 20;
const MOST: usize = 5_000;

/// A template of this binary.
pub(super) struct BuiltIn {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    files: &'static [(&'static str, &'static str)],
}

macro_rules! files {
    ($template:literal: $($name:literal from $source:literal),*) => {
        &[$(($name, include_str!(concat!("../../../templates/", $template, "/", $source)))),*]
    };
}

pub(super) const BUILT_IN: [BuiltIn; 4] = [
    BuiltIn {
        name: "javascript",
        about: "A minimal JavaScript program",
        files: files!("javascript": "Pulumi.yaml" from "Pulumi.yaml", "index.js" from "index.js",
            "package.json" from "package.json", ".gitignore" from "gitignore"),
    },
    BuiltIn {
        name: "python",
        about: "A minimal Python program",
        files: files!("python": "Pulumi.yaml" from "Pulumi.yaml", "__main__.py" from "__main__.py",
            "requirements.txt" from "requirements.txt", ".gitignore" from "gitignore"),
    },
    BuiltIn {
        name: "typescript",
        about: "A minimal TypeScript program",
        files: files!("typescript": "Pulumi.yaml" from "Pulumi.yaml", "index.ts" from "index.ts",
            "package.json" from "package.json", "tsconfig.json" from "tsconfig.json", ".gitignore" from "gitignore"),
    },
    BuiltIn {
        name: "yaml",
        about: "A minimal YAML program",
        files: files!("yaml": "Pulumi.yaml" from "Pulumi.yaml"),
    },
];

/// The files of a template, before the project has a name.
#[derive(Debug, Default)]
pub(super) struct Template {
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Template {
    /// A project file and nothing else.
    pub(super) fn minimal() -> Self {
        Self { files: vec![("Pulumi.yaml".into(), b"name: ${PROJECT}\n".to_vec())] }
    }

    /// The template that was named: one of this binary, or a folder.
    pub(super) fn find(named: &str, folder: &Path) -> Outcome<Self> {
        if let Some(built_in) = BUILT_IN.iter().find(|built_in| built_in.name == named) {
            let files = built_in.files.iter();
            let files = files.map(|(name, text)| (PathBuf::from(name), text.as_bytes().to_vec())).collect();
            return Ok(Self { files });
        }
        if named.contains("://") || named.starts_with("git@") {
            return Err(Failure::configuration(format!(
                "`{named}`: templates of other machines are not part of this version yet"
            ))
            .hint("clone it, and name the folder"));
        }
        if folder.is_dir() {
            let mut template = Self::default();
            template.gather(folder, Path::new(""))?;
            return Ok(template);
        }
        let names: Vec<&str> = BUILT_IN.iter().map(|built_in| built_in.name).collect();
        Err(Failure::configuration(format!("template '{named}' not found"))
            .hint(format!("there are {}; or name a folder", names.join(", "))))
    }

    /// Takes in the files of a folder, but for what nobody would copy.
    fn gather(&mut self, root: &Path, inside: &Path) -> Outcome {
        let folder = root.join(inside);
        let fail = |error: std::io::Error| {
            Failure::configuration(format!("the template {}: {error}", folder.display()))
        };
        for entry in std::fs::read_dir(&folder).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let kind = entry.file_type().map_err(fail)?;
            let name = entry.file_name();
            if kind.is_dir() && ![".git", "node_modules", "venv"].iter().any(|other| name == *other) {
                self.gather(root, &inside.join(&name))?;
            }
            if !kind.is_file() {
                continue;
            }
            let length = entry.metadata().map_err(fail)?.len();
            if length > LARGEST || self.files.len() >= MOST {
                return Err(Failure::configuration(format!(
                    "the template {} is too large: at most {MOST} files of {LARGEST} bytes",
                    root.display()
                )));
            }
            self.files.push((inside.join(&name), std::fs::read(entry.path()).map_err(fail)?));
        }
        Ok(())
    }

    /// The files that it would write over.
    pub(super) fn collisions(&self, folder: &Path) -> Vec<String> {
        let there = self.files.iter().filter(|(name, _)| folder.join(name).exists());
        there.map(|(name, _)| name.display().to_string()).collect()
    }

    /// Writes the project. Texts have its name and description filled in.
    pub(super) fn write(&self, folder: &Path, name: &str, description: &str) -> Outcome {
        for (file, content) in &self.files {
            let path = folder.join(file);
            let fail = |error: std::io::Error| {
                Failure::configuration(format!("{} cannot be written: {error}", path.display()))
            };
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(fail)?;
            }
            let is_project = file.as_os_str() == "Pulumi.yaml";
            let filled = match std::str::from_utf8(content) {
                Ok(text) => {
                    let text = if is_project { without_template_section(text) } else { text.to_owned() };
                    let described = if is_project { quoted(description) } else { description.to_owned() };
                    text.replace("${PROJECT}", name).replace("${DESCRIPTION}", &described).into_bytes()
                }
                Err(_) => content.clone(),
            };
            std::fs::write(&path, filled).map_err(fail)?;
        }
        Ok(())
    }
}

/// A text as one value of YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

/// A project file without what only concerns its use as a template.
fn without_template_section(text: &str) -> String {
    let mut inside = false;
    let kept = text.split_inclusive('\n').filter(|line| {
        let starts = line.starts_with(|c: char| !c.is_whitespace() && c != '#');
        if starts {
            inside = line.trim_end().starts_with("template:");
        }
        !inside
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_concerns_the_template_goes_and_the_rest_stays() {
        let text =
            "name: ${PROJECT}\ntemplate:\n  description: x\n  config:\n    a: {}\n# said\nruntime: yaml\n";
        assert_eq!(without_template_section(text), "name: ${PROJECT}\nruntime: yaml\n");
    }

    #[test]
    fn a_description_cannot_break_the_project_file() {
        let folder = tempfile::tempdir().unwrap();
        Template::find("yaml", Path::new("/nowhere"))
            .unwrap()
            .write(folder.path(), "shop", "a: \"b\"\nc")
            .unwrap();
        let project = drystone_workspace::project::Project::load(&folder.path().join("Pulumi.yaml")).unwrap();
        assert_eq!((project.name.as_str(), project.description.as_deref()), ("shop", Some("a: \"b\"\nc")));
    }

    #[test]
    fn every_template_is_a_project() {
        for built_in in BUILT_IN {
            let folder = tempfile::tempdir().unwrap();
            Template::find(built_in.name, Path::new("/nowhere"))
                .unwrap()
                .write(folder.path(), "shop", "it")
                .unwrap();
            let project =
                drystone_workspace::project::Project::load(&folder.path().join("Pulumi.yaml")).unwrap();
            assert!(project.name == "shop" && project.runtime.is_some(), "{}", built_in.name);
            for entry in std::fs::read_dir(folder.path()).unwrap() {
                let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
                assert!(!text.contains("${PROJECT}") && !text.contains("${DESCRIPTION}"), "{text}");
            }
        }
    }
}

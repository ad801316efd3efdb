//! The selected stack of a project: `workspaces/<project>-<hash>-workspace.json`.

use super::{HomeError, to_text};
use crate::Environment;
use crate::file::{self, Access};
use crate::project::{Project, check_project_name};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use sha1::{Digest, Sha1};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The stacks that are selected in a project, one for each backend.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Selections {
    /// The one stack of older files, whatever the backend.
    #[serde(skip_serializing_if = "is_unset")]
    stack: Option<String>,
    /// The stacks by the URL of their backend.
    #[serde(skip_serializing_if = "is_none_or_empty")]
    stacks: Option<BTreeMap<String, String>>,
    /// Whatever else stands there (S9).
    #[serde(flatten)]
    extra: Map<String, Json>,
}

/// A selected stack, and why it is that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Its name, as it was selected.
    pub stack: String,
    /// Where the name comes from.
    pub source: SelectionSource,
}

/// Where a selected stack's name comes from, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectionSource {
    /// The variable `PULUMI_STACK`.
    Variable,
    /// The selection for this backend.
    Backend,
    /// A selection of an older version, which may belong to another backend: a name that this backend cannot have is
    /// then to be taken for no selection.
    Legacy,
}

/// Selections together with the file that they stand in.
#[derive(Debug)]
pub struct SelectionsFile {
    /// The selections.
    pub selections: Selections,
    path: PathBuf,
}

impl Selections {
    /// The stack that is selected for a backend.
    #[must_use]
    pub fn get(&self, backend: &str) -> Option<Selection> {
        if let Some(stack) = self.stacks.as_ref().and_then(|stacks| stacks.get(backend)) {
            return Some(Selection { stack: stack.clone(), source: SelectionSource::Backend });
        }
        let stack = self.stack.clone().filter(|stack| !stack.is_empty())?;
        Some(Selection { stack, source: SelectionSource::Legacy })
    }

    /// Selects a stack for a backend.
    pub fn select(&mut self, backend: &str, stack: &str) {
        self.stacks.get_or_insert_default().insert(backend.to_owned(), stack.to_owned());
    }

    /// Selects no stack for a backend. A selection of an older version goes too.
    pub fn unselect(&mut self, backend: &str) {
        self.stack = None;
        if let Some(stacks) = &mut self.stacks {
            stacks.remove(backend);
        }
    }

    fn is_empty(&self) -> bool {
        is_unset(&self.stack) && is_none_or_empty(&self.stacks) && self.extra.is_empty()
    }
}

impl SelectionsFile {
    /// Reads the selections of a project; without a file there are none.
    pub fn open(environment: &Environment, project: &Project) -> Result<Self, HomeError> {
        let path = path(environment, project)?;
        let selections = match file::read_if_there(&path)? {
            Some(text) => serde_json::from_str(&text)
                .map_err(|source| HomeError::Invalid { path: path.clone(), source })?,
            None => Selections::default(),
        };
        Ok(Self { selections, path })
    }

    /// The stack to work with: what `PULUMI_STACK` says, even if that is nothing, or else the selection for the
    /// backend.
    #[must_use]
    pub fn current(&self, environment: &Environment, backend: &str) -> Option<Selection> {
        match environment.variable("PULUMI_STACK") {
            Some(stack) if stack.is_empty() => None,
            Some(stack) => Some(Selection { stack, source: SelectionSource::Variable }),
            None => self.selections.get(backend),
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the selections; without any the file is removed.
    pub fn save(&self) -> Result<(), HomeError> {
        if self.selections.is_empty() {
            return Ok(file::remove(&self.path)?);
        }
        let text = to_text(&self.selections)
            .map_err(|source| HomeError::Invalid { path: self.path.clone(), source })?;
        Ok(file::write(&self.path, &text, Access::Private)?)
    }
}

/// The file of a project's selections. Two checkouts of a project have two files, so the path of the project file is a
/// part of the name.
fn path(environment: &Environment, project: &Project) -> Result<PathBuf, HomeError> {
    check_project_name(&project.name)?;
    let hash = Sha1::digest(project.path.as_os_str().as_encoded_bytes());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let name = format!("{}-{hash}-workspace.json", project.name);
    Ok(environment.pulumi_home()?.join("workspaces").join(name))
}

fn is_unset(text: &Option<String>) -> bool {
    text.as_ref().is_none_or(String::is_empty)
}

fn is_none_or_empty(stacks: &Option<BTreeMap<String, String>>) -> bool {
    stacks.as_ref().is_none_or(BTreeMap::is_empty)
}

//! Where a program is.

use super::LanguageError;
use drystone_workspace::project::{Project, Runtime};
use std::path::{Path, PathBuf};

/// A program, or a plugin in source code, and the language that runs it. All paths are absolute.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The folder of the project file.
    pub root: PathBuf,
    /// The folder that the program runs in.
    pub directory: PathBuf,
    /// What to run there: a file, or `.` for what the language takes when it is given a folder.
    pub entry_point: String,
    /// The language.
    pub runtime: Runtime,
}

impl Program {
    /// The program of a project: its `main`, or the project's folder.
    pub fn of(project: &Project) -> Result<Self, LanguageError> {
        let runtime = project.runtime.clone().filter(|runtime| !runtime.name.is_empty());
        let runtime = runtime.ok_or_else(|| LanguageError::NoRuntime { path: project.path.clone() })?;
        let root = std::path::absolute(project.directory())
            .map_err(|source| LanguageError::Main { path: project.directory().to_owned(), source })?;
        let Some(main) = &project.main else {
            return Ok(Self { directory: root.clone(), root, entry_point: ".".to_owned(), runtime });
        };
        let main = tidy(&root.join(main));
        let metadata =
            main.metadata().map_err(|source| LanguageError::Main { path: main.clone(), source })?;
        let (directory, entry_point) = match (main.parent(), main.file_name()) {
            (Some(folder), Some(file)) if !metadata.is_dir() => {
                (folder.to_owned(), file.to_string_lossy().into_owned())
            }
            _ => (main, ".".to_owned()),
        };
        Ok(Self { root, directory, entry_point, runtime })
    }

    /// The program of a plugin in source code.
    #[must_use]
    pub fn of_plugin(folder: &Path, runtime: Runtime) -> Self {
        Self { root: folder.to_owned(), directory: folder.to_owned(), entry_point: ".".to_owned(), runtime }
    }
}

/// A path without `.` and with `..` taken back, by name alone.
fn tidy(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut tidied = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                tidied.pop();
            }
            other => tidied.push(other),
        }
    }
    tidied
}

//! What surrounds a command: variables, the home folder, the working folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

/// What surrounds a command. It is handed in, so that a test has its own.
#[derive(Clone)]
pub struct Environment {
    lookup: Lookup,
    home: Option<PathBuf>,
    working_directory: PathBuf,
}

type Lookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// There is neither a home folder nor a variable that names a folder instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the home folder of the user is not known; set PULUMI_HOME to the folder to use")]
pub struct NoHome;

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("home", &self.home)
            .field("working_directory", &self.working_directory)
            .finish_non_exhaustive()
    }
}

impl Environment {
    /// Surroundings with these variables and folders.
    pub fn new(
        lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
        home: Option<PathBuf>,
        working_directory: PathBuf,
    ) -> Self {
        Self { lookup: Arc::new(lookup), home, working_directory }
    }

    /// The surroundings of this process. The working folder is named as the shell names it, symbolic links included,
    /// because the selected stack is filed under that name.
    pub fn of_process() -> io::Result<Self> {
        let actual = std::env::current_dir()?;
        let named = std::env::var_os("PWD").map(PathBuf::from);
        let working_directory = match named {
            Some(named) if named.is_absolute() && is_same_directory(&named, &actual) => named,
            _ => actual,
        };
        Ok(Self::new(|name| std::env::var(name).ok(), std::env::home_dir(), working_directory))
    }

    /// A variable, even an empty one.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<String> {
        (self.lookup)(name)
    }

    /// A variable that is not empty.
    #[must_use]
    pub fn filled_variable(&self, name: &str) -> Option<String> {
        self.variable(name).filter(|value| !value.is_empty())
    }

    /// The user's home folder.
    #[must_use]
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The working folder.
    #[must_use]
    pub fn working_directory(&self) -> &Path {
        &self.working_directory
    }

    /// A path as it is meant by somebody in the working folder.
    #[must_use]
    pub fn resolve(&self, path: &Path) -> PathBuf {
        self.working_directory.join(path)
    }

    /// The folder of credentials, selections and plugins: `PULUMI_HOME`, or `.pulumi` in the home folder.
    pub fn pulumi_home(&self) -> Result<PathBuf, NoHome> {
        match self.filled_variable("PULUMI_HOME") {
            Some(home) => Ok(self.resolve(Path::new(&home))),
            None => self.home.as_ref().map(|home| home.join(".pulumi")).ok_or(NoHome),
        }
    }
}

#[cfg(unix)]
fn is_same_directory(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (a.metadata(), b.metadata()) {
        (Ok(a), Ok(b)) => a.dev() == b.dev() && a.ino() == b.ino(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same_directory(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

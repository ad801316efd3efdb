//! What went wrong, and what to do next.

use std::fmt;
use std::path::Path;

/// One error line, and the hint under it.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// A failure without a hint.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    /// A failure of the file system at a path.
    pub(crate) fn at(path: &Path, action: &str, error: &std::io::Error) -> Self {
        Self::new(format!("cannot {action} {}: {error}", path.display()))
    }

    /// Adds what the reader can do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "error: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(formatter, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

//! What is wrong with a file that a person wrote.

use crate::Location;
use crate::yaml::ParseError;
use std::fmt;

/// Something that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where, if that is known.
    pub location: Option<Location>,
    /// What.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.location {
            Some(Location { line, column }) => write!(f, "{line}:{column}: {}", self.message),
            None => write!(f, " {}", self.message),
        }
    }
}

impl From<ParseError> for Problem {
    fn from(error: ParseError) -> Self {
        Self { location: Some(error.location), message: error.problem }
    }
}

/// The first problem, and how many more there are.
pub(super) struct List<'a>(pub(super) &'a [Problem]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => Ok(()),
            [only] => only.fmt(f),
            [first, rest @ ..] => write!(f, "{first} (and {} more)", rest.len()),
        }
    }
}

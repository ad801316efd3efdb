//! The names of stacks.

use std::fmt;

/// The organisation that every stack of a store without organisations belongs to.
const ORGANIZATION: &str = "organization";
const LONGEST: usize = 100;

/// A stack's identity in a store. Always safe to use as a file name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackId {
    project: Option<String>,
    name: String,
}

/// Why a text does not name a stack.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing was given.
    #[error("a {what} name may not be empty")]
    Empty {
        /// `stack` or `project`.
        what: &'static str,
    },
    /// More than 100 characters.
    #[error("a {what} name cannot exceed {LONGEST} characters; this one has {length}")]
    TooLong {
        /// `stack` or `project`.
        what: &'static str,
        /// How long it is.
        length: usize,
    },
    /// Something other than letters, digits, hyphens, underscores and periods.
    #[error(
        "a {what} name may only contain alphanumeric, hyphens, underscores, or periods: \
         invalid character {character:?} at position {position}"
    )]
    Character {
        /// `stack` or `project`.
        what: &'static str,
        /// The character.
        character: char,
        /// Where it stands, from 0.
        position: usize,
    },
    /// Something that would lead out of the store's folder.
    #[error("a {what} name may not contain {character:?}")]
    Elsewhere {
        /// `stack` or `project`.
        what: &'static str,
        /// The character.
        character: char,
    },
    /// Only periods, which would leave the store's folder.
    #[error("a {what} name may not consist of periods only")]
    Periods {
        /// `stack` or `project`.
        what: &'static str,
    },
    /// Stores without organisations know one.
    #[error("organization name must be 'organization', not {0:?}")]
    Organization(String),
    /// A bare name outside a project.
    #[error(
        "the stack {0:?} has no project here: pass the fully qualified name (organization/project/stack)"
    )]
    NoProject(String),
    /// More parts than organisation, project and stack.
    #[error("{0:?} has more parts than organization/project/stack")]
    Parts(String),
}

impl StackId {
    /// A stack of a project.
    pub fn new(project: &str, name: &str) -> Result<Self, NameError> {
        validate("project", project)?;
        validate("stack", name)?;
        Ok(Self { project: Some(project.to_owned()), name: name.to_owned() })
    }

    /// A stack of a store that is older than projects.
    pub fn legacy(name: &str) -> Result<Self, NameError> {
        validate("stack", name)?;
        Ok(Self { project: None, name: name.to_owned() })
    }

    /// A stack of another system, whose names may hold more than Pulumi's.
    pub fn of_another_system(project: &str, name: &str) -> Result<Self, NameError> {
        for (what, text) in [("project", project), ("stack", name)] {
            validate_anywhere(what, text)?;
        }
        Ok(Self { project: Some(project.to_owned()), name: name.to_owned() })
    }

    /// Reads `stack`, `organization/stack` or `organization/project/stack`; the project is the current one where
    /// none is named.
    pub fn parse(text: &str, current_project: Option<&str>) -> Result<Self, NameError> {
        let parts: Vec<&str> = text.split('/').collect();
        let (organization, project, name) = match parts[..] {
            [name] => (ORGANIZATION, None, name),
            [organization, name] => (organization, None, name),
            [organization, project, name] => (organization, Some(project), name),
            _ => return Err(NameError::Parts(text.to_owned())),
        };
        if organization != ORGANIZATION {
            return Err(NameError::Organization(organization.to_owned()));
        }
        validate("stack", name)?;
        match project.or(current_project) {
            Some(project) => Self::new(project, name),
            None => Err(NameError::NoProject(name.to_owned())),
        }
    }

    /// The stack's own name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The project, where the store has projects.
    #[must_use]
    pub fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// The name in full: `organization/project/stack`, or the bare name in a store without projects.
    #[must_use]
    pub fn qualified(&self) -> String {
        match &self.project {
            Some(project) => format!("{ORGANIZATION}/{project}/{}", self.name),
            None => self.name.clone(),
        }
    }
}

impl fmt::Display for StackId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.project {
            Some(project) => write!(f, "{project}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

fn validate(what: &'static str, text: &str) -> Result<(), NameError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if let Some((position, character)) = text.char_indices().find(|(_, c)| !allowed(*c)) {
        return Err(NameError::Character { what, character, position });
    }
    if text.len() > LONGEST {
        return Err(NameError::TooLong { what, length: text.len() });
    }
    validate_anywhere(what, text)
}

/// Holds of the names of every system: they stay in their folder.
fn validate_anywhere(what: &'static str, text: &str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty { what });
    }
    if text.bytes().all(|byte| byte == b'.') {
        return Err(NameError::Periods { what });
    }
    match text.chars().find(|c| c.is_control() || matches!(c, '/' | '\\')) {
        Some(character) => Err(NameError::Elsewhere { what, character }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_named_in_three_ways() {
        let full = StackId::new("shop", "prod").unwrap();
        assert_eq!(StackId::parse("prod", Some("shop")).unwrap(), full);
        assert_eq!(StackId::parse("organization/prod", Some("shop")).unwrap(), full);
        assert_eq!(StackId::parse("organization/shop/prod", None).unwrap(), full);
        assert_eq!(full.qualified(), "organization/shop/prod");
        assert_eq!(StackId::parse("organization/other/prod", Some("shop")).unwrap().project(), Some("other"));
        assert_eq!(StackId::legacy("prod").unwrap().qualified(), "prod");
    }

    #[test]
    fn names_cannot_leave_the_store() {
        for bad in ["", "..", ".", "a/../b", "a\u{0}b", "a\nb", "a\\b", "é", "x".repeat(300).as_str()] {
            assert!(StackId::new("shop", bad).is_err(), "{bad:?}");
            assert!(StackId::new(bad, "prod").is_err(), "{bad:?}");
            assert!(StackId::parse(bad, Some("shop")).is_err(), "{bad:?}");
        }
        assert!(matches!(StackId::parse("acme/shop/prod", None), Err(NameError::Organization(_))));
        assert!(matches!(StackId::parse("prod", None), Err(NameError::NoProject(_))));
        assert!(matches!(StackId::parse("a/b/c/d", None), Err(NameError::Parts(_))));
    }
}

//! The rules for the names of projects and stacks.

/// The longest name.
const LONGEST: usize = 100;

/// What is wrong with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameProblem {
    /// There is none.
    #[error("a {kind} name must not be empty")]
    Empty {
        /// What it would name.
        kind: &'static str,
    },
    /// It is too long.
    #[error("a {kind} name has at most {LONGEST} characters")]
    Long {
        /// What it would name.
        kind: &'static str,
    },
    /// It has a character that names do not have.
    #[error(
        "a {kind} name has only letters, digits, hyphens, underscores and periods, \
         but the character at position {position} is {character:?}"
    )]
    Character {
        /// What it would name.
        kind: &'static str,
        /// The first such character.
        character: char,
        /// Its place, counted from zero.
        position: usize,
    },
    /// It is or starts like the name of the SDK, which programs in some languages could then not import.
    #[error("a new project must not be named `Pulumi`, nor start with `Pulumi.`")]
    Reserved,
}

/// Checks the name of a project.
pub fn check_project_name(name: &str) -> Result<(), NameProblem> {
    check(name, "project")
}

/// Checks the name of a project that is about to be made.
pub fn check_new_project_name(name: &str) -> Result<(), NameProblem> {
    check_project_name(name)?;
    let lower = name.to_ascii_lowercase();
    if lower == "pulumi" || lower.starts_with("pulumi.") { Err(NameProblem::Reserved) } else { Ok(()) }
}

/// Checks the name of a stack, without organization and project.
pub fn check_stack_name(name: &str) -> Result<(), NameProblem> {
    check(name, "stack")
}

fn check(name: &str, kind: &'static str) -> Result<(), NameProblem> {
    if name.is_empty() {
        return Err(NameProblem::Empty { kind });
    }
    if name.len() > LONGEST {
        return Err(NameProblem::Long { kind });
    }
    let allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    match name.char_indices().find(|(_, character)| !allowed(*character)) {
        Some((position, character)) => Err(NameProblem::Character { kind, character, position }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rules_of_the_stock_cli() {
        for name in ["a", "web-app_2.0", "Pulumi", &"x".repeat(100)] {
            assert_eq!(check_project_name(name), Ok(()), "{name}");
        }
        for name in ["", "a b", "a/b", "ä", "a:b", "a\n", &"x".repeat(101)] {
            assert!(check_project_name(name).is_err(), "{name:?}");
            assert!(check_stack_name(name).is_err(), "{name:?}");
        }
        assert_eq!(check_new_project_name("pulumi.web"), Err(NameProblem::Reserved));
        assert_eq!(check_new_project_name("pulumi-web"), Ok(()));
        assert_eq!(
            check_stack_name("de v").unwrap_err().to_string(),
            "a stack name has only letters, digits, hyphens, underscores and periods, \
             but the character at position 2 is ' '"
        );
    }
}

//! Asking whether to go on after a preview.

use super::request::Kind;
use crate::report::{ExitCode, Failure, Outcome};

/// What somebody answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    No,
    /// To see every change first.
    Details,
}

/// Asks once.
pub(super) fn ask(kind: Kind, stack: &str) -> Outcome<Answer> {
    const YES: &str = "yes";
    const NO: &str = "no";
    const DETAILS: &str = "details";
    let question = match kind {
        Kind::Refresh => {
            format!("Do you want to perform this refresh of {stack}? Only the state changes, nothing real.")
        }
        Kind::Import => {
            format!("Do you want to perform this import into {stack}? Only the state changes, nothing real.")
        }
        kind => format!("Do you want to perform this {} of {stack}?", kind.noun()),
    };
    let answer = inquire::Select::new(&question, vec![YES, NO, DETAILS]).with_starting_cursor(1).prompt();
    match answer {
        Ok(YES) => Ok(Answer::Yes),
        Ok(DETAILS) => Ok(Answer::Details),
        Ok(_) => Ok(Answer::No),
        Err(_) => Err(Failure::new(
            ExitCode::Cancelled,
            format!("confirmation cancelled, not proceeding with the {}", kind.noun()),
        )),
    }
}

/// What `no` means.
pub(super) fn declined(kind: Kind) -> Failure {
    Failure::new(
        ExitCode::Cancelled,
        format!("confirmation declined, not proceeding with the {}", kind.noun()),
    )
}

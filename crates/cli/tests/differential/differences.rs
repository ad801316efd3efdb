//! Every difference from the stock CLI that is meant. One that is not listed here fails its test.

use crate::compare::Difference;

/// A difference that is meant, and why.
pub(crate) struct Permitted {
    /// Why ours differs.
    #[expect(dead_code, reason = "read by people")]
    pub(crate) reason: &'static str,
    applies: fn(&Difference) -> bool,
}

const PERMITTED: &[Permitted] = &[];

/// The entry of the list that a difference falls under.
pub(crate) fn permitted(difference: &Difference) -> Option<&'static Permitted> {
    PERMITTED.iter().find(|permitted| (permitted.applies)(difference))
}

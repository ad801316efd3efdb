//! The count over all test suites, read from what they print.

use std::fmt;

/// How many tests passed, failed and were skipped so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Tally {
    /// Adds a suite's `test result:` line; any other line counts nothing.
    pub(crate) fn see(&mut self, line: &str) {
        let Some(counts) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". ")) else {
            return;
        };
        for part in counts.1.split(';') {
            let Some((number, what)) = part.trim().split_once(' ') else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" | "filtered out" => self.skipped += number,
                _ => {}
            }
        }
    }

    /// Adds the count of a suite.
    pub(crate) fn add(&mut self, suite: Self) {
        self.passed += suite.passed;
        self.failed += suite.failed;
        self.skipped += suite.skipped;
    }

    /// Ends the count. A suite that dies prints no result; then the run has failed although no line says so.
    pub(crate) fn close(&mut self, succeeded: bool) {
        if !succeeded && self.failed == 0 {
            self.failed = 1;
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_add_up() {
        let mut tally = Tally::default();
        for line in [
            "running 3 tests",
            "test a ... ok",
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: FAILED. 10 passed; 2 failed; 1 ignored; 0 measured; 4 filtered out; finished in 1.20s",
            "test result: unreadable",
        ] {
            tally.see(line);
        }
        assert_eq!(tally.to_string(), "13 passed, 2 failed, 5 skipped");
    }

    #[test]
    fn a_suite_that_dies_is_a_failure() {
        let mut tally = Tally { passed: 5, ..Tally::default() };
        tally.close(false);
        assert_eq!(tally, Tally { passed: 5, failed: 1, skipped: 0 });
        tally.close(true);
        assert_eq!(tally.failed, 1);
    }
}

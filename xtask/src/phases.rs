//! The phases of a run: each is announced, timed, and reported at the end.

use crate::failure::Failure;
use std::time::{Duration, Instant};

/// How a phase ended.
pub(crate) enum Ending {
    /// All was well.
    Passed,
    /// It could not be done here, for the reason given; that is no failure.
    LeftOut(String),
}

enum Verdict {
    Ended(Ending),
    Failed,
}

/// The phases so far.
#[derive(Default)]
pub(crate) struct Phases {
    done: Vec<(&'static str, Duration, Verdict)>,
}

impl Phases {
    /// Runs a phase and reports its failure at once; the run goes on.
    pub(crate) fn run(&mut self, name: &'static str, work: impl FnOnce() -> Result<Ending, Failure>) {
        eprintln!("\n== {name}");
        let start = Instant::now();
        let verdict = match work() {
            Ok(ending) => Verdict::Ended(ending),
            Err(failure) => {
                eprintln!("{failure}");
                Verdict::Failed
            }
        };
        self.done.push((name, start.elapsed(), verdict));
    }

    /// Whether no phase failed.
    pub(crate) fn all_passed(&self) -> bool {
        !self.done.iter().any(|(_, _, verdict)| matches!(verdict, Verdict::Failed))
    }

    /// Prints each phase with its time and how it ended.
    pub(crate) fn report(&self) {
        eprintln!("\n== times");
        for (name, time, verdict) in &self.done {
            let ending = match verdict {
                Verdict::Ended(Ending::Passed) => "ok".to_owned(),
                Verdict::Ended(Ending::LeftOut(reason)) => format!("left out: {reason}"),
                Verdict::Failed => "FAILED".to_owned(),
            };
            eprintln!("{:>8.1} s  {name:<12}  {ending}", time.as_secs_f64());
        }
        let total: Duration = self.done.iter().map(|(_, time, _)| *time).sum();
        eprintln!("{:>8.1} s  in all", total.as_secs_f64());
    }
}

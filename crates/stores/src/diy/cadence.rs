//! When a running update writes a checkpoint for tools that know nothing of the journal.

use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

/// The moments of an update's checkpoints (S3). Each pause is twice the one before: a checkpoint is as large as the stack,
/// and so all of them together stay in step with what the update does, however long it takes. What stands there is never
/// older than half of the update and a little.
#[derive(Debug, Default)]
pub(crate) struct Cadence {
    /// When the last one was begun; before the first, when the first was asked for.
    last: Option<Timestamp>,
    /// How many there were.
    count: u32,
}

impl Cadence {
    /// Whether one is due now. Then it counts as begun.
    pub(crate) fn is_due(&mut self, first_pause: Duration, now: Timestamp) -> bool {
        let last = *self.last.get_or_insert(now);
        let pauses = 1_u32.checked_shl(self.count).unwrap_or(u32::MAX);
        let pause =
            SignedDuration::try_from(first_pause.saturating_mul(pauses)).unwrap_or(SignedDuration::MAX);
        if now.duration_since(last) < pause {
            return false;
        }
        self.last = Some(now);
        self.count = self.count.saturating_add(1);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds at which checkpoints begin when every second one is asked for.
    fn moments(first_pause: Duration, seconds: i64) -> Vec<i64> {
        let mut cadence = Cadence::default();
        let at = |second| Timestamp::from_second(second).unwrap_or_default();
        (0..=seconds).filter(|second| cadence.is_due(first_pause, at(*second))).collect()
    }

    #[test]
    fn s03_pauses_between_checkpoints_double() {
        assert_eq!(moments(Duration::from_secs(10), 700), [10, 30, 70, 150, 310, 630]);
        assert_eq!(moments(Duration::ZERO, 3), [0, 1, 2, 3]);
    }

    #[test]
    fn a_clock_that_goes_back_begins_none() {
        let mut cadence = Cadence::default();
        let pause = Duration::from_secs(5);
        assert!(!cadence.is_due(pause, Timestamp::from_second(100).unwrap_or_default()));
        assert!(!cadence.is_due(pause, Timestamp::from_second(10).unwrap_or_default()));
    }
}

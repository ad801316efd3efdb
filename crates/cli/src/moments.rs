//! Moments as people read them.

use jiff::Timestamp;

/// How long ago a moment was, as in `3 minutes ago`.
pub(crate) fn ago(moment: Timestamp, now: Timestamp) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    let seconds = now.duration_since(moment).as_secs();
    let (count, unit) = match seconds.abs() {
        0 => return "now".to_owned(),
        seconds if seconds < MINUTE => (seconds, "second"),
        seconds if seconds < HOUR => (seconds / MINUTE, "minute"),
        seconds if seconds < DAY => (seconds / HOUR, "hour"),
        seconds if seconds < 7 * DAY => (seconds / DAY, "day"),
        seconds if seconds < 30 * DAY => (seconds / (7 * DAY), "week"),
        seconds if seconds < 365 * DAY => (seconds / (30 * DAY), "month"),
        seconds => (seconds / (365 * DAY), "year"),
    };
    let plural = if count == 1 { "" } else { "s" };
    let direction = if seconds < 0 { "from now" } else { "ago" };
    format!("{count} {unit}{plural} {direction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_in_the_largest_unit_that_fits() {
        let now: Timestamp = "2026-07-01T00:00:00Z".parse().unwrap();
        let cases = [
            ("2026-07-01T00:00:00Z", "now"),
            ("2026-06-30T23:59:59Z", "1 second ago"),
            ("2026-06-30T23:58:00Z", "2 minutes ago"),
            ("2026-06-30T20:00:00Z", "4 hours ago"),
            ("2026-06-29T00:00:00Z", "2 days ago"),
            ("2026-06-16T00:00:00Z", "2 weeks ago"),
            ("2026-04-01T00:00:00Z", "3 months ago"),
            ("2024-01-01T00:00:00Z", "2 years ago"),
            ("2026-07-01T00:00:05Z", "5 seconds from now"),
        ];
        for (moment, told) in cases {
            assert_eq!(ago(moment.parse().unwrap(), now), told);
        }
    }
}

//! The names of revisions: the moment of the write, with a number when several share it.

use super::time::Time;
use std::cmp::Ordering;
use std::fmt;

/// The name of a revision, such as `2026-11-15T18:17:19.881698628Z` or, for the second of that moment, `…Z_1`.
///
/// Go trims zeros, so names do not sort as text: `…00.45Z` comes before `…00.4Z` and both before `…00Z`. Their order here
/// is that of time, then of the number; names that are no moment come last, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    name: String,
    /// The moment in nanoseconds since 1970, and the number. `None` for a name that is no moment.
    written: Option<(i128, i64)>,
}

impl Revision {
    /// A name that was found. Any text is one.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), written: written(name) }
    }

    /// The name of the revision that is the `number`th, from 0, of this moment.
    #[must_use]
    pub fn at(moment: Time, number: i64) -> Self {
        let name = if number == 0 { moment.to_string() } else { format!("{moment}_{number}") };
        Self { name, written: Some((moment.unix_nanoseconds(), number)) }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// When it was written, in nanoseconds since 1970, as far as its name says.
    #[must_use]
    pub fn unix_nanoseconds(&self) -> Option<i128> {
        self.written.map(|(moment, _)| moment)
    }
}

fn written(name: &str) -> Option<(i128, i64)> {
    let (moment, number) = match name.split_once('_') {
        // Go reads a sign here too.
        Some((moment, number)) => (moment, number.parse().ok().filter(|number| *number >= 1)?),
        None => (name, 0),
    };
    Some((Time::parse(moment).ok()?.unix_nanoseconds(), number))
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl PartialOrd for Revision {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Revision {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_time = match (self.written, other.written) {
            (Some(one), Some(another)) => one.cmp(&another),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        };
        by_time.then_with(|| self.name.cmp(&other.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_in_the_order_of_time_and_not_of_their_text() {
        let in_order = [
            "2026-11-15T18:16:59.999999999Z",
            "2026-11-15T18:17:00Z",
            "2026-11-15T18:17:00Z_2",
            "2026-11-15T18:17:00Z_10",
            "2026-11-15T18:17:00.4Z",
            "2026-11-15T18:17:00.45Z",
            "2026-11-15T19:17:00.5+01:00",
            "2026-11-15T18:17:00Z_0",
            "2026-11-15T18:17:00Z_x",
            "latest",
        ];
        let mut sorted: Vec<Revision> = in_order.iter().rev().map(|name| Revision::named(name)).collect();
        sorted.sort();
        let sorted: Vec<&str> = sorted.iter().map(Revision::as_str).collect();
        assert_eq!(sorted, in_order);
    }
}

//! Moments as Go's `time` package reads and writes them in JSON.
//!
//! It takes a little more than RFC 3339 (an hour of one digit, a comma before the fraction, an offset of 24 hours) and
//! writes less: no trailing zeros, nine digits at most, `Z` for every offset of zero.

use super::json::syntax::Node;
use std::fmt;

const LAYOUT: &str = "2006-01-02T15:04:05Z07:00";

/// A moment, with the offset that it was told in. The default is Go's zero time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    nanoseconds: i64,
    /// Seconds east of UTC.
    offset: i64,
}

/// Why a text is no moment, in Go's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("parsing time {value}{reason}")]
pub struct TimeError {
    value: String,
    reason: String,
}

impl Default for Time {
    fn default() -> Self {
        Self { year: 1, month: 1, day: 1, hour: 0, minute: 0, second: 0, nanoseconds: 0, offset: 0 }
    }
}

impl Time {
    /// The moment so many nanoseconds after the beginning of 1970, in UTC. Moments outside the years 0 to 9999 are
    /// not told apart from the nearest one in them.
    #[must_use]
    pub fn from_unix_nanoseconds(nanoseconds: i128) -> Self {
        let day_length = 86_400 * 1_000_000_000;
        let last = i128::from(days_before(10_000, 1, 1)) * day_length - 1;
        let nanoseconds = nanoseconds.clamp(i128::from(days_before(0, 1, 1)) * day_length, last);
        // Both fit: a day has fewer nanoseconds than an i64 holds, and there are four million days.
        let days = i64::try_from(nanoseconds.div_euclid(day_length)).unwrap_or(0);
        let rest = i64::try_from(nanoseconds.rem_euclid(day_length)).unwrap_or(0);
        let seconds = rest / 1_000_000_000;
        let (year, month, day) = date_of(days);
        Self {
            year,
            month,
            day,
            hour: seconds / 3600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            nanoseconds: rest % 1_000_000_000,
            offset: 0,
        }
    }

    /// Nanoseconds since the beginning of 1970.
    #[must_use]
    pub fn unix_nanoseconds(&self) -> i128 {
        let days = days_before(self.year, self.month, self.day);
        let seconds = ((days * 24 + self.hour) * 60 + self.minute) * 60 + self.second - self.offset;
        i128::from(seconds) * 1_000_000_000 + i128::from(self.nanoseconds)
    }

    /// Reads a moment.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        Self::parse_bytes(text.as_bytes())
    }

    /// The text that stands in a document; `None` for an offset of 24 hours, which Go reads and does not write.
    pub(crate) fn written(&self) -> Option<String> {
        (self.offset.abs() < 24 * 3600).then(|| self.to_string())
    }

    pub(super) fn bind(&mut self, node: &Node<'_>) -> Result<(), String> {
        match node {
            Node::Null => Ok(()),
            Node::String(raw) => {
                *self = Self::parse_bytes(raw).map_err(|error| error.to_string())?;
                Ok(())
            }
            _ => Err("Time.UnmarshalJSON: input is not a JSON string".to_owned()),
        }
    }

    fn parse_bytes(text: &[u8]) -> Result<Self, TimeError> {
        let mut parser = Parser { whole: text, rest: text };
        let year = parser.year()?;
        parser.literal("-")?;
        let month = parser.number("01", Digits::Two, 1..13, "month")?;
        parser.literal("-")?;
        let day = parser.number("02", Digits::Two, 0..100, "day")?;
        parser.literal("T")?;
        let hour = parser.number("15", Digits::OneOrTwo, 0..24, "hour")?;
        parser.literal(":")?;
        let minute = parser.number("04", Digits::Two, 0..60, "minute")?;
        parser.literal(":")?;
        let second = parser.number("05", Digits::Two, 0..60, "second")?;
        let nanoseconds = parser.fraction();
        let offset = parser.offset()?;
        if !parser.rest.is_empty() {
            return Err(parser.told(format!(": extra text: {}", quoted(parser.rest))));
        }
        if !(1..=days_in(year, month)).contains(&day) {
            return Err(parser.told(": day out of range".to_owned()));
        }
        Ok(Self { year, month, day, hour, minute, second, nanoseconds, offset })
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, hour, minute, second, .. } = self;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if self.nanoseconds != 0 {
            let fraction = format!("{:09}", self.nanoseconds);
            write!(f, ".{}", fraction.trim_end_matches('0'))?;
        }
        if self.offset == 0 {
            return f.write_str("Z");
        }
        let (sign, minutes) = (if self.offset < 0 { '-' } else { '+' }, self.offset.abs() / 60);
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

/// How many digits an element may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Digits {
    Two,
    OneOrTwo,
}

struct Parser<'a> {
    whole: &'a [u8],
    rest: &'a [u8],
}

impl Parser<'_> {
    fn told(&self, reason: String) -> TimeError {
        TimeError { value: quoted(self.whole), reason }
    }

    fn bad(&self, element: &str) -> TimeError {
        let reason = format!(" as \"{LAYOUT}\": cannot parse {} as \"{element}\"", quoted(self.rest));
        self.told(reason)
    }

    fn literal(&mut self, element: &str) -> Result<(), TimeError> {
        self.rest = self.rest.strip_prefix(element.as_bytes()).ok_or_else(|| self.bad(element))?;
        Ok(())
    }

    fn year(&mut self) -> Result<i64, TimeError> {
        let (digits, rest) = self.rest.split_at_checked(4).ok_or_else(|| self.bad("2006"))?;
        let year = decimal(digits).ok_or_else(|| self.bad("2006"))?;
        self.rest = rest;
        Ok(year)
    }

    fn number(
        &mut self,
        element: &str,
        digits: Digits,
        range: std::ops::Range<i64>,
        name: &str,
    ) -> Result<i64, TimeError> {
        let count = self.rest.iter().take(2).take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 || (count == 1 && digits == Digits::Two) {
            return Err(self.bad(element));
        }
        let number = decimal(&self.rest[..count]).unwrap_or(0);
        if !range.contains(&number) {
            return Err(self.told(format!(": {name} out of range")));
        }
        self.rest = &self.rest[count..];
        Ok(number)
    }

    /// A fraction of a second, of which the first nine digits count.
    fn fraction(&mut self) -> i64 {
        let [b'.' | b',', digits @ ..] = self.rest else { return 0 };
        let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return 0;
        }
        self.rest = &digits[count..];
        let told = digits[..count].iter().map(|byte| i64::from(byte - b'0'));
        told.chain(std::iter::repeat(0)).take(9).fold(0, |number, digit| number * 10 + digit)
    }

    fn offset(&mut self) -> Result<i64, TimeError> {
        let element = "Z07:00";
        if let [b'Z', rest @ ..] = self.rest {
            self.rest = rest;
            return Ok(0);
        }
        let &[sign, h1, h2, b':', m1, m2, ref rest @ ..] = self.rest else { return Err(self.bad(element)) };
        // A number that is too large is told before one that is none, the minutes' before the hours'.
        let hours = decimal(&[h1, h2]);
        let minutes = hours.and_then(|_| decimal(&[m1, m2]));
        for (number, largest, name) in [(minutes, 60, "minute"), (hours, 24, "hour")] {
            if number.is_some_and(|number| number > largest) {
                return Err(self.told(format!(": time zone offset {name} out of range")));
            }
        }
        let (Some(hours), Some(minutes)) = (hours, minutes) else { return Err(self.bad(element)) };
        let seconds = (hours * 60 + minutes) * 60;
        let offset = match sign {
            b'+' => seconds,
            b'-' => -seconds,
            _ => return Err(self.bad(element)),
        };
        self.rest = rest;
        Ok(offset)
    }
}

fn decimal(digits: &[u8]) -> Option<i64> {
    digits
        .iter()
        .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
}

/// A text in an error: everything but printable ASCII by its bytes.
fn quoted(text: &[u8]) -> String {
    let mut quoted = String::from("\"");
    for &byte in text {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', byte.into()]),
            b' '..=0x7f => quoted.push(byte.into()),
            _ => quoted.push_str(&format!("\\x{byte:02x}")),
        }
    }
    quoted.push('"');
    quoted
}

fn days_in(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days from the beginning of 1970 to a date. Years begin in March here, so that the leap day is the last of one.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date so many days after the beginning of 1970.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_and_written_as_go_does() {
        for (text, expected) in [
            ("2026-04-30T12:00:00.120Z", "2026-04-30T12:00:00.12Z"),
            ("2026-04-30T12:00:00+02:00", "2026-04-30T12:00:00+02:00"),
            ("2026-04-30T12:00:00-00:00", "2026-04-30T12:00:00Z"),
            ("2026-04-30T12:00:00,5Z", "2026-04-30T12:00:00.5Z"),
            ("2026-04-30T12:00:00.1234567891Z", "2026-04-30T12:00:00.123456789Z"),
            ("2026-04-30T1:00:00-05:30", "2026-04-30T01:00:00-05:30"),
            ("2024-02-29T23:59:59Z", "2024-02-29T23:59:59Z"),
        ] {
            assert_eq!(Time::parse(text).unwrap().to_string(), expected);
        }
        assert_eq!(Time::default().to_string(), "0001-01-01T00:00:00Z");
        assert_eq!(Time::parse("2026-04-30T12:00:00+24:00").unwrap().written(), None);
    }

    #[test]
    fn a_bad_moment_is_told_in_the_words_of_go() {
        let layout = "as \"2006-01-02T15:04:05Z07:00\": cannot parse";
        for (text, expected) in [
            ("2026-04-30t12:00:00z", format!(" {layout} \"t12:00:00z\" as \"T\"")),
            ("", format!(" {layout} \"\" as \"2006\"")),
            ("2026-4-30T12:00:00Z", format!(" {layout} \"4-30T12:00:00Z\" as \"01\"")),
            ("2026-04-30T12:00:00", format!(" {layout} \"\" as \"Z07:00\"")),
            ("2026-04-30T12:00:00.Z", format!(" {layout} \".Z\" as \"Z07:00\"")),
            ("2026-04-30T12:00:60Z", ": second out of range".to_owned()),
            ("2026-13-30T12:00:00Z", ": month out of range".to_owned()),
            ("2026-02-29T12:00:00Z", ": day out of range".to_owned()),
            ("2026-04-30T12:00:00+25:00", ": time zone offset hour out of range".to_owned()),
            ("2026-04-30T12:00:00+91:0-", ": time zone offset hour out of range".to_owned()),
            ("2026-04-30T12:00:00+25:61", ": time zone offset minute out of range".to_owned()),
            ("2026-04-30T12:00:00Z ", ": extra text: \" \"".to_owned()),
        ] {
            let error = Time::parse(text).unwrap_err().to_string();
            assert_eq!(error, format!("parsing time \"{text}\"{expected}"));
        }
    }

    #[test]
    fn moments_are_counted_from_1970() {
        assert_eq!(Time::parse("1970-01-01T00:00:00Z").unwrap().unix_nanoseconds(), 0);
        assert_eq!(Time::parse("1970-01-01T01:00:00.5+01:00").unwrap().unix_nanoseconds(), 500_000_000);
        for text in
            ["2000-02-29T01:02:03.000000004Z", "1969-12-31T23:59:59.999999999Z", "0000-01-01T00:00:00Z"]
        {
            let time = Time::parse(text).unwrap();
            assert_eq!(Time::from_unix_nanoseconds(time.unix_nanoseconds()).to_string(), text);
        }
        assert_eq!(Time::from_unix_nanoseconds(i128::MAX).to_string(), "9999-12-31T23:59:59.999999999Z");
    }
}

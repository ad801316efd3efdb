//! Numbers, with their digits.

use std::fmt;

/// A number as it is written: the digits that Go would write, or those of an integer that Go's floats cannot hold.
///
/// unobin rounds an integer above 2^53 when it reads and writes it again. That loses ids, so ours keeps it (S10); it is
/// the one difference from what unobin would write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number(String);

impl Number {
    /// The number that JSON text stands for; `None` when it is too large for a float, which unobin does not read.
    pub(super) fn read(text: &str) -> Option<Self> {
        let float: f64 = text.parse().ok().filter(|float: &f64| float.is_finite())?;
        let written = as_go_writes(float);
        let is_integer = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if is_integer && !says_the_same(&written, text) {
            return Some(Self(text.to_owned()));
        }
        Some(Self(written))
    }

    /// A number that is kept to the letter.
    pub(super) fn verbatim(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<i64> for Number {
    fn from(number: i64) -> Self {
        Self(number.to_string())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The shortest digits that mean this float, with an exponent where Go's encoder uses one.
fn as_go_writes(float: f64) -> String {
    let size = float.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let shortest = format!("{float:e}");
        let digits = shortest.split('e').next().and_then(|digits| digits.split_once('.'));
        let text =
            even(float, shortest.clone(), digits.map(|(_, fraction)| format!("{float:.*e}", fraction.len())));
        match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
            _ => text,
        }
    } else {
        let shortest = float.to_string();
        let fraction = shortest.split_once('.').map(|(_, fraction)| fraction.len());
        even(float, shortest, fraction.map(|length| format!("{float:.length$}")))
    }
}

/// Where a float is just between two texts of the shortest length, Go takes the even one and Rust the larger.
fn even(float: f64, shortest: String, rounded: Option<String>) -> String {
    rounded.filter(|rounded| rounded.parse() == Ok(float)).unwrap_or(shortest)
}

/// Whether what Go would write says the same integer, digit for digit.
fn says_the_same(written: &str, integer: &str) -> bool {
    let Some((digits, exponent)) = written.split_once("e+") else { return written == integer };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let zeros = exponent.parse::<usize>().unwrap_or(0).saturating_sub(fraction.len());
    integer.len() == whole.len() + fraction.len() + zeros
        && integer
            .strip_prefix(whole)
            .and_then(|rest| rest.strip_prefix(fraction))
            .is_some_and(|rest| rest.bytes().all(|byte| byte == b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        Number::read(text).unwrap().to_string()
    }

    #[test]
    fn numbers_are_written_as_go_writes_them() {
        for (text, expected) in [
            ("-0", "-0"),
            ("-0.0", "-0"),
            ("1E+2", "100"),
            ("0.000001", "0.000001"),
            ("0.0000009", "9e-7"),
            ("-1.5e-10", "-1.5e-10"),
            ("1e21", "1e+21"),
            ("999999999999999900000.0", "999999999999999900000"),
            ("1e-400", "0"),
            ("123.4560", "123.456"),
            ("-1654738681127916.25", "-1654738681127916.2"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        assert_eq!(Number::read("1e309"), None);
        assert_eq!(Number::read(&"9".repeat(400)), None);
    }

    #[test]
    fn s10_integers_keep_every_digit() {
        for text in
            ["9007199254740993", "-9223372036854775807", "1234567890123456789012", "18446744073709551615"]
        {
            assert_eq!(read(text), text);
        }
        assert_eq!(read("1000000000000000000000"), "1e+21", "no digit is lost");
        assert_eq!(read("-1500000000000000000000"), "-1.5e+21");
    }
}

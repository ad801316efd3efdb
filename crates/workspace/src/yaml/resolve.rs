//! What a plain scalar means. The rules are those of the Go library that the stock CLI reads its files with: YAML 1.2's
//! booleans and nulls, but also octals such as `0755`, underscores in numbers, and timestamps.

use super::timestamp;
use crate::Value;

/// The value of an unquoted scalar without a tag.
#[must_use]
pub fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Value::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Value::Float(f64::NEG_INFINITY),
        _ => {}
    }
    let number = match text.as_bytes()[0] {
        b'.' => float(text),
        b'0'..=b'9' | b'+' | b'-' => {
            if let Some(moment) = timestamp::parse(text) {
                return Value::String(moment);
            }
            let digits = text.replace('_', "");
            integer(&digits).map(Value::Integer).or_else(|| float(&digits))
        }
        _ => None,
    };
    number.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Whether a text can stand unquoted and still be read as that text, also by YAML 1.1 readers.
pub(crate) fn is_plain_text(text: &str) -> bool {
    matches!(plain(text), Value::String(same) if same == text)
        && text != "<<"
        && !is_old_boolean(text)
        && !is_sexagesimal(text)
}

/// A whole number in any base that a prefix can name.
fn integer(text: &str) -> Option<i128> {
    let (negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (base, digits) = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &unsigned[2..]),
        [b'0', b'o' | b'O', ..] => (8, &unsigned[2..]),
        [b'0', b'b' | b'B', ..] => (2, &unsigned[2..]),
        [b'0', _, ..] => (8, &unsigned[1..]),
        _ => (10, unsigned),
    };
    if !digits.bytes().all(|digit| digit.is_ascii_alphanumeric()) {
        return None;
    }
    let size = i128::from(u64::from_str_radix(digits, base).ok()?);
    let value = if negative { -size } else { size };
    (value >= i128::from(i64::MIN)).then_some(value)
}

/// A decimal number with a fraction or an exponent; one too large for a float is a text.
fn float(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        Some(("", fraction)) => is_number(fraction),
        Some((whole, fraction)) => is_number(whole) && (fraction.is_empty() || is_number(fraction)),
        None => is_number(mantissa),
    };
    let exponent_fits =
        exponent.is_none_or(|exponent| is_number(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    let value: f64 = (mantissa_fits && exponent_fits).then(|| text.parse().ok())??;
    value.is_finite().then_some(Value::Float(value))
}

/// A truth value of YAML 1.1, which older readers would take a plain text for.
fn is_old_boolean(text: &str) -> bool {
    matches!(
        text,
        "y" | "Y"
            | "yes"
            | "Yes"
            | "YES"
            | "on"
            | "On"
            | "ON"
            | "n"
            | "N"
            | "no"
            | "No"
            | "NO"
            | "off"
            | "Off"
            | "OFF"
    )
}

/// A number to the base of sixty of YAML 1.1, such as `12:30:45`.
fn is_sexagesimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = unsigned.split(':');
    let first = parts.next().unwrap_or_default();
    if !first.starts_with(|digit: char| digit.is_ascii_digit())
        || !first.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
    {
        return false;
    }
    let rest: Vec<&str> = parts.collect();
    let count = rest.len();
    count > 0
        && rest.iter().enumerate().all(|(index, part)| {
            let digits = match part.split_once('.') {
                Some((digits, fraction)) if index + 1 == count => {
                    if !fraction.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_') {
                        return false;
                    }
                    digits
                }
                _ => part,
            };
            match digits.as_bytes() {
                [digit] => digit.is_ascii_digit(),
                [tens, digit] => (b'0'..=b'5').contains(tens) && digit.is_ascii_digit(),
                _ => false,
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_mean_what_the_stock_cli_takes_them_for() {
        for (text, value) in [
            ("~", Value::Null),
            ("TRUE", Value::Bool(true)),
            ("yes", Value::String("yes".into())),
            ("0123", Value::Integer(83)),
            ("0o17", Value::Integer(15)),
            ("0xFF", Value::Integer(255)),
            ("0b11", Value::Integer(3)),
            ("-0b11", Value::Integer(-3)),
            ("1_000", Value::Integer(1000)),
            ("+5", Value::Integer(5)),
            ("-9223372036854775808", Value::Integer(i64::MIN.into())),
            ("18446744073709551615", Value::Integer(u64::MAX.into())),
            ("18446744073709551616", Value::Float(18_446_744_073_709_551_616.0)),
            ("08", Value::Float(8.0)),
            ("1.50", Value::Float(1.5)),
            ("1.", Value::Float(1.0)),
            (".5", Value::Float(0.5)),
            ("1e3", Value::Float(1000.0)),
            ("1e999", Value::String("1e999".into())),
            ("0x", Value::String("0x".into())),
            ("-", Value::String("-".into())),
            (".", Value::String(".".into())),
            ("1.2.3", Value::String("1.2.3".into())),
            ("2020-01-01", Value::String("2020-01-01 00:00:00 +0000 UTC".into())),
        ] {
            assert_eq!(plain(text), value, "{text}");
        }
    }

    #[test]
    fn texts_that_some_reader_would_misread_are_not_plain() {
        for text in ["", "5", "0x1", "no", "Y", "12:30", "1:2:3.4", "null", ".5", "2020-01-01", "<<", "1e3"] {
            assert!(!is_plain_text(text), "{text}");
        }
        for text in ["a", "12:77", "1.2.3", "v1", "10.0.0.0/16", "nope", "=", "-x", "12:30:"] {
            assert!(is_plain_text(text), "{text}");
        }
    }
}

//! Durations as programs write them: `5m`, `1h30m`, `1.5s`.

/// The seconds of a duration; `None` when it is none.
#[must_use]
pub fn seconds(text: &str) -> Option<f64> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0.0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|character: char| !character.is_ascii_digit() && character != '.')?;
        let (number, after) = rest.split_at(digits);
        let unit_end = after.find(|character: char| character.is_ascii_digit() || character == '.');
        let (unit, after) = after.split_at(unit_end.unwrap_or(after.len()));
        // A number needs a digit; a point alone is none.
        let number: f64 = if number == "." { return None } else { number.parse().ok()? };
        total += number * unit_seconds(unit)?;
        rest = after;
    }
    Some(sign * total)
}

fn unit_seconds(unit: &str) -> Option<f64> {
    match unit {
        "ns" => Some(1e-9),
        // The micro sign and the Greek letter.
        "us" | "\u{b5}s" | "\u{3bc}s" => Some(1e-6),
        "ms" => Some(1e-3),
        "s" => Some(1.0),
        "m" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    }
}

/// Seconds as a duration, such as `300s`; empty for none.
pub(crate) fn text(seconds: f64) -> String {
    if seconds == 0.0 { String::new() } else { format!("{seconds}s") }
}

#[cfg(test)]
mod tests {
    use super::{seconds, text};

    #[test]
    fn durations_are_sums_of_numbers_with_units() {
        for (written, expected) in [
            ("0", Some(0.0)),
            ("5m", Some(300.0)),
            ("1h30m", Some(5400.0)),
            ("1.5s", Some(1.5)),
            (".5s", Some(0.5)),
            ("250ms", Some(0.25)),
            ("2h45m30.5s", Some(9930.5)),
            ("-1m", Some(-60.0)),
            ("+1m", Some(60.0)),
            ("", None),
            ("5", None),
            ("m", None),
            (".m", None),
            ("1.2.3s", None),
            ("5 m", None),
            ("5d", None),
            ("é", None),
        ] {
            assert_eq!(seconds(written), expected, "{written}");
        }
        assert_eq!(text(300.0), "300s");
        assert_eq!(seconds(&text(0.25)), Some(0.25));
        assert_eq!(text(0.0), "");
    }
}

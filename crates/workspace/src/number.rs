//! Floating-point numbers as text, in the spellings that Go gives them.

/// The spelling of Go's JSON encoder: no exponent between 1e-6 and 1e21.
pub(crate) fn json(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return format!("{value}");
    }
    let (digits, exponent) = scientific(value);
    format!("{digits}e{}{}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs())
}

/// The spelling of Go's YAML encoder: an exponent of two digits or more outside of 1e-4 to 1e6.
pub(crate) fn yaml(value: f64) -> String {
    if value.is_nan() {
        return ".nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let (digits, exponent) = scientific(value);
    if value == 0.0 || (-4..6).contains(&exponent) {
        return format!("{value}");
    }
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs())
}

/// The shortest digits that give the number back, and its exponent.
fn scientific(value: f64) -> (String, i32) {
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => (digits.to_owned(), exponent.parse().unwrap_or_default()),
        None => (text, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_are_those_of_go() {
        for (value, in_json, in_yaml) in [
            (1.5, "1.5", "1.5"),
            (0.0, "0", "0"),
            (1000.0, "1000", "1000"),
            (1e6, "1000000", "1e+06"),
            (1_000_000.5, "1000000.5", "1.0000005e+06"),
            (123_456_789.5, "123456789.5", "1.234567895e+08"),
            (1e20, "100000000000000000000", "1e+20"),
            (1e21, "1e+21", "1e+21"),
            (1e-7, "1e-7", "1e-07"),
            (0.0001, "0.0001", "0.0001"),
            (0.00001, "0.00001", "1e-05"),
            (-2.5e-9, "-2.5e-9", "-2.5e-09"),
            (18_446_744_073_709_552_000.0, "18446744073709552000", "1.8446744073709552e+19"),
        ] {
            assert_eq!(json(value), in_json);
            assert_eq!(yaml(value), in_yaml);
        }
        assert_eq!((yaml(f64::NEG_INFINITY), yaml(f64::NAN)), ("-.inf".to_owned(), ".nan".to_owned()));
    }
}

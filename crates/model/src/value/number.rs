//! Numbers that are written back as they were read.

use std::fmt;

/// A number that is written back as it was read (S10). Equality is that of the kind and the bits;
/// [`Number::same_as`] compares what is meant.
#[derive(Debug, Clone)]
pub enum Number {
    /// A whole number of up to 38 digits.
    Integer(i128),
    /// A floating-point number; NaN and the infinities too.
    Float(f64),
    /// A number whose text neither of the others gives back, such as `1.10` or `1e400`.
    Literal(String),
}

impl Number {
    /// Reads a JSON number; `None` when the text is not one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let decimal = Decimal::read(text)?;
        if decimal.whole
            && text != "-0"
            && let Ok(integer) = text.parse()
        {
            return Some(Self::Integer(integer));
        }
        match text.parse().map(Self::Float) {
            Ok(float) if float.is_finite() && float.to_string() == text => Some(float),
            _ => Some(Self::Literal(text.to_owned())),
        }
    }

    /// Whether it is neither NaN nor an infinity, so that JSON has a text for it.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        !matches!(self, Self::Float(float) if !float.is_finite())
    }

    /// The nearest floating-point number, as a tool without exact integers reads it.
    #[must_use]
    pub fn as_f64(&self) -> f64 {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "the nearest is what is asked for")]
            Self::Integer(integer) => *integer as f64,
            Self::Float(float) => *float,
            Self::Literal(text) => text.parse().unwrap_or(f64::NAN),
        }
    }

    /// The whole number that it is, if it is one and fits: `2` for `2`, `2.0` and `20e-1`.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Integer(integer) => i64::try_from(*integer).ok(),
            _ => Decimal::read(&self.to_string())?.as_integer(),
        }
    }

    /// Whether two numbers mean the same: `1`, `1.0` and `10e-1` do, and so do two NaN. Compares all digits, not the
    /// nearest floating-point numbers.
    #[must_use]
    pub fn same_as(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        match (self, other) {
            (Self::Float(a), Self::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
            _ if !self.is_finite() || !other.is_finite() => false,
            _ => {
                let (a, b) = (self.to_string(), other.to_string());
                match (Decimal::read(&a), Decimal::read(&b)) {
                    (Some(a), Some(b)) => a == b,
                    _ => false,
                }
            }
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Literal(a), Self::Literal(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Number {}

/// The text that the state holds. A floating-point number gets the shortest digits that give it back, with an exponent
/// below 1e-6 and from 1e21 on, as Go and JavaScript write it.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(integer) => write!(f, "{integer}"),
            Self::Literal(text) => f.write_str(text),
            Self::Float(float) => {
                let size = float.abs();
                if size == 0.0 || !float.is_finite() || (1e-6..1e21).contains(&size) {
                    write!(f, "{float}")
                } else if size < 1.0 {
                    write!(f, "{float:e}")
                } else {
                    f.write_str(&format!("{float:e}").replace('e', "e+"))
                }
            }
        }
    }
}

/// A whole number where the float is one and is written without an exponent, so that what is written is read back as
/// it was.
impl From<f64> for Number {
    fn from(float: f64) -> Self {
        let whole = float.fract() == 0.0 && float.abs() < 1e21 && !(float == 0.0 && float.is_sign_negative());
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and below 2^127")]
        if whole { Self::Integer(float as i128) } else { Self::Float(float) }
    }
}

impl From<i64> for Number {
    fn from(integer: i64) -> Self {
        Self::Integer(integer.into())
    }
}

/// A JSON number taken apart: the digits without zeros at either end, and the power of ten of the first of them.
#[derive(Debug)]
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    /// `None` when the exponent is beyond all reason; such a number equals nothing but its own text.
    power: Option<i64>,
    whole: bool,
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        let zeros = self.digits.is_empty() && other.digits.is_empty();
        zeros
            || (self.negative == other.negative
                && self.digits == other.digits
                && self.power.is_some()
                && self.power == other.power)
    }
}

impl Decimal {
    fn read(text: &str) -> Option<Self> {
        let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = match rest.find(['e', 'E']) {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None => (rest, None),
        };
        let (before, after) = match mantissa.split_once('.') {
            Some((before, after)) => (before, Some(after)),
            None => (mantissa, None),
        };
        let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let exponent_digits = exponent.map(|part| part.strip_prefix(['+', '-']).unwrap_or(part));
        let canonical_start = before == "0" || !before.starts_with('0');
        if !all_digits(before)
            || !canonical_start
            || !after.is_none_or(all_digits)
            || !exponent_digits.is_none_or(all_digits)
        {
            return None;
        }
        let exponent_value = exponent.map_or(Some(0), |part| part.parse::<i64>().ok());
        let mut digits: Vec<u8> = before.bytes().chain(after.unwrap_or("").bytes()).collect();
        let leading = digits.iter().take_while(|&&digit| digit == b'0').count();
        digits.drain(..leading);
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        let shift = i64::try_from(before.len()).ok()? - i64::try_from(leading).ok()?;
        let power = exponent_value.and_then(|exponent| exponent.checked_add(shift));
        Some(Self { negative, digits, power, whole: after.is_none() && exponent.is_none() })
    }

    fn as_integer(&self) -> Option<i64> {
        if self.digits.is_empty() {
            return Some(0);
        }
        let missing = usize::try_from(self.power?).ok()?.checked_sub(self.digits.len())?;
        if missing > 19 {
            return None;
        }
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{}{}", String::from_utf8_lossy(&self.digits), "0".repeat(missing)).parse().ok()
    }
}

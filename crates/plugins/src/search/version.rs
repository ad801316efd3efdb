//! Versions as plugins write them.

use semver::Version;
use std::cmp::Ordering;

/// A version that may start with a `v` and lack its minor and patch numbers.
#[must_use]
pub fn tolerant_version(text: &str) -> Option<Version> {
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    let (numbers, rest) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    let mut parts = Vec::new();
    for part in numbers.split('.') {
        parts.push(part.parse::<u64>().ok()?);
    }
    if parts.len() > 3 {
        return None;
    }
    parts.resize(3, 0);
    format!("{}.{}.{}{rest}", parts[0], parts[1], parts[2]).parse().ok()
}

/// Whether two versions are the same. What was built of it does not count.
pub(super) fn is_same(a: &Version, b: &Version) -> bool {
    a.cmp_precedence(b) == Ordering::Equal
}

/// Versions that a person means: alternatives between `||`, each of conditions that all hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRange(Vec<Vec<Condition>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    /// How a version may compare to the bound.
    orders: &'static [Ordering],
    bound: Version,
}

impl VersionRange {
    /// A range such as `1.2.0`, `>=1.0.0 <2.0.0` or `<1.0.0 || >3.0.0`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let alternative = |text: &str| {
            let conditions: Option<Vec<Condition>> = text.split_whitespace().map(Condition::parse).collect();
            conditions.filter(|conditions| !conditions.is_empty())
        };
        text.split("||").map(alternative).collect::<Option<_>>().map(Self)
    }

    /// Whether a version is in it.
    #[must_use]
    pub fn contains(&self, version: &Version) -> bool {
        let holds =
            |condition: &Condition| condition.orders.contains(&version.cmp_precedence(&condition.bound));
        self.0.iter().any(|conditions| conditions.iter().all(holds))
    }
}

impl Condition {
    fn parse(text: &str) -> Option<Self> {
        use Ordering::{Equal, Greater, Less};
        let signs: [(&str, &[Ordering]); 8] = [
            (">=", &[Greater, Equal]),
            ("<=", &[Less, Equal]),
            ("!=", &[Less, Greater]),
            ("==", &[Equal]),
            (">", &[Greater]),
            ("<", &[Less]),
            ("!", &[Less, Greater]),
            ("=", &[Equal]),
        ];
        let sign = signs.iter().find_map(|(sign, orders)| Some((text.strip_prefix(sign)?, *orders)));
        let (bound, orders) = sign.unwrap_or((text, &[Equal]));
        Some(Self { orders, bound: tolerant_version(bound)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_tolerantly() {
        let read = |text| tolerant_version(text).map(|version| version.to_string());
        for (text, version) in [
            ("1.2.3", "1.2.3"),
            ("v1.2.3", "1.2.3"),
            ("1", "1.0.0"),
            ("v1.2", "1.2.0"),
            ("1.02.3", "1.2.3"),
            ("1.2-alpha.1", "1.2.0-alpha.1"),
            ("1.2.3-x0123+dirty", "1.2.3-x0123+dirty"),
        ] {
            assert_eq!(read(text).as_deref(), Some(version), "{text}");
        }
        for text in ["", "v", "a", "1.2.3.4", "1..2", "1.2.3-"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn ranges_hold_the_versions_that_they_name() {
        let holds = |range: &str, version: &str| {
            VersionRange::parse(range).unwrap().contains(&tolerant_version(version).unwrap())
        };
        for (range, inside, outside) in [
            ("1.2.3", "1.2.3", "1.2.4"),
            ("v1.2", "1.2.0", "1.3.0"),
            (">1.0.0", "1.0.1", "1.0.0"),
            (">=1.0.0 <2.0.0", "1.9.9", "2.0.0"),
            ("<1.0.0 || >3.0.0", "3.0.1", "2.0.0"),
            ("!=1.0.0", "1.0.1", "1.0.0"),
            ("<=2.0.0", "2.0.0-alpha", "2.0.1"),
        ] {
            assert!(holds(range, inside) && !holds(range, outside), "{range}");
        }
        for range in ["", "||", ">", "~1", "1.0.0 ||", "a"] {
            assert_eq!(VersionRange::parse(range), None, "{range}");
        }
    }
}

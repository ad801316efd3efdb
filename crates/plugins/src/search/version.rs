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
}

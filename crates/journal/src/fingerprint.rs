//! Telling equal entries from different ones without keeping them.

use crate::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A fingerprint of what an entry says. Member order, white space and the spelling of strings do not count, the text
/// of numbers does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) fn of(entry: &Entry) -> Self {
        let text = serde_json::to_string(entry).unwrap_or_else(|error| error.to_string());
        Self::of_text(&text)
    }

    /// The fingerprint of valid JSON text. Iterative: nothing bounds how deep a property may nest.
    fn of_text(text: &str) -> Self {
        let mut open = vec![Scope::default()];
        let mut rest = text.trim_ascii_start();
        while let Some(first) = rest.bytes().next() {
            let length = match first {
                b'"' => string_length(rest),
                b'{' | b'[' | b'}' | b']' | b',' | b':' => 1,
                _ => rest.find([',', ':', '}', ']', ' ', '\t', '\r', '\n']).unwrap_or(rest.len()),
            };
            let (token, after) = rest.split_at(length);
            let next = after.trim_ascii_start();
            match first {
                b'{' => open.push(Scope { object: true, ..Scope::default() }),
                b'[' => open.push(Scope::default()),
                b'}' | b']' if open.len() > 1 => {
                    let closed = open.pop().unwrap_or_default();
                    take(&mut open, digest((closed.object, closed.sum, closed.count)));
                }
                b'"' if next.starts_with(':') => {
                    if let Some(scope) = open.last_mut() {
                        scope.key = digest_string(token);
                    }
                }
                b'"' => take(&mut open, digest_string(token)),
                b'}' | b']' | b',' | b':' => {}
                _ => take(&mut open, digest(token)),
            }
            rest = next;
        }
        Self(open.first().map_or(0, |scope| scope.sum))
    }
}

/// An object or array that is being read.
#[derive(Default)]
struct Scope {
    object: bool,
    count: u64,
    key: u64,
    sum: u64,
}

/// Adds a value to the innermost scope: under its key in an object, at its place in an array.
fn take(open: &mut [Scope], value: u64) {
    if let Some(scope) = open.last_mut() {
        let place = if scope.object { scope.key } else { scope.count };
        scope.sum = scope.sum.wrapping_add(digest((place, value)));
        scope.count += 1;
    }
}

fn digest(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The digest of what a string says, however its characters are escaped.
fn digest_string(quoted: &str) -> u64 {
    if quoted.contains('\\')
        && let Ok(plain) = serde_json::from_str::<String>(quoted)
    {
        return digest(('"', plain.as_str()));
    }
    digest(('"', quoted.trim_matches('"')))
}

/// The length of the string that `text` starts with, both quotes included.
fn string_length(text: &str) -> usize {
    if let Some((plain, _)) = text.get(1..).and_then(|inside| inside.split_once('"'))
        && !plain.contains('\\')
    {
        return plain.len() + 2;
    }
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_does_not_count() {
        let same = [
            (r#"{"a":1,"b":[true,{"c":null}]}"#, r#" { "b" : [ true , {"c":null} ],"a":1 } "#),
            (r#"{"a":"<b>\""}"#, r#"{"a":"\u003cb\u003e\u0022"}"#),
            (r#"{"\u0061":{}}"#, r#"{"a":{ }}"#),
        ];
        for (a, b) in same {
            assert_eq!(Fingerprint::of_text(a), Fingerprint::of_text(b), "{a} {b}");
        }
    }

    #[test]
    fn meaning_does() {
        let different = [
            "null",
            "true",
            "1",
            "1.0",
            r#""1""#,
            r#""""#,
            "[]",
            "{}",
            "[1]",
            "[[1]]",
            "[1,2]",
            "[2,1]",
            "[[1],2]",
            "[[1,2]]",
            r#"{"a":1}"#,
            r#"{"a":{}}"#,
            r#"{"a":[]}"#,
            r#"{"b":1}"#,
            r#"{"a":1,"b":2}"#,
            r#"{"a":2,"b":1}"#,
            r#"{"a":{"b":1}}"#,
            r#"{"a":"b"}"#,
            r#"["a","b"]"#,
            r#"["a:b"]"#,
            "9007199254740993",
            "9007199254740992",
            "12345678901234567890123",
        ];
        for (i, a) in different.iter().enumerate() {
            for b in &different[..i] {
                assert_ne!(Fingerprint::of_text(a), Fingerprint::of_text(b), "{a} {b}");
            }
        }
    }

    #[test]
    fn depth_is_no_danger() {
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert_ne!(Fingerprint::of_text(&deep(100_000)), Fingerprint::of_text(&deep(99_999)));
    }
}

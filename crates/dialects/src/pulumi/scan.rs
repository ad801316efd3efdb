//! A cursor over JSON text that is known to be valid.
//!
//! serde_json turns numbers into floats unless a feature that changes it for the whole workspace is on. Reading the
//! text itself keeps every digit (S10), takes one pass, and recurses no deeper than its caller allows.

use std::borrow::Cow;

/// A place in a JSON text.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

/// Half of a surrogate pair, or text that ends too early: neither is a character.
const REPLACEMENT: char = '\u{fffd}';

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The first byte of the next token.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// Takes the next token when it is this one byte.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let taken = self.peek() == Some(byte);
        self.at += usize::from(taken);
        taken
    }

    /// Takes a string, unescaped. Go reads a lone surrogate as the replacement character, and so does this.
    pub(crate) fn string(&mut self) -> Option<Cow<'a, str>> {
        if self.peek() != Some(b'"') {
            return None;
        }
        let rest = &self.text[self.at..];
        let length = string_length(rest);
        self.at += length;
        let inside = rest.get(1..length.checked_sub(1)?)?;
        if !inside.as_bytes().contains(&b'\\') {
            return Some(Cow::Borrowed(inside));
        }
        let mut unescaped = String::with_capacity(inside.len());
        let mut at = 0;
        while let Some(found) = inside[at..].find('\\') {
            unescaped.push_str(&inside[at..at + found]);
            let escape = escape_at(inside, at + found);
            unescaped.push(escape.character.unwrap_or(REPLACEMENT));
            at += found + escape.length;
        }
        unescaped.push_str(&inside[at..]);
        Some(Cow::Owned(unescaped))
    }

    /// Takes a number or a word: everything up to the next delimiter.
    pub(crate) fn scalar(&mut self) -> &'a str {
        self.peek();
        let rest = &self.text[self.at..];
        let length = rest.bytes().position(is_delimiter).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Passes over a value of any depth without recursion.
    fn skip(&mut self) {
        let mut depth = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.at += string_length(&self.text[self.at..]),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                b',' | b':' => self.at += 1,
                _ => {
                    self.scalar();
                }
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// Whether nothing but white space is left.
    pub(crate) fn at_end(&mut self) -> bool {
        self.peek().is_none()
    }
}

/// The names of an object's members; none when the text is not an object.
pub(crate) fn member_names(object: &str) -> Vec<Cow<'_, str>> {
    let mut scanner = Scanner::new(object);
    let mut names = Vec::new();
    if !scanner.take(b'{') {
        return names;
    }
    while let Some(name) = scanner.string() {
        names.push(name);
        if !scanner.take(b':') {
            break;
        }
        scanner.skip();
        if !scanner.take(b',') {
            break;
        }
    }
    names
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b',' | b':' | b'}' | b']' | b'{' | b'[' | b'"' | b' ' | b'\t' | b'\n' | b'\r')
}

/// The length of the string that `text` starts with, both quotes included.
pub(crate) fn string_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(found) =
        bytes.get(at..).and_then(|rest| rest.iter().position(|b| matches!(b, b'"' | b'\\')))
    {
        at += found;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    text.len()
}

/// An escape in a string: how many bytes it takes and what it stands for.
pub(crate) struct Escape {
    pub(crate) length: usize,
    /// `None` for half of a surrogate pair.
    pub(crate) character: Option<char>,
}

/// The escape whose backslash stands at `at`.
pub(crate) fn escape_at(text: &str, at: usize) -> Escape {
    let rest = &text.as_bytes()[at..];
    let simple = |character| Escape { length: 2, character: Some(character) };
    match rest.get(1) {
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'n') => simple('\n'),
        Some(b'r') => simple('\r'),
        Some(b't') => simple('\t'),
        Some(b'u') => {
            let (Some(first), second) = (code_unit(rest), rest.get(6..).and_then(code_unit)) else {
                return Escape { length: 2, character: None };
            };
            if let Some(character) = char::from_u32(first.into()) {
                return Escape { length: 6, character: Some(character) };
            }
            match second.map(|second| char::decode_utf16([first, second]).next()) {
                Some(Some(Ok(character))) => Escape { length: 12, character: Some(character) },
                _ => Escape { length: 6, character: None },
            }
        }
        Some(&byte) if byte.is_ascii() => simple(char::from(byte)),
        _ => Escape { length: 1, character: None },
    }
}

/// The code unit of `\uXXXX`.
fn code_unit(escape: &[u8]) -> Option<u16> {
    let digits = escape.strip_prefix(b"\\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        u16::from_str_radix(digits, 16).ok()
    } else {
        None
    }
}

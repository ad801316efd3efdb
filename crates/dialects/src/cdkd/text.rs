//! JSON text as `JSON.stringify` writes it.
//!
//! Strings are UTF-8; only quotes, backslashes, control characters and halves of surrogate pairs are escaped. Numbers
//! are left as they were read, though JavaScript would round those above 2^53 (S10).

use crate::pulumi::scan::{Escape, escape_at, string_length};
use serde::Serialize;
use std::fmt::Write as _;

/// A value over several lines, moved in by two spaces a level, without a line feed at the end.
#[must_use]
pub fn pretty(value: &impl Serialize) -> Vec<u8> {
    stringify(value, Some("  "))
}

/// A value on one line.
pub(super) fn line(value: &impl Serialize) -> Vec<u8> {
    stringify(value, None)
}

fn stringify(value: &impl Serialize, unit: Option<&str>) -> Vec<u8> {
    // Maps with names that are no strings, and writers that fail, are the only reasons for not being JSON; no document
    // has them.
    let text = serde_json::to_string(value).unwrap_or_default();
    let mut layout = Layout { out: String::with_capacity(text.len() * 2), unit, depth: 0 };
    layout.write(&text);
    layout.out.into_bytes()
}

struct Layout<'a> {
    out: String,
    unit: Option<&'a str>,
    depth: usize,
}

impl Layout<'_> {
    fn write(&mut self, text: &str) {
        let mut rest = text;
        while let Some(&byte) = rest.as_bytes().first() {
            let length = match byte {
                b'"' => {
                    let length = string_length(rest);
                    self.string(&rest[..length]);
                    length
                }
                b'{' | b'[' => self.open(rest),
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.line_feed();
                    self.out.push(char::from(byte));
                    1
                }
                b',' => {
                    self.out.push(',');
                    self.line_feed();
                    1
                }
                b':' => {
                    self.out.push_str(if self.unit.is_some() { ": " } else { ":" });
                    1
                }
                _ if byte.is_ascii_whitespace() => 1,
                _ => {
                    let ends = |c: char| matches!(c, ',' | '}' | ']' | ':') || c.is_ascii_whitespace();
                    let length = rest.find(ends).unwrap_or(rest.len());
                    self.out.push_str(&rest[..length]);
                    length
                }
            };
            rest = &rest[length..];
        }
    }

    /// Begins an object or array; what is empty ends on the same line. Gives how much was read.
    fn open(&mut self, rest: &str) -> usize {
        self.out.push_str(&rest[..1]);
        let inside = rest[1..].trim_ascii_start();
        if inside.starts_with(['}', ']']) {
            self.out.push_str(&inside[..1]);
            return rest.len() - inside.len() + 1;
        }
        self.depth += 1;
        self.line_feed();
        1
    }

    fn line_feed(&mut self) {
        if let Some(unit) = self.unit {
            self.out.push('\n');
            (0..self.depth).for_each(|_| self.out.push_str(unit));
        }
    }

    /// Writes a JSON string with the escapes that JavaScript would use.
    fn string(&mut self, token: &str) {
        if !token.as_bytes().contains(&b'\\') {
            return self.out.push_str(token);
        }
        let mut at = 0;
        while let Some(found) = token[at..].find('\\') {
            self.out.push_str(&token[at..at + found]);
            at += found;
            let Escape { length, character } = escape_at(token, at);
            match character {
                Some('"') => self.out.push_str("\\\""),
                Some('\\') => self.out.push_str("\\\\"),
                Some('\u{8}') => self.out.push_str("\\b"),
                Some('\u{c}') => self.out.push_str("\\f"),
                Some('\n') => self.out.push_str("\\n"),
                Some('\r') => self.out.push_str("\\r"),
                Some('\t') => self.out.push_str("\\t"),
                Some(control) if control < ' ' => {
                    let _ = write!(self.out, "\\u{:04x}", u32::from(control));
                }
                Some(character) => self.out.push(character),
                // Half of a surrogate pair: nothing else says it.
                None => self.out.push_str(&token[at..at + length].to_ascii_lowercase()),
            }
            at += length;
        }
        self.out.push_str(&token[at..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone_model::Json;

    fn rewritten(text: &str) -> String {
        String::from_utf8(pretty(&Json::parse(text).unwrap())).unwrap()
    }

    #[test]
    fn s10_text_is_what_json_stringify_makes_of_it_with_every_digit_kept() {
        let source = r#" {"a":[ ],"b":{ }, "c":[1,{"d":null}],"e":12345678901234567890.10} "#;
        let expected = "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": null\n    }\n  ],\n  \"e\": 12345678901234567890.10\n}";
        assert_eq!(rewritten(source), expected);
        assert_eq!(rewritten(expected), expected);
        assert_eq!(
            line(&Json::parse(expected).unwrap()),
            br#"{"a":[],"b":{},"c":[1,{"d":null}],"e":12345678901234567890.10}"#
        );
    }

    #[test]
    fn strings_have_the_escapes_of_javascript_and_no_others() {
        let source = r#""\u0041\/\u00e9\u2028\u007f\u0000\u001F\u0008\f\n\r\t\"\\ \ud83d\ude00 \uD800""#;
        let expected = "\"A/\u{e9}\u{2028}\u{7f}\\u0000\\u001f\\b\\f\\n\\r\\t\\\"\\\\ \u{1f600} \\ud800\"";
        assert_eq!(rewritten(source), expected);
        assert_eq!(rewritten(expected), expected);
    }
}

//! JSON text as Go's encoder writes it, which is how the Pulumi CLI writes state.
//!
//! Strings are UTF-8; only quotes, backslashes, control characters and the separators U+2028 and U+2029 are escaped.
//! Some of the CLI's paths escape `<`, `>` and `&` too.

use super::scan::{Escape, escape_at, string_length};
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use std::io::{self, Write};

/// Which characters are escaped beyond those that must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Escapes {
    /// None: how updates write checkpoints, and how exports are printed.
    #[default]
    Plain,
    /// `<`, `>` and `&`: how the CLI's `stack import` and `state` commands write checkpoints, and the text of a secret
    /// before it is sealed.
    Html,
}

impl Escapes {
    /// The escape of the character that starts at `at`, and its length in UTF-8.
    fn of(self, text: &[u8], at: usize) -> Option<(&'static str, usize)> {
        match (text[at], self) {
            (b'<', Self::Html) => Some(("\\u003c", 1)),
            (b'>', Self::Html) => Some(("\\u003e", 1)),
            (b'&', Self::Html) => Some(("\\u0026", 1)),
            (0xe2, _) => match text.get(at + 1..at + 3) {
                Some([0x80, 0xa8]) => Some(("\\u2028", 3)),
                Some([0x80, 0xa9]) => Some(("\\u2029", 3)),
                _ => None,
            },
            _ => None,
        }
    }

    fn may_apply(self, text: &str) -> bool {
        let bytes = text.as_bytes();
        bytes.contains(&0xe2)
            || (self == Self::Html && bytes.iter().any(|byte| matches!(byte, b'<' | b'>' | b'&')))
    }
}

/// Writes text that needs no other escapes than those of `escapes`.
fn write_fragment(out: &mut (impl Write + ?Sized), fragment: &str, escapes: Escapes) -> io::Result<()> {
    if !escapes.may_apply(fragment) {
        return out.write_all(fragment.as_bytes());
    }
    let bytes = fragment.as_bytes();
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        let Some((escape, length)) = escapes.of(bytes, at) else {
            at += 1;
            continue;
        };
        out.write_all(&bytes[start..at])?;
        out.write_all(escape.as_bytes())?;
        at += length;
        start = at;
    }
    out.write_all(&bytes[start..])
}

/// Writes a string with its quotes.
pub(crate) fn write_string(out: &mut (impl Write + ?Sized), text: &str, escapes: Escapes) -> io::Result<()> {
    out.write_all(b"\"")?;
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0..=0x1f => "",
            _ => continue,
        };
        write_fragment(out, &text[start..at], escapes)?;
        if short.is_empty() {
            write!(out, "\\u{byte:04x}")?;
        } else {
            out.write_all(short.as_bytes())?;
        }
        start = at + 1;
    }
    write_fragment(out, &text[start..], escapes)?;
    out.write_all(b"\"")
}

/// Writes the JSON string that `token` is, with the escapes that Go would use. An escape that is half of a surrogate
/// pair stays as it is, because nothing else says it.
fn rewrite_string(out: &mut (impl Write + ?Sized), token: &str, escapes: Escapes) -> io::Result<()> {
    if !token.as_bytes().contains(&b'\\') {
        return write_fragment(out, token, escapes);
    }
    let (mut start, mut at) = (0, 0);
    while let Some(found) = token[at..].find('\\') {
        at += found;
        let Escape { length, character } = escape_at(token, at);
        let unicode = token.as_bytes().get(at + 1) == Some(&b'u');
        at += length;
        if let Some(character) = character
            && (unicode || character == '/')
        {
            write_fragment(out, &token[start..at - length], escapes)?;
            let mut quoted = Vec::new();
            write_string(&mut quoted, character.encode_utf8(&mut [0; 4]), escapes)?;
            out.write_all(&quoted[1..quoted.len() - 1])?;
            start = at;
        }
    }
    write_fragment(out, &token[start..], escapes)
}

/// Writes valid JSON text with the escapes that Go would use; everything else stays as it is.
fn rewrite(out: &mut (impl Write + ?Sized), json: &str, escapes: Escapes) -> io::Result<()> {
    let mut rest = json;
    while let Some(quote) = rest.find('"') {
        let (before, string) = rest.split_at(quote);
        let (token, after) = string.split_at(string_length(string));
        out.write_all(before.as_bytes())?;
        rewrite_string(out, token, escapes)?;
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// Writes valid JSON text over several lines, the first of which continues a line at `depth`.
fn rewrite_indented(out: &mut (impl Write + ?Sized), json: &str, mut depth: usize) -> io::Result<()> {
    let mut rest = json.trim_ascii_start();
    while let Some(&byte) = rest.as_bytes().first() {
        let length = match byte {
            b'"' => {
                let length = string_length(rest);
                rewrite_string(out, &rest[..length], Escapes::Plain)?;
                length
            }
            b'{' | b'[' => {
                let inside = rest[1..].trim_ascii_start();
                out.write_all(&[byte])?;
                if inside.starts_with(['}', ']']) {
                    out.write_all(&inside.as_bytes()[..1])?;
                    rest.len() - inside.len() + 1
                } else {
                    depth += 1;
                    new_line(out, depth)?;
                    1
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                new_line(out, depth)?;
                out.write_all(&[byte])?;
                1
            }
            b',' => {
                out.write_all(b",")?;
                new_line(out, depth)?;
                1
            }
            b':' => {
                out.write_all(b": ")?;
                1
            }
            _ => {
                let length = rest
                    .bytes()
                    .position(|byte| matches!(byte, b',' | b'}' | b']' | b':') || byte.is_ascii_whitespace())
                    .unwrap_or(rest.len());
                out.write_all(&rest.as_bytes()[..length])?;
                length
            }
        };
        rest = rest[length..].trim_ascii_start();
    }
    Ok(())
}

const INDENT: &str = "    ";
const LINE: &str = "\n                                                                                ";

fn new_line(out: &mut (impl Write + ?Sized), depth: usize) -> io::Result<()> {
    let width = depth * INDENT.len();
    match LINE.get(..=width) {
        Some(line) => out.write_all(line.as_bytes()),
        None => write!(out, "\n{:width$}", ""),
    }
}

/// Compact JSON. Stored text is written as it stands, unless more characters are to be escaped.
pub(super) struct Compact(pub(super) Escapes);

impl Formatter for Compact {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        write_fragment(writer, fragment, self.0)
    }

    fn write_raw_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        match self.0 {
            Escapes::Plain => CompactFormatter.write_raw_fragment(writer, fragment),
            Escapes::Html => rewrite(writer, fragment, self.0),
        }
    }
}

/// JSON with a line a member, moved in by four spaces a level, stored text included.
pub(super) struct Indented {
    inner: PrettyFormatter<'static>,
    depth: usize,
}

impl Indented {
    pub(super) fn new() -> Self {
        Self { inner: PrettyFormatter::with_indent(INDENT.as_bytes()), depth: 0 }
    }
}

impl Formatter for Indented {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.inner.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        self.inner.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.inner.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.inner.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        self.inner.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.inner.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_object_value(writer)
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        write_fragment(writer, fragment, Escapes::Plain)
    }

    fn write_raw_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        rewrite_indented(writer, fragment, self.depth)
    }
}

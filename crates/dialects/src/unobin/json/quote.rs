//! Texts in error messages, quoted as Go's `%q` and its JSON errors quote them.

use std::fmt::Write;

/// A text in double quotes.
pub(crate) fn text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            other => push(&mut quoted, other),
        }
    }
    quoted.push('"');
    quoted
}

/// A byte in single quotes, as the character of that number.
pub(super) fn byte(byte: u8) -> String {
    let mut quoted = String::from("'");
    match byte {
        b'\'' => quoted.push_str("\\'"),
        other => push(&mut quoted, other.into()),
    }
    quoted.push('\'');
    quoted
}

fn push(quoted: &mut String, character: char) {
    let number = u32::from(character);
    // Writing to a string cannot fail.
    let _ = match character {
        '\\' => quoted.write_str("\\\\"),
        '\u{7}' => quoted.write_str("\\a"),
        '\u{8}' => quoted.write_str("\\b"),
        '\u{c}' => quoted.write_str("\\f"),
        '\n' => quoted.write_str("\\n"),
        '\r' => quoted.write_str("\\r"),
        '\t' => quoted.write_str("\\t"),
        '\u{b}' => quoted.write_str("\\v"),
        _ if is_printable(character) => quoted.write_char(character),
        '\0'..='\u{7f}' => write!(quoted, "\\x{number:02x}"),
        _ if number > 0xffff => write!(quoted, "\\U{number:08x}"),
        _ => write!(quoted, "\\u{number:04x}"),
    };
}

/// Whether Go prints a character as it is. Unassigned ones are taken for printable: no table of them is worth it here.
fn is_printable(character: char) -> bool {
    let invisible = matches!(u32::from(character),
        0xad | 0x61c | 0x180e | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0xfeff | 0xfff9..=0xfffb
        | 0xe000..=0xf8ff | 0xe0000.. );
    character == ' ' || !(character.is_control() || character.is_whitespace() || invisible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_as_go_quotes_them() {
        assert_eq!(text("a\"\\\n\u{0}é\u{2028}\u{1f600}'"), r#""a\"\\\n\x00é\u2028😀'""#);
        assert_eq!(byte(b'\''), r"'\''");
        assert_eq!(byte(b'"'), "'\"'");
        assert_eq!(byte(0xef), "'ï'");
        assert_eq!(byte(0x80), r"'\u0080'");
        assert_eq!(byte(0x7f), r"'\x7f'");
    }
}

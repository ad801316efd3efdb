//! Texts and numbers as all these languages read them.

use std::fmt::Write;

/// A text in double quotes, on one line. What is not to be seen, or ends a line somewhere, is escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    for character in text.chars() {
        match character {
            '"' => written.push_str("\\\""),
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            hidden if hides(hidden) => {
                let _ = write!(written, "\\u{:04x}", u32::from(hidden));
            }
            seen => written.push(seen),
        }
    }
    written.push('"');
    written
}

/// Whether a character is a control, a line's end of some language, a byte order mark, or turns the direction of text.
fn hides(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
}

/// A text that fits on a line of comment.
pub(super) fn remark(text: &str) -> String {
    let plain = |character: char| if hides(character) { ' ' } else { character };
    text.chars().map(plain).collect()
}

/// Items on lines of their own, in brackets.
pub(super) fn block(
    items: impl ExactSizeIterator<Item = String>,
    depth: usize,
    [open, close]: [&str; 2],
) -> String {
    if items.len() == 0 {
        return format!("{open}{close}");
    }
    let pad = "    ".repeat(depth);
    let lines: String = items.map(|item| format!("{pad}    {item},\n")).collect();
    format!("{open}\n{lines}{pad}{close}")
}

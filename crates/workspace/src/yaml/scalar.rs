//! How a text is quoted, so that every reader gets it back and the stock CLI would have written it alike.

use super::node::Style;
use super::resolve;

/// Where a scalar stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Context {
    /// On its own behind a colon or a dash.
    Block,
    /// Between brackets.
    Flow,
    /// As the key of a block mapping.
    Key,
}

/// A written text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// On one line.
    Inline(String),
    /// An indicator, and lines that are indented below it.
    Lines { indicator: String, lines: Vec<String> },
}

/// Writes a text, in the style that it had before if that can hold it.
pub(crate) fn write(text: &str, had: Style, context: Context) -> Written {
    let shape = Shape::of(text);
    match had {
        Style::DoubleQuoted => return Written::Inline(double_quoted(text)),
        Style::SingleQuoted if shape.fits_single_quotes && !shape.breaks => {
            return Written::Inline(single_quoted(text));
        }
        Style::Literal if context == Context::Block && shape.fits_block => return literal(text, '|'),
        Style::Folded if context == Context::Block && shape.fits_block && !shape.breaks => {
            return literal(text, '>');
        }
        _ => {}
    }
    if shape.breaks {
        return if context == Context::Block && shape.fits_block {
            literal(text, '|')
        } else {
            Written::Inline(double_quoted(text))
        };
    }
    let fits_plain = if context == Context::Flow { shape.fits_flow_plain } else { shape.fits_plain };
    Written::Inline(if !resolve::is_plain_text(text) {
        double_quoted(text)
    } else if fits_plain {
        text.to_owned()
    } else if shape.fits_single_quotes {
        single_quoted(text)
    } else {
        double_quoted(text)
    })
}

/// Writes a text on one line.
pub(crate) fn inline(text: &str, context: Context) -> String {
    match write(text, Style::Plain, context) {
        Written::Inline(written) => written,
        Written::Lines { .. } => double_quoted(text),
    }
}

/// Which styles can hold a text. A block could hold more texts than are said to fit here, but the stock CLI does not
/// read all of those back that start with a line break or a tab.
struct Shape {
    breaks: bool,
    fits_plain: bool,
    fits_flow_plain: bool,
    fits_single_quotes: bool,
    fits_block: bool,
}

impl Shape {
    fn of(text: &str) -> Self {
        let breaks = text.contains('\n');
        let special = text.chars().any(|character| character != '\t' && !is_printable(character));
        let edged = text.starts_with([' ', '\n']) || text.ends_with([' ', '\n']);
        let tabs = text.contains('\t');
        let space_before_break = text.contains(" \n");
        let marker = text.starts_with("---") || text.starts_with("...");
        let plain = !text.is_empty() && !breaks && !special && !edged && !tabs && !marker;
        Self {
            breaks,
            fits_plain: plain && !has_indicator(text, false),
            fits_flow_plain: plain && !has_indicator(text, true),
            fits_single_quotes: !special && !tabs && !space_before_break && !text.contains("\n "),
            fits_block: !text.is_empty()
                && !special
                && !space_before_break
                && !text.ends_with(' ')
                && !text.starts_with(['\n', '\t']),
        }
    }
}

/// Whether a character would make something else of a plain text.
fn has_indicator(text: &str, flow: bool) -> bool {
    let mut before_is_blank = true;
    let mut characters = text.chars().peekable();
    let mut first = true;
    while let Some(character) = characters.next() {
        let blank_follows = characters.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
        let indicator = match character {
            '#' if first => true,
            ',' | '[' | ']' | '{' | '}' => first || flow,
            '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => first,
            '?' if first => flow || blank_follows,
            '?' => flow,
            ':' => flow || blank_follows,
            '-' if first => blank_follows,
            '#' => before_is_blank,
            _ => false,
        };
        if indicator {
            return true;
        }
        before_is_blank = matches!(character, ' ' | '\t');
        first = false;
    }
    false
}

/// Whether a character may stand unescaped. Characters beyond the basic plane may, but the stock CLI escapes them.
fn is_printable(character: char) -> bool {
    matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && character != '\u{feff}'
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn double_quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            _ if is_printable(character) => out.push(character),
            '\0' => out.push_str("\\0"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\u{1b}' => out.push_str("\\e"),
            '\u{85}' => out.push_str("\\N"),
            '\u{2028}' => out.push_str("\\L"),
            '\u{2029}' => out.push_str("\\P"),
            _ => out.push_str(&match u32::from(character) {
                code @ ..=0xff => format!("\\x{code:02X}"),
                code @ ..=0xffff => format!("\\u{code:04X}"),
                code => format!("\\U{code:08X}"),
            }),
        }
    }
    out.push('"');
    out
}

/// A block scalar. Its indentation is named when its first line would hide it.
fn literal(text: &str, indicator: char) -> Written {
    let mut header = String::from(indicator);
    if text.starts_with(' ') {
        header.push('2');
    }
    let body = match text.strip_suffix('\n') {
        None => {
            header.push('-');
            text
        }
        Some(body) if body.ends_with('\n') => {
            header.push('+');
            body
        }
        Some(body) => body,
    };
    Written::Lines { indicator: header, lines: body.split('\n').map(str::to_owned).collect() }
}

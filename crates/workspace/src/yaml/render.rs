//! Writing values as new text, indented by two, as the stock CLI writes them.

use super::node::Style;
use super::order;
use super::scalar::{self, Context, Written};
use crate::{Value, number};
use std::borrow::Cow;

/// The longest key that is written without a question mark.
const LONGEST_SIMPLE_KEY: usize = 128;

/// A value written behind a colon or a dash: what stands on that line, and the indented lines below it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rendered {
    pub(crate) head: String,
    pub(crate) lines: Vec<String>,
}

/// How values are laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Whether a text that ends with several line breaks may be a block. Blank lines behind such a block would become
    /// a part of it.
    pub(crate) open_ended: bool,
}

impl Layout {
    /// A value that belongs to a key or dash at `column`.
    pub(crate) fn value(self, value: &Value, had: Style, column: usize) -> Rendered {
        let inside = column + 2;
        match value {
            Value::String(text) => self.text(text, had, inside),
            Value::Array(items) if !items.is_empty() => Rendered {
                head: String::new(),
                lines: items.iter().flat_map(|item| self.item(item, inside)).collect(),
            },
            _ => match members(value) {
                Some(members) if !members.is_empty() => Rendered {
                    head: String::new(),
                    lines: members
                        .into_iter()
                        .flat_map(|(name, value)| self.entry(name, &value, inside))
                        .collect(),
                },
                _ => Rendered { head: flow(value), lines: Vec::new() },
            },
        }
    }

    fn text(self, text: &str, had: Style, inside: usize) -> Rendered {
        let had = if !self.open_ended && text.ends_with("\n\n") { Style::DoubleQuoted } else { had };
        match scalar::write(text, had, Context::Block) {
            Written::Inline(head) => Rendered { head, lines: Vec::new() },
            Written::Lines { indicator, lines } => Rendered {
                head: indicator,
                lines: lines
                    .into_iter()
                    .map(|line| if line.is_empty() { line } else { indented(inside, &line) })
                    .collect(),
            },
        }
    }

    /// The lines of a member of a block mapping whose keys are at `column`.
    pub(crate) fn entry(self, name: &str, value: &Value, column: usize) -> Vec<String> {
        let key = scalar::inline(name, Context::Key);
        let Rendered { head, lines } = self.value(value, Style::Plain, column);
        let space = if head.is_empty() { "" } else { " " };
        let mut out = if name.len() > LONGEST_SIMPLE_KEY {
            vec![indented(column, &format!("? {key}")), indented(column, &format!(":{space}{head}"))]
        } else {
            vec![indented(column, &format!("{key}:{space}{head}"))]
        };
        out.extend(lines);
        out
    }

    /// The lines of a member of a block sequence whose dashes are at `column`. A collection starts on the line of its
    /// dash.
    pub(crate) fn item(self, value: &Value, column: usize) -> Vec<String> {
        let Rendered { head, lines } = self.value(value, Style::Plain, column);
        if !head.is_empty() || lines.is_empty() {
            let mut out = vec![indented(column, &format!("- {head}"))];
            out.extend(lines);
            return out;
        }
        lines
            .into_iter()
            .enumerate()
            .map(|(index, line)| match index {
                0 => indented(column, &format!("- {}", line.trim_start_matches(' '))),
                _ => line,
            })
            .collect()
    }
}

/// A value on one line, collections between brackets.
pub(crate) fn flow(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => number::yaml(*value),
        Value::String(text) => scalar::inline(text, Context::Flow),
        Value::Array(items) => bracketed('[', items.iter().map(flow), ']'),
        Value::Secure(_) | Value::Object(_) => {
            let members = members(value).unwrap_or_default();
            bracketed('{', members.iter().map(|(name, value)| flow_entry(name, &flow(value))), '}')
        }
    }
}

/// A member of a flow mapping whose value is written already.
pub(crate) fn flow_entry(name: &str, value: &str) -> String {
    format!("{}: {value}", scalar::inline(name, Context::Flow))
}

/// Written parts between brackets.
pub(crate) fn bracketed(open: char, parts: impl Iterator<Item = String>, close: char) -> String {
    let parts: Vec<String> = parts.collect();
    format!("{open}{}{close}", parts.join(", "))
}

/// The members of a value that is written as a mapping, sorted.
pub(crate) fn members(value: &Value) -> Option<Vec<(&str, Cow<'_, Value>)>> {
    match value {
        Value::Secure(ciphertext) => Some(vec![("secure", Cow::Owned(Value::String(ciphertext.clone())))]),
        Value::Object(members) => Some(order::sort(
            members.iter().map(|(name, value)| (name.as_str(), Cow::Borrowed(value))).collect(),
        )),
        _ => None,
    }
}

fn indented(column: usize, line: &str) -> String {
    format!("{:column$}{line}", "")
}

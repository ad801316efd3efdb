//! Objects with fields that are known by name.

use super::expression::{self, Form};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::suggest;
use crate::syntax::{Kind, Node, Text};

/// An object with known fields.
pub(super) struct Record<'a> {
    fields: Vec<(&'static str, &'a Node)>,
}

/// Whether fields that are not known are told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    Warn,
    Ignore,
}

impl<'a> Record<'a> {
    /// Reads an object; fields that are not known are told of.
    pub(super) fn read(
        name: &str,
        node: &'a Node,
        known: &[&'static str],
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        Self::read_with(name, node, known, Others::Warn, diagnostics)
    }

    pub(super) fn read_with(
        name: &str,
        node: &'a Node,
        known: &[&'static str],
        others: Others,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let Kind::Map(entries) = &node.kind else {
            diagnostics.error(node.span, format!("{name} must be an object, not {}", node.describe()));
            return None;
        };
        let mut fields = Vec::new();
        for entry in entries {
            match known.iter().find(|field| field.eq_ignore_ascii_case(&entry.key.value)) {
                Some(field) => {
                    casing(&entry.key, field, diagnostics);
                    fields.push((*field, &entry.value));
                }
                None if others == Others::Ignore => {}
                None => {
                    let key = entry.key.as_str();
                    let summary = format!("Field '{key}' does not exist on Object '{name}'");
                    let detail = suggest::hint(key, "fields", known.iter().copied());
                    diagnostics.push(Diagnostic::warning(entry.key.span, summary).detail(detail));
                }
            }
        }
        Some(Self { fields })
    }

    /// The value of a field; the last, when it is written in several cases.
    pub(super) fn get(&self, name: &str) -> Option<&'a Node> {
        self.fields.iter().rev().find(|(field, _)| *field == name).map(|(_, node)| *node)
    }
}

/// Says that a name is written in another case.
pub(super) fn casing(found: &Text, expected: &str, diagnostics: &mut Diagnostics) {
    if found.as_str() != expected {
        let summary = format!("'{}' looks like a miscapitalization of '{expected}'", found.value);
        diagnostics.push(Diagnostic::warning(found.span, summary));
    }
}

/// A field that must be a text without values in it.
pub(super) fn text(name: &str, node: &Node, diagnostics: &mut Diagnostics) -> Option<Text> {
    let value = expression::read(node, diagnostics);
    if let Form::String(text) = &value.form {
        return Some(Text { value: text.clone(), span: node.span });
    }
    let what = match &node.kind {
        Kind::String(_) => "a string with values in it",
        _ => node.describe(),
    };
    diagnostics.error(node.span, format!("{name} must be a string, not {what}"));
    None
}

/// A field that must be true or false.
pub(super) fn boolean(name: &str, node: &Node, diagnostics: &mut Diagnostics) -> Option<bool> {
    if let Kind::Bool(value) = node.kind {
        return Some(value);
    }
    diagnostics.error(node.span, format!("{name} must be a boolean value, not {}", node.describe()));
    None
}

/// A field that must be a list of texts.
pub(super) fn texts(name: &str, node: &Node, diagnostics: &mut Diagnostics) -> Option<Vec<Text>> {
    let Kind::List(items) = &node.kind else {
        diagnostics.error(node.span, format!("{name} must be a list, not {}", node.describe()));
        return None;
    };
    let read = items.iter().enumerate().map(|(at, item)| text(&format!("{name}[{at}]"), item, diagnostics));
    let read: Vec<Option<Text>> = read.collect();
    read.into_iter().collect()
}

//! Values as programs write them.

use super::access::{self, Access, Part};
use super::functions::{self, Function};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::syntax::{Entry, Kind, Node, Span};
use std::sync::Arc;

/// An expression that several may hold.
pub type Shared = Arc<Expression>;

/// A value as a program writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// Its place.
    pub span: Span,
    /// What it is.
    pub form: Form,
}

/// The kinds of expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A text without anything in it to be looked up.
    String(Arc<str>),
    /// A text with values in it.
    Interpolate(Vec<Part>),
    /// A value that is looked up and keeps its kind.
    Symbol(Access),
    /// A list.
    List(Vec<Shared>),
    /// Named values; names may be looked up too.
    Object(Vec<(Shared, Shared)>),
    /// A function of the language or of a provider.
    Call(Box<Function>),
}

impl Expression {
    /// An expression at a place.
    pub(crate) fn new(span: Span, form: Form) -> Shared {
        Arc::new(Self { span, form })
    }

    /// The text, when it is nothing but a text.
    #[must_use]
    pub fn as_str(&self) -> Option<&Arc<str>> {
        if let Form::String(text) = &self.form { Some(text) } else { None }
    }

    /// The word for what it is, for messages.
    #[must_use]
    pub fn describe(&self) -> &'static str {
        match &self.form {
            Form::Null => "null",
            Form::Bool(_) => "a boolean",
            Form::Number(_) => "a number",
            Form::String(_) => "a string",
            Form::Interpolate(_) => "a string with values in it",
            Form::Symbol(_) => "a value that is looked up",
            Form::List(_) => "a list",
            Form::Object(_) => "an object",
            Form::Call(_) => "a function",
        }
    }

    /// Calls `visitor` with every way into a value that it holds, in order.
    pub(crate) fn accesses<'a>(&'a self, visitor: &mut impl FnMut(&'a Access, Span)) {
        match &self.form {
            Form::Null | Form::Bool(_) | Form::Number(_) | Form::String(_) => {}
            Form::Interpolate(parts) => {
                for access in parts.iter().filter_map(|part| part.access.as_ref()) {
                    visitor(access, self.span);
                }
            }
            Form::Symbol(access) => visitor(access, self.span),
            Form::List(items) => items.iter().for_each(|item| item.accesses(visitor)),
            Form::Object(entries) => {
                for (key, value) in entries {
                    key.accesses(visitor);
                    value.accesses(visitor);
                }
            }
            Form::Call(function) => {
                for argument in function.arguments() {
                    argument.accesses(visitor);
                }
            }
        }
    }
}

/// Reads an expression. What is wrong with it is told, and stands for nothing.
pub(super) fn read(node: &Node, diagnostics: &mut Diagnostics) -> Shared {
    let form = match &node.kind {
        Kind::Null => Form::Null,
        Kind::Bool(value) => Form::Bool(*value),
        Kind::Number(value) => Form::Number(*value),
        Kind::String(text) => self::text(text, node.span, diagnostics),
        Kind::List(items) => Form::List(items.iter().map(|item| read(item, diagnostics)).collect()),
        Kind::Map(entries) => match functions::read(node, entries, diagnostics) {
            Some(function) => Form::Call(Box::new(function)),
            None => object(entries, diagnostics),
        },
    };
    Expression::new(node.span, form)
}

fn object(entries: &[Entry], diagnostics: &mut Diagnostics) -> Form {
    let read = |entry: &Entry| {
        let key = self::text(&entry.key.value, entry.key.span, diagnostics);
        (Expression::new(entry.key.span, key), read(&entry.value, diagnostics))
    };
    Form::Object(entries.iter().map(read).collect())
}

/// Reads a text, in which values may be looked up.
pub(super) fn text(text: &Arc<str>, span: Span, diagnostics: &mut Diagnostics) -> Form {
    if !text.contains('$') {
        return Form::String(Arc::clone(text));
    }
    let parts = access::interpolate(text).unwrap_or_else(|problem| {
        diagnostics.push(
            Diagnostic::error(span, problem)
                .detail("`${name}` looks a value up; write `$$` for a dollar sign"),
        );
        Vec::new()
    });
    let mut parts = parts;
    match parts.as_mut_slice() {
        [] => Form::String("".into()),
        [Part { text, access: None }] => Form::String(std::mem::take(text).into()),
        [Part { text, access: access @ Some(_) }] if text.is_empty() => match access.take() {
            Some(access) => Form::Symbol(access),
            None => Form::Null,
        },
        _ => Form::Interpolate(parts),
    }
}

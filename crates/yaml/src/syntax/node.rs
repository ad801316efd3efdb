//! The tree of a text.

use std::sync::Arc;

/// Where something stands: its first character, and how many characters of that line it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The line, counted from one; 0 when the place is not known.
    pub line: u32,
    /// The character of the line, counted from one.
    pub column: u32,
    /// How many characters it takes on its first line.
    pub length: u32,
}

impl Span {
    /// Whether the place is known.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.line > 0
    }
}

/// A text with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The text.
    pub value: Arc<str>,
    /// Its place.
    pub span: Span,
}

impl Text {
    /// A text that stands nowhere.
    #[must_use]
    pub fn unplaced(value: &str) -> Self {
        Self { value: value.into(), span: Span::default() }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.value
    }
}

/// A value of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its place.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A text.
    String(Arc<str>),
    /// A list.
    List(Vec<Node>),
    /// Named values in their order.
    Map(Vec<Entry>),
}

/// A named value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its name.
    pub key: Text,
    /// The value.
    pub value: Node,
}

impl Node {
    /// The named values, when it has any.
    #[must_use]
    pub fn entries(&self) -> Option<&[Entry]> {
        if let Kind::Map(entries) = &self.kind { Some(entries) } else { None }
    }

    /// The word for what it is, for messages.
    #[must_use]
    pub fn describe(&self) -> &'static str {
        match &self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) => "a number",
            Kind::String(_) => "a string",
            Kind::List(_) => "a list",
            Kind::Map(_) => "an object",
        }
    }
}

//! Building the tree of a text from the parser's events.

use super::node::{Entry, Kind, Node, Span, Text};
use crate::diagnostics::Diagnostic;
use drystone_workspace::{Value, plain_scalar};
use saphyr_parser::{Event, Parser, ScalarStyle, Span as Seen, StrInput, Tag};
use std::collections::HashMap;
use std::sync::Arc;

/// How deep values may nest.
pub const MAX_DEPTH: usize = 100;
/// How many bytes a text may have.
pub const LONGEST_TEXT: usize = 64 << 20;

/// Reads the first document of a text. The first fault ends it.
pub fn parse(text: &str) -> Result<Node, Diagnostic> {
    if text.len() > LONGEST_TEXT {
        let summary = format!("the file is longer than {} MiB", LONGEST_TEXT >> 20);
        return Err(Diagnostic::error(Span::default(), summary));
    }
    let mut builder = Builder { events: Parser::new_from_str(text) };
    loop {
        let (event, _) = builder.next()?;
        match event {
            Event::StreamStart | Event::Nothing => {}
            Event::DocumentStart(_) => {
                let (event, seen) = builder.next()?;
                let root = builder.node(event, seen, 0)?;
                // What follows the document is read too, so that a fault there is not passed over.
                builder.next()?;
                return Ok(root);
            }
            _ => return Err(Diagnostic::error(Span::default(), "the file is empty")),
        }
    }
}

struct Builder<'a> {
    events: Parser<'a, StrInput<'a>>,
}

impl<'a> Builder<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Seen), Diagnostic> {
        match self.events.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let mark = error.marker();
                let span = Span { line: number(mark.line()), column: number(mark.col() + 1), length: 1 };
                Err(Diagnostic::error(span, format!("the file is not valid YAML: {}", error.info())))
            }
            None => Ok((Event::StreamEnd, Seen::default())),
        }
    }

    fn node(&mut self, event: Event<'a>, seen: Seen, depth: usize) -> Result<Node, Diagnostic> {
        let span = span(seen);
        if depth > MAX_DEPTH {
            return Err(Diagnostic::error(span, format!("values nest deeper than {MAX_DEPTH} levels")));
        }
        let kind = match event {
            Event::Scalar(text, style, _, tag) => scalar(&text, style, tag.as_deref(), span)?,
            Event::SequenceStart(..) => self.list(depth)?,
            Event::MappingStart(..) => self.map(depth)?,
            Event::Alias(_) => {
                return Err(Diagnostic::error(span, "alias nodes are not supported")
                    .detail("write the value out, or give it a name under `variables`"));
            }
            _ => return Err(Diagnostic::error(span, "a value is missing")),
        };
        Ok(Node { span, kind })
    }

    fn list(&mut self, depth: usize) -> Result<Kind, Diagnostic> {
        let mut items = Vec::new();
        loop {
            let (event, seen) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(Kind::List(items));
            }
            items.push(self.node(event, seen, depth + 1)?);
        }
    }

    fn map(&mut self, depth: usize) -> Result<Kind, Diagnostic> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut given = Given::default();
        loop {
            let (event, seen) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(Kind::Map(entries));
            }
            let key = self.node(event, seen, depth + 1)?;
            let Kind::String(name) = key.kind else {
                return Err(Diagnostic::error(
                    key.span,
                    format!("mapping keys must be strings, not {}", key.describe()),
                )
                .detail("put the key in quotes"));
            };
            if let Some(line) = given.before(&name, key.span.line, &entries) {
                let summary = format!("the key `{name}` was already given on line {line}");
                return Err(Diagnostic::error(key.span, summary));
            }
            let (event, seen) = self.next()?;
            let value = self.node(event, seen, depth + 1)?;
            entries.push(Entry { key: Text { value: name, span: key.span }, value });
        }
    }
}

/// The keys of a mapping that were given, for the line of one that is given again. Small mappings are looked through.
#[derive(Default)]
struct Given(HashMap<Arc<str>, u32>);

impl Given {
    const SMALL: usize = 16;

    fn before(&mut self, name: &Arc<str>, line: u32, entries: &[Entry]) -> Option<u32> {
        if entries.len() < Self::SMALL {
            return entries.iter().find(|entry| entry.key.value == *name).map(|entry| entry.key.span.line);
        }
        if self.0.is_empty() {
            self.0.extend(entries.iter().map(|entry| (Arc::clone(&entry.key.value), entry.key.span.line)));
        }
        self.0.insert(Arc::clone(name), line)
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Result<Kind, Diagnostic> {
    let string = || Ok(Kind::String(text.into()));
    let Some(tag) = tag.filter(|tag| tag.is_yaml_core_schema()) else {
        return if style == ScalarStyle::Plain && tag.is_none() { Ok(plain(text)) } else { string() };
    };
    let resolved = plain(text);
    match (tag.suffix.as_str(), resolved) {
        ("null", kind @ Kind::Null) | ("bool", kind @ Kind::Bool(_)) => Ok(kind),
        ("int" | "float", kind @ Kind::Number(_)) => Ok(kind),
        ("null" | "bool" | "int" | "float", _) => {
            Err(Diagnostic::error(span, format!("`{text}` is not a {}", tag.suffix)))
        }
        _ => string(),
    }
}

/// What an unquoted scalar means. Moments of time are texts, as they are written.
fn plain(text: &str) -> Kind {
    match plain_scalar(text) {
        Value::Null => Kind::Null,
        Value::Bool(value) => Kind::Bool(value),
        #[expect(clippy::cast_precision_loss, reason = "numbers of the language are floating-point numbers")]
        Value::Integer(value) => Kind::Number(value as f64),
        Value::Float(value) => Kind::Number(value),
        _ => Kind::String(text.into()),
    }
}

fn span(seen: Seen) -> Span {
    let length = if seen.start.line() == seen.end.line() {
        number(seen.end.col().saturating_sub(seen.start.col()))
    } else {
        1
    };
    Span { line: number(seen.start.line()), column: number(seen.start.col() + 1), length: length.max(1) }
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

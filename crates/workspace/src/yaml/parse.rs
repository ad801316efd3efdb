//! Building the tree of a document from the parser's events.

use super::node::{Document, Entry, Item, Kind, Location, Node, Range, Style};
use super::{locate, resolve};
use crate::Value;
use base64::Engine;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};
use std::collections::{BTreeMap, HashMap};

/// How deep values may nest.
const MAX_DEPTH: usize = 128;
/// How many values aliases may add to a document.
const MAX_EXPANSION: usize = 100_000;

/// Why a text is not a document that can be worked with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub(crate) struct ParseError {
    pub(crate) location: Location,
    pub(crate) problem: String,
}

impl Document {
    /// Reads the first document of a text; a text without one is an empty document.
    pub(crate) fn parse(text: &str) -> Result<Self, ParseError> {
        let mut builder = Builder {
            events: Parser::new_from_str(text),
            offsets: Offsets::of(text),
            text,
            anchors: HashMap::new(),
            expanded: 0,
        };
        let mut start = 0;
        let mut root = None;
        while root.is_none() {
            let (event, span) = builder.next()?;
            match event {
                Event::StreamStart | Event::Nothing => {}
                Event::DocumentStart(_) => {
                    start = builder.offsets.byte(span.end.index());
                    let (event, span) = builder.next()?;
                    root = Some(builder.node(event, span, 0)?);
                    builder.next()?;
                }
                _ => root = Some(Node::of(Value::Null)),
            }
        }
        let mut root = root.unwrap_or_else(|| Node::of(Value::Null));
        locate::root(&mut root, text, start);
        Ok(Self { text: text.to_owned(), root })
    }
}

impl ParseError {
    /// What the JSON reader says.
    pub(crate) fn json(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let problem = text.split(" at line ").next().unwrap_or(&text).to_owned();
        Self { location: Location { line: error.line().max(1), column: error.column().max(1) }, problem }
    }
}

/// Byte offsets of characters.
struct Offsets(Option<Vec<usize>>);

impl Offsets {
    fn of(text: &str) -> Self {
        if text.is_ascii() {
            return Self(None);
        }
        let mut offsets: Vec<usize> = text.char_indices().map(|(offset, _)| offset).collect();
        offsets.push(text.len());
        Self(Some(offsets))
    }

    fn byte(&self, character: usize) -> usize {
        match &self.0 {
            None => character,
            Some(offsets) => offsets.get(character).or(offsets.last()).copied().unwrap_or_default(),
        }
    }
}

struct Builder<'a> {
    events: Parser<'a, StrInput<'a>>,
    offsets: Offsets,
    text: &'a str,
    anchors: HashMap<usize, Value>,
    expanded: usize,
}

impl<'a> Builder<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), ParseError> {
        match self.events.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(scan_error(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, ParseError> {
        let location = location(span);
        if depth > MAX_DEPTH {
            return Err(ParseError {
                location,
                problem: format!("values nest deeper than {MAX_DEPTH} levels"),
            });
        }
        let seen =
            Range { start: self.offsets.byte(span.start.index()), end: self.offsets.byte(span.end.index()) };
        let mut node = Node { location, seen, ..Node::of(Value::Null) };
        let anchor = match event {
            Event::Alias(anchor) => {
                node.kind = Kind::Alias;
                node.value = self.expand(anchor, location)?;
                node.shared = true;
                return Ok(node);
            }
            Event::Scalar(text, style, anchor, tag) => {
                let style = style_of(style);
                node.value = scalar(&text, style, tag.as_deref(), location)?;
                node.kind = Kind::Scalar(style);
                node.decorated = tag.is_some();
                anchor
            }
            Event::SequenceStart(anchor, tag) => {
                node.decorated = tag.is_some();
                self.sequence(&mut node, depth)?;
                anchor
            }
            Event::MappingStart(anchor, tag) => {
                node.decorated = tag.is_some();
                self.mapping(&mut node, depth)?;
                anchor
            }
            _ => return Err(ParseError { location, problem: "a value is missing".to_owned() }),
        };
        if anchor > 0 {
            node.decorated = true;
            node.shared = true;
            self.anchors.insert(anchor, node.value.clone());
        }
        Ok(node)
    }

    fn sequence(&mut self, node: &mut Node, depth: usize) -> Result<(), ParseError> {
        let flow = self.text[..node.seen.end].ends_with('[');
        let mut items = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                node.seen.end = self.offsets.byte(span.start.index());
                break;
            }
            let value = self.node(event, span, depth + 1)?;
            node.shared |= value.shared;
            items.push(Item { dash: None, value });
        }
        node.value = Value::Array(items.iter().map(|item| item.value.value.clone()).collect());
        node.kind = Kind::Sequence { flow, items };
        Ok(())
    }

    fn mapping(&mut self, node: &mut Node, depth: usize) -> Result<(), ParseError> {
        let flow = self.text[..node.seen.end].ends_with('{');
        let mut entries: Vec<Entry> = Vec::new();
        let mut lines: HashMap<String, usize> = HashMap::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                node.seen.end = self.offsets.byte(span.start.index());
                break;
            }
            let merge = matches!(&event, Event::Scalar(text, ScalarStyle::Plain, _, None) if text == "<<");
            let key = self.node(event, span, depth + 1)?;
            let Some(name) = key_text(&key) else {
                let problem = "a key must be a text, not a list or a mapping".to_owned();
                return Err(ParseError { location: key.location, problem });
            };
            if !merge && let Some(line) = lines.insert(name.clone(), key.location.line) {
                let problem = format!("the key `{name}` was already given on line {line}");
                return Err(ParseError { location: key.location, problem });
            }
            let (event, span) = self.next()?;
            let value = self.node(event, span, depth + 1)?;
            node.shared |= value.shared || key.shared;
            entries.push(Entry {
                key: name,
                key_location: key.location,
                merge,
                key_range: locate::key(&key, self.text),
                colon: None,
                value,
            });
        }
        node.value = Value::object(members(&entries)?);
        node.kind = Kind::Mapping { flow, entries };
        Ok(())
    }

    /// The value behind an alias, counted so that a small text cannot stand for an enormous value.
    fn expand(&mut self, anchor: usize, location: Location) -> Result<Value, ParseError> {
        let value = self.anchors.get(&anchor).cloned().ok_or_else(|| ParseError {
            location,
            problem: "the alias stands inside of the value that it names".to_owned(),
        })?;
        self.expanded += size(&value);
        if self.expanded > MAX_EXPANSION {
            let problem = format!("aliases stand for more than {MAX_EXPANSION} values");
            return Err(ParseError { location, problem });
        }
        Ok(value)
    }
}

/// The members of a mapping: its own, then those that merges bring in.
fn members(entries: &[Entry]) -> Result<BTreeMap<String, Value>, ParseError> {
    let own = entries.iter().filter(|entry| !entry.merge);
    let mut members: BTreeMap<String, Value> =
        own.map(|entry| (entry.key.clone(), entry.value.value.clone())).collect();
    for entry in entries.iter().filter(|entry| entry.merge) {
        let sources = match &entry.value.value {
            Value::Array(sources) => sources.iter().collect(),
            source => vec![source],
        };
        for source in sources {
            match source {
                Value::Object(more) => {
                    for (name, value) in more {
                        members.entry(name.clone()).or_insert_with(|| value.clone());
                    }
                }
                Value::Secure(ciphertext) => {
                    members.entry("secure".to_owned()).or_insert_with(|| Value::String(ciphertext.clone()));
                }
                _ => {
                    let problem = "`<<` takes a mapping or a list of mappings".to_owned();
                    return Err(ParseError { location: entry.value.location, problem });
                }
            }
        }
    }
    Ok(members)
}

fn key_text(key: &Node) -> Option<String> {
    match &key.value {
        Value::Array(_) | Value::Object(_) | Value::Secure(_) => None,
        value => Some(value.text(&mut |_| "".into())),
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

fn scalar(text: &str, style: Style, tag: Option<&Tag>, location: Location) -> Result<Value, ParseError> {
    let Some(tag) = tag else {
        return Ok(match style {
            Style::Plain => resolve::plain(text),
            _ => Value::String(text.to_owned()),
        });
    };
    let wrong = || ParseError { location, problem: format!("`{text}` is not a {}", tag.suffix) };
    if !tag.is_yaml_core_schema() {
        return Ok(Value::String(text.to_owned()));
    }
    let resolved = resolve::plain(text);
    match (tag.suffix.as_str(), resolved) {
        ("binary", _) => {
            let packed: String = text.split_ascii_whitespace().collect();
            let bytes = base64::engine::general_purpose::STANDARD.decode(packed).map_err(|_| wrong())?;
            String::from_utf8(bytes).map(Value::String).map_err(|_| ParseError {
                location,
                problem: "binary data that is not text cannot be a setting".to_owned(),
            })
        }
        ("float", Value::Integer(value)) => Ok(Value::Float(value as f64)),
        ("null", value @ Value::Null)
        | ("bool", value @ Value::Bool(_))
        | ("int", value @ Value::Integer(_))
        | ("float", value @ Value::Float(_))
        | ("timestamp", value @ Value::String(_)) => Ok(value),
        ("null" | "bool" | "int" | "float" | "timestamp", _) => Err(wrong()),
        _ => Ok(Value::String(text.to_owned())),
    }
}

fn style_of(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted => Style::SingleQuoted,
        ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
        ScalarStyle::Literal => Style::Literal,
        ScalarStyle::Folded => Style::Folded,
    }
}

fn location(span: Span) -> Location {
    Location { line: span.start.line().max(1), column: span.start.col() + 1 }
}

fn scan_error(error: &ScanError) -> ParseError {
    let mark = error.marker();
    ParseError {
        location: Location { line: mark.line().max(1), column: mark.col() + 1 },
        problem: error.info().to_owned(),
    }
}

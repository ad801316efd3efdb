//! Changing a document by replacing only the text of what changes.
//!
//! Comments, order, quoting and blank lines elsewhere stay byte for byte. Whatever way an edit takes, the new text is
//! parsed again and must mean exactly what was asked for; otherwise the next, coarser way is tried, and at last the
//! edit is refused. So an edit never corrupts a document.

mod block;
mod flow;

use super::locate::line_end;
use super::node::{Document, Kind, Location, Node, Style};
use super::render::{self, Layout};
use crate::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a part of a document is to become.
#[derive(Debug, Clone)]
pub(crate) enum Target<'a> {
    /// What it is.
    Keep,
    /// This value.
    Value(Cow<'a, Value>),
    /// A mapping of these members; those that are new are added in this order.
    Mapping(Vec<(String, Target<'a>)>),
}

/// Why a document was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the change cannot be written without disturbing the rest of the file")]
pub(crate) struct EditError {
    /// The first part that stood in the way, when it is known.
    pub(crate) location: Option<Location>,
}

/// How much of a document an edit may write anew, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The smallest parts that change.
    Smallest,
    /// The same, without blocks that take in the blank lines behind them, and with the blank lines behind what goes.
    Closed,
    /// Each changed value of a section as a whole.
    WholeValues,
    /// Those, and every value that an anchor or an alias ties to others.
    Untied,
}

/// The text of a document whose root mapping has become what `members` say.
pub(crate) fn edit(document: &Document, members: &[(String, Target<'_>)]) -> Result<String, EditError> {
    let root = Target::Mapping(members.to_vec());
    let wanted = outcome(&document.root.value, &root);
    let mut text = document.text.clone();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(line_break(&text));
    }
    let mut obstacle = None;
    for way in [Way::Smallest, Way::Closed, Way::WholeValues, Way::Untied] {
        let mut editor = Editor { newline: line_break(&text), text: &text, way, changes: Vec::new() };
        match editor.root(&document.root, members) {
            Ok(()) => {
                let mut edited = editor.apply();
                if members.is_empty() && edited.trim().is_empty() {
                    edited = format!("{{}}{}", line_break(&text));
                }
                if Document::parse(&edited).is_ok_and(|edited| means(&edited.root.value, &wanted)) {
                    return Ok(edited);
                }
            }
            Err(Stuck(location)) => obstacle = obstacle.or(Some(location)),
        }
    }
    Err(EditError { location: obstacle })
}

/// What a value becomes.
fn outcome(value: &Value, target: &Target<'_>) -> Value {
    match target {
        Target::Keep => value.clone(),
        Target::Value(value) => value.as_ref().clone(),
        Target::Mapping(members) => {
            let before = value.members();
            let member = |name: &str| before.as_ref().and_then(|members| members.get(name));
            let outcomes: BTreeMap<String, Value> = members
                .iter()
                .map(|(name, target)| (name.clone(), outcome(member(name).unwrap_or(&Value::Null), target)))
                .collect();
            Value::object(outcomes)
        }
    }
}

/// Whether two values mean the same; a document does not tell a whole float from an integer, nor comments alone from
/// an empty mapping.
fn means(document: &Value, wanted: &Value) -> bool {
    match (document, wanted) {
        (Value::Null, Value::Object(members)) if members.is_empty() => true,
        _ => same(document, wanted),
    }
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Integer(a), Value::Float(b)) | (Value::Float(b), Value::Integer(a)) => *a as f64 == *b,
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|((a_name, a), (b_name, b))| a_name == b_name && same(a, b))
        }
        _ => a == b,
    }
}

fn line_break(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// A part that could not be found or changed where it stands.
struct Stuck(Location);

/// Where a value stands: behind a colon or a dash.
#[derive(Clone, Copy)]
struct Slot {
    /// The offset behind the colon or dash.
    after: usize,
    /// The column of the key or dash.
    column: usize,
    is_item: bool,
}

struct Editor<'a> {
    text: &'a str,
    newline: &'static str,
    way: Way,
    /// Ranges and what takes their place, in the order in which they were found.
    changes: Vec<(std::ops::Range<usize>, String)>,
}

impl Editor<'_> {
    fn root(&mut self, root: &Node, members: &[(String, Target<'_>)]) -> Result<(), Stuck> {
        match &root.kind {
            Kind::Mapping { flow: false, entries } => self.mapping(None, root, entries, members, 0),
            Kind::Mapping { entries, .. } if entries.is_empty() => {
                let range = root.range.ok_or(Stuck(root.location))?;
                let text = self.joined(self.new_lines(members).into_iter());
                self.changes.push((range.start..range.end, text.trim_end().to_owned()));
                Ok(())
            }
            Kind::Mapping { .. } => {
                let value = outcome(&root.value, &Target::Mapping(members.to_vec()));
                self.flow(root, &value)
            }
            _ if root.value == Value::Null => {
                let at = self.text.len();
                self.changes.push((at..at, self.joined(self.new_lines(members).into_iter())));
                Ok(())
            }
            _ => Err(Stuck(root.location)),
        }
    }

    /// Turns the value of a slot into what its target says.
    fn node(&mut self, slot: Slot, node: &Node, target: &Target<'_>, depth: usize) -> Result<(), Stuck> {
        let untie = self.way == Way::Untied && depth == 2 && node.shared;
        let value = match target {
            Target::Keep if untie => Cow::Borrowed(&node.value),
            Target::Keep => return Ok(()),
            Target::Value(value) if !untie && **value == node.value => return Ok(()),
            Target::Value(value) => Cow::Borrowed(value.as_ref()),
            Target::Mapping(_) => Cow::Owned(outcome(&node.value, target)),
        };
        if depth == 2 && matches!(self.way, Way::WholeValues | Way::Untied) {
            return self.replace(slot, node, &value);
        }
        let mark = self.changes.len();
        let inside = match (&node.kind, target) {
            (Kind::Mapping { flow: false, entries }, Target::Mapping(members)) => {
                self.mapping(Some(slot), node, entries, members, depth)
            }
            (Kind::Mapping { flow: false, entries }, _) => match render::members(&value) {
                Some(members) => {
                    let members: Vec<(String, Target<'_>)> = members
                        .into_iter()
                        .map(|(name, value)| (name.to_owned(), Target::Value(value)))
                        .collect();
                    self.mapping(Some(slot), node, entries, &members, depth)
                }
                None => Err(Stuck(node.location)),
            },
            (Kind::Sequence { flow: false, items }, _) => match value.as_ref() {
                Value::Array(values) => self.sequence(node, items, values, depth),
                _ => Err(Stuck(node.location)),
            },
            (Kind::Mapping { .. } | Kind::Sequence { .. }, _) => self.flow(node, &value),
            (Kind::Scalar(_) | Kind::Alias, _) => Err(Stuck(node.location)),
        };
        inside.or_else(|_| {
            self.changes.truncate(mark);
            self.replace(slot, node, &value)
        })
    }

    /// Writes the whole value of a slot anew, and keeps the comment on the slot's line.
    fn replace(&mut self, slot: Slot, node: &Node, value: &Value) -> Result<(), Stuck> {
        let range = node.range.ok_or(Stuck(node.location))?;
        let had = match node.kind {
            Kind::Scalar(style) => style,
            _ => Style::Plain,
        };
        let mut rendered = self.layout().value(value, had, slot.column);
        if slot.is_item && rendered.head.is_empty() && !rendered.lines.is_empty() {
            rendered.head = rendered.lines.remove(0).trim_start_matches(' ').to_owned();
        }
        let slot_line_end = line_end(self.text, slot.after);
        let starts_here = range.start <= slot_line_end;
        let mut end = range.end;
        let rest = &self.text[range.end..line_end(self.text, range.end)];
        let mut comment = "";
        match node.kind {
            Kind::Mapping { flow: false, .. } | Kind::Sequence { flow: false, .. } => {
                end += rest.len();
                comment = if starts_here { "" } else { comment_of(&self.text[slot.after..slot_line_end]) };
            }
            Kind::Scalar(Style::Literal | Style::Folded) => {
                comment = comment_of(&self.text[range.start..line_end(self.text, range.start)]);
            }
            _ if !rest.trim().is_empty() && !rest.trim_start().starts_with('#') => {
                return Err(Stuck(node.location));
            }
            _ => {
                if !starts_here {
                    comment = comment_of(&self.text[slot.after..slot_line_end]);
                }
                if !rendered.lines.is_empty() && comment.is_empty() {
                    end += rest.len();
                    comment = rest.trim();
                }
            }
        }
        let keeps_spacing =
            starts_here && !node.decorated && range.start > slot.after && !rendered.head.is_empty();
        let start = if keeps_spacing { range.start } else { slot.after };
        let mut text = String::new();
        if !keeps_spacing && !rendered.head.is_empty() {
            text.push(' ');
        }
        text.push_str(&rendered.head);
        if !comment.is_empty() {
            text.push(' ');
            text.push_str(comment);
        }
        for line in &rendered.lines {
            text.push_str(self.newline);
            text.push_str(line);
        }
        self.changes.push((start..end, text));
        Ok(())
    }

    fn layout(&self) -> Layout {
        Layout { open_ended: self.way == Way::Smallest }
    }

    /// The lines of members that are not in a document yet.
    fn new_lines(&self, members: &[(String, Target<'_>)]) -> Vec<String> {
        let entry = |(name, target): &(String, Target<'_>)| {
            self.layout().entry(name, &outcome(&Value::Null, target), 0)
        };
        members.iter().flat_map(entry).collect()
    }

    fn joined(&self, lines: impl Iterator<Item = String>) -> String {
        lines.fold(String::new(), |mut text, line| {
            text.push_str(&line);
            text.push_str(self.newline);
            text
        })
    }

    fn apply(mut self) -> String {
        self.changes.sort_by_key(|(range, _)| range.start);
        let mut out = String::with_capacity(self.text.len());
        let mut at = 0;
        for (range, text) in &self.changes {
            out.push_str(&self.text[at.min(range.start)..range.start]);
            out.push_str(text);
            at = at.max(range.end);
        }
        out.push_str(&self.text[at..]);
        out
    }
}

/// The comment at the end of a line, without what stands before it.
fn comment_of(line: &str) -> &str {
    if line.starts_with('#') {
        return line.trim_end();
    }
    match line.find(" #").or_else(|| line.find("\t#")) {
        Some(at) => line[at + 1..].trim_end(),
        None => "",
    }
}

//! A resource's changes in full.
//!
//! Each property has a sign: `+` it appears, `-` it goes, `~` it changes. Texts of several lines are compared line by
//! line, JSON texts by what they say, lists by the fewest edits, long texts by the part that changes. What is folded is
//! counted, with the option that shows it.

use super::changes::{Change, How, changes, compare};
use super::lines::{Compared, Side, text_lines};
use super::text::{Line, Tone, printable, width};
use super::values::{Secrets, inline, key_text, quoted};
use drystone_dialects::pulumi::properties::decode;
use drystone_engine::{Op, State, StepEvent};
use drystone_model::{Json, Segment, Value};
use std::collections::BTreeMap;

/// How values are written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Form {
    /// Whether secrets are shown.
    pub(super) secrets: Secrets,
    /// Whether long values are written whole.
    pub(super) whole: bool,
    /// How many columns there are for it; no limit when there is none.
    pub(super) columns: Option<usize>,
}

/// How many letters of a value stand in one line before it is folded.
const LETTERS: usize = 160;
/// A value that takes fewer letters stays in one line.
const SHORT: usize = 60;
/// How many members, elements or lines are written before the rest is folded.
const ENTRIES: usize = 40;
/// Names that are longer than this do not push the values of the others to the right.
const WIDEST: usize = 32;
/// How many letters that stay are shown before and after those that change in a long text.
const AROUND: usize = 24;
/// What shows folded values.
const UNFOLD: &str = "--show-full-output";
/// Texts longer than this are not compared line by line.
const COMPARED: usize = 1 << 18;
/// How far the body of a value stands to the right of its name.
const STEP: &str = "    ";

/// What a step does to the properties of its resource, a line each.
pub(super) fn body(step: &StepEvent, form: Form) -> Vec<Line> {
    let mut writer = Writer { form, lines: Vec::new() };
    match (step.op, &step.old, &step.new) {
        (Op::Same | Op::Read | Op::ReadReplacement, _, _) => {}
        (Op::Refresh, _, _) if matches!(step.result, None | Some(Op::Same)) => {}
        (_, Some(old), None) => writer.whole(How::Delete, old),
        (_, None, Some(new)) => writer.whole(How::Add, new),
        _ => {
            let changes = changes(step, form.secrets);
            writer.reasons(step, &changes);
            writer.changes(&changes, "");
        }
    }
    writer.lines
}

/// Named values as they were, unless there was nothing that had any, and are; those that did not change have no sign.
pub(super) fn outputs(
    old: Option<&BTreeMap<String, Value>>,
    new: &BTreeMap<String, Value>,
    form: Form,
) -> Vec<Line> {
    let nothing = BTreeMap::new();
    let (before, after) = (form.secrets.ready(old.unwrap_or(&nothing)), form.secrets.ready(new));
    let (Value::Object(before), Value::Object(after)) = (&before, &after) else { return Vec::new() };
    let mut keys: Vec<&String> = before.keys().chain(after.keys()).collect();
    keys.sort();
    keys.dedup();
    let wide = widest(keys.iter().map(|key| width(&key_text(key))));
    let mut writer = Writer { form, lines: Vec::new() };
    for key in keys {
        let name = Name { text: key_text(key), wide };
        match (before.get(key), after.get(key)) {
            (Some(old), Some(new)) if old.same_as(new) => writer.value(Sign::None, &name, new, "", ""),
            (Some(old), Some(new)) => writer.update(&name, old, new, "", ""),
            // That everything is new goes without saying.
            (None, Some(new)) if old.is_none() => writer.value(Sign::None, &name, new, "", ""),
            (None, Some(new)) => writer.value(Sign::Add, &name, new, "", ""),
            (Some(old), None) => writer.value(Sign::Delete, &name, old, "", ""),
            (None, None) => {}
        }
    }
    writer.lines
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Add,
    Delete,
    Update,
    None,
}

impl Sign {
    fn text(self) -> &'static str {
        match self {
            Self::Add => "+ ",
            Self::Delete => "- ",
            Self::Update => "~ ",
            Self::None => "  ",
        }
    }

    fn tone(self) -> Tone {
        match self {
            Self::Add => Tone::Added,
            Self::Delete => Tone::Removed,
            Self::Update => Tone::Changed,
            Self::None => Tone::Plain,
        }
    }
}

impl From<How> for Sign {
    fn from(how: How) -> Self {
        match how {
            How::Add => Self::Add,
            How::Delete => Self::Delete,
            How::Update | How::Move(_) => Self::Update,
        }
    }
}

/// A property's name with the width of the widest beside it.
struct Name {
    text: String,
    wide: usize,
}

impl Name {
    /// The name before a value in the same line; values stand below each other.
    fn before_value(&self) -> String {
        format!("{}:{} ", self.text, " ".repeat(self.wide.saturating_sub(width(&self.text))))
    }
}

/// The widest of names that stand below each other.
fn widest(widths: impl Iterator<Item = usize>) -> usize {
    widths.filter(|width| *width <= WIDEST).max().unwrap_or(0)
}

/// Changes by their place.
enum Node<'c> {
    Leaf(&'c Change),
    Branch(Vec<(Segment, Node<'c>)>),
}

impl<'c> Node<'c> {
    fn insert(&mut self, path: &[Segment], change: &'c Change) {
        let Some((first, rest)) = path.split_first() else { return };
        if let Self::Leaf(_) = self {
            *self = Self::Branch(Vec::new());
        }
        let Self::Branch(children) = self else { return };
        if rest.is_empty() {
            // In a list one may go and another appear in the same place.
            return children.push((first.clone(), Self::Leaf(change)));
        }
        let inside = |node: &Self| match node {
            Self::Branch(_) => true,
            Self::Leaf(whole) => whole.how == How::Update,
        };
        let place = match children.iter().position(|(segment, node)| segment == first && inside(node)) {
            Some(place) => place,
            None => {
                children.push((first.clone(), Self::Branch(Vec::new())));
                children.len() - 1
            }
        };
        children[place].1.insert(rest, change);
    }

    /// Whether a change in it makes the resource be replaced.
    fn replaces(&self) -> bool {
        match self {
            Self::Leaf(change) => change.replaces,
            Self::Branch(children) => children.iter().any(|(_, child)| child.replaces()),
        }
    }
}

struct Writer {
    form: Form,
    lines: Vec<Line>,
}

impl Writer {
    fn put(&mut self, indent: &str, sign: Sign, text: impl Into<String>, after: &str) {
        let line = Line::new(indent).with(sign.tone(), sign.text()).with(sign.tone(), text);
        self.lines.push(line.with(Tone::Replaced, after));
    }

    /// All inputs of a resource that is made or goes.
    fn whole(&mut self, how: How, state: &State) {
        let properties = if state.inputs.is_empty() { &state.outputs } else { &state.inputs };
        if let Value::Object(members) = self.form.secrets.ready(properties) {
            self.members(how.into(), &members, "");
        }
    }

    /// Why it is replaced, where no change below says it.
    fn reasons(&mut self, step: &StepEvent, changes: &[Change]) {
        if !step.replace_keys.is_empty() && !changes.iter().any(|change| change.replaces) {
            let keys: Vec<String> = step.replace_keys.iter().map(|key| printable(key).into_owned()).collect();
            self.lines.push(Line::toned(Tone::Replaced, format!("replaced because of {}", keys.join(", "))));
        }
    }

    fn changes(&mut self, changes: &[Change], indent: &str) {
        let mut root = Node::Branch(Vec::new());
        for change in changes {
            root.insert(&change.path.0, change);
        }
        if let Node::Branch(children) = &root {
            self.nodes(children, indent);
        }
    }

    fn nodes(&mut self, nodes: &[(Segment, Node<'_>)], indent: &str) {
        let joined: Vec<(String, &Node<'_>)> =
            nodes.iter().map(|(segment, node)| join(segment, node)).collect();
        let leaves = joined.iter().filter(|(_, node)| matches!(node, Node::Leaf(_)));
        let wide = widest(leaves.map(|(name, _)| width(name)));
        let mut folded = 0;
        for (place, (text, node)) in joined.into_iter().enumerate() {
            match node {
                // What makes the resource be replaced is never folded.
                node if place >= self.entries() && !node.replaces() => folded += 1,
                Node::Leaf(change) => self.change(&Name { text, wide }, change, indent),
                Node::Branch(children) => {
                    self.put(indent, Sign::Update, format!("{text}:"), "");
                    self.nodes(children, &format!("{indent}{STEP}"));
                }
            }
        }
        self.left_out(folded, "changes", indent);
    }

    fn change(&mut self, name: &Name, change: &Change, indent: &str) {
        let after = if change.replaces { "   forces replacement" } else { "" };
        if change.hidden {
            return self.put(indent, change.how.into(), format!("{}(not shown)", name.before_value()), after);
        }
        match (change.how, &change.old, &change.new) {
            (How::Add, _, Some(value)) => self.value(Sign::Add, name, value, indent, after),
            (How::Delete, Some(value), _) => self.value(Sign::Delete, name, value, indent, after),
            (How::Update, Some(old), Some(new)) => self.update(name, old, new, indent, after),
            (How::Update, None, Some(value)) | (How::Update, Some(value), None) => {
                self.value(Sign::Update, name, value, indent, after);
            }
            (How::Move(_), _, Some(value)) => {
                let text = format!("{}{}   moved", name.before_value(), inline(value, SHORT));
                self.put(indent, Sign::Update, text, after);
            }
            _ => self.put(indent, change.how.into(), name.text.clone(), after),
        }
    }

    /// A value, in one line where it is short.
    fn value(&mut self, sign: Sign, name: &Name, value: &Value, indent: &str, after: &str) {
        if let Value::String(text) = value
            && let Some(inner) = json(text)
        {
            let name = Name { text: format!("{} (JSON)", name.text), wide: name.wide };
            return self.value(sign, &name, &inner, indent, after);
        }
        let below = format!("{indent}{STEP}");
        match value {
            Value::Object(members) if !members.is_empty() && !is_short(value) => {
                self.put(indent, sign, format!("{}:", name.text), after);
                self.members(sign, members, &below);
            }
            Value::Array(elements) if is_plain_list(elements) && !is_short(value) => {
                let text = format!("{}{}", name.before_value(), self.plain_list(elements));
                self.put(indent, sign, text, after);
            }
            Value::Array(elements) if !elements.is_empty() && !is_short(value) => {
                self.put(indent, sign, format!("{}:", name.text), after);
                let wide = width(&format!("[{}]", elements.len() - 1));
                for (index, element) in elements.iter().take(self.entries()).enumerate() {
                    self.value(sign, &Name { text: format!("[{index}]"), wide }, element, &below, "");
                }
                self.folded(elements.len(), "elements", &below);
            }
            Value::String(text) if text.trim_end_matches('\n').contains('\n') => {
                self.put(indent, sign, format!("{}:", name.text), after);
                let lines = text_lines(text);
                for line in lines.iter().take(self.entries()) {
                    self.put(&below, sign, line.clone(), "");
                }
                self.folded(lines.len(), "lines", &below);
            }
            _ => {
                let text = format!("{}{}", name.before_value(), self.scalar(value));
                self.put(indent, sign, text, after);
            }
        }
    }

    fn members(&mut self, sign: Sign, members: &BTreeMap<String, Value>, indent: &str) {
        let wide = widest(members.keys().map(|key| width(&key_text(key))));
        for (key, member) in members.iter().take(self.entries()) {
            self.value(sign, &Name { text: key_text(key), wide }, member, indent, "");
        }
        self.folded(members.len(), "members", indent);
    }

    fn update(&mut self, name: &Name, old: &Value, new: &Value, indent: &str, after: &str) {
        let below = format!("{indent}{STEP}");
        if let (Value::String(before), Value::String(after_text)) = (old, new) {
            if let Some(inner) = json_changes(before, after_text) {
                self.put(indent, Sign::Update, format!("{} (JSON):", name.text), after);
                return self.changes(&inner, &below);
            }
            let lines = before.contains('\n') || after_text.contains('\n');
            if lines && before.len() + after_text.len() <= COMPARED {
                self.put(indent, Sign::Update, format!("{}:", name.text), after);
                return self.lines_changed(before, after_text, &below);
            }
        }
        if is_branch(old) && is_branch(new) {
            self.put(indent, Sign::Update, format!("{}:", name.text), after);
            return self.changes(&compare(old, new), &below);
        }
        if let (Value::String(before), Value::String(now)) = (old, new)
            && let Some(part) = self.changed_part(before, now)
        {
            self.put(indent, Sign::Update, format!("{}:", name.text), after);
            self.put(&below, Sign::Delete, part.old, "");
            self.put(&below, Sign::Add, part.new, "");
            let folded = format!("  … {} characters that stay ({UNFOLD})", part.folded);
            return self.lines.push(Line::new(below).with(Tone::Faint, folded));
        }
        let (before, now) = (self.scalar(old), self.scalar(new));
        let text = format!("{}{before} → {now}", name.before_value());
        let columns = self.form.columns.unwrap_or(usize::MAX);
        let fits = width(indent) + BESIDE + width(&text) + width(after) <= columns;
        if fits && width(&before) + width(&now) <= LETTERS / 2 {
            return self.put(indent, Sign::Update, text, after);
        }
        self.put(indent, Sign::Update, format!("{}:", name.text), after);
        self.put(&below, Sign::Delete, before, "");
        self.put(&below, Sign::Add, now, "");
    }

    /// The part of a long text that changes, when that is short.
    fn changed_part(&self, before: &str, after: &str) -> Option<Part> {
        let (old, new): (Vec<char>, Vec<char>) = (before.chars().collect(), after.chars().collect());
        if self.form.whole || old.len().max(new.len()) <= LETTERS {
            return None;
        }
        let front = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let most = old.len().min(new.len()) - front;
        let back = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
        let folded = front.saturating_sub(AROUND) + back.saturating_sub(AROUND);
        if old.len().max(new.len()) - folded > LETTERS {
            return None;
        }
        let start = front.saturating_sub(AROUND);
        let cut = |letters: &[char]| {
            let end = letters.len() - back.saturating_sub(AROUND);
            let part: String = letters[start..end].iter().collect();
            let (before, after) =
                (if start > 0 { "…" } else { "" }, if end < letters.len() { "…" } else { "" });
            format!("{before}{}{after}", quoted(&part))
        };
        Some(Part { old: cut(&old), new: cut(&new), folded })
    }

    fn lines_changed(&mut self, before: &str, after: &str, indent: &str) {
        let compared = Compared::new(before, after);
        for (side, text) in compared.lines.iter().take(self.entries()) {
            let sign = match side {
                Side::Old => Sign::Delete,
                Side::New => Sign::Add,
                Side::Both => Sign::None,
            };
            self.put(indent, sign, text.clone(), "");
        }
        self.folded(compared.lines.len(), "lines", indent);
    }

    /// Small elements in one line.
    fn plain_list(&self, elements: &[Value]) -> String {
        let mut text = "[".to_owned();
        for (index, element) in elements.iter().enumerate() {
            let element = inline(element, usize::MAX);
            if !self.form.whole && width(&text) + width(&element) > LETTERS {
                text.push_str(&format!("… {} more ({UNFOLD})", elements.len() - index));
                break;
            }
            text.push_str(if index == 0 { "" } else { ", " });
            text.push_str(&element);
        }
        text.push(']');
        text
    }

    /// Says how much was left out.
    fn folded(&mut self, all: usize, what: &str, indent: &str) {
        self.left_out(all.saturating_sub(self.entries()), what, indent);
    }

    fn left_out(&mut self, count: usize, what: &str, indent: &str) {
        if count > 0 {
            let rest = format!("  … {count} more {what} ({UNFOLD})");
            self.lines.push(Line::new(indent).with(Tone::Faint, rest));
        }
    }

    fn scalar(&self, value: &Value) -> String {
        if self.form.whole {
            return inline(value, usize::MAX);
        }
        let text = inline(value, LETTERS);
        match value {
            Value::String(whole) if text.ends_with('…') => {
                // The quote before it is none of the text.
                let left = whole.chars().count().saturating_sub(LETTERS - 1);
                format!("{text} {left} more characters ({UNFOLD})")
            }
            _ => text,
        }
    }

    fn entries(&self) -> usize {
        if self.form.whole { usize::MAX } else { ENTRIES }
    }
}

/// The columns before the name of a property that its resource's place and its sign take.
const BESIDE: usize = 6 + 2;

/// The part of a text that changes, and how much of what does not is left out.
struct Part {
    old: String,
    new: String,
    folded: usize,
}

/// Whether elements are so small that a line of them reads better than a line each.
fn is_plain_list(elements: &[Value]) -> bool {
    const SMALL: usize = 20;
    elements.len() > 1
        && elements.iter().all(|element| !is_branch(element) && !inline(element, SMALL).ends_with('…'))
}

fn is_branch(value: &Value) -> bool {
    match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(elements) => !elements.is_empty(),
        _ => false,
    }
}

/// Whether a value with members is told in one line: it is short and nothing inside has members.
fn is_short(value: &Value) -> bool {
    let flat = match value {
        Value::Object(members) => !members.values().any(is_branch),
        Value::Array(elements) => !elements.iter().any(is_branch),
        _ => true,
    };
    flat && !inline(value, SHORT).ends_with('…')
}

/// A branch with one child stands in one line with it: `tags.team`.
fn join<'n, 'c>(segment: &Segment, node: &'n Node<'c>) -> (String, &'n Node<'c>) {
    let mut name = place_text(segment, node);
    let mut node = node;
    while let Node::Branch(children) = node
        && let [(segment, child)] = children.as_slice()
    {
        if matches!(segment, Segment::Key(_)) {
            name.push('.');
        }
        name.push_str(&place_text(segment, child));
        node = child;
    }
    (name, node)
}

/// Where a change is; of an element that moved, where it was as well.
fn place_text(segment: &Segment, node: &Node<'_>) -> String {
    match node {
        Node::Leaf(Change { how: How::Move(from), .. }) => format!("[{from}] → {}", segment_text(segment)),
        _ => segment_text(segment),
    }
}

fn segment_text(segment: &Segment) -> String {
    match segment {
        Segment::Key(key) => key_text(key),
        Segment::Index(index) => format!("[{index}]"),
    }
}

/// What a JSON text says; `None` when it is none, or has no members.
fn json(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['{', '[']) || text.len() > COMPARED {
        return None;
    }
    decode(&Json::parse(text).ok()?).ok().filter(is_branch)
}

/// What differs between two JSON texts; `None` when they are not both JSON with members.
fn json_changes(old: &str, new: &str) -> Option<Vec<Change>> {
    let changes = compare(&json(old)?, &json(new)?);
    if changes.is_empty() || changes.iter().any(|change| change.path.is_empty()) {
        None
    } else {
        Some(changes)
    }
}

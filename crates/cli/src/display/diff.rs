//! A resource's changes in full.
//!
//! Each property has a sign: `+` it appears, `-` it goes, `~` it changes. Texts of several lines are compared line by
//! line, JSON texts by what they say. Long values are folded unless the whole was asked for.

use super::changes::{Change, How, changes, compare};
use super::text::{Line, Tone, message_lines, printable, width};
use super::values::{Secrets, inline, key_text};
use drystone_dialects::pulumi::properties::decode;
use drystone_engine::{Op, State, StepEvent};
use drystone_model::{Json, Segment, Value};
use similar::{ChangeTag, TextDiff};
use std::collections::BTreeMap;

/// How values are written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Form {
    /// Whether secrets are shown.
    pub(super) secrets: Secrets,
    /// Whether long values are written whole.
    pub(super) whole: bool,
}

/// How many letters of a value stand in one line before it is folded.
const LETTERS: usize = 160;
/// A value that takes fewer letters stays in one line.
const SHORT: usize = 60;
/// How many members, elements or lines are written before the rest is folded.
const ENTRIES: usize = 40;
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
    let wide = keys.iter().map(|key| width(&key_text(key))).max().unwrap_or(0);
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
            How::Update => Self::Update,
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
        let place = match children.iter().position(|(segment, _)| segment == first) {
            Some(place) => place,
            None => {
                let child = if rest.is_empty() { Self::Leaf(change) } else { Self::Branch(Vec::new()) };
                children.push((first.clone(), child));
                children.len() - 1
            }
        };
        children[place].1.insert(rest, change);
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
        let wide = leaves.map(|(name, _)| width(name)).max().unwrap_or(0);
        for (text, node) in joined {
            match node {
                Node::Leaf(change) => self.change(&Name { text, wide }, change, indent),
                Node::Branch(children) => {
                    self.put(indent, Sign::Update, format!("{text}:"), "");
                    self.nodes(children, &format!("{indent}{STEP}"));
                }
            }
        }
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
            _ => self.put(indent, change.how.into(), name.text.clone(), after),
        }
    }

    /// A value, in one line where it is short.
    fn value(&mut self, sign: Sign, name: &Name, value: &Value, indent: &str, after: &str) {
        let below = format!("{indent}{STEP}");
        match value {
            Value::Object(members) if !members.is_empty() && !is_short(value) => {
                self.put(indent, sign, format!("{}:", name.text), after);
                self.members(sign, members, &below);
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
                let lines = message_lines(text);
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
        let wide = members.keys().map(|key| width(&key_text(key))).max().unwrap_or(0);
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
        let (before, now) = (self.scalar(old), self.scalar(new));
        if width(&before) + width(&now) <= LETTERS / 2 {
            let text = format!("{}{before} → {now}", name.before_value());
            return self.put(indent, Sign::Update, text, after);
        }
        self.put(indent, Sign::Update, format!("{}:", name.text), after);
        self.put(&below, Sign::Delete, before, "");
        self.put(&below, Sign::Add, now, "");
    }

    fn lines_changed(&mut self, before: &str, after: &str, indent: &str) {
        let diff = TextDiff::from_lines(before, after);
        let mut written = 0;
        let mut all = 0;
        for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
            let header = hunk.header().to_string();
            let lines = hunk.iter_changes().map(|change| {
                let sign = match change.tag() {
                    ChangeTag::Insert => Sign::Add,
                    ChangeTag::Delete => Sign::Delete,
                    ChangeTag::Equal => Sign::None,
                };
                let text = change.value().trim_end_matches(['\n', '\r']).replace('\t', STEP);
                (sign, printable(&text).into_owned())
            });
            for (sign, text) in std::iter::once((Sign::None, header)).chain(lines) {
                all += 1;
                if written < self.entries() {
                    self.put(indent, sign, text, "");
                    written += 1;
                }
            }
        }
        self.folded(all, "lines", indent);
    }

    /// Says how much was left out.
    fn folded(&mut self, all: usize, what: &str, indent: &str) {
        if all > self.entries() {
            let rest = format!("  … {} more {what}", all - self.entries());
            self.lines.push(Line::new(indent).with(Tone::Faint, rest));
        }
    }

    fn scalar(&self, value: &Value) -> String {
        inline(value, if self.form.whole { usize::MAX } else { LETTERS })
    }

    fn entries(&self) -> usize {
        if self.form.whole { usize::MAX } else { ENTRIES }
    }
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
    let mut name = segment_text(segment);
    let mut node = node;
    while let Node::Branch(children) = node
        && let [(segment, child)] = children.as_slice()
    {
        if matches!(segment, Segment::Key(_)) {
            name.push('.');
        }
        name.push_str(&segment_text(segment));
        node = child;
    }
    (name, node)
}

fn segment_text(segment: &Segment) -> String {
    match segment {
        Segment::Key(key) => key_text(key),
        Segment::Index(index) => format!("[{index}]"),
    }
}

/// What differs between two JSON texts; `None` when they are not both JSON with members.
fn json_changes(old: &str, new: &str) -> Option<Vec<Change>> {
    let read = |text: &str| {
        if !text.starts_with(['{', '[']) || text.len() > COMPARED {
            return None;
        }
        decode(&Json::parse(text).ok()?).ok().filter(is_branch)
    };
    let changes = compare(&read(old)?, &read(new)?);
    if changes.is_empty() || changes.iter().any(|change| change.path.is_empty()) {
        None
    } else {
        Some(changes)
    }
}

//! The tree of a document, with the place of each part in the text.

use crate::Value;

/// A place in a file, both numbers counted from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The line.
    pub line: usize,
    /// The character of the line.
    pub column: usize,
}

/// A text and the tree of its first YAML document.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) text: String,
    pub(crate) root: Node,
}

/// One value of a document.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// What it means, aliases and merges resolved.
    pub(crate) value: Value,
    pub(crate) location: Location,
    /// Where the parser saw it begin, and where it saw it, or its closing bracket, end.
    pub(crate) seen: Range,
    /// Where it stands, if that could be made out. Only a node with a range can be edited.
    pub(crate) range: Option<Range>,
    /// Whether a tag or an anchor stands before it.
    pub(crate) decorated: bool,
    /// Whether it or a part of it has an anchor or is an alias.
    pub(crate) shared: bool,
}

/// Where a node stands in the text: byte offsets of its first character and of the end of its last, tags, anchors and
/// trailing comments left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Range {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Scalar(Style),
    Alias,
    Sequence { flow: bool, items: Vec<Item> },
    Mapping { flow: bool, entries: Vec<Entry> },
}

/// How a scalar is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
    Folded,
}

/// A member of a sequence.
#[derive(Debug)]
pub(crate) struct Item {
    /// The offset of its dash, in a block sequence.
    pub(crate) dash: Option<usize>,
    pub(crate) value: Node,
}

/// A member of a mapping.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_location: Location,
    /// Whether it is a `<<` that brings in the members of other mappings.
    pub(crate) merge: bool,
    /// Where its key stands; an explicit key begins at its question mark.
    pub(crate) key_range: Option<Range>,
    /// The offset of the colon after its key.
    pub(crate) colon: Option<usize>,
    pub(crate) value: Node,
}

impl Node {
    /// A value that stands nowhere.
    pub(crate) fn of(value: Value) -> Self {
        let location = Location { line: 1, column: 1 };
        let kind = match &value {
            Value::Array(items) => Kind::Sequence {
                flow: true,
                items: items.iter().map(|item| Item { dash: None, value: Self::of(item.clone()) }).collect(),
            },
            Value::Object(members) => Kind::Mapping {
                flow: true,
                entries: members
                    .iter()
                    .map(|(key, value)| Entry {
                        key: key.clone(),
                        key_location: location,
                        merge: false,
                        key_range: None,
                        colon: None,
                        value: Self::of(value.clone()),
                    })
                    .collect(),
            },
            _ => Kind::Scalar(Style::Plain),
        };
        Self { kind, value, location, seen: Range::default(), range: None, decorated: false, shared: false }
    }

    /// The entries, when it is a mapping.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Mapping { entries, .. } => entries,
            _ => &[],
        }
    }

    /// The value of the entry with this key.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }
}

//! Putting values into fields, as Go puts them into structs.
//!
//! A value that does not fit its field is remembered and the rest is read on; the first such error is the one that is
//! told. Field names match in any case. `null` leaves a field as it was. A member that comes twice is read twice, into
//! the same field.

use super::strings::unquoted;
use super::syntax::Node;
use super::{Number, Value, base64};
use std::collections::BTreeMap;

/// Where in which struct we are, and what did not fit so far.
#[derive(Debug, Default)]
pub(crate) struct Binder {
    saved: Option<String>,
    structure: Option<&'static str>,
    path: Vec<&'static str>,
}

impl Binder {
    /// Another one that tells the same place, and has met nothing yet.
    pub(crate) fn at_the_same_place(&self) -> Self {
        Self { saved: None, structure: self.structure, path: self.path.clone() }
    }

    /// The first value that did not fit.
    pub(crate) fn finish(self) -> Result<(), String> {
        self.saved.map_or(Ok(()), Err)
    }

    fn save(&mut self, error: String) {
        self.saved.get_or_insert(error);
    }

    /// Remembers that what is described by `found` is no `wanted`, which is the name of a Go type.
    fn mismatch(&mut self, found: &str, wanted: &str) {
        let place = match self.structure {
            Some(structure) => format!("struct field {structure}.{}", self.path.join(".")),
            None => "value".to_owned(),
        };
        self.save(format!("json: cannot unmarshal {found} into Go {place} of type {wanted}"));
    }

    /// Reads a struct: gives each member that `names` knows to `set`, and keeps the others. The hard errors are those
    /// of `set`.
    pub(crate) fn fields<'n>(
        &mut self,
        node: &'n Node<'_>,
        shape: &Shape,
        unknown: &mut Vec<(String, Value)>,
        mut set: impl FnMut(&mut Self, &'static str, &'n Node<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let members = match node {
            Node::Object(members) => members,
            Node::Null => return Ok(()),
            other => {
                self.mismatch(described(other), shape.go_type);
                return Ok(());
            }
        };
        let outer = self.structure;
        for (name, node) in members {
            match shape.field(name) {
                Some(field) => {
                    self.structure = Some(shape.told_as);
                    self.path.push(field);
                    set(self, field, node)?;
                    self.path.pop();
                    self.structure = outer;
                }
                None => keep(unknown, name, node),
            }
        }
        Ok(())
    }

    pub(crate) fn string(&mut self, node: &Node<'_>, target: &mut String) {
        self.string_as("string", node, target);
    }

    /// A text whose Go type has a name of its own.
    pub(crate) fn string_as(&mut self, go_type: &str, node: &Node<'_>, target: &mut String) {
        match node {
            Node::Null => {}
            Node::String(raw) => *target = unquoted(raw),
            other => self.mismatch(described(other), go_type),
        }
    }

    pub(crate) fn integer(&mut self, node: &Node<'_>, target: &mut i64) {
        match node {
            Node::Null => {}
            Node::Number(text) => match text.parse() {
                Ok(number) => *target = number,
                Err(_) => self.mismatch(&format!("number {text}"), "int"),
            },
            other => self.mismatch(described(other), "int"),
        }
    }

    pub(crate) fn strings(&mut self, node: &Node<'_>, target: &mut Vec<String>) {
        match node {
            Node::Null => target.clear(),
            Node::Array(items) => {
                target.resize_with(items.len(), String::new);
                for (item, target) in items.iter().zip(target) {
                    self.string(item, target);
                }
            }
            other => self.mismatch(described(other), "[]string"),
        }
    }

    pub(crate) fn map(&mut self, node: &Node<'_>, target: &mut BTreeMap<String, Value>) {
        match node {
            Node::Null => target.clear(),
            Node::Object(members) => {
                for (name, node) in members {
                    let value = self.value(node);
                    target.insert(name.clone(), value);
                }
            }
            other => self.mismatch(described(other), "map[string]interface {}"),
        }
    }

    /// The bytes of a base64 text, or of a list of numbers.
    pub(crate) fn bytes(&mut self, node: &Node<'_>, target: &mut Vec<u8>) {
        match node {
            Node::Null => target.clear(),
            Node::String(raw) => match base64::decode(unquoted(raw).as_bytes()) {
                Ok(bytes) => *target = bytes,
                Err(error) => self.save(error.to_string()),
            },
            Node::Array(items) => {
                target.resize(items.len(), 0);
                for (item, target) in items.iter().zip(target) {
                    self.byte(item, target);
                }
            }
            other => self.mismatch(described(other), "[]uint8"),
        }
    }

    fn byte(&mut self, node: &Node<'_>, target: &mut u8) {
        match node {
            Node::Null => {}
            Node::Number(text) => match text.parse() {
                Ok(byte) => *target = byte,
                Err(_) => self.mismatch(&format!("number {text}"), "uint8"),
            },
            other => self.mismatch(described(other), "uint8"),
        }
    }

    /// A list of structs, read into those that are there already and into new ones. `null` items are nothing.
    pub(crate) fn structs<'n, T>(
        &mut self,
        node: &'n Node<'_>,
        go_type: &str,
        target: &mut Option<Vec<Option<T>>>,
        mut read: impl FnMut(&mut Self, &'n Node<'_>, &mut Option<T>) -> Result<(), String>,
    ) -> Result<(), String> {
        match node {
            Node::Null => *target = None,
            Node::Array(items) => {
                let target = target.get_or_insert_default();
                target.resize_with(items.len(), || None);
                for (item, target) in items.iter().zip(target) {
                    match item {
                        Node::Null => *target = None,
                        item => read(self, item, target)?,
                    }
                }
            }
            other => self.mismatch(described(other), go_type),
        }
        Ok(())
    }

    fn value(&mut self, node: &Node<'_>) -> Value {
        value(node, &mut |text| {
            Number::read(text).map_or_else(
                || {
                    self.mismatch(&format!("number {text}"), "float64");
                    Value::Null
                },
                Value::Number,
            )
        })
    }
}

/// What a struct is called and has.
#[derive(Debug)]
pub(crate) struct Shape {
    /// Its Go type, as in `state.Entry`.
    pub(crate) go_type: &'static str,
    /// The name that errors call it by.
    pub(crate) told_as: &'static str,
    /// Its fields.
    pub(crate) fields: &'static [&'static str],
}

impl Shape {
    /// The field of a member's name: the one of that name, else the one that differs by case only.
    pub(crate) fn field(&self, name: &str) -> Option<&'static str> {
        let exact = self.fields.iter().find(|field| **field == name);
        exact.or_else(|| self.fields.iter().find(|field| same_but_for_case(field, name))).copied()
    }
}

/// Whether two names differ by case only. Go's folding knows two characters that are no ASCII and fold to it.
pub(crate) fn same_but_for_case(field: &str, name: &str) -> bool {
    let folded = |character: char| match character {
        '\u{17f}' => 'S',
        '\u{212a}' => 'K',
        other => other.to_ascii_uppercase(),
    };
    field.chars().map(folded).eq(name.chars().map(folded))
}

fn described(node: &Node<'_>) -> &'static str {
    match node {
        Node::Null => "null",
        Node::Bool(_) => "bool",
        Node::Number(_) => "number",
        Node::String(_) => "string",
        Node::Array(_) => "array",
        Node::Object(_) => "object",
    }
}

/// Keeps a member that nobody here knows, its numbers to the letter (S9).
fn keep(unknown: &mut Vec<(String, Value)>, name: &str, node: &Node<'_>) {
    let value = value(node, &mut |text| Value::Number(Number::verbatim(text)));
    match unknown.iter_mut().find(|(known, _)| known == name) {
        Some((_, known)) => *known = value,
        None => unknown.push((name.to_owned(), value)),
    }
}

fn value(node: &Node<'_>, number: &mut dyn FnMut(&str) -> Value) -> Value {
    match node {
        Node::Null => Value::Null,
        Node::Bool(yes) => Value::Bool(*yes),
        Node::Number(text) => number(text),
        Node::String(raw) => Value::String(unquoted(raw)),
        Node::Array(items) => Value::Array(items.iter().map(|item| value(item, number)).collect()),
        Node::Object(members) => Value::Object(
            members.iter().map(|(name, member)| (name.clone(), value(member, number))).collect(),
        ),
    }
}

//! Property paths: where in a value something stands, written as in `root.list[0]["a key"]`.

use crate::Value;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, str::FromStr};

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Segment {
    /// Into the member of an object. The key `*` is a wildcard in [`PropertyPath::contains`].
    Key(String),
    /// Into the element of a list.
    Index(usize),
}

impl Segment {
    /// Whether it stands for every member or element.
    #[must_use]
    pub fn is_wildcard(&self) -> bool {
        matches!(self, Self::Key(key) if key == "*")
    }
}

impl From<&str> for Segment {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for Segment {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// A path into a property value, empty for the value itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct PropertyPath(pub Vec<Segment>);

/// Why a text is not a property path, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at character {position} of `{path}`")]
pub struct PathError {
    /// The text.
    pub path: String,
    /// The character that is wrong, counted from 1.
    pub position: usize,
    /// What is wrong with it.
    pub problem: PathProblem,
}

/// What is wrong with a property path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    /// It starts with a dot.
    #[error("a name or an index is missing before the dot")]
    LeadingDot,
    /// It ends with a dot.
    #[error("a name is missing after the dot")]
    TrailingDot,
    /// A dot stands before a bracket, which only the lenient reading allows.
    #[error("a name, not a bracket, belongs after the dot")]
    DotBeforeBracket,
    /// A quoted key does not end.
    #[error("the closing quote is missing")]
    OpenQuote,
    /// A bracket does not end.
    #[error("the closing bracket is missing")]
    OpenBracket,
    /// What stands in brackets is neither a quoted key, nor `*`, nor a number that can be an index.
    #[error("not an index")]
    BadIndex,
}

/// How far past the end of a list [`PropertyPath::add`] goes.
const LARGEST_GAP: usize = 1 << 16;

impl PropertyPath {
    /// Reads a path; a dot before a bracket is allowed, because old providers write it.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        Parser { text, at: 0, strict: false }.path()
    }

    /// Reads a path; a dot before a bracket is refused.
    pub fn parse_strict(text: &str) -> Result<Self, PathError> {
        Parser { text, at: 0, strict: true }.path()
    }

    /// Whether this is the path of the value itself.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value at the path. Neither wildcards nor secrets are followed.
    #[must_use]
    pub fn get<'a>(&self, root: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(root, |value, segment| match (value, segment) {
            (Value::Object(members), Segment::Key(key)) => members.get(key),
            (Value::Array(elements), Segment::Index(index)) => elements.get(*index),
            _ => None,
        })
    }

    /// The value at the path, to be changed.
    #[must_use]
    pub fn get_mut<'a>(&self, root: &'a mut Value) -> Option<&'a mut Value> {
        follow(&self.0, root)
    }

    /// Puts a value at the path and says whether it could: everything but the last step must exist, and a list is not
    /// made longer.
    #[must_use]
    pub fn set(&self, root: &mut Value, value: Value) -> bool {
        let Some((last, before)) = self.0.split_last() else { return false };
        match (follow(before, root), last) {
            (Some(Value::Object(members)), Segment::Key(key)) => {
                members.insert(key.clone(), value);
                true
            }
            (Some(Value::Array(elements)), Segment::Index(index)) => {
                elements.get_mut(*index).map(|element| *element = value).is_some()
            }
            _ => false,
        }
    }

    /// Puts a value at the path, makes the objects and lists on the way that are not there, and says whether it could:
    /// what is there must be of the right kind. New elements before an index are null. On failure nothing has changed.
    #[must_use]
    pub fn add(&self, root: &mut Value, value: Value) -> bool {
        let Some(existing) = self.addable(root) else { return false };
        let (known, new) = self.0.split_at(existing);
        let Some(mut target) = follow(known, root) else { return false };
        for segment in new {
            target = match segment {
                Segment::Key(key) => {
                    if target.is_null() {
                        *target = Value::Object(Default::default());
                    }
                    let Value::Object(members) = target else { return false };
                    members.entry(key.clone()).or_default()
                }
                Segment::Index(index) => {
                    if target.is_null() {
                        *target = Value::Array(Vec::new());
                    }
                    let Value::Array(elements) = target else { return false };
                    if *index >= elements.len() {
                        elements.resize(*index + 1, Value::Null);
                    }
                    &mut elements[*index]
                }
            };
        }
        *target = value;
        true
    }

    /// How many steps of the path exist, when the rest can be added.
    fn addable(&self, root: &Value) -> Option<usize> {
        if self.0.is_empty() {
            return None;
        }
        let mut value = root;
        for (step, segment) in self.0.iter().enumerate() {
            let next = match (value, segment) {
                (Value::Object(members), Segment::Key(key)) => members.get(key),
                (Value::Array(elements), Segment::Index(index)) => elements.get(*index),
                (Value::Null, _) => None,
                _ => return None,
            };
            let Some(next) = next else {
                let length = value.as_array().map_or(0, <[Value]>::len);
                let fits = |(at, segment): (usize, &Segment)| {
                    let start = if at == 0 { length } else { 0 };
                    !matches!(segment, Segment::Index(index) if *index > start + LARGEST_GAP)
                };
                return self.0[step..].iter().enumerate().all(fits).then_some(step);
            };
            value = next;
        }
        Some(self.0.len())
    }

    /// Removes what is at the path and says whether the way to it exists. An element of a list becomes null, so that
    /// the ones after it keep their place.
    #[must_use]
    pub fn delete(&self, root: &mut Value) -> bool {
        let Some((last, before)) = self.0.split_last() else { return false };
        match (follow(before, root), last) {
            (Some(Value::Object(members)), Segment::Key(key)) => {
                members.remove(key);
                true
            }
            (Some(Value::Array(elements)), Segment::Index(index)) => {
                elements.get_mut(*index).map(|element| *element = Value::Null).is_some()
            }
            _ => false,
        }
    }

    /// Whether `other` is this path or leads further inside; a `*` in this path stands for any key or index.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        self.0.len() <= other.0.len()
            && self.0.iter().zip(&other.0).all(|(mine, theirs)| mine.is_wildcard() || mine == theirs)
    }
}

fn follow<'a>(segments: &[Segment], root: &'a mut Value) -> Option<&'a mut Value> {
    segments.iter().try_fold(root, |value, segment| match (value, segment) {
        (Value::Object(members), Segment::Key(key)) => members.get_mut(key),
        (Value::Array(elements), Segment::Index(index)) => elements.get_mut(*index),
        _ => None,
    })
}

/// Keys of letters, digits and `_` stand bare, all others in quotes. One thing the syntax cannot say: a key that ends
/// with a backslash and holds a dot or a bracket.
impl fmt::Display for PropertyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(key) if stands_bare(key) => {
                    write!(f, "{}{key}", if position == 0 { "" } else { "." })?;
                }
                Segment::Key(key) => write!(f, "[\"{}\"]", key.replace('"', "\\\""))?,
            }
        }
        Ok(())
    }
}

/// A backslash before the closing quote would escape it, so a key that ends with one goes bare where it can.
fn stands_bare(key: &str) -> bool {
    let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (plain && !key.is_empty()) || (key.ends_with('\\') && !key.contains(['.', '[']))
}

impl FromStr for PropertyPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl<S: Into<Segment>> FromIterator<S> for PropertyPath {
    fn from_iter<I: IntoIterator<Item = S>>(segments: I) -> Self {
        Self(segments.into_iter().map(Into::into).collect())
    }
}

impl Serialize for PropertyPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PropertyPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    strict: bool,
}

impl<'a> Parser<'a> {
    fn path(mut self) -> Result<PropertyPath, PathError> {
        if self.rest().starts_with('.') {
            return Err(self.error(self.at, PathProblem::LeadingDot));
        }
        let mut segments = Vec::new();
        while !self.rest().is_empty() {
            if self.rest().starts_with('.') {
                self.dot()?;
            } else if self.rest().starts_with('[') {
                segments.push(self.bracket()?);
            } else {
                let end = self.rest().find(['.', '[']).unwrap_or(self.rest().len());
                segments.push(Segment::Key(self.rest()[..end].to_owned()));
                self.at += end;
            }
        }
        Ok(PropertyPath(segments))
    }

    fn dot(&mut self) -> Result<(), PathError> {
        self.at += 1;
        if self.rest().is_empty() {
            return Err(self.error(self.at, PathProblem::TrailingDot));
        }
        if self.strict && self.rest().starts_with('[') {
            return Err(self.error(self.at, PathProblem::DotBeforeBracket));
        }
        Ok(())
    }

    fn bracket(&mut self) -> Result<Segment, PathError> {
        if self.rest().starts_with("[\"") {
            return self.quoted();
        }
        let inside = &self.rest()[1..];
        let end = inside.find(']').ok_or_else(|| self.error(self.text.len(), PathProblem::OpenBracket))?;
        let index = &inside[..end];
        let segment = if index == "*" {
            Segment::from("*")
        } else if index.bytes().all(|byte| byte.is_ascii_digit())
            && let Ok(index) = index.parse()
        {
            Segment::Index(index)
        } else {
            return Err(self.error(self.at + 1, PathProblem::BadIndex));
        };
        self.at += end + 2;
        Ok(segment)
    }

    fn quoted(&mut self) -> Result<Segment, PathError> {
        self.at += 2;
        let mut key = String::new();
        loop {
            let rest = self.rest();
            if let Some(after) = rest.strip_prefix('"') {
                self.at += 1;
                if !after.starts_with(']') {
                    return Err(self.error(self.at, PathProblem::OpenBracket));
                }
                self.at += 1;
                return Ok(Segment::Key(key));
            }
            let (taken, character) = if rest.starts_with("\\\"") {
                (2, '"')
            } else {
                let character =
                    rest.chars().next().ok_or_else(|| self.error(self.at, PathProblem::OpenQuote))?;
                (character.len_utf8(), character)
            };
            key.push(character);
            self.at += taken;
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error(&self, at: usize, problem: PathProblem) -> PathError {
        let position = self.text[..at].chars().count() + 1;
        PathError { path: self.text.to_owned(), position, problem }
    }
}

#[cfg(test)]
mod tests;

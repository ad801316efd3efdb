//! Comparing stored values as the JSON they are, without reading numbers or opening secrets.

use super::Secrets;
use drystone_dialects::pulumi::signature;
use drystone_model::{Json, Number, PropertyPath, Segment};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A value that differs. Secrets in it are masked unless they were asked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ValueDiff {
    /// Where it stands.
    #[serde(serialize_with = "as_text")]
    pub(crate) path: PropertyPath,
    /// What stood there before, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Json>,
    /// What stands there now, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<Json>,
}

fn as_text<S: serde::Serializer>(path: &PropertyPath, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(path)
}

impl fmt::Display for ValueDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                write!(f, "{}: {} → {}", self.path, folded(before), folded(after))?;
                if before == after && before.text() == QUOTED_MASK {
                    f.write_str("  (sealed anew, or changed)")?;
                }
                Ok(())
            }
            (Some(before), None) => write!(f, "{}: {} removed", self.path, folded(before)),
            (None, Some(after)) => write!(f, "{}: {} added", self.path, folded(after)),
            (None, None) => write!(f, "{}", self.path),
        }
    }
}

/// Values longer than this are folded for people.
const LONGEST: usize = 100;
/// How much of a long text is shown.
const SHOWN: usize = 60;
/// What is shown in the place of a secret, as JSON.
const QUOTED_MASK: &str = "\"[secret]\"";

/// A value on one line, its middle left out when it is long.
fn folded(value: &Json) -> Cow<'_, str> {
    let text = value.text();
    if text.len() <= LONGEST {
        return Cow::Borrowed(text);
    }
    let size = text.len();
    match Node::of(text) {
        Node::Object(members) => Cow::Owned(format!("{{…}} ({} members, {size} bytes)", members.len())),
        Node::Array(items) => Cow::Owned(format!("[…] ({} items, {size} bytes)", items.len())),
        Node::Secret(_) => Cow::Borrowed(QUOTED_MASK),
        Node::Scalar(_) => {
            let start: String = text.chars().take(SHOWN).collect();
            Cow::Owned(format!("{start}… ({size} bytes)"))
        }
    }
}

/// The values that differ between two JSON texts.
pub(super) fn compare(before: &str, after: &str, secrets: Secrets) -> Vec<ValueDiff> {
    let mut comparison = Comparison { secrets, path: Vec::new(), found: Vec::new() };
    comparison.values(Some(before), Some(after));
    comparison.found
}

struct Comparison {
    secrets: Secrets,
    path: Vec<Segment>,
    found: Vec<ValueDiff>,
}

impl Comparison {
    fn values(&mut self, before: Option<&str>, after: Option<&str>) {
        if before == after {
            return;
        }
        let (Some(old), Some(new)) = (before, after) else { return self.differs(before, after) };
        match (Node::of(old), Node::of(new)) {
            (Node::Object(old), Node::Object(new)) => {
                for key in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
                    let members = (old.get(key).map(|raw| raw.get()), new.get(key).map(|raw| raw.get()));
                    self.below(Segment::Key(key.to_string()), members.0, members.1);
                }
            }
            (Node::Array(old), Node::Array(new)) => self.items(&old, &new),
            // Sealed text is compared, not what it hides: the same value sealed anew differs.
            (Node::Secret(old), Node::Secret(new)) if old == new => {}
            (Node::Scalar(old), Node::Scalar(new)) if same_scalar(old, new) => {}
            _ => self.differs(before, after),
        }
    }

    /// Items at the start and the end that are equal are left alone, so that one inserted is one difference.
    fn items(&mut self, old: &[&RawValue], new: &[&RawValue]) {
        let same = |(a, b): &(&&RawValue, &&RawValue)| a.get() == b.get();
        let start = old.iter().zip(new).take_while(same).count();
        let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(same).count();
        let (old, new) = (&old[start..old.len() - end], &new[start..new.len() - end]);
        for offset in 0..old.len().max(new.len()) {
            let items = (old.get(offset).map(|raw| raw.get()), new.get(offset).map(|raw| raw.get()));
            self.below(Segment::Index(start + offset), items.0, items.1);
        }
    }

    fn below(&mut self, segment: Segment, before: Option<&str>, after: Option<&str>) {
        self.path.push(segment);
        self.values(before, after);
        self.path.pop();
    }

    fn differs(&mut self, before: Option<&str>, after: Option<&str>) {
        let shown = |text: &str| Json::parse(shown(text, self.secrets)).ok();
        self.found.push(ValueDiff {
            path: PropertyPath(self.path.clone()),
            before: before.and_then(shown),
            after: after.and_then(shown),
        });
    }
}

/// A JSON value, read one level deep.
enum Node<'t> {
    Object(BTreeMap<Cow<'t, str>, &'t RawValue>),
    Array(Vec<&'t RawValue>),
    /// A secret's ciphertext, or its plaintext where it stands in clear.
    Secret(&'t str),
    Scalar(&'t str),
}

impl<'t> Node<'t> {
    fn of(text: &'t str) -> Self {
        match text.trim_start().as_bytes().first() {
            Some(b'{') => match serde_json::from_str::<BTreeMap<Cow<'t, str>, &'t RawValue>>(text) {
                Ok(members) if is_secret(&members) => {
                    let text = members.get("ciphertext").or_else(|| members.get("plaintext"));
                    Self::Secret(text.map_or("null", |text| text.get()))
                }
                Ok(members) => Self::Object(members),
                Err(_) => Self::Scalar(text),
            },
            Some(b'[') => serde_json::from_str(text).map_or(Self::Scalar(text), Self::Array),
            _ => Self::Scalar(text),
        }
    }
}

fn is_secret(members: &BTreeMap<Cow<'_, str>, &RawValue>) -> bool {
    let mark = members.get(signature::KEY);
    mark.and_then(|mark| serde_json::from_str::<Cow<'_, str>>(mark.get()).ok())
        .is_some_and(|mark| mark == signature::SECRET)
}

/// Whether two scalars mean the same though they are written differently.
fn same_scalar(old: &str, new: &str) -> bool {
    match (Number::parse(old), Number::parse(new)) {
        (Some(old), Some(new)) => old.same_as(&new),
        (None, None) => matches!(
            (serde_json::from_str::<Cow<'_, str>>(old), serde_json::from_str::<Cow<'_, str>>(new)),
            (Ok(old), Ok(new)) if old == new
        ),
        _ => false,
    }
}

/// A JSON text with its secrets masked or opened.
fn shown(text: &str, secrets: Secrets) -> String {
    // A signature can only hide from this look by being written with escapes.
    if !text.contains(signature::KEY) && !text.contains("\\u") {
        return text.to_owned();
    }
    match Node::of(text) {
        Node::Scalar(text) => text.to_owned(),
        Node::Secret(content) => match secrets {
            Secrets::Masked => QUOTED_MASK.to_owned(),
            Secrets::Shown => opened(content).unwrap_or_else(|| QUOTED_MASK.to_owned()),
        },
        Node::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| shown(item.get(), secrets)).collect();
            format!("[{}]", items.join(","))
        }
        Node::Object(members) => {
            let member = |(name, value): (&Cow<'_, str>, &&RawValue)| {
                let name = serde_json::Value::String(name.to_string());
                format!("{name}:{}", shown(value.get(), secrets))
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
        }
    }
}

/// The value of a secret that stands in clear; its text is JSON in a string.
fn opened(content: &str) -> Option<String> {
    let text: String = serde_json::from_str(content).ok()?;
    serde_json::from_str::<&RawValue>(&text).ok()?;
    Some(shown(&text, Secrets::Shown))
}

//! Getting, setting and removing configuration values and parts of them.

use super::assign::NewValue;
use super::key::{Key, Locator};
use crate::Value;
use drystone_model::{PropertyPath, Segment};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// The longest list that setting one item of it can make.
const LONGEST_NEW_LIST: usize = 10_000;

/// The configuration of a stack.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config(BTreeMap<Key, Value>);

/// Why a value was not set or removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A step by name into something that is not named values.
    #[error("`{at}` does not hold named values")]
    NotAnObject {
        /// The path up to there.
        at: String,
    },
    /// A step by number into something that is not a list.
    #[error("`{at}` is not a list")]
    NotAList {
        /// The path up to there.
        at: String,
    },
    /// A number that is not in a list nor right behind its end.
    #[error("`{at}` is out of range")]
    OutOfRange {
        /// The path with the number.
        at: String,
    },
    /// What would be left is what a secret looks like.
    #[error("`{at}` would hold a text named `secure` and nothing else, which is how secrets are written")]
    LooksLikeSecret {
        /// The path.
        at: String,
    },
}

/// A batch of texts that is not as long as the batch of ciphertexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{ciphertexts} secrets were given and {answers} came back")]
pub struct BatchError {
    /// How many ciphertexts there are.
    pub ciphertexts: usize,
    /// How many texts were given for them.
    pub answers: usize,
}

/// What stands for a value that is there but empty.
static EMPTY: Value = Value::String(String::new());

impl Config {
    /// All values by key, ordered by namespace and name. A value of nothing is an empty text.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Value)> {
        self.0.iter().map(|(key, value)| (key, if *value == Value::Null { &EMPTY } else { value }))
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys that stand without a value, which are read as empty texts.
    pub fn empty_keys(&self) -> impl Iterator<Item = &Key> {
        self.0.iter().filter(|(_, value)| **value == Value::Null).map(|(key, _)| key)
    }

    /// Puts a whole value under a key.
    pub fn insert(&mut self, key: Key, value: Value) {
        self.0.insert(key, value);
    }

    /// A value as it stands in the settings.
    pub(crate) fn stored(&self, key: &Key) -> Option<&Value> {
        self.0.get(key)
    }

    /// The value or the part of it that a locator names.
    #[must_use]
    pub fn get(&self, locator: &Locator) -> Option<Cow<'_, Value>> {
        let root = match self.0.get(&locator.key)? {
            Value::Null if locator.path.is_empty() => &EMPTY,
            value => value,
        };
        let part = locator.path.0.iter().try_fold(root, |value, segment| match (value, segment) {
            (Value::Object(members), Segment::Key(name)) => members.get(name),
            (Value::Array(items), Segment::Index(index)) => items.get(*index),
            _ => None,
        });
        part.map(Cow::Borrowed)
    }

    /// Sets a value or a part of one, and makes what is missing on the way. A value on the way that is neither a list
    /// nor named values is replaced if it is the whole value, and an error otherwise.
    pub fn set(&mut self, locator: &Locator, value: NewValue) -> Result<(), ConfigError> {
        if locator.path.is_empty() {
            self.0.insert(locator.key.clone(), value.whole());
            return Ok(());
        }
        let mut root = self.0.get(&locator.key).cloned().unwrap_or_default();
        if !matches!(root, Value::Array(_) | Value::Object(_)) {
            root = Value::Null;
        }
        let mut walked = PropertyPath(vec![Segment::from(locator.key.name())]);
        set_part(&mut root, &locator.path.0, value.part(), &mut walked)?;
        self.0.insert(locator.key.clone(), root);
        Ok(())
    }

    /// Removes a value or a part of one; what is not there is removed already.
    pub fn remove(&mut self, locator: &Locator) -> Result<(), ConfigError> {
        let Some((last, way)) = locator.path.0.split_last() else {
            self.0.remove(&locator.key);
            return Ok(());
        };
        let Some(root) = self.0.get_mut(&locator.key) else { return Ok(()) };
        let parent = way.iter().try_fold(root, |value, segment| match (value, segment) {
            (Value::Object(members), Segment::Key(name)) => members.get_mut(name),
            (Value::Array(items), Segment::Index(index)) => items.get_mut(*index),
            _ => None,
        });
        match (parent, last) {
            (Some(Value::Object(members)), Segment::Key(name)) => {
                let leaves_secure = members.len() == 2
                    && name != "secure"
                    && members.contains_key(name)
                    && matches!(members.get("secure"), Some(Value::String(_)));
                if leaves_secure {
                    let mut at = PropertyPath(vec![Segment::from(locator.key.name())]);
                    at.0.extend(way.iter().cloned());
                    return Err(ConfigError::LooksLikeSecret { at: at.to_string() });
                }
                members.remove(name);
            }
            (Some(Value::Array(items)), Segment::Index(index)) if *index < items.len() => {
                items.remove(*index);
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether a secret stands in any value.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.0.values().any(Value::is_secure)
    }

    /// All ciphertexts, each once, in the order of keys: a batch to decrypt.
    #[must_use]
    pub fn ciphertexts(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for value in self.0.values() {
            each_ciphertext(value, &mut |ciphertext| {
                if seen.insert(ciphertext.to_owned()) {
                    found.push(ciphertext.to_owned());
                }
            });
        }
        found
    }

    /// The same configuration with other ciphertexts in the place of those that [`Self::ciphertexts`] lists.
    pub fn with_ciphertexts(&self, replacements: &[String]) -> Result<Self, BatchError> {
        let by_ciphertext = self.answers(replacements)?;
        let replaced = self
            .0
            .iter()
            .map(|(key, value)| (key.clone(), with_ciphertexts(value, &by_ciphertext)))
            .collect();
        Ok(Self(replaced))
    }

    /// The answers of a batch by ciphertext.
    pub(super) fn answers<'a>(&self, answers: &'a [String]) -> Result<HashMap<String, &'a str>, BatchError> {
        let ciphertexts = self.ciphertexts();
        if ciphertexts.len() != answers.len() {
            return Err(BatchError { ciphertexts: ciphertexts.len(), answers: answers.len() });
        }
        Ok(ciphertexts.into_iter().zip(answers.iter().map(String::as_str)).collect())
    }

    /// Nothing but what a locator names, under the locator's key: to show it, or to encrypt it anew and then
    /// [`Self::set_part`] it elsewhere.
    #[must_use]
    pub fn part(&self, locator: &Locator) -> Option<Self> {
        let value = self.get(locator)?.into_owned();
        Some(Self([(locator.key.clone(), value)].into()))
    }

    /// Sets what a locator names to what [`Self::part`] took from there in another configuration.
    pub fn set_part(&mut self, locator: &Locator, part: &Self) -> Result<(), ConfigError> {
        match part.0.get(&locator.key) {
            Some(value) => self.set(locator, NewValue::Typed(value.clone())),
            None => Ok(()),
        }
    }

    /// Puts all values of another configuration over those of this one.
    pub fn copy_from(&mut self, other: &Self) {
        for (key, value) in other.iter() {
            self.0.insert(key.clone(), value.clone());
        }
    }
}

impl FromIterator<(Key, Value)> for Config {
    fn from_iter<I: IntoIterator<Item = (Key, Value)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

/// Sets what `path` names in `value`; `walked` is the path to `value` itself, for errors.
fn set_part(
    value: &mut Value,
    path: &[Segment],
    new: Value,
    walked: &mut PropertyPath,
) -> Result<(), ConfigError> {
    let Some((segment, rest)) = path.split_first() else {
        *value = new;
        return Ok(());
    };
    if *value == Value::Null {
        *value = match segment {
            Segment::Key(_) => Value::Object(BTreeMap::new()),
            Segment::Index(index) if *index < LONGEST_NEW_LIST => Value::Array(vec![Value::Null; index + 1]),
            Segment::Index(_) => Value::Array(Vec::new()),
        };
    }
    match (value, segment) {
        (Value::Object(members), Segment::Key(name)) => {
            let is_secret = rest.is_empty() && name == "secure" && matches!(new, Value::String(_));
            if is_secret && members.keys().all(|other| other == "secure") {
                return Err(ConfigError::LooksLikeSecret { at: walked.to_string() });
            }
            walked.0.push(segment.clone());
            set_part(members.entry(name.clone()).or_default(), rest, new, walked)
        }
        (Value::Array(items), Segment::Index(index)) => {
            walked.0.push(segment.clone());
            if *index > items.len() {
                return Err(ConfigError::OutOfRange { at: walked.to_string() });
            }
            if *index == items.len() {
                items.push(Value::Null);
            }
            set_part(&mut items[*index], rest, new, walked)
        }
        (_, Segment::Key(_)) => Err(ConfigError::NotAnObject { at: walked.to_string() }),
        (_, Segment::Index(_)) => Err(ConfigError::NotAList { at: walked.to_string() }),
    }
}

fn each_ciphertext(value: &Value, found: &mut dyn FnMut(&str)) {
    match value {
        Value::Secure(ciphertext) => found(ciphertext),
        Value::Array(items) => items.iter().for_each(|item| each_ciphertext(item, found)),
        Value::Object(members) => members.values().for_each(|member| each_ciphertext(member, found)),
        _ => {}
    }
}

fn with_ciphertexts(value: &Value, replacements: &HashMap<String, &str>) -> Value {
    match value {
        Value::Secure(ciphertext) => Value::Secure(
            replacements.get(ciphertext).map_or_else(|| ciphertext.clone(), |new| (*new).to_owned()),
        ),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| with_ciphertexts(item, replacements)).collect())
        }
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(name, value)| (name.clone(), with_ciphertexts(value, replacements)))
                .collect(),
        ),
        other => other.clone(),
    }
}

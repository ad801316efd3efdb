//! Configuration keys.

use drystone_model::{PathProblem, PropertyPath, Segment};
use std::fmt;
use std::str::FromStr;

/// The name of a configuration value: a namespace, which is a project or a provider, and a name in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    namespace: String,
    name: String,
}

/// Why a text does not name a configuration value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It is not of the form `<namespace>:<name>`.
    #[error("`{text}` is not a configuration key, which has the form `<namespace>:<name>`")]
    Form {
        /// The text.
        text: String,
    },
    /// It has no namespace, and no project gives one.
    #[error("`{text}` has no namespace, and there is no project to give it one")]
    NoProject {
        /// The text.
        text: String,
    },
    /// It is not a path.
    #[error("`{text}` is not a path: {problem}")]
    Path {
        /// The text.
        text: String,
        /// Why.
        problem: PathProblem,
    },
    /// It is a path that does not start with a name.
    #[error("the path `{text}` does not start with a name")]
    PathStart {
        /// The text.
        text: String,
    },
}

impl Key {
    /// The key of a name in a namespace. A namespace has no colon.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Result<Self, KeyError> {
        let (namespace, name) = (namespace.into(), name.into());
        if namespace.contains(':') {
            return Err(KeyError::Form { text: format!("{namespace}:{name}") });
        }
        Ok(Self { namespace, name })
    }

    /// The key that a text names; one without a colon belongs to the project.
    pub fn parse_in(project: Option<&str>, text: &str) -> Result<Self, KeyError> {
        if text.contains(':') {
            return text.parse();
        }
        let project = project.ok_or_else(|| KeyError::NoProject { text: text.to_owned() })?;
        format!("{project}:{text}").parse()
    }

    /// The namespace.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name within the namespace.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The key as a person in the project writes it: without the project's own namespace.
    #[must_use]
    pub fn pretty(&self, project: Option<&str>) -> String {
        if project == Some(&self.namespace) { self.name.clone() } else { self.to_string() }
    }
}

/// `<namespace>:<name>`, or the older `<namespace>:config:<name>`.
impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let parts: Vec<&str> = text.split(':').collect();
        match parts.as_slice() {
            [namespace, name] | [namespace, "config", name] => {
                Ok(Self { namespace: (*namespace).to_owned(), name: (*name).to_owned() })
            }
            _ => Err(KeyError::Form { text: text.to_owned() }),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.namespace, self.name)
    }
}

/// A configuration value or, with `--path`, a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locator {
    /// The key of the value.
    pub key: Key,
    /// The steps into it.
    pub path: PropertyPath,
    /// Both as they were written, without the namespace.
    written: String,
}

impl Locator {
    /// Reads what a person wrote as a key or, if `is_path`, as a path that starts with one.
    pub fn parse(project: Option<&str>, text: &str, is_path: bool) -> Result<Self, KeyError> {
        if !is_path {
            return Key::parse_in(project, text).map(Self::from);
        }
        let mut path = PropertyPath::parse_strict(text)
            .map_err(|error| KeyError::Path { text: text.to_owned(), problem: error.problem })?;
        let key = match path.0.first() {
            Some(Segment::Key(name)) if !name.is_empty() => Key::parse_in(project, name)?,
            _ => return Err(KeyError::PathStart { text: text.to_owned() }),
        };
        if key.name.is_empty() {
            return Err(KeyError::PathStart { text: text.to_owned() });
        }
        let written = match text.find(['[', '.']) {
            Some(0) => {
                path.0[0] = Segment::from(key.name.as_str());
                path.to_string()
            }
            top => format!("{}{}", key.name, &text[top.unwrap_or(text.len())..]),
        };
        path.0.remove(0);
        Ok(Self { key, path, written })
    }

    /// The locator as a person in the project writes it.
    #[must_use]
    pub fn pretty(&self, project: Option<&str>) -> String {
        if project == Some(&self.key.namespace) {
            self.written.clone()
        } else {
            format!("{}:{}", self.key.namespace, self.written)
        }
    }
}

impl From<Key> for Locator {
    fn from(key: Key) -> Self {
        let written = key.name.clone();
        Self { key, path: PropertyPath::default(), written }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locate(text: &str) -> Locator {
        Locator::parse(Some("proj"), text, true).unwrap()
    }

    #[test]
    fn keys_have_a_namespace_and_a_name() {
        for (text, namespace, name) in [
            ("aws:region", "aws", "region"),
            ("aws:config:region", "aws", "region"),
            ("plain", "proj", "plain"),
            ("a.b[0]", "proj", "a.b[0]"),
            (":x", "", "x"),
            ("a:", "a", ""),
            ("", "proj", ""),
        ] {
            let key = Key::parse_in(Some("proj"), text).unwrap();
            assert_eq!((key.namespace(), key.name()), (namespace, name), "{text}");
        }
        for text in ["a:b:c", "a:config:b:c", "a:b:config"] {
            assert_eq!(Key::parse_in(Some("proj"), text), Err(KeyError::Form { text: text.into() }));
        }
        assert_eq!(Key::parse_in(None, "x"), Err(KeyError::NoProject { text: "x".into() }));
        assert!(Key::new("a:b", "c").is_err());
    }

    #[test]
    fn a_path_starts_with_a_key() {
        assert_eq!(locate("a"), Locator::from(Key::new("proj", "a").unwrap()));
        let tag = locate("aws:tags.team[0]");
        assert_eq!(tag.key, Key::new("aws", "tags").unwrap());
        assert_eq!(tag.path.0, [Segment::from("team"), Segment::from(0)]);
        assert_eq!(locate("[\"dotted.key\"].b").key, Key::new("proj", "dotted.key").unwrap());
        assert_eq!(locate("a[\"x:y\"]").path.0, [Segment::from("x:y")]);
        assert_eq!(locate("[\"aws:dotted.key\"].b").key, Key::new("aws", "dotted.key").unwrap());
        for text in ["[0].a", "[\"\"].a", ".a", "a.", "aws:a:b.x", "aws:[0]"] {
            assert!(Locator::parse(Some("proj"), text, true).is_err(), "{text}");
        }
    }

    #[test]
    fn locators_are_shown_as_they_are_written() {
        for text in ["a", "a.b[0]", "aws:tags.team", "[\"dotted.key\"].b", "a-b[\"x.y\"]"] {
            assert_eq!(locate(text).pretty(Some("proj")), text);
        }
        assert_eq!(locate("a.b").pretty(None), "proj:a.b");
        assert_eq!(locate("[\"aws:x.y\"].b").pretty(Some("proj")), "aws:[\"x.y\"].b");
    }
}

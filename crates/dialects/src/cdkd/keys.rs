//! The keys of a bucket, and the names that may be in them.

use super::RunId;
use std::fmt;

/// The prefix that everything stands under where nothing else is said.
pub const DEFAULT_PREFIX: &str = "cdkd";
/// The folder of what is derived from all stacks. No stack may be called so.
const INDEX: &str = "_index";
/// What stands between a parent's name and a logical id in the name of a nested stack.
const NESTING: char = '~';
/// No name is longer: a key may have 1,024 bytes in all.
const LONGEST: usize = 512;

/// Why a text cannot be in a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing was given.
    #[error("a {what} may not be empty")]
    Empty {
        /// What it was to be.
        what: &'static str,
    },
    /// It is too long for a key.
    #[error("a {what} cannot exceed {LONGEST} bytes; this one has {length}")]
    TooLong {
        /// What it was to be.
        what: &'static str,
        /// How long it is.
        length: usize,
    },
    /// Something that would lead elsewhere, or that no key can hold.
    #[error("a {what} may not contain {character:?}: {name:?}")]
    Character {
        /// What it was to be.
        what: &'static str,
        /// The text.
        name: String,
        /// The character.
        character: char,
    },
    /// A name that has another meaning.
    #[error("{name:?} cannot be a {what}")]
    Reserved {
        /// What it was to be.
        what: &'static str,
        /// The text.
        name: String,
    },
}

/// Checks a text that is to be one part of a key: it stays in its folder, and every client spells it the same.
pub(super) fn check_name(what: &'static str, name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty { what });
    }
    if name.len() > LONGEST {
        return Err(NameError::TooLong { what, length: name.len() });
    }
    let is_bad = |c: &char| c.is_control() || matches!(c, '/' | '\\' | '%' | '?' | '#' | '*');
    if let Some(character) = name.chars().find(is_bad) {
        return Err(NameError::Character { what, name: name.to_owned(), character });
    }
    if name.bytes().all(|byte| byte == b'.') {
        return Err(NameError::Reserved { what, name: name.to_owned() });
    }
    Ok(())
}

/// The name of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackName(String);

impl StackName {
    /// The name that a text is.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        const WHAT: &str = "stack name";
        check_name(WHAT, text)?;
        if text == INDEX {
            return Err(NameError::Reserved { what: WHAT, name: text.to_owned() });
        }
        Ok(Self(text.to_owned()))
    }

    /// The name of the stack that is nested in another under a logical id.
    pub fn nested(parent: &Self, logical_id: &str) -> Result<Self, NameError> {
        check_name("logical id", logical_id)?;
        Self::parse(&format!("{parent}{NESTING}{logical_id}"))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StackName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A region, such as `us-east-1`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Region(String);

impl Region {
    /// The region that a text is: small letters, digits and hyphens.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        const WHAT: &str = "region";
        check_name(WHAT, text)?;
        let is_bad = |c: &char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-');
        match text.chars().find(is_bad) {
            Some(character) => Err(NameError::Character { what: WHAT, name: text.to_owned(), character }),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// The region.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which stack: the same name in two regions is two stacks.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackKey {
    /// Its name.
    pub stack: StackName,
    /// Its region.
    pub region: Region,
}

impl StackKey {
    /// The stack of a name in a region.
    pub fn parse(stack: &str, region: &str) -> Result<Self, NameError> {
        Ok(Self { stack: StackName::parse(stack)?, region: Region::parse(region)? })
    }
}

impl fmt::Display for StackKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.stack, self.region)
    }
}

/// What stands at a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// A stack's state.
    State(StackKey),
    /// A stack's lock.
    Lock(StackKey),
    /// A stack's rollback journal.
    RollbackJournal(StackKey),
    /// The runs of a stack.
    RunIndex(StackKey),
    /// The events of a run.
    Events(StackKey, RunId),
    /// The exports of a region.
    Exports(Region),
    /// A state from before regions were in keys.
    LegacyState(StackName),
    /// A lock from before regions were in keys.
    LegacyLock(StackName),
}

impl Key {
    /// The region that is in the key; legacy keys have none.
    #[must_use]
    pub fn region(&self) -> Option<&Region> {
        match self {
            Self::State(key)
            | Self::Lock(key)
            | Self::RollbackJournal(key)
            | Self::RunIndex(key)
            | Self::Events(key, _) => Some(&key.region),
            Self::Exports(region) => Some(region),
            Self::LegacyState(_) | Self::LegacyLock(_) => None,
        }
    }
}

/// Where everything stands in a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    prefix: String,
}

impl Default for Layout {
    fn default() -> Self {
        Self { prefix: DEFAULT_PREFIX.to_owned() }
    }
}

impl Layout {
    /// The folder of what is prepared for assets, beside the prefix.
    pub const ASSETS: &str = "cdkd-bootstrap";

    /// The layout under a prefix, which may have several parts.
    pub fn new(prefix: &str) -> Result<Self, NameError> {
        let prefix = prefix.trim_matches('/');
        prefix.split('/').try_for_each(|part| check_name("prefix", part))?;
        Ok(Self { prefix: prefix.to_owned() })
    }

    /// The prefix.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The state of a stack.
    #[must_use]
    pub fn state(&self, key: &StackKey) -> String {
        self.of(key, "state.json")
    }

    /// The lock of a stack.
    #[must_use]
    pub fn lock(&self, key: &StackKey) -> String {
        self.of(key, "lock.json")
    }

    /// The rollback journal of a stack.
    #[must_use]
    pub fn rollback_journal(&self, key: &StackKey) -> String {
        self.of(key, "rollback-journal.json")
    }

    /// The folder of the runs of a stack, which outlives it.
    #[must_use]
    pub fn runs(&self, key: &StackKey) -> String {
        self.of(key, "deployments")
    }

    /// The index of the runs of a stack.
    #[must_use]
    pub fn run_index(&self, key: &StackKey) -> String {
        self.of(key, "deployments/index.json")
    }

    /// The events of a run.
    #[must_use]
    pub fn events(&self, key: &StackKey, run: &RunId) -> String {
        self.of(key, &format!("deployments/{run}.jsonl"))
    }

    /// The exports of a region.
    #[must_use]
    pub fn exports(&self, region: &Region) -> String {
        format!("{}/{INDEX}/{region}/exports.json", self.prefix)
    }

    /// The state of a stack from before regions were in keys.
    #[must_use]
    pub fn legacy_state(&self, stack: &StackName) -> String {
        format!("{}/{stack}/state.json", self.prefix)
    }

    /// The lock of a stack from before regions were in keys.
    #[must_use]
    pub fn legacy_lock(&self, stack: &StackName) -> String {
        format!("{}/{stack}/lock.json", self.prefix)
    }

    /// What says where the assets of a region go. It stands beside the prefix.
    #[must_use]
    pub fn asset_storage(region: &Region) -> String {
        format!("{}/{region}.json", Self::ASSETS)
    }

    /// The region whose assets a key tells of.
    #[must_use]
    pub fn parse_asset_storage(key: &str) -> Option<Region> {
        let region = key.strip_prefix(Self::ASSETS)?.strip_prefix('/')?.strip_suffix(".json")?;
        Region::parse(region).ok()
    }

    /// What stands at a key; `None` for what is not the tool's.
    #[must_use]
    pub fn parse(&self, key: &str) -> Option<Key> {
        let parts: Vec<&str> = key.strip_prefix(&self.prefix)?.strip_prefix('/')?.split('/').collect();
        match parts[..] {
            [INDEX, region, "exports.json"] => Some(Key::Exports(Region::parse(region).ok()?)),
            [stack, "state.json"] => Some(Key::LegacyState(StackName::parse(stack).ok()?)),
            [stack, "lock.json"] => Some(Key::LegacyLock(StackName::parse(stack).ok()?)),
            [stack, region, "state.json"] => Some(Key::State(StackKey::parse(stack, region).ok()?)),
            [stack, region, "lock.json"] => Some(Key::Lock(StackKey::parse(stack, region).ok()?)),
            [stack, region, "rollback-journal.json"] => {
                Some(Key::RollbackJournal(StackKey::parse(stack, region).ok()?))
            }
            [stack, region, "deployments", "index.json"] => {
                Some(Key::RunIndex(StackKey::parse(stack, region).ok()?))
            }
            [stack, region, "deployments", file] => {
                let run = RunId::parse(file.strip_suffix(".jsonl")?).ok()?;
                Some(Key::Events(StackKey::parse(stack, region).ok()?, run))
            }
            _ => None,
        }
    }

    fn of(&self, key: &StackKey, file: &str) -> String {
        let StackKey { stack, region } = key;
        format!("{}/{stack}/{region}/{file}", self.prefix)
    }
}

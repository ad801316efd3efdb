//! Uniform resource names and provider references.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, sync::Arc};

/// The type of the resource at the root of every stack.
pub const ROOT_STACK_TYPE: &str = "pulumi:pulumi:Stack";
const PREFIX: &str = "urn:pulumi:";
const SEPARATOR: &str = "::";
const TYPE_SEPARATOR: char = '$';

/// A uniform resource name: `urn:pulumi:<stack>::<project>::<parent types and type, joined by $>::<name>`.
///
/// State may hold malformed names; they are kept as they are, and [`Urn::validate`] says what is wrong. The accessors
/// of a malformed name give what is there and `""` for what is not.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Urn(Arc<str>);

impl Default for Urn {
    fn default() -> Self {
        Self(Arc::from(""))
    }
}

/// Why a text is not a URN.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrnError {
    /// The text is empty.
    #[error("the URN is empty")]
    Empty,
    /// The text does not start with `urn:pulumi:`.
    #[error("`{0}` does not start with `urn:pulumi:`")]
    Prefix(String),
    /// The text has too few parts.
    #[error("`{0}` does not have the four parts stack, project, type and name")]
    Parts(String),
}

impl Urn {
    /// Takes any text, valid or not.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// Takes a valid URN only.
    pub fn parse(text: &str) -> Result<Self, UrnError> {
        let urn = Self::new(text);
        urn.validate().map(|()| urn)
    }

    /// Builds a URN. `parent_type` is the parent's qualified type, or empty at the top; the root stack's type is
    /// never part of its children's.
    #[must_use]
    pub fn build(stack: &str, project: &str, parent_type: &str, type_token: &str, name: &str) -> Self {
        let qualified = if parent_type.is_empty() || parent_type == ROOT_STACK_TYPE {
            type_token.to_owned()
        } else {
            format!("{parent_type}{TYPE_SEPARATOR}{type_token}")
        };
        Self::new(format!("{PREFIX}{stack}{SEPARATOR}{project}{SEPARATOR}{qualified}{SEPARATOR}{name}"))
    }

    /// What is wrong with the text, if anything is.
    pub fn validate(&self) -> Result<(), UrnError> {
        validate(&self.0)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether there is no name at all, as in "no parent".
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The stack's name.
    #[must_use]
    pub fn stack(&self) -> &str {
        self.part(0)
    }

    /// The project's name.
    #[must_use]
    pub fn project(&self) -> &str {
        self.part(1)
    }

    /// The types of the parents and its own, joined by `$`.
    #[must_use]
    pub fn qualified_type(&self) -> &str {
        self.part(2)
    }

    /// Its own type.
    #[must_use]
    pub fn type_token(&self) -> &str {
        type_token(self.qualified_type())
    }

    /// The resource's logical name; it may hold any text, `::` included.
    #[must_use]
    pub fn name(&self) -> &str {
        self.part(3)
    }

    /// The same resource under another logical name.
    #[must_use]
    pub fn renamed(&self, name: &str) -> Self {
        Self::new(format!(
            "{PREFIX}{}{SEPARATOR}{}{SEPARATOR}{}{SEPARATOR}{name}",
            self.stack(),
            self.project(),
            self.qualified_type()
        ))
    }

    /// The same resource in another stack and project.
    #[must_use]
    pub fn moved(&self, stack: &str, project: &str) -> Self {
        Self::new(format!(
            "{PREFIX}{stack}{SEPARATOR}{project}{SEPARATOR}{}{SEPARATOR}{}",
            self.qualified_type(),
            self.name()
        ))
    }

    /// The same resource under a parent whose qualified type is `parent_type`.
    #[must_use]
    pub fn reparented(&self, parent_type: &str) -> Self {
        Self::build(self.stack(), self.project(), parent_type, self.type_token(), self.name())
    }

    fn part(&self, index: usize) -> &str {
        parts(&self.0).nth(index).unwrap_or("")
    }
}

fn validate(text: &str) -> Result<(), UrnError> {
    if text.is_empty() {
        return Err(UrnError::Empty);
    }
    if !text.starts_with(PREFIX) {
        return Err(UrnError::Prefix(text.to_owned()));
    }
    if parts(text).count() == 4 { Ok(()) } else { Err(UrnError::Parts(text.to_owned())) }
}

fn type_token(qualified: &str) -> &str {
    qualified.rsplit_once(TYPE_SEPARATOR).map_or(qualified, |(_, own)| own)
}

/// Stack, project, qualified type and name, as far as they are there.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.strip_prefix(PREFIX);
    (0..4).map_while(move |index| {
        let text = rest.take()?;
        // A search for one letter is several times faster than one for two, and snapshots hold millions of URNs.
        let separator = if index == 3 {
            None
        } else {
            text.match_indices(':').map(|(at, _)| at).find(|&at| text.as_bytes().get(at + 1) == Some(&b':'))
        };
        let Some(at) = separator else { return Some(text) };
        rest = Some(&text[at + SEPARATOR.len()..]);
        Some(&text[..at])
    })
}

impl fmt::Display for Urn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Urn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Urn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Urn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer).map(|text| Self::new(text.as_ref()))
    }
}

/// Whether a type is that of a provider resource, `pulumi:providers:<package>`.
#[must_use]
pub fn is_provider_type(type_token: &str) -> bool {
    type_token.strip_prefix("pulumi:providers:").is_some_and(|package| !package.is_empty())
}

/// Whether a URN is that of a default provider.
#[must_use]
pub fn is_default_provider(urn: &Urn) -> bool {
    is_provider_type(urn.type_token()) && (urn.name() == "default" || urn.name().starts_with("default_"))
}

/// A reference to a provider resource: its URN and id, written `<urn>::<id>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProviderReference {
    /// The provider resource.
    pub urn: Urn,
    /// Its id, a UUID that changes when the provider is replaced.
    pub id: String,
}

impl ProviderReference {
    /// Reads `<urn>::<id>`; `None` when the text is not one or does not name a provider resource. The id may be empty.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::split(text).map(|(urn, id)| Self { urn: Urn::new(urn), id: id.to_owned() })
    }

    /// The URN and the id in `<urn>::<id>`, where [`Self::parse`] would read one.
    #[must_use]
    pub fn split(text: &str) -> Option<(&str, &str)> {
        let (urn, id) = text.rsplit_once(SEPARATOR)?;
        let is_provider = validate(urn).is_ok() && is_provider_type(type_token(parts(urn).nth(2)?));
        is_provider.then_some((urn, id))
    }
}

impl fmt::Display for ProviderReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{SEPARATOR}{}", self.urn, self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_urn_are_read_back() {
        let urn = Urn::build("dev", "shop", "my:mod:Outer$my:mod:Inner", "aws:s3/bucket:Bucket", "a::b");
        assert_eq!(
            urn.as_str(),
            "urn:pulumi:dev::shop::my:mod:Outer$my:mod:Inner$aws:s3/bucket:Bucket::a::b"
        );
        assert_eq!((urn.stack(), urn.project(), urn.name()), ("dev", "shop", "a::b"));
        assert_eq!(urn.type_token(), "aws:s3/bucket:Bucket");
        assert_eq!(urn.qualified_type(), "my:mod:Outer$my:mod:Inner$aws:s3/bucket:Bucket");
    }

    #[test]
    fn the_root_stack_type_is_not_a_parent_type() {
        let urn = Urn::build("dev", "shop", ROOT_STACK_TYPE, "a:b:C", "c");
        assert_eq!(urn.qualified_type(), "a:b:C");
        assert_eq!(urn.reparented("x:y:Z").qualified_type(), "x:y:Z$a:b:C");
        assert_eq!(urn.reparented("").qualified_type(), "a:b:C");
    }

    #[test]
    fn renaming_and_moving_change_one_part() {
        let urn = Urn::build("dev", "shop", "p:p:P", "a:b:C", "c");
        assert_eq!(urn.renamed("d").as_str(), "urn:pulumi:dev::shop::p:p:P$a:b:C::d");
        assert_eq!(urn.moved("prod", "store").as_str(), "urn:pulumi:prod::store::p:p:P$a:b:C::c");
    }

    #[test]
    fn malformed_urns_are_kept_and_explained() {
        assert_eq!(Urn::parse(""), Err(UrnError::Empty));
        assert!(matches!(Urn::parse("urn:other:x"), Err(UrnError::Prefix(_))));
        assert!(matches!(Urn::parse("urn:pulumi:a::b::c"), Err(UrnError::Parts(_))));
        let odd = Urn::new("nonsense");
        assert_eq!((odd.as_str(), odd.stack(), odd.name()), ("nonsense", "", ""));
    }

    #[test]
    fn provider_references_name_provider_resources_only() {
        let text = "urn:pulumi:dev::shop::pulumi:providers:aws::default_1::0c5b";
        let reference = ProviderReference::parse(text).unwrap();
        assert_eq!((reference.urn.name(), reference.id.as_str()), ("default_1", "0c5b"));
        assert_eq!(reference.to_string(), text);
        assert_eq!(ProviderReference::parse("urn:pulumi:dev::shop::a:b:C::c::id"), None);
        assert_eq!(ProviderReference::parse("nonsense"), None);
        assert_eq!(ProviderReference::parse("urn:pulumi:dev::shop::pulumi:providers:aws::default_1"), None);
        assert_eq!(
            ProviderReference::split("urn:pulumi:dev::shop::pulumi:providers:aws::default_1::"),
            Some(("urn:pulumi:dev::shop::pulumi:providers:aws::default_1", ""))
        );
    }
}

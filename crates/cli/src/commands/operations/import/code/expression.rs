//! Values as code has them, whatever the language.

use drystone_model::{AssetSource, Number, Urn};

/// A value of the program.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    /// Nothing.
    Nothing,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text, which may turn out to be something of another resource.
    Text(String),
    /// A text that is never anything else: one of an enumeration, or one that has to be known at once.
    Word(String),
    /// A list.
    List(Vec<Expression>),
    /// Values by names that are data.
    Map(Vec<(String, Expression)>),
    /// Values by names of a schema, which each language writes in its way.
    Object(Object),
    /// A secret.
    Secret(Box<Expression>),
    /// A secret that is not shown.
    Hidden,
    /// A file-like thing.
    Asset(AssetSource),
    /// A collection of such.
    Archive(Archive),
    /// A property of another resource.
    Property(Urn, String),
    /// Another resource.
    Resource(Urn),
}

/// An object whose type a schema has.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Object {
    /// The token of its type.
    pub(super) token: String,
    /// Whether its type stands alone where it is put, so that a dictionary says enough.
    pub(super) form: ObjectForm,
    pub(super) members: Vec<(String, Expression)>,
}

/// How SDKs that have both classes and dictionaries for objects are told which object one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ObjectForm {
    /// There is only one that it can be.
    Dictionary,
    /// There are others, or the package has no dictionaries.
    Class,
}

/// Where an archive comes from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Archive {
    Assets(Vec<(String, Expression)>),
    Path(String),
    Uri(String),
}

impl Expression {
    /// Whether a secret of it cannot be read.
    pub(super) fn hides(&self) -> bool {
        match self {
            Self::Hidden => true,
            Self::Secret(inner) => inner.hides(),
            Self::List(items) => items.iter().any(Self::hides),
            Self::Map(members) => members.iter().any(|(_, member)| member.hides()),
            Self::Object(object) => object.members.iter().any(|(_, member)| member.hides()),
            _ => false,
        }
    }

    /// Calls `visitor` with every resource that it refers to.
    pub(super) fn resources<'a>(&'a self, visitor: &mut impl FnMut(&'a Urn)) {
        match self {
            Self::Property(urn, _) | Self::Resource(urn) => visitor(urn),
            Self::Secret(inner) => inner.resources(visitor),
            Self::List(items) => items.iter().for_each(|item| item.resources(visitor)),
            Self::Map(members) => members.iter().for_each(|(_, member)| member.resources(visitor)),
            Self::Object(object) => object.members.iter().for_each(|(_, member)| member.resources(visitor)),
            _ => {}
        }
    }

    /// Lets `change` change every text that may be something of another resource, and every resource. Secrets stay:
    /// what is said of another resource would be none.
    pub(super) fn link(&mut self, change: &mut impl FnMut(&mut Self)) {
        match self {
            Self::Text(_) | Self::Resource(_) => change(self),
            Self::List(items) => items.iter_mut().for_each(|item| item.link(change)),
            Self::Map(members) => members.iter_mut().for_each(|(_, member)| member.link(change)),
            Self::Object(object) => object.members.iter_mut().for_each(|(_, member)| member.link(change)),
            _ => {}
        }
    }
}

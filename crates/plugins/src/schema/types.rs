//! Types of values.

use super::package::{Package, Property, Resource};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

/// A type of values.
#[derive(Debug, Clone)]
pub enum Type {
    /// Anything.
    Any,
    /// True or false.
    Bool,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A text.
    String,
    /// A file-like thing.
    Asset,
    /// A collection of such.
    Archive,
    /// A resource of any type.
    AnyResource,
    /// A list.
    Array(Arc<Type>),
    /// Values by any name.
    Map(Arc<Type>),
    /// One of several types.
    Union(Arc<Union>),
    /// One of several values.
    Enum { token: String, element: Arc<Type>, values: Arc<[EnumValue]> },
    /// Values by known names.
    Object(Arc<ObjectType>),
    /// A resource.
    Resource(Arc<ResourceType>),
    /// A type that could not be told; nothing is said of what it can be.
    Unknown,
}

/// One of several types.
#[derive(Debug)]
pub struct Union {
    /// The types.
    pub types: Vec<Type>,
    /// What tells them apart, if something does.
    pub discriminator: Option<Discriminator>,
}

/// The property whose value says which of several objects a value is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Discriminator {
    /// The property.
    pub property: String,
    /// The tokens of types by the property's value.
    pub types: BTreeMap<String, String>,
}

/// A value of an enumeration.
#[derive(Debug, Clone)]
pub struct EnumValue {
    /// Its name, or empty.
    pub name: String,
    /// The value.
    pub value: Value,
}

/// Values by known names.
#[derive(Debug)]
pub struct ObjectType {
    /// What it is called, or empty.
    pub token: String,
    members: Members,
}

#[derive(Debug)]
enum Members {
    Here(Arc<BTreeMap<String, Property>>),
    /// In a package, under the type's name. Types may hold themselves, so they are looked up when needed; and a
    /// package holds its types, so they do not hold it.
    In(Weak<Package>),
}

/// A kind of resource, looked up in its package when needed.
#[derive(Debug)]
pub struct ResourceType {
    /// Its whole token.
    pub token: String,
    package: Weak<Package>,
}

impl ResourceType {
    pub fn new(token: &str, package: &Arc<Package>) -> Self {
        Self { token: token.to_owned(), package: Arc::downgrade(package) }
    }

    /// What the package says of it.
    pub fn definition(&self) -> Option<Arc<Resource>> {
        self.package.upgrade()?.resource(&self.token).ok()
    }
}

impl ObjectType {
    pub fn of(token: &str, members: impl Into<Arc<BTreeMap<String, Property>>>) -> Self {
        Self { token: token.to_owned(), members: Members::Here(members.into()) }
    }

    pub(super) fn named(token: &str, package: &Arc<Package>) -> Self {
        Self { token: token.to_owned(), members: Members::In(Arc::downgrade(package)) }
    }

    /// Its properties by name.
    pub fn properties(&self) -> Arc<BTreeMap<String, Property>> {
        match &self.members {
            Members::Here(members) => Arc::clone(members),
            Members::In(package) => {
                package.upgrade().map(|package| package.object_properties(&self.token)).unwrap_or_default()
            }
        }
    }
}

impl Type {
    /// One of several types that nothing tells apart but what they are.
    #[must_use]
    pub fn union(types: Vec<Self>) -> Self {
        Self::Union(Arc::new(Union { types, discriminator: None }))
    }

    /// The type as messages name it.
    pub fn describe(&self) -> String {
        match self {
            Self::Any | Self::Unknown => "any".to_owned(),
            Self::Bool => "boolean".to_owned(),
            Self::Integer => "integer".to_owned(),
            Self::Number => "number".to_owned(),
            Self::String => "string".to_owned(),
            Self::Asset => "asset".to_owned(),
            Self::Archive => "archive".to_owned(),
            Self::AnyResource => "resource".to_owned(),
            Self::Array(element) => format!("List<{}>", element.describe()),
            Self::Map(element) => format!("Map<{}>", element.describe()),
            Self::Union(union) => {
                let types: Vec<String> = union.types.iter().map(Self::describe).collect();
                format!("Union<{}>", types.join(", "))
            }
            Self::Enum { element, .. } => format!("Enum<{}>", element.describe()),
            Self::Object(object) if object.token.is_empty() => {
                let properties = object.properties();
                let members: Vec<String> =
                    properties.iter().map(|(name, p)| format!("{name}: {}", p.kind.describe())).collect();
                format!("{{{}}}", members.join(", "))
            }
            Self::Object(object) => object.token.clone(),
            Self::Resource(resource) => resource.token.clone(),
        }
    }
}

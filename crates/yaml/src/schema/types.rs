//! Types of values.

use super::package::{Package, Property, Resource};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

/// A type of values.
#[derive(Debug, Clone)]
pub(crate) enum Type {
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
    Union(Arc<[Type]>),
    /// One of several values.
    Enum { element: Arc<Type>, values: Arc<[EnumValue]> },
    /// Values by known names.
    Object(Arc<ObjectType>),
    /// A resource.
    Resource(Arc<ResourceType>),
    /// A type that could not be told; nothing is said of what it can be.
    Unknown,
}

/// A value of an enumeration.
#[derive(Debug, Clone)]
pub(crate) struct EnumValue {
    /// Its name, or empty.
    pub(crate) name: String,
    /// The value.
    pub(crate) value: Value,
}

/// Values by known names.
#[derive(Debug)]
pub(crate) struct ObjectType {
    /// What it is called, or empty.
    pub(crate) token: String,
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
pub(crate) struct ResourceType {
    /// Its whole token.
    pub(crate) token: String,
    package: Weak<Package>,
}

impl ResourceType {
    pub(crate) fn new(token: &str, package: &Arc<Package>) -> Self {
        Self { token: token.to_owned(), package: Arc::downgrade(package) }
    }

    /// What the package says of it.
    pub(crate) fn definition(&self) -> Option<Arc<Resource>> {
        self.package.upgrade()?.resource(&self.token).ok()
    }
}

impl ObjectType {
    pub(crate) fn of(token: &str, members: impl Into<Arc<BTreeMap<String, Property>>>) -> Self {
        Self { token: token.to_owned(), members: Members::Here(members.into()) }
    }

    pub(super) fn named(token: &str, package: &Arc<Package>) -> Self {
        Self { token: token.to_owned(), members: Members::In(Arc::downgrade(package)) }
    }

    /// Its properties by name.
    pub(crate) fn properties(&self) -> Arc<BTreeMap<String, Property>> {
        match &self.members {
            Members::Here(members) => Arc::clone(members),
            Members::In(package) => {
                package.upgrade().map(|package| package.object_properties(&self.token)).unwrap_or_default()
            }
        }
    }
}

impl Type {
    /// The type as messages name it.
    pub(crate) fn describe(&self) -> String {
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
            Self::Union(types) => {
                let types: Vec<String> = types.iter().map(Self::describe).collect();
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

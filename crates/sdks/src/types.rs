//! The types with names that a package's properties are made of.

use drystone_plugins::schema::{EnumValue, ObjectType, Property, Type};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Objects and enumerations by their tokens.
#[derive(Debug, Default)]
pub(crate) struct Types {
    pub(crate) objects: BTreeMap<String, Arc<ObjectType>>,
    pub(crate) enums: BTreeMap<String, Enumeration>,
}

/// A type of several values.
#[derive(Debug, Clone)]
pub(crate) struct Enumeration {
    pub(crate) element: Arc<Type>,
    pub(crate) values: Arc<[EnumValue]>,
}

impl Types {
    /// Adds every type that properties are made of, at any depth.
    pub(crate) fn add<'a>(&mut self, properties: impl IntoIterator<Item = &'a Property>) {
        for property in properties {
            self.visit(&property.kind);
        }
    }

    /// Adds a type, and every type that it is made of.
    pub(crate) fn visit(&mut self, kind: &Type) {
        match kind {
            Type::Array(inner) | Type::Map(inner) => self.visit(inner),
            Type::Union(union) => union.types.iter().for_each(|inner| self.visit(inner)),
            Type::Enum { token, element, values } => {
                let found = || Enumeration { element: Arc::clone(element), values: Arc::clone(values) };
                self.enums.entry(token.clone()).or_insert_with(found);
            }
            Type::Object(object) => {
                let is_new = !object.token.is_empty() && !self.objects.contains_key(&object.token);
                if is_new {
                    self.objects.insert(object.token.clone(), Arc::clone(object));
                }
                if is_new || object.token.is_empty() {
                    self.add(object.properties().values());
                }
            }
            _ => {}
        }
    }
}

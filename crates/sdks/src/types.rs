//! The objects with names that a package's properties are made of.

use drystone_plugins::schema::{ObjectType, Property, Type};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Objects by their tokens.
#[derive(Debug, Default)]
pub(crate) struct Objects(BTreeMap<String, Arc<ObjectType>>);

impl Objects {
    /// Adds every object that properties are made of, at any depth.
    pub(crate) fn add<'a>(&mut self, properties: impl IntoIterator<Item = &'a Property>) {
        for property in properties {
            self.visit(&property.kind);
        }
    }

    fn visit(&mut self, kind: &Type) {
        match kind {
            Type::Array(inner) | Type::Map(inner) => self.visit(inner),
            Type::Union(union) => union.types.iter().for_each(|inner| self.visit(inner)),
            Type::Object(object) => {
                let is_new = !object.token.is_empty() && !self.0.contains_key(&object.token);
                if is_new {
                    self.0.insert(object.token.clone(), Arc::clone(object));
                }
                if is_new || object.token.is_empty() {
                    self.add(object.properties().values());
                }
            }
            _ => {}
        }
    }

    /// The objects in the order of their tokens.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &ObjectType)> {
        self.0.iter().map(|(token, object)| (token.as_str(), object.as_ref()))
    }
}

//! What packages say of their resources and functions.
//!
//! A schema may be tens of megabytes long and a program uses little of it, so only what is asked for is read.

mod language;
mod package;
#[cfg(test)]
mod tests;
mod types;

pub use language::Language;
pub use package::{Function, Package, Property, Resource, SchemaError};
pub use types::{Discriminator, EnumValue, ObjectType, ResourceType, Type, Union};

//! What packages say of their resources and functions.
//!
//! A schema may be tens of megabytes long and a program uses little of it, so only what is asked for is read.

mod package;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use package::{Function, Package, Property, Resource};
pub(crate) use types::{EnumValue, ObjectType, ResourceType, Type};

//! Programs: what a text declares, with the place of every part.
//!
//! [`Template`] is what [`read`](Template::read) makes of a tree. Names of fields may differ in case from how they
//! are written here; that is a warning.

mod access;
mod declare;
mod expression;
mod functions;
mod record;
mod resource;
#[cfg(test)]
mod tests;

pub use access::{Access, Accessor, Part};
pub use declare::{Component, ConfigEntry, Named, Template};
pub use expression::{Expression, Form, Shared};
pub use functions::{ArchiveKind, AssetKind, Function, Invoke, InvokeOptions, Unary};
pub use resource::{Get, Properties, RESOURCE_FIELDS, RESOURCE_OPTIONS, Resource, ResourceOptions, Timeouts};

//! YAML documents that are read with the place of everything in them, and edited without touching the rest.
//!
//! [`Document`] is the text with its tree; [`edit`] writes a changed text; the other files know how a value is spelled.

mod edit;
mod locate;
mod node;
mod order;
mod parse;
mod render;
mod resolve;
mod scalar;
mod timestamp;

pub(crate) use edit::{Target, edit};
pub use node::Location;
pub(crate) use node::{Document, Entry, Kind, Node};
pub(crate) use order::sort;
pub(crate) use parse::ParseError;
pub use resolve::plain as plain_scalar;
#[cfg(test)]
mod tests;

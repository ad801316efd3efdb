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

/// The value of a document, or what is wrong with it.
pub fn parse_yaml(text: &str) -> Result<crate::Value, String> {
    Document::parse(text).map(|document| document.root.value).map_err(|error| error.to_string())
}

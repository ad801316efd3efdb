//! Texts as trees in which everything knows its place.

mod node;
mod parse;
#[cfg(test)]
mod tests;

pub use node::{Entry, Kind, Node, Span, Text};
pub use parse::{LONGEST_TEXT, MAX_DEPTH, parse};

//! Property values on the wire: `google.protobuf.Struct` with signatures and sentinels for what it cannot say itself.
//!
//! Messages keep their structs as bytes ([`Struct`], [`RawValue`]). Values are written to and read from these bytes
//! directly, so that no tree of protobuf values is ever built.

mod json;
mod raw;
#[cfg(test)]
mod raw_tests;
mod reader;
mod writer;

pub use raw::{RawValue, Struct};
pub use reader::Malformed;

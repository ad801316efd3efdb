//! Property values on the wire: `google.protobuf.Struct` with signatures and sentinels for what it cannot say itself.
//!
//! Messages keep their structs as bytes ([`Struct`], [`RawValue`]). Values are written to and read from these bytes
//! directly, so that no tree of protobuf values is ever built.

pub mod assets;
mod decode;
mod encode;
mod error;
mod json;
mod raw;
#[cfg(test)]
mod raw_tests;
mod reader;
mod signature;
#[cfg(test)]
mod tests;
mod writer;

pub use decode::{Decoding, Outputs};
pub use encode::{Accepts, Contents, Encoding};
pub use error::{Problem, WireError};
pub use raw::{RawValue, Struct};
pub use reader::Malformed;

/// The named properties of a resource, of arguments or of a result.
pub type Properties = std::collections::BTreeMap<String, drystone_model::Value>;

/// What becomes of values that are not known yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unknowns {
    /// They stay, as sentinels on the wire.
    #[default]
    Keep,
    /// They are left out.
    Drop,
    /// They are an error.
    Reject,
}

/// What becomes of members that are null.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nulls {
    /// They stay.
    #[default]
    Keep,
    /// They are left out.
    Drop,
}

//! Property values: every kind that the wire and the state know, and how they are read, walked and masked.
//!
//! A value that came from a codec is at most a few hundred levels deep, so walking it may recurse.

mod access;
mod kinds;
mod number;
#[cfg(test)]
mod tests;
mod walk;

pub use kinds::{
    Archive, ArchiveSource, Asset, AssetSource, Computed, Output, ResourceReference, Secret, Value,
};
pub use number::Number;
pub use walk::MASK;

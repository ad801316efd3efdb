//! The package `drystone`: resources and functions that the binary itself provides.
//!
//! They are small but real: random values, files and folders, commands, moments, HTTP reads and archives. What their
//! inputs and outputs are is said once, in the package's schema (`schema/*.json`); checks, differences, previews and
//! the reference in `docs/` all follow from it. What a resource does in the world is its [`kind::Kind`].
//!
//! Time and randomness come from outside, so that a test is one seed. Folders are those of the program.

mod archive;
mod command;
mod differences;
mod digests;
mod fields;
mod http;
mod kind;
mod local;
mod provider;
mod random;
mod reference;
mod schema;
mod time;
mod world;

pub use provider::Builtins;
pub use reference::reference;
pub use world::{Log, Settings};

/// The package's name.
pub const PACKAGE: &str = "drystone";

//! What stands in a user's folders: project files, stack settings, configuration, credentials, the selected stack.
//!
//! No terminal, no stores. Variables, home and working folder come in through [`Environment`]. What the stock CLI
//! reads and writes, this crate reads and writes alike, so that both can take turns on the same files (S14).

pub mod config;
mod environment;
mod file;
pub mod home;
mod number;
pub mod project;
pub mod stack;
mod value;
mod yaml;

pub use environment::{Environment, NoHome};
pub use file::{FileError, write_private};
pub use value::{Value, quote_json};
pub use yaml::{Location, parse_yaml, plain_scalar};

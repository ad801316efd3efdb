//! The YAML language, evaluated in this process.
//!
//! A text becomes a tree in which everything knows its place ([`syntax`]), the tree a program ([`template`]). The parts
//! of a program are put in order and cycles found (`graph`), held to what the schemas of packages say of their
//! resources (`check`), and evaluated against the engine's monitor (`evaluate`). [`YamlProgram`] is all of that as the
//! engine runs it. Nothing here speaks to processes, stores or terminals; what people are to read goes through the
//! monitor.

mod check;
mod component;
mod diagnostics;
mod evaluate;
mod graph;
mod load;
mod packages;
mod program;
mod suggest;
pub mod syntax;
pub mod template;

pub use component::{MonitorSource, YamlComponents};
pub use diagnostics::{Diagnostic, Diagnostics, Severity, Source};
pub use packages::{DeclarationError, declarations, required_packages};
pub use program::YamlProgram;

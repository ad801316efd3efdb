//! Provider and language plugins: wire formats, processes, launchers.

pub mod analyzer;
mod callbacks;
pub mod converter;
mod digest;
pub mod events;
mod fetch;
pub mod install;
pub mod languages;
pub mod loader;
pub mod monitor;
pub mod process;
pub mod proto;
pub mod provider;
pub mod schema;
pub mod search;
pub mod trace;
pub mod wire;

/// The largest message that anybody sends or takes, as everywhere in this protocol.
pub const LARGEST_MESSAGE: usize = 400 * 1024 * 1024;

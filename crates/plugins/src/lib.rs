//! Provider and language plugins: wire formats, processes, launchers.

pub mod languages;
pub mod process;
pub mod proto;
pub mod search;
pub mod wire;

//! Provider and language plugins: wire formats, processes, launchers.

pub mod proto;
pub mod wire;

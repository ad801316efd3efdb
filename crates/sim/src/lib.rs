//! Deterministic simulation: a disk that fails, tears and crashes, a clock and ids, all driven from a seed.
//!
//! The same seed gives the same run, step by step, so that a failure found once can be looked at again.

mod disk;
mod host;
mod world;

pub use disk::SimDisk;
pub use host::SimHost;
pub use world::{Fault, Survival, World};

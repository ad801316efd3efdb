//! What the engine does, topic by topic: a short program, the steps, the end state.

#![allow(clippy::unwrap_used)]

mod harness;

mod basics;

mod autonaming;
mod error_hooks;
mod hooks;
mod import_option;
mod read;
mod refresh;
mod target;
mod views;

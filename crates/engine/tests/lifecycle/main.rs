//! What the engine does, topic by topic: a short program, the steps, the end state.

#![allow(clippy::unwrap_used)]

mod harness;

mod alias;
mod autonaming;
mod basics;
mod components;
mod continue_on_error;
mod delete_before_replace;
mod deleted_with;
mod destroy;
mod error_hooks;
mod failures;
mod hooks;
mod import_option;
mod pending;
mod preview;
mod protect;
mod providers;
mod read;
mod refresh;
mod regressions;
mod secrets;
mod stack_outputs;
mod target;
mod views;

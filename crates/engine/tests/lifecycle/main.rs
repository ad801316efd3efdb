//! What the engine does, topic by topic: a short program, the steps, the end state.

#![allow(clippy::unwrap_used)]

mod harness;

mod alias;
mod basics;
mod components;
mod continue_on_error;
mod delete_before_replace;
mod deleted_with;
mod destroy;
mod protect;
